//! Physical cores of devices and the logical NeuronCores that they make up.

use std::ops::Range;

use crate::instance::{Arch, Chip};
use crate::sample::{Device, Sample};

/// Most cores of a device that are believed; the newest chip has 8. A sample
/// from a recording may hold any number.
const MAX_CORES: u32 = 128;

/// Physical cores per logical NeuronCore, where the chip lets the user choose
/// (Trainium2 and later); `None` on all others, where it is one.
pub(super) fn configured_lnc(sample: &Sample) -> Option<u32> {
    let chip = sample.devices.iter().filter_map(|d| d.chip).find(|chip| chip.default_lnc() > 1)?;
    Some(sample.host.logical_nc_config.unwrap_or(chip.default_lnc()).max(1))
}

/// A logical NeuronCore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogicalCore {
    /// Id, global over the visible devices.
    pub index: u32,
    /// Index of its device.
    pub device: u32,
    /// Position within the device.
    pub within: u32,
    /// Its physical cores, by index within the device.
    pub physical: Range<u32>,
}

/// The logical cores of a device, or why they are not known.
pub(super) fn cores_of(device: &Device, lnc: u32) -> Result<Vec<LogicalCore>, String> {
    let arch = device.arch.or(device.chip.map(Chip::arch));
    let physical = device.core_count.or_else(|| arch.and_then(Arch::core_count));
    let physical = physical.ok_or("neither the driver nor a table of the generation tells")?;
    if physical > MAX_CORES {
        return Err(format!("{physical} were reported, at most {MAX_CORES} are believed"));
    }
    let lnc = lnc.max(1);
    let count = physical / lnc;
    let cannot = || format!("index {} cannot be", device.index);
    let first = device.index.checked_mul(count).ok_or_else(cannot)?;
    first.checked_add(count).ok_or_else(cannot)?;
    let core = |within| LogicalCore {
        index: first + within,
        device: device.index,
        within,
        physical: within * lnc..(within + 1) * lnc,
    };
    Ok((0..count).map(core).collect())
}

/// The logical cores of a machine, ascending by device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Physical cores per logical one.
    pub lnc: u32,
    /// The cores; those of a device of which nothing is known are left out.
    pub cores: Vec<LogicalCore>,
}

impl Layout {
    /// The cores of a sample's devices.
    pub fn of(sample: &Sample) -> Self {
        let lnc = configured_lnc(sample).unwrap_or(1);
        let known = sample.devices.iter().filter_map(|device| cores_of(device, lnc).ok());
        Self { lnc, cores: known.flatten().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(chip: Chip, devices: u32, lnc: Option<u32>) -> Sample {
        let device = |index| Device { index, chip: Some(chip), ..Device::default() };
        let mut sample =
            Sample { devices: (0..devices).map(device).collect(), ..Sample::default() };
        sample.host.logical_nc_config = lnc;
        sample
    }

    #[test]
    fn logical_cores_follow_the_configuration() {
        let layout = Layout::of(&sample(Chip::Trainium2, 2, None));
        assert_eq!((layout.lnc, layout.cores.len()), (2, 8));
        let last = layout.cores.last().unwrap();
        assert_eq!((last.index, last.device, last.within, last.physical.clone()), (7, 1, 3, 6..8));
        assert_eq!(Layout::of(&sample(Chip::Trainium2, 2, Some(1))).cores.len(), 16);
        // Not to be configured there.
        assert_eq!(Layout::of(&sample(Chip::Trainium1, 1, Some(2))).cores.len(), 2);
    }
}
