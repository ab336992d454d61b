//! The end of a process: its counters move into the totals, its memory is freed.
//!
//! Pure functions of the state, so that a reader who may not write the state
//! file sees the same numbers as one who may. The rules are those of driver
//! 2.24.7.0 as the counter oracle recorded them.

use std::collections::BTreeMap;

use super::state::{Allocation, Device, Meter, ProcessId, State};
use crate::instance::Chip;
use crate::uapi::enums::{self, MemLocation};
use crate::uapi::nds;

/// Counters of each physical core, by datastore id.
pub(super) type CoreCounters = BTreeMap<u32, BTreeMap<u32, u64>>;

/// Adds the counters of a released datastore to a device's totals. A counter
/// that is zero leaves `total` and `present` as they were.
pub(super) fn aggregate(device: &mut Device, chip: Chip, counters: &CoreCounters) {
    for (&core, values) in counters.iter().filter(|(core, _)| **core < chip.core_count()) {
        for (&id, &value) in values.iter().filter(|(_, value)| **value != 0) {
            let sum = device.core_mut(core).counters.entry(id).or_default();
            sum.total = sum.total.wrapping_add(value);
            sum.present = value;
        }
    }
}

/// Charges an allocation to its category and core.
pub(super) fn charge(device: &mut Device, chip: Chip, allocation: Allocation) {
    each_meter(device, chip, allocation, |meter| meter.add(allocation.size));
}

/// Gives an allocation back.
pub(super) fn discharge(device: &mut Device, chip: Chip, allocation: Allocation) {
    each_meter(device, chip, allocation, |meter| meter.sub(allocation.size));
}

/// The meters that one allocation moves (driver.md §6.4, oracle sections B
/// and B2): the core's sum always; its category only where category and
/// location agree; a core that the chip does not have is counted nowhere
/// visible. Host categories belong to the device, device categories to the
/// core.
fn each_meter(
    device: &mut Device,
    chip: Chip,
    allocation: Allocation,
    mut change: impl FnMut(&mut Meter),
) {
    let leaf = leaf(allocation);
    if allocation.host
        && let Some(leaf) = leaf
    {
        change(device.host_meter_mut(leaf, chip));
    }
    if allocation.core >= chip.core_count() {
        return;
    }
    let core = device.core_mut(allocation.core);
    if allocation.host {
        change(&mut core.host_memory);
    } else {
        change(&mut core.device_memory);
        if let Some(leaf) = leaf {
            change(core.device_memory_by.entry(leaf.to_owned()).or_default());
        }
    }
}

/// The category leaf that an allocation is booked under: `None` when the
/// category belongs to the other location.
fn leaf(allocation: Allocation) -> Option<&'static str> {
    let location = if allocation.host { MemLocation::Host } else { MemLocation::Device };
    match enums::mem_category(allocation.category) {
        None => Some("uncategorized"),
        Some(category) => (category.location == location).then_some(category.leaf),
    }
}

/// Takes a process off a device: counters aggregated, memory freed in reverse
/// order of allocation.
pub(super) fn end(device: &mut Device, chip: Chip, id: ProcessId, counters: &CoreCounters) {
    let Some(at) = device.processes.iter().position(|p| p.id == id) else { return };
    let process = device.processes.remove(at);
    aggregate(device, chip, counters);
    for allocation in process.allocations.into_iter().rev() {
        discharge(device, chip, allocation);
    }
}

/// Ends every process that is dead. `counters` gives the datastore of a
/// process on a device; where that fails the process stays for the next time,
/// so that nothing it counted is lost. Returns who was ended where.
pub(super) fn reap(
    state: &mut State,
    is_dead: impl Fn(ProcessId) -> bool,
    mut counters: impl FnMut(u32, ProcessId) -> std::io::Result<CoreCounters>,
) -> Vec<(u32, ProcessId)> {
    let Some(chip) = state.kind().map(|kind| kind.chip) else { return Vec::new() };
    let mut verdicts: BTreeMap<ProcessId, bool> = BTreeMap::new();
    let mut dead = |id: ProcessId| *verdicts.entry(id).or_insert_with(|| is_dead(id));
    let mut ended = Vec::new();
    for (index, device) in (0..).zip(&mut state.devices) {
        let gone: Vec<ProcessId> =
            device.processes.iter().map(|p| p.id).filter(|id| dead(*id)).collect();
        for id in gone {
            let has_datastore = device.process(id).is_some_and(|p| p.datastore);
            let values = if has_datastore { counters(index, id) } else { Ok(BTreeMap::new()) };
            if let Ok(values) = values {
                end(device, chip, id, &values);
                ended.push((index, id));
            }
        }
    }
    state.marks.retain(|_, owner| !dead(*owner));
    ended
}

/// Counters of every core in the bytes of a datastore; none when the bytes
/// are not a datastore (a released entry is all zero).
pub(super) fn core_counters(bytes: &[u8], cores: u32) -> CoreCounters {
    match nds::parse(bytes, cores) {
        Ok(nds::Entry::InUse(store)) => {
            store.cores.into_iter().map(|core| (core.index, core.counters)).collect()
        }
        Ok(nds::Entry::Released) | Err(_) => CoreCounters::default(),
    }
}
