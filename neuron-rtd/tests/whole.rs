//! The whole at work: `mlp` and `transformer` in two groups, ten thousand
//! inferences from eight clients in every way there is, every output right and
//! every count exact, and nothing left once the clients are killed.
//!
//! This test program starts itself anew as each client.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests"
)]

#[path = "../builder/tests/support/mod.rs"]
mod numbers;
mod support;

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use neuron_builder::models::{SAMPLES, Sample};
use neuron_builder::{Array, ElementType};
use neuron_core::sim::{Places, Sim};
use neuron_core::uapi::nds::core_counter;
use rtd_api::nmgr_ext_v1_client::NmgrExtV1Client;
use rtd_api::nmgr_session_manager_client::NmgrSessionManagerClient;
use rtd_api::nmgr_stream_client::NmgrStreamClient;
use rtd_api::nmgr_v1_client::NmgrV1Client;
use rtd_api::*;
use support::{Daemon, good, nn, shared, upload};
use tonic::transport::{Channel, Endpoint};

const CLIENTS: u32 = 8;

/// The models; each belongs to the client of its number.
const MODELS: [(&str, &str, f64); 2] = [
    (
        "mlp",
        "h = np.maximum(x @ fc1_w + fc1_b, 0)\n\
         h = np.maximum(h @ fc2_w + fc2_b, 0)\nout = h @ fc3_w + fc3_b",
        2e-6,
    ),
    (
        "transformer",
        "q, k, v = x @ q_w + q_b, x @ k_w + k_b, x @ v_w + v_b\n\
         o = attention(q, k, v, 2, 1 / 8) @ o_w + o_b\n\
         h = layernorm(x + o, norm1_gamma, norm1_beta, 1e-5)\n\
         f = gelu(h @ up_w + up_b) @ down_w + down_b\n\
         out = layernorm(h + f, norm2_gamma, norm2_beta, 1e-5)",
        4e-6,
    ),
];

/// Inputs of each model that are tried.
const INPUTS: u32 = 4;

/// Inferences of each client: ten thousand together, or what
/// `NEURON_RTD_EACH` says.
fn each() -> u32 {
    std::env::var("NEURON_RTD_EACH").ok().and_then(|each| each.parse().ok()).unwrap_or(1250)
}

const ROLE: &str = "NEURON_RTD_TEST_ROLE";
const ADDRESS: &str = "NEURON_RTD_TEST_ADDRESS";
const FOLDER: &str = "NEURON_RTD_TEST_FOLDER";

fn sample(name: &str) -> Sample {
    let (_, make) = SAMPLES.iter().find(|(known, _)| *known == name).unwrap();
    make().unwrap()
}

fn file(folder: &Path, model: usize, input: u32, kind: &str) -> PathBuf {
    folder.join(format!("{model}.{input}.{kind}"))
}

async fn channel(address: &str) -> Channel {
    Endpoint::try_from(address.to_owned()).unwrap().connect().await.unwrap()
}

fn ask(model: u32, input: InferIo) -> InferRequest {
    InferRequest { h_nn: nn(model), ifmap: vec![input], ..InferRequest::default() }
}

#[track_caller]
fn output(answer: InferResponse) -> Vec<u8> {
    good(answer.status);
    let [InferIo { data: Some(infer_io::Data::Buf(data)), .. }] = answer.ofmap.as_slice() else {
        panic!("{:?}", answer.ofmap)
    };
    data.to_vec()
}

/// A shared memory object of a client, mapped and without a name.
async fn object(
    client: &mut NmgrV1Client<Channel>,
    session_id: u64,
    what: &str,
    bytes: usize,
) -> (String, File) {
    let name = format!("/neuron_rtd_whole_{}_{what}", std::process::id());
    let path = format!("/dev/shm{name}");
    let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    file.set_len(bytes as u64).unwrap();
    let data = Some(shm_map_request::Data::Path(name.clone()));
    let map = ShmMapRequest { data, mmap_prot: 3, session_id };
    good(client.shm_map(map).await.unwrap().into_inner().status);
    fs::remove_file(path).unwrap();
    (name, file)
}

/// A client: a session, for two of them a group with a model, then inferences
/// of both models by all styles in turn; then it waits to be killed.
#[tokio::test]
async fn client_role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let role: u32 = role.parse().unwrap();
    let (address, folder) = (std::env::var(ADDRESS).unwrap(), std::env::var(FOLDER).unwrap());
    let folder = Path::new(&folder);
    let channel = channel(&address).await;
    let mut client = NmgrV1Client::new(channel.clone());
    let mut sessions = NmgrSessionManagerClient::new(channel.clone());
    let (_keep, open) = tokio::sync::mpsc::channel::<SessionMonitorRequest>(1);
    let open = tokio_stream::wrappers::ReceiverStream::new(open);
    let mut session = sessions.session_monitor(open).await.unwrap().into_inner();
    let session = session.message().await.unwrap().unwrap().session_id;
    let mut own = 0;
    if let Some((name, ..)) = MODELS.get(role as usize) {
        let create = CreateEgRequest { nc_count: 1, session_id: session };
        let group = client.create_eg(create).await.unwrap().into_inner();
        good(group.status);
        let mut messages =
            upload(&sample(name).built.bytes, group.h_eg.unwrap().id, session, 2 * CLIENTS);
        let [timeout, ninfer] = [120, 2 * CLIENTS].map(|data| Some(U32 { data }));
        let params = ModelParams { timeout, ninfer, ..ModelParams::default() };
        let content = Some(load_request::Content::ModelParams(params));
        messages.push(LoadRequest { content });
        let loaded = client.load(tokio_stream::iter(messages)).await.unwrap().into_inner();
        good(loaded.status);
        own = loaded.h_nn.unwrap().id;
        good(client.start(StartRequest { h_nn: nn(own) }).await.unwrap().into_inner().status);
    }
    println!("\nready {session} {own}");
    let line = std::io::stdin().lines().next().unwrap().unwrap();
    let ids: Vec<u32> = line.split(' ').map(|id| id.parse().unwrap()).collect();
    let read = |model, kind| {
        let read = |input| fs::read(file(folder, model, input, kind)).unwrap();
        (0..INPUTS).map(read).collect::<Vec<_>>()
    };
    let inputs: Vec<_> = (0..MODELS.len()).map(|model| read(model, "in")).collect();
    let outputs: Vec<_> = (0..MODELS.len()).map(|model| read(model, "out")).collect();
    let mut objects = Vec::new();
    for model in 0..MODELS.len() {
        let (input, output) = (inputs[model][0].len(), outputs[model][0].len());
        objects.push([
            object(&mut client, session, &format!("in{model}"), input).await,
            object(&mut client, session, &format!("out{model}"), output).await,
        ]);
    }
    let (feed, fed) = tokio::sync::mpsc::channel(1);
    let mut stream = NmgrStreamClient::new(channel);
    let fed = tokio_stream::wrappers::ReceiverStream::new(fed);
    let mut answers = stream.infer_stream(fed).await.unwrap().into_inner();
    for n in 0..each() {
        let model = (n % 2) as usize;
        let which = ((n / 2 + role) % INPUTS) as usize;
        let (input, wanted) = (&inputs[model][which], &outputs[model][which]);
        let asked = ask(ids[model], support::inline("x", input));
        let wait = |cookie| InferWaitRequest { cookie, shm_ofmap: vec![] };
        let result = match n / 2 % 5 {
            0 => output(client.infer(asked).await.unwrap().into_inner()),
            1 => {
                let posted = client.infer_post(asked).await.unwrap().into_inner();
                good(posted.status);
                output(client.infer_wait(wait(posted.cookie)).await.unwrap().into_inner())
            }
            2 => {
                let posted = client.infer_post(asked).await.unwrap().into_inner();
                good(posted.status);
                loop {
                    let polled = client.infer_poll(wait(posted.cookie)).await.unwrap().into_inner();
                    if polled.status.as_ref().unwrap().code != 1000 {
                        break output(polled);
                    }
                    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
                }
            }
            3 => {
                feed.send(asked).await.unwrap();
                output(answers.message().await.unwrap().unwrap())
            }
            _ => {
                let [from, to] = &objects[model];
                from.1.write_all_at(input, 0).unwrap();
                to.1.write_all_at(&vec![0; wanted.len()], 0).unwrap();
                let mut asked = ask(ids[model], shared("x", &from.0));
                asked.shm_ofmap.push(shared("y", &to.0));
                let answer = client.infer(asked).await.unwrap().into_inner();
                good(answer.status);
                assert!(answer.ofmap.is_empty());
                let mut bytes = vec![0; wanted.len()];
                to.1.read_exact_at(&mut bytes, 0).unwrap();
                bytes
            }
        };
        assert!(result == *wanted, "inference {n} of {}", MODELS[model].0);
    }
    println!("\ndone");
    std::future::pending::<()>().await;
}

/// A client as a process.
struct Client {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    session: String,
    model: u32,
}

impl Client {
    fn spawn(daemon: &Daemon, role: u32) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "client_role", "--nocapture"])
            .env(ROLE, role.to_string())
            .env(ADDRESS, daemon.address())
            .env(FOLDER, daemon.dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut client = Self { child, lines, session: String::new(), model: 0 };
        let ready = client.line("ready ");
        let mut words = ready.split(' ').skip(1);
        client.session = words.next().unwrap().to_owned();
        client.model = words.next().unwrap().parse().unwrap();
        client
    }

    fn line(&mut self, start: &str) -> String {
        let mut lines = self.lines.by_ref().map_while(Result::ok);
        lines.find(|line| line.starts_with(start)).expect("a client broke off")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the inputs of a model once, compares with NumPy, and leaves inputs and
/// outputs for the clients.
async fn expect(daemon: &Daemon, number: usize, id: u32) {
    let (name, python, bound) = MODELS[number];
    let sample = sample(name);
    let mut client = daemon.client().await;
    let shape = sample.inputs[0].1.shape().to_vec();
    let mut checks = Vec::new();
    for index in 0..INPUTS {
        let seed = u64::from(index) + 1;
        let input = numbers::random(seed, ElementType::F32, &shape);
        let answer = client.infer(ask(id, support::inline("x", input.data()))).await;
        let bytes = output(answer.unwrap().into_inner());
        fs::write(file(daemon.dir.path(), number, index, "in"), input.data()).unwrap();
        fs::write(file(daemon.dir.path(), number, index, "out"), &bytes).unwrap();
        let rows = shape[0];
        let result = Array::new(ElementType::F32, &[rows, bytes.len() / 4 / rows], bytes).unwrap();
        let mut arrays = sample.weights.clone();
        arrays.push(("x".to_owned(), input));
        checks.push(numbers::Check {
            name: format!("{name}, input {index}"),
            arrays,
            outputs: vec![("y".to_owned(), result)],
            python: python.to_owned(),
            bound,
        });
    }
    numbers::verify(&checks);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_inferences_of_eight_clients() {
    let mut daemon = Daemon::start(&[]);
    let mut clients: Vec<Client> = (0..CLIENTS).map(|role| Client::spawn(&daemon, role)).collect();
    let ids: Vec<u32> = clients.iter().map(|client| client.model).filter(|id| *id > 0).collect();
    for (number, id) in ids.iter().enumerate() {
        expect(&daemon, number, *id).await;
    }
    let line = ids.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    for client in &mut clients {
        writeln!(client.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }
    for client in &mut clients {
        client.line("done");
    }
    let ls = Command::new(neuron_tests::bin("neuron-ls"))
        .args(["--source", "sim:inf1.6xlarge", "-o", "json"])
        .env("NEURON_SIM_DIR", daemon.dir.path().join("sim"))
        .output()
        .unwrap();
    let ls = String::from_utf8(ls.stdout).unwrap();
    assert!(ls.contains(&format!("\"pid\": {}", daemon.pid())), "{ls}");
    assert!(ls.contains("\"neuron_runtime_version\": \"0.1.0\""), "{ls}");

    let total = u64::from(CLIENTS * each() + 2 * INPUTS);
    let mut client = daemon.client().await;
    let counters = client.read_inference_counters(Empty {}).await.unwrap().into_inner();
    let counters = counters.nmgr_counters.unwrap();
    let by_status: Vec<u64> =
        counters.infer_status_counts.iter().map(|count| count.count.into()).collect();
    assert_eq!(by_status, [total, 0, 0, 0, 0]);
    assert_eq!((counters.infer_count, counters.infer_queue_drop_count), (total, 0));
    assert!(counters.infer_error_subtype_count.iter().all(|count| count.count == 0));
    assert_eq!((counters.model_load_count, counters.model_start_count), (2, 2));
    // the last ones first: the models belong to the first ones
    let mut extension = NmgrExtV1Client::new(daemon.channel().await);
    while let Some(killed) = clients.pop() {
        let session = killed.session.clone();
        drop(killed);
        let left = clients.len();
        let (models, groups) = if left < MODELS.len() { (1, 1) } else { (0, 0) };
        daemon.line(&format!(
            "Session {session} ended: {models} models, {groups} groups, 4 mappings given back"
        ));
        let health = extension.get_health(Empty {}).await.unwrap().into_inner();
        assert_eq!((health.sessions, health.in_flight), (left as u64, 0));
        assert_eq!(health.models, left.min(MODELS.len()) as u64);
    }
    let groups = client.list_egs(Empty {}).await.unwrap().into_inner();
    assert_eq!(groups.eg_info, []);
    let all = client.read_all_counters(ReadAllCountersRequest {}).await.unwrap().into_inner();
    let memory = all.system_counters.unwrap().memory_counters;
    assert!(memory.iter().all(|memory| memory.mem_used_infa_0 == 0), "{memory:?}");

    // what the machine remembers of the daemon once it has ended
    assert!(daemon.end().success());
    let places = Places::only(daemon.dir.path().join("sim"));
    let state = Sim::open(&places, "inf1.6xlarge").unwrap().snapshot().unwrap();
    let counted = |counter: u32| -> u64 {
        let cores = state.devices.iter().flat_map(|device| device.cores.values());
        cores.filter_map(|core| core.counters.get(&counter)).map(|value| value.total).sum()
    };
    assert_eq!(counted(core_counter::COMPLETED), total);
    assert_eq!(counted(core_counter::INFERENCE_COUNT), total);
    assert!(state.devices.iter().all(|device| device.device_memory_in_use() == 0));
}
