//! What is recorded of a run: the environment, and calls that say it instead.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::kinds::Kinds;
use crate::failure::{Code, Failure};
use crate::machine::number;

const PLACE: &str = "NRT:inspect";

/// Events that are kept of each core where nothing else is said (profiler.md
/// §1.7), and the fewest that may be asked for (ntff.md §9.5).
pub const EVENTS: u64 = 1_000_000;
const FEWEST: u64 = 1024;

/// Which executions have a device trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceTraces {
    /// None.
    None,
    /// The first one of each model, in a file of its own.
    First,
    /// All, in a file for each core (session mode).
    All,
}

/// What is recorded of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectOptions {
    /// Folder in which that of the run is made.
    pub folder: PathBuf,
    /// Events of the runtime.
    pub system: bool,
    /// Device traces.
    pub device: DeviceTraces,
    /// Load of the processors.
    pub processors: bool,
    /// Memory of the host.
    pub memory: bool,
    /// Events that are kept of each core; the oldest go first.
    pub most: u64,
    /// Cores whose events are kept; all for `None`.
    pub cores: Option<BTreeSet<u32>>,
    /// Types of events that are kept.
    pub kinds: Kinds,
    /// Files are kept only when an execution has failed.
    pub on_failure: bool,
}

impl Default for InspectOptions {
    fn default() -> Self {
        Self {
            folder: PathBuf::from("./output"),
            system: true,
            device: DeviceTraces::First,
            processors: true,
            memory: true,
            most: EVENTS,
            cores: None,
            kinds: Kinds::default(),
            on_failure: false,
        }
    }
}

/// A list of cores: `0`, `0,2,4`, `0-3`.
fn cores(text: &str) -> Option<BTreeSet<u32>> {
    let mut all = BTreeSet::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last < first || last - first > 4096 {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

impl InspectOptions {
    /// What `NEURON_RT_INSPECT_*` say; `None` where they ask for nothing.
    ///
    /// # Errors
    ///
    /// A variable that says nothing sensible.
    pub fn from_env() -> Result<Option<Self>, Failure> {
        Self::of(&|name| {
            let text = std::env::var(format!("NEURON_RT_INSPECT_{name}")).ok()?;
            let text = text.trim();
            (!text.is_empty()).then(|| text.to_owned())
        })
    }

    fn of(read: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, Failure> {
        let wrong = |name: &str, text: &str, accepted: &str| {
            let text = format!("NEURON_RT_INSPECT_{name}={text}: must be {accepted}");
            Failure::new(Code::Invalid, PLACE, text)
        };
        let flag = |name: &str, usual: bool| match read(name).as_deref() {
            None => Ok(usual),
            Some("0") => Ok(false),
            Some("1") => Ok(true),
            Some(text) => Err(wrong(name, text, "0 or 1")),
        };
        let on_failure = flag("ON_FAIL", false)?;
        let always = flag("ENABLE", false)?;
        if !always && !on_failure {
            return Ok(None);
        }
        let device = match read("DEVICE_PROFILE").as_deref() {
            None | Some("1" | "model") => DeviceTraces::First,
            Some("session") => DeviceTraces::All,
            Some("0") => DeviceTraces::None,
            Some(text) => return Err(wrong("DEVICE_PROFILE", text, "0, 1, model or session")),
        };
        let usual = Self::default();
        let most = match number::<u64>("NEURON_RT_INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC")? {
            None => usual.most,
            Some(most) => most.max(FEWEST),
        };
        let list = read("EVENT_FILTER_NC");
        let accepted = "a list of cores, as 0,2 or 0-3";
        let cores = list
            .map(|text| cores(&text).ok_or_else(|| wrong("EVENT_FILTER_NC", &text, accepted)))
            .transpose()?;
        let kinds = Kinds::listed(&read("EVENT_FILTER_TYPE").unwrap_or_default())?;
        Ok(Some(Self {
            folder: read("OUTPUT_DIR").map_or(usual.folder, PathBuf::from),
            system: flag("SYSTEM_PROFILE", true)?,
            device,
            processors: flag("CPU_UTIL", true)?,
            memory: flag("HOST_MEMORY", true)?,
            most,
            cores,
            kinds,
            on_failure: on_failure && !always,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &[(&str, &str)]) -> Result<Option<InspectOptions>, Failure> {
        let find = |name: &str| list.iter().find(|(own, _)| *own == name);
        InspectOptions::of(&|name| find(name).map(|(_, text)| (*text).to_owned()))
    }

    #[test]
    fn nothing_is_recorded_unless_asked_for() {
        assert_eq!(of(&[]).unwrap(), None);
        assert_eq!(of(&[("ENABLE", "0"), ("OUTPUT_DIR", "x")]).unwrap(), None);
        assert_eq!(of(&[("ENABLE", "1")]).unwrap(), Some(InspectOptions::default()));
        let failing = of(&[("ON_FAIL", "1")]).unwrap().unwrap();
        assert!(failing.on_failure);
        assert!(!of(&[("ON_FAIL", "1"), ("ENABLE", "1")]).unwrap().unwrap().on_failure);
    }

    #[test]
    fn variables_are_read() {
        let all = [
            ("ENABLE", "1"),
            ("OUTPUT_DIR", "d"),
            ("DEVICE_PROFILE", "0"),
            ("CPU_UTIL", "0"),
            ("EVENT_FILTER_NC", "0,2-3"),
            ("EVENT_FILTER_TYPE", "hardware"),
        ];
        let options = of(&all).unwrap().unwrap();
        assert_eq!(options.folder, PathBuf::from("d"));
        assert_eq!(options.device, DeviceTraces::None);
        assert_eq!((options.processors, options.memory), (false, true));
        for (text, device) in [("model", DeviceTraces::First), ("session", DeviceTraces::All)] {
            let options = of(&[("ENABLE", "1"), ("DEVICE_PROFILE", text)]).unwrap().unwrap();
            assert_eq!(options.device, device);
        }
        assert_eq!(options.cores, Some(BTreeSet::from([0, 2, 3])));
        assert_eq!(options.kinds, Kinds::listed("hardware").unwrap());
        for (name, bad) in [
            ("ENABLE", "yes"),
            ("DEVICE_PROFILE", "2"),
            ("EVENT_FILTER_NC", "3-1"),
            ("EVENT_FILTER_NC", "a"),
            ("EVENT_FILTER_TYPE", "nothing"),
        ] {
            let told =
                of(&[("ENABLE", "1"), (name, bad)]).err().or_else(|| of(&[(name, bad)]).err());
            assert!(told.unwrap().to_string().contains(bad), "{name}");
        }
    }
}
