//! The generated code is what the proto files give.
//!
//! `cargo xtask gen` writes it anew (it sets `NEURON_REGENERATE=1`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use prost::Message as _;
use protox::Compiler;

const MANIFEST: &str = env!("CARGO_MANIFEST_DIR");
const HEAD: &str = "// Generated from proto/*.proto by tests/generated.rs; do not edit.\n\n";
const FILES: [&str; 2] = ["nmgr.proto", "ext.proto"];

fn compile(comments: bool) -> Compiler {
    let mut compiler = Compiler::new([Path::new(MANIFEST).join("proto")]).unwrap();
    compiler.include_source_info(comments).include_imports(true).open_files(FILES).unwrap();
    compiler
}

fn check(name: &str, wanted: &[u8]) {
    let path = Path::new(MANIFEST).join("src").join(name);
    if std::env::var_os("NEURON_REGENERATE").is_some() {
        std::fs::write(&path, wanted).unwrap();
    }
    let found = std::fs::read(&path).unwrap_or_default();
    assert!(found == wanted, "{} is stale: run cargo xtask gen", path.display());
}

#[test]
fn generated_code_is_current() {
    let out = tempfile::tempdir().unwrap();
    let mut config = prost_build::Config::new();
    config.bytes(["."]).enable_type_names();
    tonic_prost_build::configure()
        .build_transport(false)
        .emit_rerun_if_changed(false)
        .out_dir(out.path())
        .compile_fds_with_config(compile(true).file_descriptor_set(), config)
        .unwrap();
    let code = std::fs::read_to_string(out.path().join("nrt.rs")).unwrap();
    check("nrt.rs", (HEAD.to_owned() + &code).as_bytes());
    check("nrt.descriptors", &compile(false).file_descriptor_set().encode_to_vec());
}
