//! Device profiles: an NTFF of an execution, written by the runtime when the
//! execution has ended.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::call::Fault;
use crate::model::Model;
use crate::session::Session;

/// Models that are profiled, by the name of the file.
#[derive(Debug, Default)]
pub(crate) struct Profiles(Mutex<HashMap<String, u32>>);

impl Profiles {
    fn all(&self) -> MutexGuard<'_, HashMap<String, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks for a profile of the next execution of a model.
pub(crate) fn start(session: &Session, model: &Model, file: &str) -> Result<(), Fault> {
    if file.is_empty() {
        return Err(Fault::invalid("the name of the file is empty"));
    }
    let mut all = session.profiles.all();
    if all.contains_key(file) || all.values().any(|id| *id == model.id) {
        return Err(Fault::invalid("a profile of this model, or into this file, is under way"));
    }
    let begun = session.runtime.profile_into(model.id, PathBuf::from(file));
    begun.map_err(|failure| session.fault(failure))?;
    all.insert(file.to_owned(), model.id);
    Ok(())
}

/// Ends a profile; says whether it was written.
pub(crate) fn stop(session: &Session, file: &str) -> Result<(), Fault> {
    let id = session.profiles.all().remove(file);
    let id = id.ok_or_else(|| Fault::invalid(format!("no profile was started for {file}")))?;
    let ended = session.runtime.profile_stop(id);
    ended.map(drop).map_err(|failure| session.fault(failure))
}

/// A model is unloaded.
pub(crate) fn forget(session: &Session, model: u32) {
    session.profiles.all().retain(|_, id| *id != model);
}
