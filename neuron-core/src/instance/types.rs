//! Every instance type as a row of data.
//!
//! Source: driver.md §7.1, §7.5; sys-tools.md §2.9. A field marked
//! "(inferred)" there is marked here as well.

use super::{Chip, Links};
use crate::units::{Bdf, Bytes};

/// An EC2 instance type with Neuron devices.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceType {
    /// EC2 name, `trn1.32xlarge`.
    pub name: &'static str,
    /// The product.
    pub chip: Chip,
    /// Devices of one instance.
    pub device_count: u32,
    /// vCPUs.
    pub vcpus: u32,
    /// Host memory.
    pub memory: Bytes,
    /// How the devices are joined.
    pub links: Links,
    /// Where the devices sit: PCI address and NUMA node, by device index.
    places: &'static [Place],
    /// CPUs of each NUMA node; the single entry of a platform without nodes
    /// is used for all devices.
    nodes: &'static [&'static str],
}

/// PCI bus, slot, function and NUMA node of one device.
type Place = (u8, u8, i32);

/// The PCI function of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PciFunction {
    /// Address; the domain is always 0.
    pub bdf: Bdf,
    /// NUMA node, -1 for none.
    pub numa_node: i32,
    /// CPUs near the device, kernel list format.
    pub cpu_affinity: &'static str,
}

impl InstanceType {
    /// The row of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        TYPES.iter().find(|row| row.name == name)
    }

    /// PCI function of a device; `None` past the last one.
    pub fn pci(&self, device: u32) -> Option<PciFunction> {
        let &(bus, slot, numa_node) = self.places.get(usize::try_from(device).ok()?)?;
        let node = usize::try_from(numa_node).unwrap_or(0);
        Some(PciFunction {
            bdf: Bdf { domain: 0, bus, slot, function: 0 },
            numa_node,
            cpu_affinity: self.nodes.get(node).or(self.nodes.first())?,
        })
    }

    /// Neighbours of a device, in the driver's order.
    pub fn connected(&self, device: u32) -> Vec<u32> {
        self.links.neighbours(device, self.device_count)
    }

    /// Physical NeuronCores of the whole instance.
    pub fn total_cores(&self) -> u32 {
        self.device_count * self.chip.core_count()
    }
}

/// One device at 00:1f.0 without a NUMA node: inf1 and inf2, small sizes.
const SINGLE_1F: &[Place] = &[(0x00, 0x1f, -1)];
const INF1_6XL: &[Place] =
    &[(0x00, 0x1c, -1), (0x00, 0x1d, -1), (0x00, 0x1e, -1), (0x00, 0x1f, -1)];
/// No capture exists: four functions on each of four buses (inferred).
const INF1_24XL: &[Place] = &[
    (0x10, 0x1c, 0),
    (0x10, 0x1d, 0),
    (0x10, 0x1e, 0),
    (0x10, 0x1f, 0),
    (0x20, 0x1c, 0),
    (0x20, 0x1d, 0),
    (0x20, 0x1e, 0),
    (0x20, 0x1f, 0),
    (0x90, 0x1c, 1),
    (0x90, 0x1d, 1),
    (0x90, 0x1e, 1),
    (0x90, 0x1f, 1),
    (0xa0, 0x1c, 1),
    (0xa0, 0x1d, 1),
    (0xa0, 0x1e, 1),
    (0xa0, 0x1f, 1),
];
/// (inferred)
const INF2_24XL: &[Place] = &[
    (0x10, 0x1d, -1),
    (0x10, 0x1e, -1),
    (0x10, 0x1f, -1),
    (0x20, 0x1d, -1),
    (0x20, 0x1e, -1),
    (0x20, 0x1f, -1),
];
const INF2_48XL: &[Place] = &[
    (0x80, 0x1e, 2),
    (0x90, 0x1e, 3),
    (0x80, 0x1d, 2),
    (0x90, 0x1f, 3),
    (0x80, 0x1f, 2),
    (0x90, 0x1d, 3),
    (0x20, 0x1e, 1),
    (0x20, 0x1f, 1),
    (0x10, 0x1e, 0),
    (0x10, 0x1f, 0),
    (0x10, 0x1d, 0),
    (0x20, 0x1d, 1),
];
const TRN1_2XL: &[Place] = &[(0x00, 0x1e, -1)];
/// Host A of driver.md §7.5; addresses differ from host to host.
const TRN1_32XL: &[Place] = &[
    (0x10, 0x1c, 0),
    (0x10, 0x1d, 0),
    (0xa0, 0x1c, 1),
    (0xa0, 0x1d, 1),
    (0x20, 0x1b, 0),
    (0x20, 0x1c, 0),
    (0x90, 0x1b, 1),
    (0x90, 0x1c, 1),
    (0x20, 0x1d, 0),
    (0x20, 0x1e, 0),
    (0x90, 0x1d, 1),
    (0x90, 0x1e, 1),
    (0x10, 0x1e, 0),
    (0x10, 0x1b, 0),
    (0xa0, 0x1e, 1),
    (0xa0, 0x1b, 1),
];
const TRN2_3XL: &[Place] = &[(0x33, 0x00, 0)];
const TRN2_48XL: &[Place] = &[
    (0xcc, 0, 1),
    (0xb5, 0, 1),
    (0xb6, 0, 1),
    (0xcb, 0, 1),
    (0x6f, 0, 0),
    (0x58, 0, 0),
    (0x59, 0, 0),
    (0x6e, 0, 0),
    (0x9b, 0, 0),
    (0x84, 0, 0),
    (0x85, 0, 0),
    (0x9a, 0, 0),
    (0xf8, 0, 1),
    (0xe1, 0, 1),
    (0xe2, 0, 1),
    (0xf7, 0, 1),
];
/// No capture exists: addresses of trn2.48xlarge (our choice).
const TRN3_4: &[Place] = &[(0xcc, 0, 1), (0xb5, 0, 1), (0x6f, 0, 0), (0x58, 0, 0)];

const NODES_TRN1_32XL: &[&str] = &["0-31,64-95", "32-63,96-127"];
const NODES_192: &[&str] = &["0-47,96-143", "48-95,144-191"];
const NODES_INF2_48XL: &[&str] =
    &["0-23,96-119", "24-47,120-143", "48-71,144-167", "72-95,168-191"];

macro_rules! row {
    ($name:literal, $chip:ident, $devices:literal, $vcpus:literal, $gib:literal, $links:ident,
     $places:ident, $nodes:expr) => {
        InstanceType {
            name: $name,
            chip: Chip::$chip,
            device_count: $devices,
            vcpus: $vcpus,
            memory: Bytes::from_gib($gib),
            links: Links::$links,
            places: $places,
            nodes: $nodes,
        }
    };
}

/// Every known instance type.
///
/// trn3 rows: names from the driver's product list; vCPUs and memory per node
/// are the published totals of an UltraServer divided by its servers
/// (inferred), as are the figures of names that stand for variants of a
/// published size.
#[rustfmt::skip]
pub const TYPES: &[InstanceType] = &[
    row!("inf1.xlarge",    Inferentia,   1,   4,    8, None,             SINGLE_1F, &["0-3"]),
    row!("inf1.2xlarge",   Inferentia,   1,   8,   16, None,             SINGLE_1F, &["0-7"]),
    row!("inf1.6xlarge",   Inferentia,   4,  24,   48, ChainEastFirst,   INF1_6XL,  &["0-23"]),
    row!("inf1.24xlarge",  Inferentia,  16,  96,  192, ChainEastFirst,   INF1_24XL, &["0-23,48-71", "24-47,72-95"]),
    row!("inf2.xlarge",    Inferentia2,  1,   4,   16, None,             SINGLE_1F, &["0-3"]),
    row!("inf2.8xlarge",   Inferentia2,  1,  32,  128, None,             SINGLE_1F, &["0-31"]),
    row!("inf2.24xlarge",  Inferentia2,  6,  96,  384, Chain,            INF2_24XL, &["0-95"]),
    row!("inf2.48xlarge",  Inferentia2, 12, 192,  768, Ring,             INF2_48XL, NODES_INF2_48XL),
    row!("trn1.2xlarge",   Trainium1,    1,   8,   32, None,             TRN1_2XL,  &["0-7"]),
    row!("trn1.32xlarge",  Trainium1,   16, 128,  512, TorusByDirection, TRN1_32XL, NODES_TRN1_32XL),
    row!("trn1n.32xlarge", Trainium1,   16, 128,  512, TorusByDirection, TRN1_32XL, NODES_TRN1_32XL),
    row!("trn2.3xlarge",   Trainium2,    1,  12,  128, None,             TRN2_3XL,  &["0-11"]),
    row!("trn2.48xlarge",  Trainium2,   16, 192, 2048, TorusByEngine,    TRN2_48XL, NODES_192),
    row!("trn2n.48xlarge", Trainium2,   16, 192, 2048, TorusByEngine,    TRN2_48XL, NODES_192),
    row!("trn2u.48xlarge", Trainium2,   16, 192, 2048, TorusByEngine,    TRN2_48XL, NODES_192),
    row!("trn2p.48xlarge", Trainium2,   16, 192, 2048, TorusByEngine,    TRN2_48XL, NODES_192),
    row!("trn2eu.48xlarge", Trainium2,  16, 192, 2048, TorusByEngine,    TRN2_48XL, NODES_192),
    row!("trn3.48xlarge",  Trainium3,   16, 192, 2048, TorusByEngine,    TRN2_48XL, NODES_192),
    row!("trn3p.48xlarge", Trainium3,   16, 192, 2048, TorusByEngine,    TRN2_48XL, NODES_192),
    row!("trn3s-es.48xlarge", Trainium3, 16, 192, 2048, TorusByEngine,   TRN2_48XL, NODES_192),
    row!("trn3sn.48xlarge", Trainium3,  16, 192, 2048, TorusByEngine,    TRN2_48XL, NODES_192),
    row!("trn3sn-es.48xlarge", Trainium3, 16, 192, 2048, TorusByEngine,  TRN2_48XL, NODES_192),
    row!("trn3e.24xlarge", Trainium3,    4,  64,  768, Switch,           TRN3_4,    &["0-31", "32-63"]),
    row!("trn3pd98.3xlarge", Trainium3,  1,  12,  128, None,             TRN2_3XL,  &["0-11"]),
    row!("trn3s-es.3xlarge", Trainium3,  1,  12,  128, None,             TRN2_3XL,  &["0-11"]),
    row!("trn3sn.3xlarge",  Trainium3,   1,  12,  128, None,             TRN2_3XL,  &["0-11"]),
    row!("trn3sn-es.3xlarge", Trainium3, 1,  12,  128, None,             TRN2_3XL,  &["0-11"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_whole() {
        for row in TYPES {
            for device in 0..row.device_count {
                let pci = row
                    .pci(device)
                    .unwrap_or_else(|| panic!("{}: no PCI function for device {device}", row.name));
                assert!(!pci.cpu_affinity.is_empty(), "{} device {device}", row.name);
            }
            assert_eq!(row.pci(row.device_count), None, "{}", row.name);
            assert_eq!(InstanceType::find(row.name), Some(row));
        }
    }

    #[test]
    fn addresses_of_one_instance_differ() {
        for row in TYPES {
            let mut all: Vec<_> = (0..row.device_count).map(|d| row.pci(d).unwrap().bdf).collect();
            all.sort();
            all.dedup();
            assert_eq!(all.len(), row.device_count as usize, "{}", row.name);
        }
    }

    /// Totals of driver.md §7.1, in logical cores.
    #[test]
    fn published_core_totals() {
        for (name, cores) in [
            ("inf1.24xlarge", 64),
            ("inf2.48xlarge", 24),
            ("trn1.32xlarge", 32),
            ("trn2.48xlarge", 64),
            ("trn2.3xlarge", 4),
        ] {
            let row = InstanceType::find(name).unwrap();
            assert_eq!(row.total_cores() / row.chip.default_lnc(), cores, "{name}");
        }
    }

    /// What a real trn2.48xlarge showed (driver.md §7.2, §7.5).
    #[test]
    fn captured_trn2_device_13() {
        let row = InstanceType::find("trn2.48xlarge").unwrap();
        let pci = row.pci(13).unwrap();
        assert_eq!(pci.bdf.to_string(), "0000:e1:00.0");
        assert_eq!((pci.numa_node, pci.cpu_affinity), (1, "48-95,144-191"));
        assert_eq!(row.connected(13), [12, 1, 9, 14]);
    }
}
