//! Text from outside, made harmless for terminals and lines; bytes as text.

use std::fmt::Write as _;

/// Two lower case hexadecimal digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // writing to a String cannot fail
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The text with each character that could move the cursor, break a line or
/// turn the direction of writing replaced by its escape, `\u{1b}`.
pub fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        let directs = matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c.is_control() || directs { safe.extend(c.escape_default()) } else { safe.push(c) }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_visible() {
        assert_eq!(printable("a\u{1b}[2Jb\nc"), "a\\u{1b}[2Jb\\nc");
        assert_eq!(printable("\u{9b}2J \u{202e}x"), "\\u{9b}2J \\u{202e}x");
        assert_eq!(printable("größe 模型"), "größe 模型");
    }
}
