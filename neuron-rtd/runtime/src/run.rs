//! The threads of a started model: one for each step, each with a queue.
//!
//! A step does one inference at a time, in the order in which they arrive; so
//! inferences keep their order from step to step, and several are in
//! different steps at once. A step that is idle may also be claimed by the
//! thread that posts, for an inference so short that handing it over would
//! take longer than to run it; that thread then also does a few of those that
//! arrive meanwhile.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::job::Job;

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    ready: Condvar,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Arc<Job>>,
    /// Somebody does an inference here.
    busy: bool,
    closed: bool,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: Arc<Job>) {
        let mut state = self.state();
        if !state.closed {
            state.jobs.push_back(job);
            // who is busy here looks again before it goes
            let idle = !state.busy;
            drop(state);
            if idle {
                self.ready.notify_one();
            }
        }
    }

    /// The next inference, and the step with it; `None` once closed.
    fn pop(&self) -> Option<Arc<Job>> {
        let mut state = self.state();
        loop {
            if state.closed {
                return None;
            }
            if !state.busy
                && let Some(job) = state.jobs.pop_front()
            {
                state.busy = true;
                return Some(job);
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the step if it is idle and nobody waits for it.
    fn claim(&self) -> bool {
        let mut state = self.state();
        let idle = !state.closed && !state.busy && state.jobs.is_empty();
        state.busy |= idle;
        idle
    }

    /// The next inference for who has claimed the step; without one the step
    /// is given back.
    fn more(&self) -> Option<Arc<Job>> {
        let mut state = self.state();
        let job = state.jobs.pop_front();
        state.busy = job.is_some();
        job
    }

    /// Gives the step back.
    fn release(&self) {
        let mut state = self.state();
        state.busy = false;
        let next = !state.jobs.is_empty();
        drop(state);
        if next {
            self.ready.notify_one();
        }
    }

    fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.jobs.clear();
        drop(state);
        self.ready.notify_all();
    }
}

/// The queues and threads of a started model.
#[derive(Debug)]
pub(crate) struct Run {
    queues: Vec<Queue>,
    /// Nobody waits for what its threads still do.
    given_up: AtomicBool,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Run {
    /// Starts a thread for each of `steps` steps, which calls `work` with each
    /// inference that arrives there.
    pub(crate) fn start(
        name: &str,
        steps: usize,
        work: impl Fn(&Arc<Self>, usize, Arc<Job>) + Send + Sync + 'static,
    ) -> io::Result<Arc<Self>> {
        let queues = (0..steps).map(|_| Queue::default()).collect();
        let run =
            Arc::new(Self { queues, given_up: AtomicBool::new(false), threads: Mutex::default() });
        let work = Arc::new(work);
        for step in 0..steps {
            let (own, work) = (Arc::clone(&run), Arc::clone(&work));
            let body = move || {
                while let Some(job) = own.queues.get(step).and_then(Queue::pop) {
                    work(&own, step, job);
                    own.release(step);
                }
            };
            match std::thread::Builder::new().name(format!("{name}.{step}")).spawn(body) {
                Ok(thread) => run.threads().push(thread),
                Err(error) => {
                    run.close();
                    return Err(error);
                }
            }
        }
        Ok(run)
    }

    fn threads(&self) -> std::sync::MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands an inference to a step.
    pub(crate) fn push(&self, step: usize, job: Arc<Job>) {
        if let Some(queue) = self.queues.get(step) {
            queue.push(job);
        }
    }

    /// Takes a step that is idle; then [`Self::release`] must follow.
    pub(crate) fn claim(&self, step: usize) -> bool {
        self.queues.get(step).is_some_and(Queue::claim)
    }

    /// The next inference of a step that was claimed; without one it is given
    /// back.
    pub(crate) fn more(&self, step: usize) -> Option<Arc<Job>> {
        self.queues.get(step).and_then(Queue::more)
    }

    /// Gives a step back.
    pub(crate) fn release(&self, step: usize) {
        if let Some(queue) = self.queues.get(step) {
            queue.release();
        }
    }

    /// Becomes true when nobody waits any more for what the threads do.
    pub(crate) fn given_up(&self) -> &AtomicBool {
        &self.given_up
    }

    /// Cuts short what the threads do now.
    pub(crate) fn give_up(&self) {
        self.given_up.store(true, Relaxed);
    }

    /// Lets the threads end once they are done with what they do now.
    pub(crate) fn close(&self) {
        self.give_up();
        self.queues.iter().for_each(Queue::close);
    }

    /// Waits for the threads after [`Self::close`].
    pub(crate) fn join(&self) {
        let threads = std::mem::take(&mut *self.threads());
        for thread in threads {
            // a thread that panicked has ended too
            let _ = thread.join();
        }
    }
}
