//! Series out of events: all lanes are read once, window by window, and what
//! one series follows from is not computed again.

use super::build::Out;
use super::level::Levels;
use super::steps::Steps;
use super::{Measure, Series, Source};
use crate::error::Error;
use crate::read::{Profile, parts};

/// Pages of events in a window, of all lanes together.
const WINDOW: usize = 32;

/// Windows that are in memory at the same time.
const MOST: usize = 2;

/// The steps of the series in a window, by number.
type Window = Vec<Option<Steps>>;

/// Adds the events of all lanes to the series that are made of them.
pub(super) fn lanes(
    profile: &Profile,
    all: &[Series],
    levels: &mut [Levels],
    out: &mut Out,
) -> Result<(), Error> {
    let path = profile.dir().join("series");
    let mut edges = Vec::new();
    for lane in 0..profile.lanes().len() {
        edges.extend(profile.page_starts(lane)?);
    }
    edges.sort_unstable();
    let mut ends: Vec<u64> = edges.into_iter().skip(WINDOW).step_by(WINDOW).collect();
    ends.push(profile.manifest().total_ns);
    ends.dedup();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let windows: Vec<(u64, u64)> =
        starts.zip(ends.iter().copied()).filter(|(from, to)| from < to).collect();
    for some in windows.chunks(MOST) {
        let read = parts::each(some, |range| window(profile, all, *range))?;
        for window in read {
            for (levels, steps) in levels.iter_mut().zip(window) {
                for (time, value) in steps.into_iter().flatten() {
                    // The error is made when there is one: there are many steps.
                    let done = levels.push(time, value, out);
                    done.map_err(|error| Error::io("write", &path)(error))?;
                }
            }
        }
    }
    Ok(())
}

/// The steps of all series in a window.
fn window(profile: &Profile, all: &[Series], (from, to): (u64, u64)) -> Result<Window, Error> {
    let mut out: Window = Vec::with_capacity(all.len());
    for series in all {
        let steps = match &series.source {
            Source::Lanes { lanes, measure } if series.mean_of.is_none() => {
                let known = match measure {
                    Measure::Active => known(all, &out, series, lanes, from),
                    _ => None,
                };
                Some(known.map_or_else(|| profile.steps(series, from, to), Ok)?)
            }
            _ => None,
        };
        out.push(steps);
    }
    Ok(out)
}

/// When something is active, from series that are known already: how many are
/// under way in the same lanes, or what is active in parts of them.
fn known(
    all: &[Series],
    out: &Window,
    series: &Series,
    lanes: &[usize],
    from: u64,
) -> Option<Steps> {
    let before = all.iter().zip(out).filter_map(|(of, steps)| Some((of, steps.as_ref()?)));
    let mut parts: Vec<&Steps> = Vec::new();
    let mut covered: Vec<usize> = Vec::new();
    for (of, steps) in before {
        let Source::Lanes { lanes: own, measure } = &of.source else { continue };
        match measure {
            Measure::Depth if own == lanes => return Some(any(&[steps], from)),
            Measure::Active
                if series.core.is_none()
                    && of.core.is_some()
                    && own.iter().all(|lane| lanes.contains(lane)) =>
            {
                parts.push(steps);
                covered.extend(own);
            }
            _ => {}
        }
    }
    lanes.iter().all(|lane| covered.contains(lane)).then(|| any(&parts, from))
}

/// 1 where one of some series is not 0.
fn any(parts: &[&Steps], from: u64) -> Steps {
    let mut edges: Vec<(u64, i32)> = Vec::new();
    for steps in parts {
        let mut holds = false;
        for (time, value) in *steps {
            let now = *value != 0.0;
            if now != holds {
                edges.push((*time, if now { 1 } else { -1 }));
                holds = now;
            }
        }
    }
    if parts.len() > 1 {
        edges.sort_unstable();
    }
    let mut out: Steps = vec![(from, 0.0)];
    let mut open = 0;
    let mut edges = edges.into_iter().peekable();
    while let Some((time, change)) = edges.next() {
        open += change;
        if edges.peek().is_some_and(|next| next.0 == time) {
            continue;
        }
        let value = if open > 0 { 1.0 } else { 0.0 };
        match out.last_mut() {
            Some(last) if last.0 == time => last.1 = value,
            Some(last) if last.1 == value => {}
            _ => out.push((time, value)),
        }
    }
    out
}
