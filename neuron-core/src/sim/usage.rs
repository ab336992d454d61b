//! Memory of a process as the driver writes it into the process's datastore
//! (driver.md §5.1): by category, host memory per device, device memory per
//! core.
//!
//! The datastore has five categories for each; what belongs to none of them is
//! counted as "misc", so that sums are whole.

use std::collections::BTreeMap;

use super::state::Allocation;
use crate::uapi::enums::mem_category;
use crate::uapi::nds::{self, core_counter as core, device_counter as device};

/// Offsets in the datastore and what stands there, of every counter that one
/// of `changed` moves; of all when nothing is named.
pub(super) fn words(held: &[Allocation], changed: Option<Allocation>) -> BTreeMap<usize, u64> {
    let mut words: BTreeMap<usize, u64> = BTreeMap::new();
    let concerned = held.iter().copied().chain(changed);
    for at in concerned.filter_map(offset) {
        words.insert(at, 0);
    }
    if let Some(only) = changed {
        words.retain(|at, _| Some(*at) == offset(only));
    }
    for allocation in held {
        if let Some(sum) = offset(*allocation).and_then(|at| words.get_mut(&at)) {
            *sum = sum.saturating_add(allocation.size);
        }
    }
    words
}

/// Where an allocation is counted; `None` for a core that has no counters.
fn offset(allocation: Allocation) -> Option<usize> {
    let leaf = mem_category(allocation.category).map_or("", |category| category.leaf);
    if allocation.host {
        return nds::device_offset(match leaf {
            "dma_buffers" => device::HOST_MEM_CODE,
            "tensors" => device::HOST_MEM_TENSORS,
            "constants" => device::HOST_MEM_CONSTANTS,
            _ => device::HOST_MEM_MISC,
        });
    }
    let counter = match leaf {
        "model_code" => core::DEVICE_MEM_CODE,
        "tensors" => core::DEVICE_MEM_TENSORS,
        "constants" => core::DEVICE_MEM_CONSTANTS,
        "model_shared_scratchpad" | "nonshared_scratchpad" => core::DEVICE_MEM_SCRATCHPAD,
        _ => core::DEVICE_MEM_MISC,
    };
    nds::core_offset(allocation.core, counter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocation(size: u64, host: bool, core: u32, category: u32) -> Allocation {
        Allocation { handle: 1, size, host, core, category }
    }

    #[test]
    fn sums_by_category_and_core() {
        let held = [
            allocation(4096, false, 0, 9),
            allocation(8192, false, 0, 9),
            allocation(4096, false, 1, 11),
            allocation(4096, false, 1, 15),
            allocation(4096, true, 0, 2),
            allocation(4096, false, 0, 14),
        ];
        let words = words(&held, None);
        let core = |core, counter| nds::core_offset(core, counter).unwrap();
        assert_eq!(words[&core(0, core::DEVICE_MEM_TENSORS)], 12_288);
        assert_eq!(words[&core(1, core::DEVICE_MEM_SCRATCHPAD)], 8192);
        assert_eq!(words[&core(0, core::DEVICE_MEM_MISC)], 4096);
        assert_eq!(words[&nds::device_offset(device::HOST_MEM_TENSORS).unwrap()], 4096);
        assert_eq!(words.len(), 4);
        assert_eq!(words.values().sum::<u64>(), held.iter().map(|a| a.size).sum::<u64>());
    }

    #[test]
    fn the_last_of_a_category_leaves_zero() {
        let gone = allocation(4096, false, 3, 8);
        let words = words(&[allocation(4096, false, 0, 8)], Some(gone));
        let at = nds::core_offset(3, core::DEVICE_MEM_CODE).unwrap();
        assert_eq!(words.into_iter().collect::<Vec<_>>(), [(at, 0)]);
    }
}
