//! Flags that every tool takes, and how a command line is read.

use std::ffi::OsString;
use std::io::Write as _;

use clap::{ArgAction, Args, FromArgMatches};

use super::{ColorChoice, Exit, Output, report};

/// The source that is read when nothing else is asked for.
pub const DEFAULT_SOURCE: &str = "kernel";

/// Where a tool reads from and how it prints.
#[derive(Debug, Clone, Args)]
pub struct CommonArgs {
    /// What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE
    #[arg(
        long,
        value_name = "SOURCE",
        env = "NEURON_SOURCE",
        hide_env_values = true,
        default_value = DEFAULT_SOURCE,
        global = true
    )]
    source: String,

    /// When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto", global = true)]
    pub color: ColorChoice,
}

impl CommonArgs {
    /// Text of the source; an empty `NEURON_SOURCE` counts as not set.
    pub fn source(&self) -> &str {
        if self.source.is_empty() { DEFAULT_SOURCE } else { &self.source }
    }
}

/// `-v`, `-V`, `--version`: prints `neuron-ls 0.1.0`. The command must have
/// clap's own version flag disabled.
#[derive(Debug, Clone, Args)]
pub struct VersionFlag {
    /// Print the version
    #[arg(short = 'v', visible_short_alias = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
}

/// Reads a command line.
///
/// # Errors
///
/// The exit code, once everything has been said: [`Exit::Done`] after help or
/// version on stdout, `usage` after a complaint on stderr.
pub fn parse<T: FromArgMatches>(
    command: clap::Command,
    args: impl IntoIterator<Item = OsString>,
    usage: Exit,
) -> Result<T, Exit> {
    let program = command.get_name().to_owned();
    let parsed = command.try_get_matches_from(args).and_then(|m| T::from_arg_matches(&m));
    parsed.map_err(|error| {
        let text = error.render().to_string();
        if error.use_stderr() {
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            report::complain(&program, text.trim_end());
            return usage;
        }
        let mut out = Output::to(std::io::stdout().lock());
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => Exit::Done,
            Err(error) => {
                report::complain(&program, &format!("cannot write to stdout: {error}"));
                Exit::Error
            }
        }
    })
}
