//! `neuron-monitor cloudwatch`: metrics as lines that the CloudWatch agent, or
//! a container's log driver, turns into metrics.

mod emf;

use std::fs::OpenOptions;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;

use neuron_core::cli::Exit;
use neuron_core::error::io_reason;

use crate::args::Collection;
use crate::config::Config;
use crate::events;
use crate::monitor::{End, Limit};
use crate::output::Lines;

/// Flags of `neuron-monitor cloudwatch`.
#[derive(Debug, Clone, clap::Args)]
pub struct CloudwatchArgs {
    /// Namespace of the metrics
    #[arg(long, value_name = "NAME", default_value = "Neuron", value_parser = namespace)]
    pub namespace: String,

    /// Append to a file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Write N records, the first after one period, and end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,

    /// What is collected.
    #[command(flatten)]
    pub collection: Collection,
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

/// Writes until the end.
pub(crate) fn run(args: &CloudwatchArgs, source: &str) -> Result<Exit, String> {
    let mut monitor = crate::monitor(&args.collection, source, Config::everything)?;
    let (sender, events) = channel();
    let cannot = |error: std::io::Error| format!("cannot start: {}", io_reason(&error));
    events::watch_signals(sender.clone()).map_err(cannot)?;
    let _watch = crate::watch_config(&args.collection, &sender);
    let output: Box<dyn Write + Send> = match &args.output {
        None => {
            events::watch_reader(sender.clone()).map_err(cannot)?;
            Box::new(std::io::stdout())
        }
        Some(path) => {
            let file = OpenOptions::new().append(true).create(true).open(path);
            let cannot = |error| format!("cannot write {}: {}", path.display(), io_reason(&error));
            Box::new(file.map_err(cannot)?)
        }
    };
    let dropped = Arc::clone(&monitor.own.dropped);
    let lines = Lines::to(output, dropped, sender).map_err(cannot)?;
    let limit = args.count.map_or(Limit::None, Limit::Count);
    let end = monitor.run(limit, &events, |record| {
        // The lines of a record stand or fall together.
        let text = emf::lines(&record, &args.namespace).concat();
        if !text.is_empty() {
            lines.write(text.into_bytes());
        }
        ControlFlow::Continue(())
    });
    match end.or(lines.finish(&events)) {
        End::Done => Ok(Exit::Done),
        End::Output(error) => {
            let place = args.output.as_ref().map(|path| path.display().to_string());
            let place = place.as_deref().unwrap_or("to stdout");
            Err(format!("cannot write {place}: {}", io_reason(&error)))
        }
    }
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
