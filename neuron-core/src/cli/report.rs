//! Lines on stderr.

use std::io::{IsTerminal as _, Write as _};

use super::{ColorChoice, Paint, rfc3339};
use crate::model::printable;
use crate::units::Timestamp;

/// What the vendor's tools say when there is no driver or no device
/// (sys-tools.md §2.10, tools 2.28 and later). Scripts look for it.
const MESSAGE: &str = "Failed to load MLA system information";
/// The `error` field of the same line.
const CAUSE: &str = "failed to discover Neuron devices";

/// Prints `program: text` on stderr. A stderr that cannot be written to is
/// not worth a second failure.
pub fn complain(program: &str, text: &str) {
    let line = format!("{program}: {}\n", lines(text));
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// The text with everything but its line ends made printable: a path or the
/// content of a file may be in it.
fn lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// Says that there are no devices: the vendor's line, for programs that look
/// for it, and one of our own with the reason and the way to a simulated
/// instance.
pub fn no_devices(program: &str, reason: &str, color: ColorChoice) {
    let mut stderr = std::io::stderr().lock();
    let terminal = stderr.is_terminal();
    let now = Timestamp::from_system_time(std::time::SystemTime::now());
    let mut text = if terminal { fatal_on_terminal(color.decide(true)) } else { fatal_in_log(now) };
    text.push_str(&format!("\n{program}: {}\n", lines(&with_hint(reason))));
    let _ = stderr.write_all(text.as_bytes());
}

/// The reason, and what to do unless it already says so.
fn with_hint(reason: &str) -> String {
    let reason = if reason.is_empty() { "no Neuron driver here" } else { reason };
    if reason.contains("--source") {
        reason.to_owned()
    } else {
        format!("{reason}; try --source sim:trn1.32xlarge")
    }
}

fn fatal_in_log(now: Timestamp) -> String {
    format!("time=\"{}\" level=fatal msg=\"{MESSAGE}\" error=\"{CAUSE}\"", rfc3339(now))
}

/// The message is padded to 44 columns; level and key are red.
fn fatal_on_terminal(color: bool) -> String {
    let level = Paint::Red.apply("FATA", color);
    let key = Paint::Red.apply("error", color);
    format!("{level}[0000] {MESSAGE:<44}  {key}=\"{CAUSE}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of sys-tools.md §2.10, first row.
    #[test]
    fn log_line_is_the_recorded_one() {
        let at = Timestamp::from_unix_nanos(1_789_180_926_000_000_000);
        assert_eq!(
            fatal_in_log(at),
            "time=\"2026-09-12T02:42:06Z\" level=fatal \
             msg=\"Failed to load MLA system information\" \
             error=\"failed to discover Neuron devices\""
        );
    }

    /// The spacing of sys-tools.md §2.10, second row: there a message of 33
    /// columns is followed by 13 blanks.
    #[test]
    fn terminal_line_keeps_the_recorded_spacing() {
        let line = fatal_on_terminal(false);
        assert_eq!(line.find("error="), Some("FATA[0000] ".len() + 33 + 13));
        assert_eq!(
            fatal_on_terminal(true),
            "\x1b[31mFATA\x1b[0m[0000] Failed to load MLA system information         \
             \x1b[31merror\x1b[0m=\"failed to discover Neuron devices\""
        );
    }

    #[test]
    fn no_escape_sequence_gets_through() {
        assert_eq!(lines("a\u{1b}]0;x\u{7}\n b"), "a\\u{1b}]0;x\\u{7}\n b");
    }

    #[test]
    fn hint_is_given_once() {
        assert_eq!(with_hint(""), "no Neuron driver here; try --source sim:trn1.32xlarge");
        assert_eq!(with_hint("no module"), "no module; try --source sim:trn1.32xlarge");
        assert_eq!(with_hint("see --source"), "see --source");
    }
}
