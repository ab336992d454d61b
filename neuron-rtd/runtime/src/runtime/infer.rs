//! Inferences: post, wait, poll.

use super::Runtime;
use crate::attributes;
use crate::cookies::Fetched;
use crate::failure::{Code, Failure};
use crate::inspect::Kind;
use crate::job::Waiter;
use crate::request::{Outcome, Request};

impl Runtime {
    /// Accepts an inference and returns its cookie.
    ///
    /// # Errors
    ///
    /// Nothing was queued: a model that does not run, bad input, a full queue.
    pub fn post(&self, request: Request) -> Result<u64, Failure> {
        self.submit(request, None)
    }

    /// Accepts an inference; `done` is called once with its outcome, on the
    /// thread that ends it, and must not wait for anything. For a model whose
    /// inferences are very short that may be this thread, before this returns.
    ///
    /// # Errors
    ///
    /// As [`Self::post`]; then `done` is not called.
    pub fn post_with(
        &self,
        request: Request,
        done: impl FnOnce(Outcome) + Send + 'static,
    ) -> Result<(), Failure> {
        self.submit(request, Some(Box::new(done))).map(|_| ())
    }

    /// Runs an inference and waits for it.
    pub fn infer(&self, request: Request) -> Outcome {
        let (send, receive) = std::sync::mpsc::sync_channel(1);
        let recorder = self.recorder();
        let begun = recorder.as_ref().and_then(|recorder| {
            let core = self.first_core(request.model);
            recorder.begin(Kind::EXECUTE, core, attributes! { "model_id": request.model })
        });
        let posted = self.post_with(request, move |outcome| {
            let _ = send.send(outcome);
        });
        let outcome = received(posted, &receive);
        if let Some(recorder) = recorder {
            recorder.end(begun, Vec::new());
        }
        outcome
    }

    /// First core of a model; 0 for none.
    fn first_core(&self, id: u32) -> u32 {
        self.model(id).map_or(0, |model| model.first_core)
    }

    fn submit(&self, request: Request, waiter: Option<Waiter>) -> Result<u64, Failure> {
        self.check_serving()?;
        let model = self.model(request.model)?;
        let recorder = self.recorder();
        let begun = recorder.as_ref().and_then(|recorder| {
            let attributes = attributes! { "model_id": request.model };
            recorder.begin(Kind::SUBMIT, model.first_core, attributes)
        });
        let posted = model.post(request, waiter);
        if let Some(recorder) = recorder {
            recorder.end(begun, Vec::new());
        }
        posted
    }

    /// Waits for a posted inference; its cookie is gone afterwards.
    pub fn wait(&self, cookie: u64) -> Outcome {
        let (send, receive) = std::sync::mpsc::sync_channel(1);
        let waiting = self.wait_with(cookie, move |outcome| {
            let _ = send.send(outcome);
        });
        received(waiting, &receive)
    }

    /// Hands the outcome of a posted inference to `done`, now or when it is
    /// there.
    ///
    /// # Errors
    ///
    /// An unknown cookie, or one that somebody waits for; `done` is not called.
    pub fn wait_with(
        &self,
        cookie: u64,
        done: impl FnOnce(Outcome) + Send + 'static,
    ) -> Result<(), Failure> {
        let mut waiter: Option<Waiter> = Some(Box::new(done));
        if let Fetched::Outcome(outcome, job) = self.shared().cookies.fetch(cookie, &mut waiter)? {
            if let Some(model) = job.model.upgrade() {
                model.fetched(&job);
            }
            if let Some(done) = waiter {
                done(*outcome);
            }
        }
        Ok(())
    }

    /// The outcome of a posted inference if it is there.
    ///
    /// # Errors
    ///
    /// [`Code::Pending`]; an unknown cookie.
    pub fn poll(&self, cookie: u64) -> Result<Outcome, Failure> {
        match self.shared().cookies.fetch(cookie, &mut None)? {
            Fetched::Outcome(outcome, job) => {
                if let Some(model) = job.model.upgrade() {
                    model.fetched(&job);
                }
                Ok(*outcome)
            }
            Fetched::Pending => {
                let text = format!("cookie {cookie:#x} is not done");
                Err(Failure::new(Code::Pending, "NMGR:infer_poll", text))
            }
        }
    }

    /// Cuts short what a model does now; it ends with an error, and a backend that
    /// can leaves a profile of what was done. Nothing for an unknown model.
    pub fn give_up(&self, id: u32) {
        if let Ok(model) = self.model(id) {
            model.give_up();
        }
    }

    /// Those of `cookies` that are done.
    ///
    /// # Errors
    ///
    /// An unknown cookie.
    pub fn completed(&self, cookies: &[u64]) -> Result<Vec<u64>, Failure> {
        self.shared().cookies.done(cookies)
    }
}

fn received(
    accepted: Result<(), Failure>,
    receive: &std::sync::mpsc::Receiver<Outcome>,
) -> Outcome {
    match accepted {
        Err(failure) => Outcome::failed(failure),
        Ok(()) => receive.recv().unwrap_or_else(|_| {
            let text = "the runtime ended before the inference";
            Outcome::failed(Failure::new(Code::Cancelled, "NMGR:exec_wait", text))
        }),
    }
}
