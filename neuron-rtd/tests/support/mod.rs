//! A daemon on a simulated instance of its own, and a client of it.
#![allow(dead_code, reason = "each test program uses a part")]
#![allow(unreachable_pub, reason = "a module of tests")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "helpers of tests")]

#[path = "../../runtime/tests/support/neff.rs"]
pub mod neff;

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rtd_api::infer_io::Data;
use rtd_api::load_request::Content;
use rtd_api::nmgr_session_manager_client::NmgrSessionManagerClient;
use rtd_api::nmgr_v1_client::NmgrV1Client;
use rtd_api::*;
use tonic::transport::Channel;

/// A daemon that was started, with its lines.
pub struct Daemon {
    child: Child,
    pub dir: tempfile::TempDir,
    lines: Arc<Mutex<Vec<String>>>,
}

/// The command for a daemon whose everything is below `dir`.
pub fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-rtd"));
    command
        .args(["--source", "sim:inf1.6xlarge", "-x"])
        .arg("-g")
        .arg(format!("unix:{}", dir.join("neuron.sock").display()))
        .args(args)
        .env("NEURON_SIM_DIR", dir.join("sim"))
        .env("NEURON_RTD_ROOT", dir)
        .env_remove("JOURNAL_STREAM")
        .env_remove("NOTIFY_SOCKET")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

impl Daemon {
    pub fn start(args: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), args)
    }

    /// Starts a daemon and waits until it listens.
    pub fn start_in(dir: tempfile::TempDir, args: &[&str]) -> Self {
        let daemon = Self::spawn(command(dir.path(), args), dir);
        daemon.line("[NRTD:RunServer] Server listening on unix:");
        daemon
    }

    pub fn spawn(mut command: Command, dir: tempfile::TempDir) -> Self {
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                sink.lock().unwrap().push(line);
            }
        });
        Self { child, dir, lines }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    /// Waits for a line that holds `text`.
    #[track_caller]
    pub fn line(&self, text: &str) -> String {
        let mut found = None;
        until(text, || {
            found = self.lines().into_iter().find(|line| line.contains(text));
            found.is_some()
        });
        found.unwrap()
    }

    pub fn socket(&self) -> PathBuf {
        self.dir.path().join("neuron.sock")
    }

    pub fn address(&self) -> String {
        format!("unix:{}", self.socket().display())
    }

    pub async fn channel(&self) -> Channel {
        tonic::transport::Endpoint::try_from(self.address()).unwrap().connect().await.unwrap()
    }

    pub async fn client(&self) -> NmgrV1Client<Channel> {
        NmgrV1Client::new(self.channel().await)
            .max_decoding_message_size(usize::MAX)
            .max_encoding_message_size(usize::MAX)
    }

    pub async fn sessions(&self) -> NmgrSessionManagerClient<Channel> {
        NmgrSessionManagerClient::new(self.channel().await)
    }

    pub fn signal(&self, name: &str) {
        let kill = Command::new("kill").args(["-s", name, &self.pid().to_string()]).status();
        assert!(kill.unwrap().success());
    }

    /// Ends it with SIGTERM.
    pub fn end(&mut self) -> ExitStatus {
        self.signal("TERM");
        self.wait()
    }

    /// Waits for its end.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < end, "the daemon does not end: {:?}", self.lines());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            for line in self.lines() {
                println!("{line}");
            }
        }
    }
}

/// Waits until something holds, and fails after a minute: the machine may have
/// much else to do.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Runs a command that must end by itself; gives its status and stderr.
pub fn ended(mut command: Command) -> (ExitStatus, String) {
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    (child.wait().unwrap(), text)
}

/// A status must be there; its code and details.
#[track_caller]
pub fn status(status: Option<Status>) -> (i32, String) {
    let status = status.unwrap();
    (status.code, String::from_utf8(status.details.to_vec()).unwrap())
}

#[track_caller]
pub fn good(given: Option<Status>) {
    assert_eq!(status(given), (0, String::new()));
}

pub fn nn(id: u32) -> Option<HNn> {
    Some(HNn { id })
}

/// The messages of a load, as a client of 2021 sends them.
pub fn upload(neff: &[u8], group: u32, session: u64, ninfer: u32) -> Vec<LoadRequest> {
    let mut contents = vec![Content::HEg(HEg { id: group })];
    if session != 0 {
        contents.push(Content::SessionId(session));
    }
    contents.push(Content::NeffSize(neff.len() as u64));
    contents.push(Content::ModelParams(ModelParams {
        timeout: Some(U32 { data: 10 }),
        ninfer: Some(U32 { data: ninfer }),
        ..ModelParams::default()
    }));
    for chunk in neff.chunks(1 << 20) {
        contents.push(Content::NeffChunk(FileChunk { chunk: chunk.to_vec().into() }));
    }
    contents.into_iter().map(|content| LoadRequest { content: Some(content) }).collect()
}

pub async fn load(
    client: &mut NmgrV1Client<Channel>,
    neff: &[u8],
    group: u32,
    session: u64,
) -> LoadResponse {
    let messages = tokio_stream::iter(upload(neff, group, session, 4));
    client.load(messages).await.unwrap().into_inner()
}

pub fn inline(name: &str, data: &[u8]) -> InferIo {
    InferIo { name: name.into(), data: Some(Data::Buf(data.to_vec().into())) }
}

pub fn shared(name: &str, path: &str) -> InferIo {
    InferIo { name: name.into(), data: Some(Data::BufShm(SharedMemBuf { path: path.into() })) }
}

pub fn request(model: u32, byte: u8) -> InferRequest {
    InferRequest { h_nn: nn(model), ifmap: vec![inline("x", &[byte; 64])], ..Default::default() }
}

/// The one output, inline.
#[track_caller]
pub fn output(response: InferResponse) -> Vec<u8> {
    good(response.status);
    let [InferIo { name, data: Some(Data::Buf(data)) }] = response.ofmap.as_slice() else {
        panic!("{:?}", response.ofmap)
    };
    assert_eq!(name, "y");
    data.to_vec()
}
