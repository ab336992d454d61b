//! A NEFF of the real compiler through the runtime gives what the software
//! NeuronCore gives, which its own tests compare with NumPy.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use rtd_runtime::{Data, Input, LoadParams, Request};
use support::software;

#[test]
fn real_programs_load_and_run() {
    let runtime = software();
    let mut checked = 0;
    for entry in std::fs::read_dir(neuron_tests::fixture("profiles")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "neff") {
            continue;
        }
        let file = std::fs::read(&path).unwrap();
        let id = runtime.load(&file, &LoadParams::default()).unwrap();
        let model = runtime.model_info(id).unwrap();
        assert!(model.tensors.iter().any(|tensor| tensor.output), "{}", path.display());
        runtime.unload(id).unwrap();
        checked += 1;
    }
    assert_eq!(checked, 9);
    let file = std::fs::read(neuron_tests::fixture("profiles/matmul-small.neff")).unwrap();
    // two cores, fp16: 1.0 times 1.0, 256 times
    let id =
        runtime.load(&file, &LoadParams { timeout: Some(100), ..LoadParams::default() }).unwrap();
    assert_eq!(runtime.model_info(id).unwrap().cores, 2);
    let ones: Vec<u8> = [0x00, 0x3c].repeat(128 * 256);
    let inputs = ["x", "y"].map(|n| (n.to_owned(), Input::Inline(Data::new(ones.clone()))));
    let outcome =
        runtime.infer(Request { model: id, inputs: inputs.to_vec(), outputs: Vec::new() });
    assert_eq!(outcome.failure, None);
    let (name, output) = &outcome.outputs[0];
    assert_eq!((name.as_str(), output.len()), ("output0", 128 * 128 * 2));
    assert!(output.chunks(2).all(|half| half == [0x00, 0x5c]), "256.0 everywhere");
    runtime.shut_down();
}
