//! The five engines of a NeuronCore and sets of them, for every format that
//! names one.

use std::fmt;

use serde::{Serialize, Serializer};

/// Bytes of an instruction in an engine's stream, on every generation
/// (neuroncore.md §3.2).
pub const SLOT: u64 = 64;

/// An engine with an instruction stream. The order is the ISA's numbering
/// (neuroncore.md §1.1), which is also the order of NEFF and NTFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// The systolic array.
    Pe,
    /// The activation engine.
    Act,
    /// The eight programmable processors.
    Pool,
    /// The vector engine.
    Dve,
    /// The control engine, without a data path.
    Sp,
}

impl Engine {
    /// Every engine, in the ISA's order.
    pub const ALL: [Self; 5] = [Self::Pe, Self::Act, Self::Pool, Self::Dve, Self::Sp];

    /// The ISA's number, 0 to 4; also its place in [`Self::ALL`].
    pub const fn number(self) -> u8 {
        match self {
            Self::Pe => 0,
            Self::Act => 1,
            Self::Pool => 2,
            Self::Dve => 3,
            Self::Sp => 4,
        }
    }

    /// Its place in [`Self::ALL`] and in tables of five.
    pub fn index(self) -> usize {
        usize::from(self.number())
    }

    /// The engine of an ISA number, of whatever width a format has it.
    pub fn from_number(number: impl TryInto<u8>) -> Option<Self> {
        let number = number.try_into().ok()?;
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Key in NEFF members: `pe`, `act`, `pool`, `dve`, `sp`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Pe => "pe",
            Self::Act => "act",
            Self::Pool => "pool",
            Self::Dve => "dve",
            Self::Sp => "sp",
        }
    }

    /// The engine of such a key.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.key() == key)
    }

    /// Name in text and JSON: `PE`, `ACT`, `POOL`, `DVE`, `SP`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pe => "PE",
            Self::Act => "ACT",
            Self::Pool => "POOL",
            Self::Dve => "DVE",
            Self::Sp => "SP",
        }
    }

    /// Name in the profiler: `Tensor`, `Scalar`, `GpSimd`, `Vector`, `Sync`.
    pub const fn display_name(self) -> &'static str {
        match self {
            Self::Pe => "Tensor",
            Self::Act => "Scalar",
            Self::Pool => "GpSimd",
            Self::Dve => "Vector",
            Self::Sp => "Sync",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Engine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A set of engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Engines(u8);

impl Engines {
    /// All five.
    pub const ALL: Self = Self(0b11111);

    /// The set of the engines given.
    pub const fn of(engines: &[Engine]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < engines.len() {
            bits |= 1 << engines[index].number();
            index += 1;
        }
        Self(bits)
    }

    /// Whether it holds the engine.
    pub const fn contains(self, engine: Engine) -> bool {
        self.0 >> engine.number() & 1 == 1
    }

    /// Its engines, in the ISA's order.
    pub fn iter(self) -> impl Iterator<Item = Engine> {
        Engine::ALL.into_iter().filter(move |engine| self.contains(*engine))
    }
}

/// `all`, or the names: `ACT DVE`.
impl fmt::Display for Engines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ALL {
            return f.write_str("all");
        }
        for (index, engine) in self.iter().enumerate() {
            let gap = if index == 0 { "" } else { " " };
            write!(f, "{gap}{engine}")?;
        }
        Ok(())
    }
}
