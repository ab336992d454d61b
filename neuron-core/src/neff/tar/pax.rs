//! pax extended records: what they override in the header that follows.

/// Bytes of an owner's name; Linux has 32. Every entry keeps a copy.
const MOST_OWNER: usize = 256;

/// Values that records set. An empty value takes a setting back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Overrides {
    pub(super) path: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    pub(super) uid: Option<u64>,
    pub(super) gid: Option<u64>,
    pub(super) mtime: Option<u64>,
    pub(super) user: Option<Vec<u8>>,
    pub(super) group: Option<Vec<u8>>,
    /// The entry is sparse: its body is not its content.
    pub(super) sparse: bool,
}

/// A record that does not parse: its offset in the body and what is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadRecord {
    pub(super) at: usize,
    pub(super) value: String,
}

impl Overrides {
    /// Applies the records of one `x` or `g` body. Returns the times and owners
    /// that are no numbers of ours; they stay as they were.
    pub(super) fn apply(&mut self, body: &[u8]) -> Result<Vec<BadRecord>, BadRecord> {
        let (mut at, mut odd) = (0, Vec::new());
        while let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) {
            let (length, key, value) =
                record(rest).map_err(|value| BadRecord { at, value: value.to_owned() })?;
            if let Err(value) = self.set(key, value) {
                let bad = BadRecord { at, value: format!("{value} is not a number") };
                // Only the size decides what is read.
                if key == b"size" {
                    return Err(bad);
                }
                odd.push(bad);
            }
            at += length;
        }
        Ok(odd)
    }

    fn set(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        let text = || (!value.is_empty()).then(|| value.to_vec());
        // Names of owners are shown only; one that is longer is no name.
        let owner = || text().filter(|text| text.len() <= MOST_OWNER);
        match key {
            b"path" => self.path = text(),
            b"size" => self.size = number(value)?,
            b"uid" => self.uid = number(value)?,
            b"gid" => self.gid = number(value)?,
            // Fractions occur (2.0 preview compilers); seconds are enough here.
            b"mtime" => {
                let whole = value.split(|b| *b == b'.').next().unwrap_or_default();
                self.mtime = number(whole)?;
            }
            b"uname" => self.user = owner(),
            b"gname" => self.group = owner(),
            key if key.starts_with(b"GNU.sparse") => self.sparse = true,
            _ => {}
        }
        Ok(())
    }
}

fn number(value: &[u8]) -> Result<Option<u64>, String> {
    if value.is_empty() {
        return Ok(None);
    }
    let parsed = std::str::from_utf8(value).ok().and_then(|text| {
        // `parse` alone would take a sign.
        text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
    });
    parsed.map(Some).ok_or_else(|| value.escape_ascii().to_string())
}

/// The first record of `bytes`: its length, key and value.
fn record(bytes: &[u8]) -> Result<(usize, &[u8], &[u8]), &'static str> {
    // 20 digits hold any 64-bit number.
    let space = bytes.iter().take(21).position(|b| *b == b' ').ok_or("no length")?;
    let (digits, _) = bytes.split_at_checked(space).ok_or("no length")?;
    let length = number(digits).ok().flatten().and_then(|length| usize::try_from(length).ok());
    let length = length.ok_or("the length is not a number")?;
    let text = bytes.get(space + 1..length).ok_or("the length is beyond the record")?;
    let (newline, text) = text.split_last().ok_or("the record is empty")?;
    if *newline != b'\n' {
        return Err("the record has no newline");
    }
    let equals = text.iter().position(|b| *b == b'=').ok_or("the record has no '='")?;
    let (key, value) = text.split_at_checked(equals).ok_or("the record has no '='")?;
    Ok((length, key, value.get(1..).unwrap_or_default()))
}

/// One record, its length included.
pub(super) fn encode(key: &str, value: &[u8]) -> Vec<u8> {
    let tail = key.len() + value.len() + 3;
    let mut length = tail + 1;
    // The length counts its own digits.
    while length != tail + length.to_string().len() {
        length = tail + length.to_string().len();
    }
    let mut out = format!("{length} {key}=").into_bytes();
    out.extend_from_slice(value);
    out.push(b'\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_apply_in_order() {
        let mut body = encode("path", "größe".as_bytes());
        body.extend(encode("size", b"12"));
        body.extend(encode("mtime", b"1677.25"));
        body.extend(encode("comment", b"a=b\nc"));
        body.extend(encode("path", b""));
        let mut overrides = Overrides::default();
        assert_eq!(overrides.apply(&body).unwrap(), []);
        assert_eq!(
            overrides,
            Overrides { size: Some(12), mtime: Some(1677), ..Overrides::default() }
        );
    }

    #[test]
    fn length_counts_its_own_digits() {
        // Around the change from two to three digits.
        for length in 85..100 {
            let record = encode("path", &vec![b'a'; length]);
            let digits = record.split(|b| *b == b' ').next().unwrap();
            assert_eq!(std::str::from_utf8(digits).unwrap(), record.len().to_string());
        }
    }

    /// A time before 1970 is legal, and nothing is read by it.
    #[test]
    fn odd_times_and_owners_are_told_only() {
        let mut body = encode("mtime", b"-1");
        body.extend(encode("uid", b"x"));
        body.extend(encode("size", b"7"));
        let mut overrides = Overrides::default();
        let odd = overrides.apply(&body).unwrap();
        let told: Vec<&str> = odd.iter().map(|record| record.value.as_str()).collect();
        assert_eq!(told, ["-1 is not a number", "x is not a number"]);
        assert_eq!(overrides, Overrides { size: Some(7), ..Overrides::default() });
    }

    #[test]
    fn damaged_records_are_refused() {
        for (body, at, value) in [
            (&b"x path=a\n"[..], 0, "the length is not a number"),
            (b"99 path=a\n", 0, "the length is beyond the record"),
            (b"3 path=a\n", 0, "the record has no newline"),
            (b"2 path=a\n", 0, "the record is empty"),
            (b"0 path=a\n", 0, "the length is beyond the record"),
            (b"18446744073709551615 p=a\n", 0, "the length is beyond the record"),
            (b"10 path:a\n", 0, "the record has no '='"),
            (b"10 path=a\n10 size=b\n", 10, "b is not a number"),
            (b"11 size=+1\n", 0, "+1 is not a number"),
        ] {
            let error = Overrides::default().apply(body).unwrap_err();
            assert_eq!((error.at, error.value.as_str()), (at, value));
        }
    }
}
