//! Makes the `:authority` of newer gRPC clients on Unix sockets fit for the
//! HTTP/2 library.
//!
//! gRPC core from 1.57 on sends the percent-encoded path of the socket there
//! (`%2Frun%2Fneuron.sock`); the library takes `%` in a host for malformed and
//! resets the stream (neuron-rtd.md §1.1). So the bytes that a client sends are
//! walked through on their way, frame by frame, and each `%` in the plain text
//! of an `:authority` becomes a `-`. The length stays, so frames and the
//! header compression table of both ends stay in step. Values in Huffman code
//! are left alone: the clients in question send plain ones.

/// HTTP/2 frames that matter (RFC 9113 §6).
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
/// Flags of HEADERS.
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const NAME: &[u8] = b":authority";

/// Where in the stream the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// The client's preface: so many bytes of it were seen.
    Preface(usize),
    /// The 9 bytes before a frame's content.
    Head { got: usize, head: [u8; 9] },
    /// Content that does not matter.
    Skip(usize),
    /// Bytes before a header block: padding length, priority.
    Before { skip: usize, padded: bool, pad: usize, left: usize },
    /// A header block, then padding.
    Block { left: usize, pad: usize },
    /// Not HTTP/2.
    Blind,
}

/// Where in a header block (RFC 7541 §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Start,
    /// Further bytes of an index; `literal` if a value follows.
    Index {
        literal: bool,
    },
    NameLength,
    /// Further bytes of a length; `value` if it is that of a value.
    Length {
        value: bool,
        plain: bool,
        sum: usize,
        shift: u32,
    },
    Name {
        left: usize,
        seen: usize,
        same: bool,
    },
    ValueLength,
    Value {
        left: usize,
        plain: bool,
    },
}

/// The state of one connection.
#[derive(Debug)]
pub(super) struct Authority {
    at: At,
    field: Field,
    /// Whether the field at hand is an `:authority`.
    ours: bool,
    ends: bool,
}

const NEXT: At = At::Head { got: 0, head: [0; 9] };

impl Authority {
    pub(super) const fn new() -> Self {
        Self { at: At::Preface(0), field: Field::Start, ours: false, ends: false }
    }

    /// Goes through bytes that have come in, in order.
    pub(super) fn pass(&mut self, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            // most bytes are content that does not matter
            if let At::Skip(left) = &mut self.at {
                let step = (*left).min(bytes.len());
                *left -= step;
                if *left == 0 {
                    self.at = NEXT;
                }
                bytes = bytes.get_mut(step..).unwrap_or_default();
                continue;
            }
            if self.at == At::Blind {
                return;
            }
            let Some((byte, rest)) = bytes.split_first_mut() else { return };
            self.byte(byte);
            bytes = rest;
        }
    }

    fn byte(&mut self, byte: &mut u8) {
        self.at = match self.at {
            At::Preface(seen) if PREFACE.get(seen) != Some(byte) => At::Blind,
            At::Preface(seen) if seen + 1 == PREFACE.len() => NEXT,
            At::Preface(seen) => At::Preface(seen + 1),
            At::Head { got, mut head } => {
                if let Some(slot) = head.get_mut(got) {
                    *slot = *byte;
                }
                if got + 1 == head.len() {
                    self.frame(head)
                } else {
                    At::Head { got: got + 1, head }
                }
            }
            At::Before { skip, padded, pad, left } => {
                let pad = if padded { usize::from(*byte) } else { pad };
                if skip > 1 {
                    At::Before { skip: skip - 1, padded: false, pad, left }
                } else {
                    self.block(left.saturating_sub(pad), pad)
                }
            }
            At::Block { left, pad } => {
                self.field(byte);
                self.block(left - 1, pad)
            }
            other => other,
        };
    }

    /// What follows the head of a frame.
    fn frame(&mut self, [a, b, c, kind, flags, ..]: [u8; 9]) -> At {
        let length = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
        let is = |flag| flags & flag != 0;
        match kind {
            HEADERS => {
                self.field = Field::Start;
                self.ends = is(END_HEADERS);
                let skip = usize::from(is(PADDED)) + if is(PRIORITY) { 5 } else { 0 };
                let left = length.saturating_sub(skip);
                if skip == 0 {
                    self.block(left, 0)
                } else {
                    At::Before { skip, padded: is(PADDED), pad: 0, left }
                }
            }
            CONTINUATION => {
                self.ends = is(END_HEADERS);
                self.block(length, 0)
            }
            _ => skip(length),
        }
    }

    fn block(&mut self, left: usize, pad: usize) -> At {
        if left > 0 {
            return At::Block { left, pad };
        }
        if self.ends {
            self.field = Field::Start;
        }
        skip(pad)
    }

    /// One byte of a header block.
    fn field(&mut self, byte: &mut u8) {
        let b = *byte;
        self.field = match self.field {
            Field::Start => {
                // bits of the index by kind: indexed, incremental, size, others
                let (bits, literal) = match b {
                    0x80.. => (0x7f, false),
                    0x40.. => (0x3f, true),
                    0x20.. => (0x1f, false),
                    _ => (0x0f, true),
                };
                let index = b & bits;
                self.ours = literal && index == 1;
                match (index == bits, literal, index) {
                    (true, literal, _) => Field::Index { literal },
                    (false, false, _) => Field::Start,
                    (false, true, 0) => Field::NameLength,
                    (false, true, _) => Field::ValueLength,
                }
            }
            Field::Index { literal } => match (b & 0x80 != 0, literal) {
                (true, _) => Field::Index { literal },
                (false, true) => Field::ValueLength,
                (false, false) => Field::Start,
            },
            Field::NameLength | Field::ValueLength => {
                let (value, plain) = (self.field == Field::ValueLength, b & 0x80 == 0);
                match usize::from(b & 0x7f) {
                    0x7f => Field::Length { value, plain, sum: 0x7f, shift: 0 },
                    length => self.text(value, plain, length),
                }
            }
            Field::Length { value, plain, sum, shift } => {
                let part = usize::from(b & 0x7f).checked_shl(shift).unwrap_or(usize::MAX);
                let sum = sum.saturating_add(part);
                if b & 0x80 != 0 {
                    Field::Length { value, plain, sum, shift: shift.saturating_add(7) }
                } else {
                    self.text(value, plain, sum)
                }
            }
            Field::Name { left, seen, same } => {
                let same = same && NAME.get(seen) == Some(&b);
                if left > 1 {
                    Field::Name { left: left - 1, seen: seen + 1, same }
                } else {
                    self.ours = same && seen + 1 == NAME.len();
                    Field::ValueLength
                }
            }
            Field::Value { left, plain } => {
                if self.ours && plain && b == b'%' {
                    *byte = b'-';
                }
                if left > 1 { Field::Value { left: left - 1, plain } } else { Field::Start }
            }
        };
    }

    fn text(&mut self, value: bool, plain: bool, length: usize) -> Field {
        match (value, length) {
            (true, 0) => Field::Start,
            (true, left) => Field::Value { left, plain },
            (false, 0) => Field::ValueLength,
            (false, left) => Field::Name { left, seen: 0, same: plain },
        }
    }
}

fn skip(length: usize) -> At {
    if length == 0 { NEXT } else { At::Skip(length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len()).unwrap().to_be_bytes();
        let mut out = length[1..].to_vec();
        out.extend([kind, flags, 0, 0, 0, 1]);
        out.extend(content);
        out
    }

    fn text(text: &[u8]) -> Vec<u8> {
        let mut out = vec![];
        match text.len() {
            length @ 0..0x7f => out.push(u8::try_from(length).unwrap()),
            length => out.extend([0x7f, u8::try_from(length - 0x7f).unwrap()]),
        }
        out.extend(text);
        out
    }

    /// What comes out, for each way to cut the bytes.
    fn passed(stream: &[u8]) -> Vec<u8> {
        let whole = {
            let mut bytes = stream.to_vec();
            Authority::new().pass(&mut bytes);
            bytes
        };
        for step in 1..stream.len().min(40) {
            let (mut bytes, mut state) = (stream.to_vec(), Authority::new());
            bytes.chunks_mut(step).for_each(|part| state.pass(part));
            assert_eq!(bytes, whole, "cut every {step} bytes");
        }
        whole
    }

    const PATH: &[u8] = b"%2Frun%2Fneuron.sock";
    const FIXED: &[u8] = b"-2Frun-2Fneuron.sock";

    fn stream(value: &[u8], by_index: bool) -> Vec<u8> {
        let mut block = vec![0x83, 0x20, 0x3f, 0xe1, 0x1f];
        // a path with % that must stay, by a name of the table and by a new one
        block.push(0x44);
        block.extend(text(b"/a%2Fb"));
        block.push(0x00);
        block.extend(text(b"x-authority"));
        block.extend(text(b"%2F"));
        if by_index {
            block.push(0x41);
        } else {
            block.push(0x40);
            block.extend(text(NAME));
        }
        block.extend(text(value));
        block.push(0xbe);
        let (first, second) = block.split_at(block.len() - 9);
        let mut padded = vec![3, 0, 0, 0, 0, 16];
        padded.extend(first);
        padded.extend(b"%%%");
        let mut out = PREFACE.to_vec();
        out.extend(frame(4, 0, b"%2F%2F"));
        out.extend(frame(HEADERS, PADDED | PRIORITY, &padded));
        out.extend(frame(CONTINUATION, END_HEADERS, second));
        out.extend(frame(0, 1, b"\x41\x03%2F"));
        out.extend(frame(HEADERS, END_HEADERS, &[0x82, 0xbe]));
        out
    }

    #[test]
    fn only_an_authority_is_changed() {
        let long = [PATH, b"/".repeat(200).as_slice()].concat();
        for by_index in [true, false] {
            assert_eq!(passed(&stream(PATH, by_index)), stream(FIXED, by_index));
            let fixed = [FIXED, b"/".repeat(200).as_slice()].concat();
            assert_eq!(passed(&stream(&long, by_index)), stream(&fixed, by_index));
        }
    }

    #[test]
    fn what_is_not_http2_passes() {
        let bytes = b"GET /%2F HTTP/1.1\r\nHost: %2F\r\n\r\n";
        assert_eq!(passed(bytes), bytes);
    }

    /// Any bytes have an end.
    #[test]
    fn damage_is_no_panic() {
        let good = stream(PATH, true);
        for at in PREFACE.len()..good.len() {
            for value in [0, 0x7f, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[at] = value;
                passed(&bad);
            }
        }
    }
}
