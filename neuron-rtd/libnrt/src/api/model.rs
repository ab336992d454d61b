//! Models (`nrt.h`, `nrt_experimental.h`).

use std::ffi::c_void;
use std::sync::Arc;

use neuron_core::uapi::nrt::{Status, TensorInfoArray};

use crate::call::{Fault, answer};
use crate::model::{MODELS, Model};
use crate::{info, pointer, session};

unsafe fn load(
    bytes: *const c_void,
    size: usize,
    (vnc, count): (i32, i32),
    to: *mut *mut c_void,
) -> Result<(), Fault> {
    let session = session::current()?;
    pointer::given(to, "the model")?;
    if count < -1 || count == 0 {
        return Err(Fault::invalid(format!("{count} cores; pass -1")));
    }
    // SAFETY: null or `size` bytes that stay as they are, says the header.
    let neff = unsafe { pointer::bytes(bytes, size, "the NEFF") }?;
    let model = Model::load(&session, neff, vnc)?;
    let handle = MODELS.insert(Arc::clone(&model));
    // SAFETY: not null; room for a pointer, says the header.
    unsafe { pointer::put(to, handle, "the model") }?;
    // closed between the load and now: nobody else would take it away
    session::current().map(drop).inspect_err(|_| {
        let _ = MODELS.remove(handle.cast_const());
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_load(
    bytes: *const c_void,
    size: usize,
    vnc: i32,
    vnc_count: i32,
    to: *mut *mut c_void,
) -> Status {
    // SAFETY: handed on as they are.
    answer("nrt_load", || unsafe { load(bytes, size, (vnc, vnc_count), to) })
}

/// Alone in the world it is `nrt_load`; there are no others to talk to here.
#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_load_collectives(
    bytes: *const c_void,
    size: usize,
    vnc: i32,
    vnc_count: i32,
    device: u32,
    devices: u32,
    to: *mut *mut c_void,
) -> Status {
    answer("nrt_load_collectives", || {
        if devices == 0 || device >= devices {
            return Err(Fault::invalid(format!("device {device} of {devices}")));
        }
        if devices > 1 {
            let text = "not served on a simulated instance: collectives between processes";
            return Err(Fault::new(Status::FAILURE, text));
        }
        // SAFETY: handed on as they are.
        unsafe { load(bytes, size, (vnc, vnc_count), to) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn nrt_unload(model: *mut c_void) -> Status {
    answer("nrt_unload", || {
        let session = session::current()?;
        let model = MODELS.remove(model)?;
        crate::profile::forget(&session, model.id);
        model.unload(&session)
    })
}

unsafe fn number(
    name: &str,
    model: *const c_void,
    to: *mut u32,
    of: impl FnOnce(&Model) -> u32,
) -> Status {
    answer(name, || {
        session::current()?;
        let model = MODELS.get(model)?;
        // SAFETY: null or room for a number, says the header.
        unsafe { pointer::put(to, of(&model), "the count") }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_get_model_vnc_count(model: *const c_void, to: *mut u32) -> Status {
    // SAFETY: handed on as they are.
    unsafe { number("nrt_get_model_vnc_count", model, to, |model| model.cores) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_get_model_nc_count(model: *const c_void, to: *mut u32) -> Status {
    // SAFETY: handed on as they are.
    unsafe { number("nrt_get_model_nc_count", model, to, |model| model.cores) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_get_model_instance_count(model: *mut c_void, to: *mut u32) -> Status {
    // SAFETY: handed on as they are.
    unsafe { number("nrt_get_model_instance_count", model, to, |model| model.slots) }
}

/// The struct has one field, the first core.
#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_get_model_info(
    model: *const c_void,
    to: *mut u32,
    size: usize,
    written: *mut usize,
) -> Status {
    answer("nrt_get_model_info", || {
        session::current()?;
        let model = MODELS.get(model)?;
        pointer::given(written, "the written size")?;
        // SAFETY: null or room for `size` bytes, says the header; no padding.
        let length = unsafe { pointer::put_part(to, &model.first_core, size, "the model info") }?;
        // SAFETY: null or room for a size, says the header.
        unsafe { pointer::put(written, length, "the written size") }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_get_model_tensor_info(
    model: *mut c_void,
    to: *mut *mut TensorInfoArray,
) -> Status {
    answer("nrt_get_model_tensor_info", || {
        session::current()?;
        let model = MODELS.get(model)?;
        pointer::given(to, "the tensor info")?;
        let array = info::lend(&model.tensors)?;
        // SAFETY: not null; room for a pointer, says the header.
        unsafe { pointer::put(to, array, "the tensor info") }
    })
}

/// Also after `nrt_close`: the array belongs to the caller.
#[unsafe(no_mangle)]
extern "C" fn nrt_free_model_tensor_info(array: *mut TensorInfoArray) -> Status {
    answer("nrt_free_model_tensor_info", || info::give_back(array))
}
