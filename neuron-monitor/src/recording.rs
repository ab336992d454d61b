//! `neuron-monitor record`: samples into a file that every tool can replay.

use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use neuron_core::cli::Exit;
use neuron_core::error::io_reason;
use neuron_core::record::{RecordFile, Rotation};

use crate::config::parse_period;
use crate::events::{self, Event};
use crate::log::{Level, Log};
use crate::reading::Reading;

/// Flags of `neuron-monitor record`.
#[derive(Debug, Clone, clap::Args)]
pub struct RecordArgs {
    /// The recording; one that exists is added to
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Time between two samples
    #[arg(long, value_name = "DURATION", value_parser = parse_period, default_value = "1s")]
    pub period: Duration,

    /// Stop after N samples
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,

    /// Begin a new file when this size is reached: a number with KiB, MiB or GiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "64MiB")]
    pub max_size: u64,

    /// Full files that are kept beside the one that grows
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub keep: u32,

    /// Say more on stderr: 1 what cannot be read
    #[arg(long, value_name = "LEVEL", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=4))]
    pub verbose: u8,
}

/// Least size of a file: a sample of 16 devices must fit many times.
const SMALLEST: u64 = 64 << 10;

fn parse_size(text: &str) -> Result<u64, String> {
    const FORMS: &str = "expected a number with KiB, MiB or GiB, such as 64MiB, at least 64KiB";
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)];
    let (number, shift) = units
        .iter()
        .find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)))
        .ok_or(FORMS)?;
    let number: u64 = number.trim().parse().map_err(|_| FORMS)?;
    number.checked_mul(1 << shift).filter(|size| *size >= SMALLEST).ok_or_else(|| FORMS.to_owned())
}

/// Records until the end.
pub(crate) fn run(args: &RecordArgs, source: &str) -> Result<Exit, String> {
    let told = |error: neuron_core::Error| error.to_string();
    let mut reading = Reading::open(source).map_err(told)?;
    let mut log = Log::new(args.verbose);
    let (sender, events) = channel();
    events::watch_signals(sender)
        .map_err(|error| format!("cannot start: {}", io_reason(&error)))?;
    let rotation = Rotation { size: args.max_size, keep: args.keep };
    let mut file = RecordFile::open(&args.file, rotation).map_err(told)?;
    let mut due = Instant::now();
    let mut left = args.count.unwrap_or(u64::MAX);
    let mut trouble: Option<String> = None;
    loop {
        match reading.record(&mut file) {
            Ok(problems) => {
                log.problems(problems.iter());
                trouble = None;
            }
            // A full disk can be emptied, a driver loaded again.
            Err(error) => {
                let text = error.to_string();
                if trouble.as_ref() != Some(&text) {
                    log.say(Level::Always, &text);
                }
                trouble = Some(text);
            }
        }
        left -= 1;
        due += args.period;
        let now = Instant::now();
        if due < now {
            due = now;
        }
        let ended = left == 0
            || !matches!(
                events.recv_timeout(due.saturating_duration_since(now)),
                Err(RecvTimeoutError::Timeout) | Ok(Event::ConfigTouched)
            );
        if ended {
            file.finish().map_err(told)?;
            return Ok(if trouble.is_some() { Exit::Error } else { Exit::Done });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("64KiB"), Ok(65_536));
        assert_eq!(parse_size("2 GiB"), Ok(2 << 30));
        for bad in ["", "5", "1KiB", "64MB", "-1MiB", "99999999999GiB"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
