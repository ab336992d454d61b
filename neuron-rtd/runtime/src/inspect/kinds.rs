//! The types of events that this runtime tells, by their public numbers
//! (ntff.md §9.2, §9.3), and which of them are wanted.

use neuron_core::ntff::event::NAMES;

use crate::failure::{Code, Failure};

/// A type of event: its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(pub u32);

impl Kind {
    /// A load of a model.
    pub const LOAD: Self = Self(1);
    /// An execution, from call to outcome.
    pub const EXECUTE: Self = Self(3);
    /// A step of it on cores, seen from the host.
    pub const STEP: Self = Self(4);
    /// The device executes.
    pub const RUNNING: Self = Self(7);
    /// A tensor is read.
    pub const READ: Self = Self(9);
    /// A tensor is written.
    pub const WRITE: Self = Self(10);
    /// Tensors are read together.
    pub const READ_BATCH: Self = Self(11);
    /// Tensors are written together.
    pub const WRITE_BATCH: Self = Self(12);
    /// A NaN in an output.
    pub const NUMERICAL: Self = Self(13);
    /// Inputs of a step are gathered.
    pub const PRE: Self = Self(17);
    /// The end of a step is waited for.
    pub const WAIT: Self = Self(19);
    /// Outputs of a step are handed on.
    pub const POST: Self = Self(20);
    /// An execution is accepted.
    pub const SUBMIT: Self = Self(22);
    /// One moment on both clocks.
    pub const SYNC: Self = Self(25);
    /// A tensor is made.
    pub const ALLOCATE: Self = Self(27);
    /// A tensor is given back.
    pub const FREE: Self = Self(28);
    /// Device memory is taken.
    pub const MEMORY: Self = Self(34);
    /// Device memory is given back.
    pub const RELEASE: Self = Self(35);

    /// All that there are.
    pub const ALL: [Self; 18] = [
        Self::LOAD,
        Self::EXECUTE,
        Self::STEP,
        Self::RUNNING,
        Self::READ,
        Self::WRITE,
        Self::READ_BATCH,
        Self::WRITE_BATCH,
        Self::NUMERICAL,
        Self::PRE,
        Self::WAIT,
        Self::POST,
        Self::SUBMIT,
        Self::SYNC,
        Self::ALLOCATE,
        Self::FREE,
        Self::MEMORY,
        Self::RELEASE,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        let place = usize::try_from(self.0).ok();
        place.and_then(|place| NAMES.get(place)).copied().unwrap_or("generic")
    }

    /// Whether the device tells it; else the host does.
    pub const fn is_hardware(self) -> bool {
        matches!(self.0, 6 | 7 | 8 | 13 | 24 | 25 | 26)
    }
}

/// The types that are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u64);

impl Default for Kinds {
    /// All.
    fn default() -> Self {
        Self(u64::MAX)
    }
}

impl Kinds {
    /// None.
    pub const NONE: Self = Self(0);

    /// Whether a type is wanted.
    pub const fn has(self, kind: Kind) -> bool {
        self.0 >> (kind.0 & 63) & 1 == 1
    }

    /// Wants a type, or not.
    pub const fn set(&mut self, kind: Kind, on: bool) {
        let bit = 1 << (kind.0 & 63);
        self.0 = if on { self.0 | bit } else { self.0 & !bit };
    }

    /// The types of a name: one, or those of `hardware` or `software`. Names of
    /// other runtimes are known too, their events never come.
    ///
    /// # Errors
    ///
    /// A name that there is not.
    pub fn named(name: &str) -> Result<Vec<Kind>, Failure> {
        let all = (0..u32::try_from(NAMES.len()).unwrap_or(0)).map(Kind);
        let found: Vec<Kind> = match name {
            "hardware" => all.filter(|kind| kind.is_hardware()).collect(),
            "software" => all.filter(|kind| !kind.is_hardware()).collect(),
            _ => all.filter(|kind| kind.name() == name).collect(),
        };
        if found.is_empty() {
            let own: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
            let own = own.join(", ");
            let text = format!("no event type {name:?}; there are hardware, software, {own}");
            return Err(Failure::new(Code::Invalid, "NRT:inspect", text));
        }
        Ok(found)
    }

    /// Those of a list with commas. A `^` before a name takes it away, from all
    /// where the list begins so.
    ///
    /// # Errors
    ///
    /// As [`Self::named`].
    pub fn listed(list: &str) -> Result<Self, Failure> {
        let words: Vec<&str> =
            list.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
        let mut kinds = match words.first() {
            Some(first) if !first.starts_with('^') => Self::NONE,
            _ => Self::default(),
        };
        for word in words {
            let name = word.strip_prefix('^');
            for kind in Self::named(name.unwrap_or(word))? {
                kinds.set(kind, name.is_none());
            }
        }
        Ok(kinds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_those_of_the_variable() {
        let of = |list: &str| {
            let kinds = Kinds::listed(list).unwrap();
            [Kind::LOAD, Kind::EXECUTE, Kind::RUNNING, Kind::SYNC].map(|kind| kinds.has(kind))
        };
        assert_eq!(of(""), [true; 4]);
        assert_eq!(of("hardware"), [false, false, true, true]);
        assert_eq!(of("software"), [true, true, false, false]);
        assert_eq!(of("nrt_load, nc_exec_running"), [true, false, true, false]);
        assert_eq!(of("^nrt_load"), [false, true, true, true]);
        assert_eq!(of("hardware,^timestamp_sync_point"), [false, false, true, false]);
        assert!(Kinds::listed("hardware,nothing").unwrap_err().to_string().contains("nothing"));
        assert!(Kind::ALL.iter().all(|kind| kind.name() != "generic"));
    }
}
