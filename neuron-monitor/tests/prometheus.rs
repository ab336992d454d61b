//! The exporter: by HTTP, by promtool, and by a real Prometheus.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    missing_docs,
    missing_debug_implementations,
    reason = "helpers of tests"
)]

mod support;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use neuron_core::uapi::nds::core_counter as id;
use serde_json::Value;

#[cfg(feature = "tls")]
use support::program;
use support::{Lab, write};

/// A running exporter, ended with this value.
struct Exporter {
    child: Child,
    port: u16,
}

impl Drop for Exporter {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Exporter {
    fn of(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("Running HTTP"), "{line}");
        let port = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
        Self { child, port }
    }

    fn of_lab(lab: &Lab, args: &[&str]) -> Self {
        let mut all = vec!["prometheus", "--port", "0"];
        all.extend(args);
        Self::of(lab.command(&all))
    }

    fn get(&self, path: &str, fields: &str) -> (String, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: a\r\n{fields}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    /// The page, once it has what is looked for.
    fn page_with(&self, what: &str) -> String {
        let begin = Instant::now();
        loop {
            let (_, body) = self.get("/metrics", "");
            if body.contains(what) {
                return body;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "no {what} in\n{body}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The value of the first sample that begins so.
fn value(page: &str, begin: &str, label: &str) -> Option<f64> {
    let line = page.lines().find(|line| line.starts_with(begin) && line.contains(label))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// A lab with an application that is busy on two cores, until it is dropped.
fn busy_lab(kind: &'static str) -> (Lab, support::Worker) {
    let lab = Lab::new(kind);
    let worker = lab.worker(0);
    worker.block("train", &[1_000_000; 10]);
    worker.set(0, id::COMPLETED, 1);
    worker.attachment.allocate(1 << 20, false, 0, 9).unwrap();
    (lab, worker)
}

#[test]
fn the_service_manager_is_told() {
    let lab = Lab::new("trn1.2xlarge");
    let path = lab.dir.path().join("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut command = lab.command(&["prometheus", "--port", "0"]);
    command.env("NOTIFY_SOCKET", &path);
    let mut exporter = Exporter::of(command);
    let receive = || {
        let mut buffer = [0; 256];
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    };
    let ready = format!("READY=1\nSTATUS=listening on 127.0.0.1:{}", exporter.port);
    assert_eq!(receive(), ready);
    let pid = exporter.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert_eq!(receive(), "STOPPING=1");
    assert!(exporter.child.wait().unwrap().success());
}

#[test]
fn a_busy_machine_in_both_formats() {
    let (lab, worker) = busy_lab("trn2.3xlarge");
    let exporter = Exporter::of_lab(&lab, &["--period", "100ms", "--each-vcpu"]);
    exporter.page_with("execution_status_total{");
    worker.set(0, id::COMPLETED, 43);
    worker.set(1, id::ERROR_NUMERICAL, 2);
    worker.set(0, id::TIME_IN_USE, 1);
    worker.set(0, id::CORE_TIME, 2);
    let begin = Instant::now();
    let page = loop {
        let (_, page) = exporter.get("/anything", "");
        if value(&page, "execution_status_total{", "status_type=\"completed\"") == Some(42.0) {
            break page;
        }
        assert!(begin.elapsed().as_secs() < 20, "{page}");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(value(&page, "execution_errors_total{", "error_type=\"numerical\""), Some(2.0));
    assert_eq!(
        value(&page, "neuroncore_memory_usage_tensors{", "neuroncore=\"0\""),
        Some(1_048_576.0)
    );
    assert!(
        page.contains(
            "memory_location=\"None\",neuroncore=\"0\",region=\"\",runtime_tag=\"train\""
        ),
        "{page}"
    );
    assert_eq!(
        value(&page, "neuron_runtime_memory_used_bytes{", "neuron_device"),
        Some(1_048_576.0)
    );
    for (name, label) in [
        ("neuroncore_physical_utilization_ratio{", "physical_core=\"nc_v3.0\""),
        ("neuroncore_effective_flops{", "neuroncore=\"3\""),
        ("neuron_model_running{", "model_id=\"10001\""),
        ("neuron_device_kind_info{", "neuroncore_version=\"v3d\""),
        ("system_vcpu_core_usage_ratio{", "vcpu=\"0\""),
        ("hardware_ecc_events_total{", "sram_ecc_uncorrected"),
        ("neuron_monitor_collection_seconds{", "group=\"neuron_hw_counters\""),
        ("process_cpu_seconds_total{", ""),
        ("neuron_runtime_info{", "pid="),
    ] {
        assert!(value(&page, name, label).is_some(), "no {name}{label} in\n{page}");
    }
    let ratios = page.lines().filter(|line| line.contains("_ratio{"));
    for line in ratios {
        let ratio: f64 = line.rsplit(' ').next().unwrap().parse().unwrap();
        assert!((0.0..=1.0).contains(&ratio), "{line}");
    }
    let (head, page) =
        exporter.get("/metrics", "Accept: application/openmetrics-text;version=1.0.0\r\n");
    assert!(head.contains("application/openmetrics-text; version=1.0.0"), "{head}");
    assert!(page.ends_with("# EOF\n") && page.contains("# TYPE execution_status counter\n"));
    let (head, health) = exporter.get("/health", "");
    assert!(head.starts_with("HTTP/1.1 200"), "{head} {health}");
    let health: Value = serde_json::from_str(&health).unwrap();
    assert_eq!(health["status"], "ok");
    drop(worker);
    let begin = Instant::now();
    while exporter.get("/metrics", "").1.contains("neuroncore_utilization_ratio") {
        assert!(begin.elapsed().as_secs() < 20, "an application that is gone stays");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A record as the original writes it, and lines that are none.
#[test]
fn the_script_reads_the_originals_stream() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("neuron-monitor-prometheus.py");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_neuron-monitor"), &script).unwrap();
    let mut command = Command::new(&script);
    command.args(["-p", "0"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut exporter = Exporter::of(command);
    let record = r#"{"neuron_runtime_data":[{"pid":9,"address":"","neuron_runtime_tag":"367","error":"","report":{
        "execution_stats":{"period":1.03,"error_summary":{"generic":0,"numerical":0,"transient":0,"model":0,"runtime":0,"hardware":1},
        "execution_summary":{"completed":123,"completed_with_err":0,"completed_with_num_err":0,"timed_out":0,"incorrect_input":0,"failed_to_queue":0},
        "latency_stats":{"total_latency":{"p0":0.01,"p1":0.01,"p100":0.03,"p25":0.01,"p50":0.02,"p75":0.02,"p99":0.03},"device_latency":null},"error":""}}}],
        "system_data":{"vcpu_usage":{"period":1,"average_usage":{"user":32.53,"nice":0,"system":2.08,"idle":65.25,"io_wait":0,"irq":0,"soft_irq":0.14},
        "usage_data":{"0":{"user":34.41},"1":{"user":56.84}},"context_switch_count":123456,"error":""}},
        "instance_info":{"instance_name":"my","instance_id":"i-0011223344556677a","instance_type":"trn1.32xlarge","instance_availability_zone":"us-west-2b",
        "instance_region":"us-west-2","ami_id":"ami-0","subnet_id":"subnet-1","error":""},
        "neuron_hardware_info":{"neuron_device_count":16,"neuroncore_per_device_count":2,"error":""}}"#
        .replace('\n', " ");
    let mut stdin = exporter.child.stdin.take().unwrap();
    stdin.write_all(format!("{record}\nnonsense\n{record}\n").as_bytes()).unwrap();
    let page = exporter.page_with("neuron_monitor_records_total{availability_zone=\"us-west-2b\"");
    let page = if page.contains(" 246\n") { page } else { exporter.page_with(" 246\n") };
    assert_eq!(value(&page, "execution_status_total{", "\"completed\""), Some(246.0));
    assert_eq!(value(&page, "execution_errors_total{", "hardware"), Some(2.0));
    assert_eq!(value(&page, "execution_errors_total{", "generic"), Some(0.0));
    assert_eq!(value(&page, "system_vcpu_usage_ratio{", "usage_type=\"system\""), Some(0.0222));
    assert_eq!(value(&page, "system_vcpu_count{", ""), Some(2.0));
    assert_eq!(value(&page, "execution_latency_seconds{", "p50"), Some(0.02));
    assert!(page.contains("neuron_hardware_info{availability_zone=\"us-west-2b\",instance_id=\"i-0011223344556677a\",instance_name=\"my\",instance_type=\"trn1.32xlarge\",neuron_device_count=\"16\""), "{page}");
    assert_eq!(value(&page, "neuron_monitor_bad_records_total{", ""), Some(1.0));
    drop(stdin);
    assert_eq!(exporter.child.wait().unwrap().code(), Some(0));
    let mut said = String::new();
    exporter.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("Unable to decode JSON: ") && said.lines().count() == 1, "{said}");
}

#[test]
fn a_name_and_password() {
    let lab = Lab::new("trn1.2xlarge");
    let file = lab.dir.path().join("users");
    write(&file, "Aladdin:open sesame\n");
    let exporter = Exporter::of_lab(&lab, &["--auth-file", file.to_str().unwrap()]);
    let (head, _) = exporter.get("/metrics", "");
    assert!(head.starts_with("HTTP/1.1 401") && head.contains("WWW-Authenticate: Basic"), "{head}");
    let (head, _) =
        exporter.get("/metrics", "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
}

#[test]
fn a_port_that_is_taken_and_files_that_are_wrong() {
    let lab = Lab::new("trn1.2xlarge");
    let exporter = Exporter::of_lab(&lab, &[]);
    let port = exporter.port.to_string();
    let missing = lab.dir.path().join("none");
    for (args, said) in [
        (&["--port", port.as_str()][..], "cannot listen on 127.0.0.1:"),
        (&["--port", "0", "--auth-file", missing.to_str().unwrap()], "cannot read"),
        (&["--port", "0", "--cert-file", "x"], "--key-file"),
        (&["--port", "0", "-c", missing.to_str().unwrap()], "cannot read"),
    ] {
        let mut all = vec!["prometheus"];
        all.extend(args);
        let output = lab.command(&all).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(said), "{args:?}: {text}");
    }
}

/// What promtool's lint dislikes about names that are the original's; it is
/// in the documentation too.
const DISLIKED: &[&str] = &["system_vcpu_count non-histogram and non-summary metrics"];

#[test]
fn promtool_accepts_the_page() {
    if !neuron_tests::require("promtool") {
        return;
    }
    let (lab, _worker) = busy_lab("trn2.3xlarge");
    let exporter = Exporter::of_lab(&lab, &["--period", "100ms", "--each-vcpu"]);
    let page = exporter.page_with("neuroncore_utilization_ratio{");
    let mut check = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    check.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let output = check.wait_with_output().unwrap();
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let complaints: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let known = |line: &&str| DISLIKED.iter().any(|known| line.starts_with(known));
    let new: Vec<_> = complaints.iter().filter(|line| !known(line)).collect();
    assert!(new.is_empty(), "{new:#?}");
    for known in DISLIKED {
        assert!(
            complaints.iter().any(|line| line.starts_with(known)),
            "no complaint {known} any more"
        );
    }
}

/// Expressions of a dashboard.
fn expressions(dashboard: &str) -> Vec<String> {
    fn walk(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                found.extend(map.get("expr").and_then(Value::as_str).map(str::to_owned));
                map.values().for_each(|value| walk(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| walk(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(&serde_json::from_str(dashboard).unwrap(), &mut found);
    found
}

/// The queries of the public dashboard (sys-tools.md §8).
const PUBLIC: &[&str] = &[
    "instance_info",
    "count(instance_info)",
    "sum (system_vcpu_count)",
    "avg(sum by (instance_id) (system_vcpu_usage_ratio))",
    "avg(system_memory_used_bytes / system_memory_total_bytes)",
    "count(neuroncore_utilization_ratio > 0)",
    "avg(neuroncore_utilization_ratio)",
    "sum(rate(execution_status_total{status_type=\"completed\"}[1m]))",
    "sum(rate(execution_status_total{status_type!=\"completed\"}[1m]))",
    "avg by (percentile) (execution_latency_seconds)",
    "avg by (neuroncore) (neuroncore_utilization_ratio)",
    "avg by (usage_type) (neuron_runtime_vcpu_usage_ratio)",
    "avg by (memory_location) (sum by (instance_id, memory_location) (neuron_runtime_memory_used_bytes))",
    "avg by (usage_type) (system_vcpu_usage_ratio)",
    "avg(system_memory_used_bytes)",
];

/// A real server scrapes, and answers every query of the public dashboard and
/// of ours.
#[test]
fn a_prometheus_server_answers_both_dashboards() {
    if !neuron_tests::require("prometheus") {
        return;
    }
    let (lab, worker) = busy_lab("trn2.3xlarge");
    let exporter = Exporter::of_lab(&lab, &["--period", "200ms"]);
    let config = lab.dir.path().join("prometheus.yml");
    write(
        &config,
        &format!(
            "global:\n  scrape_interval: 1s\nscrape_configs:\n- job_name: neuron\n  static_configs:\n  - targets: ['127.0.0.1:{}']\n",
            exporter.port
        ),
    );
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Command::new("prometheus")
        .arg(format!("--config.file={}", config.display()))
        .arg(format!("--storage.tsdb.path={}", lab.dir.path().join("tsdb").display()))
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let server = Exporter { child: server, port };
    let mut queries: Vec<String> = PUBLIC.iter().map(|query| (*query).to_owned()).collect();
    let own: Vec<String> = expressions(neuron_monitor::DASHBOARD)
        .iter()
        .map(|query| query.replace("$instance", ".*").replace("$__rate_interval", "1m"))
        .collect();
    assert!(own.len() > 15, "{own:?}");
    queries.extend(own);
    let begin = Instant::now();
    let mut done = 0;
    while !queries.is_empty() {
        done += 1;
        // Work goes on, with latencies and errors, on both cores.
        worker.set(0, id::COMPLETED, 1 + done * 10);
        worker.set(0, id::TIMED_OUT, done);
        worker.set(0, id::ERROR_RUNTIME, done);
        worker.set(0, id::TIME_IN_USE, done * 50_000_000);
        worker.set(0, id::CORE_TIME, done * 100_000_000);
        worker.block("train", &vec![1_000_000; 10 * usize::try_from(done).unwrap()]);
        queries.retain(|query| !has_data(&server, query));
        assert!(begin.elapsed() < Duration::from_secs(90), "without data: {queries:#?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Whether a query gives at least one value.
fn has_data(server: &Exporter, query: &str) -> bool {
    let coded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", server.port)) else { return false };
    let request = format!("GET /api/v1/query?query={coded} HTTP/1.0\r\nHost: a\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let Some((_, body)) = answer.split_once("\r\n\r\n") else { return false };
    let Ok(body) = serde_json::from_str::<Value>(body) else { return false };
    assert_ne!(body["errorType"], "bad_data", "{query}: {body}");
    let list = body["data"]["result"].as_array();
    list.is_some_and(|list| list.iter().any(|one| one["value"][1] != "NaN"))
}

#[cfg(feature = "tls")]
#[test]
fn https_with_a_certificate_that_changes() {
    if !neuron_tests::require("openssl") || !neuron_tests::require("curl") {
        return;
    }
    let lab = Lab::new("trn1.2xlarge");
    let (cert, key) = (lab.dir.path().join("cert.pem"), lab.dir.path().join("key.pem"));
    let make = |name: &str| {
        let status = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-nodes", "-days", "2", "-subj", &format!("/CN={name}")])
            .args(["-addext", "subjectAltName=DNS:localhost"])
            .arg("-keyout")
            .arg(&key)
            .arg("-out")
            .arg(&cert)
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
    };
    make("first");
    let (c, k) = (cert.to_str().unwrap(), key.to_str().unwrap());
    let exporter = Exporter::of_lab(&lab, &["--cert-file", c, "--key-file", k]);
    let fetch = || {
        let url = format!("https://localhost:{}/metrics", exporter.port);
        Command::new("curl")
            .args([
                "-s",
                "--resolve",
                &format!("localhost:{}:127.0.0.1", exporter.port),
                "--cacert",
            ])
            .arg(&cert)
            .arg(url)
            .output()
            .unwrap()
    };
    let begin = Instant::now();
    while !String::from_utf8(fetch().stdout).unwrap().contains("neuron_hardware_info{") {
        assert!(begin.elapsed().as_secs() < 20);
        std::thread::sleep(Duration::from_millis(100));
    }
    // The new certificate is trusted only by those who know it.
    make("second");
    while !fetch().status.success() {
        assert!(begin.elapsed().as_secs() < 40, "the old certificate stays");
        std::thread::sleep(Duration::from_millis(300));
    }
    let output = program(&["prometheus", "--port", "0", "--cert-file", k, "--key-file", c])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
}
