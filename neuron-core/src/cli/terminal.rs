//! The terminal behind a stream.

use std::io::IsTerminal;
use std::os::fd::AsFd;

/// Narrowest width that is taken for real; pseudo-terminals without a size
/// report 0.
const NARROWEST: usize = 20;

/// Columns of the terminal that a stream writes to; `None` when the stream is
/// no terminal or the width is not known. `COLUMNS` overrides the terminal's
/// own answer, but makes no terminal of a file.
pub fn width_of(stream: &(impl IsTerminal + AsFd)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let asked = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let columns = match asked {
        Some(columns) => columns,
        None => usize::from(rustix::termios::tcgetwinsize(stream).ok()?.ws_col),
    };
    (columns >= NARROWEST).then_some(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_no_width() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(width_of(&file), None);
    }
}
