//! Inferences that were posted and not fetched yet, over all models.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use crate::failure::{Code, Failure};
use crate::job::{End, Job, Waiter};
use crate::request::Outcome;

/// The table. A cookie is never 0 and never used again.
#[derive(Debug, Default)]
pub(crate) struct Cookies {
    last: AtomicU64,
    jobs: Mutex<HashMap<u64, Arc<Job>>>,
}

/// What [`Cookies::fetch`] found.
pub(crate) enum Fetched {
    /// The outcome; the cookie is gone.
    Outcome(Box<Outcome>, Arc<Job>),
    /// Not done; the waiter, if any, will be called.
    Pending,
}

impl Cookies {
    pub(crate) fn next(&self) -> u64 {
        self.last.fetch_add(1, Relaxed).wrapping_add(1)
    }

    /// The latest cookie.
    pub(crate) fn last(&self) -> u64 {
        self.last.load(Relaxed)
    }

    fn jobs(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Arc<Job>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn insert(&self, job: &Arc<Job>) {
        self.jobs().insert(job.cookie, Arc::clone(job));
    }

    pub(crate) fn remove(&self, cookie: u64) {
        self.jobs().remove(&cookie);
    }

    pub(crate) fn get(&self, cookie: u64) -> Result<Arc<Job>, Failure> {
        self.jobs().get(&cookie).cloned().ok_or_else(|| unknown(cookie))
    }

    /// Takes the outcome, or leaves a waiter for it.
    pub(crate) fn fetch(
        &self,
        cookie: u64,
        waiter: &mut Option<Waiter>,
    ) -> Result<Fetched, Failure> {
        let job = self.get(cookie)?;
        let mut end = job.end.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *end {
            End::Pending { waiter: slot, .. } => {
                if slot.is_some() {
                    let text = format!("somebody else waits for cookie {cookie:#x}");
                    return Err(Failure::new(Code::InvalidHandle, PLACE, text));
                }
                *slot = waiter.take();
                Ok(Fetched::Pending)
            }
            End::Taken => Err(unknown(cookie)),
            End::Done(_) => {
                let done = std::mem::replace(&mut *end, End::Taken);
                drop(end);
                self.remove(cookie);
                match done {
                    End::Done(outcome) => Ok(Fetched::Outcome(outcome, job)),
                    _ => Err(unknown(cookie)),
                }
            }
        }
    }

    /// Those of `cookies` that are done.
    pub(crate) fn done(&self, cookies: &[u64]) -> Result<Vec<u64>, Failure> {
        let mut done = Vec::new();
        for cookie in cookies {
            if !self.get(*cookie)?.is_pending() {
                done.push(*cookie);
            }
        }
        Ok(done)
    }

    /// Forgets the inferences of a model.
    pub(crate) fn forget(&self, is_its: impl Fn(&Job) -> bool) {
        self.jobs().retain(|_, job| !is_its(job));
    }

    pub(crate) fn count(&self) -> usize {
        self.jobs().len()
    }
}

const PLACE: &str = "NMGR:infer_wait";

fn unknown(cookie: u64) -> Failure {
    Failure::new(Code::InvalidHandle, PLACE, format!("Failed to find cookie: {cookie:#x}"))
}
