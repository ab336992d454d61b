//! The daemon with `--source kernel`: on libnrt, here our own shared object,
//! named by its path.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "helpers of tests")]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use neuron_builder::models::SAMPLES;
use rtd_api::*;
use support::{Daemon, good, inline, load, nn, output, status};

/// The shared object that cargo built beside this test.
fn library() -> PathBuf {
    let library = std::env::current_exe().unwrap().parent().unwrap().join("libnrt.so");
    assert!(library.is_file(), "{} is not there", library.display());
    library
}

/// A daemon for this machine's devices, through a libnrt.
fn daemon(libnrt: &Path, configured: bool, cores: &str) -> Daemon {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("config");
    let rest = if configured { format!(r#", "libnrt": {libnrt:?}"#) } else { String::new() };
    std::fs::write(&config, format!(r#"{{"rtd": {{"init_attempts": 1{rest}}}}}"#)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-rtd"));
    command
        .args(["--source", "kernel", "-x", "-c"])
        .arg(&config)
        .args(["--libnrt".as_ref(), libnrt.as_os_str()].iter().skip(if configured { 2 } else { 0 }))
        .arg("-g")
        .arg(format!("unix:{}", dir.path().join("neuron.sock").display()))
        // what the library takes for the machine
        .env("NEURON_SOURCE", "sim:inf1.6xlarge")
        .env("NEURON_SIM_DIR", dir.path().join("sim"))
        .env("NEURON_RT_VISIBLE_CORES", cores)
        .env("NEURON_RTD_ROOT", dir.path())
        .env_remove("JOURNAL_STREAM")
        .env_remove("NOTIFY_SOCKET")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let daemon = Daemon::spawn(command, dir);
    daemon.line("[NRTD:RunServer] Server listening on unix:");
    daemon
}

#[tokio::test]
async fn models_run_through_libnrt() {
    let mut daemon = daemon(&library(), true, "4-11");
    let line = daemon.line("[NRTD:nrtd_main] inf1.6xlarge with 8 cores, ");
    assert!(line.contains("libnrt.so 2.0.0.0"), "{line}");
    let mut client = daemon.client().await;
    let asked = client.get_version(GetVersionRequest::default()).await.unwrap().into_inner();
    let full = asked.runtime_version.unwrap().full_version;
    assert_eq!(full, concat!(env!("CARGO_PKG_VERSION"), " (libnrt 2.0.0.0)"));
    let made = client.create_eg(CreateEgRequest { nc_count: 1, session_id: 0 }).await.unwrap();
    let group = made.into_inner().h_eg.unwrap().id;
    let (_, mlp) = SAMPLES.iter().find(|(name, _)| *name == "mlp").unwrap();
    let mlp = mlp().unwrap();
    let loaded = load(&mut client, &mlp.built.bytes, group, 0).await;
    good(loaded.status);
    let model = loaded.h_nn.unwrap().id;
    let started = client.start(StartRequest { h_nn: nn(model) }).await.unwrap().into_inner();
    good(started.status);
    // that the program gives what NumPy does is tested beside the builder
    let (name, input) = &mlp.inputs[0];
    let program = npu::Program::from_neff(&mlp.built.bytes).unwrap();
    let inputs = [(name.clone(), input.data().to_vec())];
    let expected = program.run(&inputs.into()).unwrap();
    let ifmap = vec![inline(name, input.data())];
    let request = InferRequest { h_nn: nn(model), ifmap, ..Default::default() };
    for _ in 0..3 {
        let response = client.infer(request.clone()).await.unwrap().into_inner();
        assert_eq!(output(response), expected["y"]);
    }
    drop(client);
    assert!(daemon.end().success());
}

#[tokio::test]
async fn without_a_library_every_call_says_what_to_do() {
    let mut daemon = daemon(Path::new("/nonexistent/libnrt.so.1"), false, "0");
    let mut client = daemon.client().await;
    let made = client.create_eg(CreateEgRequest { nc_count: 1, session_id: 0 }).await.unwrap();
    let (code, details) = status(made.into_inner().status);
    assert_eq!(code, 6, "{details}");
    assert!(details.contains("there is no /nonexistent/libnrt.so.1; install "), "{details}");
    assert!(details.contains("--source sim:trn1.2xlarge"), "{details}");
    drop(client);
    assert!(daemon.end().success());
}
