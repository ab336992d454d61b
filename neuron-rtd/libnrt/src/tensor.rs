//! Tensors and the memory under them.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use neuron_core::uapi::nrt::{Status, placement};
use rtd_runtime::DeviceMemory;

use crate::call::Fault;
use crate::handle::Table;
use crate::session::Session;

pub(crate) static TENSORS: Table<Tensor> = Table::new("tensor", 2);

/// Of a line of the host's cache, and enough for every type.
const ALIGNMENT: usize = 64;

/// Memory that tensors look at, alone or several (slices) together.
#[derive(Debug)]
pub(crate) struct Storage {
    start: NonNull<u8>,
    size: usize,
    /// `None` for memory of the caller.
    owned: Option<Layout>,
    /// Held by whoever in this library copies to or from it. The caller may
    /// write at any time through `nrt_tensor_get_va`; that is the caller's care,
    /// which is why no slice of it is ever made.
    lock: RwLock<()>,
    /// The share of the device's memory, given back with the storage.
    device: Option<DeviceMemory>,
}

// SAFETY: the memory belongs to no thread; it is copied under `lock`, by raw
// copies alone.
unsafe impl Send for Storage {}
// SAFETY: as above.
unsafe impl Sync for Storage {}

/// The layout of memory for a tensor, never of size 0.
fn layout(size: usize) -> Result<Layout, Fault> {
    let layout = Layout::from_size_align(size, ALIGNMENT).ok().filter(|_| size > 0);
    layout.ok_or_else(|| Fault::invalid(format!("a tensor cannot have {size} bytes")))
}

impl Storage {
    /// Memory of zeros.
    fn new(size: usize, device: Option<DeviceMemory>) -> Result<Self, Fault> {
        let layout = layout(size)?;
        // SAFETY: the layout is not of size 0.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start)
            .ok_or_else(|| Fault::new(Status::RESOURCE, format!("no {size} bytes of memory")))?;
        Ok(Self { start, size, owned: Some(layout), lock: RwLock::new(()), device })
    }

    /// Memory of the caller.
    fn attached(buffer: *mut c_void, size: usize) -> Result<Self, Fault> {
        let start = NonNull::new(buffer.cast::<u8>());
        let start = start.ok_or_else(|| Fault::invalid("the buffer is a null pointer"))?;
        layout(size)?;
        Ok(Self { start, size, owned: None, lock: RwLock::new(()), device: None })
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Some(layout) = self.owned {
            // SAFETY: allocated with this layout, and nobody holds it any more.
            unsafe { dealloc(self.start.as_ptr(), layout) };
        }
    }
}

/// The part of a storage that a tensor is.
#[derive(Debug, Clone)]
pub(crate) struct View {
    storage: Arc<Storage>,
    offset: usize,
    pub(crate) size: usize,
}

impl View {
    /// Its first byte.
    pub(crate) fn address(&self) -> *mut c_void {
        self.storage.start.as_ptr().wrapping_add(self.offset).cast()
    }

    /// Where `size` bytes at `offset` are.
    fn at(&self, offset: u64, size: u64) -> Result<(*mut u8, usize), Fault> {
        let end = offset.checked_add(size).and_then(|end| usize::try_from(end).ok());
        let begin = usize::try_from(offset).ok();
        match (begin, end) {
            (Some(begin), Some(end)) if end <= self.size => {
                Ok((self.address().cast::<u8>().wrapping_add(begin), end - begin))
            }
            _ => {
                let text = format!("{size} bytes at {offset} of a tensor of {} bytes", self.size);
                Err(Fault::invalid(text))
            }
        }
    }

    /// Refuses a part that does not fit.
    pub(crate) fn check(&self, offset: u64, size: u64) -> Result<(), Fault> {
        self.at(offset, size).map(drop)
    }

    /// Copies bytes to the caller.
    ///
    /// # Safety
    ///
    /// `to` is null or may be written to for `size` bytes.
    pub(crate) unsafe fn read(&self, to: *mut c_void, offset: u64, size: u64) -> Result<(), Fault> {
        let (from, length) = self.at(offset, size)?;
        crate::pointer::given(to, "the buffer")?;
        let _lock = self.storage.lock.read().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: `from` is within the storage, which this view keeps; the caller
        // vouches for `to`; `copy` allows the two to overlap.
        unsafe { std::ptr::copy(from, to.cast::<u8>(), length) };
        Ok(())
    }

    /// Copies bytes from the caller.
    ///
    /// # Safety
    ///
    /// `from` is null or may be read for `size` bytes.
    pub(crate) unsafe fn write(
        &self,
        from: *const c_void,
        offset: u64,
        size: u64,
    ) -> Result<(), Fault> {
        let (to, length) = self.at(offset, size)?;
        crate::pointer::given(from, "the buffer")?;
        let _lock = self.storage.lock.write().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: `to` is within the storage, which this view keeps; the caller
        // vouches for `from`; `copy` allows the two to overlap.
        unsafe { std::ptr::copy(from.cast::<u8>(), to, length) };
        Ok(())
    }

    /// Everything, as bytes of our own.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0_u8; self.size];
        let size = u64::try_from(self.size).unwrap_or(u64::MAX);
        // SAFETY: the vector has as many bytes as the view.
        let copied = unsafe { self.read(bytes.as_mut_ptr().cast(), 0, size) };
        debug_assert!(copied.is_ok(), "all of a view is within it");
        bytes
    }

    /// Takes bytes from the start on.
    pub(crate) fn fill(&self, bytes: &[u8]) -> Result<(), Fault> {
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        // SAFETY: a slice may be read for its length.
        unsafe { self.write(bytes.as_ptr().cast(), 0, size) }
    }

    /// Sets bytes.
    pub(crate) fn set(&self, offset: u64, value: u8, size: u64) -> Result<(), Fault> {
        let (to, length) = self.at(offset, size)?;
        let _lock = self.storage.lock.write().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: `to` and `length` are within the storage, which this view keeps.
        unsafe { std::ptr::write_bytes(to, value, length) };
        Ok(())
    }

    /// Copies bytes to another view, which may be of the same memory.
    pub(crate) fn copy(&self, offset: u64, to: &Self, at: u64, size: u64) -> Result<(), Fault> {
        let (from, length) = self.at(offset, size)?;
        let (target, _) = to.at(at, size)?;
        let (a, b) = (&self.storage, &to.storage);
        // in the order of addresses, so that two copies never wait for each other
        let [first, second] = if Arc::as_ptr(a) <= Arc::as_ptr(b) { [a, b] } else { [b, a] };
        let _first = first.lock.write().unwrap_or_else(PoisonError::into_inner);
        let _second = (!Arc::ptr_eq(a, b))
            .then(|| second.lock.write().unwrap_or_else(PoisonError::into_inner));
        // SAFETY: both are within storages that the views keep; `copy` allows the
        // two to overlap.
        unsafe { std::ptr::copy(from, target, length) };
        Ok(())
    }

    /// Whether two tensors look at a common byte.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
            && self.offset < other.offset + other.size
            && other.offset < self.offset + self.size
    }
}

#[derive(Debug)]
struct Place {
    view: Option<View>,
    placement: u32,
    core: Option<u32>,
}

/// Device memory that tensors of this process hold at a core.
pub(crate) fn used(core: u32) -> u64 {
    let at = |storage: &Arc<Storage>| storage.start.addr();
    let mut storages: Vec<Arc<Storage>> = Vec::new();
    for tensor in TENSORS.all() {
        let place = tensor.place.read().unwrap_or_else(PoisonError::into_inner);
        let view = place.view.as_ref().filter(|view| view.storage.device.is_some());
        if place.core == Some(core) {
            storages.extend(view.map(|view| Arc::clone(&view.storage)));
        }
    }
    // slices share memory
    storages.sort_by_key(at);
    storages.dedup_by_key(|storage| at(storage));
    storages.iter().map(|storage| u64::try_from(storage.size).unwrap_or(u64::MAX)).sum()
}

/// A tensor.
#[derive(Debug)]
pub(crate) struct Tensor {
    place: RwLock<Place>,
    /// Executions that have written it as an output, and whether it is gone.
    done: Mutex<(u64, bool)>,
    changed: Condvar,
}

impl Tensor {
    fn of(view: Option<View>, placement: u32, core: Option<u32>) -> Arc<Self> {
        let place = RwLock::new(Place { view, placement, core });
        Arc::new(Self { place, done: Mutex::new((0, false)), changed: Condvar::new() })
    }

    /// A tensor of zeros.
    pub(crate) fn allocate(
        session: &Session,
        kind: u32,
        vnc: i64,
        size: usize,
    ) -> Result<Arc<Self>, Fault> {
        let core = match (kind, vnc) {
            (placement::DEVICE, vnc) => Some(session.core(vnc)?),
            (placement::HOST | placement::VIRTUAL, -1) => None,
            (placement::HOST | placement::VIRTUAL, vnc) => Some(session.core(vnc)?),
            _ => return Err(Fault::invalid(format!("no tensor placement has the number {kind}"))),
        };
        if kind == placement::HOST && size > placement::HOST_MOST {
            let most = placement::HOST_MOST;
            let text = format!("{size} bytes of host memory; a tensor there has at most {most}");
            return Err(Fault::invalid(text));
        }
        layout(size)?;
        let device = match core.filter(|_| kind == placement::DEVICE) {
            Some(core) => {
                let bytes = u64::try_from(size).unwrap_or(u64::MAX);
                let taken = session.runtime.allocate_tensor(core, bytes);
                Some(taken.map_err(|failure| session.fault(failure))?)
            }
            None => None,
        };
        let storage = Arc::new(Storage::new(size, device)?);
        Ok(Self::of(Some(View { storage, offset: 0, size }), kind, core))
    }

    /// A tensor without memory.
    pub(crate) fn empty() -> Arc<Self> {
        Self::of(None, placement::VIRTUAL, None)
    }

    /// A tensor that is a part of this one.
    pub(crate) fn slice(&self, offset: usize, size: usize) -> Result<Arc<Self>, Fault> {
        let view = self.view()?;
        let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        view.at(wide(offset), wide(size))?;
        if size == 0 {
            return Err(Fault::invalid("a slice cannot have 0 bytes"));
        }
        let place = self.place.read().unwrap_or_else(PoisonError::into_inner);
        let part = View { offset: view.offset + offset, size, ..view };
        Ok(Self::of(Some(part), place.placement, place.core))
    }

    /// Lets go of its memory and takes the caller's.
    pub(crate) fn attach(&self, buffer: *mut c_void, size: usize) -> Result<(), Fault> {
        let storage = Arc::new(Storage::attached(buffer, size)?);
        let mut place = self.place.write().unwrap_or_else(PoisonError::into_inner);
        place.view = Some(View { storage, offset: 0, size });
        place.placement = placement::VIRTUAL;
        Ok(())
    }

    /// Its memory now.
    pub(crate) fn view(&self) -> Result<View, Fault> {
        let place = self.place.read().unwrap_or_else(PoisonError::into_inner);
        place.view.clone().ok_or_else(|| Fault::invalid("the tensor has no memory attached"))
    }

    /// Where it is: placement and core.
    pub(crate) fn place(&self) -> (u32, Option<u32>) {
        let place = self.place.read().unwrap_or_else(PoisonError::into_inner);
        (place.placement, place.core)
    }

    /// Copies bytes to another tensor; on devices, of the same core only.
    pub(crate) fn copy(&self, offset: u64, to: &Self, at: u64, size: u64) -> Result<(), Fault> {
        let ((from_kind, from), (to_kind, target)) = (self.place(), to.place());
        let devices = from_kind == placement::DEVICE && to_kind == placement::DEVICE;
        if devices && from != target {
            return Err(Fault::invalid("the tensors are on different cores"));
        }
        self.view()?.copy(offset, &to.view()?, at, size)
    }

    /// An execution has written it.
    pub(crate) fn completed(&self) {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).0 += 1;
        self.changed.notify_all();
    }

    /// Nobody needs to wait for it any more.
    pub(crate) fn wake(&self) {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
        self.changed.notify_all();
    }

    /// Sets the count of executions to 0.
    pub(crate) fn reset(&self) {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).0 = 0;
    }

    /// Waits until as many executions have written it; `None` waits forever.
    pub(crate) fn wait(&self, count: u64, most: Option<Duration>) -> Result<(), Fault> {
        let end = most.and_then(|most| Instant::now().checked_add(most));
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        while done.0 < count {
            if done.1 {
                return Err(Fault::new(Status::INVALID_HANDLE, "the tensor was freed"));
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            done = match left {
                Some(left) if left.is_zero() => {
                    let text = format!("{} of {count} completions", done.0);
                    return Err(Fault::new(Status::TIMEOUT, text));
                }
                Some(left) => {
                    let wait = self.changed.wait_timeout(done, left);
                    wait.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(done).unwrap_or_else(PoisonError::into_inner),
            };
        }
        Ok(())
    }
}
