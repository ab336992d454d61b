//! Series in a range, column by column, and their integrals.

use std::os::unix::fs::FileExt as _;

use super::level::SeriesPage;
use super::page::{self, Entry};
use super::{Series, SeriesLevel};
use crate::error::Error;
use crate::read::{Columns, Profile};

/// Some series in a range.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesView {
    /// The columns; those of a viewport.
    pub columns: Columns,
    /// By series, in the order asked for: those of its columns where it has a
    /// value.
    pub series: Vec<Vec<SeriesColumn>>,
}

/// A column of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesColumn {
    /// Which, from 0.
    pub at: u32,
    /// Least value that holds in it.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Mean over the time of the column in which there is a value.
    pub mean: f64,
}

impl Profile {
    /// Series between `start` and `end` (ns) in at least `width` columns.
    ///
    /// # Errors
    ///
    /// As for [`viewport`](Self::viewport).
    pub fn series_view(
        &self,
        start: u64,
        end: u64,
        width: u32,
        wanted: &[&Series],
    ) -> Result<SeriesView, Error> {
        let columns = Columns::new(start, end, width)?;
        let series = wanted.iter().map(|series| self.series_columns(series, &columns));
        Ok(SeriesView { columns, series: series.collect::<Result<_, _>>()? })
    }

    /// The integral of a series over a range: value times ns.
    ///
    /// # Errors
    ///
    /// Files that cannot be read.
    pub fn series_integral(&self, series: &Series, from: u64, to: u64) -> Result<f64, Error> {
        let to = to.min(self.manifest().total_ns);
        if from >= to {
            return Ok(0.0);
        }
        let Some(level) = series.levels.first() else {
            return self.exact_integral(series, from, to);
        };
        let (first, last) = ((from >> level.shift) + 1, to >> level.shift);
        if first >= last {
            return self.exact_integral(series, from, to);
        }
        let head = self.exact_integral(series, from, first << level.shift)?;
        let tail = self.exact_integral(series, last << level.shift, to)?;
        let inner = self.integral_before(level, last)? - self.integral_before(level, first)?;
        Ok(head + inner + tail)
    }

    fn exact_integral(&self, series: &Series, from: u64, to: u64) -> Result<f64, Error> {
        if from >= to {
            return Ok(0.0);
        }
        let steps = self.steps(series, from, to)?;
        let ends = steps.iter().skip(1).map(|step| step.0).chain([to]);
        Ok(steps.iter().zip(ends).map(|((at, value), end)| value * (end - at) as f64).sum())
    }

    /// The integral of all bins of a level before one.
    fn integral_before(&self, level: &SeriesLevel, bin: u64) -> Result<f64, Error> {
        let page = level.pages.partition_point(|page| page.end <= bin);
        let Some(page) = level.pages.get(page) else {
            let Some(last) = level.pages.last() else { return Ok(0.0) };
            let rest = self.series_page(last)?;
            return Ok(last.before + rest.iter().map(|e| e.integral * e.bins as f64).sum::<f64>());
        };
        let mut sum = page.before;
        for entry in self.series_page(page)? {
            let bins = bin.saturating_sub(entry.bin).min(entry.bins);
            sum += entry.integral * bins as f64;
        }
        Ok(sum)
    }

    fn series_page(&self, page: &SeriesPage) -> Result<Vec<Entry>, Error> {
        crate::stop::wanted()?;
        let path = self.dir().join("series");
        let bad = || Error::damaged(&path, format!("a page at byte {}", page.at));
        let Some(file) = self.series_file().filter(|_| page.size < 1 << 20) else {
            return Err(bad());
        };
        let mut bytes = vec![0; page.size as usize];
        file.read_exact_at(&mut bytes, page.at).map_err(|e| Error::io("read", &path)(e))?;
        page::read(&bytes, self.series_version()).ok_or_else(bad)
    }

    fn series_columns(&self, series: &Series, of: &Columns) -> Result<Vec<SeriesColumn>, Error> {
        let total = self.manifest().total_ns;
        let to = of.end().min(total);
        let mut sums = vec![None; of.columns as usize];
        if let Some(base) = series.mean_of.and_then(|base| self.series().get(base)) {
            // A mean of means is not made, and would not end where it is of itself.
            if base.mean_of.is_some() {
                let path = self.dir().join("series.json");
                return Err(Error::damaged(&path, format!("{} is a mean of a mean", series.id)));
            }
            return self.means(base, of, to);
        }
        match series.levels.iter().find(|level| level.shift == of.shift) {
            Some(level) => self.level_columns(level, of, &mut sums)?,
            None if of.start < to => {
                let steps = self.steps(series, of.start, to)?;
                let ends = steps.iter().skip(1).map(|step| step.0).chain([to]);
                for ((at, value), end) in steps.iter().zip(ends) {
                    fill(&mut sums, of, *at, end, *value);
                }
            }
            None => {}
        }
        let column = |(at, sum): (usize, &Option<(f64, f64, f64)>)| {
            let (min, max, integral) = (*sum)?;
            let at = u32::try_from(at).ok()?;
            let begin = of.begin(at).max(series.first);
            let length = of.begin(at + 1).min(total).saturating_sub(begin).max(1);
            Some(SeriesColumn { at, min, max, mean: integral / length as f64 })
        };
        Ok(sums.iter().enumerate().filter_map(column).collect())
    }

    fn level_columns(
        &self,
        level: &SeriesLevel,
        of: &Columns,
        sums: &mut [Option<(f64, f64, f64)>],
    ) -> Result<(), Error> {
        let first = of.start >> of.shift;
        let end = first + u64::from(of.columns);
        let from = level.pages.partition_point(|page| page.end <= first);
        for page in level.pages.iter().skip(from).take_while(|page| page.bin < end) {
            for entry in self.series_page(page)? {
                let last = entry.bin.saturating_add(entry.bins).min(end);
                for bin in entry.bin.max(first)..last {
                    if let Some(sum) = sums.get_mut((bin - first) as usize) {
                        *sum = Some((entry.min, entry.max, entry.integral));
                    }
                }
            }
        }
        Ok(())
    }

    /// The mean from 0 on to the end of each column.
    fn means(&self, base: &Series, of: &Columns, to: u64) -> Result<Vec<SeriesColumn>, Error> {
        let mut sum = self.series_integral(base, 0, of.start)?;
        let mut before = if of.start > 0 { sum / of.start as f64 } else { 0.0 };
        let mut out = Vec::new();
        for column in self.series_columns(base, of)? {
            let begin = of.begin(column.at).max(base.first);
            let end = of.begin(column.at + 1).min(to);
            if end <= begin {
                continue;
            }
            sum += column.mean * (end - begin) as f64;
            let mean = sum / end as f64;
            let (min, max) = (before.min(mean), before.max(mean));
            out.push(SeriesColumn { at: column.at, min, max, mean });
            before = mean;
        }
        Ok(out)
    }
}

/// Adds a stretch with one value to the columns.
fn fill(sums: &mut [Option<(f64, f64, f64)>], of: &Columns, from: u64, to: u64, value: f64) {
    let mut at = from;
    while at < to {
        let column = (at - of.start) >> of.shift;
        let edge = (of.start + ((column + 1) << of.shift)).min(to);
        if let Some(sum) = sums.get_mut(column as usize) {
            let (min, max, integral) = sum.unwrap_or((value, value, 0.0));
            let integral = integral + value * (edge - at) as f64;
            *sum = Some((min.min(value), max.max(value), integral));
        }
        at = edge;
    }
}
