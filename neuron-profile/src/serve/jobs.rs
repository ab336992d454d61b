//! Ingests of uploaded files in the background, one after the other.

use std::collections::VecDeque;
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use neuron_core::neff::{self, Neff, Options as NeffOptions};
use neuron_core::sys::file_map::FileBytes;
use profile_engine::Options;
use profile_store::Store;
use serde_json::{Value, json};
use tokio::sync::broadcast;

use super::live::Change;
use super::uploads::{Upload, Uploads};
use crate::output::one_line;
use crate::view::Trace;
use crate::view::ingest::{Given, Stoppable, Stored, share, store_pair};

/// Jobs that are remembered.
const MOST: usize = 100;

/// How often progress is told.
const OFTEN: Duration = Duration::from_millis(250);

/// How often uploads are looked at that nobody took.
const LOOK: Duration = Duration::from_secs(60);

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Queued,
    Running,
    Done,
    Failed,
    Cancelled,
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What a job does.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) neff: Upload,
    pub(super) ntff: Upload,
    pub(super) given: Given,
}

#[derive(Debug)]
struct Job {
    number: u64,
    state: State,
    name: String,
    percent: u64,
    events: u64,
    profile: Option<String>,
    error: Option<String>,
    notes: Vec<String>,
    stop: Arc<AtomicBool>,
    /// Until it runs.
    work: Option<Work>,
}

impl Job {
    fn told(&self) -> Value {
        json!({
            "job": self.number,
            "state": self.state.name(),
            "display_name": self.name,
            "progress": self.percent as f64 / 100.0,
            "events": self.events,
            "profile": self.profile,
            "error": self.error,
            "notes": self.notes,
        })
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Jobs {
    store: Store,
    list: Mutex<VecDeque<Job>>,
    next: Sender<u64>,
    changes: broadcast::Sender<Change>,
}

impl Jobs {
    /// Jobs into a store, told to `changes`; [`run`] does them.
    pub(super) fn new(store: Store, changes: broadcast::Sender<Change>) -> (Self, Receiver<u64>) {
        let (next, queue) = channel();
        (Self { store, list: Mutex::default(), next, changes }, queue)
    }

    fn list(&self) -> MutexGuard<'_, VecDeque<Job>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, job: &Job) {
        // Nobody may listen.
        let _ = self.changes.send(Change::Job(job.told()));
    }

    /// Queues a job; what it is now. `None` when too many wait.
    pub(super) fn add(&self, name: String, work: Work) -> Option<Value> {
        let mut list = self.list();
        while list.len() >= MOST {
            // The oldest that is over is forgotten.
            let over = |job: &Job| !matches!(job.state, State::Queued | State::Running);
            let at = list.iter().position(over)?;
            list.remove(at);
        }
        let number = list.back().map_or(1, |job| job.number + 1);
        let job = Job {
            number,
            state: State::Queued,
            name,
            percent: 0,
            events: 0,
            profile: None,
            error: None,
            notes: Vec::new(),
            stop: Arc::default(),
            work: Some(work),
        };
        let told = job.told();
        self.tell(&job);
        list.push_back(job);
        // The thread ends with the server alone.
        let _ = self.next.send(number);
        Some(told)
    }

    /// All jobs, latest first.
    pub(super) fn all(&self) -> Vec<Value> {
        self.list().iter().rev().map(Job::told).collect()
    }

    /// A job by number.
    pub(super) fn one(&self, number: u64) -> Option<Value> {
        self.list().iter().find(|job| job.number == number).map(Job::told)
    }

    /// Cancels a job that is not over, and gives it; forgets another. `None` when
    /// there is none.
    pub(super) fn cancel(&self, number: u64) -> Option<Option<Value>> {
        let mut list = self.list();
        let at = list.iter().position(|job| job.number == number)?;
        let job = list.get_mut(at)?;
        match job.state {
            State::Queued => {
                job.state = State::Cancelled;
                job.work = None;
                self.tell(job);
                Some(Some(job.told()))
            }
            State::Running => {
                job.stop.store(true, Ordering::Relaxed);
                Some(Some(job.told()))
            }
            State::Done | State::Failed | State::Cancelled => {
                list.remove(at);
                Some(None)
            }
        }
    }

    /// Cancels all: the server ends.
    pub(super) fn stop(&self) {
        for job in self.list().iter_mut() {
            job.stop.store(true, Ordering::Relaxed);
            job.work = None;
        }
    }

    fn change<T>(&self, number: u64, change: impl FnOnce(&mut Job) -> T) -> Option<T> {
        let mut list = self.list();
        let job = list.iter_mut().find(|job| job.number == number)?;
        let out = change(job);
        self.tell(job);
        Some(out)
    }

    fn work(&self, number: u64) {
        let begin = |job: &mut Job| {
            let work = job.work.take()?;
            job.state = State::Running;
            Some((work, Arc::clone(&job.stop)))
        };
        let Some(Some((work, stop))) = self.change(number, begin) else { return };
        let done = self.ingest(number, &work, &stop);
        self.change(number, |job| match done {
            Ok(stored) => {
                job.state = State::Done;
                job.percent = 100;
                job.profile = Some(stored.id);
                let lines = stored.lines.into_iter();
                job.notes = lines.map(|(name, line)| format!("{name}: {line}")).collect();
            }
            Err(_) if stop.load(Ordering::Relaxed) => job.state = State::Cancelled,
            Err(error) => {
                job.state = State::Failed;
                job.error = Some(one_line(&error));
            }
        });
    }

    fn ingest(&self, number: u64, work: &Work, stop: &AtomicBool) -> anyhow::Result<Stored> {
        let given = &work.given;
        let bytes = FileBytes::open(&work.neff.path)?;
        let options = NeffOptions::new(neff::Mode::Lenient).without_digest();
        let neff = Neff::open(&bytes, &options).with_context(|| given.neff.clone())?;
        let file = File::open(&work.ntff.path);
        let file = file.with_context(|| format!("cannot open {}", given.trace))?;
        let trace = Trace::unwrapped(given.trace.clone(), file)?;
        let trace = Stoppable { inner: &trace.file, stop };
        let execution = usize::try_from(given.execution)?;
        let options = Options { execution, ..Options::default() };
        let mut told = Instant::now();
        store_pair(&self.store, given, (&bytes[..], &neff), &trace, options, &mut |at| {
            if told.elapsed() >= OFTEN {
                told = Instant::now();
                self.change(number, |job| (job.percent, job.events) = (share(at), at.events));
            }
        })
    }
}

/// Does jobs until `stop`; the thread of the server for them.
pub(super) fn run(jobs: &Jobs, uploads: &Uploads, queue: &Receiver<u64>, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        match queue.recv_timeout(LOOK) {
            // 0 wakes it to look at `stop`.
            Ok(number) => jobs.work(number),
            Err(RecvTimeoutError::Timeout) => uploads.expire(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

impl Jobs {
    /// Wakes the thread.
    pub(super) fn wake(&self) {
        let _ = self.next.send(0);
    }
}
