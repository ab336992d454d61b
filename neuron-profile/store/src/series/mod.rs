//! Series: lines of a timeline that are not events. Each is a step function of
//! time: a value holds until the next one.
//!
//! Values come from a table, or from the events of lanes; they are not stored
//! again. Where there are many, zoom levels hold the minimum, the maximum and
//! the integral of bins of 2^k ns, for every k from one at which a bin has some
//! hundred values, so that a viewport of any width is exact and costs its
//! columns alone. `series.json` has the index, `series` the levels.

mod build;
mod catalogue;
mod level;
mod page;
mod read;
mod rows;
mod steps;
#[cfg(test)]
mod tests;
mod windows;

pub use read::{SeriesColumn, SeriesView};

pub(crate) use build::build;
pub(crate) use rows::Kept;

use serde::{Deserialize, Serialize};

pub use level::SeriesLevel;

/// What of events is counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// 1 while one is under way; those that only wait do not count.
    Active,
    /// How many are under way.
    Depth,
    /// Operations of products by those of the peak; each spread over its time.
    Flops {
        /// Operations per ns of the peak.
        peak: f64,
        /// Those that change a layout are left out.
        useful: bool,
    },
}

/// Where values come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Rows of a table, whose time is `timestamp`.
    Table {
        /// Which.
        table: String,
        /// The column of the value.
        value: String,
        /// A column by which it is divided.
        by: Option<String>,
        /// The value of column `id`.
        id: Option<String>,
    },
    /// Events of lanes.
    Lanes {
        /// Which.
        lanes: Vec<usize>,
        /// What of them.
        measure: Measure,
    },
}

/// A series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Stays the same in all profiles: `dma_throughput.0`.
    pub id: String,
    /// For people.
    pub name: String,
    /// Those of a group belong side by side.
    pub group: String,
    /// Those of a stack are drawn one on the other.
    pub stack: Option<String>,
    /// `%` for a fraction from 0 to 1, `B/s`, or empty for a count.
    pub unit: String,
    /// What it says.
    pub description: String,
    /// Physical core within the logical one; all if none.
    pub core: Option<u32>,
    /// Where the values come from.
    pub source: Source,
    /// Number of the series whose mean from 0 on it shows.
    pub mean_of: Option<usize>,
    /// Largest value.
    pub max: f64,
    /// When the first value begins, ns.
    pub first: u64,
    /// Zoom levels, finest first; none where there are few values.
    pub levels: Vec<SeriesLevel>,
}

/// All series of a profile.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SeriesIndex {
    /// How pages are written; see `page`.
    #[serde(default)]
    pub(crate) version: u32,
    pub(crate) series: Vec<Series>,
}

impl SeriesIndex {
    /// The newest version that is known.
    pub(crate) const KNOWN: u32 = page::VERSION;
}
