//! What changes while a page is open: profiles of the data path, whoever stores
//! them, and jobs.
//!
//! The data path is looked at while somebody listens, and only then: a few
//! hundred small directories twice a second cost less than what a watcher of
//! the kernel would need to be told right.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use profile_store::Store;
use profile_store::disk::is_id;
use serde_json::{Value, json};
use tokio::sync::broadcast;

/// How often the data path is looked at.
pub(super) const LOOK: Duration = Duration::from_millis(500);

/// Changes that a slow listener may be behind; then it begins anew.
const BEHIND: usize = 256;

/// What changed.
#[derive(Debug, Clone)]
pub(super) enum Change {
    /// Ids that were added, changed and removed.
    Profiles(Value),
    /// A job.
    Job(Value),
}

/// When the files of a profile were written that change.
type Seen = BTreeMap<String, [Option<SystemTime>; 2]>;

/// See the module.
#[derive(Debug)]
pub(super) struct Live {
    changes: broadcast::Sender<Change>,
    seen: Mutex<Option<Seen>>,
}

impl Live {
    pub(super) fn new() -> Self {
        Self { changes: broadcast::Sender::new(BEHIND), seen: Mutex::default() }
    }

    /// Where changes are told.
    pub(super) fn changes(&self) -> broadcast::Sender<Change> {
        self.changes.clone()
    }

    /// Listens; what the store holds now is known, later changes are told.
    pub(super) fn listen(&self, store: &Store) -> broadcast::Receiver<Change> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if self.changes.receiver_count() == 0 {
            *seen = None;
        }
        let receiver = self.changes.subscribe();
        if seen.is_none() {
            *seen = Some(look(store));
        }
        receiver
    }

    /// Tells what changed since the last look.
    pub(super) fn look(&self, store: &Store) {
        if self.changes.receiver_count() == 0 {
            return;
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let now = look(store);
        let before = seen.replace(now.clone()).unwrap_or_else(|| now.clone());
        if now == before {
            return;
        }
        let added: Vec<&String> = now.keys().filter(|id| !before.contains_key(*id)).collect();
        let removed: Vec<&String> = before.keys().filter(|id| !now.contains_key(*id)).collect();
        let changed: Vec<&String> = now
            .iter()
            .filter(|(id, times)| before.get(*id).is_some_and(|known| known != *times))
            .map(|(id, _)| id)
            .collect();
        let change = json!({ "added": added, "changed": changed, "removed": removed });
        let _ = self.changes.send(Change::Profiles(change));
    }
}

/// What the store holds.
fn look(store: &Store) -> Seen {
    let Ok(entries) = std::fs::read_dir(store.profiles()) else { return Seen::new() };
    let mut out = Seen::new();
    for entry in entries.flatten() {
        let Some(id) = entry.file_name().to_str().filter(|id| is_id(id)).map(str::to_owned) else {
            continue;
        };
        let time = |name: &str| entry.path().join(name).metadata().and_then(|m| m.modified()).ok();
        let times = ["manifest.json", "labels.json"].map(time);
        // One that is being removed has no manifest.
        if times.first().is_some_and(Option::is_some) {
            out.insert(id, times);
        }
    }
    out
}
