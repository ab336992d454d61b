//! How a call ends: a status, and a line in the log for what went wrong.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use neuron_core::uapi::nrt::Status;
use rtd_runtime::{Code, Failure};

use crate::log::{self, Level};

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) status: Status,
    text: String,
}

impl Fault {
    pub(crate) fn new(status: Status, text: impl fmt::Display) -> Self {
        Self { status, text: text.to_string() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn invalid(text: impl fmt::Display) -> Self {
        Self::new(Status::INVALID, text)
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        let text = failure.lines().join("; ");
        Self { status: status(failure.code), text }
    }
}

/// A code of the runtime as a status; neuron-rtd.md §4.3 the other way round.
pub(crate) fn status(code: Code) -> Status {
    match code {
        Code::Ok => Status::SUCCESS,
        Code::Fail | Code::Pending | Code::Cancelled => Status::FAILURE,
        Code::Invalid => Status::INVALID,
        Code::InvalidHandle => Status::INVALID_HANDLE,
        Code::Resource => Status::RESOURCE,
        Code::Timeout => Status::TIMEOUT,
        Code::HwError => Status::HW_ERROR,
        Code::QueueFull => Status::QUEUE_FULL,
        Code::FailedState => Status::EXEC_UNIT_UNRECOVERABLE,
        Code::ResourceNc => Status::LOAD_NOT_ENOUGH_NC,
        Code::UnsupportedVersion => Status::UNSUPPORTED_NEFF_VERSION,
        Code::BadInput => Status::EXEC_BAD_INPUT,
        Code::NumErr => Status::EXEC_COMPLETED_WITH_NUM_ERR,
        Code::WithErr => Status::EXEC_COMPLETED_WITH_ERR,
    }
}

/// Runs the body of a call; no panic leaves it.
pub(crate) fn answer(name: &str, body: impl FnOnce() -> Result<(), Fault>) -> Status {
    // what a panic leaves behind is behind locks that do not mind poisoning
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        let text = "a bug of this library; please report it with this line and the one before";
        Err(Fault::new(Status::FAILURE, text))
    });
    match result {
        Ok(()) => Status::SUCCESS,
        Err(fault) => {
            let text = format!("{}: {}", fault.status, fault.text);
            log::line(Level::Error, &format!("NRT:{name}"), &text);
            fault.status
        }
    }
}

/// As [`answer`], for a call that returns nothing.
pub(crate) fn quietly(name: &str, body: impl FnOnce() -> Result<(), Fault>) {
    let _ = answer(name, body);
}

/// Ends a call that nothing here can serve.
pub(crate) fn unserved(name: &str, status: Status, why: &str) -> Status {
    answer(name, || Err(Fault::new(status, format!("not served on a simulated instance: {why}"))))
}
