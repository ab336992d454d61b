//! Exit codes, closed pipes, output formats and progress of this tool.

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};

pub use neuron_core::cli::Exit;

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
            neuron_core::cli::complain("neuron-profile", &one_line(&error));
            Exit::Error
        }
    }
}

/// What failed and why, on one line. The errors of the shared crate tell their
/// cause themselves.
fn one_line(error: &anyhow::Error) -> String {
    let mut parts = Vec::new();
    for cause in error.chain() {
        parts.push(cause.to_string());
        if cause.is::<neuron_core::Error>() || cause.is::<neuron_core::ntff::Error>() {
            break;
        }
    }
    // Paths and names in it come from outside.
    neuron_core::model::printable(&parts.join(": "))
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

/// Rows of cells with the widths of their columns; `left` columns are aligned
/// left, others right. Trailing blanks are not written.
pub fn table(
    out: &mut dyn Write,
    indent: &str,
    left: &[usize],
    rows: &[Vec<String>],
) -> io::Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell: &String| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let mut line = String::from(indent);
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let gap = " ".repeat(width.saturating_sub(cell.chars().count()));
            let between = if column == 0 { "" } else { "  " };
            line.push_str(between);
            if left.contains(&column) {
                line.push_str(cell);
                line.push_str(&gap);
            } else {
                line.push_str(&gap);
                line.push_str(cell);
            }
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
