//! Pods of cores and devices, from a kubelet that is not ours.
#![cfg(feature = "k8s")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    missing_debug_implementations,
    reason = "helpers of tests"
)]

mod support;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use neuron_core::uapi::nds::core_counter as id;
use serde_json::{Value, json};

use support::{Lab, Running, write};

/// A folder with grpcio; `None` when it cannot be had here.
fn grpcio() -> Option<PathBuf> {
    const PACKAGES: [&str; 3] = ["grpcio==1.71.0", "protobuf==5.29.4", "typing_extensions==4.12.2"];
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("grpcio-1.71.0-protobuf-5.29.4");
    if !folder.exists() {
        let part = folder.with_extension(std::process::id().to_string());
        let mut install = Command::new("python3");
        install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]).arg(&part);
        install.args(PACKAGES).stdout(Stdio::null()).stderr(Stdio::null());
        let done = install.status().is_ok_and(|status| status.success());
        // Another test may have been faster; then its copy is as good.
        if !done || std::fs::rename(&part, &folder).is_err() {
            let _ = std::fs::remove_dir_all(&part);
        }
    }
    let mut works = Command::new("python3");
    works.env("PYTHONPATH", &folder).args(["-c", "import grpc, google.protobuf"]);
    works.stderr(Stdio::null()).status().is_ok_and(|status| status.success()).then_some(folder)
}

/// A kubelet that serves until it is dropped.
struct Kubelet(Child);

impl Kubelet {
    fn start(socket: &Path, pods: &Value) -> Option<Self> {
        let mut child = Command::new("python3")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kubelet.py"))
            .arg(socket)
            .arg(pods.to_string())
            .env("PYTHONPATH", grpcio()?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Some(Self(child))
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn pod(name: &str, resource: &str, ids: &[&str]) -> Value {
    json!({"name": name, "namespace": "ml", "containers": [
        {"name": "main", "devices": [{"resource_name": format!("aws.amazon.com/{resource}"), "device_ids": ids}]},
        {"name": "sidecar", "devices": [{"resource_name": "vpc.amazonaws.com/efa", "device_ids": ["0"]}]}]})
}

fn skipped(test: &str) {
    neuron_tests::skipped(test, "needs python3 and pip's download of grpcio");
}

/// The next record that tells of pods.
fn told(running: &mut Running) -> Value {
    let begin = Instant::now();
    loop {
        let mut record = running.record();
        if record["neuron_k8s_info"].is_object() {
            return record["neuron_k8s_info"].take();
        }
        assert!(begin.elapsed() < Duration::from_secs(30), "nothing of pods");
    }
}

#[test]
fn records_and_labels_name_the_pods() {
    let lab = Lab::new("trn1.32xlarge");
    let socket = lab.dir.path().join("kubelet.sock");
    let pods = json!([
        pod("train-0", "neuroncore", &["2", "3"]),
        pod("infer-0", "neurondevice", &["0"]),
        pod("idle", "neuron", &["15"]),
    ]);
    let Some(_kubelet) = Kubelet::start(&socket, &pods) else {
        return skipped("records_and_labels_name_the_pods");
    };
    let config = lab.dir.path().join("monitor.conf");
    write(&config, r#"{"period": "50ms", "k8s_info": {"period": "100ms"}}"#);
    let (config, socket) = (config.to_str().unwrap(), socket.to_str().unwrap());
    let mut running = Running::of(lab.command(&["-c", config, "--kubelet-socket", socket]));
    let info = told(&mut running);
    assert_eq!(info["error"], "", "{info}");
    let train = json!({"pod_name": "train-0", "namespace": "ml", "container_name": ["main"]});
    let cores = info["neuroncores_k8s_info"].as_object().unwrap();
    let named: Vec<(&str, &str)> =
        cores.iter().map(|(n, pod)| (n.as_str(), pod["pod_name"].as_str().unwrap())).collect();
    assert_eq!(
        named,
        [
            ("0", "infer-0"),
            ("1", "infer-0"),
            ("2", "train-0"),
            ("3", "train-0"),
            ("30", "idle"),
            ("31", "idle")
        ]
    );
    assert_eq!(cores["2"], train);
    assert_eq!(info["neurondevices_k8s_info"]["1"], train);
    running.signal("TERM");
    assert_eq!(running.end().0, Some(0));

    let worker = lab.worker(1);
    worker.set(0, id::COMPLETED, 1);
    worker.attachment.allocate(4096, false, 1, 9).unwrap();
    let mut command = lab.command(&["prometheus", "--port", "0", "--period", "100ms"]);
    command.args(["--enable-k8s-info", "--kubelet-socket", socket]);
    let mut exporter = Running::of(command);
    let mut line = String::new();
    exporter.lines.read_line(&mut line).unwrap();
    let port: u16 = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
    let begin = Instant::now();
    let page = loop {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        if page.contains("pod=\"train-0\"") && page.contains("neuroncore_memory_usage_tensors{") {
            break page;
        }
        assert!(begin.elapsed() < Duration::from_secs(30), "{page}");
        std::thread::sleep(Duration::from_millis(50));
    };
    let line = |begin: &str, label: &str| {
        page.lines().find(|line| line.starts_with(begin) && line.contains(label)).unwrap()
    };
    let memory = line("neuroncore_memory_usage_tensors{", "neuroncore=\"3\"");
    assert!(
        memory.contains("container=\"main\"") && memory.contains("namespace=\"ml\""),
        "{memory}"
    );
    let mut names: Vec<&str> =
        memory.split(['{', ',']).skip(1).map(|label| label.split('=').next().unwrap()).collect();
    let listed = names.clone();
    names.sort_unstable();
    assert_eq!(names, listed);
    let device = line("hardware_ecc_events_total{", "neuron_device_index=\"15\"");
    assert!(device.contains("pod=\"idle\""), "{device}");
    assert!(!line("hardware_ecc_events_total{", "neuron_device_index=\"7\"").contains("pod="));
    exporter.signal("TERM");
    assert_eq!(exporter.end().0, Some(0));
}

#[test]
fn a_kubelet_that_is_absent_or_restarts() {
    let lab = Lab::new("trn1.2xlarge");
    let socket = lab.dir.path().join("kubelet.sock");
    let config = lab.dir.path().join("monitor.conf");
    write(&config, r#"{"period": "50ms", "k8s_info": {"period": "50ms"}}"#);
    let mut running = Running::of(lab.command(&[
        "-c",
        config.to_str().unwrap(),
        "--kubelet-socket",
        socket.to_str().unwrap(),
    ]));
    for _ in 0..6 {
        assert_eq!(running.record()["neuron_k8s_info"], Value::Null);
    }
    let start = |name: &str| Kubelet::start(&socket, &json!([pod(name, "neuron", &["0"])]));
    let Some(kubelet) = start("first") else {
        return skipped("a_kubelet_that_is_absent_or_restarts");
    };
    let of_device = |info: &Value| info["neurondevices_k8s_info"]["0"]["pod_name"].clone();
    assert_eq!(of_device(&told(&mut running)), "first");
    drop(kubelet);
    // Its socket stays behind.
    let begin = Instant::now();
    while !told(&mut running)["error"]
        .as_str()
        .unwrap()
        .contains("kubelet.sock: Connection refused")
    {
        assert!(begin.elapsed() < Duration::from_secs(30));
    }
    std::fs::remove_file(&socket).unwrap();
    let _kubelet = start("second");
    while of_device(&told(&mut running)) != "second" {
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
    running.signal("TERM");
    assert_eq!(running.end().0, Some(0));
}

/// One that says nothing, one that says nonsense: the period is kept.
#[test]
fn a_hostile_kubelet_holds_nothing_up() {
    for hostile in ["silent", "garbage", "http2"] {
        let lab = Lab::new("trn1.2xlarge");
        let socket = lab.dir.path().join("kubelet.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                std::thread::spawn({
                    let mut stream = stream.try_clone().unwrap();
                    move || {
                        let begin = Instant::now();
                        // The peer goes away some time.
                        while begin.elapsed() < Duration::from_secs(20) {
                            let bytes: &[u8] = match hostile {
                                "silent" => return,
                                "garbage" => &[0x5a; 65_536],
                                // Settings without end.
                                _ => &[0, 0, 0, 4, 0, 0, 0, 0, 0],
                            };
                            if stream.write_all(bytes).is_err() {
                                return;
                            }
                        }
                    }
                });
                let _ = stream.flush();
                kept.push(stream);
            }
        });
        let config = lab.dir.path().join("monitor.conf");
        write(&config, r#"{"period": "50ms", "k8s_info": {"period": "50ms"}}"#);
        let mut running = Running::of(lab.command(&[
            "-c",
            config.to_str().unwrap(),
            "--kubelet-socket",
            socket.to_str().unwrap(),
        ]));
        // The question is given up in time, and no record waits for it.
        let (begin, mut records) = (Instant::now(), 0);
        let error = loop {
            records += 1;
            let mut record = running.record();
            if let Value::String(error) = record["neuron_k8s_info"]["error"].take() {
                break error;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "{hostile}");
        };
        assert!(error.contains("cannot ask the kubelet"), "{hostile}: {error}");
        assert!(hostile != "silent" || records > 50, "{records}");
        running.signal("TERM");
        assert_eq!(running.end().0, Some(0));
    }
}
