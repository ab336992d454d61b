//! Exit codes, closed pipes, output formats and progress of this tool.

use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How the tool ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done, or the reader of a pipe went away.
    Done,
    /// 1: any error, usage too.
    Error,
    /// 3: a part of the input could not be read; what is whole was shown.
    Partial,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => Self::SUCCESS,
            Exit::Error => Self::FAILURE,
            Exit::Partial => Self::from(3),
        }
    }
}

/// Form of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON document
    Json,
}

/// Maps the outcome of a command to an exit, telling an error on stderr.
pub fn finish(done: anyhow::Result<Exit>) -> Exit {
    match done {
        Ok(exit) => exit,
        Err(error) if is_closed_pipe(&error) => Exit::Done,
        Err(error) => {
            let _ = writeln!(io::stderr(), "neuron-profile: {error:#}");
            Exit::Error
        }
    }
}

/// Whether an error is a pipe whose reader went away.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let by_io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let by_json = cause.downcast_ref::<serde_json::Error>().and_then(|e| e.io_error_kind());
        by_io.or(by_json) == Some(io::ErrorKind::BrokenPipe)
    })
}

/// Writes a JSON document and a newline.
pub fn json(out: &mut dyn Write, value: &serde_json::Value) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

/// A bar on stderr, only where that is a terminal. `length` is in bytes if
/// `bytes`, else a count.
pub fn progress(what: &'static str, length: u64, bytes: bool) -> ProgressBar {
    let target = if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(length), target).with_message(what);
    let template = if bytes {
        "{msg} {wide_bar} {bytes}/{total_bytes} {eta}"
    } else {
        "{msg} {wide_bar} {pos}/{len} {eta}"
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}
