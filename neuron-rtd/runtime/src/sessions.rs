//! Sessions: which client owns what, and cleaning up after it
//! (neuron-rtd.md §1.7).

use crate::failure::{Code, Failure};
use crate::journal::Level;
use crate::runtime::{Runtime, Tables};

const PLACE: &str = "NRTD:session_monitor";

/// Whether a session is live; 0 stands for none and always is.
pub(crate) fn check(tables: &Tables, session: u64, place: &str) -> Result<(), Failure> {
    if session == 0 || tables.sessions.contains(&session) {
        return Ok(());
    }
    Err(Failure::new(Code::InvalidHandle, place, format!("Failed to find session: {session}")))
}

impl Runtime {
    /// Begins a session; its id is never used again.
    pub fn open_session(&self) -> u64 {
        let mut tables = self.tables();
        tables.last_session += 1;
        let id = tables.last_session;
        tables.sessions.insert(id);
        drop(tables);
        self.say(Level::Info, PLACE, &format!("Session {id} started"));
        id
    }

    /// Ends a session and gives back what it owns: its models are stopped
    /// (what is queued is cancelled, what runs is waited for) and unloaded,
    /// its groups destroyed, its shared memory let go.
    pub fn close_session(&self, id: u64) {
        let models: Vec<u32> = {
            let mut tables = self.tables();
            if !tables.sessions.remove(&id) {
                return;
            }
            let its = tables.models.values().filter(|model| model.session == id);
            its.map(|model| model.id).collect()
        };
        self.unload_together(&models);
        let mut tables = self.tables();
        let groups: Vec<u32> = tables
            .groups
            .all
            .iter()
            .filter(|(_, group)| group.session == id && !group.implicit)
            .map(|(group, _)| *group)
            .collect();
        let count = groups.len();
        for group in groups {
            self.abandon_group(&mut tables, group);
        }
        let before = tables.maps.len();
        tables.maps.retain(|_, map| map.session != id);
        let maps = before - tables.maps.len();
        drop(tables);
        let text = format!(
            "Session {id} ended: {} models, {count} groups, {maps} mappings given back",
            models.len()
        );
        self.say(Level::Info, PLACE, &text);
    }

    /// Live sessions.
    pub fn sessions(&self) -> Vec<u64> {
        self.tables().sessions.iter().copied().collect()
    }
}
