//! A daemon that is inspected: what its clients have it do, in the files of the
//! vendor's runtime.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use neuron_core::ntff::error::Findings;
use neuron_core::ntff::frames::{FrameReader, Framed};
use neuron_core::ntff::messages::{CpuUtil, HostMemUsage, NtffInfo, NtraceEvent, NtraceInfo};
use neuron_core::ntff::{Limits, Mode, Options, Reader, root, schema};
use rtd_api::*;
use support::neff::{Chain, Node};
use support::*;

/// A daemon whose files go below its folder.
fn inspected(variables: &[(&str, &str)]) -> Daemon {
    let dir = tempfile::tempdir().unwrap();
    let mut command = command(dir.path(), &[]);
    command.env("NEURON_RT_INSPECT_OUTPUT_DIR", dir.path().join("out"));
    for (name, value) in variables {
        command.env(format!("NEURON_RT_INSPECT_{name}"), value);
    }
    let daemon = Daemon::spawn(command, dir);
    daemon.line("[NRTD:RunServer] Server listening on unix:");
    daemon
}

fn folder(daemon: &Daemon) -> PathBuf {
    daemon.dir.path().join("out").join(format!("inf1.6xlarge_pid_{}", daemon.pid()))
}

fn strict() -> Options {
    Options { mode: Mode::Strict, ..Options::default() }
}

fn frames<M: Framed>(path: &Path) -> Vec<M> {
    let data = fs::read(path).unwrap();
    let mut reader = FrameReader::new(data.as_slice(), strict());
    std::iter::from_fn(|| reader.next_message().unwrap()).collect()
}

/// The message of a device trace that is whole to its last byte.
fn trace(path: &Path) -> NtffInfo {
    let mut reader = Reader::new(fs::File::open(path).unwrap(), strict()).unwrap();
    while reader.next_chunk().unwrap().is_some() {}
    assert!(reader.findings().list().0.is_empty(), "{:?}", reader.findings());
    reader.info().clone()
}

fn names(folder: &Path) -> Vec<String> {
    let all = fs::read_dir(folder).unwrap();
    let mut all: Vec<String> =
        all.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    all.sort();
    all
}

/// Loads a model and runs it so many times.
async fn used(daemon: &Daemon, neff: &[u8], times: u8) -> u32 {
    let mut client = daemon.client().await;
    let group = client.create_eg(CreateEgRequest { nc_count: 1, session_id: 0 }).await.unwrap();
    let group = group.into_inner().h_eg.unwrap().id;
    let loaded = load(&mut client, neff, group, 0).await;
    good(loaded.status);
    let id = loaded.h_nn.unwrap().id;
    good(client.start(StartRequest { h_nn: nn(id) }).await.unwrap().into_inner().status);
    for byte in 0..times {
        assert_eq!(output(client.infer(request(id, byte)).await.unwrap().into_inner()), [byte; 64]);
    }
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_leaves_its_files() {
    let mut daemon = inspected(&[("ENABLE", "1")]);
    let neff = Chain::new("copy", &[Node::Copy(1)]).build();
    let id = used(&daemon, &neff, 3).await;
    assert_eq!(daemon.end().code(), Some(0));
    let folder = folder(&daemon);
    assert_eq!(
        names(&folder),
        [
            format!("{id}_instid_0_vnc_0.ntff"),
            "cpu_util.pb".to_owned(),
            "host_mem.pb".to_owned(),
            format!("neff_{id}.neff"),
            "ntrace.pb".to_owned(),
            "trace_info.pb".to_owned(),
        ]
    );
    assert_eq!(fs::read(folder.join(format!("neff_{id}.neff"))).unwrap(), neff);
    let events: Vec<NtraceEvent> = frames(&folder.join("ntrace.pb"));
    let mut kinds: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for event in &events {
        let (starts, stops) = kinds.entry(event.event_type).or_default();
        *starts += u32::from(event.phase == 1);
        *stops += u32::from(event.phase == 2);
    }
    // load, execution of a step, execution on the device, wait
    for (kind, times) in [(1, 1), (4, 3), (7, 3), (19, 3)] {
        assert_eq!(kinds.get(&kind), Some(&(times, times)), "{kind}: {kinds:?}");
    }
    let processors: Vec<CpuUtil> = frames(&folder.join("cpu_util.pb"));
    let memory: Vec<HostMemUsage> = frames(&folder.join("host_mem.pb"));
    assert!(!processors.is_empty() && memory.iter().all(|sample| sample.bytes_used > 0));
    let bytes = fs::read(folder.join("trace_info.pb")).unwrap();
    let (limits, mut findings) = (Limits::default(), Findings::default());
    let info: NtraceInfo =
        root::decode_whole(&bytes, 0, &schema::NTRACE_INFO, &limits, &mut findings).unwrap();
    assert_eq!(info.event_count, events.len() as u64);
    assert_eq!(info.event_file.unwrap().frame_count, events.len() as u64);
    assert_eq!((info.pid, info.instance_type.as_str()), (daemon.pid().into(), "inf1.6xlarge"));
    assert_eq!(info.instance_id, "inf1.6xlarge");
    // the device trace is of the first execution, at the time that the event tells
    let trace = trace(&folder.join(format!("{id}_instid_0_vnc_0.ntff")));
    let [window] = trace.execution_timeline.as_slice() else { panic!("{trace:?}") };
    let running = events.iter().find(|event| event.event_type == 7 && event.phase == 1).unwrap();
    let time: u64 = running.attributes.get("nc_timestamp_ns").unwrap().parse().unwrap();
    assert_eq!(window.start / 1000, time);
}

/// Files for failures are kept when there was one, and are gone without.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_for_failures_need_one() {
    let mut daemon = inspected(&[("ON_FAIL", "1")]);
    used(&daemon, &Chain::new("copy", &[Node::Copy(1)]).build(), 1).await;
    assert!(folder(&daemon).join("ntrace.pb").is_file());
    assert_eq!(daemon.end().code(), Some(0));
    assert!(!folder(&daemon).exists());

    let mut daemon = inspected(&[("ON_FAIL", "1")]);
    let id = used(&daemon, &Chain::new("stuck", &[Node::Deadlock]).build(), 0).await;
    let answer = daemon.client().await.infer(request(id, 1)).await.unwrap().into_inner();
    assert_ne!(status(answer.status).0, 0);
    assert_eq!(daemon.end().code(), Some(0));
    let events: Vec<NtraceEvent> = frames(&folder(&daemon).join("ntrace.pb"));
    assert!(events.iter().any(|event| event.event_type == 4 && event.phase == 2));
}

/// Two models on one core in turns, with calls that wait and calls that do not.
async fn turns(daemon: &Daemon) -> [Vec<u8>; 2] {
    let mut client = daemon.client().await;
    let neffs = [("one", 1), ("two", 2)]
        .map(|(name, nodes)| Chain::new(name, &[Node::Copy(1)]).build_with(nodes));
    let group = client.create_eg(CreateEgRequest { nc_count: 1, session_id: 0 }).await.unwrap();
    let group = group.into_inner().h_eg.unwrap().id;
    let mut ids = Vec::new();
    for neff in &neffs {
        ids.push(load(&mut client, neff, group, 0).await.h_nn.unwrap().id);
    }
    for id in [ids[0], ids[1], ids[0]] {
        good(client.start(StartRequest { h_nn: nn(id) }).await.unwrap().into_inner().status);
        assert_eq!(output(client.infer(request(id, 1)).await.unwrap().into_inner()), [1; 64]);
        let posted = client.infer_post(request(id, 2)).await.unwrap().into_inner();
        good(posted.status);
        let wait = InferWaitRequest { cookie: posted.cookie, ..Default::default() };
        assert_eq!(output(client.infer_wait(wait).await.unwrap().into_inner()), [2; 64]);
        good(client.stop(StopRequest { h_nn: nn(id) }).await.unwrap().into_inner().status);
    }
    neffs
}

fn uuid(neff: &[u8]) -> Vec<u8> {
    neuron_core::neff::Header::of_file(neff).unwrap().uuid.to_vec()
}

/// Everything is in one file for a core, in order, at the times that the events
/// tell; also when nobody ends the files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_has_every_execution() {
    for (killed, system) in [(false, "1"), (true, "1"), (false, "0")] {
        let mut daemon = inspected(&[
            ("ENABLE", "1"),
            ("DEVICE_PROFILE", "session"),
            ("SYSTEM_PROFILE", system),
        ]);
        let [one, two] = turns(&daemon).await.map(|neff| uuid(&neff));
        assert_ne!(one, two);
        if killed {
            daemon.signal("KILL");
            daemon.wait();
        } else {
            assert_eq!(daemon.end().code(), Some(0));
        }
        let folder = folder(&daemon);
        let traces: Vec<String> =
            names(&folder).into_iter().filter(|name| name.contains(".ntff")).collect();
        assert_eq!(traces, ["profile_nc_0_session_0.ntff"]);
        let info = trace(&folder.join("profile_nc_0_session_0.ntff"));
        let windows = &info.execution_timeline;
        let of: Vec<&[u8]> = windows.iter().map(|window| window.neff_uuid.as_slice()).collect();
        assert_eq!(of, [&one, &one, &two, &two, &one, &one]);
        assert!(windows.windows(2).all(|pair| pair[0].end < pair[1].start), "{windows:?}");
        assert_eq!(info.neff_nodes.len(), 2);
        if !killed && system == "1" {
            let events: Vec<NtraceEvent> = frames(&folder.join("ntrace.pb"));
            let running = events.iter().filter(|event| event.event_type == 7 && event.phase == 1);
            let times: Vec<u64> = running
                .map(|event| event.attributes.get("nc_timestamp_ns").unwrap().parse().unwrap())
                .collect();
            let starts: Vec<u64> = windows.iter().map(|window| window.start / 1000).collect();
            assert_eq!(starts, times);
        }
    }
}

#[test]
fn what_is_wrong_is_one_line_and_no_daemon() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let below = dir.path().join("file/out");
    let below = below.to_str().unwrap();
    for (name, value, said) in [
        ("DEVICE_PROFILE", "2", "NEURON_RT_INSPECT_DEVICE_PROFILE=2: must be 0, 1, model or "),
        ("ENABLE", "yes", "NEURON_RT_INSPECT_ENABLE=yes: must be 0 or 1"),
        ("EVENT_FILTER_NC", "a", "NEURON_RT_INSPECT_EVENT_FILTER_NC=a: must be a list of cores"),
        ("SYS_TRACE_MAX_EVENTS_PER_NC", "-1", "_MAX_EVENTS_PER_NC=-1: must be a whole number"),
        ("OUTPUT_DIR", below, "not a directory; NEURON_RT_INSPECT_OUTPUT_DIR names another folder"),
    ] {
        let mut own = Command::new(env!("CARGO_BIN_EXE_neuron-rtd"));
        own.args(["--source", "sim:inf1.6xlarge", "-g"])
            .arg(format!("unix:{}", dir.path().join("neuron.sock").display()))
            .env("NEURON_SIM_DIR", dir.path().join("sim"))
            .env("NEURON_RTD_ROOT", dir.path())
            .env("NEURON_RT_INSPECT_ENABLE", "1")
            .env(format!("NEURON_RT_INSPECT_{name}"), value)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let (status, text) = ended(own);
        assert_eq!(status.code(), Some(1), "{text}");
        assert!(text.starts_with("neuron-rtd: ") && text.contains(said), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(!dir.path().join("neuron.sock").exists());
    }
}
