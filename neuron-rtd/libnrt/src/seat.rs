//! Models on the same cores take turns.
//!
//! The runtime lets one model of a group run; in libnrt every loaded model may
//! be executed at any time. So an execution first takes the seat of its cores:
//! once what others do there has ended, the running model is stopped and its
//! own started. As many executions of one model as it has slots sit at once; a
//! model that waits goes before further executions of the one that sits.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use rtd_runtime::{Failure, Runtime};

/// The seat of some cores.
#[derive(Debug, Default)]
pub(crate) struct Seat {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The model that is started.
    active: Option<u32>,
    users: u32,
    /// Executions that wait for another model to be started.
    waiting: u32,
}

/// An execution that sits; the place is free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a>(&'a Seat);

impl Seat {
    /// Notes that the runtime has started a model itself.
    pub(crate) fn begin(&self, model: u32) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.active.get_or_insert(model);
    }

    /// Waits for a turn of a model with so many slots.
    pub(crate) fn take(
        &self,
        runtime: &Runtime,
        model: u32,
        slots: u32,
    ) -> Result<Turn<'_>, Failure> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut waits = false;
        loop {
            let active = state.active == Some(model);
            if active && state.users < slots && (waits || state.waiting == 0) {
                break;
            }
            if !active && state.users == 0 {
                let result = switch(runtime, &mut state, model);
                if let Err(failure) = result {
                    state.waiting -= u32::from(waits);
                    drop(state);
                    self.changed.notify_all();
                    return Err(failure);
                }
                break;
            }
            if !active && !waits {
                waits = true;
                state.waiting += 1;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= u32::from(waits);
        state.users += 1;
        drop(state);
        self.changed.notify_all();
        Ok(Turn(self))
    }

    /// A model is unloaded.
    pub(crate) fn leave(&self, model: u32) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.active == Some(model) {
            state.active = None;
        }
        drop(state);
        self.changed.notify_all();
    }
}

fn switch(runtime: &Runtime, state: &mut State, model: u32) -> Result<(), Failure> {
    if let Some(before) = state.active.take() {
        // one that was unloaded meanwhile has stopped, too
        let _ = runtime.stop(before);
    }
    runtime.start(model)?;
    state.active = Some(model);
    Ok(())
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.users = state.users.saturating_sub(1);
        drop(state);
        self.0.changed.notify_all();
    }
}

/// The seats by group of the runtime.
#[derive(Debug, Default)]
pub(crate) struct Seats(Mutex<HashMap<u32, Arc<Seat>>>);

impl Seats {
    /// The seat of a group; a model without cores has one of its own.
    pub(crate) fn of(&self, group: Option<u32>) -> Arc<Seat> {
        let Some(group) = group else { return Arc::default() };
        let mut seats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // those of groups that are gone
        seats.retain(|id, seat| *id == group || Arc::strong_count(seat) > 1);
        Arc::clone(seats.entry(group).or_default())
    }
}
