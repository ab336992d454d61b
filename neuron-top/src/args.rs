//! The command line, also for the man page and the completions.

use std::path::PathBuf;
use std::time::Duration;

use clap::{CommandFactory as _, Parser};
use neuron_core::cli::{CommonArgs, Exit, VersionFlag};

use crate::config::parse_period;
use crate::theme::Background;

/// Show what NeuronCores, their memory and the processes on them do, as it happens
#[derive(Debug, Clone, Parser)]
#[command(
    name = "neuron-top",
    version,
    disable_version_flag = true,
    args_override_self = true,
    max_term_width = 100
)]
pub struct Arguments {
    /// Time between two readings, at least 100ms: a number with ms, s, m or h [default: 1s]
    #[arg(short, long, visible_alias = "interval", value_name = "DURATION", value_parser = parse_period)]
    pub period: Option<Duration>,

    /// Print the screen once as plain text, the whole tree with it, and end
    #[arg(long, conflicts_with = "count")]
    pub once: bool,

    /// Print N times and end, the first after one period
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,

    /// Print plain text and not a screen; without --count until something ends it
    #[arg(short, long)]
    pub batch: bool,

    /// Print JSON, one reading a line; without --once or --count until something ends it
    #[arg(short = 'j', long, visible_alias = "json-output")]
    pub json: bool,

    /// Read keys, colours and more from a file [default: ~/.config/neuron-top.json, if there is one]
    #[arg(short, long, value_name = "PATH")]
    pub config: Option<PathBuf>,

    /// Whether the terminal is light or dark [default: as COLORFGBG says, else dark]
    #[arg(long, value_name = "THEME", value_enum)]
    pub theme: Option<Background>,

    /// Leave the mouse to the terminal
    #[arg(long)]
    pub no_mouse: bool,

    /// Draw with ASCII only [default: as the locale says]
    #[arg(long)]
    pub ascii: bool,

    /// Flags of every tool.
    #[command(flatten)]
    pub common: CommonArgs,

    #[command(flatten)]
    version: VersionFlag,
}

impl Arguments {
    /// How many documents are printed; `None` for the live screen.
    pub fn printed(&self, terminal: bool) -> Option<u64> {
        match self.count {
            Some(count) => Some(count),
            None if self.once => Some(1),
            None if self.json || self.batch => Some(u64::MAX),
            // What asks for a screen and has no terminal gets one text.
            None if !terminal => Some(1),
            None => None,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  neuron-top --period 500ms
  neuron-top --once
  neuron-top -j -n 10 | jq '.neuroncores[].neuroncore_utilization'
  neuron-top --source sim:trn2.48xlarge
  neuron-top --source replay:day.rec

Keys: ? shows them. q quits.

";

/// The definition of the command line.
pub fn command() -> clap::Command {
    let codes = Exit::help(&[Exit::Done, Exit::Error, Exit::Partial]);
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
    fn what_is_printed() {
        let printed = |line, terminal| parse(line).unwrap().printed(terminal);
        assert_eq!(printed("neuron-top --period 100ms", true), None);
        assert_eq!(printed("neuron-top --period 100ms", false), Some(1));
        assert_eq!(printed("neuron-top --once", true), Some(1));
        assert_eq!(printed("neuron-top -j", true), Some(u64::MAX));
        assert_eq!(printed("neuron-top -b -n 3", false), Some(3));
        assert_eq!(printed("neuron-top -j --once", true), Some(1));
    }

    #[test]
    fn refused() {
        for line in [
            "neuron-top --period 99ms",
            "neuron-top --period 1",
            "neuron-top --once --count 2",
            "neuron-top --count 0",
            "neuron-top --theme blue",
            "neuron-top extra",
            "neuron-top --sample 10",
        ] {
            assert!(parse(line).unwrap_err().use_stderr(), "{line}");
        }
    }
}
