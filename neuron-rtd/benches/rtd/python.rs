//! Python clients of the Python server, as processes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use crate::calls::Round;

/// A client that makes so many calls as a line tells it.
#[derive(Debug)]
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Client {
    /// Starts it and waits until it is connected.
    pub(crate) fn start(python: &Path, script: &Path, address: &str) -> Self {
        let mut command = Command::new(python);
        command.arg(script).args(["call", address]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let input = child.stdin.take();
        let mut client = Self { child, input, output };
        assert_eq!(client.line(), "ready\n");
        client
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// So many calls by each client at the same time.
pub(crate) fn drive(clients: &mut [Client], each: usize) -> Round {
    let start = Instant::now();
    for client in &mut *clients {
        writeln!(client.input.as_mut().unwrap(), "{each}").unwrap();
    }
    let mut micros = Vec::new();
    for client in clients {
        let line = client.line();
        micros.extend(line.split_whitespace().map(|word| word.parse::<f64>().unwrap()));
    }
    let rate = micros.len() as f64 / start.elapsed().as_secs_f64();
    Round { micros, rate }
}
