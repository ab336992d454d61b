//! The machine under a runtime: device memory, and where counters are shown.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use neuron_core::sample::DeviceState;
use neuron_core::sim::{Attachment, DatastoreWriter, Sim};
use neuron_core::uapi::nds::{core_counter, device_counter};
use neuron_core::uapi::nds_ext::{self, Block, CoreLatency, Latency};
use neuron_core::units::PackedVersion;

use crate::cores::{Core, Cores};
use crate::failure::{Code, Failure};
use crate::stats::CoreSnapshot;

/// Numbers of memory categories (driver.md §3.5).
pub(crate) mod category {
    /// Of device memory: code, constants, scratchpad, tensors.
    pub(crate) const DEVICE: [u32; 4] = [8, 10, 11, TENSORS];
    /// Tensors alone.
    pub(crate) const TENSORS: u32 = 9;

    /// The runtime's word for a use of device memory (ntff.md §3.8). Code is
    /// told by engine there; here it is one, and has the word for all else.
    pub(crate) const fn usage(category: u32) -> &'static str {
        match category {
            TENSORS => "tensor",
            10 => "weight",
            11 => "scratchpad",
            _ => "generic",
        }
    }
}

/// Version of the runtime that tools are shown.
fn version() -> PackedVersion {
    PackedVersion::from_parts(
        env!("CARGO_PKG_VERSION_MAJOR").parse().unwrap_or(0),
        env!("CARGO_PKG_VERSION_MINOR").parse().unwrap_or(0),
        env!("CARGO_PKG_VERSION_PATCH").parse().unwrap_or(0),
    )
}

/// What is shown of one device.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Published {
    /// Counters of its cores, by physical core.
    pub cores: Vec<(u32, CoreSnapshot)>,
    /// Models on it.
    pub models: Vec<nds_ext::Model>,
}

/// A machine.
pub trait Host: Send + Sync + fmt::Debug {
    /// Takes device memory.
    ///
    /// # Errors
    ///
    /// Why there is none, one line.
    fn allocate(&self, core: Core, bytes: u64, category: u32) -> Result<u64, String>;

    /// Gives device memory back.
    fn free(&self, core: Core, handle: u64);

    /// Shows the counters of a device, by its position.
    ///
    /// # Errors
    ///
    /// What could not be written, one line.
    fn publish(&self, position: usize, what: &Published) -> Result<(), String>;

    /// Devices that cannot be used any more, by position, and why.
    fn lost(&self) -> Vec<(u32, String)>;
}

/// No machine: memory without bound, nothing is shown.
impl Host for () {
    fn allocate(&self, _core: Core, _bytes: u64, _category: u32) -> Result<u64, String> {
        Ok(1)
    }

    fn free(&self, _core: Core, _handle: u64) {}

    fn publish(&self, _position: usize, _what: &Published) -> Result<(), String> {
        Ok(())
    }

    fn lost(&self) -> Vec<(u32, String)> {
        Vec::new()
    }
}

/// Devices of a simulated instance, attached and with all cores taken.
#[derive(Debug)]
pub struct SimHost {
    sim: Sim,
    lnc: u32,
    devices: Vec<Attached>,
    /// Cores of the host that are taken.
    taken: Vec<u32>,
}

#[derive(Debug)]
struct Attached {
    /// Before the attachment, because a datastore ends with it.
    shown: Mutex<Shown>,
    attachment: Attachment,
}

#[derive(Debug)]
struct Shown {
    store: DatastoreWriter,
    counters: BTreeMap<(u32, u32), u64>,
    block: Option<Block>,
}

impl SimHost {
    /// Attaches to the devices of `cores` and takes all their cores.
    ///
    /// # Errors
    ///
    /// A device that is gone, in reset or owned by somebody else; what was
    /// taken is given back.
    pub fn attach(sim: Sim, cores: &Cores, tag: &str) -> Result<Self, Failure> {
        const PLACE: &str = "TDRV:tdrv_init_mla_phase1";
        let per_device = cores.kind().chip.core_count();
        let (mut devices, mut taken) = (Vec::new(), Vec::new());
        for device in cores.devices() {
            let fail = |error: neuron_core::Error| {
                Failure::new(Code::HwError, PLACE, error)
                    .then(PLACE, format!("Could not open the device index:{device}"))
            };
            let attachment = sim.attach(*device).map_err(fail)?;
            let own = cores.physical(*device);
            let (first, last) = (device * per_device + own.start, device * per_device + own.end);
            sim.mark_cores(last - first, first, last.saturating_sub(1)).map_err(|error| {
                let owner = owner(&sim, first);
                Failure::new(Code::HwError, PLACE, error)
                    .then(PLACE, format!("device inuse by {owner}"))
                    .then(PLACE, format!("Could not open the device index:{device}"))
            })?;
            taken.extend(first..last);
            let store = attachment.datastore().map_err(fail)?;
            store.set_device(device_counter::RUNTIME_VERSION, version().packed()).map_err(fail)?;
            let block = Block { tag: tag.to_owned(), ..Block::default() };
            let shown = Shown { store, counters: BTreeMap::new(), block: Some(block) };
            let device = Attached { shown: Mutex::new(shown), attachment };
            device.write_block().map_err(|reason| Failure::new(Code::Fail, PLACE, reason))?;
            devices.push(device);
        }
        Ok(Self { sim, lnc: cores.lnc(), devices, taken })
    }

    fn device(&self, position: u32) -> Option<&Attached> {
        self.devices.get(usize::try_from(position).ok()?)
    }
}

/// Who holds a core of an instance.
fn owner(sim: &Sim, core: u32) -> String {
    let owner = sim.snapshot().ok().and_then(|state| state.marks.get(&core).copied());
    owner.map_or_else(|| "another process".to_owned(), |id| format!("pid:{}", id.pid))
}

impl Attached {
    fn write_block(&self) -> Result<(), String> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(block) = &shown.block else { return Ok(()) };
        let bytes = block.encode().map_err(|error| error.to_string())?;
        shown.store.write_extension(nds_ext::START, &bytes).map_err(|error| error.to_string())
    }
}

impl Host for SimHost {
    fn allocate(&self, core: Core, bytes: u64, category: u32) -> Result<u64, String> {
        let device = self.device(core.position).ok_or("there is no such device")?;
        let physical = core.within * self.lnc;
        let result = device.attachment.allocate(bytes, false, physical, category);
        result.map_err(|error| error.to_string())
    }

    fn free(&self, core: Core, handle: u64) {
        if let Some(device) = self.device(core.position) {
            // an instance that was removed meanwhile has no memory to free
            let _ = device.attachment.free(handle);
        }
    }

    fn publish(&self, position: usize, what: &Published) -> Result<(), String> {
        let Some(device) = self.devices.get(position) else { return Ok(()) };
        let told = |error: neuron_core::Error| error.to_string();
        let mut shown = device.shown.lock().unwrap_or_else(PoisonError::into_inner);
        for (core, snapshot) in &what.cores {
            for (id, value) in (0..core_counter::FIRST_RESERVED).zip(&snapshot.counters) {
                let before = shown.counters.get(&(*core, id)).copied().unwrap_or(0);
                if before != *value {
                    shown.store.set_core(*core, id, *value).map_err(told)?;
                    shown.counters.insert((*core, id), *value);
                }
            }
        }
        let before = shown.block.clone().unwrap_or_default();
        let mut cores: Vec<CoreLatency> = Vec::new();
        for (core, snapshot) in &what.cores {
            let at = usize::try_from(*core).unwrap_or(usize::MAX);
            if cores.len() <= at {
                cores.resize(at.saturating_add(1), CoreLatency::default());
            }
            if let Some(slot) = cores.get_mut(at) {
                *slot =
                    CoreLatency { total: snapshot.total.clone(), device: snapshot.device.clone() };
            }
        }
        let models: Vec<nds_ext::Model> =
            what.models.iter().take(nds_ext::MAX_MODELS).cloned().collect();
        let after = Block { tag: before.tag.clone(), models, cores };
        if after.models == before.models && after.cores.len() == before.cores.len() {
            for (index, (old, new)) in (0..).zip(before.cores.iter().zip(&after.cores)) {
                let pairs = [
                    (Latency::Total, &old.total, &new.total),
                    (Latency::Device, &old.device, &new.device),
                ];
                for (latency, old, new) in pairs {
                    let buckets = (0..).zip(old.buckets.iter().zip(&new.buckets));
                    for (bucket, (_, count)) in buckets.filter(|(_, (old, new))| old != new) {
                        if let Some(at) = nds_ext::bucket_offset(index, latency, bucket) {
                            shown.store.write_extension(at, &count.to_le_bytes()).map_err(told)?;
                        }
                    }
                    if let Some(at) =
                        nds_ext::sum_offset(index, latency).filter(|_| old.sum != new.sum)
                    {
                        shown.store.write_extension(at, &new.sum.to_le_bytes()).map_err(told)?;
                    }
                }
            }
            shown.block = Some(after);
            return Ok(());
        }
        shown.block = Some(after);
        drop(shown);
        device.write_block()
    }

    fn lost(&self) -> Vec<(u32, String)> {
        let Ok(state) = self.sim.snapshot() else {
            return Vec::new();
        };
        let mut lost = Vec::new();
        for (position, device) in (0..).zip(&self.devices) {
            let index = device.attachment.device();
            let entry = usize::try_from(index).ok().and_then(|at| state.devices.get(at));
            let why = match entry {
                None => Some("is not there"),
                Some(entry) if entry.gone => Some("has vanished"),
                Some(entry) => match entry.state {
                    None | Some(DeviceState::Ready) => None,
                    Some(DeviceState::Reset) => Some("is in reset"),
                    Some(_) => Some("does not respond"),
                },
            };
            lost.extend(why.map(|why| (position, format!("device neuron{index} {why}"))));
        }
        lost
    }
}

impl Drop for SimHost {
    fn drop(&mut self) {
        // marks end with the process too; a runtime may end before that
        let _ = self.sim.unmark_cores(&self.taken);
    }
}
