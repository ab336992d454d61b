//! Numbers in few bits: the encodings of Parquet, and our varints.

/// Values of a block, and of each of its four parts (our choice, that of other
/// writers).
const BLOCK: usize = 128;
const PART: usize = 32;

/// Seven bits a byte, lowest first.
pub fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads a varint; `None` at the end of the bytes or past 64 bits.
pub fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if *first < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Small numbers of either sign as small ones.
pub const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Back.
pub const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// How the differences of DELTA_BINARY_PACKED are packed. All are of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Each part in as few bits as it needs: the smallest without compression.
    Bits,
    /// Each part in whole bytes, in which an entropy coder finds what is frequent.
    Bytes,
    /// The same, and all blocks above one least difference: equal differences
    /// are equal bytes.
    Level,
}

/// DELTA_BINARY_PACKED.
pub fn delta(values: &[i64], packing: Packing, out: &mut Vec<u8>) {
    varint(out, BLOCK as u64);
    varint(out, (BLOCK / PART) as u64);
    varint(out, values.len() as u64);
    let first = values.first().copied().unwrap_or(0);
    varint(out, zigzag(first));
    let level = (packing == Packing::Level).then(|| {
        let steps =
            values.windows(2).filter_map(|pair| Some(pair.get(1)?.wrapping_sub(*pair.first()?)));
        steps.min().unwrap_or(0)
    });
    let mut before = first;
    let mut deltas = [0_i64; BLOCK];
    for block in values.get(1..).unwrap_or_default().chunks(BLOCK) {
        let mut least = i64::MAX;
        for (value, delta) in block.iter().zip(&mut deltas) {
            *delta = value.wrapping_sub(before);
            least = least.min(*delta);
            before = *value;
        }
        let least = level.unwrap_or(least);
        varint(out, zigzag(least));
        let used = block.len();
        let widths_at = out.len();
        out.extend_from_slice(&[0; BLOCK / PART]);
        for (part, chunk) in deltas.get(..used).unwrap_or_default().chunks(PART).enumerate() {
            let mut packed = [0_u64; PART];
            let mut all = 0;
            for (delta, packed) in chunk.iter().zip(&mut packed) {
                *packed = delta.wrapping_sub(least) as u64;
                all |= *packed;
            }
            let bits = 64 - all.leading_zeros();
            let width = if packing == Packing::Bits { bits } else { bits.next_multiple_of(8) };
            if let Some(place) = out.get_mut(widths_at + part) {
                *place = width as u8;
            }
            pack(&packed, width, out);
        }
    }
}

/// 32 values of `width` bits.
fn pack(values: &[u64; PART], width: u32, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    let (mut word, mut used) = (0_u64, 0_u32);
    for value in values {
        word |= value << used;
        used += width;
        if used >= 64 {
            out.extend_from_slice(&word.to_le_bytes());
            used -= 64;
            word = if used == 0 { 0 } else { value >> (width - used) };
        }
    }
    if used > 0 {
        let bytes = word.to_le_bytes();
        out.extend_from_slice(bytes.get(..used as usize / 8).unwrap_or_default());
    }
}

/// Reads what [`delta`] wrote, at most `limit` values; `None` for other bytes.
pub fn read_delta(mut bytes: &[u8], limit: usize, out: &mut Vec<i64>) -> Option<()> {
    let block = read_varint(&mut bytes)?;
    let parts = read_varint(&mut bytes)?;
    let count = usize::try_from(read_varint(&mut bytes)?).ok()?;
    if block != BLOCK as u64 || parts != (BLOCK / PART) as u64 || count > limit {
        return None;
    }
    out.clear();
    out.reserve(count + BLOCK);
    let mut value = unzigzag(read_varint(&mut bytes)?);
    if count > 0 {
        out.push(value);
    }
    while out.len() < count {
        let least = unzigzag(read_varint(&mut bytes)?);
        let (widths, rest) = bytes.split_first_chunk::<{ BLOCK / PART }>()?;
        bytes = rest;
        for width in widths {
            let left = count.saturating_sub(out.len());
            if left == 0 {
                break;
            }
            let size = usize::from(*width) * PART / 8;
            if *width > 64 || size > bytes.len() {
                return None;
            }
            let (packed, rest) = bytes.split_at(size);
            bytes = rest;
            let unpacked = unpack(packed, u32::from(*width));
            out.extend(unpacked.iter().take(left).map(|packed| {
                value = value.wrapping_add(least).wrapping_add(*packed as i64);
                value
            }));
        }
    }
    Some(())
}

fn unpack(bytes: &[u8], width: u32) -> [u64; PART] {
    let mut out = [0; PART];
    if width == 0 {
        return out;
    }
    let mask = u64::MAX >> (64 - width.min(64));
    // A value lies in the sixteen bytes from its first one, the last one too.
    let mut padded = [0; PART * 8 + 16];
    if let Some(place) = padded.get_mut(..bytes.len()) {
        place.copy_from_slice(bytes);
    }
    for (value, bit) in out.iter_mut().zip((0..).step_by(width as usize)) {
        if let Some(word) = padded.get(bit / 8..).and_then(|rest| rest.first_chunk()) {
            *value = (u128::from_le_bytes(*word) >> (bit % 8)) as u64 & mask;
        }
    }
    out
}

/// Indices behind a dictionary: the width, then one run of whole bytes, so that
/// what repeats is found by the compression.
pub fn indices(values: &[u32], most: u32, out: &mut Vec<u8>) {
    let width = match most {
        0..=0xff => 8,
        0x100..=0xffff => 16,
        0x1_0000..=0xff_ffff => 24,
        _ => 32,
    };
    out.push(width);
    let groups = values.len().div_ceil(8);
    varint(out, ((groups as u64) << 1) | 1);
    let bytes = usize::from(width) / 8;
    let begin = out.len();
    out.resize(begin + groups * 8 * bytes, 0);
    let places = out.get_mut(begin..).unwrap_or_default();
    match width {
        8 => places.iter_mut().zip(values).for_each(|(place, value)| *place = *value as u8),
        16 => {
            for (place, value) in places.as_chunks_mut::<2>().0.iter_mut().zip(values) {
                *place = (*value as u16).to_le_bytes();
            }
        }
        24 => {
            for (place, value) in places.as_chunks_mut::<3>().0.iter_mut().zip(values) {
                let [a, b, c, _] = value.to_le_bytes();
                *place = [a, b, c];
            }
        }
        _ => {
            for (place, value) in places.as_chunks_mut::<4>().0.iter_mut().zip(values) {
                *place = value.to_le_bytes();
            }
        }
    }
}

/// A run of one value of one byte at most.
pub fn run(count: usize, value: u8, out: &mut Vec<u8>) {
    varint(out, (count as u64) << 1);
    out.push(value);
}

/// Levels 0 and 1, bit by bit.
pub fn levels(present: impl ExactSizeIterator<Item = bool>, out: &mut Vec<u8>) {
    let groups = present.len().div_ceil(8);
    varint(out, ((groups as u64) << 1) | 1);
    let end = out.len() + groups;
    let (mut byte, mut used) = (0_u8, 0);
    for present in present {
        byte |= u8::from(present) << used;
        used += 1;
        if used == 8 {
            out.push(byte);
            (byte, used) = (0, 0);
        }
    }
    if used > 0 {
        out.push(byte);
    }
    out.resize(end, 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn delta_there_and_back(values in proptest::collection::vec(any::<i64>(), 0..600), shift in 0_u32..64) {
            let values: Vec<i64> = values.into_iter().map(|value| value >> shift).collect();
            for packing in [Packing::Bits, Packing::Bytes, Packing::Level] {
                let mut bytes = Vec::new();
                delta(&values, packing, &mut bytes);
                let mut back = Vec::new();
                prop_assert!(read_delta(&bytes, values.len(), &mut back).is_some());
                prop_assert_eq!(&back, &values);
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut back = Vec::new();
            let _ = read_delta(&bytes, 1000, &mut back);
            prop_assert!(back.len() <= 1000);
        }

        #[test]
        fn varints(value in any::<u64>(), signed in any::<i64>()) {
            let mut bytes = Vec::new();
            varint(&mut bytes, value);
            prop_assert_eq!(read_varint(&mut bytes.as_slice()), Some(value));
            prop_assert_eq!(unzigzag(zigzag(signed)), signed);
        }
    }
}
