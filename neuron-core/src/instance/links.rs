//! Links between the devices of one instance, and device numbering.
//!
//! The driver fills `connected_devices` from fixed tables once it knows how
//! many devices there are (driver.md §7.2; confirmed by the recorded trees).

use super::Chip;

/// How the devices of an instance are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// No link.
    None,
    /// Inferentia: a line, east neighbour listed first.
    ChainEastFirst,
    /// Inferentia2, six devices: a line, lower neighbour listed first.
    Chain,
    /// Inferentia2, twelve devices: a ring, lower neighbour listed first.
    Ring,
    /// Trainium: 4x4 torus in the order up, left, down, right.
    TorusByDirection,
    /// Trainium2 and 16-device Trainium3: the same torus in the order of the
    /// engine group that the link leaves from.
    TorusByEngine,
    /// Trainium3 behind a switch; the driver lists no neighbours that were
    /// ever published.
    Switch,
}

/// Neighbours on Trainium2 by device, modulo 16 (driver.md §7.2).
const TORUS_BY_ENGINE: [[u32; 4]; 16] = [
    [12, 1, 3, 4],
    [0, 13, 5, 2],
    [14, 3, 1, 6],
    [2, 15, 7, 0],
    [8, 5, 7, 0],
    [4, 9, 1, 6],
    [10, 7, 5, 2],
    [6, 11, 3, 4],
    [4, 9, 11, 12],
    [8, 5, 13, 10],
    [6, 11, 9, 14],
    [10, 7, 15, 8],
    [0, 13, 15, 8],
    [12, 1, 9, 14],
    [2, 15, 13, 10],
    [14, 3, 11, 12],
];

impl Links {
    /// Neighbours of a device, in the driver's order.
    pub fn neighbours(self, device: u32, count: u32) -> Vec<u32> {
        if count <= 1 || device >= count {
            return Vec::new();
        }
        // Device totals that are a multiple of 16 repeat the torus.
        let (group, within) = (device / 16 * 16, device % 16);
        let (row, column) = (within / 4, within % 4);
        let torus = |row: u32, column: u32| group + (row % 4) * 4 + column % 4;
        match self {
            Self::None | Self::Switch => Vec::new(),
            Self::ChainEastFirst => (device + 1 < count)
                .then_some(device + 1)
                .into_iter()
                .chain(device.checked_sub(1))
                .collect(),
            Self::Chain => device
                .checked_sub(1)
                .into_iter()
                .chain((device + 1 < count).then_some(device + 1))
                .collect(),
            Self::Ring => vec![(device + count - 1) % count, (device + 1) % count],
            Self::TorusByDirection => vec![
                torus(row + 3, column),
                torus(row, column + 3),
                torus(row + 1, column),
                torus(row, column + 1),
            ],
            Self::TorusByEngine => TORUS_BY_ENGINE
                .iter()
                .skip(usize::try_from(within).unwrap_or(usize::MAX))
                .take(1)
                .flatten()
                .map(|n| group + n)
                .collect(),
        }
    }
}

/// What the driver lists for a device of a chip when `count` devices are on
/// the host. `None` where it asks firmware (Inferentia) or the table was
/// never published (Trainium3 with fewer than 16 devices).
pub fn connected(chip: Chip, device: u32, count: u32) -> Option<Vec<u32>> {
    let links = match (chip, count) {
        (Chip::Inferentia, 1) => Links::None,
        (Chip::Inferentia, _) => return None,
        (Chip::Inferentia2, 6) => Links::Chain,
        (Chip::Inferentia2, 12) => Links::Ring,
        (Chip::Trainium1, n) if n > 0 && n % 16 == 0 => Links::TorusByDirection,
        (Chip::Trainium2, n) if n > 0 && n % 16 == 0 => Links::TorusByEngine,
        (Chip::Trainium3, _) => return None,
        _ => Links::None,
    };
    Some(links.neighbours(device, count))
}

/// Device index for each routing id of firmware, in routing-id order
/// (driver.md §7.3). `None` for counts that have no published table.
pub fn routing_to_device(chip: Chip, count: u32) -> Option<Vec<u32>> {
    const TRN1: [u32; 16] = [0, 4, 1, 5, 3, 7, 2, 6, 12, 8, 13, 9, 15, 11, 14, 10];
    const TRN2: [u32; 16] = [0, 3, 4, 7, 12, 15, 8, 11, 1, 2, 5, 6, 13, 14, 9, 10];
    match (chip, count) {
        (Chip::Trainium1, 16) => Some(TRN1.to_vec()),
        (Chip::Trainium2, 16) => Some(TRN2.to_vec()),
        (Chip::Trainium3, 16) => None,
        _ => Some((0..count).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of driver.md §7.2 that the rule must reproduce.
    #[test]
    fn torus_by_direction_is_the_published_table() {
        let published = [
            (0, [12, 3, 4, 1]),
            (3, [15, 2, 7, 0]),
            (5, [1, 4, 9, 6]),
            (10, [6, 9, 14, 11]),
            (12, [8, 15, 0, 13]),
            (15, [11, 14, 3, 12]),
        ];
        for (device, list) in published {
            assert_eq!(Links::TorusByDirection.neighbours(device, 16), list, "device {device}");
        }
    }

    #[test]
    fn both_torus_orders_are_the_same_graph() {
        for device in 0..16 {
            let mut a = Links::TorusByDirection.neighbours(device, 16);
            let mut b = Links::TorusByEngine.neighbours(device, 16);
            a.sort_unstable();
            b.sort_unstable();
            assert_eq!(a, b, "device {device}");
        }
    }

    #[test]
    fn every_link_has_two_ends() {
        for (links, count) in [
            (Links::ChainEastFirst, 4),
            (Links::ChainEastFirst, 16),
            (Links::Chain, 6),
            (Links::Ring, 12),
            (Links::TorusByEngine, 16),
            (Links::TorusByEngine, 32),
        ] {
            for device in 0..count {
                for other in links.neighbours(device, count) {
                    assert!(
                        links.neighbours(other, count).contains(&device),
                        "{links:?} of {count}: {device} lists {other} but not the other way"
                    );
                }
            }
        }
    }

    #[test]
    fn published_chains_and_rings() {
        assert_eq!(Links::ChainEastFirst.neighbours(0, 4), [1]);
        assert_eq!(Links::ChainEastFirst.neighbours(1, 4), [2, 0]);
        assert_eq!(Links::ChainEastFirst.neighbours(3, 4), [2]);
        assert_eq!(connected(Chip::Inferentia2, 0, 12), Some(vec![11, 1]));
        assert_eq!(connected(Chip::Inferentia2, 11, 12), Some(vec![10, 0]));
        assert_eq!(connected(Chip::Inferentia2, 5, 6), Some(vec![4]));
        assert_eq!(connected(Chip::Trainium1, 0, 1), Some(vec![]));
        assert_eq!(connected(Chip::Inferentia, 1, 4), None);
    }
}
