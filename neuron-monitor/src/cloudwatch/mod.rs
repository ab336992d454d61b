//! `neuron-monitor cloudwatch`: metrics for CloudWatch.
//!
//! Without a region, as lines of the embedded metric format, which the
//! CloudWatch agent or a container's log driver turns into metrics. With one,
//! by PutMetricData, in builds that have the feature `cloudwatch`.

#[cfg(feature = "cloudwatch")]
mod client;
#[cfg(feature = "cloudwatch")]
mod credentials;
#[cfg(feature = "cloudwatch")]
mod delivery;
mod emf;
mod metrics;
#[cfg(feature = "cloudwatch")]
mod put;
#[cfg(feature = "cloudwatch")]
mod queue;
#[cfg(feature = "cloudwatch")]
mod request;

use std::fs::OpenOptions;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;
use std::time::Duration;

use neuron_core::cli::{self, Exit};
use neuron_core::error::io_reason;

use crate::args::Collection;
use crate::config::{Config, parse_period};
use crate::events::Event;
use crate::monitor::{End, Limit};
use crate::output::Lines;
use crate::wire::Record;
use crate::{PROGRAM, events, records};

/// Name of the original's script, which this program answers to as well.
pub(crate) const SCRIPT: &str = "neuron-monitor-cloudwatch.py";

/// How long a metric waits for others, unless `--flush` says otherwise.
#[cfg(feature = "cloudwatch")]
const FLUSH: Duration = Duration::from_secs(60);

/// Flags of `neuron-monitor cloudwatch`.
#[derive(Debug, Clone, clap::Args)]
pub struct CloudwatchArgs {
    /// Namespace of the metrics
    #[arg(long, value_name = "NAME", default_value = "Neuron", value_parser = namespace)]
    pub namespace: String,

    /// Send to CloudWatch in this region (PutMetricData) instead of writing lines
    #[arg(long, value_name = "REGION", conflicts_with = "output")]
    pub region: Option<String>,

    /// Send to this address instead of the region's own
    #[arg(long, value_name = "URL", requires = "region")]
    pub endpoint: Option<String>,

    /// Send at the latest when a metric has waited for so long [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = parse_period, requires = "region")]
    pub flush: Option<Duration>,

    /// Append lines to a file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Read the records of another neuron-monitor from stdin
    #[arg(long, conflicts_with_all = ["count", "config_file", "period"])]
    pub stdin: bool,

    /// Take N records, the first after one period, and end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,

    /// What is collected.
    #[command(flatten)]
    pub collection: Collection,
}

/// Flags of the original's script (sys-tools.md §6.1), and nothing else.
#[derive(Debug, Clone, clap::Parser)]
#[command(name = SCRIPT, version, disable_help_subcommand = true, max_term_width = 100)]
pub(crate) struct ScriptArgs {
    /// Namespace of the metrics
    #[arg(long, value_name = "NAME", value_parser = namespace)]
    namespace: String,

    /// Region of CloudWatch
    #[arg(long, value_name = "REGION")]
    region: String,
}

impl ScriptArgs {
    /// The same as flags of ours.
    pub(crate) fn into_ours(self) -> CloudwatchArgs {
        CloudwatchArgs {
            namespace: self.namespace,
            region: Some(self.region),
            endpoint: None,
            flush: None,
            output: None,
            stdin: true,
            count: None,
            collection: Collection::NOTHING,
        }
    }
}

/// What CloudWatch accepts as a namespace.
fn namespace(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/#: ".contains(c);
    let fine = (1..=255).contains(&text.len()) && text.chars().all(plain);
    if fine && !text.starts_with("AWS/") && !text.starts_with(':') {
        return Ok(text.to_owned());
    }
    Err(String::from("1 to 255 letters, digits and ._-/#: are allowed; AWS/ is reserved"))
}

/// Works until the end.
pub(crate) fn run(args: &CloudwatchArgs, source: &str) -> Result<Exit, String> {
    match &args.region {
        None => lines(args, source),
        #[cfg(feature = "cloudwatch")]
        Some(region) => put::run(args, region, source),
        #[cfg(not(feature = "cloudwatch"))]
        Some(_) => Err(String::from(
            "this build has no PutMetricData: build it with --features cloudwatch, or leave \
             --region out and let the CloudWatch agent take the lines",
        )),
    }
}

/// Writes lines.
fn lines(args: &CloudwatchArgs, source: &str) -> Result<Exit, String> {
    let input = Input::open(args, source)?;
    let output: Box<dyn Write + Send> = match &args.output {
        None => {
            events::watch_reader(input.sender.clone()).map_err(cannot_start)?;
            Box::new(std::io::stdout())
        }
        Some(path) => {
            let file = OpenOptions::new().append(true).create(true).open(path);
            let cannot = |error| format!("cannot write {}: {}", path.display(), io_reason(&error));
            Box::new(file.map_err(cannot)?)
        }
    };
    let lines = Lines::to(output, input.dropped(), input.sender.clone()).map_err(cannot_start)?;
    let (end, events) = input.run(|record| {
        // The lines of a record stand or fall together.
        let text = emf::lines(&record, &args.namespace).concat();
        if !text.is_empty() {
            lines.write(text.into_bytes());
        }
    })?;
    match end.or(lines.finish(&events)) {
        End::Done => Ok(Exit::Done),
        End::Output(error) => {
            let place = args.output.as_ref().map(|path| path.display().to_string());
            let place = place.as_deref().unwrap_or("to stdout");
            Err(format!("cannot write {place}: {}", io_reason(&error)))
        }
    }
}

fn cannot_start(error: std::io::Error) -> String {
    format!("cannot start: {}", io_reason(&error))
}

/// A variable of the environment that is set and not empty.
#[cfg(feature = "cloudwatch")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Where records come from.
struct Input<'a> {
    args: &'a CloudwatchArgs,
    /// `None` for stdin.
    monitor: Option<crate::monitor::Monitor>,
    sender: Sender<Event>,
    events: Receiver<Event>,
    /// Kept for as long as the file is watched.
    _watch: Option<notify::RecommendedWatcher>,
}

impl<'a> Input<'a> {
    fn open(args: &'a CloudwatchArgs, source: &str) -> Result<Self, String> {
        let monitor = match args.stdin {
            true => None,
            false => Some(crate::monitor(&args.collection, source, Config::everything)?),
        };
        let (sender, events) = channel();
        events::watch_signals(sender.clone()).map_err(cannot_start)?;
        let watch = crate::watch_config(&args.collection, &sender);
        Ok(Self { args, monitor, sender, events, _watch: watch })
    }

    fn dropped(&self) -> Arc<std::sync::atomic::AtomicU64> {
        self.monitor.as_ref().map(|monitor| Arc::clone(&monitor.own.dropped)).unwrap_or_default()
    }

    /// Hands each record on until the end.
    fn run(self, mut sink: impl FnMut(Record)) -> Result<(End, Receiver<Event>), String> {
        let Some(mut monitor) = self.monitor else {
            return from_stdin(self.sender, self.events, sink);
        };
        let limit = self.args.count.map_or(Limit::None, Limit::Count);
        let end = monitor.run(limit, &self.events, |record| {
            sink(record);
            ControlFlow::Continue(())
        });
        Ok((end, self.events))
    }
}

/// Takes the records of stdin. They are read by a thread of its own, so that a
/// signal is heard while nothing comes.
fn from_stdin(
    sender: Sender<Event>,
    events: Receiver<Event>,
    mut sink: impl FnMut(Record),
) -> Result<(End, Receiver<Event>), String> {
    Builder::new()
        .name(String::from("stdin"))
        .spawn(move || {
            let ended = records::from_stdin(|record| match record {
                // The loop may have ended already.
                Ok(record) => drop(sender.send(Event::Record(Box::new(record)))),
                Err(complaint) => cli::complain(PROGRAM, &complaint),
            });
            if let Err(reason) = ended {
                cli::complain(PROGRAM, &reason);
            }
            let _ = sender.send(Event::Stop);
        })
        .map_err(cannot_start)?;
    while let Ok(event) = events.recv() {
        match event {
            Event::Record(record) => sink(*record),
            Event::OutputFailed(error) => return Ok((End::Output(error), events)),
            Event::Stop | Event::ReaderGone | Event::HangUp => break,
            Event::ConfigTouched => {}
        }
    }
    Ok((End::Done, events))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces() {
        assert_eq!(namespace("My/Neuron-1").unwrap(), "My/Neuron-1");
        for bad in ["", "AWS/Neuron", ":a", "a\nb", "ü"] {
            assert!(namespace(bad).is_err(), "{bad:?}");
        }
        assert!(namespace(&"x".repeat(256)).is_err());
    }
}
