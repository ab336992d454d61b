//! `infer_stream`: responses in the order of the requests, because they carry
//! no cookie.

use rtd_api::nmgr_stream_server::NmgrStream;
use rtd_api::{InferRequest, InferResponse};
use rtd_runtime::{Failure, Outcome};
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

use super::Service;

/// Inferences of one stream that may be under way: more wait to be read.
const DEPTH: usize = 1024;

#[tonic::async_trait]
impl NmgrStream for Service {
    type infer_streamStream = ReceiverStream<Result<InferResponse, Status>>;

    async fn infer_stream(
        &self,
        request: Request<Streaming<InferRequest>>,
    ) -> Result<Response<Self::infer_streamStream>, Status> {
        let (begun, mut next) = mpsc::channel::<Result<oneshot::Receiver<Outcome>, Failure>>(DEPTH);
        let (send, receive) = mpsc::channel(1);
        let (reader, writer) = (self.clone(), self.clone());
        let mut stream = request.into_inner();
        tokio::spawn(async move {
            while let Ok(Some(request)) = stream.message().await {
                if begun.send(reader.begin(request)).await.is_err() {
                    return;
                }
            }
        });
        tokio::spawn(async move {
            while let Some(begun) = next.recv().await {
                let outcome = match begun {
                    Ok(outcome) => outcome.await.unwrap_or_else(|_| super::infer::lost()),
                    Err(failure) => Outcome::failed(failure),
                };
                let response = writer.outcome("infer_stream", outcome);
                if send.send(Ok(response)).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(receive)))
    }
}
