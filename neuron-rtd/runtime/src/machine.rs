//! Which cores of a simulated instance a process gets: what its environment
//! says (neuron-rtd.md §4.5), and the cores that are free.

use std::str::FromStr;

use neuron_core::sim::{Sim, SimSpec};

use crate::cores::Cores;
use crate::failure::{Code, Failure};
use crate::host::SimHost;

const PLACE: &str = "NRT:environment";

/// Which cores of the instance a process gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// All.
    All,
    /// The first so many neighbours that are free.
    Count(u32),
    /// These: first and count.
    Range(u32, u32),
}

/// A simulated instance and the cores of this process.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// The instance.
    pub spec: SimSpec,
    /// The cores.
    pub wanted: Wanted,
    /// Physical cores of a core, 1 or 2.
    pub lnc: u32,
}

/// A variable of the environment; `None` where it is not set or empty.
fn read(name: &str) -> Option<String> {
    let text = std::env::var(name).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn wrong(name: &str, text: &str, accepted: &str) -> Failure {
    Failure::new(Code::Invalid, PLACE, format!("{name}={text}: must be {accepted}"))
}

/// The whole number that a variable of the environment holds; `None` where it
/// is not set or empty.
///
/// # Errors
///
/// Another text.
pub fn number<T: FromStr>(name: &str) -> Result<Option<T>, Failure> {
    let Some(text) = read(name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| wrong(name, &text, "a whole number"))
}

impl Machine {
    /// An instance, and of its cores those that `NEURON_RT_VISIBLE_CORES`, else
    /// `NEURON_RT_NUM_CORES` says, of the size that
    /// `NEURON_RT_VIRTUAL_CORE_SIZE` says.
    ///
    /// # Errors
    ///
    /// A variable that says nothing sensible, or more than the instance has.
    pub fn from_env(spec: SimSpec) -> Result<Self, Failure> {
        const SIZE: &str = "NEURON_RT_VIRTUAL_CORE_SIZE";
        let lnc = number(SIZE)?.unwrap_or_else(|| spec.kind.chip.default_lnc());
        let physical = spec.kind.chip.core_count();
        if lnc == 0 || lnc > 2 || !physical.is_multiple_of(lnc) {
            return Err(wrong(SIZE, &lnc.to_string(), "1 or 2"));
        }
        let machine = Self { spec, wanted: wanted()?, lnc };
        let total = machine.total();
        let last = match machine.wanted {
            Wanted::All => total,
            Wanted::Count(count) => count,
            Wanted::Range(first, count) => first.saturating_add(count),
        };
        if last > total {
            let name = machine.spec.kind.name;
            let text = format!("{last} cores are asked for, {name} has {total}");
            return Err(Failure::new(Code::Invalid, PLACE, text));
        }
        Ok(machine)
    }

    /// Cores of the instance.
    pub fn total(&self) -> u32 {
        self.spec.kind.total_cores() / self.lnc
    }

    /// Cores of this process.
    pub fn visible(&self) -> u32 {
        match self.wanted {
            Wanted::All => self.total(),
            Wanted::Count(count) | Wanted::Range(_, count) => count,
        }
    }

    /// Takes the cores, under the name of a program.
    ///
    /// # Errors
    ///
    /// Cores that others hold; an instance that cannot be read.
    pub fn attach(&self, sim: &Sim, program: &str) -> Result<(Cores, SimHost), Failure> {
        const PLACE: &str = "NMGR:kmgr_init_mlas";
        let kind = self.spec.kind;
        let take = |first, count| -> Result<(Cores, SimHost), Failure> {
            let cores = Cores::range(kind, first, count, Some(self.lnc))?;
            let host = SimHost::attach(sim.clone(), &cores, program)?;
            Ok((cores, host))
        };
        let count = match self.wanted {
            Wanted::All => return take(0, self.total()),
            Wanted::Range(first, count) => return take(first, count),
            Wanted::Count(count) => count,
        };
        // others may take cores between the look and the grasp
        let mut last = None;
        for first in 0..=self.total().saturating_sub(count) {
            let state = sim.snapshot().map_err(|error| Failure::new(Code::Fail, PLACE, error))?;
            let mut physical = first * self.lnc..(first + count) * self.lnc;
            if !physical.any(|core| state.marks.contains_key(&core)) {
                match take(first, count) {
                    Ok(taken) => return Ok(taken),
                    Err(failure) => last = Some(failure),
                }
            }
        }
        Err(last.unwrap_or_else(|| {
            let text = format!("no {count} neighbouring cores of {} are free", kind.name);
            Failure::new(Code::ResourceNc, PLACE, text)
        }))
    }
}

fn wanted() -> Result<Wanted, Failure> {
    const VISIBLE: &str = "NEURON_RT_VISIBLE_CORES";
    if let Some(text) = read(VISIBLE) {
        let (first, last) = range(&text).ok_or_else(|| {
            wrong(VISIBLE, &text, "a core, a range as 0-3, or a list of neighbours as 0,1,2")
        })?;
        return Ok(Wanted::Range(first, last - first + 1));
    }
    match number("NEURON_RT_NUM_CORES")? {
        None | Some(0) => Ok(Wanted::All),
        Some(count) => Ok(Wanted::Count(count)),
    }
}

/// First and last of an ascending list without gaps: cores and ranges, with
/// commas between.
fn range(text: &str) -> Option<(u32, u32)> {
    let mut whole: Option<(u32, u32)> = None;
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        let start = match whole {
            None => first,
            Some((start, end)) if end.checked_add(1)? == first => start,
            Some(_) => return None,
        };
        if last < first || last == u32::MAX {
            return None;
        }
        whole = Some((start, last));
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_a_run() {
        assert_eq!(range("3"), Some((3, 3)));
        assert_eq!(range("0-3"), Some((0, 3)));
        assert_eq!(range("0, 1,2-5"), Some((0, 5)));
        for text in ["", "a", "3-1", "0,2", "1,0", "0-", "0,,1", "-1", "4294967295"] {
            assert_eq!(range(text), None, "{text:?}");
        }
    }
}
