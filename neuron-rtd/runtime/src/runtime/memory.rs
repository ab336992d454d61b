//! Device memory that belongs to no model: tensors of a C program.

use super::Runtime;
use crate::failure::{Code, Failure};
use crate::host::category;

/// Device memory, given back when it is dropped.
#[derive(Debug)]
pub struct DeviceMemory {
    runtime: Runtime,
    core: crate::cores::Core,
    handle: u64,
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        self.runtime.host().free(self.core, self.handle);
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
        let Some(core) = self.cores().core(core) else {
            let text = format!("no core {core}; there are {}", self.cores().count());
            return Err(Failure::new(Code::Invalid, PLACE, text));
        };
        let taken = self.host().allocate(core, bytes, category::TENSORS);
        let handle = taken.map_err(|reason| {
            let text = format!("Failed to alloc DEVICE memory: {bytes}");
            Failure::new(Code::Resource, PLACE, reason).then(PLACE, text)
        })?;
        Ok(DeviceMemory { runtime: self.clone(), core, handle })
    }

    /// Device memory that models hold at a core, by its index.
    pub fn core_memory(&self, core: u32) -> u64 {
        let tables = self.tables();
        let parts = tables.models.values().flat_map(|model| &model.memory);
        parts.filter(|(_, first, _)| *first == core).flat_map(|(_, _, parts)| parts).sum()
    }
}
