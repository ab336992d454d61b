//! PutMetricData, at a local server that stands in for the service.
#![cfg(feature = "cloudwatch")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    missing_debug_implementations,
    reason = "helpers of tests"
)]

mod support;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use neuron_core::uapi::nds::core_counter as id;
use serde_json::{Value, json};

use support::{Lab, program, write};

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

/// A request as it came.
#[derive(Debug, Clone)]
struct Sent {
    line: String,
    headers: BTreeMap<String, String>,
    body: String,
}

/// What the stand-in does with a request.
#[derive(Debug, Clone, Copy)]
enum Act {
    Answer(u16, &'static str),
    /// Closes the connection without a word.
    HangUp,
}

const OK: Act = Act::Answer(200, "{}");

/// A server that answers as it is told, and from then on that all is well.
struct StandIn {
    port: u16,
    sent: Arc<Mutex<Vec<(Sent, bool)>>>,
}

impl StandIn {
    fn new(acts: &[Act]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let sent: Arc<Mutex<Vec<(Sent, bool)>>> = Arc::default();
        let (kept, mut acts) = (Arc::clone(&sent), acts.to_vec().into_iter());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                while let Some(request) = receive(&mut stream) {
                    let act = acts.next().unwrap_or(OK);
                    let taken = matches!(act, Act::Answer(200, _));
                    kept.lock().unwrap().push((request, taken));
                    match act {
                        Act::Answer(status, body) => answer(&mut stream, status, body),
                        Act::HangUp => break,
                    }
                }
            }
        });
        Self { port, sent }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Requests that were answered with success.
    fn taken(&self) -> Vec<Sent> {
        let sent = self.sent.lock().unwrap();
        sent.iter().filter(|(_, taken)| *taken).map(|(sent, _)| sent.clone()).collect()
    }

    /// The metrics that were taken.
    fn metrics(&self) -> Vec<Value> {
        let bodies = self.taken();
        let documents =
            bodies.iter().map(|sent| serde_json::from_str::<Value>(&sent.body).unwrap());
        documents.flat_map(|document| document["MetricData"].as_array().unwrap().clone()).collect()
    }

    /// Checks everything that came, by an implementation that is not ours.
    fn check(&self, test: &str) {
        let Some(python) = botocore() else {
            return neuron_tests::skipped(test, "needs python3 and pip's download of botocore");
        };
        let sent = self.sent.lock().unwrap();
        let requests: Vec<Value> = sent
            .iter()
            .map(|(sent, _)| {
                json!({"method": "POST", "url": format!("{}/", self.url()),
                       "headers": sent.headers, "body": sent.body})
            })
            .collect();
        let mut child = Command::new("python3")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/signature.py"))
            .env("PYTHONPATH", python)
            .env("SECRET", SECRET)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(json!(requests).to_string().as_bytes()).unwrap();
        drop(input);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let counts = String::from_utf8(output.stdout).unwrap();
        assert_eq!(counts.lines().count(), sent.len());
    }
}

fn receive(stream: &mut impl Read) -> Option<Sent> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let line = line.trim().to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut field = String::new();
        reader.read_line(&mut field).ok()?;
        let Some((name, value)) = field.trim().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length: usize = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Sent { line, headers, body: String::from_utf8(body).unwrap() })
}

fn answer(stream: &mut impl Write, status: u16, body: &str) {
    let text = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    // The other side may have gone.
    let _ = stream.write_all(text.as_bytes());
}

/// A folder with botocore, or nothing where Python has it; `None` when it
/// cannot be had here.
fn botocore() -> Option<PathBuf> {
    const PACKAGES: [&str; 5] = [
        "botocore==1.43.11",
        "jmespath==1.0.1",
        "python-dateutil==2.9.0.post0",
        "six==1.17.0",
        "urllib3==2.5.0",
    ];
    let works = |folder: &Path| {
        let mut works = Command::new("python3");
        works.env("PYTHONPATH", folder).args(["-c", "import botocore.session"]);
        works.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    if works(Path::new("")) {
        return Some(PathBuf::new());
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("botocore-1.43.11");
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
    works(&folder).then_some(folder)
}

/// Without credentials, proxies and settings of whoever runs the tests.
fn clean(command: &mut Command, home: &Path) {
    for (name, _) in std::env::vars() {
        let name_of_a_proxy = name.to_ascii_lowercase().ends_with("_proxy");
        if name.starts_with("AWS_") || name_of_a_proxy {
            command.env_remove(name);
        }
    }
    command.env("HOME", home).env("AWS_EC2_METADATA_DISABLED", "true");
}

fn keyed(command: &mut Command, home: &Path) {
    clean(command, home);
    command.env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE").env("AWS_SECRET_ACCESS_KEY", SECRET);
}

fn said(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn nothing_is_lost_while_puts_fail() {
    let server = StandIn::new(&[
        Act::Answer(503, ""),
        Act::HangUp,
        Act::Answer(400, r#"{"__type":"com.amazon.coral.service#ThrottlingException"}"#),
        Act::Answer(403, r#"{"__type":"ExpiredTokenException","message":"old"}"#),
    ]);
    let lab = Lab::new("trn1.2xlarge");
    let worker = lab.worker(0);
    worker.block("täg:1", &[]);
    let mut command = lab.command(&["cloudwatch", "--namespace", "Lab/1", "--region", "us-west-2"]);
    command.args(["--endpoint", &server.url(), "--period", "100ms", "--count", "6"]);
    command.args(["--flush", "10ms"]);
    keyed(&mut command, lab.dir.path());
    command.env("AWS_SESSION_TOKEN", "a+token/with=signs");
    let child = command.spawn().unwrap();
    for number in 1..=40 {
        worker.set(0, id::COMPLETED, number);
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let said = said(&output);
    for reason in ["status 503", "ThrottlingException", "ExpiredTokenException", "succeeds again"] {
        assert!(said.contains(reason), "{said}");
    }
    let metrics = server.metrics();
    let of = |name: &str| -> Vec<f64> {
        let named = metrics.iter().filter(|metric| metric["MetricName"] == name);
        named.map(|metric| metric["Value"].as_f64().unwrap()).collect()
    };
    // Every record's, once; the counts of all periods make the whole.
    assert_eq!(of("neuron_execution_status_completed").len(), 6, "{metrics:?}");
    let sum: f64 = of("neuron_execution_status_completed").iter().sum();
    assert!(sum <= 40.0 && sum >= 20.0, "{sum}");
    assert_eq!(of("system_memory_total_bytes").len(), 6);
    let core = metrics.iter().find(|m| m["MetricName"] == "neuroncore_memory_usage_total").unwrap();
    let dimensions = core["Dimensions"].as_array().unwrap();
    let value = |name: &str| &dimensions.iter().find(|d| d["Name"] == name).unwrap()["Value"];
    assert_eq!((value("NeuronCore"), value("RuntimeTag")), (&json!("0"), &json!("t_g:1")));
    let first = &server.taken()[0];
    assert_eq!(first.line, "POST / HTTP/1.1");
    assert!(first.headers["authorization"].contains("/us-west-2/monitoring/"), "{first:?}");
    server.check("nothing_is_lost_while_puts_fail");
}

#[test]
fn the_script_sends_the_originals_stream() {
    // One of its metrics is refused: it goes alone.
    let refusal = r#"{"__type":"com.amazonaws.cloudwatch#InvalidParameterValueException"}"#;
    let server = StandIn::new(&[Act::Answer(400, refusal); 7]);
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("neuron-monitor-cloudwatch.py");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_neuron-monitor"), &link).unwrap();
    let mut command = Command::new(&link);
    command.args(["--namespace", "N", "--region", "eu-north-1"]);
    keyed(&mut command, dir.path());
    command.env("AWS_ENDPOINT_URL_CLOUDWATCH", server.url());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let record = concat!(
        r#"{"neuron_runtime_data":[{"pid":1,"neuron_runtime_tag":"1","error":"","report":{"#,
        r#""execution_stats":{"period":1,"error_summary":{"generic":0,"numerical":3},"#,
        r#""execution_summary":{"completed":9},"error":""}}}],"system_data":{},"#,
        r#""instance_info":{"instance_id":"i-9"},"neuron_hardware_info":{"neuroncore_per_device_count":2}}"#,
    );
    let mut input = child.stdin.take().unwrap();
    input.write_all(format!("not json\n{record}\n{record}\n").as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let said = said(&output);
    // 26 metrics halved: 26, 13, 6, 3, 1 is refused and lost; 2 are refused, and
    // 1 of those.
    assert!(said.contains("Unable to decode JSON"), "{said}");
    assert!(said.contains("InvalidParameterValueException"), "{said}");
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("2 metrics were not delivered") && said.contains("24 were"), "{said}");
    assert_eq!(server.metrics().len(), 24);
    server.check("the_script_sends_the_originals_stream");
}

#[test]
fn credentials_of_files_containers_and_instances() {
    let document = format!(
        "{{\n\"AccessKeyId\": \"ROLE\",\n\"SecretAccessKey\": \"{SECRET}\",\n\"Token\": \"tok\"}}"
    );
    let document: &'static str = document.leak();
    let lab = Lab::new("trn1.2xlarge");
    let home = tempfile::tempdir().unwrap();
    let run = |server: &StandIn, set: &dyn Fn(&mut Command)| {
        let mut command = lab.command(&["cloudwatch", "--region", "us-west-2", "--flush", "10ms"]);
        command.args(["--endpoint", &server.url(), "--period", "50ms", "--count", "1"]);
        clean(&mut command, home.path());
        set(&mut command);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        server.check("credentials_of_files_containers_and_instances");
        let taken = server.taken();
        assert!(!taken.is_empty());
        let headers = taken[0].headers.clone();
        let key = headers["authorization"].split(['=', '/']).nth(1).unwrap().to_owned();
        (key, headers.get("x-amz-security-token").cloned())
    };
    let file = home.path().join("keys");
    write(&file, &format!("[work]\naws_access_key_id=FILE\naws_secret_access_key={SECRET}\n"));
    let of_file = run(&StandIn::new(&[]), &|command| {
        command.env("AWS_SHARED_CREDENTIALS_FILE", &file).env("AWS_PROFILE", "work");
    });
    assert_eq!(of_file, (String::from("FILE"), None));

    let container = StandIn::new(&[Act::Answer(200, document)]);
    let of_container = run(&StandIn::new(&[]), &|command| {
        let url = format!("{}/v1/credentials", container.url());
        command.env("AWS_CONTAINER_CREDENTIALS_FULL_URI", url);
        command.env("AWS_CONTAINER_AUTHORIZATION_TOKEN", "secret");
    });
    assert_eq!(of_container, (String::from("ROLE"), Some(String::from("tok"))));
    let asked = &container.taken()[0];
    assert_eq!(asked.line, "GET /v1/credentials HTTP/1.1");
    assert_eq!(asked.headers["authorization"], "secret");

    let imds = StandIn::new(&[
        Act::Answer(200, "token"),
        Act::Answer(200, "my-role"),
        Act::Answer(200, document),
    ]);
    let of_instance = run(&StandIn::new(&[]), &|command| {
        command.env("AWS_EC2_METADATA_SERVICE_ENDPOINT", imds.url());
        command.env_remove("AWS_EC2_METADATA_DISABLED");
    });
    assert_eq!(of_instance, (String::from("ROLE"), Some(String::from("tok"))));
    let asked: Vec<String> = imds.taken().into_iter().map(|sent| sent.line).collect();
    assert_eq!(asked[2], "GET /latest/meta-data/iam/security-credentials/my-role HTTP/1.1");
}

#[test]
fn an_end_without_the_service_is_told_in_time() {
    let lab = Lab::new("trn1.2xlarge");
    let mut command = lab.command(&["cloudwatch", "--region", "us-west-2", "--count", "2"]);
    command.args(["--endpoint", "http://127.0.0.1:1", "--period", "20ms"]);
    keyed(&mut command, lab.dir.path());
    let begin = Instant::now();
    let output = command.output().unwrap();
    let said = said(&output);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("refused") && said.contains("not delivered"), "{said}");
    // Nor without credentials.
    let mut command = program(&["cloudwatch", "--region", "x_y"]);
    clean(&mut command, lab.dir.path());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no region"));
}

#[test]
fn https_with_a_bundle_of_certificates() {
    if !neuron_tests::require("openssl") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout"])
        .arg(path("key"))
        .arg("-out")
        .arg(path("cert"))
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(made.success());
    use rustls::pki_types::pem::PemObject as _;
    let cert = rustls::pki_types::CertificateDer::from_pem_file(path("cert")).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::from_pem_file(path("key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (config, sent) = (Arc::new(config), Arc::new(Mutex::new(0)));
    let count = Arc::clone(&sent);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream: TcpStream = stream.unwrap();
            let mut session = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut secured = rustls::Stream::new(&mut session, &mut stream);
            if receive(&mut secured).is_some() {
                *count.lock().unwrap() += 1;
                answer(&mut secured, 200, "{}");
            }
        }
    });
    let lab = Lab::new("trn1.2xlarge");
    let run = |bundle: Option<&Path>| {
        let mut command = lab.command(&["cloudwatch", "--region", "us-west-2", "--count", "1"]);
        let url = format!("https://localhost:{port}");
        command.args(["--endpoint", &url, "--period", "20ms", "--flush", "10ms"]);
        keyed(&mut command, dir.path());
        if let Some(bundle) = bundle {
            command.env("AWS_CA_BUNDLE", bundle);
        }
        command.output().unwrap()
    };
    let output = run(Some(&path("cert")));
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(*sent.lock().unwrap(), 1);
    // A server that nobody vouches for gets nothing.
    let output = run(None);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(*sent.lock().unwrap(), 1);
    let said = said(&output);
    assert!(said.contains("ertificate"), "{said}");
}
