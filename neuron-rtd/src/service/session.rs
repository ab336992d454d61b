//! `session_monitor` (neuron-rtd.md §1.7): the answer comes at once, before any
//! request, and the session lives as long as the stream.

use std::sync::atomic::Ordering::Relaxed;

use rtd_api::nmgr_session_manager_server::NmgrSessionManager;
use rtd_api::{SessionMonitorRequest, SessionMonitorResponse};
use rtd_runtime::{Level, Runtime};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

use super::Service;

const PLACE: &str = "NRTD:session_monitor";

#[tonic::async_trait]
impl NmgrSessionManager for Service {
    type session_monitorStream = ReceiverStream<Result<SessionMonitorResponse, Status>>;

    async fn session_monitor(
        &self,
        request: Request<Streaming<SessionMonitorRequest>>,
    ) -> Result<Response<Self::session_monitorStream>, Status> {
        let runtime = self.runtime().ok().cloned();
        let (send, receive) = mpsc::channel(1);
        // without a runtime a client gets its session too, so that its next
        // call tells it why
        let session_id = match &runtime {
            Some(runtime) => runtime.open_session(),
            None => self.0.sessions.fetch_add(1, Relaxed).wrapping_add(1),
        };
        let runtime_version = Some(super::version(runtime.as_ref()));
        let hello = SessionMonitorResponse { session_id, runtime_version };
        // there is room: nothing was sent yet
        let _ = send.try_send(Ok(hello));
        tokio::spawn(self.clone().follow(runtime, session_id, request.into_inner(), send));
        Ok(Response::new(ReceiverStream::new(receive)))
    }
}

impl Service {
    /// Follows a session's stream to its end, then gives back what it owns.
    async fn follow(
        self,
        runtime: Option<Runtime>,
        session: u64,
        mut stream: Streaming<SessionMonitorRequest>,
        send: mpsc::Sender<Result<SessionMonitorResponse, Status>>,
    ) {
        let mut ending = self.0.ending.clone();
        loop {
            let message = tokio::select! {
                message = stream.message() => message,
                // the daemon ends: so does the stream
                _ = ending.wait_for(|ending| *ending) => break,
                // nobody reads our side any more
                () = send.closed() => break,
            };
            let Ok(Some(hello)) = message else { break };
            let version = |version: Option<rtd_api::Version>| {
                version.map_or_else(|| "?".to_owned(), |version| version.full_version)
            };
            let text = format!(
                "Session {session}: {} {}, plugin {}",
                hello.framework_name,
                version(hello.framework_version),
                version(hello.fal_version)
            );
            self.0.log.line(Level::Info, PLACE, &text);
        }
        if let Some(runtime) = runtime.filter(|_| self.0.config.session_cleanup) {
            let closed = tokio::task::spawn_blocking(move || runtime.close_session(session));
            let _ = closed.await;
        }
        // after the clean-up, so that a client that waits sees it done
        drop(send);
    }
}
