//! A client that shares nothing with ours: Python, grpcio, and messages built
//! from the published tables. Its gRPC core sends the percent-encoded path of
//! the socket as `:authority`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use support::Daemon;
use support::neff::{Chain, Node};

const PACKAGES: [&str; 3] = ["grpcio==1.71.0", "protobuf==5.29.4", "typing_extensions==4.12.2"];

/// A folder with the packages; `None` when they cannot be had here.
fn packages() -> Option<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("grpcio-1.71.0-protobuf-5.29.4");
    if !folder.exists() {
        let part = folder.with_extension(std::process::id().to_string());
        let mut install = Command::new("python3");
        install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]).arg(&part);
        install.args(PACKAGES).stdout(Stdio::null()).stderr(Stdio::null());
        let done = install.status().is_ok_and(|status| status.success());
        // another test program may have been faster; then its copy is as good
        if !done || fs::rename(&part, &folder).is_err() {
            let _ = fs::remove_dir_all(&part);
        }
    }
    let mut works = Command::new("python3");
    works.env("PYTHONPATH", &folder).args(["-c", "import grpc, google.protobuf"]);
    works.stderr(Stdio::null()).status().is_ok_and(|status| status.success()).then_some(folder)
}

#[test]
fn a_client_of_the_published_tables_is_served() {
    let Some(folder) = packages() else {
        let name = "a_client_of_the_published_tables_is_served";
        return neuron_tests::skipped(name, "needs python3 and pip's download of grpcio");
    };
    let daemon = Daemon::start(&[]);
    let neff = daemon.dir.path().join("copy.neff");
    fs::write(&neff, Chain::new("copy", &[Node::Copy(1)]).build()).unwrap();
    let output = Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/client.py"))
        .arg(daemon.address())
        .arg(&neff)
        .env("PYTHONPATH", &folder)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said, "grpcio 1.71.0 done\n");
    daemon.line("Session 2 ended: 0 models, 0 groups, 0 mappings");
}
