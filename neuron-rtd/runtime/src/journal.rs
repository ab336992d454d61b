//! Where the runtime's log lines go.

use std::fmt;

/// How urgent a line is. The numbers are ours but for 6 and 7 (neuron-rtd.md §2.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// 3.
    Error,
    /// 4.
    Warning,
    /// 5, the default.
    Info,
    /// 6.
    Debug,
    /// 7.
    Trace,
}

impl Level {
    /// The number of `-l`.
    pub const fn number(self) -> u8 {
        match self {
            Self::Error => 3,
            Self::Warning => 4,
            Self::Info => 5,
            Self::Debug => 6,
            Self::Trace => 7,
        }
    }
}

/// Takes log lines.
pub trait Journal: Send + Sync + fmt::Debug {
    /// A line `[place] text`.
    fn line(&self, level: Level, place: &str, text: &str);
}

/// Drops all lines.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Journal for Quiet {
    fn line(&self, _level: Level, _place: &str, _text: &str) {}
}
