//! What can be wrong with a file: one list of rules, each with its weight.
//!
//! In strict mode the first broken rule is an [`Error`]; in lenient mode every
//! rule that leaves something readable becomes a [`Finding`].

use std::fmt;
use std::io;

use crate::error::io_reason;

/// Result of the functions of this module.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why reading or writing stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input or output failed.
    #[error("cannot {action} at byte {offset}: {}", io_reason(source))]
    Io {
        /// `read` or `write`.
        action: &'static str,
        /// Position in the stream.
        offset: u64,
        /// The reason given by the system.
        source: io::Error,
    },
    /// A rule of the format is broken.
    #[error("{0}")]
    Broken(Finding),
}

impl Error {
    /// An [`Error::Broken`].
    pub fn broken(offset: u64, rule: Rule) -> Self {
        Self::Broken(Finding { offset, rule })
    }

    /// The broken rule, if that is what stopped.
    pub fn rule(&self) -> Option<&Rule> {
        match self {
            Self::Broken(finding) => Some(&finding.rule),
            Self::Io { .. } => None,
        }
    }
}

/// A broken rule and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Byte in the file.
    pub offset: u64,
    /// What is wrong there.
    pub rule: Rule,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {} (rule {})", self.offset, self.rule, self.rule.id())
    }
}

/// How much a broken rule matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth telling; nothing is lost.
    Note,
    /// Something is lost or cannot be trusted; the rest is good.
    Damage,
    /// Nothing can be read on from here.
    Fatal,
}

/// A count and the word for it: one record, 2 records.
fn many(count: u64, one: &'static str, more: &'static str) -> String {
    if count == 1 { format!("one {one}") } else { format!("{count} {more}") }
}

/// The rules. Each message is also the documentation of its variant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each message documents its variant")]
#[non_exhaustive]
pub enum Rule {
    // Header.
    #[error("the file is empty: nothing was executed while capturing")]
    Empty,
    #[error("the file ends inside its 128-byte header, after {have} bytes")]
    ShortHeader { have: u64 },
    #[error("form {form} is not one of 4, 5 and 6; read as the nearest")]
    Form { form: u8 },
    #[error(
        "neither an NTFF, which begins with a number from 1 to 32 and the size of its message, \
         nor a .pb file of an inspect run: give one of these"
    )]
    NotNtff,
    #[error("the header gives a message of no bytes")]
    NoMessage,
    #[error("the message has {length} bytes, more than the limit of {limit}")]
    MessageTooLong { length: u64, limit: u64 },
    #[error("the file ends inside its message, after {have} of {length} bytes")]
    MessageCut { have: u64, length: u64 },

    // Wire format.
    #[error("{message}: a varint does not end within its message or within 10 bytes")]
    Varint { message: &'static str },
    #[error("{message}: a fixed-size value does not end within its message")]
    Fixed { message: &'static str },
    #[error("{message}: length {length} of field {field} is more than the {left} bytes left")]
    Length { message: &'static str, field: u32, length: u64, left: u64 },
    #[error("{message}: field number {number} is out of range")]
    FieldNumber { message: &'static str, number: u64 },
    #[error("{message}: wire type {wire} does not exist")]
    WireType { message: &'static str, wire: u8 },
    #[error("{message}.{field}: wire type {wire} where {wanted} was expected")]
    WireMismatch { message: &'static str, field: &'static str, wire: u8, wanted: u8 },
    #[error("{message}: a group does not end, or ends twice")]
    Group { message: &'static str },
    #[error("{message}: nested deeper than {limit}")]
    Nesting { message: &'static str, limit: usize },
    #[error("{message}.{field}: the text is not UTF-8")]
    Text { message: &'static str, field: &'static str },
    #[error("{message}: decoded, the message takes more than {limit} bytes of memory")]
    Memory { message: &'static str, limit: u64 },
    #[error("{message}: field {field} of {bytes} bytes is not known")]
    UnknownField { message: &'static str, field: u32, bytes: u64 },
    #[error("{message}.{field}: {value} does not fit the type of the field")]
    Misfit { message: &'static str, field: &'static str, value: u64 },
    #[error("{message}: {reason}")]
    Decode { message: &'static str, reason: String },

    // What the message says of the device and the run.
    #[error("arch {arch} is none of 1 (Trn1), 2 (Trn2) and 3 (Trn3); records are read as Trn2's")]
    Arch { arch: u64 },
    #[error("execution {index} runs backwards: from {start} to {end} ps")]
    Window { index: usize, start: u64, end: u64 },

    // Blob area.
    #[error("{section}: offset {start} and size {size} do not add up to a position")]
    Range { section: String, start: u64, size: u64 },
    #[error("{section}: {lost} of its {size} bytes are lost: the file ends at byte {end}")]
    SectionCut { section: String, lost: u64, size: u64, end: u64 },
    #[error("{section}: {size} bytes are no whole number of {unit}-byte entries")]
    Unit { section: String, size: u64, unit: u64 },
    #[error("{} to nothing, in front of {section}", many(*bytes, "byte belongs", "bytes belong"))]
    Gap { section: String, bytes: u64 },
    #[error("{section} overlaps the one before it by {bytes} bytes")]
    Overlap { section: String, bytes: u64 },
    #[error("{section} overlaps too many others and is left out")]
    Crowded { section: String },
    #[error("{} left out, the limit is {limit}", many(*count, "section is", "sections are"))]
    TooManySections { count: u64, limit: u64 },
    #[error(
        "{} to nothing",
        many(*bytes, "byte after the last section belongs", "bytes after the last section belong")
    )]
    Trailing { bytes: u64 },

    // Records.
    #[error(
        "{section}: {count} of {total} records {} of reserved types: not a trace we can read",
        if *count == 1 { "is" } else { "are" }
    )]
    Undecodable { section: String, count: u64, total: u64 },
    #[error(
        "{section}: {} skipped",
        many(*count, "record of a reserved type was", "records of reserved types were")
    )]
    Reserved { section: String, count: u64 },
    #[error(
        "{section}: {} bits that no known layout explains",
        many(*count, "record has", "records have")
    )]
    Unexplained { section: String, count: u64 },
    #[error("{section}: {} skipped", many(*count, "empty record was", "empty records were"))]
    Blank { section: String, count: u64 },
    #[error(
        "{section}: {} that later ones were lost in hardware",
        many(*count, "record says", "records say")
    )]
    HardwareLoss { section: String, count: u64 },
    #[error(
        "{section}: {} that earlier ones were lost: the ring was full",
        many(*count, "record says", "records say")
    )]
    SoftwareLoss { section: String, count: u64 },
    #[error(
        "{section}: {} a time that its clock cannot tell: before its start, or too late for 64 bits",
        many(*count, "record has", "records have")
    )]
    ClockRange { section: String, count: u64 },
    #[error("{section}: as large as its ring ({size} bytes): the oldest records may be missing")]
    RingFull { section: String, size: u64 },
    #[error(
        "{section}: {} dropped",
        many(*count, "end has no start and was", "ends have no start and were")
    )]
    OrphanEnds { section: String, count: u64 },
    #[error(
        "{section}: {} no start",
        many(*count, "packet end or completion has", "packet ends or completions have")
    )]
    OrphanPackets { section: String, count: u64 },

    // Framed files.
    #[error("a frame of {length} bytes is longer than the limit of {limit}")]
    FrameTooLong { length: u32, limit: u32 },
    #[error("the file ends inside a frame, after {have} of {length} bytes")]
    FrameCut { have: u64, length: u64 },
    #[error("more than {limit} empty frames in a row: not a file of an inspect run from here on")]
    EmptyFrames { limit: u32 },
    #[error("neither frames nor a message of an inspect run")]
    NotInspect,

    // A gzip wrapper, which callers take off.
    #[error("the gzip wrapper is damaged, {inflated} bytes were read from it: {reason}")]
    GzipCut { inflated: u64, reason: String },
    #[error(
        "{} to nothing",
        many(*bytes, "byte after the gzip wrapper belongs", "bytes after the gzip wrapper belong")
    )]
    GzipTrailing { bytes: u64 },

    // Writing.
    #[error("{what} does not fit: {reason}")]
    Write { what: &'static str, reason: String },

    // All.
    #[error("{} not listed", many(*count, "more finding is", "more findings are"))]
    More { count: u64 },
}

impl Rule {
    /// A name that stays the same from version to version, for scripts.
    pub fn id(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::ShortHeader { .. } => "short-header",
            Self::Form { .. } => "form",
            Self::NotNtff => "not-ntff",
            Self::NoMessage => "no-message",
            Self::MessageTooLong { .. } => "message-too-long",
            Self::MessageCut { .. } => "message-cut",
            Self::Varint { .. } => "varint",
            Self::Fixed { .. } => "fixed",
            Self::Length { .. } => "length",
            Self::FieldNumber { .. } => "field-number",
            Self::WireType { .. } => "wire-type",
            Self::WireMismatch { .. } => "wire-mismatch",
            Self::Group { .. } => "group",
            Self::Nesting { .. } => "nesting",
            Self::Text { .. } => "text",
            Self::Memory { .. } => "memory",
            Self::UnknownField { .. } => "unknown-field",
            Self::Misfit { .. } => "misfit",
            Self::Decode { .. } => "decode",
            Self::Arch { .. } => "arch",
            Self::Window { .. } => "window",
            Self::Range { .. } => "range",
            Self::SectionCut { .. } => "section-cut",
            Self::Unit { .. } => "unit",
            Self::Gap { .. } => "gap",
            Self::Overlap { .. } => "overlap",
            Self::Crowded { .. } => "crowded",
            Self::TooManySections { .. } => "too-many-sections",
            Self::Trailing { .. } => "trailing",
            Self::Undecodable { .. } => "undecodable",
            Self::Reserved { .. } => "reserved",
            Self::Unexplained { .. } => "unexplained",
            Self::Blank { .. } => "blank",
            Self::HardwareLoss { .. } => "hardware-loss",
            Self::SoftwareLoss { .. } => "software-loss",
            Self::ClockRange { .. } => "clock-range",
            Self::RingFull { .. } => "ring-full",
            Self::OrphanEnds { .. } => "orphan-ends",
            Self::OrphanPackets { .. } => "orphan-packets",
            Self::FrameTooLong { .. } => "frame-too-long",
            Self::FrameCut { .. } => "frame-cut",
            Self::EmptyFrames { .. } => "empty-frames",
            Self::NotInspect => "not-inspect",
            Self::GzipCut { .. } => "gzip-cut",
            Self::GzipTrailing { .. } => "gzip-trailing",
            Self::Write { .. } => "write",
            Self::More { .. } => "more",
        }
    }

    /// How much it matters.
    pub fn severity(&self) -> Severity {
        match self {
            Self::Empty
            | Self::ShortHeader { .. }
            | Self::NotNtff
            | Self::NoMessage
            | Self::MessageTooLong { .. }
            | Self::NotInspect
            | Self::Write { .. } => Severity::Fatal,
            // An unknown field, an odd form, a device newer than we are and the
            // loss marks are normal in good files (§3, §6.1, §10).
            Self::Form { .. }
            | Self::Arch { .. }
            | Self::UnknownField { .. }
            | Self::Misfit { .. }
            | Self::HardwareLoss { .. }
            | Self::SoftwareLoss { .. }
            | Self::RingFull { .. }
            | Self::Reserved { .. }
            | Self::Unexplained { .. }
            | Self::Blank { .. }
            | Self::OrphanEnds { .. }
            | Self::OrphanPackets { .. }
            | Self::More { .. } => Severity::Note,
            _ => Severity::Damage,
        }
    }
}

/// Findings up to a limit.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    kept: Vec<Finding>,
    dropped: u64,
    damaged: bool,
    limit: usize,
}

impl Findings {
    /// An empty list that keeps at most `limit`.
    pub fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Adds one.
    pub fn push(&mut self, offset: u64, rule: Rule) {
        self.damaged |= rule.severity() >= Severity::Damage;
        if self.kept.len() < self.limit {
            self.kept.push(Finding { offset, rule });
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    /// Those kept, in the order found, and how many were not.
    pub fn list(&self) -> (&[Finding], u64) {
        (&self.kept, self.dropped)
    }

    /// Whether one of them, kept or not, is at least damage.
    pub fn damaged(&self) -> bool {
        self.damaged
    }
}
