//! The processes with a Neuron runtime: who they are, and the memory they hold.

use std::collections::BTreeMap;

use super::layout::{Layout, LogicalCore};
use super::printable;
use super::span::{Parts, by_pid};
use crate::sample::{LoadedModel, Process, Sample};
use crate::uapi::nds::{core_counter, device_counter};
use crate::units::PackedVersion;

/// Longest tag that is told, characters (sys-tools.md §4.3).
pub const LONGEST_TAG: usize = 255;

/// A process with a Neuron runtime.
#[derive(Debug, Clone, PartialEq)]
pub struct Application {
    /// Process id, host namespace.
    pub pid: u32,
    /// `NEURON_PROCESS_TAG`, else the pid as text.
    pub tag: String,
    /// Command line; empty when `/proc` does not show the process.
    pub command: String,
    /// Version of the runtime, where it was written.
    pub runtime_version: Option<String>,
    /// Memory.
    pub memory: MemoryUse,
}

/// Memory that a process holds, bytes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MemoryUse {
    /// Of the host.
    pub host: HostUse,
    /// Of devices, by logical core; only cores that the process holds.
    pub cores: BTreeMap<u32, CoreMemory>,
    /// Loaded models, where the runtime tells.
    pub models: Vec<ModelUse>,
}

/// Host memory of a process by category, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostUse {
    /// Of the runtime itself, and what belongs to no other category.
    pub application_memory: u64,
    /// Constants.
    pub constants: u64,
    /// Code and DMA buffers.
    pub dma_buffers: u64,
    /// Tensors.
    pub tensors: u64,
}

/// Device memory of a process on one core by category, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CoreMemory {
    /// Constants.
    pub constants: u64,
    /// Code.
    pub model_code: u64,
    /// Scratchpads.
    pub model_shared_scratchpad: u64,
    /// Of the runtime itself.
    pub runtime_memory: u64,
    /// Tensors.
    pub tensors: u64,
}

/// A loaded model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelUse {
    /// The runtime's id.
    pub id: u32,
    /// Name.
    pub name: String,
    /// UUID, 32 hexadecimal digits.
    pub uuid: String,
    /// Whether it is started.
    pub running: bool,
    /// Its subgraphs, by number.
    pub subgraphs: BTreeMap<u32, Subgraph>,
}

/// A part of a model on one core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subgraph {
    /// Index of the device.
    pub device: u32,
    /// Logical core within the device.
    pub core: u32,
    /// Host memory.
    pub host: HostUse,
    /// Device memory. Scratchpads are shared by models and are not in it.
    pub memory: CoreMemory,
}

impl HostUse {
    /// Sum of the categories.
    pub const fn total(self) -> u64 {
        self.application_memory
            .saturating_add(self.constants)
            .saturating_add(self.dma_buffers)
            .saturating_add(self.tensors)
    }
}

impl CoreMemory {
    /// Sum of the categories.
    pub const fn total(self) -> u64 {
        self.constants
            .saturating_add(self.model_code)
            .saturating_add(self.model_shared_scratchpad)
            .saturating_add(self.runtime_memory)
            .saturating_add(self.tensors)
    }
}

impl MemoryUse {
    /// Device memory in all.
    pub fn device(&self) -> u64 {
        self.cores.values().fold(0, |sum, core| sum.saturating_add(core.total()))
    }
}

/// The processes with a runtime, ascending by pid. Texts come out
/// [`printable()`].
pub fn applications(sample: &Sample) -> Vec<Application> {
    let layout = Layout::of(sample);
    by_pid(sample).into_iter().map(|(pid, parts)| application(pid, &parts, &layout)).collect()
}

fn application(pid: u32, parts: &Parts<'_>, layout: &Layout) -> Application {
    let stores = || parts.iter().filter_map(|(_, process)| process.datastore.as_ref());
    let tag = stores()
        .find_map(|store| store.tag.as_deref())
        .or_else(|| parts.iter().find_map(|(_, process)| process.tag.as_deref()));
    let version = stores()
        .find_map(|store| store.device.get(&device_counter::RUNTIME_VERSION).copied())
        .and_then(PackedVersion::from_packed);
    let command = parts.iter().find_map(|(_, process)| process.command.as_deref());
    Application {
        pid,
        tag: tag.map_or_else(
            || pid.to_string(),
            |tag| printable(tag).chars().take(LONGEST_TAG).collect(),
        ),
        command: printable(command.unwrap_or_default()),
        runtime_version: version.map(|version| version.to_string()),
        memory: memory(parts, layout),
    }
}

fn memory(parts: &Parts<'_>, layout: &Layout) -> MemoryUse {
    let mut memory = MemoryUse { host: host(parts), ..MemoryUse::default() };
    for (device, process) in parts {
        for core in layout.cores.iter().filter(|core| core.device == *device) {
            if let Some(of_core) = core_memory(process, core) {
                memory.cores.insert(core.index, of_core);
            }
        }
    }
    memory.models = models(parts, layout.lnc);
    memory
}

/// Host memory. The counters of a process's datastores on several devices
/// repeat each other (driver.md §5.2), so the largest counts.
fn host(parts: &Parts<'_>) -> HostUse {
    let largest = |counter| {
        let stores = parts.iter().filter_map(|(_, process)| process.datastore.as_ref());
        stores.filter_map(|store| store.device.get(&counter).copied()).max().unwrap_or(0)
    };
    HostUse {
        application_memory: largest(device_counter::HOST_MEM_MISC)
            .saturating_add(largest(device_counter::HOST_MEM_SCRATCHPAD)),
        constants: largest(device_counter::HOST_MEM_CONSTANTS),
        dma_buffers: largest(device_counter::HOST_MEM_CODE),
        tensors: largest(device_counter::HOST_MEM_TENSORS),
    }
}

/// Memory on a logical core; `None` when the process has counted nothing
/// there.
fn core_memory(process: &Process, core: &LogicalCore) -> Option<CoreMemory> {
    let cores = process.datastore.iter().flat_map(|store| &store.cores);
    let here: Vec<_> =
        cores.filter(|c| core.physical.contains(&c.index) && !c.counters.is_empty()).collect();
    let sum = |counter| {
        let values = here.iter().filter_map(|core| core.counters.get(&counter));
        values.fold(0_u64, |sum, value| sum.saturating_add(*value))
    };
    (!here.is_empty()).then(|| CoreMemory {
        constants: sum(core_counter::DEVICE_MEM_CONSTANTS),
        model_code: sum(core_counter::DEVICE_MEM_CODE),
        model_shared_scratchpad: sum(core_counter::DEVICE_MEM_SCRATCHPAD),
        runtime_memory: sum(core_counter::DEVICE_MEM_MISC),
        tensors: sum(core_counter::DEVICE_MEM_TENSORS),
    })
}

fn models(parts: &Parts<'_>, lnc: u32) -> Vec<ModelUse> {
    let mut models: BTreeMap<u32, ModelUse> = BTreeMap::new();
    for (device, process) in parts {
        let loaded = process.datastore.iter().filter_map(|store| store.models.as_ref());
        for part in loaded.flatten() {
            let model = models.entry(part.id).or_insert_with(|| ModelUse {
                id: part.id,
                name: printable(&part.name),
                uuid: printable(&part.uuid),
                running: false,
                subgraphs: BTreeMap::new(),
            });
            model.running |= part.running;
            model.subgraphs.insert(part.node, subgraph(part, *device, lnc));
        }
    }
    models.into_values().collect()
}

fn subgraph(part: &LoadedModel, device: u32, lnc: u32) -> Subgraph {
    Subgraph {
        device,
        core: part.core / lnc.max(1),
        host: HostUse {
            application_memory: part.host.misc.saturating_add(part.host.scratchpad),
            constants: part.host.constants,
            dma_buffers: part.host.code,
            tensors: part.host.tensors,
        },
        memory: CoreMemory {
            constants: part.device.constants,
            model_code: part.device.code,
            model_shared_scratchpad: 0,
            runtime_memory: part.device.misc,
            tensors: part.device.tensors,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{machine, process_mut, with};
    use super::*;
    use crate::instance::Chip;
    use crate::sample::ModelMemory;

    /// The check vector of sys-tools.md §4.8, an inf2.xlarge under load.
    #[test]
    fn sums_of_the_published_capture() {
        let core0 = [(22, 102_616_000), (23, 65_536), (24, 6_402_048), (25, 0), (26, 110_656)];
        let sample = with(machine(Chip::Inferentia2, 1, 1), 0, 0, &core0);
        let mut sample = with(sample, 0, 1, &[(22, 1_743_360), (26, 13_376)]);
        let store = process_mut(&mut sample, 0).datastore.as_mut().unwrap();
        store.device = [(8, 0), (6, 4_194_304), (10, 1_055_162_368)].into();
        let memory = applications(&sample)[0].memory.clone();
        assert_eq!(memory.host.total(), 1_059_356_672);
        assert_eq!(memory.cores[&0].total(), 109_194_240);
        assert_eq!(memory.cores[&1].total(), 1_756_736);
        assert_eq!(memory.device(), 110_950_976);
        assert_eq!(memory.host.dma_buffers, 4_194_304);
    }

    #[test]
    fn host_memory_that_every_device_repeats_counts_once() {
        let sample = with(machine(Chip::Trainium1, 2, 1), 0, 0, &[(1, 1)]);
        let mut sample = with(sample, 1, 0, &[(1, 1)]);
        for device in [0, 1] {
            process_mut(&mut sample, device).datastore.as_mut().unwrap().device =
                [(7, 4096)].into();
        }
        assert_eq!(applications(&sample)[0].memory.host.tensors, 4096);
    }

    #[test]
    fn tag_from_the_runtime_then_the_environment_then_the_pid() {
        let mut sample = with(machine(Chip::Trainium1, 1, 1), 0, 0, &[(1, 1)]);
        assert_eq!(applications(&sample)[0].tag, "7");
        process_mut(&mut sample, 0).tag = Some("é".repeat(300));
        assert_eq!(applications(&sample)[0].tag, "é".repeat(255));
        process_mut(&mut sample, 0).datastore.as_mut().unwrap().tag =
            Some(String::from("a\u{1b}b"));
        assert_eq!(applications(&sample)[0].tag, "a\\u{1b}b");
    }

    #[test]
    fn subgraphs_of_one_model_stand_together() {
        let part = |node, core| LoadedModel {
            id: 10_001,
            node,
            core,
            running: node == 1,
            device: ModelMemory { code: 5, scratchpad: 9, ..ModelMemory::default() },
            ..LoadedModel::default()
        };
        let mut sample = with(machine(Chip::Trainium2, 1, 1), 0, 0, &[(1, 1)]);
        process_mut(&mut sample, 0).datastore.as_mut().unwrap().models =
            Some(vec![part(0, 0), part(1, 6)]);
        let models = applications(&sample)[0].memory.models.clone();
        assert_eq!((models.len(), models[0].running), (1, true));
        assert_eq!(models[0].subgraphs[&1].core, 3);
        assert_eq!(models[0].subgraphs[&0].memory.total(), 5);
    }
}
