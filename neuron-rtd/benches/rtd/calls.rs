//! Calls of the client: loads, inferences, many of them at once.

use std::time::Instant;

use rtd_api::infer_io::Data;
use rtd_api::load_request::Content;
use rtd_api::nmgr_v1_client::NmgrV1Client;
use rtd_api::*;
use tonic::transport::Channel;

use crate::daemon::Server;

/// A status must be there and good.
#[track_caller]
pub(crate) fn good(status: Option<Status>) {
    let status = status.unwrap();
    assert_eq!(status.code, 0, "{}", String::from_utf8_lossy(&status.details));
}

/// Loads a NEFF into a group of its own, which starts it.
pub(crate) async fn load(client: &mut NmgrV1Client<Channel>, neff: &[u8], ninfer: u32) -> u32 {
    let params = ModelParams {
        timeout: Some(U32 { data: 60 }),
        ninfer: Some(U32 { data: ninfer }),
        ..ModelParams::default()
    };
    let mut contents = vec![Content::NeffSize(neff.len() as u64), Content::ModelParams(params)];
    for chunk in neff.chunks(1 << 20) {
        contents.push(Content::NeffChunk(FileChunk { chunk: chunk.to_vec().into() }));
    }
    let messages = contents.into_iter().map(|content| LoadRequest { content: Some(content) });
    let messages: Vec<LoadRequest> = messages.collect();
    let loaded = client.load(tokio_stream::iter(messages)).await.unwrap().into_inner();
    good(loaded.status);
    loaded.h_nn.unwrap().id
}

/// An inference with inputs inline.
pub(crate) fn request(model: u32, inputs: &[(String, Vec<u8>)]) -> InferRequest {
    let input = |(name, data): &(String, Vec<u8>)| InferIo {
        name: name.clone(),
        data: Some(Data::Buf(data.clone().into())),
    };
    InferRequest {
        h_nn: Some(HNn { id: model }),
        ifmap: inputs.iter().map(input).collect(),
        ..InferRequest::default()
    }
}

/// What a round of calls took.
#[derive(Debug, Clone, Default)]
pub(crate) struct Round {
    /// Each call, in microseconds.
    pub(crate) micros: Vec<f64>,
    /// Calls in a second.
    pub(crate) rate: f64,
}

/// So many inferences by each client at the same time, one after the other.
pub(crate) async fn drive(
    clients: &[NmgrV1Client<Channel>],
    request: &InferRequest,
    each: usize,
) -> Round {
    let start = Instant::now();
    let mut tasks = Vec::new();
    for client in clients {
        let (mut client, request) = (client.clone(), request.clone());
        tasks.push(tokio::spawn(async move {
            let mut micros = Vec::with_capacity(each);
            for _ in 0..each {
                let from = Instant::now();
                let answer = client.infer(request.clone()).await.unwrap().into_inner();
                micros.push(from.elapsed().as_secs_f64() * 1e6);
                good(answer.status);
            }
            micros
        }));
    }
    let mut micros = Vec::new();
    for task in tasks {
        micros.extend(task.await.unwrap());
    }
    let rate = micros.len() as f64 / start.elapsed().as_secs_f64();
    Round { micros, rate }
}

/// Inferences that ended well so far.
pub(crate) async fn completed(daemon: &Server) -> u64 {
    let mut client = daemon.client().await;
    let counters = client.read_inference_counters(Empty {}).await.unwrap().into_inner();
    let counts = counters.nmgr_counters.unwrap().infer_status_counts;
    counts.iter().find(|row| row.infer_status() == InferStatus::IstOk).unwrap().count.into()
}
