//! The threads of a started model: one for each step, each with a queue.
//!
//! A step does one inference at a time, in the order in which they arrive; so
//! inferences keep their order from step to step, and several are in
//! different steps at once.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::job::Job;

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<(VecDeque<Arc<Job>>, bool)>,
    ready: Condvar,
}

impl Queue {
    fn push(&self, job: Arc<Job>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.1 {
            state.0.push_back(job);
            drop(state);
            self.ready.notify_one();
        }
    }

    /// The next inference; `None` once closed.
    fn pop(&self) -> Option<Arc<Job>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if state.1 {
                return None;
            }
            if let Some(job) = state.0.pop_front() {
                return Some(job);
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.1 = true;
        state.0.clear();
        drop(state);
        self.ready.notify_all();
    }
}

/// The queues and threads of a started model.
#[derive(Debug)]
pub(crate) struct Run {
    queues: Vec<Queue>,
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
        let run = Arc::new(Self { queues, threads: Mutex::default() });
        let work = Arc::new(work);
        for step in 0..steps {
            let (own, work) = (Arc::clone(&run), Arc::clone(&work));
            let body = move || {
                while let Some(job) = own.queues.get(step).and_then(Queue::pop) {
                    work(&own, step, job);
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

    /// Lets the threads end once they are done with what they do now.
    pub(crate) fn close(&self) {
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
