//! `v1.PodResourcesLister/List` on the kubelet's socket.

use std::path::Path;
use std::time::Duration;

use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Endpoint;

use super::pods::{ListRequest, ListResponse, Pods};

/// Time for one question.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Longest answer, bytes: the kubelet's own clients take 16 MiB.
const LIMIT: usize = 16 << 20;

/// Asks once, over a connection of its own: a kubelet that restarts makes the
/// socket anew.
///
/// # Errors
///
/// One line: nobody answers, not in time, or not as the kubelet does.
pub(super) fn list(socket: &Path) -> Result<Pods, String> {
    let failed = |reason: String| {
        let reason = neuron_core::model::printable(&reason);
        format!("cannot ask the kubelet at {}: {reason}", socket.display())
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| failed(error.to_string()))?;
    let asked = runtime.block_on(async { tokio::time::timeout(TIMEOUT, ask(socket)).await });
    // What a hostile server keeps going is not waited for.
    runtime.shutdown_background();
    match asked {
        Ok(answer) => answer.map(Pods::of).map_err(failed),
        Err(_) => Err(failed(format!("no answer within {} s", TIMEOUT.as_secs()))),
    }
}

async fn ask(socket: &Path) -> Result<ListResponse, String> {
    let endpoint = Endpoint::try_from(format!("unix:{}", socket.display()))
        .map_err(|error| innermost(&error))?;
    let channel = endpoint.connect().await.map_err(|error| innermost(&error))?;
    let mut client = Grpc::new(channel).max_decoding_message_size(LIMIT);
    client.ready().await.map_err(|error| innermost(&error))?;
    let path = PathAndQuery::from_static("/v1.PodResourcesLister/List");
    let codec = tonic_prost::ProstCodec::<ListRequest, ListResponse>::default();
    let answer = client.unary(tonic::Request::new(ListRequest {}), path, codec).await;
    let told = |status: tonic::Status| match std::error::Error::source(&status) {
        Some(source) => innermost(source),
        None => format!("{:?}: {}", status.code(), status.message()),
    };
    answer.map(tonic::Response::into_inner).map_err(told)
}

/// The reason behind reasons.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        reason = inner.to_string();
        source = inner.source();
    }
    reason
}
