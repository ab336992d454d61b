//! Tensors and tensor sets (`nrt.h`).

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;
use std::time::Duration;

use neuron_core::uapi::nrt::{Batch, BatchOp, Status, placement};
use rtd_runtime::inspect::Kind;

use crate::call::{Fault, answer, quietly};
use crate::handle::Table;
use crate::set::{SETS, Set};
use crate::tensor::{TENSORS, Tensor, View};
use crate::{log, pointer, session, told};

/// Hands a new thing to the caller.
unsafe fn hand<T>(
    table: &Table<T>,
    thing: Arc<T>,
    to: *mut *mut c_void,
    what: &str,
) -> Result<(), Fault> {
    pointer::given(to, what)?;
    let handle = table.insert(thing);
    // SAFETY: null or room for a pointer, says the header.
    unsafe { pointer::put(to, handle, what) }?;
    // closed meanwhile: nobody else would take it away
    session::current().map(drop).inspect_err(|_| {
        let _ = table.remove(handle.cast_const());
    })
}

/// Takes a thing from the caller, whose pointer becomes null.
unsafe fn take<T>(table: &Table<T>, from: *mut *mut c_void, what: &str) -> Result<Arc<T>, Fault> {
    // SAFETY: null or a pointer of the caller, says the header.
    let handle = unsafe { pointer::get(from.cast_const(), what) }?;
    let thing = table.remove(handle.cast_const())?;
    // SAFETY: read above.
    unsafe { pointer::put(from, std::ptr::null_mut(), what) }?;
    Ok(thing)
}

/// The memory of a tensor.
fn view(tensor: *const c_void) -> Result<View, Fault> {
    session::current()?;
    TENSORS.get(tensor)?.view()
}

/// Number and core of a tensor, for events.
fn place(tensor: *const c_void) -> (usize, Option<u32>) {
    let core = TENSORS.get(tensor).ok().and_then(|of| of.place().1);
    (tensor.addr(), core)
}

fn wide(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_tensor_allocate(
    kind: u32,
    vnc: c_int,
    size: usize,
    name: *const c_char,
    to: *mut *mut c_void,
) -> Status {
    answer("nrt_tensor_allocate", || {
        let session = session::current()?;
        pointer::given(to, "the tensor")?;
        // SAFETY: null or text that a zero ends, says the header.
        unsafe { pointer::text_or_empty(name, "the name") }?;
        let core = u32::try_from(vnc).ok();
        // it has no handle before it is there
        let tensor = told::tensor(Kind::ALLOCATE, (0, core), size, || {
            Tensor::allocate(&session, kind, vnc.into(), size)
        })?;
        // SAFETY: not null; room for a pointer, says the header.
        unsafe { hand(&TENSORS, tensor, to, "the tensor") }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_tensor_allocate_empty(
    name: *const c_char,
    to: *mut *mut c_void,
) -> Status {
    answer("nrt_tensor_allocate_empty", || {
        session::current()?;
        // SAFETY: null or text that a zero ends, says the header.
        unsafe { pointer::text_or_empty(name, "the name") }?;
        // SAFETY: null or room for a pointer, says the header.
        unsafe { hand(&TENSORS, Tensor::empty(), to, "the tensor") }
    })
}

/// The buffer must stay until the tensor is freed or gets another one, and no
/// request that uses it is under way; this is the caller's word.
#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_tensor_attach_buffer(
    tensor: *mut c_void,
    buffer: *mut c_void,
    size: usize,
) -> Status {
    answer("nrt_tensor_attach_buffer", || {
        session::current()?;
        TENSORS.get(tensor)?.attach(buffer, size)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_tensor_allocate_slice(
    source: *const c_void,
    offset: usize,
    size: usize,
    name: *const c_char,
    to: *mut *mut c_void,
) -> Status {
    answer("nrt_tensor_allocate_slice", || {
        session::current()?;
        // SAFETY: null or text that a zero ends, says the header.
        unsafe { pointer::text_or_empty(name, "the name") }?;
        let slice = TENSORS.get(source)?.slice(offset, size)?;
        // SAFETY: null or room for a pointer, says the header.
        unsafe { hand(&TENSORS, slice, to, "the slice") }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_tensor_free(from: *mut *mut c_void) {
    quietly("nrt_tensor_free", || {
        // SAFETY: null or a pointer of the caller, says the header.
        let tensor = unsafe { take(&TENSORS, from, "the tensor") }?;
        tensor.wake();
        if session::current().is_err() {
            return Ok(());
        }
        let core = tensor.place().1;
        let size = tensor.view().map_or(0, |view| view.size);
        told::tensor(Kind::FREE, (0, core), size, || {
            drop(tensor);
            Ok(())
        })
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_tensor_read(
    tensor: *const c_void,
    buffer: *mut c_void,
    offset: usize,
    size: usize,
) -> Status {
    answer("nrt_tensor_read", || {
        let (view, place) = (view(tensor)?, place(tensor));
        told::tensor(Kind::READ, place, size, || {
            // SAFETY: null or room for `size` bytes, says the header.
            unsafe { view.read(buffer, wide(offset), wide(size)) }
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_tensor_write(
    tensor: *mut c_void,
    buffer: *const c_void,
    offset: usize,
    size: usize,
) -> Status {
    answer("nrt_tensor_write", || {
        let (view, place) = (view(tensor)?, place(tensor));
        told::tensor(Kind::WRITE, place, size, || {
            // SAFETY: null or `size` bytes, says the header.
            unsafe { view.write(buffer, wide(offset), wide(size)) }
        })
    })
}

/// Each operation of each batch, until one fails.
unsafe fn batches(
    batches: *const Batch,
    count: u64,
    each: impl Fn(&View, &BatchOp) -> Result<(), Fault>,
) -> Result<(), Fault> {
    session::current()?;
    pointer::given(batches, "the batches")?;
    let count = usize::try_from(count)
        .ok()
        .filter(|count| count.checked_mul(size_of::<Batch>()).is_some())
        .ok_or_else(|| Fault::invalid(format!("{count} batches")))?;
    for index in 0..count {
        // SAFETY: the caller has `count` batches, says the header.
        let batch = unsafe { pointer::get(batches.wrapping_add(index), "a batch") }?;
        let view = view(batch.tensor)?;
        for op in 0..usize::try_from(batch.num_ops).unwrap_or(0) {
            // SAFETY: the batch has that many operations, says the header.
            let op = unsafe { pointer::get(batch.ops.wrapping_add(op), "an operation") }?;
            each(&view, &op)?;
        }
    }
    Ok(())
}

/// `_unsafe` would skip a check that costs nothing here.
#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_tensor_read_batch(
    list: *const Batch,
    count: u64,
    _unsafe: bool,
) -> Status {
    answer("nrt_tensor_read_batch", || {
        // SAFETY: each buffer has room for its size, says the header.
        let read = |view: &View, op: &BatchOp| unsafe { view.read(op.buffer, op.offset, op.size) };
        // SAFETY: handed on as they are.
        told::batch(Kind::READ_BATCH, count, || unsafe { batches(list, count, read) })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_tensor_write_batch(
    list: *const Batch,
    count: u64,
    _unsafe: bool,
) -> Status {
    answer("nrt_tensor_write_batch", || {
        // SAFETY: each buffer has its size, says the header.
        let write =
            |view: &View, op: &BatchOp| unsafe { view.write(op.buffer, op.offset, op.size) };
        // SAFETY: handed on as they are.
        told::batch(Kind::WRITE_BATCH, count, || unsafe { batches(list, count, write) })
    })
}

#[unsafe(no_mangle)]
extern "C" fn nrt_tensor_copy(
    source: *const c_void,
    offset: usize,
    target: *mut c_void,
    at: usize,
    size: usize,
) -> Status {
    answer("nrt_tensor_copy", || {
        session::current()?;
        let (from, to) = (TENSORS.get(source)?, TENSORS.get(target)?);
        from.copy(wide(offset), &to, wide(at), wide(size))
    })
}

/// As C's `memset`: the value is taken modulo 256.
#[unsafe(no_mangle)]
extern "C" fn nrt_tensor_memset(
    tensor: *mut c_void,
    offset: u64,
    value: c_int,
    size: usize,
) -> Status {
    answer("nrt_tensor_memset", || {
        let [byte, ..] = value.to_le_bytes();
        view(tensor)?.set(offset, byte, wide(size))
    })
}

/// 0 where there is no such tensor.
#[unsafe(no_mangle)]
extern "C" fn nrt_tensor_get_size(tensor: *const c_void) -> usize {
    let mut size = 0;
    quietly("nrt_tensor_get_size", || {
        size = view(tensor)?.size;
        Ok(())
    });
    size
}

/// Null where there is no such tensor. Memory of a simulated device is memory of
/// the process, too.
#[unsafe(no_mangle)]
extern "C" fn nrt_tensor_get_va(tensor: *const c_void) -> *mut c_void {
    let mut address = std::ptr::null_mut();
    quietly("nrt_tensor_get_va", || {
        address = view(tensor)?.address();
        Ok(())
    });
    address
}

#[unsafe(no_mangle)]
extern "C" fn nrt_tensor_get_device_allocation_info(
    tensor: *const c_void,
    info: *mut c_void,
) -> Status {
    answer("nrt_tensor_get_device_allocation_info", || {
        session::current()?;
        let tensor = TENSORS.get(tensor)?;
        pointer::given(info, "the allocation info")?;
        if tensor.place().0 != placement::DEVICE {
            return Err(Fault::invalid("the tensor is not in memory of a device"));
        }
        let text = "memory of a simulated device has no physical address";
        Err(Fault::new(Status::FAILURE, text))
    })
}

/// Without an end to the wait, it is told after 30 seconds.
#[unsafe(no_mangle)]
extern "C" fn nrt_tensor_check_output_completion(
    tensor: *const c_void,
    timeout: i64,
    count: u64,
) -> Status {
    answer("nrt_tensor_check_output_completion", || {
        session::current()?;
        let tensor = TENSORS.get(tensor)?;
        if let Ok(micros) = u64::try_from(timeout) {
            return tensor.wait(count, Some(Duration::from_micros(micros)));
        }
        match tensor.wait(count, Some(Duration::from_secs(30))) {
            Err(fault) if fault.status == Status::TIMEOUT => {
                let text = format!("{} after 30 s; waiting on", fault.text());
                log::line(log::Level::Warning, "NRT:nrt_tensor_check_output_completion", &text);
                tensor.wait(count, None)
            }
            ended => ended,
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn nrt_tensor_reset_output_completion(tensor: *mut c_void) -> Status {
    answer("nrt_tensor_reset_output_completion", || {
        session::current()?;
        TENSORS.get(tensor)?.reset();
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_allocate_tensor_set(to: *mut *mut c_void) -> Status {
    answer("nrt_allocate_tensor_set", || {
        session::current()?;
        // SAFETY: null or room for a pointer, says the header.
        unsafe { hand(&SETS, Arc::new(Set::default()), to, "the tensor set") }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_destroy_tensor_set(from: *mut *mut c_void) {
    quietly("nrt_destroy_tensor_set", || {
        // SAFETY: null or a pointer of the caller, says the header.
        unsafe { take(&SETS, from, "the tensor set") }.map(drop)
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_add_tensor_to_tensor_set(
    set: *mut c_void,
    name: *const c_char,
    tensor: *mut c_void,
) -> Status {
    answer("nrt_add_tensor_to_tensor_set", || {
        session::current()?;
        let set = SETS.get(set)?;
        // SAFETY: null or text that a zero ends, says the header.
        let name = unsafe { pointer::text(name, "the name") }?;
        set.put(name, tensor)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_get_tensor_from_tensor_set(
    set: *mut c_void,
    name: *const c_char,
    to: *mut *mut c_void,
) -> Status {
    answer("nrt_get_tensor_from_tensor_set", || {
        session::current()?;
        let set = SETS.get(set)?;
        // SAFETY: null or text that a zero ends, says the header.
        let name = unsafe { pointer::text(name, "the name") }?;
        pointer::given(to, "the tensor")?;
        // SAFETY: not null; room for a pointer, says the header.
        unsafe { pointer::put(to, set.handle(&name)?, "the tensor") }
    })
}
