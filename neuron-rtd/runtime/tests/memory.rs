//! Shared memory of clients, for inputs and outputs independently.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use rtd_runtime::{Code, Data, Input, LoadParams, Request, Runtime};
use support::neff::{Chain, Node};
use support::software;

/// A client's object, named for this process and the test.
struct Object {
    name: String,
    file: File,
}

impl Object {
    fn new(name: &str, bytes: u64) -> Self {
        let name = format!("/neuron_tests_{}_{name}", std::process::id());
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(PathBuf::from("/dev/shm").join(&name[1..]))
            .unwrap();
        file.set_len(bytes).unwrap();
        Self { name, file }
    }

    fn unlink(&self) {
        std::fs::remove_file(PathBuf::from("/dev/shm").join(&self.name[1..])).unwrap();
    }

    fn bytes(&self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }
}

fn started(runtime: &Runtime) -> u32 {
    let neff = Chain::new("copy", &[Node::Copy(1)]).build();
    runtime.load(&neff, &LoadParams::default()).unwrap()
}

fn shared(runtime: &Runtime, name: &str) -> Input {
    Input::Shared(runtime.shared_buffer(name).unwrap())
}

/// A client removes the name right after it has mapped it.
#[test]
fn objects_are_held_without_their_name() {
    let runtime = software();
    let id = started(&runtime);
    // larger than the tensor, as a page is
    let (input, output) = (Object::new("in", 4096), Object::new("out", 64));
    for object in [&input, &output] {
        runtime.map(&object.name, 3, 0).unwrap();
        object.unlink();
    }
    let inline = Input::Inline(Data::new([9; 64]));
    let out = || vec![("y".to_owned(), runtime.shared_buffer(&output.name).unwrap())];
    input.file.write_all_at(&[5; 64], 0).unwrap();
    for (given, outputs, wanted) in [
        (shared(&runtime, &input.name), out(), 5),
        (inline, out(), 9),
        (shared(&runtime, &input.name), Vec::new(), 5),
    ] {
        let inside = outputs.is_empty();
        let request = Request { model: id, inputs: vec![("x".to_owned(), given)], outputs };
        let outcome = runtime.infer(request);
        assert_eq!(outcome.failure, None);
        if inside {
            assert_eq!(outcome.outputs[0].1, [wanted; 64]);
        } else {
            assert!(outcome.outputs.is_empty());
            assert_eq!(outcome.written[0].0, "y");
            assert_eq!(output.bytes(64), [wanted; 64]);
        }
    }
    runtime.unmap(&input.name).unwrap();
    assert_eq!(runtime.unmap(&input.name).unwrap_err().code, Code::InvalidHandle);
    assert!(runtime.shared_buffer(&input.name).is_err());
    assert_eq!(runtime.maps(), 1);
    runtime.shut_down();
}

#[test]
fn what_is_too_short_or_not_for_writing_is_refused() {
    let runtime = software();
    let id = started(&runtime);
    let (short, read) = (Object::new("short", 63), Object::new("read", 64));
    runtime.map(&short.name, 3, 0).unwrap();
    runtime.map(&read.name, 1, 0).unwrap();
    let request = |input: &str, output: &str| Request {
        model: id,
        inputs: vec![("x".to_owned(), shared(&runtime, input))],
        outputs: vec![("y".to_owned(), runtime.shared_buffer(output).unwrap())],
    };
    for (request, said) in [
        (request(&short.name, &short.name), "has 63 bytes, expected 64"),
        (request(&read.name, &read.name), "is not mapped to write"),
    ] {
        let failure = runtime.infer(request).failure.unwrap();
        assert_eq!(failure.code, Code::BadInput);
        assert!(failure.details().contains(said), "{failure}");
    }
    for object in [short, read] {
        object.unlink();
    }
    for (name, prot) in
        [("/none_here", 3), ("none", 3), ("/", 3), ("/a/b", 3), ("/..", 3), ("/null", 0)]
    {
        let failure = runtime.map(name, prot, 0).unwrap_err();
        assert_eq!(failure.code, Code::Invalid, "{name}");
    }
    runtime.shut_down();
}

/// A client that makes its object shorter harms nobody but itself.
#[test]
fn truncated_objects_are_errors() {
    let runtime = software();
    let id = started(&runtime);
    let (input, output) = (Object::new("cut_in", 64), Object::new("cut_out", 64));
    for object in [&input, &output] {
        runtime.map(&object.name, 3, 0).unwrap();
        object.unlink();
    }
    let inline = Input::Inline(Data::new([9; 64]));
    output.file.set_len(10).unwrap();
    let outputs = vec![("y".to_owned(), runtime.shared_buffer(&output.name).unwrap())];
    let request = Request { model: id, inputs: vec![("x".to_owned(), inline)], outputs };
    let failure = runtime.infer(request).failure.unwrap();
    assert_eq!(failure.code, Code::BadInput);
    assert!(failure.details().contains("has 10 bytes now, expected 64"), "{failure}");
    assert_eq!(output.file.metadata().unwrap().len(), 10);
    input.file.set_len(0).unwrap();
    let inputs = vec![("x".to_owned(), shared(&runtime, &input.name))];
    let request = Request { model: id, inputs, outputs: Vec::new() };
    let failure = runtime.infer(request).failure.unwrap();
    assert_eq!(failure.code, Code::BadInput);
    assert!(failure.details().contains("was it truncated?"), "{failure}");
    assert_eq!(runtime.infer(support::request(id, 1)).failure, None);
    runtime.shut_down();
}

#[test]
fn mappings_belong_to_their_session() {
    let runtime = software();
    let (mine, other) = (runtime.open_session(), runtime.open_session());
    let object = Object::new("owned", 16);
    runtime.map(&object.name, 3, mine).unwrap();
    runtime.map(&object.name, 3, mine).unwrap();
    assert_eq!(runtime.map(&object.name, 3, other).unwrap_err().code, Code::Invalid);
    runtime.unmap(&object.name).unwrap();
    assert_eq!(runtime.maps(), 1);
    runtime.close_session(mine);
    assert_eq!(runtime.maps(), 0);
    runtime.map(&object.name, 3, other).unwrap();
    object.unlink();
    assert_eq!(runtime.map("/x", 3, mine).unwrap_err().code, Code::Invalid);
    runtime.shut_down();
}
