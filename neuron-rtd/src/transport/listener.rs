//! A listening socket, owned by one daemon.
//!
//! The file of a Unix socket says nothing about whether somebody listens, so a
//! lock beside it does: who holds it may remove a stale socket file.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};
use tokio::net::{TcpListener, UnixListener};

use super::{Connection, Endpoint};

/// How long to wait when no connection can be taken, as with too many files.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug)]
enum Socket {
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener),
}

/// A listening socket. Dropping it removes the file of a Unix socket.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: Socket,
    /// The address that was really taken, `:0` resolved.
    pub(crate) endpoint: Endpoint,
    _lock: Option<File>,
}

impl Listener {
    /// Takes the lock of an endpoint, so that a second daemon fails early.
    ///
    /// # Errors
    ///
    /// Another daemon holds it.
    pub(crate) fn claim(endpoint: &Endpoint) -> Result<Option<File>, String> {
        let Endpoint::Unix(path) = endpoint else { return Ok(None) };
        let lock = lock_path(path);
        let fail = |error: io::Error| format!("cannot lock {}: {error}", lock.display());
        let nofollow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            // a link must not make us write into a file of somebody else
            .custom_flags(nofollow)
            .open(&lock)
            .map_err(fail)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut owner = String::new();
            let _ = file.take(32).read_to_string(&mut owner);
            let owner = owner.trim();
            let owner = if owner.is_empty() { "?" } else { owner };
            return Err(format!(
                "{endpoint} belongs to a daemon that runs, pid {owner}; stop it or choose another \
                 address with -g"
            ));
        }
        let text = format!("{}\n", std::process::id());
        file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).map_err(fail)?;
        Ok(Some(file))
    }

    /// Listens.
    ///
    /// # Errors
    ///
    /// Somebody else listens there, something that is no socket is in the way,
    /// or the system says no.
    pub(crate) async fn bind(
        endpoint: &Endpoint,
        mode: u32,
        lock: Option<File>,
    ) -> Result<Self, String> {
        let fail = |error: io::Error| format!("cannot listen on {endpoint}: {error}");
        match endpoint {
            Endpoint::Unix(path) => {
                clear(path)?;
                let socket = UnixListener::bind(path).map_err(fail)?;
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
                    .map_err(fail)?;
                let socket = Socket::Unix(socket, path.clone());
                Ok(Self { socket, endpoint: endpoint.clone(), _lock: lock })
            }
            Endpoint::Tcp(address) => {
                let socket = TcpListener::bind(address.as_str()).await.map_err(fail)?;
                let taken = socket.local_addr().map_err(fail)?;
                let endpoint = Endpoint::Tcp(taken.to_string());
                Ok(Self { socket: Socket::Tcp(socket), endpoint, _lock: lock })
            }
        }
    }

    /// The next connection. A moment without descriptors is waited out.
    pub(crate) async fn accept(&self) -> Connection {
        loop {
            let accepted = match &self.socket {
                Socket::Unix(socket, _) => {
                    socket.accept().await.map(|(stream, _)| Connection::unix(stream))
                }
                Socket::Tcp(socket) => socket.accept().await.map(|(stream, _)| {
                    // a lost option costs time only
                    let _ = stream.set_nodelay(true);
                    Connection::tcp(stream)
                }),
            };
            match accepted {
                Ok(connection) => return connection,
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Socket::Unix(_, path) = &self.socket {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn lock_path(socket: &Path) -> PathBuf {
    let mut name = socket.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

/// Removes a socket file that nobody listens on.
fn clear(path: &Path) -> Result<(), String> {
    let shown = path.display();
    let facts = match std::fs::symlink_metadata(path) {
        Ok(facts) => facts,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(format!("cannot look at {shown}: {error}")),
    };
    if !facts.file_type().is_socket() {
        return Err(format!("{shown} is there and is no socket; remove it or choose another -g"));
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Ok(_) => Err(format!("another program listens on {shown}; choose another -g")),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path).map_err(|error| format!("cannot remove {shown}: {error}"))
        }
        Err(error) => Err(format!("cannot tell who owns {shown}: {error}")),
    }
}
