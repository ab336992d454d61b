//! The gRPC server over all services, and who is let in.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rtd_api::nmgr_ext_v1_server::NmgrExtV1Server;
use rtd_api::nmgr_session_manager_server::NmgrSessionManagerServer;
use rtd_api::nmgr_stream_server::NmgrStreamServer;
use rtd_api::nmgr_v1_server::NmgrV1Server;
use rtd_runtime::Level;
use tokio::sync::{mpsc, watch};
use tonic::transport::Server;

use super::Plan;
use crate::service::{Service, Shared};
use crate::transport::{Endpoint, Listener};

/// Flow-control windows: large enough that an input of some MiB is not held up.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

/// Calls of one connection at a time: a client may wait for every inference of
/// a model with the deepest queue, and post more meanwhile.
const MOST_CALLS: u32 = 4096;

/// Calls of one connection that were given up before they were looked at.
const MOST_RESETS: usize = 2 * MOST_CALLS as usize;

/// The server at work.
pub(super) type Serving = Pin<Box<dyn Future<Output = Result<(), tonic::transport::Error>> + Send>>;

impl Plan {
    /// The server over all services; it ends when `ending` says so.
    pub(super) fn server(
        &self,
        shared: Shared,
        health: tonic_health::pb::health_server::HealthServer<
            impl tonic_health::pb::health_server::Health,
        >,
        listener: Listener,
        mut ending: watch::Receiver<bool>,
    ) -> Result<Serving, String> {
        let service = Service(Arc::new(shared));
        let most = self.config.max_message_bytes;
        let reflection = || {
            tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(rtd_api::DESCRIPTORS)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        };
        let told = |error: tonic_reflection::server::Error| error.to_string();
        let mut builder = Server::builder()
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_concurrent_streams(MOST_CALLS)
            // a client that gives up all of its calls at once, as with short
            // deadlines, keeps its connection and with it its session
            .http2_max_pending_accept_reset_streams(Some(MOST_RESETS));
        if matches!(self.endpoint, Endpoint::Tcp(_)) {
            // a dead peer of a Unix socket shows by itself
            let interval = Duration::from_secs(self.config.keepalive_sec);
            builder = builder.http2_keepalive_interval(Some(interval));
        }
        let router = builder
            .add_service(
                NmgrV1Server::new(service.clone())
                    .max_decoding_message_size(most)
                    .max_encoding_message_size(most),
            )
            .add_service(
                NmgrStreamServer::new(service.clone())
                    .max_decoding_message_size(most)
                    .max_encoding_message_size(most),
            )
            .add_service(NmgrSessionManagerServer::new(service.clone()))
            .add_service(NmgrExtV1Server::new(service))
            .add_service(health)
            .add_service(reflection().build_v1().map_err(told)?)
            .add_service(reflection().build_v1alpha().map_err(told)?);
        let (send, connections) = mpsc::channel(16);
        let (log, mut accepting) = (Arc::clone(&self.log), ending.clone());
        tokio::spawn(async move {
            loop {
                let connection = tokio::select! {
                    connection = listener.accept() => connection,
                    _ = accepting.wait_for(|ending| *ending) => return,
                };
                let text = format!("connection from {}", connection.peer());
                log.line(Level::Debug, "NRTD:RunServer", &text);
                if send.send(Ok::<_, std::io::Error>(connection)).await.is_err() {
                    return;
                }
            }
        });
        let incoming = tokio_stream::wrappers::ReceiverStream::new(connections);
        Ok(Box::pin(router.serve_with_incoming_shutdown(incoming, async move {
            let _ = ending.wait_for(|ending| *ending).await;
        })))
    }
}
