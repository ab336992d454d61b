//! The server on a Unix socket: for the plug-in of TensorBoard, which hands its
//! requests over.
//!
//! The socket may be used by its owner alone, and the kernel tells who connects.
//! Who may read what TensorBoard serves is TensorBoard's matter; here nothing can
//! be changed but documents (layouts and annotations).

use std::io::{Read as _, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use anyhow::Context as _;
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

use super::access::Access;
use super::listener::{MOST, PAUSE, Peer, Stream};
use super::opened::Opened;
use super::{DRAIN, router};
use crate::tensorboard::prepare::{Board, Wanted};
use crate::tensorboard::runs::Run;

/// Bytes that a document may have are its only uploads.
const NO_UPLOADS: u64 = 0;

/// A socket that knows who has connected.
struct Owned {
    listener: UnixListener,
    access: Access,
    room: Arc<Semaphore>,
}

impl Listener for Owned {
    type Io = Stream<UnixStream>;
    type Addr = Peer;

    async fn accept(&mut self) -> (Self::Io, Peer) {
        // The semaphore is never closed.
        let room = Arc::clone(&self.room).acquire_owned().await.ok();
        loop {
            match self.listener.accept().await {
                Ok((inner, _)) => {
                    let user = inner.peer_cred().map(|peer| peer.uid());
                    let admitted = self.access.admits_user(user.ok());
                    return (Stream::new(inner, room), Peer(admitted));
                }
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionAborted => {}
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Peer> {
        Ok(Peer(Ok(())))
    }
}

impl Connected<IncomingStream<'_, Owned>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Owned>) -> Self {
        *stream.remote_addr()
    }
}

/// Serves the runs of a log directory until a signal, or until stdin is closed.
///
/// # Errors
///
/// A socket that cannot be made.
pub fn serve(
    board: &Arc<Board>,
    work: Receiver<(Run, Wanted)>,
    path: &Path,
    until_stdin_closes: bool,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("cannot make threads")?.block_on(async {
        let listener = UnixListener::bind(path);
        let listener = listener.with_context(|| format!("cannot listen on {}", path.display()))?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
            .map_err(neuron_core::Error::io("protect", path))?;
        let _remove = Remove(path);
        let on = |kind| signal(kind).context("cannot catch signals");
        let (mut ctrl_c, mut term) = (on(SignalKind::interrupt())?, on(SignalKind::terminate())?);
        let (closed, close) = tokio::sync::oneshot::channel::<()>();
        let watched = until_stdin_closes.then_some(closed).map(watch).transpose()?;
        let (opened, _queue) = Opened::with_board(Arc::clone(board), NO_UPLOADS);
        let opened = Arc::new(opened);
        let maker = Arc::clone(board);
        let making = std::thread::Builder::new().name(String::from("prepare"));
        let making = making.spawn(move || maker.work(&work)).context("cannot make a thread")?;
        writeln!(out, "Listening on {}", path.display())?;
        out.flush()?;
        let access = Access::socket();
        let app = router(Arc::clone(&opened), access.clone());
        let service = app.into_make_service_with_connect_info::<Peer>();
        let (send, asked) = tokio::sync::oneshot::channel::<()>();
        let owned = Owned { listener, access, room: Arc::new(Semaphore::new(MOST)) };
        let server = axum::serve(owned, service)
            .with_graceful_shutdown(async move {
                let _ = asked.await;
            })
            .into_future();
        let mut server = std::pin::pin!(server);
        let ended = async {
            if watched.is_some() {
                let _ = close.await;
            } else {
                std::future::pending::<()>().await;
            }
        };
        let done = tokio::select! {
            done = &mut server => done.context("the server broke off"),
            _ = ctrl_c.recv() => Ok(()),
            _ = term.recv() => Ok(()),
            () = ended => Ok(()),
        };
        opened.finish();
        board.finish();
        let _ = send.send(());
        if done.is_ok() {
            let _ = tokio::time::timeout(DRAIN, server).await;
        }
        let _ = making.join();
        done
    })
}

/// Says when stdin is closed. The thread ends with the program.
fn watch(closed: tokio::sync::oneshot::Sender<()>) -> anyhow::Result<()> {
    let wait = move || {
        let mut byte = [0; 64];
        while std::io::stdin().read(&mut byte).is_ok_and(|read| read > 0) {}
        let _ = closed.send(());
    };
    let thread = std::thread::Builder::new().name(String::from("stdin")).spawn(wait);
    thread.map(|_| ()).context("cannot make a thread")
}

/// The name of the socket goes with the server.
struct Remove<'p>(&'p Path);

impl Drop for Remove<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.0);
    }
}
