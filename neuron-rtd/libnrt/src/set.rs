//! Tensor sets: tensors by name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use neuron_core::uapi::nrt::{NAME_MAX, Status};

use crate::call::Fault;
use crate::handle::Table;
use crate::tensor::{TENSORS, Tensor};

pub(crate) static SETS: Table<Set> = Table::new("tensor set", 3);

/// A set. It keeps handles, so that a tensor that was freed is told and not used.
#[derive(Debug, Default)]
pub(crate) struct Set {
    tensors: Mutex<BTreeMap<String, usize>>,
}

impl Set {
    /// Puts a tensor in, in the place of one of the same name.
    pub(crate) fn put<H>(&self, name: String, tensor: *const H) -> Result<(), Fault> {
        if name.is_empty() || name.len() >= NAME_MAX {
            let text = format!("a name has 1 to {} bytes, not {}", NAME_MAX - 1, name.len());
            return Err(Fault::invalid(text));
        }
        TENSORS.get(tensor)?;
        let mut tensors = self.tensors.lock().unwrap_or_else(PoisonError::into_inner);
        tensors.insert(name, tensor.addr());
        Ok(())
    }

    /// The handle of a tensor.
    pub(crate) fn handle<H>(&self, name: &str) -> Result<*mut H, Fault> {
        let tensors = self.tensors.lock().unwrap_or_else(PoisonError::into_inner);
        let found = tensors.get(name).copied();
        let number = found.ok_or_else(|| {
            Fault::new(Status::FAILURE, format!("the set has no tensor {name:?}"))
        })?;
        Ok(std::ptr::without_provenance_mut(number))
    }

    /// The tensor that an execution needs, of the size that it needs.
    pub(crate) fn find(&self, what: &str, name: &str, bytes: u64) -> Result<Arc<Tensor>, Fault> {
        let handle: *mut u8 = self.handle(name).map_err(|_| {
            Fault::invalid(format!("the set of {what}s has no tensor {name:?} of the model"))
        })?;
        let tensor = TENSORS.get(handle).map_err(|fault| {
            Fault::new(fault.status, format!("tensor {name:?} of the set was freed"))
        })?;
        let size = u64::try_from(tensor.view()?.size).unwrap_or(u64::MAX);
        if size != bytes {
            let text = format!("{what} {name:?} has {size} bytes, the model's has {bytes}");
            return Err(Fault::invalid(text));
        }
        Ok(tensor)
    }
}
