//! A second foreign client: Node's own HTTP/2 and gRPC, with messages read from
//! our proto files at run time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::Daemon;
use support::neff::{Chain, Node};

const PACKAGES: [&str; 2] = ["@grpc/grpc-js@1.14.7", "@grpc/proto-loader@0.8.1"];

fn quiet(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// A folder with the packages; `None` when they cannot be had here.
fn packages() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("grpc-js-1.14.7");
    if !folder.exists() {
        let part = folder.with_extension(std::process::id().to_string());
        fs::create_dir_all(&part).unwrap();
        let mut install = quiet("npm");
        install.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
        let done = install.arg(&part).args(PACKAGES).status().is_ok_and(|status| status.success());
        // another test program may have been faster; then its copy is as good
        if !done || fs::rename(&part, &folder).is_err() {
            let _ = fs::remove_dir_all(&part);
        }
    }
    folder.exists().then_some(folder)
}

#[test]
fn a_client_of_another_http2_is_served() {
    let Some(folder) = packages() else {
        let name = "a_client_of_another_http2_is_served";
        return neuron_tests::skipped(name, "needs node, and npm's download of grpc-js");
    };
    let daemon = Daemon::start(&[]);
    let neff = daemon.dir.path().join("copy.neff");
    fs::write(&neff, Chain::new("copy", &[Node::Copy(1)]).build()).unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("node")
        .arg(here.join("tests/client.mjs"))
        .arg(&folder)
        .arg(here.join("api/proto"))
        .arg(daemon.address())
        .arg(&neff)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "grpc-js done\n");
    daemon.line("Session 1 ended: 0 models, 0 groups, 0 mappings");
}
