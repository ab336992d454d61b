//! What clients do wrong, by malice or by dying: each has its code and its
//! details, nothing stays behind, and others go on. False NEFFs are in
//! `loading.rs`, handles in `methods.rs`, sockets and configurations in
//! `process.rs`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests"
)]

mod support;

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use neuron_core::sample::DeviceState;
use neuron_core::sim::{Places, Sim};
use rtd_api::load_request::Content;
use rtd_api::nmgr_ext_v1_client::NmgrExtV1Client;
use rtd_api::nmgr_session_manager_client::NmgrSessionManagerClient;
use rtd_api::nmgr_v1_client::NmgrV1Client;
use rtd_api::*;
use support::neff::{Chain, Node};
use support::*;
use tonic::transport::Channel;

fn copy() -> Vec<u8> {
    Chain::new("copy", &[Node::Copy(1)]).build()
}

/// Nothing is held by anybody.
async fn nothing_left(daemon: &Daemon) {
    let mut extension = NmgrExtV1Client::new(daemon.channel().await);
    let mut client = daemon.client().await;
    for attempt in 0.. {
        let health = extension.get_health(Empty {}).await.unwrap().into_inner();
        let groups = client.list_egs(Empty {}).await.unwrap().into_inner().eg_info;
        if (health.sessions, health.models, health.in_flight, groups.len()) == (0, 0, 0, 0) {
            break;
        }
        assert!(attempt < 10_000, "{health:?} {groups:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let all = client.read_all_counters(ReadAllCountersRequest {}).await.unwrap().into_inner();
    let memory = all.system_counters.unwrap().memory_counters;
    assert!(memory.iter().all(|memory| memory.mem_used_infa_0 == 0), "{memory:?}");
}

/// Somebody else is served as before.
async fn others_go_on(client: &mut NmgrV1Client<Channel>, model: u32) {
    assert_eq!(output(client.infer(request(model, 7)).await.unwrap().into_inner()), [7; 64]);
}

/// A stream that ends too early, after any message and any byte of the file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_ends_anywhere_is_told() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let neff = copy();
    for cut in (0..neff.len()).step_by(neff.len() / 40 + 1) {
        let mut contents = vec![Content::NeffSize(neff.len() as u64)];
        let chunk = neff[..cut].to_vec().into();
        contents.push(Content::NeffChunk(FileChunk { chunk }));
        let messages = contents.into_iter().map(|content| LoadRequest { content: Some(content) });
        let messages: Vec<LoadRequest> = messages.collect();
        let loaded = client.load(tokio_stream::iter(messages)).await.unwrap().into_inner();
        assert_eq!(loaded.h_nn, None);
        let (code, details) = status(loaded.status);
        assert_eq!(code, 2, "{cut}: {details}");
        let said = if cut == 0 { "NEFF upload failed" } else { "Wrong NEFF file size" };
        assert!(details.contains(said), "{cut}: {details}");
    }
    nothing_left(&daemon).await;
}

/// Passes `bytes` bytes of a client on to the daemon and then cuts the line.
fn cut_line(daemon: &Daemon, path: &Path, bytes: usize) {
    let listener = UnixListener::bind(path).unwrap();
    let to = daemon.socket();
    std::thread::spawn(move || {
        let (mut from, _) = listener.accept().unwrap();
        let mut onward = UnixStream::connect(to).unwrap();
        let (mut back, mut answers) = (from.try_clone().unwrap(), onward.try_clone().unwrap());
        let returns = std::thread::spawn(move || std::io::copy(&mut answers, &mut back));
        let (mut left, mut buffer) = (bytes, [0; 4096]);
        while left > 0 {
            let room = left.min(buffer.len());
            match from.read(&mut buffer[..room]) {
                Ok(0) | Err(_) => break,
                Ok(count) => {
                    left -= count;
                    onward.write_all(&buffer[..count]).unwrap();
                }
            }
        }
        let _ = onward.shutdown(std::net::Shutdown::Both);
        let _ = from.shutdown(std::net::Shutdown::Both);
        let _ = returns.join();
    });
}

/// The connection breaks after any byte of session, group and load.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_breaks_anywhere_leaves_nothing() {
    let daemon = Daemon::start(&[]);
    let neff = copy();
    let mut ends = Vec::new();
    for number in 0..40 {
        let path = daemon.dir.path().join(format!("cut{number}"));
        cut_line(&daemon, &path, 20 + number * (neff.len() + 1200) / 40);
        let address = format!("unix:{}", path.display());
        let life = async {
            let endpoint = tonic::transport::Endpoint::try_from(address).ok()?;
            let channel = endpoint.connect().await.ok()?;
            let mut sessions = NmgrSessionManagerClient::new(channel.clone());
            let (_keep, open) = tokio::sync::mpsc::channel::<SessionMonitorRequest>(1);
            let open = tokio_stream::wrappers::ReceiverStream::new(open);
            let mut session = sessions.session_monitor(open).await.ok()?.into_inner();
            let session_id = session.message().await.ok()??.session_id;
            let mut client = NmgrV1Client::new(channel);
            let create = CreateEgRequest { nc_count: 1, session_id };
            let group = client.create_eg(create).await.ok()?.into_inner().h_eg?.id;
            let messages = tokio_stream::iter(upload(&neff, group, session_id, 4));
            client.load(messages).await.ok()?.into_inner().h_nn
        };
        let end = tokio::time::timeout(Duration::from_secs(60), life).await;
        ends.push(end.expect("a client waits for ever").is_some());
    }
    assert!(ends.contains(&false), "no line was cut early");
    nothing_left(&daemon).await;
    let mut client = daemon.client().await;
    let model = load(&mut client, &neff, 0, 0).await.h_nn.unwrap().id;
    others_go_on(&mut client, model).await;
}

const ROLE: &str = "NEURON_RTD_TEST_VICTIM";

/// A client that works until it is killed.
#[tokio::test]
async fn victim_role() {
    let Ok(address) = std::env::var(ROLE) else { return };
    let endpoint = tonic::transport::Endpoint::try_from(address).unwrap();
    let channel = endpoint.connect().await.unwrap();
    let mut sessions = NmgrSessionManagerClient::new(channel.clone());
    let (_keep, open) = tokio::sync::mpsc::channel::<SessionMonitorRequest>(1);
    let open = tokio_stream::wrappers::ReceiverStream::new(open);
    let mut session = sessions.session_monitor(open).await.unwrap().into_inner();
    let session_id = session.message().await.unwrap().unwrap().session_id;
    println!("\nready");
    let mut client = NmgrV1Client::new(channel);
    loop {
        let create = CreateEgRequest { nc_count: 1, session_id };
        let group = client.create_eg(create).await.unwrap().into_inner().h_eg.unwrap().id;
        let model = load(&mut client, &copy(), group, session_id).await.h_nn.unwrap().id;
        client.start(StartRequest { h_nn: nn(model) }).await.unwrap();
        for byte in 0..5 {
            client.infer_post(request(model, byte)).await.unwrap();
        }
        client.unload(UnloadRequest { h_nn: nn(model) }).await.unwrap();
        client.destroy_eg(DestroyEgRequest { h_eg: Some(HEg { id: group }) }).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_killed_at_any_moment_leaves_nothing() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    for number in 0..12_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "victim_role", "--nocapture"])
            .env(ROLE, daemon.address())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = Vec::new();
        let mut output = child.stdout.take().unwrap();
        while !said.ends_with(b"ready\n") {
            let mut byte = [0];
            output.read_exact(&mut byte).unwrap();
            said.extend(byte);
        }
        tokio::time::sleep(Duration::from_micros(number * 3700)).await;
        child.kill().unwrap();
        child.wait().unwrap();
    }
    nothing_left(&daemon).await;
    let model = load(&mut client, &copy(), 0, 0).await.h_nn.unwrap().id;
    others_go_on(&mut client, model).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_is_too_large_ends_its_call_alone() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("c.json");
    std::fs::write(&config, r#"{"rtd": {"max_message_bytes": 1048576}}"#).unwrap();
    let config = config.to_str().unwrap().to_owned();
    let daemon = Daemon::start_in(dir, &["-c", &config]);
    let mut client = daemon.client().await;
    let model = load(&mut client, &copy(), 0, 0).await.h_nn.unwrap().id;
    let mut large = request(model, 1);
    large.ifmap = vec![inline("x", &vec![0; 2 << 20])];
    let refused = client.infer(large).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::OutOfRange, "{refused}");
    assert!(refused.message().contains("1048576"), "{refused}");
    others_go_on(&mut client, model).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn states_and_queues_are_kept() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let messages = tokio_stream::iter(upload(&copy(), 0, 0, 1));
    let model = client.load(messages).await.unwrap().into_inner().h_nn.unwrap().id;
    // it runs already; a second start changes nothing
    for _ in 0..2 {
        let started = client.start(StartRequest { h_nn: nn(model) }).await.unwrap().into_inner();
        good(started.status);
    }
    // one in flight, two results that wait to be fetched
    let mut cookies = Vec::new();
    for byte in 0..2 {
        let posted = client.infer_post(request(model, byte)).await.unwrap().into_inner();
        good(posted.status);
        cookies.push(posted.cookie);
        until_done(&mut client, posted.cookie).await;
    }
    // who waits for its result needs no room
    others_go_on(&mut client, model).await;
    let full = client.infer_post(request(model, 2)).await.unwrap().into_inner();
    let (code, details) = status(full.status);
    assert_eq!((code, full.cookie), (7, 0), "{details}");
    assert!(details.contains("inferences are in flight, 1 may be"), "{details}");
    for cookie in cookies {
        let wait = InferWaitRequest { cookie, shm_ofmap: vec![] };
        output(client.infer_wait(wait).await.unwrap().into_inner());
    }
    others_go_on(&mut client, model).await;
    // unloaded while inferences are under way: each ends with a result or a code
    let mut calls = Vec::new();
    for byte in 0..20 {
        let mut other = client.clone();
        calls.push(tokio::spawn(async move { other.infer(request(model, byte)).await }));
    }
    let unloaded = client.unload(UnloadRequest { h_nn: nn(model) }).await.unwrap().into_inner();
    good(unloaded.status);
    for call in calls {
        let answer = call.await.unwrap().unwrap().into_inner();
        let (code, details) = status(answer.status);
        assert!([0, 3, 7, 1001].contains(&code), "{code}: {details}");
    }
    nothing_left(&daemon).await;
}

/// A name as long as a message may be is neither sent back nor logged whole.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_names_are_cut_in_what_is_told() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let map = ShmMapRequest {
        data: Some(shm_map_request::Data::Path(format!("/{}", "a".repeat(1 << 20)))),
        mmap_prot: 3,
        session_id: 0,
    };
    let (code, details) = status(client.shm_map(map).await.unwrap().into_inner().status);
    assert_eq!(code, 2);
    assert!(details.len() < 4096, "{}", details.len());
    let line = daemon.line("[NRTD:shm_map] shared memory");
    assert!(line.len() < 4096, "{}", line.len());
}

/// A client that gives up many calls at once, as with short deadlines, keeps its
/// connection, and with it its session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_given_up_do_not_cost_the_session() {
    let daemon = Daemon::start(&[]);
    let channel = daemon.channel().await;
    let (_keep, open) = tokio::sync::mpsc::channel::<SessionMonitorRequest>(1);
    let open = tokio_stream::wrappers::ReceiverStream::new(open);
    let mut sessions = NmgrSessionManagerClient::new(channel.clone());
    let mut session = sessions.session_monitor(open).await.unwrap().into_inner();
    let session = session.message().await.unwrap().unwrap().session_id;
    let mut client = NmgrV1Client::new(channel);
    let model = load(&mut client, &copy(), 0, session).await.h_nn.unwrap().id;
    for _ in 0..20 {
        let calls = (0..200).map(|byte| {
            let mut other = client.clone();
            tokio::spawn(async move {
                let call = other.infer(request(model, byte));
                let _ = tokio::time::timeout(Duration::from_micros(50), call).await;
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.unwrap();
        }
    }
    others_go_on(&mut client, model).await;
}

async fn until_done(client: &mut NmgrV1Client<Channel>, cookie: u64) {
    loop {
        let check = InferCheckCompletionRequest { cookie: vec![cookie] };
        let done = client.infer_check_completion(check).await.unwrap().into_inner();
        if done.cookie == [cookie] {
            return;
        }
        assert_eq!(status(done.status).0, 1000);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shared_memory_must_be_there_and_large_enough() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let model = load(&mut client, &copy(), 0, 0).await.h_nn.unwrap().id;
    let map = |name: &str, prot| ShmMapRequest {
        data: Some(shm_map_request::Data::Path(name.to_owned())),
        mmap_prot: prot,
        session_id: 0,
    };
    for (name, prot, said) in [
        ("/nothing_here", 3, "does not exist here; client and daemon must share /dev/shm"),
        ("no_slash", 3, "the name must be /"),
        ("/../etc/passwd", 3, "the name must be /"),
        ("/x", 0, "protection 0 is none of read, write"),
    ] {
        let (code, details) =
            status(client.shm_map(map(name, prot)).await.unwrap().into_inner().status);
        assert_eq!(code, 2, "{details}");
        assert!(details.contains(said), "{details}");
    }
    // a link leads to files of others; a pipe would keep the daemon waiting
    let link = format!("/neuron_rtd_link_{}", std::process::id());
    let path = format!("/dev/shm{link}");
    for what in ["link", "pipe"] {
        if what == "link" {
            std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        } else {
            assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        }
        let mapped = client.shm_map(map(&link, 1)).await.unwrap().into_inner();
        std::fs::remove_file(&path).unwrap();
        let (code, details) = status(mapped.status);
        assert_eq!(code, 2, "{what}: {details}");
        assert!(details.contains("no shared memory object"), "{what}: {details}");
    }
    let name = format!("/neuron_rtd_bad_{}", std::process::id());
    let path = format!("/dev/shm{name}");
    std::fs::write(&path, [0; 63]).unwrap();
    good(client.shm_map(map(&name, 3)).await.unwrap().into_inner().status);
    std::fs::remove_file(&path).unwrap();
    let asked = InferRequest {
        h_nn: nn(model),
        ifmap: vec![shared("x", &name)],
        ..InferRequest::default()
    };
    let (code, details) = status(client.infer(asked).await.unwrap().into_inner().status);
    assert_eq!(code, 1002);
    assert!(details.contains("has 63 bytes, expected 64"), "{details}");
    let mut asked = request(model, 1);
    asked.shm_ofmap = vec![shared("y", &name)];
    let (code, details) = status(client.infer(asked).await.unwrap().into_inner().status);
    assert_eq!(code, 1002);
    assert!(details.contains("has 63 bytes, expected 64"), "{details}");
    others_go_on(&mut client, model).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_device_that_is_lost_takes_its_models_alone() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let four = Chain::new("four", &[Node::Copy(4)]).build();
    let lost = load(&mut client, &four, 0, 0).await.h_nn.unwrap().id;
    let other = load(&mut client, &four, 0, 0).await.h_nn.unwrap().id;
    let places = Places::only(daemon.dir.path().join("sim"));
    let sim = Sim::open(&places, "inf1.6xlarge").unwrap();
    let broken = sim.update(|state| {
        state.devices[0].state = Some(DeviceState::Invalid);
        Ok(())
    });
    broken.unwrap();
    daemon.line("device neuron0 does not respond");
    let (code, details) = status(client.infer(request(lost, 1)).await.unwrap().into_inner().status);
    assert_eq!(code, 8);
    assert!(details.contains("[TDRV:device_watch] device neuron0 does not respond"), "{details}");
    others_go_on(&mut client, other).await;
}
