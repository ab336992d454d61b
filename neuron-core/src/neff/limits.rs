//! How much a NEFF may ask for. All numbers are our choice (sheet section 4);
//! the loader itself has none.

use super::problem::Mode;

/// Upper bounds that hold in every mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Entries of the archive, directories and extension records included.
    pub members: usize,
    /// Bytes of one member name.
    pub name: usize,
    /// Bytes of all names of entries together.
    pub names: usize,
    /// Bytes of one member.
    pub member: u64,
    /// Bytes of the unpacked archive.
    pub unpacked: u64,
    /// Unpacked bytes for each stored byte of a gzip payload.
    pub ratio: u64,
    /// Unpacked bytes up to which the ratio is not looked at.
    pub ratio_floor: u64,
    /// Bytes of one pax or GNU extension record.
    pub record: u64,
    /// Bytes of one JSON member that is parsed.
    pub json: u64,
    /// Bytes of one debug layer that is parsed.
    pub debug: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            members: 65_536,
            name: 4096,
            names: 16 << 20,
            member: 2 << 30,
            unpacked: 8 << 30,
            ratio: 1000,
            ratio_floor: 16 << 20,
            record: 1 << 20,
            json: 256 << 20,
            debug: 64 << 20,
        }
    }
}

/// How a NEFF is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Strict or lenient.
    pub mode: Mode,
    /// Upper bounds.
    pub limits: Limits,
    /// Compare the digest. This reads every payload byte; a caller that only
    /// looks at a few members may leave it out.
    pub digest: bool,
    /// Members of a gzip payload up to this size stay in memory, unpacked.
    /// So do JSON members and debug layers up to their own limits, which are
    /// read in no particular order. Larger ones (weights) are passed over while
    /// the archive is indexed and unpacked again when asked for. Members of a bare tar are always borrowed.
    /// With 0 nothing is held.
    pub hold: u64,
    /// Bytes of all members that stay in memory together.
    pub hold_total: u64,
}

impl Options {
    /// The usual way of opening: digest compared, members up to 16 MiB and
    /// 512 MiB in total held.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            limits: Limits::default(),
            digest: true,
            hold: 16 << 20,
            hold_total: 512 << 20,
        }
    }

    /// Strict mode.
    pub fn strict() -> Self {
        Self::new(Mode::Strict)
    }

    /// Lenient mode.
    pub fn lenient() -> Self {
        Self::new(Mode::Lenient)
    }

    /// Holds every member, for a caller that needs all of them (a runtime):
    /// each byte is then unpacked once and held once.
    #[must_use]
    pub fn holding_all(mut self) -> Self {
        self.hold = self.limits.member;
        self.hold_total = self.limits.unpacked;
        self
    }

    /// Leaves the digest alone.
    #[must_use]
    pub fn without_digest(mut self) -> Self {
        self.digest = false;
        self
    }
}
