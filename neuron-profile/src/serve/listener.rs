//! A listener that knows who has connected.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::access::{Access, Refusal};

/// Connections at most; more wait (our choice).
pub(super) const MOST: usize = 256;

/// How long to wait when the system has no more descriptors.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// See the module.
#[derive(Debug)]
pub(super) struct Guarded {
    listener: TcpListener,
    access: Access,
    room: Arc<Semaphore>,
}

/// Whether the peer of a connection is answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) Result<(), Refusal>);

/// A connection, which gives its place back when it is closed.
#[derive(Debug)]
pub(super) struct Stream<T> {
    inner: T,
    _room: Option<OwnedSemaphorePermit>,
}

impl<T> Stream<T> {
    pub(super) fn new(inner: T, room: Option<OwnedSemaphorePermit>) -> Self {
        Self { inner, _room: room }
    }
}

impl Guarded {
    pub(super) fn new(listener: TcpListener, access: Access) -> Self {
        Self { listener, access, room: Arc::new(Semaphore::new(MOST)) }
    }
}

impl Listener for Guarded {
    type Io = Stream<TcpStream>;
    type Addr = Peer;

    async fn accept(&mut self) -> (Self::Io, Peer) {
        // The semaphore is never closed.
        let room = Arc::clone(&self.room).acquire_owned().await.ok();
        loop {
            match self.listener.accept().await {
                Ok((inner, peer)) => {
                    let local = inner.local_addr();
                    let admitted = local.map(|local| self.access.admits(peer, local));
                    // One that has gone already needs no answer.
                    let Ok(admitted) = admitted else { continue };
                    let _ = inner.set_nodelay(true);
                    return (Stream::new(inner, room), Peer(admitted));
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<Peer> {
        Ok(Peer(Ok(())))
    }
}

impl Connected<IncomingStream<'_, Guarded>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Guarded>) -> Self {
        *stream.remote_addr()
    }
}

/// Where a listener stands, for the printed link.
pub(super) fn place(listener: &TcpListener) -> io::Result<SocketAddr> {
    listener.local_addr()
}

mod io_of_stream {
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

    use super::Stream;

    impl<T: AsyncRead + Unpin> AsyncRead for Stream<T> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.inner).poll_read(context, buffer)
        }
    }

    impl<T: AsyncWrite + Unpin> AsyncWrite for Stream<T> {
        fn poll_write(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.inner).poll_write(context, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.inner).poll_flush(context)
        }

        fn poll_shutdown(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.inner).poll_shutdown(context)
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            slices: &[io::IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.inner).poll_write_vectored(context, slices)
        }

        fn is_write_vectored(&self) -> bool {
            self.inner.is_write_vectored()
        }
    }
}
