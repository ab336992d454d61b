//! Inference: requests to the runtime, outcomes to responses.

use std::sync::Arc;

use rtd_api::{InferIo, InferRequest, InferResponse, InferWaitRequest, infer_io};
use rtd_runtime::{Code, Data, Failure, Input, Outcome, Request, Runtime, SharedBuffer};
use tokio::sync::oneshot;

use super::Service;

const PLACE: &str = "NRTD:infer";

pub(super) fn lost() -> Outcome {
    Outcome::failed(Failure::new(Code::Cancelled, PLACE, "the inference was given up"))
}

/// Names of outputs with the memory they go to.
type Sinks = Vec<(String, Arc<SharedBuffer>)>;

fn sinks(runtime: &Runtime, outputs: Vec<InferIo>) -> Result<Sinks, Failure> {
    let mut sinks = Vec::new();
    for InferIo { name, data } in outputs {
        let Some(infer_io::Data::BufShm(place)) = data else {
            let text = format!("output {name:?} of shm_ofmap names no shared memory");
            return Err(Failure::new(Code::BadInput, PLACE, text));
        };
        sinks.push((name, runtime.shared_buffer(&place.path)?));
    }
    Ok(sinks)
}

impl Service {
    fn request(&self, request: InferRequest) -> Result<Request, Failure> {
        let runtime = self.runtime()?;
        let mut inputs = Vec::new();
        for InferIo { name, data } in request.ifmap {
            let input = match data {
                Some(infer_io::Data::Buf(bytes)) => Input::Inline(Data::new(bytes)),
                Some(infer_io::Data::BufShm(place)) => {
                    Input::Shared(runtime.shared_buffer(&place.path)?)
                }
                // an empty buffer
                None => Input::Inline(Data::new([])),
            };
            inputs.push((name, input));
        }
        if request.loop_end_value != 0 {
            let text = "loop_end_value is not supported";
            return Err(Failure::new(Code::Invalid, PLACE, text));
        }
        let model = request.h_nn.unwrap_or_default().id;
        Ok(Request { model, inputs, outputs: sinks(runtime, request.shm_ofmap)? })
    }

    /// Begins an inference whose outcome comes later.
    pub(super) fn begin(
        &self,
        request: InferRequest,
    ) -> Result<oneshot::Receiver<Outcome>, Failure> {
        let request = self.request(request)?;
        let (send, receive) = oneshot::channel();
        // nobody is there any more when the client has gone
        self.runtime()?.post_with(request, |outcome| {
            let _ = send.send(outcome);
        })?;
        Ok(receive)
    }

    pub(super) async fn infer_once(&self, request: InferRequest) -> InferResponse {
        let outcome = match self.begin(request) {
            Ok(receive) => receive.await.unwrap_or_else(|_| lost()),
            Err(failure) => Outcome::failed(failure),
        };
        self.outcome("infer", outcome)
    }

    pub(super) fn post(&self, request: InferRequest) -> Result<u64, Failure> {
        let request = self.request(request)?;
        self.runtime()?.post(request)
    }

    pub(super) async fn wait(&self, request: InferWaitRequest) -> InferResponse {
        let outcome = self.waited(request).await.unwrap_or_else(Outcome::failed);
        self.outcome("infer_wait", outcome)
    }

    async fn waited(&self, request: InferWaitRequest) -> Result<Outcome, Failure> {
        let runtime = self.runtime()?;
        // what is wrong with the list is told before the cookie is used up
        let sinks = sinks(runtime, request.shm_ofmap)?;
        let (send, receive) = oneshot::channel();
        runtime.wait_with(request.cookie, |outcome| {
            let _ = send.send(outcome);
        })?;
        let outcome = receive.await.unwrap_or_else(|_| lost());
        moved(outcome, &sinks)
    }

    pub(super) fn poll(&self, request: InferWaitRequest) -> InferResponse {
        let polled = || {
            let runtime = self.runtime()?;
            let sinks = sinks(runtime, request.shm_ofmap)?;
            moved(runtime.poll(request.cookie)?, &sinks)
        };
        self.outcome("infer_poll", polled().unwrap_or_else(Outcome::failed))
    }
}

/// Puts outputs where a wait wants them, if the post did not.
fn moved(mut outcome: Outcome, sinks: &Sinks) -> Result<Outcome, Failure> {
    let wrong = |reason: String| Failure::new(Code::BadInput, PLACE, reason);
    for (name, sink) in sinks {
        if let Some((_, from, bytes)) = outcome.written.iter().find(|(written, ..)| written == name)
        {
            sink.copy_from(from, *bytes).map_err(wrong)?;
        } else if let Some(at) = outcome.outputs.iter().position(|(output, _)| output == name) {
            let (_, bytes) = outcome.outputs.swap_remove(at);
            sink.put(name, &bytes).map_err(wrong)?;
        } else if outcome.failure.is_none() {
            return Err(wrong(format!("the model has no output {name:?}")));
        }
    }
    Ok(outcome)
}
