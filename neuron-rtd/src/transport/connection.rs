//! A connection of a client, over either kind of socket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tonic::transport::server::Connected;

use super::authority::Authority;

#[derive(Debug)]
enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// A client's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: Socket,
    authority: Authority,
}

impl Connection {
    pub(crate) fn unix(socket: UnixStream) -> Self {
        Self { socket: Socket::Unix(socket), authority: Authority::new() }
    }

    pub(crate) fn tcp(socket: TcpStream) -> Self {
        Self { socket: Socket::Tcp(socket), authority: Authority::new() }
    }

    /// Who is at the other end.
    pub(crate) fn peer(&self) -> String {
        match &self.socket {
            Socket::Unix(socket) => match socket.peer_cred() {
                Ok(peer) => {
                    let pid = peer.pid().map_or_else(|| "?".to_owned(), |pid| pid.to_string());
                    format!("pid {pid}, uid {}", peer.uid())
                }
                Err(error) => format!("an unknown process: {error}"),
            },
            Socket::Tcp(socket) => match socket.peer_addr() {
                Ok(address) => address.to_string(),
                Err(error) => format!("an unknown address: {error}"),
            },
        }
    }
}

impl Connected for Connection {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = match &mut self.socket {
            Socket::Unix(socket) => Pin::new(socket).poll_read(context, buffer),
            Socket::Tcp(socket) => Pin::new(socket).poll_read(context, buffer),
        };
        if let Some(fresh) = buffer.filled_mut().get_mut(before..) {
            self.authority.pass(fresh);
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.socket {
            Socket::Unix(socket) => Pin::new(socket).poll_write(context, bytes),
            Socket::Tcp(socket) => Pin::new(socket).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.socket {
            Socket::Unix(socket) => Pin::new(socket).poll_write_vectored(context, parts),
            Socket::Tcp(socket) => Pin::new(socket).poll_write_vectored(context, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Unix(socket) => Pin::new(socket).poll_flush(context),
            Socket::Tcp(socket) => Pin::new(socket).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Unix(socket) => Pin::new(socket).poll_shutdown(context),
            Socket::Tcp(socket) => Pin::new(socket).poll_shutdown(context),
        }
    }
}
