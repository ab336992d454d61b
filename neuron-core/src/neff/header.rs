//! The 1024 header bytes (sheet section 2): a loss-free struct, its checks,
//! and the readings of its fields.

use super::digest::{HASH_LENGTH, MD5_LENGTH};
use super::features;
use super::problem::{Place, Problem, Report, Rule, widen};
use crate::text::hex;

/// Bytes of the header, and offset of the payload in every real file.
pub const HEADER_LENGTH: usize = 1024;

/// Offsets of the fields.
mod at {
    pub(super) const PACKAGER: usize = 0x000;
    pub(super) const HEADER_SIZE: usize = 0x008;
    pub(super) const DATA_SIZE: usize = 0x010;
    pub(super) const MAJOR: usize = 0x018;
    pub(super) const MINOR: usize = 0x020;
    pub(super) const BUILD_VERSION: usize = 0x028;
    pub(super) const NUM_TPB: usize = 0x0a8;
    pub(super) const HASH: usize = 0x0ac;
    pub(super) const UUID: usize = 0x0cc;
    pub(super) const NAME: usize = 0x0dc;
    pub(super) const REQUESTED: usize = 0x1dc;
    pub(super) const TPB_PER_NODE: usize = 0x1e0;
    pub(super) const FEATURES: usize = 0x220;
    pub(super) const LNC_SIZE: usize = 0x228;
    pub(super) const PAD: usize = 0x22c;
}

/// The header as stored. [`Self::parse`] and [`Self::to_bytes`] are inverse to
/// each other for any bytes; [`Self::check`] says what is wrong with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Packager version: selects the digest. 1 or 2.
    pub packager: u64,
    /// Bytes of the header as the file claims, 1024.
    pub header_size: u64,
    /// Bytes of the payload as stored.
    pub data_size: u64,
    /// Format major, 0 to 2.
    pub major: u64,
    /// Format minor, any value.
    pub minor: u64,
    /// Label of the producer, NUL padded; empty in compiler output.
    pub build_version: [u8; 128],
    /// NeuronCores for full speed, 1 to 64.
    pub num_tpb: u32,
    /// Digest of the payload; 16 bytes used by packager 2, 32 by packager 1.
    pub hash: [u8; HASH_LENGTH],
    /// RFC 4122 id, any version.
    pub uuid: [u8; 16],
    /// Name of the model, NUL padded.
    pub name: [u8; 256],
    /// Cores asked for when compiling.
    pub requested_tpb: u32,
    /// Cores of each executable node.
    pub tpb_per_node: [u8; 64],
    /// Incompatible features; counts in major 2 only.
    pub feature_bits: u64,
    /// Physical cores of one logical core.
    pub lnc_size: u32,
    /// Unused end, zero.
    pub pad: [u8; 468],
}

/// `N` bytes at `at`; the callers stay within 1024 by the table above.
fn take<const N: usize>(bytes: &[u8; HEADER_LENGTH], at: usize) -> [u8; N] {
    let mut out = [0; N];
    for (to, from) in out.iter_mut().zip(bytes.iter().skip(at)) {
        *to = *from;
    }
    out
}

fn put(bytes: &mut [u8; HEADER_LENGTH], at: usize, value: &[u8]) {
    for (to, from) in bytes.iter_mut().skip(at).zip(value) {
        *to = *from;
    }
}

impl Header {
    /// A header with every field zero but the sizes of an empty payload: where
    /// a writer starts.
    pub fn empty() -> Self {
        let mut header = Self::parse(&[0; HEADER_LENGTH]);
        header.header_size = widen(HEADER_LENGTH);
        header
    }

    /// Reads the fields; any bytes have a reading.
    pub fn parse(bytes: &[u8; HEADER_LENGTH]) -> Self {
        Self {
            packager: u64::from_le_bytes(take(bytes, at::PACKAGER)),
            header_size: u64::from_le_bytes(take(bytes, at::HEADER_SIZE)),
            data_size: u64::from_le_bytes(take(bytes, at::DATA_SIZE)),
            major: u64::from_le_bytes(take(bytes, at::MAJOR)),
            minor: u64::from_le_bytes(take(bytes, at::MINOR)),
            build_version: take(bytes, at::BUILD_VERSION),
            num_tpb: u32::from_le_bytes(take(bytes, at::NUM_TPB)),
            hash: take(bytes, at::HASH),
            uuid: take(bytes, at::UUID),
            name: take(bytes, at::NAME),
            requested_tpb: u32::from_le_bytes(take(bytes, at::REQUESTED)),
            tpb_per_node: take(bytes, at::TPB_PER_NODE),
            feature_bits: u64::from_le_bytes(take(bytes, at::FEATURES)),
            lnc_size: u32::from_le_bytes(take(bytes, at::LNC_SIZE)),
            pad: take(bytes, at::PAD),
        }
    }

    /// Whether a file starts as every real NEFF does: packager 1 or 2 and a
    /// header of 1024 bytes. Only good to name the kind of a file.
    pub fn sniff(file: &[u8]) -> bool {
        let first = file.first_chunk::<HEADER_LENGTH>().map(Self::parse);
        first.is_some_and(|header| {
            matches!(header.packager, 1 | 2) && header.header_size == widen(HEADER_LENGTH)
        })
    }

    /// The first 1024 bytes of `file`, read.
    pub fn of_file(file: &[u8]) -> Result<Self, Problem> {
        match file.first_chunk::<HEADER_LENGTH>() {
            Some(bytes) if file.len() > HEADER_LENGTH => Ok(Self::parse(bytes)),
            _ => Err(Problem::new(
                Rule::FileShort,
                Place::File(widen(file.len())),
                format!("the file ends after {} bytes", file.len()),
            )),
        }
    }

    /// The stored form.
    pub fn to_bytes(&self) -> [u8; HEADER_LENGTH] {
        let mut out = [0; HEADER_LENGTH];
        put(&mut out, at::PACKAGER, &self.packager.to_le_bytes());
        put(&mut out, at::HEADER_SIZE, &self.header_size.to_le_bytes());
        put(&mut out, at::DATA_SIZE, &self.data_size.to_le_bytes());
        put(&mut out, at::MAJOR, &self.major.to_le_bytes());
        put(&mut out, at::MINOR, &self.minor.to_le_bytes());
        put(&mut out, at::BUILD_VERSION, &self.build_version);
        put(&mut out, at::NUM_TPB, &self.num_tpb.to_le_bytes());
        put(&mut out, at::HASH, &self.hash);
        put(&mut out, at::UUID, &self.uuid);
        put(&mut out, at::NAME, &self.name);
        put(&mut out, at::REQUESTED, &self.requested_tpb.to_le_bytes());
        put(&mut out, at::TPB_PER_NODE, &self.tpb_per_node);
        put(&mut out, at::FEATURES, &self.feature_bits.to_le_bytes());
        put(&mut out, at::LNC_SIZE, &self.lnc_size.to_le_bytes());
        put(&mut out, at::PAD, &self.pad);
        out
    }

    /// Compares the fields with the rules, in the order of the loader's gates
    /// (sheet section 9.2), then with our own.
    pub fn check(&self, file_length: u64, report: &mut Report) -> Result<(), Problem> {
        let place = |at: usize| Place::File(widen(at));
        let after = file_length.saturating_sub(widen(HEADER_LENGTH));
        if self.header_size >= file_length {
            report.note(
                Rule::HeaderSizeBeyond,
                place(at::HEADER_SIZE),
                format!("header_size is {} in a file of {file_length} bytes", self.header_size),
            )?;
        }
        if self.header_size != widen(HEADER_LENGTH) {
            report.note(
                Rule::HeaderSize,
                place(at::HEADER_SIZE),
                format!("header_size is {}", self.header_size),
            )?;
        }
        if self.major > 2 {
            report.note(
                Rule::Major,
                place(at::MAJOR),
                format!("the version is {}.{}", self.major, self.minor),
            )?;
        }
        let refused = features::refused(self.major, self.feature_bits);
        if refused != 0 {
            report.note(
                Rule::FeatureBits,
                place(at::FEATURES),
                format!("feature bits {:#x} are unknown", refused),
            )?;
        }
        if self.data_size == 0 {
            report.note(Rule::DataEmpty, place(at::DATA_SIZE), "data_size is 0")?;
        }
        if self.data_size > after {
            report.note(
                Rule::DataSize,
                place(at::DATA_SIZE),
                format!("data_size is {}, {after} bytes follow the header", self.data_size),
            )?;
        }
        if !(1..=2).contains(&self.packager) {
            report.note(
                Rule::Packager,
                place(at::PACKAGER),
                format!("the packager version is {}", self.packager),
            )?;
        }
        self.check_fields(report)?;
        let end = widen(HEADER_LENGTH).saturating_add(self.data_size);
        if end < file_length {
            report.note(
                Rule::TrailingBytes,
                Place::File(end),
                format!("{} bytes follow the payload", file_length - end),
            )?;
        }
        Ok(())
    }

    fn check_fields(&self, report: &mut Report) -> Result<(), Problem> {
        let place = |at: usize| Place::File(widen(at));
        for (label, at, field) in [
            ("build version", at::BUILD_VERSION, &self.build_version[..]),
            ("name", at::NAME, &self.name[..]),
        ] {
            let end = field.iter().position(|b| *b == 0);
            let text = field.get(..end.unwrap_or(field.len())).unwrap_or_default();
            let tail = field.get(text.len()..).unwrap_or_default();
            if end.is_none() {
                report.note(Rule::HeaderText, place(at), format!("the {label} has no NUL"))?;
            } else if tail.iter().any(|b| *b != 0) {
                report.note(
                    Rule::HeaderText,
                    place(at + text.len()),
                    format!("the {label} has bytes after its NUL"),
                )?;
            } else if std::str::from_utf8(text).is_err() {
                report.note(
                    Rule::HeaderText,
                    place(at),
                    format!("the {label} is not UTF-8: {}", text.escape_ascii()),
                )?;
            }
        }
        if !(1..=64).contains(&self.num_tpb) {
            report.note(
                Rule::CoreCount,
                place(at::NUM_TPB),
                format!("num_tpb is {}", self.num_tpb),
            )?;
        }
        if self.packager == 2 {
            let tail = self.hash.get(MD5_LENGTH..).unwrap_or_default();
            if !tail.iter().all(|b| *b == 0) && !tail.iter().all(|b| *b == b'0') {
                report.note(
                    Rule::DigestTail,
                    place(at::HASH + MD5_LENGTH),
                    format!("the tail of the digest is {}", hex(tail)),
                )?;
            }
        }
        // Older producers leave the field zero: it was part of the padding.
        if self.lnc_size > 2 {
            report.note(
                Rule::LncSize,
                place(at::LNC_SIZE),
                format!("lnc_size is {}", self.lnc_size),
            )?;
        }
        if let Some(index) = self.pad.iter().position(|b| *b != 0) {
            report.note(Rule::HeaderPad, place(at::PAD + index), "the byte is not zero")?;
        }
        Ok(())
    }

    /// Label of the producer; bytes that are not UTF-8 are escaped.
    pub fn build_version_text(&self) -> String {
        text(&self.build_version)
    }

    /// Name of the model; bytes that are not UTF-8 are escaped.
    pub fn name_text(&self) -> String {
        text(&self.name)
    }

    /// The id as 32 hex digits, as the packager tool prints it.
    pub fn uuid_hex(&self) -> String {
        hex(&self.uuid)
    }

    /// The stored digest as the packager tool prints it: 32 hex digits for
    /// packager 2, all 64 otherwise.
    pub fn hash_hex(&self) -> String {
        let used = if self.packager == 2 { MD5_LENGTH } else { HASH_LENGTH };
        hex(self.hash.get(..used).unwrap_or_default())
    }

    /// Cores for full speed; `None` where the field is out of 1 to 64.
    pub fn cores_for_full_speed(&self) -> Option<u32> {
        (1..=64).contains(&self.num_tpb).then_some(self.num_tpb)
    }

    /// Fewest cores that run it (runtime 1.x, shared mode); `None` where the
    /// field is out of 1 to 64, as in old files.
    pub fn cores_at_least(&self) -> Option<u32> {
        let most = self.tpb_per_node.iter().copied().max().unwrap_or(0);
        (1..=64).contains(&most).then_some(u32::from(most))
    }

    /// Physical cores of one logical core; 1 where an old file has 0.
    pub fn logical_core_size(&self) -> u32 {
        self.lnc_size.max(1)
    }

    /// Sets the label; at most 127 bytes are kept.
    pub fn set_build_version(&mut self, label: &str) {
        self.build_version = padded(label);
    }

    /// Sets the name; at most 255 bytes are kept.
    pub fn set_name(&mut self, name: &str) {
        self.name = padded(name);
    }
}

/// Text of a NUL-padded field.
fn text(field: &[u8]) -> String {
    let text = field.split(|b| *b == 0).next().unwrap_or_default();
    match std::str::from_utf8(text) {
        Ok(text) => text.to_owned(),
        Err(_) => text.escape_ascii().to_string(),
    }
}

/// A NUL-padded field with at least one NUL, cut between characters.
fn padded<const N: usize>(text: &str) -> [u8; N] {
    let mut end = text.len().min(N - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut out = [0; N];
    for (to, from) in out.iter_mut().zip(text.bytes().take(end)) {
        *to = from;
    }
    out
}
