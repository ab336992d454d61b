//! Facts of one device: generation, cores, links, place.

use super::discover::{Found, Visible};
use super::files::Files;
use super::leaf::{DEVICES, Missing, garbled, keep, shorten, text, value};
use crate::instance::{self, Arch, Chip};
use crate::sample::{Device, DeviceState, Problem};

/// Most cores that are believed; the newest chip has 8.
const MAX_CORES: u32 = 64;

/// What a host's devices are: all the same.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Product {
    pub(crate) arch: Option<Arch>,
    pub(crate) chip: Option<Chip>,
}

impl Product {
    pub(crate) fn of(chip: Chip) -> Self {
        Self { arch: Some(chip.arch()), chip: Some(chip) }
    }
}

/// Reads the product of a device from sysfs. `Ok(None)` when sysfs does not
/// have it.
pub(crate) fn chip(files: &dyn Files, host: u32) -> Result<Option<Chip>, Missing> {
    let path = format!("{DEVICES}/neuron{host}/info/architecture/instance_type");
    match text(files, &path) {
        Ok(name) => Chip::from_family_text(&name).map(Some).ok_or_else(|| {
            let known = Chip::ALL.map(Chip::family_text).join(", ");
            let name = shorten(&name);
            let path = files.display(&path);
            Missing::Wrong(format!(
                "{} says {name:?}, a generation this version does not know (it knows {known})",
                path.display()
            ))
        }),
        Err(Missing::Quiet) => Ok(None),
        Err(wrong) => Err(wrong),
    }
}

/// What sysfs and tables tell of a device.
pub(crate) fn facts(
    files: &dyn Files,
    found: Found,
    Product { arch, chip }: Product,
    visible: &Visible,
    problems: &mut Vec<Problem>,
) -> Device {
    let host = found.host;
    let dir = format!("{DEVICES}/neuron{host}");
    if visible.host_count.is_some() && !found.in_sysfs {
        problems.push(Problem {
            device: Some(host),
            text: format!(
                "{} does not exist: the device has failed or is going away",
                files.display(&dir).display()
            ),
        });
    }
    let core_count = keep(problems, host, core_count(files, &dir)).or_else(|| arch?.core_count());
    let connected = match connected(files, &dir) {
        Ok(list) => Some(list),
        Err(missing) => {
            let () = keep(problems, host, Err(missing)).unwrap_or_default();
            // Up to driver 2.26 only root may read the leaf. What it holds is
            // a table of the driver, but for the chips that ask firmware.
            let count = visible.host_count.filter(|_| found.in_sysfs);
            chip.zip(count).and_then(|(chip, count)| instance::connected(chip, host, count))
        }
    };
    Device {
        index: found.index,
        host_index: host,
        state: keep(problems, host, state(files, &dir)),
        arch,
        chip,
        core_count,
        connected,
        ..Device::default()
    }
}

fn core_count(files: &dyn Files, dir: &str) -> Result<u32, Missing> {
    let path = format!("{dir}/core_count");
    match value(files, &path)? {
        count if (1..=MAX_CORES).contains(&count) => Ok(count),
        count => Err(garbled(files, &path, &format!("holds {count}"))),
    }
}

fn connected(files: &dyn Files, dir: &str) -> Result<Vec<u32>, Missing> {
    let path = format!("{dir}/connected_devices");
    let list = text(files, &path)?;
    let ids: Result<Vec<u32>, _> =
        list.split(',').map(str::trim).filter(|id| !id.is_empty()).map(str::parse).collect();
    ids.map_err(|_| garbled(files, &path, &format!("holds {:?}", shorten(&list))))
}

fn state(files: &dyn Files, dir: &str) -> Result<DeviceState, Missing> {
    let path = format!("{dir}/reset");
    match text(files, &path)?.as_str() {
        "0" => Ok(DeviceState::Reset),
        "1" => Ok(DeviceState::Ready),
        "2" => Ok(DeviceState::Invalid),
        other => Err(garbled(files, &path, &format!("holds {:?}", shorten(other)))),
    }
}

/// NUMA node and near CPUs of the device's PCI function, once its address is
/// known.
pub(crate) fn place(files: &dyn Files, device: &mut Device, problems: &mut Vec<Problem>) {
    let Some(bdf) = device.bdf else { return };
    let dir = format!("sys/bus/pci/devices/{bdf}");
    let host = device.host_index;
    device.numa_node = keep(problems, host, value(files, &format!("{dir}/numa_node")));
    device.cpu_affinity = keep(problems, host, text(files, &format!("{dir}/local_cpulist")))
        .filter(|list| !list.is_empty());
}
