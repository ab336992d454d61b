//! Handles: numbers that look like pointers to the caller and are never
//! followed here.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use neuron_core::uapi::nrt::Status;

use crate::call::Fault;

/// Low bits of a handle: what it is a handle of. The rest counts up.
const KIND_BITS: u32 = 8;

/// Live things of one kind.
#[derive(Debug)]
pub(crate) struct Table<T> {
    what: &'static str,
    kind: usize,
    last: AtomicUsize,
    live: LazyLock<RwLock<HashMap<usize, Arc<T>>>>,
}

impl<T> Table<T> {
    /// A table; `kind` is 1 to 15 and differs from that of other tables.
    pub(crate) const fn new(what: &'static str, kind: usize) -> Self {
        let live = LazyLock::new(RwLock::default as fn() -> _);
        Self { what, kind: kind << 4, last: AtomicUsize::new(0), live }
    }

    /// Keeps a thing; gives its handle, which is never 0 and never given again.
    pub(crate) fn insert<H>(&self, thing: Arc<T>) -> *mut H {
        let count = self.last.fetch_add(1, Relaxed).wrapping_add(1);
        let number = count.wrapping_shl(KIND_BITS) | self.kind;
        self.live.write().unwrap_or_else(PoisonError::into_inner).insert(number, thing);
        std::ptr::without_provenance_mut(number)
    }

    /// The thing of a handle.
    pub(crate) fn get<H>(&self, handle: *const H) -> Result<Arc<T>, Fault> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        let found = live.get(&handle.addr()).cloned();
        found.ok_or_else(|| self.unknown(handle))
    }

    /// Takes the thing of a handle away.
    pub(crate) fn remove<H>(&self, handle: *const H) -> Result<Arc<T>, Fault> {
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        live.remove(&handle.addr()).ok_or_else(|| self.unknown(handle))
    }

    /// Everything.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.values().cloned().collect()
    }

    /// Takes everything away.
    pub(crate) fn clear(&self) -> Vec<Arc<T>> {
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        live.drain().map(|(_, thing)| thing).collect()
    }

    fn unknown<H>(&self, handle: *const H) -> Fault {
        if handle.is_null() {
            return Fault::invalid(format!("the {} is a null pointer", self.what));
        }
        let text = format!("{handle:p} is no {} that exists", self.what);
        Fault::new(Status::INVALID_HANDLE, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_found_until_they_are_removed() {
        let table: Table<u8> = Table::new("thing", 3);
        let a: *mut u64 = table.insert(Arc::new(1));
        let b: *mut u64 = table.insert(Arc::new(2));
        assert_eq!((*table.get(a).unwrap(), *table.get(b).unwrap()), (1, 2));
        assert_eq!(*table.remove(a).unwrap(), 1);
        assert_eq!(table.get(a).unwrap_err().status, Status::INVALID_HANDLE);
        assert_eq!(table.remove(a).unwrap_err().status, Status::INVALID_HANDLE);
        let other: Table<u8> = Table::new("other", 4);
        assert_eq!(other.get(b).unwrap_err().status, Status::INVALID_HANDLE);
        let null = std::ptr::null::<u64>();
        assert_eq!(table.get(null).unwrap_err().status, Status::INVALID);
        let c: *mut u64 = table.insert(Arc::new(3));
        assert_ne!(a, c);
        assert_eq!(table.clear().len(), 2);
        assert!(table.get(c).is_err());
    }
}
