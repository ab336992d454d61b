//! Figures as the screen writes them: fixed widths, so that nothing jumps.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// What stands for a figure that is not known.
pub const UNKNOWN: &str = "-";

/// Bytes with one decimal and the unit glued on, 1024-based: `0.0B`, `34.0KB`,
/// `142.3GB` (sys-tools.md §3.5). Never longer than eight columns below 1 EB.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KB", "MB", "GB", "TB", "PB"];
    let mut value = approximate(bytes);
    let mut unit = 0;
    // What would be written as 1024.0 belongs to the next unit.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1}{}", UNITS.get(unit).unwrap_or(&"PB"))
}

#[allow(clippy::cast_precision_loss)]
fn approximate(bytes: u64) -> f64 {
    bytes as f64
}

/// A percentage in five columns: `69.89`, ` 2.69`, `100.0`.
pub fn percent(value: f64) -> String {
    if value >= 99.995 { format!("{value:5.1}") } else { format!("{value:5.2}") }
}

/// A percentage in three columns: ` 70`, `100`.
pub fn whole_percent(value: f64) -> String {
    format!("{value:3.0}")
}

/// Operations per second in `width` columns and the unit: `   10.004TF`
/// (sys-tools.md §3.3; 10^12 in a second). What three decimals would show as
/// nothing has a smaller unit.
pub fn flops(value: f64, width: usize) -> String {
    let (scaled, unit) = match value {
        v if v >= 0.5e9 || v <= 0.0 => (v / 1e12, "TF"),
        v if v >= 0.5e6 => (v / 1e9, "GF"),
        v => (v / 1e6, "MF"),
    };
    format!("{scaled:width$.3}{unit}")
}

/// Operations per second in six columns, for narrow cells: `10.00T`.
pub fn short_flops(value: f64) -> String {
    let (scaled, unit) = match value {
        v if v >= 0.5e9 || v <= 0.0 => (v / 1e12, 'T'),
        v if v >= 0.5e6 => (v / 1e9, 'G'),
        v => (v / 1e6, 'M'),
    };
    if scaled >= 99.995 { format!("{scaled:5.1}{unit}") } else { format!("{scaled:5.2}{unit}") }
}

/// The text in at most `width` columns; what is cut off shows as an ellipsis.
pub fn cut(text: &str, width: usize, unicode: bool) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mark = if unicode { '…' } else { '~' };
    let mut out = String::new();
    let mut used = 1;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide > width {
            break;
        }
        used += wide;
        out.push(c);
    }
    if width > 0 {
        out.push(mark);
    }
    out
}

/// The text in exactly `width` columns, blanks behind it.
pub fn padded(text: &str, width: usize, unicode: bool) -> String {
    let mut out = cut(text, width, unicode);
    let used = out.width();
    out.extend(std::iter::repeat_n(' ', width.saturating_sub(used)));
    out
}

/// A share as a number of columns out of `width`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
pub fn columns(share: f64, width: usize) -> usize {
    let share = share.clamp(0.0, 1.0);
    ((share * width as f64).round() as usize).min(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forms of sys-tools.md §3.5 and of the pictures.
    #[test]
    fn bytes_of_the_pictures() {
        for (value, text) in [
            (0, "0.0B"),
            (34_816, "34.0KB"),
            (262_144, "256.0KB"),
            (3_984_589, "3.8MB"),
            (152_793_461_555, "142.3GB"),
            (1023, "1023.0B"),
            (1_048_575, "1.0MB"),
            (u64::MAX, "16384.0PB"),
        ] {
            assert_eq!(bytes(value), text);
        }
    }

    #[test]
    fn widths_stay() {
        for value in [0.0, 0.004, 2.69, 9.999, 69.89, 99.994, 99.995, 100.0] {
            assert_eq!(percent(value).len(), 5, "{value}");
            assert_eq!(whole_percent(value).len(), 3, "{value}");
        }
        assert_eq!((percent(2.69).as_str(), percent(100.0).as_str()), (" 2.69", "100.0"));
        for value in [0.0, 3.0, 4e5, 7e8, 9.8e12, 318e12] {
            assert_eq!(flops(value, 9).len(), 11, "{value}");
            assert_eq!(short_flops(value).len(), 6, "{value}");
        }
    }

    /// top-nt-flops.png.
    #[test]
    fn flops_of_the_picture() {
        assert_eq!(format!("[{}]", flops(10.004e12, 9)), "[   10.004TF]");
        assert_eq!(format!("[{}]", flops(9.848e12, 9)), "[    9.848TF]");
        assert_eq!(
            format!("(Avg: {} | Total: {})", flops(9.946e12, 8), flops(318.278e12, 8)),
            "(Avg:    9.946TF | Total:  318.278TF)"
        );
        assert_eq!(flops(2.5e6, 8), "   0.003GF");
        assert_eq!(flops(0.0, 8), "   0.000TF");
    }

    #[test]
    fn long_texts_are_cut_with_an_ellipsis() {
        assert_eq!(cut("abcdef", 6, true), "abcdef");
        assert_eq!(cut("abcdef", 5, true), "abcd…");
        assert_eq!(cut("abcdef", 5, false), "abcd~");
        assert_eq!(cut("日本語", 5, true), "日本…");
        assert_eq!(cut("日本語", 4, true), "日…");
        assert_eq!(padded("日本語", 4, true), "日… ");
        assert_eq!((cut("ab", 0, true), padded("ab", 3, true)), (String::new(), "ab ".to_owned()));
    }

    #[test]
    fn columns_are_rounded() {
        assert_eq!((columns(0.6989, 82), columns(1.2, 10), columns(-1.0, 10)), (57, 10, 0));
        assert_eq!(columns(f64::NAN, 10), 0);
    }
}
