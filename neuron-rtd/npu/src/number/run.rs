//! Runs of elements: what [`Element`] does with one, for many at equal steps.
//!
//! The elements of a run that lie side by side are converted by loops that the
//! compiler makes vectors of. Their results are those of the single elements,
//! bit by bit; the tests compare all of them.

use fearless_simd::{Level, dispatch};

use super::{Element, float};

impl Element {
    /// Decodes the elements at `at`, `at + step`, ..; what lies outside of
    /// `bytes` reads as zero.
    pub(crate) fn decode_run(self, bytes: &[u8], at: usize, step: isize, out: &mut [f32]) {
        match self.side_by_side(at, step, out.len()) {
            Side::Forwards(range) => self.decode_slice(bytes.get(range).unwrap_or_default(), out),
            Side::Backwards(range) => {
                self.decode_slice(bytes.get(range).unwrap_or_default(), out);
                out.reverse();
            }
            Side::Apart if step == 0 => {
                out.fill(self.decode(self.load(bytes.get(at..).unwrap_or_default())));
            }
            Side::Apart => match self {
                Self::Fp32 => apart(bytes, at, step, out, f32::from_le_bytes),
                Self::Bf16 => apart(bytes, at, step, out, float::decode_bf16),
                _ => {
                    for (at, number) in positions(at, step).zip(out) {
                        *number = self.decode(self.load(bytes.get(at..).unwrap_or_default()));
                    }
                }
            },
        }
    }

    /// Encodes numbers to where [`Element::decode_run`] takes them from; what
    /// lies outside of `bytes` is dropped.
    pub(crate) fn encode_run(self, row: &[f32], bytes: &mut [u8], at: usize, step: isize) {
        if let Side::Forwards(range) = self.side_by_side(at, step, row.len()) {
            return self.encode_slice(row, bytes.get_mut(range).unwrap_or_default());
        }
        for (at, number) in positions(at, step).zip(row) {
            self.store(self.encode(*number), bytes.get_mut(at..).unwrap_or_default());
        }
    }

    /// Adds numbers to the elements of a run, one after the other, in fp32.
    pub(crate) fn add_run(self, row: &[f32], bytes: &mut [u8], at: usize, step: isize) {
        let side = self.side_by_side(at, step, row.len());
        if let (Self::Fp32, Side::Forwards(range)) = (self, side) {
            let bytes = bytes.get_mut(range).unwrap_or_default();
            return dispatch!(Level::new(), _ => add(row, bytes));
        }
        for (at, number) in positions(at, step).zip(row) {
            let element = bytes.get_mut(at..).unwrap_or_default();
            let sum = self.decode(self.load(element)) + number;
            self.store(self.encode(sum), element);
        }
    }

    /// The bits of a run, as [`Element::load`] has them.
    pub(crate) fn load_run(self, bytes: &[u8], at: usize, step: isize, out: &mut [u32]) {
        if let Side::Forwards(range) = self.side_by_side(at, step, out.len()) {
            let bytes = bytes.get(range).unwrap_or_default();
            match self.bytes() {
                1 => out.iter_mut().zip(bytes).for_each(|(bits, byte)| *bits = u32::from(*byte)),
                2 => {
                    for (bits, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
                        *bits = u32::from(u16::from_le_bytes(*bytes));
                    }
                }
                _ => {
                    for (bits, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
                        *bits = u32::from_le_bytes(*bytes);
                    }
                }
            }
            return;
        }
        for (at, bits) in positions(at, step).zip(out) {
            *bits = self.load(bytes.get(at..).unwrap_or_default());
        }
    }

    /// Puts bits where [`Element::load_run`] takes them from.
    pub(crate) fn store_run(self, row: &[u32], bytes: &mut [u8], at: usize, step: isize) {
        if let Side::Forwards(range) = self.side_by_side(at, step, row.len()) {
            let bytes = bytes.get_mut(range).unwrap_or_default();
            match self.bytes() {
                1 => bytes.iter_mut().zip(row).for_each(|(byte, bits)| *byte = *bits as u8),
                2 => {
                    for (bytes, bits) in bytes.as_chunks_mut().0.iter_mut().zip(row) {
                        *bytes = (*bits as u16).to_le_bytes();
                    }
                }
                _ => {
                    for (bytes, bits) in bytes.as_chunks_mut().0.iter_mut().zip(row) {
                        *bytes = bits.to_le_bytes();
                    }
                }
            }
            return;
        }
        for (at, bits) in positions(at, step).zip(row) {
            self.store(*bits, bytes.get_mut(at..).unwrap_or_default());
        }
    }

    /// Decodes elements that lie side by side.
    pub(crate) fn decode_slice(self, bytes: &[u8], out: &mut [f32]) {
        let level = Level::new();
        match self {
            Self::Fp32 => dispatch!(level, _ => each(bytes, out, f32::from_le_bytes)),
            Self::Bf16 => dispatch!(level, _ => each(bytes, out, float::decode_bf16)),
            Self::Fp16 => dispatch!(level, _ => each(bytes, out, float::decode_fp16)),
            Self::Int32 => dispatch!(level, _ => each(bytes, out, |bytes| {
                i32::from_le_bytes(bytes) as f32
            })),
            _ => {
                for (bytes, number) in bytes.chunks_exact(self.bytes()).zip(out) {
                    *number = self.decode(self.load(bytes));
                }
            }
        }
    }

    /// Encodes numbers to elements that lie side by side.
    pub(crate) fn encode_slice(self, row: &[f32], bytes: &mut [u8]) {
        let level = Level::new();
        match self {
            Self::Fp32 => dispatch!(level, _ => each_out(row, bytes, f32::to_le_bytes)),
            Self::Bf16 => dispatch!(level, _ => each_out(row, bytes, |number| {
                float::encode_bf16(number).to_le_bytes()
            })),
            Self::Fp16 => dispatch!(level, _ => each_out(row, bytes, |number| {
                float::encode_fp16(number).to_le_bytes()
            })),
            Self::Int32 => dispatch!(level, _ => each_out(row, bytes, |number| {
                (number as i32).to_le_bytes()
            })),
            _ => {
                for (number, bytes) in row.iter().zip(bytes.chunks_exact_mut(self.bytes())) {
                    self.store(self.encode(*number), bytes);
                }
            }
        }
    }

    /// Decodes rows of `width` elements that lie side by side, `stride` bytes
    /// from row to row.
    pub(crate) fn decode_rows(self, bytes: &[u8], stride: usize, width: usize, out: &mut [f32]) {
        let level = Level::new();
        match self {
            Self::Fp32 => {
                dispatch!(level, _ => rows(bytes, stride, width, out, f32::from_le_bytes))
            }
            Self::Bf16 => {
                dispatch!(level, _ => rows(bytes, stride, width, out, float::decode_bf16));
            }
            _ => {
                let rows = out.chunks_exact_mut(width.max(1)).zip(bytes.chunks(stride.max(1)));
                for (row, bytes) in rows {
                    self.decode_slice(bytes, row);
                }
            }
        }
    }

    /// Encodes numbers to where [`Element::decode_rows`] takes them from.
    pub(crate) fn encode_rows(self, row: &[f32], bytes: &mut [u8], stride: usize, width: usize) {
        let level = Level::new();
        match self {
            Self::Fp32 => {
                dispatch!(level, _ => rows_out(row, bytes, stride, width, f32::to_le_bytes))
            }
            Self::Bf16 => dispatch!(level, _ => rows_out(row, bytes, stride, width, |number| {
                float::encode_bf16(number).to_le_bytes()
            })),
            _ => {
                let size = width * self.bytes();
                let rows = row.chunks_exact(width.max(1)).zip(bytes.chunks_mut(stride.max(1)));
                for (row, bytes) in rows {
                    self.encode_slice(row, bytes.get_mut(..size).unwrap_or_default());
                }
            }
        }
    }

    fn side_by_side(self, at: usize, step: isize, count: usize) -> Side {
        let size = self.bytes();
        if step == size as isize || count <= 1 {
            Side::Forwards(at..at.saturating_add(count.saturating_mul(size)))
        } else if step == -(size as isize) {
            let before = (count - 1).saturating_mul(size);
            match at.checked_sub(before) {
                Some(first) => Side::Backwards(first..at.saturating_add(size)),
                None => Side::Apart,
            }
        } else {
            Side::Apart
        }
    }
}

/// How the elements of a run lie, with their bytes.
enum Side {
    Forwards(std::ops::Range<usize>),
    Backwards(std::ops::Range<usize>),
    Apart,
}

fn positions(at: usize, step: isize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(at), move |at| Some(at.wrapping_add_signed(step)))
}

fn apart<const N: usize>(
    bytes: &[u8],
    at: usize,
    step: isize,
    out: &mut [f32],
    decode: impl Fn([u8; N]) -> f32,
) {
    for (at, number) in positions(at, step).zip(out) {
        let bytes = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
        *number = bytes.map(|bytes| decode(*bytes)).unwrap_or_default();
    }
}

#[inline(always)]
fn each<const N: usize>(bytes: &[u8], out: &mut [f32], decode: impl Fn([u8; N]) -> f32) {
    for (number, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
        *number = decode(*bytes);
    }
}

#[inline(always)]
fn each_out<const N: usize>(row: &[f32], bytes: &mut [u8], encode: impl Fn(f32) -> [u8; N]) {
    for (bytes, number) in bytes.as_chunks_mut().0.iter_mut().zip(row) {
        *bytes = encode(*number);
    }
}

#[inline(always)]
fn rows<const N: usize>(
    bytes: &[u8],
    stride: usize,
    width: usize,
    out: &mut [f32],
    decode: impl Fn([u8; N]) -> f32,
) {
    for (row, bytes) in out.chunks_exact_mut(width.max(1)).zip(bytes.chunks(stride.max(1))) {
        each(bytes, row, &decode);
    }
}

#[inline(always)]
fn rows_out<const N: usize>(
    row: &[f32],
    bytes: &mut [u8],
    stride: usize,
    width: usize,
    encode: impl Fn(f32) -> [u8; N],
) {
    for (row, bytes) in row.chunks_exact(width.max(1)).zip(bytes.chunks_mut(stride.max(1))) {
        each_out(row, bytes, &encode);
    }
}

#[inline(always)]
fn add(row: &[f32], bytes: &mut [u8]) {
    for (bytes, number) in bytes.as_chunks_mut().0.iter_mut().zip(row) {
        *bytes = (f32::from_le_bytes(*bytes) + number).to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every 16-bit pattern, or every pattern of the low and of the high half.
    fn patterns(element: Element) -> Vec<u32> {
        if element.bytes() < 4 {
            return (0..1 << (8 * element.bytes())).collect();
        }
        let spread = (0..1 << 16).map(|i: u32| i.wrapping_mul(0x9e37_79b9));
        (0..1 << 16).map(|high| high << 16).chain(spread).collect()
    }

    fn equal(a: f32, b: f32) -> bool {
        a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
    }

    #[test]
    fn runs_are_decoded_as_their_elements() {
        for element in Element::ALL {
            let (patterns, size) = (patterns(element), element.bytes());
            let mut bytes = vec![0xa5; patterns.len() * size];
            element.store_run(&patterns, &mut bytes, 0, size as isize);
            let mut bits = vec![0; patterns.len()];
            element.load_run(&bytes, 0, size as isize, &mut bits);
            assert_eq!(bits, patterns);
            let last = bytes.len() - size;
            for step in [1, -1, 3, -2, 0] {
                let at = if step < 0 { last } else { 0 };
                let step = step * size as isize;
                let count = if step.unsigned_abs() > size { 80 } else { patterns.len() };
                let mut row = vec![0.0; count];
                element.decode_run(&bytes, at, step, &mut row);
                for (number, at) in row.iter().zip(positions(at, step)) {
                    let expected = element.decode(element.load(&bytes[at..]));
                    assert!(equal(*number, expected), "{element:?}: {number} {expected}");
                }
            }
        }
    }

    #[test]
    fn runs_are_encoded_as_their_numbers() {
        let sweep = (0..1 << 22).map(|i: u32| i.wrapping_mul(1021));
        // both sides of every value and of every tie of the 16-bit types
        let near = (0..1 << 16).flat_map(|i| {
            let fp16 = Element::Fp16.decode(i).to_bits();
            [i << 16, i << 16 | 0x8000, fp16, fp16 | 0x1000]
                .map(|bits| [bits.wrapping_sub(1), bits, bits + 1])
        });
        let row: Vec<f32> = sweep.chain(near.flatten()).map(f32::from_bits).collect();
        for element in Element::ALL {
            let size = element.bytes();
            let mut bytes = vec![0; row.len() * size];
            element.encode_run(&row, &mut bytes, 0, size as isize);
            for (number, bytes) in row.iter().zip(bytes.chunks_exact(size)) {
                let expected = element.encode(*number);
                let bits = number.to_bits();
                assert_eq!(element.load(bytes), expected, "{element:?}: {bits:#x}");
            }
            let mut apart = vec![0; 100 * size];
            element.encode_run(&row[..30], &mut apart, 99 * size, -3 * (size as isize));
            for (index, number) in row[..30].iter().enumerate() {
                let at = (99 - 3 * index) * size;
                assert_eq!(element.load(&apart[at..]), element.encode(*number));
            }
        }
    }

    #[test]
    fn sums_are_rounded_like_their_elements() {
        let row: Vec<f32> = (0..50u8).map(|i| f32::from(i) * 0.37 - 5.0).collect();
        for element in [Element::Fp32, Element::Bf16, Element::Int8] {
            for step in [1, 2] {
                let size = element.bytes();
                let mut bytes: Vec<u8> = (0..100 * size).map(|i| (i % 61) as u8).collect();
                let before = bytes.clone();
                element.add_run(&row, &mut bytes, 0, (step * size) as isize);
                for (index, number) in row.iter().enumerate() {
                    let at = index * step * size;
                    let sum = element.decode(element.load(&before[at..])) + number;
                    assert_eq!(element.load(&bytes[at..]), element.encode(sum), "{element:?}");
                }
            }
        }
    }

    #[test]
    fn what_lies_outside_is_zero_or_dropped() {
        let mut row = [1.0; 4];
        Element::Fp32.decode_run(&[0xff; 8], 4, 8, &mut row);
        assert!(row[0].is_nan() && row[1..] == [0.0; 3]);
        let mut bytes = [7; 8];
        Element::Fp32.encode_run(&[1.0, 2.0], &mut bytes, 4, -8);
        assert_eq!(bytes, [7, 7, 7, 7, 0, 0, 0x80, 0x3f]);
    }
}
