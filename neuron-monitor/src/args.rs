//! The command line, also for the man page and the completions.

use std::path::PathBuf;
use std::time::Duration;

use clap::{CommandFactory as _, Parser, Subcommand};
use neuron_core::cli::{CommonArgs, Exit, VersionFlag};

use crate::cloudwatch::CloudwatchArgs;
use crate::config::{PERIOD, parse_period};
use crate::prometheus::PrometheusArgs;
use crate::recording::RecordArgs;

/// Print what Neuron applications and devices do, as JSON, one record a line
#[derive(Debug, Clone, Parser)]
#[command(
    name = "neuron-monitor",
    version,
    disable_version_flag = true,
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true,
    args_override_self = true,
    max_term_width = 100
)]
pub struct Arguments {
    /// What is collected.
    #[command(flatten)]
    pub collection: Collection,

    /// Print one record with every group and end
    #[arg(long, conflicts_with = "count")]
    pub once: bool,

    /// Print N records, the first after one period, and end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,

    /// Print each record over many lines, for people
    #[arg(long)]
    pub pretty: bool,

    /// Flags of every tool.
    #[command(flatten)]
    pub common: CommonArgs,

    #[command(flatten)]
    version: VersionFlag,

    /// Work that is not the stream.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What is collected, and how loud it is.
#[derive(Debug, Clone, clap::Args)]
pub struct Collection {
    /// Say more on stderr: 1 what cannot be read, 2 steps, 3 records
    #[arg(
        long,
        value_name = "LEVEL",
        default_value_t = 0,
        value_parser = clap::value_parser!(u8).range(0..=4)
    )]
    pub verbose: u8,

    /// Read what to collect from a JSON file; it is read again when it changes
    #[arg(short, long, value_name = "PATH")]
    pub config_file: Option<PathBuf>,

    /// Period of groups for which the configuration says nothing [default: 5s]
    #[arg(long, value_name = "DURATION", value_parser = parse_period)]
    pub period: Option<Duration>,

    /// Where the kubelet is asked for pods, when k8s_info is on [default:
    /// /var/lib/kubelet/pod-resources/kubelet.sock]
    #[arg(long, value_name = "PATH")]
    pub kubelet_socket: Option<PathBuf>,
}

impl Collection {
    /// As flags that were not given.
    pub(crate) const NOTHING: Self =
        Self { verbose: 0, config_file: None, period: None, kubelet_socket: None };

    /// The period of groups for which nothing is said.
    pub(crate) fn period(&self) -> Duration {
        self.period.unwrap_or(PERIOD)
    }
}

/// Commands beside the stream.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Serve the metrics over HTTP for Prometheus
    Prometheus(PrometheusArgs),
    /// Send the metrics to CloudWatch, or write them as embedded metric format
    Cloudwatch(CloudwatchArgs),
    /// Record samples into a file for --source replay:FILE
    Record(RecordArgs),
    /// Print the JSON Schema of the records
    Schema,
    /// Print a Grafana dashboard for the exporter
    Dashboard,
}

const EXAMPLES: &str = "\
Examples:
  neuron-monitor --once --period 1s --pretty
  neuron-monitor -c monitor.conf | jq -c .neuron_runtime_data
  neuron-monitor prometheus --listen 127.0.0.1 --port 8000
  neuron-monitor record day.rec --period 5s --source sim:trn1.32xlarge
  neuron-monitor --source replay:day.rec,speed=60

";

/// The definition of the command line.
pub fn command() -> clap::Command {
    let codes = Exit::help(&[Exit::Done, Exit::Error]);
    Arguments::command().after_help(format!("{EXAMPLES}{codes}"))
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;

    use super::*;

    fn parse(line: &str) -> Result<Arguments, clap::Error> {
        let matches = command().try_get_matches_from(line.split(' '))?;
        Arguments::from_arg_matches(&matches)
    }

    #[test]
    fn definition_holds_together() {
        command().debug_assert();
    }

    #[test]
    fn flags_of_the_original_and_ours() {
        let args = parse("neuron-monitor -c a.conf --verbose 3").unwrap();
        assert_eq!(args.collection.config_file.as_deref(), Some("a.conf".as_ref()));
        assert_eq!((args.collection.verbose, args.collection.period()), (3, PERIOD));
        let args = parse("neuron-monitor --count 3 --period 1.0s").unwrap();
        assert_eq!((args.count, args.collection.period()), (Some(3), Duration::from_secs(1)));
    }

    #[test]
    fn refused() {
        for line in [
            "neuron-monitor --badflag",
            "neuron-monitor --verbose 5",
            "neuron-monitor --count 0",
            "neuron-monitor --once --count 2",
            "neuron-monitor --period 5",
            "neuron-monitor extra",
        ] {
            assert!(parse(line).unwrap_err().use_stderr(), "{line}");
        }
    }
}
