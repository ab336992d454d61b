//! Metrics of Neuron applications and devices: a JSON stream, and exporters.
//!
//! `reading` turns a source into figures, `document` figures into a
//! [`wire::Record`]; the stream prints records, the exporters read them. What
//! this crate leaves out: screens (neuron-top).

use std::ffi::OsString;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::sync::mpsc::channel;

use neuron_core::cli::{self, Exit, Output};
use neuron_core::error::io_reason;

mod args;
pub mod cloudwatch;
mod config;
mod document;
mod events;
#[cfg_attr(not(feature = "k8s"), path = "kubernetes/absent.rs")]
mod kubernetes;
mod log;
mod metadata;
mod monitor;
mod output;
mod own;
mod plan;
pub mod prometheus;
mod reading;
pub mod recording;
mod records;
pub mod wire;

pub use args::{Arguments, Collection, Command, command};

use config::Config;
use log::Log;
use monitor::{ConfigFile, End, Limit, Monitor};
use output::Lines;
use reading::Reading;

/// Name in front of every message.
const PROGRAM: &str = "neuron-monitor";

/// The JSON Schema of the records (sys-tools.md §4, and keys of our own).
pub const SCHEMA: &str = include_str!("../assets/neuron-monitor.schema.json");

/// A Grafana dashboard of the exporter's metrics.
pub const DASHBOARD: &str = include_str!("../assets/grafana-dashboard.json");

/// Runs the program; `args` starts with its name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(result) = script(&args) {
        return result;
    }
    let args: Arguments = match cli::parse(command(), args, Exit::Error) {
        Ok(args) => args,
        Err(exit) => return exit,
    };
    let result = match &args.command {
        None => stream(&args),
        Some(Command::Schema) => print(SCHEMA),
        Some(Command::Dashboard) => print(DASHBOARD),
        Some(Command::Cloudwatch(write)) => cloudwatch::run(write, args.common.source()),
        Some(Command::Record(record)) => recording::run(record, args.common.source()),
        Some(Command::Prometheus(serve)) => prometheus::run(serve, args.common.source()),
    };
    ended(result)
}

fn ended(result: Result<Exit, String>) -> Exit {
    result.unwrap_or_else(|reason| {
        cli::complain(PROGRAM, &reason);
        Exit::Error
    })
}

/// Under the name of one of the original's scripts the program is that script:
/// a link is all that it takes.
fn script(args: &[OsString]) -> Option<Exit> {
    use clap::CommandFactory as _;
    let name = std::path::Path::new(args.first()?).file_name()?.to_str()?;
    let args = args.iter().cloned();
    Some(match name {
        prometheus::SCRIPT => {
            let command = prometheus::ScriptArgs::command();
            match cli::parse::<prometheus::ScriptArgs>(command, args, Exit::Error) {
                Ok(args) => ended(prometheus::run(&args.into_ours(), cli::DEFAULT_SOURCE)),
                Err(exit) => exit,
            }
        }
        cloudwatch::SCRIPT => {
            let command = cloudwatch::ScriptArgs::command();
            match cli::parse::<cloudwatch::ScriptArgs>(command, args, Exit::Error) {
                Ok(args) => ended(cloudwatch::run(&args.into_ours(), cli::DEFAULT_SOURCE)),
                Err(exit) => exit,
            }
        }
        _ => return None,
    })
}

/// Prints a text.
fn print(text: &str) -> Result<Exit, String> {
    let mut out = Output::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(unprintable)?;
    Ok(Exit::Done)
}

/// A monitor as the flags say. `standard` is collected when no file says
/// otherwise.
fn monitor(
    collection: &Collection,
    source: &str,
    standard: impl FnOnce(std::time::Duration) -> Config,
) -> Result<Monitor, String> {
    let period = collection.period();
    let (config, file) = match &collection.config_file {
        None => (standard(period), None),
        Some(path) => {
            let file = ConfigFile::new(path.clone(), period);
            (Config::read(path, period)?, Some(file))
        }
    };
    let reading = Reading::open(source).map_err(|error| error.to_string())?;
    let mut monitor = Monitor::new(reading, config, file, Log::new(collection.verbose));
    monitor.ask_kubelet(collection.kubelet_socket.as_deref())?;
    Ok(monitor)
}

/// The stream on stdout.
fn stream(args: &Arguments) -> Result<Exit, String> {
    let mut monitor = monitor(&args.collection, args.common.source(), Config::standard)?;
    let (sender, events) = channel();
    let threads = |error: std::io::Error| format!("cannot start: {}", io_reason(&error));
    events::watch_signals(sender.clone()).map_err(threads)?;
    events::watch_reader(sender.clone()).map_err(threads)?;
    let _watch = watch_config(&args.collection, &sender);
    let dropped = std::sync::Arc::clone(&monitor.own.dropped);
    let lines = Lines::to(std::io::stdout(), dropped, sender).map_err(threads)?;
    let limit = match args.count {
        _ if args.once => Limit::Once,
        Some(count) => Limit::Count(count),
        None => Limit::None,
    };
    let end = monitor.run(limit, &events, |record| {
        // A record is plain data: it can always be written down.
        if let Ok(line) = record.to_line(args.pretty) {
            lines.write(line);
        }
        ControlFlow::Continue(())
    });
    match end.or(lines.finish(&events)) {
        End::Done => Ok(Exit::Done),
        End::Output(error) => Err(unprintable(error)),
    }
}

/// Watches the configuration file, for as long as the answer is kept. Without
/// a watch the file is read again at SIGHUP only.
fn watch_config(
    collection: &Collection,
    sender: &std::sync::mpsc::Sender<events::Event>,
) -> Option<notify::RecommendedWatcher> {
    let path = collection.config_file.as_ref()?;
    match events::watch_file(path, sender.clone()) {
        Ok(watch) => Some(watch),
        Err(error) => {
            let log = Log::new(collection.verbose);
            log.say(log::Level::Steps, &format!("{} is not watched: {error}", path.display()));
            None
        }
    }
}

fn unprintable(error: std::io::Error) -> String {
    format!("cannot write to stdout: {}", io_reason(&error))
}
