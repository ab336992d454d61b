//! What can be wrong with a NEFF: every rule once, where it was broken and by
//! which value.
//!
//! A rule has a [`Severity`]; the [`Mode`] of the reader decides together with
//! it whether a broken rule refuses the file or is kept as a warning.

use crate::text::printable;
use std::fmt;

/// How a reader treats rules of severity [`Severity::Strict`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Refuse. For a runtime, and for a check before a file is handed on.
    #[default]
    Strict,
    /// Warn and go on as far as bytes make sense. For viewers.
    Lenient,
}

/// What a broken rule means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Nothing sensible can follow, or a limit was passed: refused in every mode.
    Fatal,
    /// Refused in strict mode, a warning in lenient mode.
    Strict,
    /// A warning in every mode.
    Warn,
}

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $text:literal;)*) => {
        /// The rules a NEFF is read by. Sections are those of the NEFF sheet.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = $text] $name,)*
        }

        impl Rule {
            /// Every rule, in the order of the file's parts.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Short stable name, for scripts.
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)* }
            }

            /// The rule in words.
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// What breaking it means.
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }
        }
    };
}

rules! {
    // Header, sheet section 2 and 9.2.
    FileShort "file-short" Fatal "a NEFF is longer than its header of 1024 bytes";
    HeaderSize "header-size" Strict "header_size is 1024";
    HeaderSizeBeyond "header-size-beyond" Strict "header_size is smaller than the file";
    Major "neff-major" Strict "the format major version is 0, 1 or 2";
    FeatureBits "feature-bits" Strict "a major 2 file sets no feature bit of 27 to 62";
    DataSize "data-size" Strict "data_size is at most the bytes after the header";
    DataEmpty "data-empty" Strict "data_size is not 0";
    Packager "packager-version" Strict "the packager version is 1 or 2";
    HeaderText "header-text" Warn "label and name are text padded with NUL";
    HeaderPad "header-pad" Warn "the unused end of the header is zero";
    CoreCount "core-count" Warn "the core count is 1 to 64";
    LncSize "lnc-size" Warn "the logical core size is 1 or 2";
    TrailingBytes "trailing-bytes" Warn "nothing follows the payload";
    // Digest, section 3.
    Digest "digest" Strict "the stored digest is that of the payload";
    DigestTail "digest-tail" Warn "the unused half of a packager 2 digest is zero or '0'";
    // Payload, section 4.
    PayloadKind "payload-kind" Fatal "the payload is a gzip stream or a tar archive";
    GzipHeader "gzip-header" Fatal "the gzip header is whole, its method deflate and its reserved flags zero";
    GzipStream "gzip-stream" Strict "the deflate stream is whole and well formed";
    GzipCheck "gzip-check" Strict "the gzip trailer holds CRC and length of the unpacked bytes";
    GzipTrailing "gzip-trailing" Strict "only zero bytes follow the one gzip member";
    LimitUnpacked "limit-unpacked" Fatal "the unpacked archive stays within its size limit";
    LimitRatio "limit-ratio" Fatal "the archive unpacks to a bounded multiple of its stored size";
    LimitMembers "limit-members" Fatal "the archive holds a bounded number of entries";
    LimitMember "limit-member" Fatal "each member stays within its size limit";
    LimitName "limit-name" Fatal "each member name stays within its length limit";
    LimitRecord "limit-record" Fatal "each extension record stays within its size limit";
    LimitJson "limit-json" Fatal "each JSON member stays within its size and count limits";
    LimitDebug "limit-debug" Fatal "each debug layer stays within its size and count limits";
    LimitSubgraphs "limit-subgraphs" Fatal "there are at most 100 subgraphs";
    LimitRead "limit-read" Fatal "a body that is asked for whole fits into memory";
    TarTruncated "tar-truncated" Strict "the archive holds whole blocks of 512 bytes";
    TarChecksum "tar-checksum" Fatal "the checksum of a tar header fits its bytes";
    TarNumber "tar-number" Fatal "a tar number is octal digits or base 256, and not negative";
    TarField "tar-field" Warn "times, owners and modes of a tar header are numbers";
    TarPax "tar-pax" Fatal "a pax record is LENGTH SPACE KEY '=' VALUE NEWLINE";
    TarExtension "tar-extension" Strict "an extension record is followed by its entry";
    TarKind "tar-kind" Strict "entries are plain files and directories";
    TarEnd "tar-end" Strict "two zero blocks end the archive";
    TarAfterEnd "tar-after-end" Strict "only zero bytes follow the end of the archive";
    TarPadding "tar-padding" Warn "the bytes that fill a member's last block are zero";
    ShortBody "short-body" Strict "each member's body is whole";
    NameEmpty "name-empty" Strict "each member has a name without NUL";
    NameText "name-text" Strict "member names are UTF-8";
    NameUnsafe "name-unsafe" Strict "a member name is a relative path, safe below any folder";
    Duplicate "duplicate-member" Strict "each member name occurs once";
    // JSON, section 5.
    JsonSyntax "json-syntax" Strict "a JSON member is well formed, nested at most 127 levels deep, and of the known form";
    JsonUnknown "json-unknown-key" Warn "the keys of a JSON member are known";
    GraphAbsent "graph-absent" Strict "neff.json or kelp.json is present";
    GraphShape "graph-shape" Strict "the host graph has its five keys and their lists fit together";
    SubgraphTwice "subgraph-twice" Strict "each subgraph has a definition of its own";
    TensorCount "tensor-count" Strict "there are at most 65536 inputs and outputs";
    KelfNode "kelf-node" Strict "one node of the graph names the kelf member";
    KelfVersion "kelf-version" Strict "the kelf version has a dot";
    Target "target" Strict "the target word is known";
    TargetOld "target-old" Warn "the target is one that current runtimes accept";
    MemberAbsent "member-absent" Strict "members the loader needs are present";
    MemberAbsentOptional "member-absent-optional" Warn "members that JSON names are present";
    NoOutput "no-output" Strict "a definition has an output variable";
    NoVariables "no-variables" Strict "a definition has a 'var' object";
    VarId "var-id" Strict "each variable has an id of its own";
    VarDense "var-dense" Warn "variable ids are dense from 0";
    VarType "var-type" Warn "the type of a variable is known";
    VarSize "var-size" Strict "a variable that takes memory has a size";
    QueueOwner "queue-owner" Strict "the owner of a queue set is an engine";
    QueueType "queue-type" Warn "the type of a queue set is known";
    QueueCount "queue-count" Strict "a queue set has 1 to 16 queues";
    DmaName "dma-name" Strict "transfers name known variables and queues";
    Reservation "reservation" Warn "a v3 definition has its state-buffer reservation";
    StreamLength "stream-length" Strict "an instruction stream is whole slots of 64 bytes";
    SubgraphCount "subgraph-count" Strict "subgraphs are 1 or as many as the logical core size";
    StreamRecord "stream-record" Strict "each record of a stream says that it has 16 words, an extension that it has none";
    StreamOpcode "stream-opcode" Warn "the opcodes of a stream are known for the target";
    TensorShape "tensor-shape" Warn "the dimensions of a tensor are known";
    TensorRank "tensor-rank" Strict "a tensor has at most 32 dimensions";
    TensorSize "tensor-size" Strict "a tensor's size is that of its variable";
    TensorName "tensor-name" Strict "graph and definition name the same tensors, by at most 256 bytes";
    TensorType "tensor-dtype" Warn "the data type of a tensor is known";
    CustomOps "custom-ops" Strict "custom-op libraries are version 1, within the loader's counts, each once";
    // Weights and debug members, sections 7.2 and 8.
    Npy "npy" Strict "a .npy constant has a NumPy header of version 1, 2 or 3";
    WeightSize "weight-size" Strict "a constant holds as many bytes as its variable";
    Protobuf "protobuf" Strict "a protobuf member is well formed";
    DebugCount "debug-count" Warn "an asm layer has one record for each slot";
    MemberRole "member-role" Warn "the role of a member is known";
}

/// Where in a NEFF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Offset in the file.
    File(u64),
    /// Offset in the unpacked archive.
    Archive(u64),
    /// Offset in the body of a member.
    Member {
        /// Name of the member.
        name: String,
        /// Offset in its body.
        at: u64,
    },
    /// A value of a JSON member, by its path, `/` between keys.
    Key {
        /// Name of the member.
        name: String,
        /// Path of the value.
        path: String,
    },
}

impl Place {
    pub(crate) fn key(name: &str, path: impl Into<String>) -> Self {
        Self::Key { name: shown(name), path: shown(&path.into()) }
    }

    pub(crate) fn member(name: &str, at: usize) -> Self {
        Self::Member { name: shown(name), at: widen(at) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(at) => write!(f, "file offset {at:#x}"),
            Self::Archive(at) => write!(f, "archive offset {at:#x}"),
            Self::Member { name, at } => write!(f, "{} offset {at:#x}", shown(name)),
            Self::Key { name, path } => write!(f, "{} at /{}", shown(name), shown(path)),
        }
    }
}

/// One broken rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {value} (rule {}: {})", rule.id(), rule.text())]
pub struct Problem {
    /// The rule.
    pub rule: Rule,
    /// Where.
    pub place: Place,
    /// The value found, in words, one line.
    pub value: String,
}

impl Problem {
    /// A problem; control characters of `value` are escaped and a long value is cut.
    pub fn new(rule: Rule, place: Place, value: impl AsRef<str>) -> Self {
        Self { rule, place, value: shown(value.as_ref()) }
    }
}

/// A NEFF could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// What should be written breaks a rule.
    #[error(transparent)]
    Problem(#[from] Problem),
    /// The output refused bytes.
    #[error("cannot write: {0}")]
    Io(#[from] std::io::Error),
}

/// Most warnings that are kept; more are counted only, so that hostile bytes
/// cannot fill memory with them.
pub const MOST_WARNINGS: usize = 1000;

/// Collects warnings and decides what is refused.
#[derive(Debug, Clone, Default)]
pub struct Report {
    mode: Mode,
    warnings: Vec<Problem>,
    dropped: u64,
}

impl Report {
    /// An empty report.
    pub fn new(mode: Mode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// The mode it was made with.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The warnings so far, at most [`MOST_WARNINGS`].
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// How many warnings there were beyond those kept.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Takes a problem: keeps it as a warning, or hands it back as the error.
    pub fn take(&mut self, problem: Problem) -> Result<(), Problem> {
        match (problem.rule.severity(), self.mode) {
            (Severity::Fatal, _) | (Severity::Strict, Mode::Strict) => return Err(problem),
            (Severity::Strict, Mode::Lenient) | (Severity::Warn, _) => {}
        }
        if self.warnings.len() < MOST_WARNINGS {
            self.warnings.push(problem);
        } else {
            self.dropped += 1;
        }
        Ok(())
    }

    /// [`Self::take`] of a new problem.
    pub fn note(
        &mut self,
        rule: Rule,
        place: Place,
        value: impl AsRef<str>,
    ) -> Result<(), Problem> {
        self.take(Problem::new(rule, place, value))
    }
}

/// Longest text shown of an outside value, in characters.
const SHOWN: usize = 200;

/// An outside text made fit for one line of a terminal.
pub fn shown(text: &str) -> String {
    let start: String = text.chars().take(SHOWN).collect();
    let more = if text.chars().nth(SHOWN).is_some() { "…" } else { "" };
    printable(&start) + more
}

/// A length of memory as a file quantity; never larger on any target of Rust.
pub(crate) fn widen(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
