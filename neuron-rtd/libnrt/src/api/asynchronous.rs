//! Requests that are not waited for (`nrt_async.h`).

use std::ffi::{c_int, c_void};
use std::os::fd::IntoRawFd as _;
use std::sync::Arc;

use neuron_core::uapi::nrt::{AsyncError, Status, unit};

use super::execute::{prepare, sequence_given};
use crate::asynchronous::{Limit, TRACKERS, Task, Tracker, check_queue};
use crate::call::{Fault, answer, quietly};
use crate::pointer::Address;
use crate::tensor::{TENSORS, Tensor, View};
use crate::{pointer, session};

/// The core whose units serve a tensor.
fn core(tensor: &Tensor) -> u32 {
    tensor.place().1.unwrap_or(0)
}

/// Checks what all requests have, and puts one into its queue.
unsafe fn schedule(
    (core, kind): (u32, u32),
    queue: c_int,
    tracker: *mut c_void,
    to: *mut u64,
    task: Task,
) -> Result<(), Fault> {
    let session = sequence_given(to)?;
    check_queue(queue)?;
    let tracker = if tracker.is_null() { None } else { Some(TRACKERS.get(tracker)?) };
    let number = session.units.schedule((core, kind), Limit::Told, tracker, task)?;
    // SAFETY: not null; room for a number, says the header.
    unsafe { pointer::put(to, number, "the sequence") }
}

/// The part of a tensor that a request is for.
fn part(tensor: &Tensor, offset: u64, size: u64) -> Result<View, Fault> {
    let view = tensor.view()?;
    view.check(offset, size)?;
    Ok(view)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrta_tensor_write(
    tensor: *mut c_void,
    buffer: *const c_void,
    offset: u64,
    size: u64,
    queue: c_int,
    tracker: *mut c_void,
    to: *mut u64,
) -> Status {
    answer("nrta_tensor_write", || {
        sequence_given(to)?;
        let tensor = TENSORS.get(tensor)?;
        let view = part(&tensor, offset, size)?;
        pointer::given(buffer, "the buffer")?;
        let buffer = Address::new(buffer.cast_mut());
        let task: Task = Box::new(move |_| {
            // SAFETY: `size` bytes that stay until the request is done, says the header.
            answer("nrta_tensor_write", || unsafe { view.write(buffer.get(), offset, size) })
        });
        // SAFETY: handed on as they are.
        unsafe { schedule((core(&tensor), unit::TENSOR_WRITE), queue, tracker, to, task) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrta_tensor_read(
    buffer: *mut c_void,
    tensor: *mut c_void,
    offset: u64,
    size: u64,
    queue: c_int,
    tracker: *mut c_void,
    to: *mut u64,
) -> Status {
    answer("nrta_tensor_read", || {
        sequence_given(to)?;
        let tensor = TENSORS.get(tensor)?;
        let view = part(&tensor, offset, size)?;
        pointer::given(buffer, "the buffer")?;
        let buffer = Address::new(buffer);
        let task: Task = Box::new(move |_| {
            // SAFETY: room for `size` bytes until the request is done, says the header.
            answer("nrta_tensor_read", || unsafe { view.read(buffer.get(), offset, size) })
        });
        // SAFETY: handed on as they are.
        unsafe { schedule((core(&tensor), unit::TENSOR_READ), queue, tracker, to, task) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrta_tensor_copy(
    source: *mut c_void,
    offset: u64,
    target: *mut c_void,
    at: u64,
    size: u64,
    queue: c_int,
    tracker: *mut c_void,
    to: *mut u64,
) -> Status {
    answer("nrta_tensor_copy", || {
        sequence_given(to)?;
        let (from, into) = (TENSORS.get(source)?, TENSORS.get(target)?);
        part(&from, offset, size)?;
        part(&into, at, size)?;
        let place = (core(&from), unit::TENSOR_OP);
        let task: Task =
            Box::new(move |_| answer("nrta_tensor_copy", || from.copy(offset, &into, at, size)));
        // SAFETY: handed on as they are.
        unsafe { schedule(place, queue, tracker, to, task) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrta_execute_schedule(
    model: *mut c_void,
    inputs: *const c_void,
    outputs: *mut c_void,
    queue: c_int,
    tracker: *mut c_void,
    to: *mut u64,
) -> Status {
    answer("nrta_execute_schedule", || {
        sequence_given(to)?;
        let execution = prepare(model, inputs, outputs)?;
        let place = (execution.model.first_core, unit::COMPUTE);
        let task: Task = Box::new(move |_| answer("nrta_execute_schedule", || execution.run()));
        // SAFETY: handed on as they are.
        unsafe { schedule(place, queue, tracker, to, task) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrta_is_completed(sequence: u64, to: *mut bool) -> Status {
    answer("nrta_is_completed", || {
        let done = session::current()?.units.is_done(sequence)?;
        // SAFETY: null or room for a bool, says the header.
        unsafe { pointer::put(to, done, "the result") }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrta_get_sequence(vnc: u32, kind: u32, queue: c_int, to: *mut u64) -> Status {
    answer("nrta_get_sequence", || {
        let session = sequence_given(to)?;
        check_queue(queue)?;
        let last = session.units.last_done(session.core(vnc.into())?, kind)?;
        // SAFETY: not null; room for a number, says the header.
        unsafe { pointer::put(to, last, "the sequence") }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrta_get_completion_handle(sequence: u64, to: *mut c_int) -> Status {
    answer("nrta_get_completion_handle", || {
        let session = session::current()?;
        pointer::given(to, "the descriptor")?;
        let fd = session.units.handle(sequence)?;
        // SAFETY: not null; room for a number, says the header.
        unsafe { pointer::put(to, fd.into_raw_fd(), "the descriptor") }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrta_error_tracker_create(vnc: u32, to: *mut *mut c_void) -> Status {
    answer("nrta_error_tracker_create", || {
        let session = session::current()?;
        session.core(vnc.into())?;
        pointer::given(to, "the error tracker")?;
        let handle = TRACKERS.insert(Arc::new(Tracker::default()));
        // SAFETY: not null; room for a pointer, says the header.
        unsafe { pointer::put(to, handle, "the error tracker") }
    })
}

/// Requests that still have it keep it alive.
#[unsafe(no_mangle)]
extern "C" fn nrta_error_tracker_destroy(tracker: *mut c_void) {
    quietly("nrta_error_tracker_destroy", || TRACKERS.remove(tracker).map(drop));
}

/// Also after `nrt_close`: then the requests that were given up are in the list.
/// A list lives as long as the tracker.
#[unsafe(no_mangle)]
unsafe extern "C" fn nrta_error_tracker_get_list(
    tracker: *mut c_void,
    list: *mut *const AsyncError,
    count: *mut usize,
) -> Status {
    answer("nrta_error_tracker_get_list", || {
        let tracker = TRACKERS.get(tracker)?;
        pointer::given(list, "the list")?;
        pointer::given(count, "the count")?;
        let (first, length) = tracker.list();
        // SAFETY: not null; room for a pointer, says the header.
        unsafe { pointer::put(list, first, "the list") }?;
        // SAFETY: not null; room for a size, says the header.
        unsafe { pointer::put(count, length, "the count") }
    })
}
