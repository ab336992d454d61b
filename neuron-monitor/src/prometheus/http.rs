//! A small HTTP/1.1 server: GET and HEAD, a thread for each connection.
//!
//! It bounds what a client can take: the number of connections, the size of a
//! request, the time that one may be idle.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Connections at a time.
const CONNECTIONS: usize = 32;
/// Longest head of a request.
const HEAD: usize = 8 << 10;
/// Fields of a head.
const FIELDS: usize = 64;
/// How long a connection may be idle between requests.
const IDLE: Duration = Duration::from_secs(120);
/// How long a request may take to arrive, and an answer to be taken.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request as far as anybody looks at it.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) path: String,
    pub(super) accept: String,
    pub(super) authorization: Option<Vec<u8>>,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: &'static str,
    pub(super) kind: &'static str,
    /// A further header line, ended.
    pub(super) header: &'static str,
    pub(super) body: Arc<str>,
}

impl Answer {
    pub(super) fn text(status: &'static str, body: &str) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", header: "", body: Arc::from(body) }
    }
}

/// Makes a stream of bytes of a connection: itself, or TLS over it.
pub(super) trait Wrap: Send + Sync + 'static {
    /// A stream with its handshake still to come.
    ///
    /// # Errors
    ///
    /// When none can be made.
    fn wrap(&self, stream: TcpStream) -> io::Result<Box<dyn ReadWrite>>;
}

/// A stream of bytes both ways.
pub(super) trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

/// No TLS.
#[derive(Debug)]
pub(super) struct Plain;

impl Wrap for Plain {
    fn wrap(&self, stream: TcpStream) -> io::Result<Box<dyn ReadWrite>> {
        Ok(Box::new(stream))
    }
}

/// Serves in threads until the program ends.
///
/// # Errors
///
/// When there is no thread to be had.
pub(super) fn serve(
    listener: TcpListener,
    wrap: Arc<dyn Wrap>,
    answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
) -> io::Result<()> {
    let answer = Arc::new(answer);
    let open = Arc::new(AtomicUsize::new(0));
    Builder::new().name(String::from("accept")).spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // Out of descriptors: connections that end free some.
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            if open.fetch_add(1, Relaxed) >= CONNECTIONS {
                open.fetch_sub(1, Relaxed);
                continue;
            }
            let (wrap, answer) = (Arc::clone(&wrap), Arc::clone(&answer));
            let place = Place(Arc::clone(&open));
            // Without a thread the connection is closed.
            let _ = Builder::new().stack_size(256 << 10).spawn(move || {
                let _place = place;
                // A client that breaks off is nobody's fault here.
                let _ = connection(stream, &*wrap, &*answer);
            });
        }
    })?;
    Ok(())
}

/// A place among the open connections.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

fn connection(
    stream: TcpStream,
    wrap: &dyn Wrap,
    answer: &dyn Fn(&Request) -> Answer,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let control = stream.try_clone()?;
    let mut stream = wrap.wrap(stream)?;
    let mut buffer = Vec::new();
    loop {
        control.set_read_timeout(Some(if buffer.is_empty() { IDLE } else { PATIENCE }))?;
        let parsed = match request(&mut *stream, &control, &mut buffer)? {
            None => return Ok(()),
            Some(parsed) => parsed,
        };
        let (reply, head_only, last) = match parsed {
            Parsed::Good { request, head_only, last } => (answer(&request), head_only, last),
            Parsed::Bad(reply) => (reply, false, true),
        };
        let mut bytes = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}{}\r\n",
            reply.status,
            reply.kind,
            reply.body.len(),
            reply.header,
            if last { "Connection: close\r\n" } else { "" },
        )
        .into_bytes();
        if !head_only {
            bytes.extend_from_slice(reply.body.as_bytes());
        }
        stream.write_all(&bytes)?;
        stream.flush()?;
        if last {
            return Ok(());
        }
    }
}

enum Parsed {
    Good { request: Request, head_only: bool, last: bool },
    Bad(Answer),
}

/// The next request; `None` when the client has closed. `buffer` keeps what
/// came behind it.
fn request(
    stream: &mut dyn ReadWrite,
    control: &TcpStream,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<Parsed>> {
    let mut end: Option<Instant> = None;
    loop {
        if !buffer.is_empty() {
            if let Some((parsed, used)) = parse(buffer) {
                buffer.drain(..used);
                return Ok(Some(parsed));
            }
            if buffer.len() >= HEAD {
                let text = "request is too large\n";
                let status = "431 Request Header Fields Too Large";
                return Ok(Some(Parsed::Bad(Answer::text(status, text))));
            }
            // A client that sends a byte now and then has this long in all.
            let end = *end.get_or_insert_with(|| Instant::now() + PATIENCE);
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            control.set_read_timeout(Some(left))?;
        }
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk)? {
            0 => return Ok(None),
            got => buffer.extend_from_slice(chunk.get(..got).unwrap_or_default()),
        }
    }
}

/// The request at the start of the bytes, and its length; `None` when it is
/// not whole yet.
fn parse(bytes: &[u8]) -> Option<(Parsed, usize)> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut head = httparse::Request::new(&mut fields);
    let bad = |status, text: &str| Some((Parsed::Bad(Answer::text(status, text)), bytes.len()));
    let used = match head.parse(bytes) {
        Ok(httparse::Status::Partial) => return None,
        Ok(httparse::Status::Complete(used)) => used,
        Err(error) => return bad("400 Bad Request", &format!("{error}\n")),
    };
    let field = |name: &str| {
        let found = head.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name));
        found.map(|field| field.value)
    };
    let head_only = match head.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return bad("405 Method Not Allowed", "only GET and HEAD\n"),
    };
    // A body would be taken for the next request.
    let body = field("content-length").is_some_and(|length| length != b"0")
        || field("transfer-encoding").is_some();
    let text =
        |value: Option<&[u8]>| String::from_utf8_lossy(value.unwrap_or_default()).into_owned();
    let connection = text(field("connection")).to_ascii_lowercase();
    let keeps = if head.version == Some(0) {
        connection.contains("keep-alive")
    } else {
        !connection.contains("close")
    };
    let path = head.path.unwrap_or_default();
    let path = path.split(['?', '#']).next().unwrap_or_default().to_owned();
    let request = Request {
        path,
        accept: text(field("accept")),
        authorization: field("authorization").map(<[u8]>::to_vec),
    };
    Some((Parsed::Good { request, head_only, last: !keeps || body }, used))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn server() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        serve(listener, Arc::new(Plain), |request| {
            Answer::text("200 OK", &format!("{} {}", request.path, request.accept))
        })
        .unwrap();
        address
    }

    /// Sends all bytes and reads until the server closes.
    fn ask(address: SocketAddr, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    #[test]
    fn requests_of_one_connection_are_answered_in_turn() {
        let answer = ask(
            server(),
            b"GET /metrics?x HTTP/1.1\r\nHost: a\r\nAccept: b\r\n\r\nHEAD / HTTP/1.1\r\n\r\n\
              GET /c HTTP/1.1\r\nConnection: close\r\n\r\n",
        );
        assert_eq!(answer.matches("HTTP/1.1 200 OK\r\n").count(), 3);
        assert!(answer.contains("\r\n\r\n/metrics bHTTP/1.1"), "{answer}");
        assert!(answer.ends_with("Content-Length: 3\r\nConnection: close\r\n\r\n/c "), "{answer}");
        // The answer to HEAD has the length and no body.
        assert!(answer.contains("Content-Length: 2\r\n\r\nHTTP/1.1"), "{answer}");
    }

    #[test]
    fn what_is_no_request_is_refused_and_closed() {
        let address = server();
        for (bytes, status) in [
            (&b"POST / HTTP/1.1\r\n\r\n"[..], "405"),
            (b"nonsense\r\n\r\n", "400"),
            (b"\0\0\0\0", "400"),
            (b"GET / HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody", "200"),
            (b"GET / HTTP/1.0\r\n\r\n", "200"),
        ] {
            let answer = ask(address, bytes);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
            assert_eq!(answer.matches("HTTP/1.1").count(), 1);
        }
        let long = format!("GET / HTTP/1.1\r\nX: {}\r\n", "x".repeat(3 * HEAD));
        let mut stream = TcpStream::connect(address).unwrap();
        let _ = stream.write_all(long.as_bytes());
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 431");
    }

    /// A client that is cut off at any byte costs nothing.
    #[test]
    fn clients_that_die_and_too_many_of_them() {
        let address = server();
        let whole = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        for cut in 0..whole.len() {
            TcpStream::connect(address).unwrap().write_all(&whole[..cut]).unwrap();
        }
        let idle: Vec<TcpStream> =
            (0..CONNECTIONS + 5).map(|_| TcpStream::connect(address).unwrap()).collect();
        drop(idle);
        let begin = Instant::now();
        loop {
            let answer = ask(address, b"GET /a HTTP/1.1\r\nConnection: close\r\n\r\n");
            if answer.ends_with("/a ") {
                break;
            }
            assert!(begin.elapsed().as_secs() < 15, "{answer:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
