//! Profiles that are open: reading the index of a large one takes longer than
//! most answers.

use std::collections::VecDeque;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use profile_store::{Error, Profile, Store};

use tokio::sync::watch;

use super::jobs::Jobs;
use super::live::Live;
use super::uploads::Uploads;
use crate::analysis::search::{Found, Where, find, parse};
use crate::tensorboard::prepare::Board;

/// How many are kept (our choice: a comparison has two, and a few ranks more).
const MOST: usize = 16;

/// Searches that are kept: 48 bytes for each row that was found.
const SEARCHES: usize = 4;

/// A search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) profile: String,
    /// When the profile was written: one that is stored anew has other rows.
    pub(super) written: u64,
    pub(super) query: String,
    pub(super) place: Where,
}

/// The store, and what is open of it.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) store: Store,
    /// The one that was used last stands last.
    open: Mutex<VecDeque<Arc<Profile>>>,
    /// Searches, in the same order.
    searches: Mutex<VecDeque<(Asked, Arc<Found>)>>,
    pub(super) uploads: Uploads,
    pub(super) jobs: Jobs,
    pub(super) live: Live,
    /// The log directory that is shown, if any.
    pub(super) board: Option<Arc<Board>>,
    /// Becomes true when the server ends.
    end: watch::Sender<bool>,
}

impl Opened {
    /// A store with nothing open, uploads of at most `limit` bytes, and the
    /// queue of its jobs.
    pub(super) fn new(store: Store, limit: u64) -> (Self, Receiver<u64>) {
        let live = Live::new();
        let (jobs, queue) = Jobs::new(store.clone(), live.changes());
        let opened = Self {
            uploads: Uploads::new(store.root(), limit),
            store,
            open: Mutex::default(),
            searches: Mutex::default(),
            jobs,
            live,
            board: None,
            end: watch::Sender::new(false),
        };
        (opened, queue)
    }

    /// What is shown of a log directory.
    pub(super) fn with_board(board: Arc<Board>, limit: u64) -> (Self, Receiver<u64>) {
        let (opened, queue) = Self::new(board.cache().clone(), limit);
        (Self { board: Some(board), ..opened }, queue)
    }

    /// The store that a profile is in.
    pub(super) fn store_of(&self, id: &str) -> Store {
        self.board.as_ref().map_or_else(|| self.store.clone(), |board| board.store_of(id))
    }

    /// The server ends: streams close, jobs stop.
    pub(super) fn finish(&self) {
        self.end.send_replace(true);
        self.jobs.stop();
    }

    /// Waits until the server ends.
    pub(super) async fn ended(&self) {
        // The sender lives as long as this.
        let _ = self.end.subscribe().wait_for(|end| *end).await;
    }

    /// What a search finds; the last ones are kept, since pages and columns of
    /// one search follow each other.
    pub(super) fn search(&self, profile: &Profile, asked: &Asked) -> Result<Arc<Found>, Error> {
        let searches = || self.searches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = searches().iter().find(|(known, _)| known == asked) {
            return Ok(Arc::clone(found));
        }
        let query = parse(&asked.query).map_err(|error| Error::Query(error.to_string()))?;
        let found = Arc::new(find(profile, &query, &asked.place)?);
        let mut searches = searches();
        while searches.len() >= SEARCHES {
            searches.pop_front();
        }
        searches.push_back((asked.clone(), Arc::clone(&found)));
        Ok(found)
    }

    /// A profile by its id. One that was stored anew, renamed or deleted since
    /// is not taken from memory.
    pub(super) fn profile(&self, id: &str) -> Result<Arc<Profile>, Error> {
        let store = self.store_of(id);
        let entry = store.entry(id)?;
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
        let profile = Arc::new(store.open(id)?);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while open.len() >= MOST {
            open.pop_front();
        }
        open.push_back(Arc::clone(&profile));
        Ok(profile)
    }
}
