//! Stages with their times: what ran, how long it took, what failed.
//!
//! A failed stage does not stop the next one, so that one run shows all there
//! is to mend.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::run::say;

/// One stage that has ended.
#[derive(Debug)]
struct Done {
    name: String,
    took: Duration,
    failed: bool,
}

/// The stages of one command, in the order they ran.
#[derive(Debug, Default)]
pub(crate) struct Stages {
    done: Vec<Done>,
}

impl Stages {
    /// Runs one stage, prints its heading before and its time after, and
    /// returns whether it succeeded.
    pub(crate) fn run(&mut self, name: &str, stage: impl FnOnce() -> Result<()>) -> bool {
        say(&format!("== {name}"));
        let start = Instant::now();
        let outcome = stage();
        let took = start.elapsed();
        let failed = outcome.is_err();
        match outcome {
            Ok(()) => say(&format!("== {name}: done in {}", time(took))),
            Err(error) => say(&format!("== {name}: FAILED after {}: {error:#}", time(took))),
        }
        self.done.push(Done { name: name.to_owned(), took, failed });
        !failed
    }

    /// One line per stage and the sum.
    pub(crate) fn table(&self) -> String {
        let total = self.done.iter().map(|stage| stage.took).sum();
        let width = self.done.iter().map(|stage| stage.name.len()).max().unwrap_or(0).max(5);
        let mut table = String::new();
        for stage in &self.done {
            let mark = if stage.failed { "  FAILED" } else { "" };
            table += &format!("{:width$}  {:>12}{mark}\n", stage.name, time(stage.took));
        }
        table + &format!("{:width$}  {:>12}", "total", time(total))
    }

    /// An error that names the failed stages, if there are any.
    pub(crate) fn finish(&self) -> Result<()> {
        let failed: Vec<_> = self
            .done
            .iter()
            .filter(|stage| stage.failed)
            .map(|stage| stage.name.as_str())
            .collect();
        if !failed.is_empty() {
            bail!("failed: {}", failed.join(", "));
        }
        Ok(())
    }
}

/// Seconds to a tenth below one minute, minutes and seconds from there on.
fn time(took: Duration) -> String {
    let tenths = (took.as_millis() + 50) / 100;
    if tenths < 600 {
        return format!("{}.{} s", tenths / 10, tenths % 10);
    }
    let seconds = (took.as_millis() + 500) / 1000;
    format!("{} min {:02} s", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        assert_eq!(time(Duration::from_millis(49)), "0.0 s");
        assert_eq!(time(Duration::from_millis(12_349)), "12.3 s");
        assert_eq!(time(Duration::from_millis(59_949)), "59.9 s");
        assert_eq!(time(Duration::from_millis(59_950)), "1 min 00 s");
        assert_eq!(time(Duration::from_secs(125)), "2 min 05 s");
    }

    #[test]
    fn a_failed_stage_is_named_and_the_next_one_runs() {
        let mut stages = Stages::default();
        assert!(!stages.run("first", || bail!("broken")));
        assert!(stages.run("second", || Ok(())));
        assert_eq!(stages.finish().unwrap_err().to_string(), "failed: first");
        let table = stages.table();
        assert_eq!(table.lines().count(), 3);
        assert!(table.lines().next().is_some_and(|line| line.ends_with("FAILED")), "{table}");
    }
}
