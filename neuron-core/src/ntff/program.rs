//! From a program counter to a slot of the captured program and on to a slot
//! of the NEFF (ntff.md §7.1, §7.2).

use super::layout::SLOT;
use super::messages::{InstructionPatchInfo, InstructionPatchType};
use super::notification::PC_MASK;

/// The slot of a program counter in a program of `slots` slots that begins at
/// `start_address`. `None` for a counter outside it: resident code of the
/// runtime.
pub fn slot(pc: u32, start_address: u64, slots: u64) -> Option<u64> {
    let mask = u64::from(PC_MASK);
    let slot = u64::from(pc).wrapping_sub(start_address / SLOT) & mask;
    (slot < slots).then_some(slot)
}

/// Where the slots of a captured program come from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatchMap {
    /// Runs of slots: first on the device, first in the NEFF or `None`.
    runs: Vec<(u64, Option<u64>)>,
}

impl PatchMap {
    /// Walks the list of one engine. `None` when its offsets fall, lie inside
    /// an insertion or are no whole slots: the list cannot be followed.
    pub fn new(patch: &InstructionPatchInfo) -> Option<Self> {
        let mut runs = vec![(0, Some(0))];
        let (mut device, mut neff) = (0_u64, 0_u64);
        for step in &patch.locations {
            let at = step.offset / SLOT;
            let plain = at.checked_sub(device)?;
            if !step.offset.is_multiple_of(SLOT) {
                return None;
            }
            device = at;
            neff = neff.checked_add(plain)?;
            match InstructionPatchType::try_from(step.r#type).ok()? {
                InstructionPatchType::Insert => {
                    runs.push((device, None));
                    device = device.checked_add(step.count)?;
                }
                InstructionPatchType::Delete => neff = neff.checked_add(step.count)?,
                // One to one with changed content; the walk goes on after it.
                InstructionPatchType::Modify => {}
            }
            runs.push((device, Some(neff)));
        }
        Some(Self { runs })
    }

    /// The NEFF slot of a device slot; `None` for an inserted one.
    pub fn neff_slot(&self, device: u64) -> Option<u64> {
        let after = self.runs.partition_point(|(first, _)| *first <= device);
        let (first, neff) = self.runs.get(after.checked_sub(1)?)?;
        neff.as_ref()?.checked_add(device - first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ntff::messages::InstructionPatchLocation;

    /// ntff.md §12: pc 1021B at start address 8005c0408000 is slot 27.
    #[test]
    fn slot_of_the_sheet() {
        assert_eq!(slot(0x1_021b, 0x8005_c040_8000, 30), Some(27));
        assert_eq!(slot(0x1_021b, 0x8005_c040_8000, 27), None);
    }

    /// The typical Trn2 list: insert 45 at 0, delete the second NEFF slot,
    /// insert 9 at the end.
    #[test]
    fn typical_list() {
        let step = |offset, count, kind: InstructionPatchType| InstructionPatchLocation {
            offset,
            count,
            r#type: kind.into(),
        };
        let locations = vec![
            step(0, 45, InstructionPatchType::Insert),
            step(46 * 64, 1, InstructionPatchType::Delete),
            step(100 * 64, 9, InstructionPatchType::Insert),
        ];
        let map = PatchMap::new(&InstructionPatchInfo { engine: 0, locations }).unwrap();
        assert_eq!(map.neff_slot(0), None);
        assert_eq!(map.neff_slot(44), None);
        assert_eq!(map.neff_slot(45), Some(0));
        assert_eq!(map.neff_slot(46), Some(2));
        assert_eq!(map.neff_slot(99), Some(55));
        assert_eq!(map.neff_slot(100), None);
        assert_eq!(map.neff_slot(109), Some(56));
        let falling = vec![
            step(640, 1, InstructionPatchType::Insert),
            step(0, 1, InstructionPatchType::Insert),
        ];
        assert!(PatchMap::new(&InstructionPatchInfo { engine: 0, locations: falling }).is_none());
    }
}
