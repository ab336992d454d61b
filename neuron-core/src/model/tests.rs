//! Samples for the tests of the models: machines, and one process of pid 7.

use crate::instance::Chip;
use crate::sample::{Datastore, DatastoreCore, Device, Process, Sample};

/// Devices that are asked and idle, `seconds` after boot.
pub(crate) fn machine(chip: Chip, devices: u32, seconds: u64) -> Sample {
    let device = |index| Device {
        index,
        host_index: index,
        chip: Some(chip),
        arch: Some(chip.arch()),
        core_count: Some(chip.core_count()),
        processes: Some(Vec::new()),
        ..Device::default()
    };
    Sample {
        uptime: Some(seconds * 1_000_000_000),
        devices: (0..devices).map(device).collect(),
        ..Sample::default()
    }
}

/// The same with counters of the process on a physical core.
pub(crate) fn with(
    mut sample: Sample,
    device: usize,
    core: u32,
    counters: &[(u32, u64)],
) -> Sample {
    let list = sample.devices[device].processes.get_or_insert_default();
    if list.is_empty() {
        let datastore = Some(Datastore::default());
        list.push(Process { pid: 7, datastore, ..Process::default() });
    }
    let store = list[0].datastore.as_mut().unwrap();
    store.cores.push(DatastoreCore { index: core, counters: counters.iter().copied().collect() });
    sample
}

/// The process on a device.
pub(crate) fn process_mut(sample: &mut Sample, device: usize) -> &mut Process {
    &mut sample.devices[device].processes.as_mut().unwrap()[0]
}
