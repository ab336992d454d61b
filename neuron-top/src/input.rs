//! What a terminal sends, as keys and presses of the mouse: bytes in, events
//! out.
//!
//! The reader of the terminal library loses input that comes together with a
//! change of size, and reads the end of the input for ever; this one knows just
//! what the screen needs.

use crate::keys::{Code, Key};

/// Something that a user did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A key was pressed.
    Key(Key),
    /// The left button was pressed at a column and line, from 0.
    Click(u16, u16),
    /// The wheel was turned: down, or up.
    Wheel(bool),
}

/// Longest sequence that is waited for; what is longer is dropped.
const LONGEST: usize = 64;

/// Bytes of which the end has not come yet.
#[derive(Debug, Default)]
pub struct Parser {
    rest: Vec<u8>,
}

impl Parser {
    /// Takes bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Input> {
        self.rest.extend_from_slice(bytes);
        let mut found = Vec::new();
        loop {
            let (input, length) = match step(&self.rest) {
                Step::Wait if self.rest.len() <= LONGEST => return found,
                Step::Wait => (None, self.rest.len()),
                Step::Done(input, length) => (input, length),
            };
            self.rest.drain(..length.min(self.rest.len()));
            found.extend(input);
            if self.rest.is_empty() {
                return found;
            }
        }
    }

    /// Whether a sequence is not whole: an escape may be the key or the
    /// beginning of one.
    pub fn is_waiting(&self) -> bool {
        !self.rest.is_empty()
    }

    /// Nothing more came for a while: an escape was the key.
    pub fn settle(&mut self) -> Option<Input> {
        let escape = self.rest == [0x1b];
        self.rest.clear();
        escape.then_some(Input::Key(Key::plain(Code::Escape)))
    }
}

/// What stands at the beginning.
enum Step {
    /// So many bytes, which may mean nothing.
    Done(Option<Input>, usize),
    /// More bytes are needed.
    Wait,
}

fn step(bytes: &[u8]) -> Step {
    let key = |code| Some(Input::Key(Key::plain(code)));
    match bytes {
        [] | [0x1b] | [0x1b, b'O'] => Step::Wait,
        [0x1b, b'[', rest @ ..] => control(rest),
        [0x1b, b'O', last, ..] => Step::Done(letter(*last).and_then(key), 3),
        // Alt with a key, which has no task.
        [0x1b, 0x1b, ..] => Step::Done(key(Code::Escape), 1),
        [0x1b, rest @ ..] => match step(rest) {
            Step::Done(_, length) => Step::Done(None, length + 1),
            Step::Wait => Step::Wait,
        },
        [b'\r' | b'\n', ..] => Step::Done(key(Code::Enter), 1),
        [b'\t', ..] => Step::Done(key(Code::Tab), 1),
        [0x7f | 0x08, ..] => Step::Done(key(Code::Backspace), 1),
        [byte @ 1..=0x1a, ..] => {
            let code = Code::Char(char::from(byte + 0x60));
            Step::Done(Some(Input::Key(Key { code, ctrl: true })), 1)
        }
        [0..=0x1f, ..] => Step::Done(None, 1),
        [first, ..] => character(*first, bytes),
    }
}

/// A character in UTF-8; a byte that begins none is passed over.
fn character(first: u8, bytes: &[u8]) -> Step {
    let length = match first {
        0..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Step::Done(None, 1),
    };
    let Some(own) = bytes.get(..length) else {
        let broken = bytes.iter().skip(1).any(|byte| !(0x80..0xc0).contains(byte));
        return if broken { Step::Done(None, 1) } else { Step::Wait };
    };
    match std::str::from_utf8(own).ok().and_then(|text| text.chars().next()) {
        Some(c) => Step::Done(Some(Input::Key(Key::plain(Code::Char(c)))), length),
        None => Step::Done(None, 1),
    }
}

/// Behind `ESC [`: parameters and a last byte (ECMA-48 §5.4).
fn control(bytes: &[u8]) -> Step {
    let Some(at) = bytes.iter().position(|byte| !(0x20..0x40).contains(byte)) else {
        return Step::Wait;
    };
    let (parameters, last) = (&bytes[..at], bytes[at]);
    let length = at + 3;
    if !(0x40..0x7f).contains(&last) {
        // Broken off by something else, which is not lost.
        return Step::Done(None, length - 1);
    }
    let text = std::str::from_utf8(parameters).unwrap_or_default();
    if let Some(mouse) = text.strip_prefix('<') {
        return Step::Done(pressed(mouse, last), length);
    }
    let code = match last {
        b'Z' => Some(Code::BackTab),
        b'~' => text.split(';').next().and_then(numbered),
        last => letter(last),
    };
    Step::Done(code.map(|code| Input::Key(Key::plain(code))), length)
}

/// Keys by the last letter, the same behind `ESC [` and `ESC O`.
fn letter(last: u8) -> Option<Code> {
    Some(match last {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'H' => Code::Home,
        b'F' => Code::End,
        b'M' => Code::Enter,
        b'P'..=b'S' => Code::F(last - b'P' + 1),
        _ => return None,
    })
}

/// Keys by their number in front of `~`.
fn numbered(number: &str) -> Option<Code> {
    Some(match number.parse::<u8>().ok()? {
        1 | 7 => Code::Home,
        3 => Code::Delete,
        4 | 8 => Code::End,
        5 => Code::PageUp,
        6 => Code::PageDown,
        number @ 11..=15 => Code::F(number - 10),
        number @ 17..=21 => Code::F(number - 11),
        number @ 23..=24 => Code::F(number - 12),
        _ => return None,
    })
}

/// `BUTTON;COLUMN;LINE` with `M` for a press, counted from 1 (xterm's mode
/// 1006). Bits 2 to 4 of the button are shift, alt and ctrl.
fn pressed(text: &str, last: u8) -> Option<Input> {
    let mut numbers = text.split(';').map(|number| number.parse::<u16>().ok());
    let (button, column, line) = (numbers.next()??, numbers.next()??, numbers.next()??);
    match button & !0b1_1100 {
        0 if last == b'M' => Some(Input::Click(column.checked_sub(1)?, line.checked_sub(1)?)),
        64 if last == b'M' => Some(Input::Wheel(false)),
        65 if last == b'M' => Some(Input::Wheel(true)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(bytes: &[u8]) -> String {
        let mut parser = Parser::default();
        let mut all = parser.feed(bytes);
        all.extend(parser.settle());
        let name = |input: &Input| match input {
            Input::Key(key) => key.to_string(),
            other => format!("{other:?}"),
        };
        all.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn keys_as_terminals_send_them() {
        for (bytes, keys) in [
            (&b"q"[..], "q"),
            (b"G\xc3\xa9\xe6\x97\xa5", "G é 日"),
            (b"\x03\x0c\x1a", "ctrl-c ctrl-l ctrl-z"),
            (b"\r\n\t\x7f\x08", "enter enter tab backspace backspace"),
            (b"\x1b[A\x1b[B\x1b[C\x1b[D", "up down right left"),
            (b"\x1bOA\x1bOB\x1bOP\x1bOF", "up down f1 end"),
            (b"\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[7~\x1b[8~", "home end home end home end"),
            (b"\x1b[5~\x1b[6~\x1b[3~\x1b[Z", "pageup pagedown delete backtab"),
            (b"\x1b[15~\x1b[17~\x1b[24~\x1b[1;5A", "f5 f6 f12 up"),
            (b"\x1b", "escape"),
            (b"\x1b\x1b[A", "escape up"),
            (b"\x1bx y", "space y"),
            (b"\x1b[<0;3;19M\x1b[<0;3;19m", "Click(2, 18)"),
            (b"\x1b[<65;1;1M\x1b[<64;1;1M", "Wheel(true) Wheel(false)"),
            (b"\x1b[<0;0;1M\x1b[<2;1;1M\x1b[<9;1Mq", "q"),
            (b"\x1b[?1;2cq\xff\xc3q", "q q"),
            (b"\x1b[12\x1b[A", "up"),
        ] {
            assert_eq!(names(bytes), keys, "{bytes:?}");
        }
    }

    #[test]
    fn a_sequence_may_come_in_pieces() {
        let mut parser = Parser::default();
        for byte in b"\x1b[<0;10;5" {
            assert!(parser.feed(&[*byte]).is_empty() && parser.is_waiting());
        }
        assert_eq!(parser.feed(b"Mq").len(), 2);
        assert!(!parser.is_waiting());
        assert!(parser.feed(b"\x1b").is_empty());
        assert_eq!(parser.settle(), Some(Input::Key(Key::plain(Code::Escape))));
    }

    proptest! {
        /// Whatever comes, in whatever pieces, it ends and keeps little.
        #[test]
        fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..300), piece in 1..40_usize) {
            let mut parser = Parser::default();
            for part in bytes.chunks(piece) {
                parser.feed(part);
                prop_assert!(parser.rest.len() <= LONGEST);
            }
            parser.settle();
            prop_assert!(!parser.is_waiting());
        }

        /// Pieces do not change what is found.
        #[test]
        fn pieces_make_no_difference(keys in prop::collection::vec(0..8_usize, 0..20), piece in 1..9_usize) {
            let sent = [&b"q"[..], b"\x1b[A", b"\x1bOB", b"\xc3\xa9", b"\x1b[<0;3;4M", b"\x1b[5~", b"\r", b"\x03"];
            let bytes: Vec<u8> = keys.iter().flat_map(|key| sent[*key].to_vec()).collect();
            let whole = Parser::default().feed(&bytes);
            let mut parser = Parser::default();
            let parts: Vec<Input> = bytes.chunks(piece).flat_map(|part| parser.feed(part)).collect();
            prop_assert_eq!(whole.len(), keys.len());
            prop_assert_eq!(parts, whole);
        }
    }
}
