//! The 128 bytes at the start of an NTFF (ntff.md §2.1).

use super::{Error, Limits, Result, Rule};

/// Size of the header in bytes.
pub const SIZE: usize = 128;

/// The forms that real files have.
pub const FORMS: std::ops::RangeInclusive<u8> = 4..=6;

/// The forms that a file may have to be an NTFF at all (§2.2, our choice).
pub const POSSIBLE: std::ops::RangeInclusive<u8> = 1..=32;

/// From here on the eight bytes are text or other data and no size of a
/// message: 1 TiB (our choice).
const ABSURD: u64 = 1 << 40;

/// The two fields that mean something. The bytes from 9 on are whatever lay in
/// the memory of the writer: never interpreted, written as zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Form of the file, shown by the viewer as `ntff_version`.
    pub form: u8,
    /// Size of the message that follows the header, in bytes.
    pub message_size: u64,
}

impl Header {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// A file that is no NTFF by its first nine bytes or ends early, and a
    /// message of no bytes or of more than the limit. Forms that are
    /// [`POSSIBLE`] but none of [`FORMS`] are no error (our choice).
    pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Self> {
        let have = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if have == 0 {
            return Err(Error::broken(0, Rule::Empty));
        }
        // As far as they are there; what is missing counts as fitting.
        let form = bytes.first().copied().unwrap_or(0);
        let size = bytes.get(1..).and_then(|rest| rest.first_chunk().copied());
        let message_size = size.map_or(0, u64::from_le_bytes);
        if !POSSIBLE.contains(&form) || message_size >= ABSURD {
            return Err(Error::broken(0, Rule::NotNtff));
        }
        if bytes.len() < SIZE {
            return Err(Error::broken(have, Rule::ShortHeader { have }));
        }
        if message_size == 0 {
            return Err(Error::broken(1, Rule::NoMessage));
        }
        if message_size > limits.message {
            let rule = Rule::MessageTooLong { length: message_size, limit: limits.message };
            return Err(Error::broken(1, rule));
        }
        Ok(Self { form, message_size })
    }

    /// Writes it, with zeros from byte 9 on (our choice).
    pub fn to_bytes(self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        let size = self.message_size.to_le_bytes();
        for (to, from) in bytes.iter_mut().zip(std::iter::once(self.form).chain(size)) {
            *to = from;
        }
        bytes
    }

    /// Where the blob area starts in the file.
    pub fn blobs_start(self) -> u64 {
        self.message_size.saturating_add(128)
    }
}

/// First byte of the message of every real file: the key of its name.
pub const FIRST_KEY: u8 = 0x0a;

/// Whether a file that starts with these bytes (129 or more) looks like an
/// NTFF (ntff.md §2.2, our choice); whether its message parses is for the
/// reader to say.
pub fn sniff(bytes: &[u8]) -> bool {
    let Some(header) = bytes.first_chunk::<SIZE>() else { return false };
    Header::parse(header, &Limits::default()).is_ok() && bytes.get(SIZE) == Some(&FIRST_KEY)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ntff.md §12: form 6, message of 3160 bytes.
    #[test]
    fn header_of_the_sheet() {
        let header = Header { form: 6, message_size: 3160 };
        let bytes = header.to_bytes();
        assert_eq!(bytes[..9], [0x06, 0x58, 0x0c, 0, 0, 0, 0, 0, 0]);
        assert_eq!(Header::parse(&bytes, &Limits::default()).unwrap(), header);
        assert_eq!(header.blobs_start(), 3288);
    }
}
