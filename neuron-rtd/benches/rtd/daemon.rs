//! Processes beside the client: the daemon and the echo server.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rtd_api::nmgr_ext_v1_client::NmgrExtV1Client;
use rtd_api::nmgr_v1_client::NmgrV1Client;
use tonic::transport::{Channel, Endpoint};

/// Flow-control windows of the clients, as large as those of the servers.
const WINDOW: u32 = 16 << 20;

/// A process with a socket. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    socket: PathBuf,
    /// Removed with the process.
    _dir: tempfile::TempDir,
}

impl Server {
    /// The daemon on a simulated inf1.6xlarge.
    pub(crate) fn daemon() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-rtd"));
        let socket = dir.path().join("socket");
        command.args(["--source", "sim:inf1.6xlarge", "-x", "-l", "3", "-g"]).arg(&socket);
        command.env("NEURON_SIM_DIR", dir.path().join("sim")).env("NEURON_RTD_ROOT", dir.path());
        command.env_remove("JOURNAL_STREAM").env_remove("NOTIFY_SOCKET");
        Self::start(command, socket, dir)
    }

    /// A tonic server that gives back what it got.
    pub(crate) fn echo() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("socket");
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("--echo").arg(&socket);
        Self::start(command, socket, dir)
    }

    /// A Python server of the same call.
    pub(crate) fn python(python: &Path, script: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("socket");
        let mut command = Command::new(python);
        command.arg(script).arg("serve").arg(format!("unix:{}", socket.display()));
        Self::start(command, socket, dir)
    }

    fn start(mut command: Command, socket: PathBuf, dir: tempfile::TempDir) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        std::thread::spawn(move || lines.for_each(|line| println!("server: {line}")));
        let end = Instant::now() + Duration::from_secs(30);
        while !socket.exists() {
            assert!(Instant::now() < end, "the server does not listen");
            std::thread::sleep(Duration::from_millis(5));
        }
        Self { child, socket, _dir: dir }
    }

    /// Its address.
    pub(crate) fn address(&self) -> String {
        format!("unix:{}", self.socket.display())
    }

    async fn channel(&self) -> Channel {
        let endpoint = Endpoint::try_from(self.address()).unwrap();
        let endpoint = endpoint.initial_stream_window_size(WINDOW);
        endpoint.initial_connection_window_size(WINDOW).connect().await.unwrap()
    }

    /// A client with a connection of its own.
    pub(crate) async fn client(&self) -> NmgrV1Client<Channel> {
        NmgrV1Client::new(self.channel().await)
            .max_decoding_message_size(usize::MAX)
            .max_encoding_message_size(usize::MAX)
    }

    /// A client of the extension.
    pub(crate) async fn extension(&self) -> NmgrExtV1Client<Channel> {
        NmgrExtV1Client::new(self.channel().await)
    }

    /// Resident memory in KiB.
    pub(crate) fn resident(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = text.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
