//! Captures (`nrt_profile.h`, `nrt_experimental.h`).

use std::ffi::{c_char, c_void};
use std::sync::PoisonError;

use neuron_core::uapi::nrt::Status;

use super::options::{INSPECT, Inspect};
use crate::call::{Fault, answer};
use crate::model::MODELS;
use crate::{pointer, profile, session};

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_profile_start(model: *mut c_void, file: *const c_char) -> Status {
    answer("nrt_profile_start", || {
        let session = session::current()?;
        let model = MODELS.get(model)?;
        // SAFETY: null or text that a zero ends, says the header.
        let file = unsafe { pointer::text(file, "the file") }?;
        profile::start(&session, &model, &file)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_profile_stop(file: *const c_char) -> Status {
    answer("nrt_profile_stop", || {
        let session = session::current()?;
        // SAFETY: null or text that a zero ends, says the header.
        let file = unsafe { pointer::text(file, "the file") }?;
        profile::stop(&session, &file)
    })
}

fn inspect(options: &Inspect) -> Result<(), Fault> {
    session::current()?;
    if !options.always && !options.on_failure {
        return Ok(());
    }
    let text = format!(
        "inspection into {} (session {}) is not served on a simulated instance; \
         nrt_profile_start is",
        options.folder, options.session
    );
    Err(Fault::new(Status::FAILURE, text))
}

/// Null for the defaults, which record nothing.
#[unsafe(no_mangle)]
extern "C" fn nrt_inspect_begin_with_options(options: *mut c_void) -> Status {
    answer("nrt_inspect_begin_with_options", || {
        if options.is_null() {
            return inspect(&Inspect::default());
        }
        let options = INSPECT.get(options)?;
        let options = options.lock().unwrap_or_else(PoisonError::into_inner).clone();
        inspect(&options)
    })
}

/// Where `NEURON_RT_INSPECT_*` asks for nothing, nothing begins.
#[unsafe(no_mangle)]
extern "C" fn nrt_inspect_begin() -> Status {
    answer("nrt_inspect_begin", || {
        let on = |name: &str| std::env::var(name).is_ok_and(|text| text.trim() == "1");
        let folder = std::env::var("NEURON_RT_INSPECT_OUTPUT_DIR");
        inspect(&Inspect {
            always: on("NEURON_RT_INSPECT_ENABLE"),
            on_failure: on("NEURON_RT_INSPECT_ON_FAIL"),
            folder: folder.unwrap_or_else(|_| "./output".to_owned()),
            ..Inspect::default()
        })
    })
}

/// Nothing is ever under way.
#[unsafe(no_mangle)]
extern "C" fn nrt_inspect_stop() -> Status {
    answer("nrt_inspect_stop", || session::current().map(drop))
}
