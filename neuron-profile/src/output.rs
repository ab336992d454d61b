//! Exit codes, closed pipes, output formats and progress of this tool.

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU8, Ordering};

pub use neuron_core::cli::Exit;
use neuron_core::model::printable;

/// Form of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON document
    Json,
}

/// Where results go. It keeps what went wrong with writing, so that a full disk
/// is never told as a fault of the file that was read.
#[derive(Debug)]
pub struct Results<W> {
    out: W,
    failed: Option<io::Error>,
}

impl<W: Write> Results<W> {
    /// Results that go to `out`.
    pub fn new(out: W) -> Self {
        Self { out, failed: None }
    }

    fn note<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        done.inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                let again = error.raw_os_error().map(io::Error::from_raw_os_error);
                self.failed = Some(again.unwrap_or_else(|| error.kind().into()));
            }
        })
    }

    /// Maps the outcome of a command to an exit, telling an error on stderr. A
    /// closed pipe is quiet success.
    pub fn finish(self, done: anyhow::Result<Exit>) -> Exit {
        let text = match (done, self.failed) {
            (_, Some(failed)) if failed.kind() == io::ErrorKind::BrokenPipe => return Exit::Done,
            (_, Some(failed)) => neuron_core::Error::io("write to", "stdout")(failed).to_string(),
            (Ok(exit), None) => return exit,
            (Err(error), None) => one_line(&error),
        };
        neuron_core::cli::complain("neuron-profile", &text);
        Exit::Error
    }
}

impl<W: Write> Write for Results<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.out.write(bytes);
        self.note(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.note(done)
    }
}

/// What failed and why, on one line. The errors of the shared crate tell their
/// cause themselves; an error of the system ends the line, without its number.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    let mut parts = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        if let Some(plain) = without_number(&text) {
            parts.push(plain);
            break;
        }
        parts.push(text);
        if cause.is::<neuron_core::Error>() || cause.is::<neuron_core::ntff::Error>() {
            break;
        }
    }
    // Paths and names in it come from outside.
    printable(&parts.join(": "))
}

/// The text of an error of the system, or of one that repeats it, in the style
/// of the shared crate: `No such file (os error 2)` is `no such file`.
fn without_number(text: &str) -> Option<String> {
    let (text, _) = text.rsplit_once(" (os error ")?;
    let start = text.rfind(": ").map_or(0, |colon| colon + 2);
    let (lead, reason) = text.split_at_checked(start)?;
    let mut letters = reason.chars();
    let first = letters.next()?.to_lowercase();
    Some(format!("{lead}{first}{}", letters.as_str()))
}

/// The exit table, for the help of each command.
pub fn codes() -> String {
    Exit::help(&[Exit::Done, Exit::Error, Exit::Partial])
}

/// How much is told on stderr beside errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Nothing.
    Errors,
    /// Findings and notes.
    Notes,
    /// Also what was done, and how long it took.
    Steps,
}

/// Of the process, since it is one command.
static VERBOSITY: AtomicU8 = AtomicU8::new(Verbosity::Notes as u8);

/// Sets how much is told, by number; the most for large ones.
pub fn set_verbosity(level: u8) {
    VERBOSITY.store(level, Ordering::Relaxed);
}

/// Whether so much is told.
pub fn tells(level: Verbosity) -> bool {
    VERBOSITY.load(Ordering::Relaxed) >= level as u8
}

/// Tells on stderr what was found in the file `name`, a line each, unless errors
/// alone are wanted.
pub fn tell(name: &str, lines: impl IntoIterator<Item = String>) {
    if tells(Verbosity::Notes) {
        wrong(name, lines);
    }
}

/// Tells on stderr why something of the file `name` failed, a line each.
pub fn wrong(name: &str, lines: impl IntoIterator<Item = String>) {
    let mut err = io::stderr().lock();
    for line in lines {
        // A stderr that cannot be written to is not worth a second failure.
        let _ = writeln!(err, "{}", printable(&format!("{name}: {line}")));
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context as _;
    use neuron_core::neff::WriteError;

    /// Wrapped or not, an error of the system has one style and is told once.
    #[test]
    fn errors_of_the_system_have_one_style() {
        let full = || io::Error::from_raw_os_error(28);
        let line = |error: anyhow::Error| one_line(&error.context("cannot write x"));
        let wanted = "cannot write x: no space left on device";
        assert_eq!(line(full().into()), wanted);
        let named = io::Error::new(full().kind(), format!("{} at path \"/x/y\"", full()));
        assert_eq!(line(named.into()), wanted);
        let wrapped = line(WriteError::Io(full()).into());
        assert_eq!(wrapped, "cannot write x: cannot write: no space left on device");
        let told = Err::<(), _>(neuron_core::Error::io("read", "d")(full())).context("f");
        let told = told.map_err(|error| one_line(&error));
        assert_eq!(told, Err("f: cannot read d: no space left on device".into()));
        let other = io::Error::other("SP.bin is cut");
        assert_eq!(line(other.into()), "cannot write x: SP.bin is cut");
    }
}
