//! The command line, also for the man page and the completions.

use std::time::Duration;

use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};
use neuron_core::cli::{self, CommonArgs, Exit, VersionFlag};

use crate::sim::SimCommand;

/// List Neuron devices, how they are connected and who uses them
#[derive(Debug, Clone, Parser)]
#[command(
    name = "neuron-ls",
    version,
    disable_version_flag = true,
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true,
    args_override_self = true,
    max_term_width = 100
)]
pub struct Arguments {
    /// Print up to 80 columns of each command instead of 40
    #[arg(short, long)]
    pub wide: bool,

    /// Also list processes that use no Neuron runtime
    #[arg(short = 'a', long)]
    pub show_all_procs: bool,

    /// Draw how the devices are connected, below the table
    #[arg(short, long)]
    pub topology: bool,

    /// Print the JSON of the original neuron-ls, key for key
    #[arg(short = 'j', long, conflicts_with = "output")]
    pub json_output: bool,

    /// What to print; json has the keys of -j and more
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value = "table")]
    output: Format,

    /// Keep running and print again whenever something that is shown has changed
    #[arg(long)]
    pub watch: bool,

    /// Shortest time between two readings: a number with ms, s, m or h
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = cli::parse_duration,
        default_value = "1s",
        requires = "watch"
    )]
    pub interval: Duration,

    /// Flags of every tool.
    #[command(flatten)]
    pub common: CommonArgs,

    #[command(flatten)]
    version: VersionFlag,

    /// Work that is not listing.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Commands beside the list.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Make, list, export, spoil and remove simulated instances
    #[command(subcommand)]
    Sim(SimCommand),
}

/// `--output`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for people
    Table,
    /// An array of one object for each device
    Json,
    /// One row for each process on each device (RFC 4180)
    Csv,
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// Table, and the drawing where it is asked for.
    Table,
    /// JSON with the original's keys only.
    OriginalJson,
    /// JSON with keys of our own behind the original's.
    Json,
    /// Comma-separated values.
    Csv,
}

impl Arguments {
    /// What to print; JSON wins over a drawing.
    pub fn document(&self) -> Document {
        match self.output {
            _ if self.json_output => Document::OriginalJson,
            Format::Table => Document::Table,
            Format::Json => Document::Json,
            Format::Csv => Document::Csv,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  neuron-ls --wide --show-all-procs
  neuron-ls --topology --source sim:trn1.32xlarge
  neuron-ls --json-output | jq '.[].neuron_processes'
  neuron-ls --watch --interval 500ms
  neuron-ls sim fault trn1.32xlarge 3 reset

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
    fn documents() {
        let document = |line| parse(line).unwrap().document();
        assert_eq!(document("neuron-ls -a -w"), Document::Table);
        assert_eq!(document("neuron-ls -j -t"), Document::OriginalJson);
        assert_eq!(document("neuron-ls --json-output"), Document::OriginalJson);
        assert_eq!(document("neuron-ls -o json"), Document::Json);
        assert_eq!(document("neuron-ls --output csv"), Document::Csv);
    }

    #[test]
    fn a_flag_may_be_repeated() {
        for line in
            ["neuron-ls -w -w", "neuron-ls -jj", "neuron-ls -o csv -o json -a -a --watch --watch"]
        {
            assert!(parse(line).is_ok(), "{line}");
        }
        assert_eq!(parse("neuron-ls -o csv -o json").unwrap().document(), Document::Json);
    }

    #[test]
    fn refused() {
        for line in [
            "neuron-ls --badflag",
            "neuron-ls -j -o csv",
            "neuron-ls -o xml",
            "neuron-ls --interval 1s",
            "neuron-ls --watch --interval 5",
            "neuron-ls extra",
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.use_stderr(), "{line}: {error}");
        }
    }

    #[test]
    fn help_has_examples_and_exit_codes() {
        let help = command().render_long_help().to_string();
        for part in ["Examples:", "Exit status:", "  3  a part", "--source", "-v, --version"] {
            assert!(help.contains(part), "{part} is missing in\n{help}");
        }
    }
}
