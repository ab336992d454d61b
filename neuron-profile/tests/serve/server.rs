//! A server of the built program, and requests to it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::support::path;

pub(crate) fn tool(data: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-profile"));
    command.args(args).arg("--data-path").arg(data);
    command
}

/// Stores a real capture; gives its id.
pub(crate) fn stored(data: &Path, name: &str) -> String {
    let (neff, ntff) = (path(&format!("{name}.neff")), path(&format!("{name}.ntff")));
    let output = tool(data, &["view", "-n", &neff, "-s", &ntff, "--ingest-only"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let id =
        text.strip_prefix("Profile \"").and_then(|rest| rest.strip_suffix("\" is ready to view\n"));
    id.unwrap().to_owned()
}

/// A running server.
pub(crate) struct Server {
    pub(crate) child: Child,
    /// Its first line.
    pub(crate) said: String,
    pub(crate) port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Server {
    pub(crate) fn start(data: &Path, args: &[&str]) -> Self {
        let args = [&["view", "--port", "0"], args].concat();
        Self::spawn(tool(data, &args).env("NEURON_PROFILE_WEB", "plain"))
    }

    /// Starts with the viewer of a directory.
    pub(crate) fn with_viewer(data: &Path, viewer: &Path) -> Self {
        let args = ["view", "--port", "0"];
        Self::spawn(tool(data, &args).env("NEURON_PROFILE_WEB", viewer))
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        let said = lines.next().unwrap().unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), "ctrl-c to exit");
        let port = said.split("://").nth(1).unwrap().split(['/', '?']).next().unwrap();
        let port = port.rsplit(':').next().unwrap().parse().unwrap();
        Self { child, said, port }
    }

    /// A request with whole headers of its own.
    pub(crate) fn raw(&self, request: &str, body: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        // A server that refuses a large body need not read it.
        let _ = stream.write_all(body);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        assert!(!chunked, "{head}");
        Answer { status, head, body: bytes[end + 4..].to_vec() }
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.port,
            body.len()
        );
        self.raw(&request, body)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[])
    }

    pub(crate) fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }
}
