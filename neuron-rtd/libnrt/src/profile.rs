//! Device profiles: an NTFF of an execution.

use neuron_core::uapi::nrt::Status;

use crate::call::Fault;
use crate::model::Model;
use crate::session::Session;

/// Asks for a profile of the executions of a model from now on.
pub(crate) fn start(_session: &Session, model: &Model, file: &str) -> Result<(), Fault> {
    let text = format!("no profile of model {} into {file}", model.id);
    Err(Fault::new(Status::FAILURE, text))
}

/// Writes the profile.
pub(crate) fn stop(_session: &Session, file: &str) -> Result<(), Fault> {
    Err(Fault::invalid(format!("no profile was started for {file}")))
}

/// A model is unloaded.
pub(crate) fn forget(_session: &Session, _model: u32) {}
