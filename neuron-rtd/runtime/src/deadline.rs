//! One thread that ends what takes too long.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Instant;

use crate::job::Job;

/// Jobs by the moment at which their time is over.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    jobs: BTreeMap<(Instant, u64), Weak<Job>>,
    /// When the thread looks by itself; `None` while it sleeps until told.
    looks: Option<Instant>,
    closed: bool,
}

impl Deadlines {
    pub(crate) fn add(&self, end: Instant, cookie: u64, job: &Arc<Job>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.jobs.insert((end, cookie), Arc::downgrade(job));
        // almost every job ends long before its time: waking the thread for
        // each would cost more than the job
        let early = state.looks.is_none_or(|looks| end < looks);
        if early {
            state.looks = Some(end);
        }
        drop(state);
        if early {
            self.changed.notify_one();
        }
    }

    pub(crate) fn remove(&self, end: Instant, cookie: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.jobs.remove(&(end, cookie));
    }

    pub(crate) fn close(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.changed.notify_all();
    }

    /// Calls `over` with each job whose time is over, until closed.
    pub(crate) fn watch(&self, over: impl Fn(Arc<Job>)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.closed {
            let now = Instant::now();
            state.looks = state.jobs.first_key_value().map(|((end, _), _)| *end);
            match state.looks {
                None => {
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                Some(end) if end > now => {
                    let wait = self.changed.wait_timeout(state, end - now);
                    state = wait.unwrap_or_else(PoisonError::into_inner).0;
                }
                Some(_) => {
                    let job = state.jobs.pop_first().and_then(|(_, job)| job.upgrade());
                    drop(state);
                    if let Some(job) = job {
                        over(job);
                    }
                    state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}
