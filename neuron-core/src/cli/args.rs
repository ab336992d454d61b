//! Flags that every tool takes, and how a command line is read.

use std::ffi::OsString;
use std::io::Write as _;

use clap::error::ErrorKind;
use clap::{ArgAction, Args, FromArgMatches};

use super::{ColorChoice, Exit, Output, report};

/// The source that is read when nothing else is asked for.
pub const DEFAULT_SOURCE: &str = "kernel";

/// The variable in the place of `--source`.
const VARIABLE: &str = "NEURON_SOURCE";

/// Where a tool reads from and how it prints.
#[derive(Debug, Clone, Args)]
pub struct CommonArgs {
    /// What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE
    #[arg(
        long,
        value_name = "SOURCE",
        env = VARIABLE,
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
    let args: Vec<OsString> = args.into_iter().collect();
    let all_text = args.iter().all(|arg| arg.to_str().is_some());
    let parsed = command.try_get_matches_from(args).and_then(|m| T::from_arg_matches(&m));
    parsed.map_err(|error| {
        let text = error.render().to_string();
        if error.kind() == ErrorKind::InvalidUtf8 && all_text {
            // The one variable that is read as a flag.
            report::complain(
                &program,
                &format!("{VARIABLE} is not UTF-8: set it anew or unset it"),
            );
            return usage;
        }
        if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            report::complain(&program, &format!("a command is missing\n\n{}", text.trim_end()));
            return usage;
        }
        if error.use_stderr() {
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            report::complain(&program, text.trim_end());
            return usage;
        }
        let mut out = Output::stdout();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => Exit::Done,
            Err(error) => {
                report::complain(&program, &format!("cannot write to stdout: {error}"));
                Exit::Error
            }
        }
    })
}
