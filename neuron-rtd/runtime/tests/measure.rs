//! What a run costs a device, profiles of runs, and runs that are given up.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use neuron_core::ntff::{Options, Reader};
use neuron_core::uapi::nds::core_counter as id;
use rtd_runtime::backend::{
    NodeFault, NodeImage, NodeRun, NodeTensor, ProfileOrigin, Profiled, Tensors,
};
use rtd_runtime::{
    Backend, Code, Data, Failure, Input, LoadParams, Quiet, Request, Runtime, Settings, Software,
};
use support::neff::{Chain, Node};
use support::{cores, request, software, until};

fn with(settings: Settings) -> Runtime {
    let backend = Box::new(Software::default());
    Runtime::new(cores(), backend, Box::new(()), settings, Arc::new(Quiet)).unwrap()
}

/// The time on the device is that of the simulated core, the same each time.
#[test]
fn device_time_is_counted() {
    let runtime = software();
    let one = runtime.load(&Chain::new("a", &[Node::Copy(1)]).build(), &LoadParams::default());
    let two = Chain::new("b", &[Node::Copy(1), Node::Copy(1)]).build();
    let two = runtime.load(&two, &LoadParams::default()).unwrap();
    let one = one.unwrap();
    for byte in 0..10 {
        assert_eq!(runtime.infer(request(one, byte)).failure, None);
        assert_eq!(runtime.infer(request(two, byte)).failure, None);
    }
    let counters = runtime.core_snapshot(0).unwrap();
    let time = counters.counter(id::LATENCY_DEVICE);
    assert!(time > 10_000 && time < 1_000_000, "{time} ns for ten copies of 64 bytes");
    assert_eq!(time % 10, 0);
    assert_eq!(counters.device.buckets.iter().sum::<u64>(), 10);
    assert_eq!(runtime.core_snapshot(1).unwrap().counter(id::LATENCY_DEVICE), 2 * time);
    // one after the other: nothing overlaps
    assert_eq!(runtime.model_info(one).unwrap().simulated_nanos, time);
    assert_eq!(runtime.model_info(two).unwrap().simulated_nanos, 2 * time);
    runtime.shut_down();
}

/// Four nodes with four inferences in flight overlap in simulated time, however
/// few cores the host has.
#[test]
fn a_pipeline_overlaps_in_simulated_time() {
    let runtime = software();
    let neff = Chain::new("four", &[Node::Copy(1); 4]).build();
    let simulated = |ninfer: u32| {
        let params = LoadParams { ninfer: Some(ninfer), ..LoadParams::default() };
        let model = runtime.load(&neff, &params).unwrap();
        let mut waiting = std::collections::VecDeque::new();
        for byte in 0..64 {
            if waiting.len() == ninfer as usize {
                let outcome = runtime.wait(waiting.pop_front().unwrap());
                assert_eq!(outcome.failure, None);
            }
            waiting.push_back(runtime.post(request(model, byte)).unwrap());
        }
        for cookie in waiting {
            runtime.wait(cookie);
        }
        let time = runtime.model_info(model).unwrap().simulated_nanos;
        runtime.unload(model).unwrap();
        time as f64
    };
    let ratio = simulated(1) / simulated(4);
    assert!(ratio > 2.0 && ratio <= 4.0, "{ratio}");
    runtime.shut_down();
}

/// A product of 128 x 256 by 256 x 128.
#[test]
fn multiplications_are_counted() {
    let runtime = software();
    let file = std::fs::read(neuron_tests::fixture("profiles/matmul-small.neff")).unwrap();
    let params = LoadParams { timeout: Some(100), ..LoadParams::default() };
    let model = runtime.load(&file, &params).unwrap();
    let ones = Data::new([0x00, 0x3c].repeat(128 * 256));
    let inputs = ["x", "y"].map(|name| (name.to_owned(), Input::Inline(ones.clone())));
    let asked = Request { model, inputs: inputs.into(), outputs: Vec::new() };
    let counted = |counter: u32| -> u64 {
        (0..16).map(|core| runtime.core_snapshot(core).unwrap().counter(counter)).sum()
    };
    assert_eq!(runtime.infer(asked.clone()).failure, None);
    let once = counted(id::MAC_COUNT);
    let least = 128 * 256 * 128;
    assert!((least..4 * least).contains(&once), "{once}");
    assert_eq!(runtime.infer(asked).failure, None);
    assert_eq!(counted(id::MAC_COUNT), 2 * once);
    let pe = runtime.core_snapshot(0).unwrap().instructions[0];
    assert!(pe > 0);
    runtime.shut_down();
}

/// Reads a trace to its end; gives the model's name and count of records.
fn read(path: &Path) -> (String, u64) {
    let file = std::fs::File::open(path).unwrap();
    let mut reader = Reader::new(file, Options::default()).unwrap();
    let name = reader.info().neff_name.clone();
    let mut bytes = 0;
    while let Some(chunk) = reader.next_chunk().unwrap() {
        bytes += chunk.bytes.len() as u64;
    }
    (name, bytes / 16)
}

#[test]
fn a_switch_at_load_gives_a_trace_of_the_first_inference() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Some(dir.path().to_owned());
    let runtime = with(Settings { profile_folder: folder, ..Settings::default() });
    let neff = Chain::new("a/b", &[Node::Copy(1), Node::Cpu("identity"), Node::Copy(1)]).build();
    let params = LoadParams { profile: true, ..LoadParams::default() };
    let model = runtime.load(&neff, &params).unwrap();
    for byte in 0..3 {
        let outcome = runtime.infer(request(model, byte));
        assert_eq!((outcome.failure, outcome.outputs[0].1.as_slice()), (None, &[byte; 64][..]));
    }
    let mut files: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let names: Vec<_> = files.iter().map(|f| f.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["a+b-10001-0.1.ntff", "a+b-10001-0.ntff"]);
    for file in &files {
        let (name, records) = read(file);
        assert!(name == "a/b" && records > 0, "{name} {records}");
    }
    // by hand
    runtime.profile_start(model, "mine.ntff").unwrap();
    assert_eq!(runtime.profile_stop(model).unwrap_err().code, Code::Invalid);
    runtime.profile_start(model, "mine.ntff").unwrap();
    runtime.infer(request(model, 9));
    let files = runtime.profile_stop(model).unwrap();
    assert_eq!(files, [dir.path().join("mine.ntff"), dir.path().join("mine.1.ntff")]);
    assert!(read(&files[0]).1 > 0);
    assert_eq!(runtime.profile_stop(model).unwrap_err().code, Code::Invalid);
    for name in ["", ".ntff", "x", "../x.ntff", "/x.ntff", "a\0.ntff"] {
        let refused = runtime.profile_start(model, name).unwrap_err();
        assert!(refused.details().contains("plain name of a .ntff file"), "{name:?}: {refused}");
    }
    runtime.stop(model).unwrap();
    assert_eq!(runtime.profile_start(model, "x.ntff").unwrap_err().code, Code::InvalidHandle);
    runtime.shut_down();
    let off = software();
    let model = off.load(&neff, &params).unwrap();
    let refused = off.profile_start(model, "x.ntff").unwrap_err();
    assert!(refused.details().contains("rtd.profile_dir"), "{refused}");
    off.shut_down();
}

/// A backend whose nodes end only when they are given up.
#[derive(Debug, Default)]
struct Endless {
    software: Software,
    ended: Arc<AtomicBool>,
}

#[derive(Debug)]
struct EndlessNode {
    inner: Box<dyn rtd_runtime::backend::Node>,
    ended: Arc<AtomicBool>,
}

impl Backend for Endless {
    fn name(&self) -> &'static str {
        "endless"
    }

    fn load(&self, image: &NodeImage<'_>) -> Result<Box<dyn rtd_runtime::backend::Node>, Failure> {
        let (inner, ended) = (self.software.load(image)?, Arc::clone(&self.ended));
        Ok(Box::new(EndlessNode { inner, ended }))
    }
}

impl rtd_runtime::backend::Node for EndlessNode {
    fn tensors(&self) -> &[NodeTensor] {
        self.inner.tensors()
    }

    fn run(&self, inputs: &Tensors) -> Result<NodeRun, NodeFault> {
        self.inner.run(inputs)
    }

    fn run_until(&self, inputs: &Tensors, cancel: &AtomicBool) -> Result<NodeRun, NodeFault> {
        while !cancel.load(SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.ended.store(true, SeqCst);
        self.inner.run(inputs)
    }

    fn profile(&self, inputs: &Tensors, _origin: &ProfileOrigin, cancel: &AtomicBool) -> Profiled {
        Profiled { run: self.run_until(inputs, cancel), trace: Some(b"late".to_vec()) }
    }
}

#[test]
fn a_run_is_given_up_when_its_time_is_over() {
    let backend = Endless::default();
    let ended = Arc::clone(&backend.ended);
    let runtime = support::runtime(Box::new(backend));
    let neff = Chain::new("endless", &[Node::Copy(1)]).build();
    let params = LoadParams { timeout: Some(1), ..LoadParams::default() };
    let model = runtime.load(&neff, &params).unwrap();
    let failure = runtime.infer(request(model, 1)).failure.unwrap();
    assert_eq!(failure.code, Code::Timeout);
    assert!(failure.details().contains("no completion of cookie 0x1 within 1 s"), "{failure}");
    until("the thread is free", || ended.load(SeqCst));
    // a profile of it ends with it
    runtime.stop(model).unwrap();
    runtime.start(model).unwrap();
    let file = std::env::temp_dir().join(format!("endless-{}.ntff", std::process::id()));
    runtime.profile_into(model, file.clone()).unwrap();
    assert_eq!(runtime.infer(request(model, 1)).failure.unwrap().code, Code::Timeout);
    let told = runtime.profile_stop(model).unwrap_err();
    assert_eq!(told.code, Code::Fail);
    assert!(told.details().contains("left no trace") && !file.exists(), "{told}");
    runtime.shut_down();
}

#[test]
fn a_start_may_take_the_place_of_another() {
    let runtime = with(Settings { auto_switch: true, ..Settings::default() });
    let group = runtime.create_group(Some(1), 0).unwrap().id;
    let neff = Chain::new("copy", &[Node::Copy(1)]).build();
    let [a, b] = [(); 2].map(|()| runtime.load(&neff, &support::into(group)).unwrap());
    for model in [a, b, a] {
        runtime.start(model).unwrap();
        assert_eq!(runtime.infer(request(model, 7)).outputs[0].1, [7; 64]);
    }
    assert_eq!(runtime.infer(request(b, 7)).failure.unwrap().code, Code::InvalidHandle);
    assert_eq!((runtime.snapshot().starts, runtime.snapshot().stops), (3, 2));
    // a seed stays with the group
    assert_eq!(runtime.seed_group(99, 1).unwrap_err().code, Code::InvalidHandle);
    runtime.seed_group(group, 42).unwrap();
    assert_eq!(runtime.seed(group), Some(42));
    runtime.shut_down();
}

#[test]
fn native_code_is_refused_with_and_without_leave() {
    let neff = Chain::new("native", &[Node::Cpu("custom_op"), Node::Copy(1)]).build();
    for (allowed, said) in
        [("", "rtd.native_cpu_nodes names it"), ("custom_op", "so it is not run")]
    {
        let native_cpu_nodes = vec![allowed.to_owned()];
        let runtime = with(Settings { native_cpu_nodes, ..Settings::default() });
        let refused = runtime.load(&neff, &LoadParams::default()).unwrap_err();
        assert_eq!(refused.code, Code::Invalid);
        assert!(refused.details().contains(said), "{refused}");
        assert_eq!(runtime.groups(), []);
        runtime.shut_down();
    }
}

/// Every byte of the header's fields, and many of the rest, changed: an error
/// with a code and details or a model that can be unloaded, and nothing left.
/// The header is mostly room for names.
#[test]
fn a_file_that_lies_anywhere_is_told() {
    let runtime = software();
    let neff = Chain::new("copy", &[Node::Copy(1)]).build();
    let (mut refused, mut loaded) = (0, 0);
    for at in (0..256).chain((256..neff.len()).step_by(13)) {
        let mut lie = neff.clone();
        lie[at] ^= 0x5a;
        match runtime.load(&lie, &LoadParams::default()) {
            Ok(model) => {
                loaded += 1;
                runtime.unload(model).unwrap();
            }
            Err(failure) => {
                refused += 1;
                let known =
                    [Code::Invalid, Code::UnsupportedVersion, Code::Resource, Code::ResourceNc];
                assert!(known.contains(&failure.code), "byte {at}: {failure}");
                assert!(failure.details().starts_with('['), "byte {at}: {failure}");
            }
        }
        assert_eq!((runtime.groups(), runtime.models().len()), (vec![], 0), "byte {at}");
    }
    assert!(refused > 50, "{refused} refused, {loaded} loaded");
    runtime.shut_down();
}
