//! Arrangements of the same facts for terminals of different widths.
//!
//! The first that fits is taken. None leaves a fact out that the original's
//! layout shows; the narrowest fits in 80 columns on every known instance.

use neuron_core::catalog::Metric;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// One arrangement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// PCI addresses without their domain, when all domains are 0.
    pub(crate) short_bdf: bool,
    /// Lists are broken at commas to the width of their heading.
    pub(crate) wrap: bool,
    /// Processes are in a table of their own.
    pub(crate) split: bool,
}

impl Layout {
    /// The last resort.
    pub(crate) const NARROWEST: Self = Self { short_bdf: true, wrap: true, split: true };

    /// From the original's to the narrowest.
    pub(crate) const ALL: [Self; 6] = [
        Self { short_bdf: false, wrap: false, split: false },
        Self { short_bdf: true, wrap: false, split: false },
        Self { short_bdf: true, wrap: true, split: false },
        Self { short_bdf: false, wrap: false, split: true },
        Self { short_bdf: true, wrap: false, split: true },
        Self::NARROWEST,
    ];

    /// The lines of a list under a heading.
    pub(crate) fn list(&self, text: String, metric: &Metric) -> Vec<String> {
        let [first, second] = metric.heading;
        if self.wrap { break_at(&text, ',', first.len().max(second.len())) } else { vec![text] }
    }
}

/// Breaks a text behind separators, so that lines are at most `width` wide
/// where the parts allow it.
pub(crate) fn break_at(text: &str, separator: char, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in text.split_inclusive(separator) {
        match lines.last_mut() {
            Some(line) if line.width() + part.width() <= width => line.push_str(part),
            _ => lines.push(part.trim_start().to_owned()),
        }
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// Breaks a text anywhere, so that no line is wider than `width`.
pub(crate) fn fold(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for c in text.chars() {
        let columns = c.width().unwrap_or(0);
        if used + columns > width && used > 0 {
            lines.push(String::new());
            used = 0;
        }
        used += columns;
        if let Some(line) = lines.last_mut() {
            line.push(c);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_break_behind_commas() {
        assert_eq!(break_at("48-95,144-191", ',', 8), ["48-95,", "144-191"]);
        assert_eq!(break_at("10, 13, 2, 15", ',', 9), ["10, 13,", "2, 15"]);
        assert_eq!(break_at("1, 2", ',', 9), ["1, 2"]);
        assert_eq!(break_at("", ',', 9), [""]);
        assert_eq!(break_at("0001:cc:00.0", ':', 7), ["0001:", "cc:00.0"]);
    }

    #[test]
    fn folding_loses_nothing() {
        let text = "python3 -m 模型 --flag";
        let lines = fold(text, 5);
        assert_eq!(lines.concat(), text);
        assert!(lines.iter().all(|line| line.width() <= 5), "{lines:?}");
        assert_eq!(fold("", 5), [""]);
    }
}
