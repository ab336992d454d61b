//! Captures (`nrt_profile.h`, `nrt_experimental.h`).

use std::ffi::{c_char, c_void};
use std::path::PathBuf;
use std::sync::PoisonError;

use neuron_core::uapi::nrt::Status;
use rtd_runtime::{DeviceTraces, InspectOptions};

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

/// Begins an inspection, where one is asked for.
fn inspect(options: &Inspect) -> Result<(), Fault> {
    let session = session::current()?;
    if !options.always && !options.on_failure {
        return Ok(());
    }
    let [system, device, memory, processors] = options.activities;
    let options = InspectOptions {
        folder: PathBuf::from(&options.folder),
        system,
        device: if device { DeviceTraces::First } else { DeviceTraces::None },
        memory,
        processors,
        on_failure: !options.always,
        ..options.events.options(session.cores())
    };
    session.inspect(options)
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
        let session = session::current()?;
        InspectOptions::from_env()?.map_or(Ok(()), |options| session.inspect(options))
    })
}

/// Writes what was recorded; nothing where nothing was.
#[unsafe(no_mangle)]
extern "C" fn nrt_inspect_stop() -> Status {
    answer("nrt_inspect_stop", || {
        let session = session::current()?;
        session.runtime.end_inspect().map(drop).map_err(|failure| session.fault(failure))
    })
}
