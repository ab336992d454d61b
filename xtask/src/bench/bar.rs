//! A figure beside its bar: one line, in one form, from which the table of all
//! benches is made.

use crate::run::say;

/// Which side of the bar is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Good {
    /// The bar or less.
    AtMost,
    /// The bar or more.
    AtLeast,
}

impl Good {
    fn sign(self) -> &'static str {
        match self {
            Self::AtMost => "<=",
            Self::AtLeast => ">=",
        }
    }
}

/// Prints `WHAT: VALUE, bar <= BAR: met` or `MISSED`. A miss is said, not
/// failed: the machine may be busy.
pub(crate) fn judge(what: &str, value: f64, good: Good, bar: f64) {
    let met = match good {
        Good::AtMost => value <= bar,
        Good::AtLeast => value >= bar,
    };
    let word = if met { "met" } else { "MISSED" };
    say(&format!("  {what}: {}, bar {} {}: {word}", short(value), good.sign(), short(bar)));
}

/// Three digits behind the point below 10, fewer above.
fn short(value: f64) -> String {
    match value.abs() {
        ..10.0 => format!("{value:.3}"),
        ..1000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// What such a line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) what: String,
    pub(super) value: String,
    pub(super) bar: String,
    pub(super) verdict: String,
}

/// Reads a line of [`judge`], ours or that of a bench that is a program of its
/// own.
pub(super) fn read(line: &str) -> Option<Judged> {
    let (rest, verdict) = line.trim().rsplit_once(": ")?;
    if verdict != "met" && verdict != "MISSED" {
        return None;
    }
    let (rest, bar) = rest.rsplit_once(", bar ")?;
    let (what, value) = rest.rsplit_once(": ")?;
    let own = |text: &str| text.trim().to_owned();
    Some(Judged { what: own(what), value: own(value), bar: own(bar), verdict: own(verdict) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_benches_are_read() {
        let judged = |line| read(line).map(|j| (j.what, j.value, j.bar, j.verdict));
        let words = |a: &str, b: &str, c: &str, d: &str| {
            Some((a.to_owned(), b.to_owned(), c.to_owned(), d.to_owned()))
        };
        assert_eq!(
            judged("  p50 to that of the tonic echo: 1.30, bar <= 1.15: MISSED"),
            words("p50 to that of the tonic echo", "1.30", "<= 1.15", "MISSED")
        );
        assert_eq!(judged("  a: b: 2, bar >= 1: met"), words("a: b", "2", ">= 1", "met"));
        for other in ["", "warning: met", "  ratio 0.3 (95 % interval)", "x: 1, bar <= 2: maybe"] {
            assert_eq!(judged(other), None, "{other:?}");
        }
    }

    #[test]
    fn figures_are_as_long_as_they_need() {
        assert_eq!([short(0.12345), short(12.345), short(3e6)], ["0.123", "12.3", "3000000"]);
    }
}
