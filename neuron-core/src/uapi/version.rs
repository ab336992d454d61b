//! Driver releases: their order, the runtime interface each supports, and what
//! a reader may expect of each (driver.md §3.6, §5.7, §6, §9).

use std::fmt;
use std::str::FromStr;

use crate::instance::Arch;

/// A driver version, `2.24.7.0`. Ordered by its numbers from the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriverVersion {
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
    /// Third number.
    pub patch: u32,
    /// Fourth number; 0 where the version has three.
    pub build: u32,
}

impl DriverVersion {
    /// From its numbers.
    pub const fn new(major: u32, minor: u32, patch: u32, build: u32) -> Self {
        Self { major, minor, patch, build }
    }

    /// Whether this is `major.minor` or later.
    pub const fn at_least(self, major: u32, minor: u32) -> bool {
        self.major > major || (self.major == major && self.minor >= minor)
    }
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}.{}", self.major, self.minor, self.patch, self.build)
    }
}

/// Reads `2.24.7.0`, `2.24.7` and `2.24`. What follows the numbers after a `-`
/// or `+`, or white space around it, is ignored.
impl FromStr for DriverVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("not a driver version: {text:?}");
        let numbers = text.trim().split(['-', '+']).next().unwrap_or_default();
        let mut parts = [0; 4];
        let mut count = 0;
        for word in numbers.split('.') {
            let plain = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
            let slot = parts.get_mut(count).filter(|_| plain).ok_or_else(wrong)?;
            *slot = word.parse().map_err(|_| wrong())?;
            count += 1;
        }
        if count < 2 {
            return Err(wrong());
        }
        let [major, minor, patch, build] = parts;
        Ok(Self { major, minor, patch, build })
    }
}

/// A range of runtime interface versions, both ends included: the answer of
/// request 93.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceRange {
    /// Lowest supported.
    pub min: u32,
    /// Highest supported.
    pub max: u32,
}

/// First release of a row, then the range of V1, V2, V3 and V4.
type InterfaceRow = (DriverVersion, [Option<InterfaceRange>; 4]);

const fn range(min: u32, max: u32) -> Option<InterfaceRange> {
    Some(InterfaceRange { min, max })
}

/// Each row holds from its release up to the next row.
#[rustfmt::skip]
const INTERFACES: &[InterfaceRow] = &[
    (DriverVersion::new(2, 0, 0, 0),  [range(2, 2), range(2, 2), None, None]),
    (DriverVersion::new(2, 3, 3, 0),  [range(2, 3), range(2, 3), None, None]),
    (DriverVersion::new(2, 3, 26, 0), [range(2, 4), range(2, 4), None, None]),
    (DriverVersion::new(2, 5, 0, 0),  [range(2, 6), range(5, 6), None, None]),
    (DriverVersion::new(2, 9, 0, 0),  [range(2, 7), range(5, 7), None, None]),
    (DriverVersion::new(2, 16, 0, 0), [range(2, 7), range(5, 7), range(5, 7), None]),
    (DriverVersion::new(2, 19, 0, 0), [range(2, 7), range(5, 7), range(5, 9), None]),
    (DriverVersion::new(2, 20, 0, 0), [range(2, 7), range(5, 7), range(10, 10), None]),
    (DriverVersion::new(2, 21, 0, 0), [range(2, 7), range(5, 7), range(10, 11), None]),
    (DriverVersion::new(2, 25, 0, 0), [None, range(5, 7), range(10, 11), range(10, 11)]),
];

/// The runtime interfaces that a driver supports on a generation; `None` when
/// it does not know the generation or is older than 2.0. Releases later than
/// the last one known (2.30) are taken to be like it (our choice).
pub fn interfaces(driver: DriverVersion, arch: Arch) -> Option<InterfaceRange> {
    let (_, ranges) = INTERFACES.iter().rev().find(|(first, _)| *first <= driver)?;
    match arch {
        Arch::V1 => ranges[0],
        Arch::V2 => ranges[1],
        Arch::V3 => ranges[2],
        Arch::V4 => ranges[3],
    }
}

/// When the counters of a running process reach sysfs (driver.md §5.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterTiming {
    /// Only when the process ends or releases its datastore.
    AtEnd,
    /// At once: a leaf is the sum over all datastores.
    Live,
}

/// When sysfs counters move. Known for 2.25 and before, and for 2.30; the
/// releases between are taken to be like 2.25 (our choice).
pub const fn counter_timing(driver: DriverVersion) -> CounterTiming {
    if driver.at_least(2, 30) { CounterTiming::Live } else { CounterTiming::AtEnd }
}

/// An optional part of the sysfs tree: where it is and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SysfsPart {
    /// Path below `neuronN/`, or below `neuronN/neuron_coreM/` when `core`.
    pub path: &'static str,
    /// Whether it belongs to a core.
    pub core: bool,
    /// First generation that has it; all later ones have it too.
    pub first_arch: Arch,
    /// First release that has it.
    pub since: DriverVersion,
}

impl SysfsPart {
    /// Whether a device should have it. Absence where it is expected is worth
    /// a message; absence elsewhere is not.
    pub fn expected(&self, driver: DriverVersion, arch: Arch) -> bool {
        driver >= self.since && arch >= self.first_arch
    }
}

const fn part(path: &'static str, core: bool, first_arch: Arch, minor: u32) -> SysfsPart {
    SysfsPart { path, core, first_arch, since: DriverVersion::new(2, minor, 0, 0) }
}

/// The parts that not every release or generation has (driver.md §6.2 to
/// §6.5).
#[rustfmt::skip]
pub const SYSFS_PARTS: &[SysfsPart] = &[
    part("core_count",                                            false, Arch::V1, 5),
    part("reset",                                                 false, Arch::V1, 5),
    part("connected_devices",                                     false, Arch::V1, 13),
    part("info/architecture/arch_type",                           false, Arch::V1, 7),
    part("info/architecture/instance_type",                       false, Arch::V1, 8),
    part("info/architecture/device_name",                         false, Arch::V1, 8),
    part("info/notify_delay",                                     false, Arch::V1, 9),
    part("info/serial_number",                                    false, Arch::V2, 15),
    part("stats/memory_usage/host_mem/application_memory",        false, Arch::V1, 10),
    part("stats/memory_usage/host_mem/constants",                 false, Arch::V1, 10),
    part("stats/memory_usage/host_mem/dma_buffers",               false, Arch::V1, 10),
    part("stats/memory_usage/host_mem/tensors",                   false, Arch::V1, 10),
    part("stats/memory_usage/host_mem/driver_memory",             false, Arch::V1, 17),
    part("stats/memory_usage/host_mem/notifications",             false, Arch::V1, 17),
    part("stats/memory_usage/host_mem/uncategorized",             false, Arch::V1, 17),
    part("stats/memory_usage/host_mem/dma_rings",                 false, Arch::V1, 18),
    part("stats/hardware/sram_ecc_uncorrected",                   false, Arch::V2, 14),
    part("stats/hardware/mem_ecc_uncorrected",                    false, Arch::V2, 14),
    part("stats/hardware/mem_ecc_repairable_uncorrected",         false, Arch::V2, 23),
    part("stats/hardware/sram_ecc_corrected",                     false, Arch::V2, 30),
    part("stats/hardware/mem_ecc_corrected",                      false, Arch::V2, 30),
    part("stats/hardware/health_status/hw_error_event",           false, Arch::V3, 28),
    part("stats/hardware/health_status/unhealthy_components",     false, Arch::V3, 30),
    part("stats/hardware/health_status/healthcheck_heartbeat",    false, Arch::V3, 30),
    part("stats/power/utilization",                               false, Arch::V1, 21),
    part("stats/power/utilization_raw",                           false, Arch::V3, 29),
    part("info/architecture/arch_type",                           true,  Arch::V1, 7),
    part("stats/memory_usage/host_mem",                           true,  Arch::V1, 8),
    part("stats/memory_usage/device_mem",                         true,  Arch::V1, 8),
    part("stats/memory_usage/device_mem/dma_rings",               true,  Arch::V1, 18),
    part("stats/other_info/model_load_count",                     true,  Arch::V1, 7),
    part("stats/other_info/inference_count",                      true,  Arch::V1, 7),
    part("stats/other_info/reset_req_count",                      true,  Arch::V1, 8),
    part("stats/other_info/reset_fail_count",                     true,  Arch::V1, 8),
    part("stats/other_info/flop_count",                           true,  Arch::V1, 12),
    part("stats/other_info/nc_time_in_use",                       true,  Arch::V1, 21),
    part("stats/status/oob_error",                                true,  Arch::V1, 16),
    part("stats/status/hw_collectives_error",                     true,  Arch::V1, 19),
    part("stats/status/hw_hbm_ue_error",                          true,  Arch::V1, 19),
    part("stats/status/hw_nc_ue_error",                           true,  Arch::V1, 19),
    part("stats/status/hw_dma_abort_error",                       true,  Arch::V1, 19),
    part("stats/status/execute_sw_nq_overflow",                   true,  Arch::V1, 20),
    part("stats/status/execute_sw_semaphore_error",               true,  Arch::V1, 20),
    part("stats/status/execute_sw_event_error",                   true,  Arch::V1, 20),
    part("stats/status/execute_sw_psum_collision",                true,  Arch::V1, 20),
    part("stats/status/execute_sw_sequencer_fatal",               true,  Arch::V1, 20),
    part("stats/status/hw_repairable_hbm_ue_error",               true,  Arch::V1, 23),
    part("stats/tensor_engine/pe_cntrs",                          true,  Arch::V2, 23),
];

/// Whether a device should have a part of the tree; `None` for a path that is
/// not in [`SYSFS_PARTS`].
pub fn sysfs_expected(path: &str, core: bool, driver: DriverVersion, arch: Arch) -> Option<bool> {
    let part = SYSFS_PARTS.iter().find(|p| p.path == path && p.core == core)?;
    Some(part.expected(driver, arch))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::uapi::recording;

    fn version(text: &str) -> DriverVersion {
        text.parse().unwrap()
    }

    #[test]
    fn versions_are_ordered_by_number() {
        let ordered = ["1.5.0", "2.0.386", "2.0.450", "2.3.3", "2.3.26", "2.24.7.0", "2.24.10.0"];
        for pair in ordered.windows(2) {
            assert!(version(pair[0]) < version(pair[1]), "{pair:?}");
        }
        assert_eq!(version("2.24.7.0\n").to_string(), "2.24.7.0");
        assert_eq!(version("2.24"), DriverVersion::new(2, 24, 0, 0));
        for bad in ["", "2", "2.", ".2", "2.24.7.0.1", "2.x", "+2.3", "2.-3", "2.99999999999"] {
            assert!(bad.parse::<DriverVersion>().is_err(), "{bad:?} was accepted");
        }
        assert!(version("2.30.2").at_least(2, 30) && !version("2.9.4").at_least(2, 30));
    }

    /// driver.md §3.6, and what the three recorded machines answered.
    #[test]
    fn interface_ranges() {
        let at = |text: &str, arch| interfaces(version(text), arch).map(|r| (r.min, r.max));
        assert_eq!(at("1.5.0", Arch::V1), None);
        assert_eq!(at("2.2.13", Arch::V2), Some((2, 2)));
        assert_eq!(at("2.3.4", Arch::V2), Some((2, 3)));
        assert_eq!(at("2.3.26", Arch::V1), Some((2, 4)));
        assert_eq!(at("2.8.0", Arch::V2), Some((5, 6)));
        assert_eq!(at("2.18.20", Arch::V3), Some((5, 7)));
        assert_eq!(at("2.20.0", Arch::V3), Some((10, 10)));
        assert_eq!(at("2.25.4.0", Arch::V1), None);
        assert_eq!(at("2.30.2", Arch::V4), Some((10, 11)));
        for (name, entries) in recording::all() {
            let arch = match name.split('-').nth(1).unwrap() {
                "inf1" => Arch::V1,
                "trn1" => Arch::V2,
                _ => Arch::V3,
            };
            let (min, max) = at(name.split('-').next().unwrap(), arch).unwrap();
            let answers: Vec<_> =
                entries.iter().filter(|e| e.name == "COMPATIBLE_VERSION").collect();
            assert_eq!(answers.len(), 2);
            for entry in answers {
                assert_eq!(entry.number_of("min"), u64::from(min));
                assert_eq!(entry.number_of("max"), u64::from(max));
            }
        }
    }

    /// Each part is in the recorded trees of 2.24.7.0 exactly where it is
    /// expected.
    #[test]
    fn parts_of_the_recorded_trees() {
        let arches = [Arch::V1, Arch::V2, Arch::V3];
        for (name, arch) in ["inf1-4", "trn1-16", "trn2-16"].into_iter().zip(arches) {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../tests/fixtures/real-driver")
                .join(format!("2.24.7.0-{name}"))
                .join("sysfs-idle.txt");
            let text = std::fs::read_to_string(path).unwrap();
            let paths: BTreeSet<&str> =
                text.lines().filter_map(|line| line.split('|').nth(2)).collect();
            for part in SYSFS_PARTS {
                let directory = if part.core { "./neuron_core1" } else { "." };
                let present = paths.contains(format!("{directory}/{}", part.path).as_str());
                let expected = part.expected(version("2.24.7.0"), arch);
                assert_eq!(present, expected, "{} of {name}", part.path);
            }
        }
    }

    #[test]
    fn parts_of_the_tree() {
        let at = |path, text: &str, arch| sysfs_expected(path, false, version(text), arch);
        assert_eq!(at("info/serial_number", "2.24.7.0", Arch::V1), Some(false));
        assert_eq!(at("info/serial_number", "2.24.7.0", Arch::V2), Some(true));
        assert_eq!(at("stats/power/utilization_raw", "2.24.7.0", Arch::V3), Some(false));
        assert_eq!(at("stats/power/utilization_raw", "2.29.0", Arch::V3), Some(true));
        assert_eq!(at("nothing", "2.29.0", Arch::V3), None);
        assert_eq!(counter_timing(version("2.25.4.0")), CounterTiming::AtEnd);
        assert_eq!(counter_timing(version("2.30.2")), CounterTiming::Live);
    }

    proptest! {
        #[test]
        fn parse_never_panics(text in "\\PC*|[0-9.+ -]{0,40}") {
            if let Ok(version) = text.parse::<DriverVersion>() {
                prop_assert_eq!(version.to_string().parse::<DriverVersion>(), Ok(version));
            }
        }
    }
}
