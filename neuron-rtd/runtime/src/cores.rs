//! The NeuronCores of one runtime: its devices in order, and which core is which.

use std::collections::BTreeSet;

use neuron_core::instance::{InstanceType, Links};

use crate::failure::{Code, Failure};

/// Most cores of one runtime (neuron-rtd.md §3.8).
pub(crate) const MOST_CORES: u32 = 64;

/// A logical NeuronCore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Core {
    /// Counted over the devices of the runtime, from 0.
    pub index: u32,
    /// Position of its device among those of the runtime.
    pub position: u32,
    /// Index of its device on the host.
    pub device: u32,
    /// Index in its device.
    pub within: u32,
}

/// The devices of a runtime.
#[derive(Debug, Clone, PartialEq)]
pub struct Cores {
    kind: &'static InstanceType,
    devices: Vec<u32>,
    /// Physical cores of a logical one.
    lnc: u32,
    /// Cores of the first device that come before the first one, and how many
    /// there are, where not all are taken.
    window: Option<(u32, u32)>,
}

const PLACE: &str = "NMGR:kmgr_init_mlas";

impl Cores {
    /// These devices of an instance, in this order; all if there are none.
    ///
    /// # Errors
    ///
    /// A device that the instance does not have, one named twice, devices that
    /// are not connected to each other, more than 64 cores.
    pub fn new(kind: &'static InstanceType, devices: &[u32]) -> Result<Self, Failure> {
        let wrong = |text: String| Failure::new(Code::Invalid, PLACE, text);
        let all: Vec<u32> = (0..kind.device_count).collect();
        let devices = if devices.is_empty() { all.as_slice() } else { devices };
        let mut seen = BTreeSet::new();
        for device in devices {
            if *device >= kind.device_count {
                let text = format!("no device {device}; {} has {}", kind.name, kind.device_count);
                return Err(wrong(text));
            }
            if !seen.insert(*device) {
                return Err(wrong(format!("device {device} is named twice")));
            }
        }
        let cores =
            Self { kind, devices: devices.to_vec(), lnc: kind.chip.default_lnc(), window: None };
        cores.all_connected().map_err(wrong)?;
        if cores.count() > MOST_CORES && devices.len() != all.len() {
            return Err(wrong(format!("{} cores; at most {MOST_CORES} are served", cores.count())));
        }
        Ok(cores)
    }

    /// The same devices with cores of so many physical ones.
    ///
    /// # Errors
    ///
    /// 0; more than 1 where the chip has no such cores (driver.md §7.7).
    pub fn with_lnc(self, lnc: u32) -> Result<Self, Failure> {
        let most = self.kind.chip.default_lnc();
        if !(1..=most).contains(&lnc) {
            let name = self.kind.name;
            let text = format!("{lnc} physical cores in a logical one; {name} takes 1 to {most}");
            return Err(Failure::new(Code::Invalid, PLACE, text));
        }
        Ok(Self { lnc, ..self })
    }

    /// `count` cores of an instance from `first` on, counted over all devices.
    ///
    /// # Errors
    ///
    /// None, or cores that the instance does not have; devices as for [`Self::new`].
    pub fn range(
        kind: &'static InstanceType,
        first: u32,
        count: u32,
        lnc: Option<u32>,
    ) -> Result<Self, Failure> {
        let lnc = lnc.unwrap_or(kind.chip.default_lnc()).max(1);
        let per_device = (kind.chip.core_count() / lnc).max(1);
        let total = kind.device_count * per_device;
        let last = first.checked_add(count).filter(|end| count > 0 && *end <= total);
        let Some(last) = last.map(|end| end - 1) else {
            let text = format!("no cores {first} and {count} on; {} has {total}", kind.name);
            return Err(Failure::new(Code::Invalid, PLACE, text));
        };
        let devices = (first / per_device..=last / per_device).collect();
        let window = Some((first % per_device, count));
        Ok(Self { kind, devices, lnc, window })
    }

    fn all_connected(&self) -> Result<(), String> {
        let mut reached = BTreeSet::new();
        let mut next: Vec<u32> = self.devices.first().copied().into_iter().collect();
        while let Some(device) = next.pop() {
            if reached.insert(device) {
                let others = self.devices.iter().filter(|other| self.linked(device, **other));
                next.extend(others);
            }
        }
        if reached.len() == self.devices.len() {
            return Ok(());
        }
        let list =
            |devices: &[u32]| devices.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let links: Vec<String> = (0..self.kind.device_count)
            .map(|device| format!("{device}: {}", list(&self.kind.connected(device))))
            .collect();
        Err(format!(
            "devices {} are not connected to each other; the links of {} are {}",
            list(&self.devices),
            self.kind.name,
            links.join(", ")
        ))
    }

    fn linked(&self, one: u32, other: u32) -> bool {
        self.kind.links == Links::Switch || self.kind.connected(one).contains(&other)
    }

    /// The instance.
    pub fn kind(&self) -> &'static InstanceType {
        self.kind
    }

    /// Host indices of the devices, in order.
    pub fn devices(&self) -> &[u32] {
        &self.devices
    }

    /// Cores of each device.
    pub fn per_device(&self) -> u32 {
        (self.kind.chip.core_count() / self.lnc.max(1)).max(1)
    }

    /// Physical cores of each core.
    pub fn lnc(&self) -> u32 {
        self.lnc
    }

    /// All cores.
    pub fn count(&self) -> u32 {
        if let Some((_, count)) = self.window {
            return count;
        }
        let devices = u32::try_from(self.devices.len()).unwrap_or(u32::MAX);
        devices.saturating_mul(self.per_device())
    }

    /// A core by its index.
    pub fn core(&self, index: u32) -> Option<Core> {
        let skipped = match self.window {
            Some((_, count)) if index >= count => return None,
            Some((skipped, _)) => skipped,
            None => 0,
        };
        let at = index.checked_add(skipped)?;
        let (position, within) = (at / self.per_device(), at % self.per_device());
        let device = *self.devices.get(usize::try_from(position).ok()?)?;
        Some(Core { index, position, device, within })
    }

    /// Physical cores that a device of this runtime gives, counted in it.
    pub(crate) fn physical(&self, device: u32) -> std::ops::Range<u32> {
        let all = (0..self.count()).filter_map(|index| self.core(index));
        let own = all.filter(|core| core.device == device).map(|core| core.within);
        let (first, last) = own.fold((u32::MAX, 0), |(a, b), n| (a.min(n), b.max(n + 1)));
        first.min(last) * self.lnc..last * self.lnc
    }

    /// Whether a group may hold this core and the one before it: both on one
    /// device, or on two that are connected.
    pub fn joined(&self, index: u32) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.core(before));
        match (before, self.core(index)) {
            (Some(a), Some(b)) => a.device == b.device || self.linked(a.device, b.device),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inf1(devices: &[u32]) -> Result<Cores, Failure> {
        Cores::new(InstanceType::find("inf1.6xlarge").unwrap(), devices)
    }

    #[test]
    fn cores_are_counted_over_the_devices() {
        let cores = inf1(&[2, 1]).unwrap();
        assert_eq!(cores.count(), 8);
        let core = cores.core(5).unwrap();
        assert_eq!((core.position, core.device, core.within), (1, 1, 1));
        assert_eq!(cores.core(8), None);
        assert!(cores.joined(4), "devices 1 and 2 are neighbours");
        assert!(!cores.joined(0));
    }

    #[test]
    fn devices_apart_are_refused_with_the_links() {
        let text = inf1(&[0, 2]).unwrap_err().details();
        assert!(text.contains("devices 0 2 are not connected"), "{text}");
        assert!(text.contains("1: 2 0"), "{text}");
        assert!(inf1(&[0, 0]).unwrap_err().details().contains("twice"));
        assert!(inf1(&[4]).unwrap_err().details().contains("has 4"));
    }

    #[test]
    fn a_range_begins_and_ends_within_devices() {
        let kind = InstanceType::find("inf1.6xlarge").unwrap();
        let cores = Cores::range(kind, 6, 3, None).unwrap();
        assert_eq!((cores.count(), cores.devices()), (3, [1, 2].as_slice()));
        let place = |index| cores.core(index).map(|core| (core.device, core.within));
        assert_eq!(place(0), Some((1, 2)));
        assert_eq!((place(2), place(3)), (Some((2, 0)), None));
        assert!(cores.joined(2));
        for (first, count) in [(0, 0), (16, 1), (15, 2), (u32::MAX, 2)] {
            assert!(Cores::range(kind, first, count, None).is_err(), "{first} {count}");
        }
    }

    /// On a torus, devices with numbers next to each other need not be joined.
    #[test]
    fn runs_end_where_links_do() {
        let cores = Cores::new(InstanceType::find("trn1.32xlarge").unwrap(), &[]).unwrap();
        assert_eq!(cores.per_device(), 2);
        assert!(cores.joined(2), "0 and 1");
        assert!(!cores.joined(8), "3 and 4");
    }
}
