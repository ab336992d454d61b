//! The least that a tonic server does: it decodes the request of an inference
//! and gives its inputs back as outputs.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::task::{Context, Poll};

use rtd_api::{InferRequest, InferResponse, Status};
use tonic::body::Body;
use tonic::codegen::http;
use tonic::server::{Grpc, NamedService, UnaryService};

#[derive(Debug, Clone)]
struct Echo;

impl NamedService for Echo {
    const NAME: &'static str = "nrt.nmgr_v1";
}

impl UnaryService<InferRequest> for Echo {
    type Response = InferResponse;
    type Future = Ready<Result<tonic::Response<InferResponse>, tonic::Status>>;

    fn call(&mut self, request: tonic::Request<InferRequest>) -> Self::Future {
        let status = Some(Status::default());
        let response = InferResponse { status, ofmap: request.into_inner().ifmap };
        ready(Ok(tonic::Response::new(response)))
    }
}

impl tonic::codegen::Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(async move {
            let mut grpc = Grpc::new(tonic_prost::ProstCodec::default());
            Ok(grpc.unary(Echo, request).await)
        })
    }
}

/// Serves on a Unix socket until the process is killed.
pub(crate) fn serve(path: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let socket = tokio::net::UnixListener::bind(path).unwrap();
        let incoming = tokio_stream::wrappers::UnixListenerStream::new(socket);
        let server = tonic::transport::Server::builder().add_service(Echo);
        server.serve_with_incoming(incoming).await.unwrap();
    });
}
