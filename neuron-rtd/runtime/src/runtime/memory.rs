//! Device memory that belongs to no model: tensors of a C program.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Runtime;
use crate::attributes;
use crate::cores::Core;
use crate::failure::{Code, Failure};
use crate::host::category;
use crate::inspect::Kind;

/// Device memory by its use, so that each change tells how much there is then.
#[derive(Debug, Default)]
pub(crate) struct Held(Mutex<Account>);

#[derive(Debug, Default)]
struct Account {
    /// What is taken, by device and handle; a host without memory of its own
    /// gives one handle more than once.
    pieces: HashMap<(u32, u64), Vec<(u64, &'static str)>>,
    /// Bytes by device and use.
    sums: HashMap<(u32, &'static str), u64>,
}

/// What was given back, and what is left.
#[derive(Debug)]
pub(crate) struct Given {
    bytes: u64,
    usage: &'static str,
    of_use: u64,
    total: u64,
}

impl Account {
    fn sums(&self, device: u32, usage: &'static str) -> (u64, u64) {
        let of_use = self.sums.get(&(device, usage)).copied().unwrap_or(0);
        let own = self.sums.iter().filter(|((of, _), _)| *of == device);
        (of_use, own.map(|(_, bytes)| bytes).sum())
    }
}

impl Held {
    fn account(&self) -> MutexGuard<'_, Account> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what was taken; bytes of the use and of the device then.
    fn taken(
        &self,
        core: Core,
        handle: Option<u64>,
        bytes: u64,
        usage: &'static str,
    ) -> (u64, u64) {
        let mut account = self.account();
        if let Some(handle) = handle {
            account.pieces.entry((core.device, handle)).or_default().push((bytes, usage));
            let sum = account.sums.entry((core.device, usage)).or_default();
            *sum = sum.saturating_add(bytes);
        }
        account.sums(core.device, usage)
    }

    fn given(&self, core: Core, handle: u64) -> Option<Given> {
        let mut account = self.account();
        let pieces = account.pieces.get_mut(&(core.device, handle))?;
        let (bytes, usage) = pieces.pop()?;
        if pieces.is_empty() {
            account.pieces.remove(&(core.device, handle));
        }
        if let Some(sum) = account.sums.get_mut(&(core.device, usage)) {
            *sum = sum.saturating_sub(bytes);
        }
        let (of_use, total) = account.sums(core.device, usage);
        Some(Given { bytes, usage, of_use, total })
    }
}

/// An address that no other piece of any device has: handles are of a device.
fn address(core: Core, handle: u64) -> String {
    format!("{:#x}", u64::from(core.device) << 48 | handle)
}

/// Device memory, given back when it is dropped.
#[derive(Debug)]
pub struct DeviceMemory {
    runtime: Runtime,
    core: crate::cores::Core,
    handle: u64,
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        self.runtime.give_memory(self.core, self.handle);
    }
}

impl Runtime {
    /// Takes memory for a tensor at a core, by its index.
    ///
    /// # Errors
    ///
    /// [`Code::Invalid`] for a core that there is not, [`Code::Resource`] when
    /// the device has too little.
    pub fn allocate_tensor(&self, core: u32, bytes: u64) -> Result<DeviceMemory, Failure> {
        const PLACE: &str = "TDRV:dmem_alloc";
        let index = core;
        let Some(core) = self.cores().core(index) else {
            let text = format!("no core {index}; there are {}", self.cores().count());
            return Err(Failure::new(Code::Invalid, PLACE, text));
        };
        let taken = self.take_memory(core, bytes, category::TENSORS);
        let handle = taken.map_err(|reason| {
            let text = format!("Failed to alloc DEVICE memory: {bytes}");
            Failure::new(Code::Resource, PLACE, reason).then(PLACE, text)
        })?;
        Ok(DeviceMemory { runtime: self.clone(), core, handle })
    }

    /// Takes device memory, and tells it where events are recorded.
    pub(crate) fn take_memory(&self, core: Core, bytes: u64, category: u32) -> Result<u64, String> {
        let recorder = self.recorder();
        let usage = category::usage(category);
        let begun = recorder.as_ref().and_then(|recorder| {
            let attributes = attributes! {
                "mla_idx": core.device, "hbm_idx": 0_u32, "is_nc_hbm": 1_u32, "is_aligned": 1_u32,
                "usage_type": usage.to_owned(),
            };
            recorder.begin(Kind::MEMORY, core.index, attributes)
        });
        let taken = self.host().allocate(core, bytes, category);
        // counted whether or not somebody looks, or what is given back later
        // would be more than what was taken
        let (of_use, total) =
            self.shared().held.taken(core, taken.as_ref().ok().copied(), bytes, usage);
        if let Some(recorder) = recorder {
            let attributes = match &taken {
                Ok(handle) => attributes! {
                    "allocated_bytes": bytes, "physical_address": address(core, *handle),
                    "return_code": 0_u32, "usage_type_total_bytes": of_use, "total_bytes": total,
                },
                Err(_) => attributes! {
                    "return_code": 12_u32, "usage_type_total_bytes": of_use, "total_bytes": total,
                },
            };
            recorder.end(begun, attributes);
        }
        taken
    }

    /// Gives device memory back, and tells it.
    pub(crate) fn give_memory(&self, core: Core, handle: u64) {
        let recorder = self.recorder();
        let held = self.shared().held.given(core, handle);
        let begun = recorder.as_ref().zip(held.as_ref()).and_then(|(recorder, held)| {
            let attributes = attributes! {
                "mla_idx": core.device, "hbm_idx": 0_u32, "is_nc_hbm": 1_u32,
                "usage_type": held.usage.to_owned(), "physical_address": address(core, handle),
            };
            recorder.begin(Kind::RELEASE, core.index, attributes)
        });
        self.host().free(core, handle);
        if let Some((recorder, held)) = recorder.zip(held) {
            let attributes = attributes! {
                "freed_bytes": held.bytes, "usage_type_total_bytes": held.of_use,
                "total_bytes": held.total,
            };
            recorder.end(begun, attributes);
        }
    }

    /// Device memory that models hold at a core, by its index.
    pub fn core_memory(&self, core: u32) -> u64 {
        let tables = self.tables();
        let parts = tables.models.values().flat_map(|model| &model.memory);
        parts.filter(|(_, first, _)| *first == core).flat_map(|(_, _, parts)| parts).sum()
    }
}
