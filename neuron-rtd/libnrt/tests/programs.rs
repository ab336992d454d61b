//! C programs against the header and the shared object.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

#[path = "../../builder/tests/support/mod.rs"]
mod numpy;

use neuron_builder::{Array, ElementType};
use support::{Lab, done, is_profile, sample};

/// The published example's order of calls; the answer is NumPy's.
#[test]
fn the_example_gives_the_right_answer() {
    let Some(lab) = Lab::new() else { return };
    let program = lab.compile("flow");
    let mlp = sample("mlp");
    for (name, array) in &mlp.inputs {
        std::fs::write(lab.path(&format!("{name}.in")), array.data()).unwrap();
    }
    let mut command = lab.command(&program);
    command.arg(lab.model("mlp")).arg(lab.dir.path());
    let said = done(&command.output().unwrap());
    assert!(said.starts_with("2 of 2 cores, family 2, NCv2\n"), "{said}");
    let bytes = std::fs::read(lab.path("y.out")).unwrap();
    let output = Array::new(ElementType::F32, &[64, 10], bytes).unwrap();
    let python = "h = np.maximum(x @ fc1_w + fc1_b, 0)\n\
        h = np.maximum(h @ fc2_w + fc2_b, 0)\nout = h @ fc3_w + fc3_b";
    numpy::verify(&[numpy::Check {
        name: "mlp by libnrt".to_owned(),
        arrays: [mlp.inputs, mlp.weights].concat(),
        outputs: vec![("y".to_owned(), output)],
        python: python.to_owned(),
        bound: 2e-6,
    }]);
}

#[test]
fn whatever_is_wrong_ends_with_a_status() {
    let Some(lab) = Lab::new() else { return };
    let mut command = lab.command(lab.compile("hostile"));
    let output = command.arg(lab.model("null")).output().unwrap();
    done(&output);
    // one line for each refusal, and no other
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.lines().all(|line| line.starts_with("nrt[")), "{told}");
    assert!(told.contains("[NRT:nrt_load] NRT_INVALID (2): "), "{told}");
    assert!(!told.contains("a bug of this library"), "{told}");
}

#[test]
fn threads_share_models_and_cores() {
    let Some(lab) = Lab::new() else { return };
    let mut command = lab.command(lab.compile("threads"));
    done(&command.arg(lab.model("null")).output().unwrap());
}

#[test]
fn requests_need_not_be_waited_for() {
    let Some(lab) = Lab::new() else { return };
    let mut command = lab.command(lab.compile("asynchronous"));
    command.arg(lab.model("null")).env("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "4");
    done(&command.output().unwrap());
}

#[test]
fn an_execution_is_profiled() {
    let Some(lab) = Lab::new() else { return };
    let mut command = lab.command(lab.compile("profile"));
    let file = lab.path("profile.ntff");
    command.arg(lab.model("null")).arg(&file).current_dir(lab.dir.path());
    done(&command.output().unwrap());
    is_profile(&file);
}

#[test]
fn events_are_fetched() {
    let Some(lab) = Lab::new() else { return };
    let mut command = lab.command(lab.compile("trace"));
    let file = lab.path("events.json");
    command.arg(lab.model("null")).arg(&file);
    done(&command.output().unwrap());
    let all: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(all["data_version"], 2);
    let count = |name: &str, phase: &str| {
        let events = all["events"].as_array().unwrap().iter();
        events.filter(|event| event["event_type"] == name && event["phase"] == phase).count()
    };
    for name in
        ["nrt_load", "nrt_execute", "nrt_tensor_write", "nc_exec_running", "nrt_model_submit"]
    {
        // one write is that of the zeros
        let wanted = if name == "nrt_tensor_write" { 2 } else { 1 };
        assert_eq!((count(name, "start"), count(name, "stop")), (wanted, wanted), "{name}");
    }
    assert_eq!(
        (count("timestamp_sync_point", "instant"), count("nrt_tensor_read", "start")),
        (1, 0)
    );
    let events = all["events"].as_array().unwrap();
    assert!(events.iter().all(|event| event["nc_idx"] == 0));
}

#[test]
fn the_environment_names_instance_and_cores() {
    let Some(lab) = Lab::new() else { return };
    let program = lab.compile("flow");
    let null = sample("null");
    std::fs::write(lab.path("x.in"), null.inputs[0].1.data()).unwrap();
    let model = lab.model("null");
    let run = |name: &str, value: &str| {
        let mut command = lab.command(&program);
        command.arg(&model).arg(lab.dir.path()).env(name, value).output().unwrap()
    };
    for (name, value, said) in [
        ("NEURON_RT_VISIBLE_CORES", "1", "1 of 2 cores"),
        ("NEURON_RT_NUM_CORES", "1", "1 of 2 cores"),
        ("NEURON_SOURCE", "sim:inf1.6xlarge", "16 of 16 cores, family 1, NCv1"),
        ("NEURON_SOURCE", "sim:trn2.3xlarge", "4 of 4 cores, family 5, NCv3"),
    ] {
        let output = done(&run(name, value));
        assert!(output.starts_with(said), "{name}={value}: {output}");
        assert_eq!(std::fs::read(lab.path("y.out")).unwrap(), null.inputs[0].1.data());
    }
    for (name, value, told) in [
        ("NEURON_RT_VISIBLE_CORES", "1,0", "NEURON_RT_VISIBLE_CORES=1,0: must be a core, a range"),
        ("NEURON_RT_VISIBLE_CORES", "2", "3 cores are asked for, trn1.2xlarge has 2"),
        ("NEURON_RT_NUM_CORES", "many", "NEURON_RT_NUM_CORES=many: must be a whole number"),
        ("NEURON_SOURCE", "kernel", "set NEURON_SOURCE=sim:trn1.2xlarge, or use libnrt of"),
        ("NEURON_SOURCE", "", "this library serves simulated instances only"),
    ] {
        let output = run(name, value);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && said.contains(told), "{name}={value}: {said}");
    }
}
