//! Many clients at once, by every call style, each killed in the end: results
//! are right, counters add up, and everything is given back.
//!
//! This test program starts itself anew as each client.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests"
)]

mod support;

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::FileExt as _;
use std::process::{Child, Command, Stdio};

use rtd_api::nmgr_session_manager_client::NmgrSessionManagerClient;
use rtd_api::nmgr_stream_client::NmgrStreamClient;
use rtd_api::nmgr_v1_client::NmgrV1Client;
use rtd_api::*;
use support::neff::{Chain, Node};
use support::*;

const CLIENTS: u64 = 8;

/// Inferences of each client. `NEURON_RTD_EACH=1250` makes them ten thousand;
/// a run of the software NeuronCore has its price, however small the model.
fn each() -> u64 {
    std::env::var("NEURON_RTD_EACH").ok().and_then(|each| each.parse().ok()).unwrap_or(150)
}

const ROLE: &str = "NEURON_RTD_TEST_CLIENT";

/// What a client does: a session, a group, a model, inferences by all styles
/// in turn; then it prints `done` and waits to be killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_role() {
    let Ok(address) = std::env::var(ROLE) else { return };
    let endpoint = tonic::transport::Endpoint::try_from(address).unwrap();
    let channel = endpoint.connect().await.unwrap();
    let mut client = NmgrV1Client::new(channel.clone());
    let mut sessions = NmgrSessionManagerClient::new(channel.clone());
    let (_keep, open) = tokio::sync::mpsc::channel::<SessionMonitorRequest>(1);
    let open = tokio_stream::wrappers::ReceiverStream::new(open);
    let mut session = sessions.session_monitor(open).await.unwrap().into_inner();
    let session = session.message().await.unwrap().unwrap().session_id;
    let create = CreateEgRequest { nc_count: 2, session_id: session };
    let group = client.create_eg(create).await.unwrap().into_inner();
    good(group.status);
    // a node on a core and one on the host
    let neff = Chain::new("two", &[Node::Copy(1), Node::Cpu("identity")]).build();
    let id = load(&mut client, &neff, group.h_eg.unwrap().id, session).await.h_nn.unwrap().id;
    good(client.start(StartRequest { h_nn: nn(id) }).await.unwrap().into_inner().status);
    let object = |name: &str| {
        let name = format!("/neuron_rtd_client_{}_{name}", std::process::id());
        let path = format!("/dev/shm{name}");
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        file.set_len(4096).unwrap();
        (name, path, file)
    };
    let (input, output) = (object("in"), object("out"));
    for (name, path, _) in [&input, &output] {
        let data = Some(shm_map_request::Data::Path(name.clone()));
        let map = ShmMapRequest { data, mmap_prot: 3, session_id: session };
        good(client.shm_map(map).await.unwrap().into_inner().status);
        std::fs::remove_file(path).unwrap();
    }
    let (feed, fed) = tokio::sync::mpsc::channel(1);
    let mut stream = NmgrStreamClient::new(channel);
    let fed = tokio_stream::wrappers::ReceiverStream::new(fed);
    let mut answers = stream.infer_stream(fed).await.unwrap().into_inner();
    for n in 0..each() {
        let byte = (n % 127) as u8;
        let wait = |cookie| InferWaitRequest { cookie, shm_ofmap: vec![] };
        let result = match n % 5 {
            0 => support::output(client.infer(request(id, byte)).await.unwrap().into_inner()),
            style @ (1 | 2) => {
                let posted = client.infer_post(request(id, byte)).await.unwrap().into_inner();
                good(posted.status);
                let mut answer;
                loop {
                    let request = wait(posted.cookie);
                    answer = if style == 1 {
                        client.infer_wait(request).await.unwrap().into_inner()
                    } else {
                        client.infer_poll(request).await.unwrap().into_inner()
                    };
                    if answer.status.as_ref().unwrap().code != 1000 {
                        break;
                    }
                    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                }
                support::output(answer)
            }
            3 => {
                feed.send(request(id, byte)).await.unwrap();
                support::output(answers.message().await.unwrap().unwrap())
            }
            _ => {
                input.2.write_all_at(&[byte; 64], 0).unwrap();
                let asked = InferRequest {
                    h_nn: nn(id),
                    ifmap: vec![shared("x", &input.0)],
                    shm_ofmap: vec![shared("y", &output.0)],
                    loop_end_value: 0,
                };
                good(client.infer(asked).await.unwrap().into_inner().status);
                let mut bytes = vec![0; 64];
                output.2.read_exact_at(&mut bytes, 0).unwrap();
                bytes
            }
        };
        assert_eq!(result, [byte; 64], "inference {n}");
    }
    // some that nobody waits for
    for byte in 0..2 {
        good(client.infer_post(request(id, byte)).await.unwrap().into_inner().status);
    }
    println!("client {session} done");
    std::future::pending::<()>().await;
}

fn spawn(address: &str) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "client_role", "--nocapture"])
        .env(ROLE, address)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    (child, lines)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inferences_of_eight_clients_add_up() {
    let daemon = Daemon::start(&[]);
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| spawn(&daemon.address())).collect();
    let mut sessions = Vec::new();
    for (_, lines) in &mut clients {
        let done = lines.find(|line| line.contains(" done")).expect("a client broke off");
        sessions.push(done.split(' ').nth(1).unwrap().to_owned());
    }
    let mut client = daemon.client().await;
    let groups = client.list_egs(Empty {}).await.unwrap().into_inner();
    assert_eq!(groups.eg_info.len(), 8);
    // neuron-ls sees the daemon with its version while they hold it
    let ls = Command::new(neuron_tests::bin("neuron-ls"))
        .args(["--source", "sim:inf1.6xlarge", "-o", "json"])
        .env("NEURON_SIM_DIR", daemon.dir.path().join("sim"))
        .output()
        .unwrap();
    let ls = String::from_utf8(ls.stdout).unwrap();
    assert!(ls.contains(&format!("\"pid\": {}", daemon.pid())), "{ls}");
    assert!(ls.contains("\"neuron_runtime_version\": \"0.1.0\""), "{ls}");
    for (child, _) in &mut clients {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    for session in sessions {
        daemon.line(&format!("Session {session} ended: 1 models, 1 groups, 2 mappings given back"));
    }
    let groups = client.list_egs(Empty {}).await.unwrap().into_inner();
    assert_eq!(groups.eg_info, []);
    let counters = client.read_inference_counters(Empty {}).await.unwrap().into_inner();
    let counters = counters.nmgr_counters.unwrap();
    let total = CLIENTS * (each() + 2);
    assert_eq!(counters.infer_count, total);
    let by_status: Vec<u64> =
        counters.infer_status_counts.iter().map(|count| count.count.into()).collect();
    // what was queued when its client died is counted as ended with an error
    assert_eq!(by_status.iter().sum::<u64>(), total);
    assert!(by_status[0] >= CLIENTS * each(), "{by_status:?}");
    assert_eq!((counters.model_load_count, counters.model_unload_count), (8, 8));
    assert_eq!(counters.infer_queue_drop_count, 0);
    // and the device memory is free
    let all = client.read_all_counters(ReadAllCountersRequest {}).await.unwrap().into_inner();
    let memory = all.system_counters.unwrap().memory_counters;
    assert!(memory.iter().all(|memory| memory.mem_used_infa_0 == 0), "{memory:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_connections_are_served() {
    let daemon = Daemon::start(&[]);
    let mut clients = Vec::new();
    for _ in 0..1000 {
        clients.push(daemon.client().await);
    }
    let mut calls = Vec::new();
    for mut client in clients {
        calls.push(tokio::spawn(async move {
            let list = client.list_egs(Empty {}).await.unwrap().into_inner();
            (list.nc_count, client)
        }));
    }
    for call in calls {
        assert_eq!(call.await.unwrap().0, 16);
    }
}

/// What hostile or broken peers send ends their connection and nothing else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_no_grpc_harm_nobody() {
    use std::io::Write as _;
    let daemon = Daemon::start(&[]);
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\x01\x04\x00\x00\x00\x01",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x05\x01\x2d\x00\x00\x00\x01\xff\xff\xff\xff\xff",
        b"\0",
    ] {
        let mut socket = std::os::unix::net::UnixStream::connect(daemon.socket()).unwrap();
        let _ = socket.write_all(&bytes.repeat(100));
    }
    let mut client = daemon.client().await;
    let list = client.list_egs(Empty {}).await.unwrap().into_inner();
    assert_eq!(list.nc_count, 16);
}
