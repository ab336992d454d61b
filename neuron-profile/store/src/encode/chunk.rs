//! One column of a row group: its dictionary and its pages, as bytes that do not
//! know yet where in the file they will lie.

use parquet::file::statistics::Statistics;

use super::bits::{self, Packing};
use super::page::{self, Coding};
use super::table::{PAGE, wide};
use super::values::{
    Cells, Dictionary, NONE, Stream, Values, distinct, frequent, leveled, one_value, plain_values,
    presence, statistics,
};
use crate::schema::Column;

/// Rows of a page that no viewport reads: a run of numbers that comes again is
/// found in one page alone.
const LONG_PAGE: usize = 1 << 18;

/// Rows that tell how others are packed best: more than a page, so that runs
/// come again (our choice).
const SAMPLE: usize = 1 << 16;

/// The first of them.
fn sample(list: &[i64]) -> &[i64] {
    list.get(..SAMPLE.min(list.len())).unwrap_or_default()
}

/// Bytes of a real in the other form, about (measured).
const SINGLE: f64 = 2.5;

/// What columns are encoded with, one after the other.
pub(super) struct Coder {
    zstd: zstd::bulk::Compressor<'static>,
    buffer: Vec<u8>,
}

impl Coder {
    pub(super) fn new(level: i32) -> std::io::Result<Self> {
        Ok(Self { zstd: zstd::bulk::Compressor::new(level)?, buffer: Vec::new() })
    }
}

/// How the whole numbers of a column become smallest.
#[derive(Debug, Clone, Copy)]
struct Best {
    packing: Packing,
    compressed: bool,
    /// Bytes of a row.
    rate: f64,
}

/// A page: its byte in the column, its size, its rows.
pub(super) type Page = (u64, u32, usize);

/// A column chunk; places are from its first byte.
#[derive(Debug, Default)]
pub(super) struct Encoded {
    pub(super) bytes: Vec<u8>,
    /// Bytes before compression, with the headers.
    pub(super) plain: u64,
    pub(super) dictionary: Option<u64>,
    pub(super) compressed: bool,
    pub(super) pages: Vec<Page>,
    pub(super) coding: Coding,
    pub(super) statistics: Option<Statistics>,
}

/// Encodes a column.
pub(super) fn encode(
    column: &Column,
    rows: usize,
    values: Values<'_>,
    coder: &mut Coder,
) -> std::io::Result<Encoded> {
    let Coder { zstd, buffer } = coder;
    let mut writing = Writing { column, best: None, zstd, buffer, done: Encoded::default() };
    let (coding, statistics) = writing.values(rows, values)?;
    Ok(Encoded { coding, statistics, ..writing.done })
}

/// A column chunk being written.
struct Writing<'w> {
    column: &'w Column,
    /// Of its first rows, where that is known already.
    best: Option<Best>,
    zstd: &'w mut zstd::bulk::Compressor<'static>,
    buffer: &'w mut Vec<u8>,
    done: Encoded,
}

type Coded = (Coding, Option<Statistics>);

impl Writing<'_> {
    fn values(&mut self, rows: usize, values: Values<'_>) -> std::io::Result<Coded> {
        match values {
            Values::Null => self.null(rows),
            Values::Longs(list) => self.longs(list, PAGE),
            Values::Repeated(list) => self.repeated_longs(list),
            Values::Singles(list) => self.singles(list),
            Values::Long(value) => self.same(rows, &Cells::Longs(vec![Some(value)])),
            Values::Text(text) => self.same(rows, &Cells::Texts(vec![Some(text.to_owned())])),
            Values::Indexed(dictionary, stream) => self.indexed(rows, dictionary, stream),
            Values::Cells(cells) => self.cells(rows, cells),
        }
    }

    /// A page whose bytes are as they will lie in the file.
    fn page(&mut self, plain: usize, packed: &[u8], rows: usize, coding: Coding) {
        let done = &mut self.done;
        let at = done.bytes.len();
        page::data(&mut done.bytes, plain, packed.len(), rows, coding);
        done.plain += wide(plain) + wide(done.bytes.len() - at);
        done.bytes.extend_from_slice(packed);
        let size = u32::try_from(done.bytes.len() - at).unwrap_or(u32::MAX);
        done.pages.push((wide(at), size, rows));
    }

    fn dictionary(&mut self, cells: &Cells) -> std::io::Result<()> {
        let mut plain = Vec::new();
        let count = plain_values(self.column.kind, cells, true, &mut plain);
        let packed = self.zstd.compress(&plain)?;
        let done = &mut self.done;
        let at = done.bytes.len();
        page::dictionary(&mut done.bytes, plain.len(), packed.len(), count);
        done.plain += wide(plain.len()) + wide(done.bytes.len() - at);
        done.bytes.extend_from_slice(&packed);
        done.dictionary = Some(wide(at));
        done.compressed = true;
        Ok(())
    }

    /// Levels of rows that are all there.
    fn present(&mut self, rows: usize) {
        self.buffer.clear();
        if !self.column.required {
            leveled(self.buffer, |out| bits::run(rows, 1, out));
        }
    }

    fn null(&mut self, rows: usize) -> std::io::Result<Coded> {
        if self.column.required {
            let text = format!("column {} is never null", self.column.name);
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, text));
        }
        let mut bytes = Vec::new();
        leveled(&mut bytes, |out| bits::run(rows, 0, out));
        self.page(bytes.len(), &bytes, rows, Coding::Plain);
        Ok((Coding::Plain, statistics(self.column.kind, &Cells::Longs(Vec::new()), rows)))
    }

    /// Whole numbers in pages of so many.
    fn longs(&mut self, list: &[i64], rows: usize) -> std::io::Result<Coded> {
        let mut packing = Packing::Bits;
        for (at, part) in list.chunks(rows).enumerate() {
            if at == 0 {
                let best = match self.best.take() {
                    Some(known) => known,
                    None => self.best(sample(part))?,
                };
                (packing, self.done.compressed) = (best.packing, best.compressed);
            }
            self.delta(part, packing);
            let mut plain = std::mem::take(self.buffer);
            if self.done.compressed {
                let mut packed = self.zstd.compress(&plain)?;
                // Equal sizes say that a page is not compressed.
                if packed.len() == plain.len() {
                    let other = match packing {
                        Packing::Bits => Packing::Level,
                        _ => Packing::Bits,
                    };
                    *self.buffer = plain;
                    self.delta(part, other);
                    plain = std::mem::take(self.buffer);
                    packed = self.zstd.compress(&plain)?;
                }
                self.page(plain.len(), &packed, part.len(), Coding::Delta);
            } else {
                self.page(plain.len(), &plain, part.len(), Coding::Delta);
            }
            *self.buffer = plain;
        }
        let bounds = [list.iter().min(), list.iter().max()].map(Option::<&i64>::copied);
        Ok((Coding::Delta, statistics(self.column.kind, &Cells::Longs(bounds.to_vec()), 0)))
    }

    fn delta(&mut self, part: &[i64], packing: Packing) {
        self.present(part.len());
        bits::delta(part, packing, self.buffer);
    }

    /// How the first rows become smallest, and whether compression is part of that:
    /// it has to gain a twelfth.
    fn best(&mut self, part: &[i64]) -> std::io::Result<Best> {
        let mut best = (Packing::Bits, false, usize::MAX);
        for packing in [Packing::Bits, Packing::Bytes, Packing::Level] {
            self.buffer.clear();
            bits::delta(part, packing, self.buffer);
            if packing == Packing::Bits {
                best.2 = self.buffer.len() - self.buffer.len() / 12;
            }
            let size = self.zstd.compress(self.buffer)?.len();
            if size < best.2 {
                best = (packing, true, size);
            }
        }
        let (packing, compressed, size) = best;
        let rate = size as f64 / part.len().max(1) as f64;
        Ok(Best { packing, compressed, rate })
    }

    /// Values that come again and again: a dictionary where that is smaller than
    /// `other`, bytes for each row, would be. `None` where it is not.
    fn repeated(
        &mut self,
        list: &[u64],
        cells: fn(Vec<u64>) -> Cells,
        other: f64,
    ) -> std::io::Result<Option<Coded>> {
        let Some((values, places)) = frequent(list) else { return Ok(None) };
        let cells = cells(values);
        if let Some(Some(one)) = one_value(&cells) {
            return self.same(list.len(), &one).map(Some);
        }
        let most = places.iter().copied().max().unwrap_or(0);
        self.present(list.len());
        bits::indices(&places, most, self.buffer);
        let packed = self.zstd.compress(self.buffer)?;
        let plain = self.buffer.len();
        // What a dictionary takes is known when it is written; this is near.
        let size = packed.len() + (most as usize + 1) * 3;
        if size as f64 > other * list.len() as f64 {
            return Ok(None);
        }
        self.dictionary(&cells)?;
        self.page(plain, &packed, list.len(), Coding::Dictionary);
        Ok(Some((Coding::Dictionary, statistics(self.column.kind, &cells, 0))))
    }

    /// Whole numbers that come again, one by one or in runs.
    fn repeated_longs(&mut self, list: &[i64]) -> std::io::Result<Coded> {
        let best = self.best(sample(list))?;
        self.best = Some(best);
        let bits: Vec<u64> = list.iter().map(|value| *value as u64).collect();
        let cells = |values: Vec<u64>| {
            Cells::Longs(values.into_iter().map(|value| Some(value as i64)).collect())
        };
        match self.repeated(&bits, cells, best.rate)? {
            Some(coded) => Ok(coded),
            None => self.longs(list, LONG_PAGE),
        }
    }

    /// Byte 0 of all, then byte 1 of all: what lies beside each other is alike.
    fn singles(&mut self, list: &[f32]) -> std::io::Result<Coded> {
        let bits: Vec<u64> = list.iter().map(|value| u64::from(value.to_bits())).collect();
        let cells = |values: Vec<u64>| {
            let single = |bits| f32::from_bits(u32::try_from(bits).unwrap_or(0));
            Cells::Reals(values.into_iter().map(|bits| Some(f64::from(single(bits)))).collect())
        };
        if let Some(coded) = self.repeated(&bits, cells, SINGLE)? {
            return Ok(coded);
        }
        self.done.compressed = true;
        for part in list.chunks(PAGE * 8) {
            self.present(part.len());
            for byte in 0..4 {
                self.buffer
                    .extend(part.iter().map(|v| v.to_le_bytes().get(byte).copied().unwrap_or(0)));
            }
            let packed = self.zstd.compress(self.buffer)?;
            self.page(self.buffer.len(), &packed, part.len(), Coding::Split);
        }
        Ok((Coding::Split, None))
    }

    fn same(&mut self, rows: usize, cell: &Cells) -> std::io::Result<Coded> {
        self.dictionary(cell)?;
        self.present(rows);
        self.buffer.push(1);
        bits::run(rows, 0, self.buffer);
        let packed = self.zstd.compress(self.buffer)?;
        self.page(self.buffer.len(), &packed, rows, Coding::Dictionary);
        Ok((Coding::Dictionary, statistics(self.column.kind, cell, 0)))
    }

    fn indexed(
        &mut self,
        rows: usize,
        dictionary: &Dictionary,
        stream: &Stream,
    ) -> std::io::Result<Coded> {
        let cells = &dictionary.0;
        if let Some(one) = one_value(cells) {
            return match one {
                Some(one) => self.same(rows, &one),
                None => self.null(rows),
            };
        }
        let (cells, places) = distinct(cells);
        let whole = !places.contains(&NONE);
        self.dictionary(&cells)?;
        let shared = stream.page(!self.column.required, places, self.zstd)?;
        self.page(shared.plain, &shared.packed, rows, Coding::Dictionary);
        // How many are null is not counted.
        let statistics = if whole { statistics(self.column.kind, &cells, 0) } else { None };
        Ok((Coding::Dictionary, statistics))
    }

    fn cells(&mut self, rows: usize, cells: &Cells) -> std::io::Result<Coded> {
        self.buffer.clear();
        let present = presence(cells);
        if !self.column.required {
            leveled(self.buffer, |out| bits::levels(present.iter().copied(), out));
        }
        plain_values(self.column.kind, cells, false, self.buffer);
        self.done.compressed = true;
        let packed = self.zstd.compress(self.buffer)?;
        self.page(self.buffer.len(), &packed, rows, Coding::Plain);
        let nulls = present.iter().filter(|present| !**present).count();
        Ok((Coding::Plain, statistics(self.column.kind, cells, nulls)))
    }
}
