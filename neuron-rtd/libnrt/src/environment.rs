//! What the environment says (neuron-rtd.md §4.5), read by `nrt_init` and by
//! the calls that are allowed before it.

use neuron_core::sim::SimSpec;
use neuron_core::source::Spec;
use neuron_core::uapi::nrt::Status;

use crate::call::Fault;

/// Which cores of the instance this process gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All.
    All,
    /// The first so many that are free.
    Count(u32),
    /// These: first and count.
    Range(u32, u32),
}

/// The instance and the cores.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Machine {
    pub(crate) spec: SimSpec,
    pub(crate) wanted: Wanted,
    /// Physical cores of a core.
    pub(crate) lnc: u32,
}

fn read(name: &str) -> Option<String> {
    let text = std::env::var(name).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn wrong(name: &str, text: &str, accepted: &str) -> Fault {
    Fault::invalid(format!("{name}={text}: must be {accepted}"))
}

fn number<T: std::str::FromStr>(name: &str) -> Result<Option<T>, Fault> {
    let Some(text) = read(name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| wrong(name, &text, "a whole number"))
}

impl Machine {
    /// Reads which instance and which cores are meant.
    pub(crate) fn from_env() -> Result<Self, Fault> {
        let source = read("NEURON_SOURCE").unwrap_or_else(|| "kernel".to_owned());
        let spec = source.parse::<Spec>().map_err(Fault::invalid)?;
        let Spec::Sim(spec) = spec else {
            let text = format!(
                "NEURON_SOURCE={source}: this library serves simulated instances only; set \
                 NEURON_SOURCE=sim:trn1.2xlarge, or use libnrt of aws-neuronx-runtime-lib"
            );
            return Err(Fault::new(Status::FAILURE, text));
        };
        let lnc = match number("NEURON_RT_VIRTUAL_CORE_SIZE")? {
            None => spec.kind.chip.default_lnc(),
            Some(lnc) => lnc,
        };
        let physical = spec.kind.chip.core_count();
        if lnc == 0 || lnc > 2 || !physical.is_multiple_of(lnc) {
            return Err(wrong("NEURON_RT_VIRTUAL_CORE_SIZE", &lnc.to_string(), "1 or 2"));
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
            return Err(Fault::invalid(text));
        }
        Ok(machine)
    }

    /// Cores of the instance.
    pub(crate) fn total(&self) -> u32 {
        self.spec.kind.total_cores() / self.lnc
    }

    /// Cores of this process.
    pub(crate) fn visible(&self) -> u32 {
        match self.wanted {
            Wanted::All => self.total(),
            Wanted::Count(count) | Wanted::Range(_, count) => count,
        }
    }
}

fn wanted() -> Result<Wanted, Fault> {
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

/// Seconds that an execution may take, read at each load: 30, and 600 but for
/// Inf1.
pub(crate) fn timeout(inf1: bool) -> Result<u32, Fault> {
    let given: Option<u32> = number("NEURON_RT_EXEC_TIMEOUT")?;
    Ok(given.filter(|seconds| *seconds > 0).unwrap_or(if inf1 { 30 } else { 600 }))
}

/// Whether NaN in an output is told; off by default, as in the original.
pub(crate) fn numerical_errors() -> bool {
    read("NEURON_RT_NUMERICAL_ERRORS_VERBOSITY").is_some_and(|text| text == "critical")
}

/// Executions that may be under way when `nrt_execute` does not wait for them;
/// `None` when it does.
pub(crate) fn implicit_async() -> Result<Option<usize>, Fault> {
    let given: Option<usize> = number("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS")?;
    Ok(given.filter(|most| *most > 0))
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
