//! As much of an HTTP server and client as the tests need: one request for each
//! connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    /// Names in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }

    /// A value of the query, decoded.
    pub(crate) fn query(&self, name: &str) -> Option<String> {
        let query = self.target.split_once('?')?.1;
        let pair = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
        let mut out = Vec::new();
        let mut bytes = pair.bytes();
        while let Some(byte) = bytes.next() {
            if byte == b'%' {
                let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
                let digits = std::str::from_utf8(&digits).unwrap();
                out.push(u8::from_str_radix(digits, 16).unwrap());
            } else {
                out.push(byte);
            }
        }
        Some(String::from_utf8(out).unwrap())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The body, unpacked.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        if self.header("content-encoding") == Some("gzip") {
            flate2::read::GzDecoder::new(&self.body[..]).read_to_string(&mut out).unwrap();
        } else {
            out.push_str(std::str::from_utf8(&self.body).unwrap());
        }
        out
    }
}

/// Reads a request; `None` when the other side went away.
pub(crate) fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request { method, target, headers, body: Vec::new() };
    let length = request.header("content-length").and_then(|length| length.parse().ok());
    reader.take(length.unwrap_or(0)).read_to_end(&mut request.body).ok()?;
    Some(request)
}

/// Answers and closes.
pub(crate) fn answer(mut stream: &TcpStream, status: u16, headers: &[(&str, &str)], body: &[u8]) {
    let mut head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("Connection: close\r\n\r\n");
    // the client may have gone
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

/// Asks a server; gives status and body.
pub(crate) fn ask(port: u16, method: &str, target: &str, body: &[u8]) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let length = body.len();
    let head = format!(
        "{method} {target} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {length}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body).ok()?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all).ok()?;
    let at = all.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&all[..at]).into_owned();
    let status = head.split_whitespace().nth(1)?.parse().ok()?;
    assert!(!head.to_lowercase().contains("transfer-encoding: chunked"), "{head}");
    Some((status, String::from_utf8(all[at + 4..].to_vec()).unwrap()))
}

/// A port that nobody has.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
