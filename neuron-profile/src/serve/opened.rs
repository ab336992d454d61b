//! Profiles that are open: reading the index of a large one takes longer than
//! most answers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use profile_store::{Error, Profile, Store};

/// How many are kept (our choice: a comparison has two, and a few ranks more).
const MOST: usize = 16;

/// The store, and what is open of it.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) store: Store,
    /// The one that was used last stands last.
    open: Mutex<VecDeque<Arc<Profile>>>,
}

impl Opened {
    pub(super) fn new(store: Store) -> Self {
        Self { store, open: Mutex::default() }
    }

    /// A profile by its id. One that was stored anew, renamed or deleted since
    /// is not taken from memory.
    pub(super) fn profile(&self, id: &str) -> Result<Arc<Profile>, Error> {
        let entry = self.store.entry(id)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = open.iter().position(|known| known.manifest().id == id)
            && let Some(known) = open.remove(at)
            && *known.manifest() == entry.manifest
            && *known.labels() == entry.labels
        {
            open.push_back(Arc::clone(&known));
            return Ok(known);
        }
        drop(open);
        let profile = Arc::new(self.store.open(id)?);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while open.len() >= MOST {
            open.pop_front();
        }
        open.push_back(Arc::clone(&profile));
        Ok(profile)
    }
}
