//! A tar reader over borrowed or inflated bytes, and a reproducible writer.
//!
//! Our own because a NEFF wants what general readers do not give: bodies
//! borrowed from a map, the offset and rule of each refusal, two modes, and no
//! allocation by a claimed length. It reads v7, ustar, GNU and pax headers; it
//! does not follow links or sparse maps, which no NEFF has.

mod block;
mod pax;
mod reader;
mod write;

pub(crate) use block::looks_like_tar;
pub(crate) use reader::Entries;
pub use write::{BLOCK, BLOCKING, append_end, append_header};
pub(crate) use write::{append_padding, check_name};

/// Which kind of tar header an entry has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Before POSIX: no magic.
    V7,
    /// POSIX 1988.
    Ustar,
    /// GNU, magic `ustar  `.
    Gnu,
    /// POSIX 2001: ustar with extended records.
    Pax,
}

impl Dialect {
    /// Name for people and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::V7 => "v7",
            Self::Ustar => "ustar",
            Self::Gnu => "gnu",
            Self::Pax => "pax",
        }
    }
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A plain file: a member.
    File,
    /// A directory; skipped.
    Directory,
    /// Anything else: link, device, pipe, sparse file, unknown. The type byte.
    Other(u8),
}

/// One entry: the header and its extension records, read together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Name, `./` stripped; bytes that are not UTF-8 are escaped.
    pub name: String,
    /// File, directory or other.
    pub kind: Kind,
    /// Bytes of the body.
    pub size: u64,
    /// Archive offset of the first block, extension records included.
    pub header_at: u64,
    /// Archive offset of the body.
    pub body_at: u64,
    /// Header dialect.
    pub dialect: Dialect,
    /// Permission bits.
    pub mode: u64,
    /// Owner id.
    pub uid: u64,
    /// Group id.
    pub gid: u64,
    /// Modification time, whole seconds since 1970.
    pub mtime: u64,
    /// Owner name.
    pub user: String,
    /// Group name.
    pub group: String,
}
