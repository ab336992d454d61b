//! Messages on stderr by loudness (`--verbose`).

use std::collections::BTreeSet;

use neuron_core::cli;

use crate::PROGRAM;

/// What is said from which level on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Always.
    Always = 0,
    /// What could not be read, once for as long as it lasts.
    Problems = 1,
    /// What the program does: configuration read again, records dropped.
    Steps = 2,
    /// Every record.
    Records = 3,
}

/// The messages that are wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    level: u8,
    lasting: BTreeSet<String>,
}

impl Log {
    /// From `--verbose`.
    pub(crate) fn new(level: u8) -> Self {
        Self { level, lasting: BTreeSet::new() }
    }

    /// Says a line if it is loud enough.
    pub(crate) fn say(&self, level: Level, text: &str) {
        if level as u8 <= self.level {
            cli::complain(PROGRAM, text);
        }
    }

    /// Says those problems that are new; one that has gone is new when it
    /// comes again.
    pub(crate) fn problems<'a>(&mut self, problems: impl Iterator<Item = &'a String>) {
        if self.level < Level::Problems as u8 {
            return;
        }
        let now: BTreeSet<String> = problems.cloned().collect();
        for new in now.difference(&self.lasting) {
            cli::complain(PROGRAM, new);
        }
        self.lasting = now;
    }
}
