//! What the machine is, and the ECC events and power of its devices.

use super::core_use::as_f64;
use super::layout::{Layout, configured_lnc};
use super::span::grown;
use super::{Origin, printable};
use crate::instance::{Arch, Chip};
use crate::sample::{Hardware, Sample};

/// Facts of the devices of a machine, which are all of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineFacts {
    /// What was read.
    pub origin: Origin,
    /// EC2 instance type, where known.
    pub instance_type: Option<String>,
    /// EC2 instance id, where known.
    pub instance_id: Option<String>,
    /// Version of the loaded driver, where known.
    pub driver_version: Option<String>,
    /// Product, where known.
    pub chip: Option<Chip>,
    /// Number of devices.
    pub devices: u32,
    /// Logical NeuronCores of a device.
    pub cores_per_device: u32,
    /// Physical cores per logical one.
    pub lnc: u32,
    /// Memory of a device, bytes.
    pub device_memory: u64,
    /// What could not be read, one text each.
    pub problems: Vec<String>,
}

impl MachineFacts {
    /// The facts in a sample. Texts come out [`printable()`].
    pub fn of(sample: &Sample) -> Self {
        let layout = Layout::of(sample);
        let chip = sample.devices.iter().find_map(|device| device.chip);
        let first = layout.cores.first().map(|core| core.device);
        let on_first = layout.cores.iter().filter(|core| Some(core.device) == first).count();
        let clean = |text: &Option<String>| text.as_deref().map(printable);
        Self {
            origin: sample.origin.clone(),
            instance_type: clean(&sample.host.instance_type),
            instance_id: clean(&sample.host.instance_id),
            driver_version: clean(&sample.host.driver_version),
            chip,
            devices: u32::try_from(sample.devices.len()).unwrap_or(u32::MAX),
            cores_per_device: u32::try_from(on_first).unwrap_or(0),
            lnc: configured_lnc(sample).unwrap_or(1),
            device_memory: chip.map_or(0, |chip| chip.memory().get()),
            problems: super::problems::told(&sample.devices, &sample.problems)
                .into_iter()
                .map(|problem| problem.text)
                .collect(),
        }
    }

    /// `neuron_device_version` of the stream (sys-tools.md §4.13): one number
    /// for each product; that of Trainium3 is inferred.
    pub const fn device_version(&self) -> &'static str {
        match self.chip {
            None => "",
            Some(Chip::Inferentia) => "v1",
            Some(Chip::Trainium1) => "v2",
            Some(Chip::Inferentia2) => "v3",
            Some(Chip::Trainium2) => "v4",
            Some(Chip::Trainium3) => "v5",
        }
    }

    /// `neuroncore_version`: the generation, with a `d` where two physical
    /// cores are one logical core.
    pub const fn core_version(&self) -> &'static str {
        let Some(chip) = self.chip else { return "" };
        match (chip.arch(), self.lnc) {
            (Arch::V1, _) => "v1",
            (Arch::V2, _) => "v2",
            (Arch::V3, 1) => "v3",
            (Arch::V3, _) => "v3d",
            (Arch::V4, 1) => "v4",
            (Arch::V4, _) => "v4d",
        }
    }
}

/// Counts of ECC events; `None` where the driver or the chip has no such leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EccEvents {
    /// Device memory, corrected.
    pub mem_corrected: Option<u64>,
    /// Device memory, uncorrected.
    pub mem_uncorrected: Option<u64>,
    /// Device memory, uncorrected but repairable.
    pub mem_repairable_uncorrected: Option<u64>,
    /// On-chip SRAM, corrected.
    pub sram_corrected: Option<u64>,
    /// On-chip SRAM, uncorrected.
    pub sram_uncorrected: Option<u64>,
}

/// Hardware of one device between two samples.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceHardware {
    /// Index of the device.
    pub index: u32,
    /// Events in the time between the samples; 0 where the earlier sample
    /// does not tell.
    pub events: EccEvents,
    /// Events since the driver was loaded.
    pub totals: EccEvents,
    /// Power over the last full minute, where it is known.
    pub power: Option<Power>,
    /// Components that firmware calls unhealthy, where it tells.
    pub unhealthy: Option<Vec<String>>,
    /// Resets of the device since the driver was loaded: asked for, and
    /// failed; `None` where no core tells.
    pub resets: Option<(u64, u64)>,
}

/// Power over one minute, percent of the most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Power {
    /// End of the minute, seconds since the Unix epoch.
    pub epoch_seconds: f64,
    /// Lowest.
    pub min: f64,
    /// Highest.
    pub max: f64,
    /// Mean.
    pub avg: f64,
}

/// The hardware of every device.
pub fn hardware(earlier: Option<&Sample>, now: &Sample) -> Vec<DeviceHardware> {
    let of = |device: &crate::sample::Device| {
        let before = earlier.and_then(|sample| {
            sample.devices.iter().find(|old| old.index == device.index)?.hardware.as_ref()
        });
        let totals = totals(device.hardware.as_ref());
        DeviceHardware {
            index: device.index,
            events: match before {
                Some(before) => events(self::totals(Some(before)), totals),
                None => events(totals, totals),
            },
            totals,
            power: device.power.filter(|power| power.valid).map(|power| Power {
                epoch_seconds: as_f64(power.epoch_seconds),
                min: power.min,
                max: power.max,
                avg: power.avg,
            }),
            unhealthy: device.hardware.as_ref().and_then(|hardware| {
                let list = hardware.unhealthy_components.as_ref()?;
                Some(list.iter().map(|text| printable(text)).collect())
            }),
            resets: resets(device),
        }
    };
    now.devices.iter().map(of).collect()
}

/// A reset is of the whole device and counted at each of its cores, so the
/// largest counts.
fn resets(device: &crate::sample::Device) -> Option<(u64, u64)> {
    let most = |leaf| {
        let told = device.cores.iter().filter_map(|core| core.counters.get(leaf));
        told.map(|value| value.total).max()
    };
    Some((most("reset_req_count")?, most("reset_fail_count").unwrap_or(0)))
}

fn totals(hardware: Option<&Hardware>) -> EccEvents {
    let Some(hardware) = hardware else { return EccEvents::default() };
    EccEvents {
        mem_corrected: hardware.mem_ecc_corrected,
        mem_uncorrected: hardware.mem_ecc_uncorrected,
        mem_repairable_uncorrected: hardware.mem_ecc_repairable_uncorrected,
        sram_corrected: hardware.sram_ecc_corrected,
        sram_uncorrected: hardware.sram_ecc_uncorrected,
    }
}

fn events(before: EccEvents, now: EccEvents) -> EccEvents {
    // What was not known before is a level, not an event.
    let delta = |before: Option<u64>, now: Option<u64>| {
        now.map(|now| before.map_or(0, |before| grown(before, now)))
    };
    EccEvents {
        mem_corrected: delta(before.mem_corrected, now.mem_corrected),
        mem_uncorrected: delta(before.mem_uncorrected, now.mem_uncorrected),
        mem_repairable_uncorrected: delta(
            before.mem_repairable_uncorrected,
            now.mem_repairable_uncorrected,
        ),
        sram_corrected: delta(before.sram_corrected, now.sram_corrected),
        sram_uncorrected: delta(before.sram_uncorrected, now.sram_uncorrected),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::machine;
    use super::*;

    /// The columns of sys-tools.md §4.13.
    #[test]
    fn facts_of_every_generation() {
        for (chip, lnc, device, core, per_device, memory) in [
            (Chip::Inferentia, None, "v1", "v1", 4, 8_589_934_592),
            (Chip::Trainium1, None, "v2", "v2", 2, 34_359_738_368),
            (Chip::Inferentia2, None, "v3", "v2", 2, 34_359_738_368),
            (Chip::Trainium2, Some(1), "v4", "v3", 8, 103_079_215_104),
            (Chip::Trainium2, None, "v4", "v3d", 4, 103_079_215_104),
        ] {
            let mut sample = machine(chip, 3, 1);
            sample.host.logical_nc_config = lnc;
            let facts = MachineFacts::of(&sample);
            assert_eq!((facts.device_version(), facts.core_version()), (device, core), "{chip:?}");
            assert_eq!((facts.devices, facts.cores_per_device), (3, per_device), "{chip:?}");
            assert_eq!(facts.device_memory, memory, "{chip:?}");
        }
        let none = MachineFacts::of(&Sample::default());
        assert_eq!((none.devices, none.core_version(), none.device_memory), (0, "", 0));
    }

    #[test]
    fn a_reset_that_every_core_counts_is_one() {
        use crate::sample::{Core, CounterValue};
        let mut sample = machine(Chip::Trainium1, 1, 1);
        assert_eq!(hardware(None, &sample)[0].resets, None);
        let counter = |total| CounterValue { total, present: 1 };
        let leaves = [("reset_req_count", 3), ("reset_fail_count", 1)];
        let counters =
            leaves.map(|(leaf, total)| (leaf.to_owned(), counter(total))).into_iter().collect();
        let core = Core { counters, ..Core::default() };
        sample.devices[0].cores = vec![core.clone(), Core { index: 1, ..core }];
        assert_eq!(hardware(None, &sample)[0].resets, Some((3, 1)));
    }

    #[test]
    fn events_since_the_sample_before() {
        let at = |count: Option<u64>| {
            let mut sample = machine(Chip::Trainium1, 1, 1);
            sample.devices[0].hardware =
                Some(Hardware { mem_ecc_uncorrected: count, ..Hardware::default() });
            sample
        };
        let seen = |before: Option<&Sample>, now: &Sample| {
            let device = &hardware(before, now)[0];
            (device.events.mem_uncorrected, device.totals.mem_uncorrected)
        };
        assert_eq!(seen(Some(&at(Some(3))), &at(Some(5))), (Some(2), Some(5)));
        assert_eq!(seen(None, &at(Some(5))), (Some(0), Some(5)));
        assert_eq!(seen(Some(&at(None)), &at(Some(5))), (Some(0), Some(5)));
        assert_eq!(seen(Some(&at(Some(9))), &at(Some(5))), (Some(5), Some(5)));
        assert_eq!(seen(Some(&at(Some(9))), &at(None)), (None, None));
    }
}
