//! Readings of a source as models. The only file that knows samples.
//!
//! One reading serves all groups that are due. Each group is held against the
//! reading at which it was due before, so that groups of different periods do
//! not disturb each other.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use neuron_core::model::{
    self, Application, CoreUse, CpuUse, DeviceHardware, Executions, HostMemory, MachineFacts,
    ProcessorShare,
};
use neuron_core::record::RecordFile;
use neuron_core::sample::{Sample, Wanted};
use neuron_core::source::{self, Source, Spec};
use neuron_core::{Error, Result};

use crate::config::{OfApplication, OfSystem};
use crate::plan::Item;

/// An open source and what was read of it last.
#[derive(Debug)]
pub(crate) struct Reading {
    source: Box<dyn Source>,
    before: BTreeMap<Item, Rc<Sample>>,
    began: Instant,
}

/// What one reading gave.
#[derive(Debug)]
pub(crate) struct Collected {
    /// When, seconds since the Unix epoch.
    pub(crate) timestamp: f64,
    /// The devices.
    pub(crate) facts: MachineFacts,
    /// Why there are none.
    pub(crate) no_devices: Option<String>,
    /// Who uses them.
    pub(crate) applications: Vec<Application>,
    /// The groups, by item, each with its span in seconds.
    pub(crate) groups: BTreeMap<Item, (f64, Values)>,
    /// How long the reading took.
    pub(crate) took: Duration,
}

/// The figures of a group.
#[derive(Debug)]
pub(crate) enum Values {
    /// `neuroncore_counters`.
    Cores(BTreeMap<u32, Vec<CoreUse>>),
    /// `execution_stats`.
    Executions(BTreeMap<u32, Executions>),
    /// `neuron_runtime_vcpu_usage`.
    Processors(BTreeMap<u32, Result<ProcessorShare, String>>),
    /// `memory_used`: it is among the applications.
    Memory,
    /// `vcpu_usage`.
    Cpus(Result<CpuUse, String>),
    /// `memory_info`.
    Ram(Result<HostMemory, String>),
    /// `neuron_hw_counters`.
    Hardware(Vec<DeviceHardware>),
    /// `self_stats`: read elsewhere.
    Own,
}

impl Reading {
    /// Opens the source that `--source` names.
    ///
    /// # Errors
    ///
    /// When the text names no source, or it cannot be opened.
    pub(crate) fn open(spec: &str) -> Result<Self> {
        let spec: Spec = spec.parse()?;
        Ok(Self::of(source::open(&spec)?))
    }

    /// Of a source that is open.
    pub(crate) fn of(source: Box<dyn Source>) -> Self {
        Self { source, before: BTreeMap::new(), began: Instant::now() }
    }

    /// Forgets what was read: after a change of the configuration.
    pub(crate) fn forget(&mut self) {
        self.before.clear();
    }

    /// Reads everything and appends it to a recording. Returns what could not
    /// be read.
    ///
    /// # Errors
    ///
    /// When there is nothing to read, or the file cannot be written.
    pub(crate) fn record(&mut self, file: &mut RecordFile) -> Result<Vec<String>> {
        let sample = self.source.sample(Wanted::EVERYTHING)?;
        file.write(&sample)?;
        Ok(sample.problems.into_iter().map(|problem| problem.text).collect())
    }

    /// Reads what the items need and works the figures out. Rates of an item
    /// that was never due before are left out.
    pub(crate) fn collect(&mut self, due: &[Item]) -> Collected {
        let begin = Instant::now();
        let wanted = due.iter().fold(Wanted::default(), |sum, item| sum.or(wanted(*item)));
        let (sample, no_devices) = match self.source.sample(wanted) {
            Ok(sample) => (sample, None),
            Err(Error::NoDevices(reason)) => (self.source.bare(wanted), Some(reason)),
            Err(error) => (self.source.bare(wanted), Some(error.to_string())),
        };
        let sample = Rc::new(sample);
        let mut groups = BTreeMap::new();
        for item in due {
            let earlier = self.before.get(item).map(|earlier| &**earlier);
            let span = earlier.and_then(|earlier| model::seconds_between(earlier, &sample));
            let since_start = || self.began.elapsed().as_secs_f64();
            if let Some(values) = values(*item, earlier, &sample) {
                groups.insert(*item, (span.unwrap_or_else(since_start), values));
            }
            self.before.insert(*item, Rc::clone(&sample));
        }
        let asks = due.iter().any(|item| matches!(item, Item::Application(..)));
        Collected {
            timestamp: Duration::from_nanos(sample.taken.unix_nanos()).as_secs_f64(),
            facts: MachineFacts::of(&sample),
            no_devices,
            applications: if asks { model::applications(&sample) } else { Vec::new() },
            groups,
            took: begin.elapsed(),
        }
    }
}

fn wanted(item: Item) -> Wanted {
    let none = Wanted::default();
    match item {
        Item::Application(_, OfApplication::RuntimeVcpuUsage) => {
            Wanted { processes: true, datastores: true, usage: true, cpus: true, ..none }
        }
        Item::Application(..) => Wanted { processes: true, datastores: true, ..none },
        Item::System(OfSystem::VcpuUsage) => Wanted { cpus: true, ..none },
        Item::System(OfSystem::MemoryInfo) => Wanted { ram: true, ..none },
        Item::System(OfSystem::HwCounters) => Wanted { firmware: true, ..none },
        Item::System(OfSystem::SelfStats) => none,
    }
}

/// The figures of a group; `None` for rates without an earlier sample.
fn values(item: Item, earlier: Option<&Sample>, now: &Sample) -> Option<Values> {
    let timed = || earlier.filter(|earlier| model::seconds_between(earlier, now).is_some());
    Some(match item {
        Item::Application(_, OfApplication::NeuroncoreCounters) => {
            Values::Cores(model::core_use(timed()?, now))
        }
        Item::Application(_, OfApplication::ExecutionStats) => {
            Values::Executions(model::executions(timed()?, now))
        }
        Item::Application(_, OfApplication::RuntimeVcpuUsage) => {
            Values::Processors(model::processor_shares(timed()?, now))
        }
        Item::Application(_, OfApplication::MemoryUsed) => Values::Memory,
        Item::System(OfSystem::VcpuUsage) => Values::Cpus(model::cpu_use(timed()?, now)?),
        Item::System(OfSystem::MemoryInfo) => Values::Ram(model::host_memory(now)?),
        Item::System(OfSystem::HwCounters) => Values::Hardware(model::hardware(earlier, now)),
        Item::System(OfSystem::SelfStats) => Values::Own,
    })
}
