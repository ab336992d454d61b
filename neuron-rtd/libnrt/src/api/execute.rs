//! Executions (`nrt.h`, `nrt_experimental.h`).

use std::ffi::{c_int, c_void};
use std::sync::{Arc, PoisonError};

use neuron_core::uapi::nrt::{Status, StatusCallback, unit};

use crate::asynchronous::{Callback, Limit, Task};
use crate::call::{Fault, answer};
use crate::execute::Execution;
use crate::model::MODELS;
use crate::pointer::Address;
use crate::set::SETS;
use crate::{pointer, session};

/// Looks everything up.
pub(super) fn prepare(
    model: *const c_void,
    inputs: *const c_void,
    outputs: *const c_void,
) -> Result<Execution, Fault> {
    let session = session::current()?;
    let model = MODELS.get(model)?;
    let (inputs, outputs) = (SETS.get(inputs)?, SETS.get(outputs)?);
    Execution::new(session, model, &inputs, &outputs)
}

/// With `NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS` it only waits for room in
/// the queue of the core; the end of the execution is told to the callback.
#[unsafe(no_mangle)]
extern "C" fn nrt_execute(
    model: *mut c_void,
    inputs: *const c_void,
    outputs: *mut c_void,
) -> Status {
    answer("nrt_execute", || {
        let execution = prepare(model, inputs, outputs)?;
        let session = session::current()?;
        let Some(most) = session.implicit_async else { return execution.run() };
        let core = execution.model.first_core;
        let callback = *session.callback.lock().unwrap_or_else(PoisonError::into_inner);
        let task: Task = Box::new(move |job| {
            let status = answer("nrt_execute", || execution.run());
            if let Some(callback) = callback {
                callback.call(execution.model.id, core, job, status);
            }
            status
        });
        session.units.schedule((core, unit::COMPUTE), Limit::Waited(most), None, task)?;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn nrt_execute_repeat(
    model: *mut c_void,
    inputs: *const c_void,
    outputs: *mut c_void,
    count: c_int,
) -> Status {
    answer("nrt_execute_repeat", || {
        let count = u32::try_from(count)
            .ok()
            .filter(|count| *count > 0)
            .ok_or_else(|| Fault::invalid(format!("{count} repetitions")))?;
        prepare(model, inputs, outputs)?.repeat(count)
    })
}

/// A null function takes the callback away.
#[unsafe(no_mangle)]
extern "C" fn nrt_register_async_exec_callback(
    function: Option<StatusCallback>,
    parameters: *mut c_void,
) -> Status {
    answer("nrt_register_async_exec_callback", || {
        let session = session::current()?;
        let parameters = Address::new(parameters);
        let callback = function.map(|function| Callback { function, parameters });
        *session.callback.lock().unwrap_or_else(PoisonError::into_inner) = callback;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn nrt_async_drain_queued_execs(vnc: i32) -> Status {
    answer("nrt_async_drain_queued_execs", || {
        let session = session::current()?;
        session.units.drain(session.core(vnc.into())?, unit::COMPUTE)
    })
}

/// For the asynchronous calls: where a request's number goes must be there
/// before the request is made.
pub(super) fn sequence_given(to: *const u64) -> Result<Arc<session::Session>, Fault> {
    pointer::given(to, "the sequence")?;
    session::current()
}
