//! The digest of the payload (sheet section 3).
//!
//! Packager 1 stores a SHA-256. Packager 2 stores an MD5 in one of two forms:
//! as it is (compilers up to 2.16) or with each 32-bit word byte-reversed
//! (compilers from 2.18). A reader accepts both; which one the loader compares
//! when asked is unknown.

use super::header::Header;
use super::problem::{Place, Problem, Report, Rule, widen};
use crate::text::hex;
use md5::{Digest as _, Md5};
use sha2::Sha256;

/// Bytes of the digest field.
pub const HASH_LENGTH: usize = 32;
/// Bytes of it that packager 2 uses.
pub const MD5_LENGTH: usize = 16;

/// Bytes hashed between two looks at the caller's progress.
const CHUNK: usize = 1 << 20;

/// How a digest is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigestForm {
    /// MD5, bytes as computed.
    Plain,
    /// MD5, each 32-bit word byte-reversed.
    Swapped,
    /// SHA-256, bytes as computed.
    Sha256,
}

/// The form we write for packager 2. Our choice: a loader that compares
/// anything must accept what the compilers of its own time write, and those
/// write the swapped form.
pub const WRITTEN_FORM: DigestForm = DigestForm::Swapped;

impl DigestForm {
    /// Name for people and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Swapped => "swapped",
            Self::Sha256 => "sha256",
        }
    }
}

/// What a comparison found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// The digest of the payload, in plain form.
    pub computed: Vec<u8>,
    /// The form in which the header stores it; `None` if it stores another digest.
    pub form: Option<DigestForm>,
}

/// Computes the digest of a payload that arrives in pieces.
#[derive(Debug, Clone)]
pub enum Hasher {
    /// Packager 2, and any unknown packager.
    Md5(Box<Md5>),
    /// Packager 1.
    Sha256(Box<Sha256>),
}

impl Hasher {
    /// The hash that a packager version uses.
    pub fn for_packager(packager: u64) -> Self {
        if packager == 1 {
            Self::Sha256(Box::new(Sha256::new()))
        } else {
            Self::Md5(Box::new(Md5::new()))
        }
    }

    /// Adds a piece.
    pub fn update(&mut self, piece: &[u8]) {
        match self {
            Self::Md5(hash) => hash.update(piece),
            Self::Sha256(hash) => hash.update(piece),
        }
    }

    /// The digest in plain form: 16 or 32 bytes.
    pub fn finish(self) -> Vec<u8> {
        match self {
            Self::Md5(hash) => hash.finalize().to_vec(),
            Self::Sha256(hash) => hash.finalize().to_vec(),
        }
    }
}

/// A plain MD5 with each word byte-reversed, or back.
pub fn swap_words(digest: &[u8]) -> Vec<u8> {
    digest.chunks(4).flat_map(|word| word.iter().rev().copied()).collect()
}

/// Computes the digest of `payload` and compares it with the header. `progress`
/// is called with the bytes done so far.
pub fn compute(header: &Header, payload: &[u8], mut progress: impl FnMut(u64)) -> Digest {
    let mut hasher = Hasher::for_packager(header.packager);
    let mut done = 0;
    for chunk in payload.chunks(CHUNK) {
        hasher.update(chunk);
        done += widen(chunk.len());
        progress(done);
    }
    let computed = hasher.finish();
    let stored = header.hash.get(..computed.len()).unwrap_or_default();
    let form = match header.packager {
        1 => (stored == computed).then_some(DigestForm::Sha256),
        2 if stored == computed => Some(DigestForm::Plain),
        2 if stored == swap_words(&computed) => Some(DigestForm::Swapped),
        _ => None,
    };
    Digest { computed, form }
}

/// [`compute`], with a mismatch taken to the report.
pub fn check(header: &Header, payload: &[u8], report: &mut Report) -> Result<Digest, Problem> {
    let digest = compute(header, payload, |_| ());
    note(header, &digest, report)?;
    Ok(digest)
}

/// Takes a mismatch to the report. A packager without a digest of its own is a
/// problem of the header, not of the digest.
pub fn note(header: &Header, digest: &Digest, report: &mut Report) -> Result<(), Problem> {
    if digest.form.is_some() || !(1..=2).contains(&header.packager) {
        return Ok(());
    }
    report.note(
        Rule::Digest,
        Place::File(0xac),
        format!("stored {}, computed {}", header.hash_hex(), hex(&digest.computed)),
    )
}

/// The digest field for a payload with this plain digest.
pub fn field(plain: &[u8], form: DigestForm) -> [u8; HASH_LENGTH] {
    // The sheet's choice for the unused half, as in the runtime's own sample.
    let mut out = [b'0'; HASH_LENGTH];
    let stored = match form {
        DigestForm::Plain | DigestForm::Sha256 => plain.to_vec(),
        DigestForm::Swapped => swap_words(plain),
    };
    for (to, from) in out.iter_mut().zip(stored) {
        *to = from;
    }
    out
}
