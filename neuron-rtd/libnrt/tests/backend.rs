//! The runtime's backend for libnrt, against our own shared object and against
//! files that are none.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

#[path = "../../runtime/tests/support/neff.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared by tests")]
mod neff;

use neff::{Chain, Node};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use neuron_builder::models::Sample;
use rtd_runtime::{Code, Data, Input, LoadParams, Nrt, Quiet, Request, Runtime, Settings};
use support::{Lab, is_profile, library, sample};

/// Where this program does the work of a test: libnrt can be opened once in a
/// process, and reads the environment.
const INNER: &str = "NRT_BACKEND_TEST";

fn runtime(nrt: Nrt) -> Runtime {
    let cores = nrt.cores(&[]).unwrap();
    let (settings, journal) = (Settings::default(), Arc::new(Quiet));
    Runtime::new(cores, Box::new(nrt), Box::new(()), settings, journal).unwrap()
}

fn request(model: u32, inputs: &[(&str, Vec<u8>)]) -> Request {
    let input = |(name, bytes): &(&str, Vec<u8>)| {
        ((*name).to_owned(), Input::Inline(Data::new(bytes.clone())))
    };
    Request { model, inputs: inputs.iter().map(input).collect(), outputs: Vec::new() }
}

/// Inputs of a sample, and what the software NeuronCore makes of them; that it is
/// what NumPy makes of them is tested beside the builder.
fn expected(sample: &Sample) -> (Vec<(&str, Vec<u8>)>, npu::Tensors) {
    let inputs: Vec<(&str, Vec<u8>)> =
        sample.inputs.iter().map(|(name, array)| (name.as_str(), array.data().to_vec())).collect();
    let owned = inputs.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.clone()));
    let program = npu::Program::from_neff(&sample.built.bytes).unwrap();
    let outputs = program.run(&owned.collect()).unwrap();
    (inputs, outputs)
}

#[test]
fn models_run_through_our_own_library() {
    let Some(dir) = std::env::var_os(INNER) else {
        let Some(lab) = Lab::new() else { return };
        let mut inner = lab.command(std::env::current_exe().unwrap());
        inner.args(["--exact", "models_run_through_our_own_library", "--nocapture"]);
        inner.env("NEURON_SOURCE", "sim:inf1.6xlarge,name=backend");
        inner.env("NEURON_RT_VISIBLE_CORES", "4-11");
        let output = inner.env(INNER, lab.dir.path()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{}{told}", String::from_utf8_lossy(&output.stdout));
        return;
    };
    let nrt = Nrt::open(Some(&Path::new(&dir).join("libnrt.so.1"))).unwrap();
    assert_eq!(nrt.kind().name, "inf1.6xlarge");
    assert!(nrt.library().ends_with("libnrt.so.1 2.0.0.0"), "{}", nrt.library());
    let cores = nrt.cores(&[1, 2]).unwrap();
    assert_eq!((cores.count(), cores.devices()), (8, [1, 2].as_slice()));
    let wrong = nrt.cores(&[0]).unwrap_err();
    assert!(wrong.details().contains("set NEURON_RT_VISIBLE_CORES=0-3"), "{wrong}");
    let runtime = runtime(nrt);
    assert_eq!(runtime.backend_name(), "libnrt");

    // one by one, and two threads at once, with the answer of the other backend
    let mlp = sample("mlp");
    let (inputs, outputs) = expected(&mlp);
    let params = LoadParams { timeout: Some(100), ..LoadParams::default() };
    let id = runtime.load(&mlp.built.bytes, &params).unwrap();
    let run = || {
        let outcome = runtime.infer(request(id, &inputs));
        assert_eq!(outcome.failure, None);
        assert_eq!(outcome.outputs, [("y".to_owned(), outputs["y"].clone())]);
    };
    run();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..3).for_each(|_| run()));
        }
    });
    let file = Path::new(&dir).join("mlp.ntff");
    runtime.profile_into(id, file.clone()).unwrap();
    run();
    assert_eq!(runtime.profile_stop(id), Ok(vec![file.clone()]));
    is_profile(&file);
    // several nodes, one of them on the host, on cores of their own
    let chain = Chain::new("chain", &[Node::Copy(1), Node::Cpu("relu"), Node::Copy(2)]).build();
    let other = runtime.load(&chain, &params).unwrap();
    let model = runtime.model_info(other).unwrap();
    assert_eq!((model.first_core, model.cores), (1, 3));
    let numbers = |values: [f32; 16]| values.map(f32::to_le_bytes).concat();
    let given = std::array::from_fn(|i| i as f32 - 8.0);
    let outcome = runtime.infer(request(other, &[("x", numbers(given))]));
    assert_eq!(outcome.failure, None);
    assert_eq!(outcome.outputs[0].1, numbers(given.map(|value| value.max(0.0))));
    runtime.unload(other).unwrap();

    // what goes wrong has the daemon's codes
    let short = runtime.infer(request(id, &[("x", vec![0; 4])])).failure.unwrap();
    assert_eq!(short.code, Code::BadInput);
    let bad = runtime.load(b"no NEFF", &params).unwrap_err();
    assert_eq!(bad.code, Code::Invalid);
    let stuck = sample("deadlock");
    let id = runtime.load(&stuck.built.bytes, &params).unwrap();
    let given: Vec<(&str, Vec<u8>)> =
        stuck.inputs.iter().map(|(name, array)| (name.as_str(), array.data().to_vec())).collect();
    let failure = runtime.infer(request(id, &given)).failure.unwrap();
    assert_eq!(failure.code, Code::Timeout, "{failure}");
    assert!(failure.details().contains("nrt_execute: NRT_TIMEOUT (5)"), "{failure}");
    let failed = runtime.infer(request(id, &given)).failure.unwrap();
    assert_eq!(failed.code, Code::FailedState, "{failed}");
    runtime.shut_down();
}

/// A shared object with these C functions.
fn object(lab: &Lab, name: &str, source: &str) -> std::path::PathBuf {
    let (from, to) = (lab.path(&format!("{name}.c")), lab.path(&format!("{name}.so")));
    std::fs::write(&from, source).unwrap();
    let mut gcc = Command::new("gcc");
    gcc.args(["-shared", "-fPIC", "-o"]).arg(&to).arg(&from);
    assert!(gcc.status().unwrap().success());
    to
}

/// A library with every function that the backend needs, and this one's version.
fn stub(lab: &Lab, major: u64, init: i32) -> std::path::PathBuf {
    let mut source = String::from("#include <stdint.h>\n#include <string.h>\n");
    for name in [
        "nrt_close",
        "nrt_get_total_vnc_count",
        "nrt_get_visible_vnc_count",
        "nrt_get_instance_info",
        "nrt_load",
        "nrt_unload",
        "nrt_get_model_vnc_count",
        "nrt_get_model_tensor_info",
        "nrt_free_model_tensor_info",
        "nrt_tensor_allocate",
        "nrt_tensor_free",
        "nrt_tensor_write",
        "nrt_tensor_read",
        "nrt_allocate_tensor_set",
        "nrt_destroy_tensor_set",
        "nrt_add_tensor_to_tensor_set",
        "nrt_execute",
        "nrt_profile_start",
        "nrt_profile_stop",
    ] {
        source += &format!("int {name}(void) {{ return 1; }}\n");
    }
    source += &format!("int nrt_init(int f, const char *a, const char *b) {{ return {init}; }}\n");
    source += &format!(
        "int nrt_get_version(uint64_t *v, size_t n) {{ memset(v, 0, n); v[0] = {major}; v[1] = 9; \
         return 0; }}\n"
    );
    object(lab, &format!("version{major}-{init}"), &source)
}

#[test]
fn what_is_no_libnrt_is_refused_with_one_line() {
    let Some(lab) = Lab::new() else { return };
    let refused = |path: &Path, named: bool| {
        let failure = Nrt::open_at(path, named).unwrap_err();
        assert_eq!(failure.lines().len(), 1, "{failure}");
        failure.details()
    };
    let help = "install aws-neuronx-runtime-lib 2.x, name another library with --libnrt, or use \
                a simulated instance: --source sim:trn1.2xlarge";
    let missing = refused(&lab.path("missing.so.1"), true);
    assert!(missing.contains("there is no ") && missing.contains("missing.so.1"), "{missing}");
    assert!(missing.contains(help), "{missing}");
    // without a name it is the package's place that is looked at
    if !Path::new("/opt/aws/neuron/lib/libnrt.so.1").exists() {
        let failure = Nrt::open(None).unwrap_err();
        assert!(failure.details().contains("there is no /opt/aws/neuron/lib/libnrt.so.1"));
    }
    std::fs::write(lab.path("text.so"), "no library at all").unwrap();
    let text = refused(&lab.path("text.so"), true);
    assert!(text.contains("text.so cannot be loaded: ") && text.contains(help), "{text}");
    let folder = refused(lab.dir.path(), true);
    assert!(folder.contains("cannot be loaded"), "{folder}");
    let empty = object(&lab, "empty", "int nothing;\n");
    let empty = refused(&empty, true);
    assert!(empty.contains("is no libnrt of API 2: it has no nrt_get_version"), "{empty}");
    let partly = object(&lab, "partly", "int nrt_get_version; int nrt_init; int nrt_close;\n");
    let partly = refused(&partly, true);
    assert!(partly.contains("it has no nrt_get_total_vnc_count"), "{partly}");
    let old = refused(&stub(&lab, 1, 0), true);
    assert!(old.contains("is libnrt 1.9.0.0, a 2.x is needed"), "{old}");
    let new = refused(&stub(&lab, 3, 0), true);
    assert!(new.contains("is libnrt 3.9.0.0, a 2.x is needed"), "{new}");
    // the right version, and no device
    let failure = Nrt::open_at(&stub(&lab, 2, 6), true).unwrap_err();
    assert_eq!(failure.code, Code::HwError, "{failure}");
    assert!(failure.details().contains("NRT_HW_ERROR (6), a device failed"), "{failure}");
    // our own library where nobody has asked for it
    let ours = refused(&library(), false);
    assert!(ours.contains("is the one of neuron-tools") && ours.contains(help), "{ours}");
}
