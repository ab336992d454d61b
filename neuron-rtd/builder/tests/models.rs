//! The sample models on the software NeuronCore, against NumPy.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::collections::BTreeMap;

use neuron_builder::models::{SAMPLES, Sample};
use neuron_builder::{Array, CoreProgram, ElementType, Graph, Model, VariableKind, lower};
use neuron_core::isa::body::Body;
use neuron_core::isa::body::control::EventSemaphore;
use neuron_core::isa::header::Header;
use neuron_core::isa::{Engine, Instruction, Opcode};
use neuron_core::neff::{Neff, Options};
use npu::{Program, Stop, Unmet};
use support::{Check, verify};

fn sample(name: &str) -> Sample {
    let (_, make) = SAMPLES.iter().find(|(known, _)| *known == name).unwrap();
    make().unwrap()
}

fn bytes(arrays: &[(String, Array)]) -> npu::Tensors {
    arrays.iter().map(|(name, array)| (name.clone(), array.data().to_vec())).collect()
}

/// The outputs of a run as arrays.
fn arrays(program: &Program, outputs: &npu::Tensors) -> Vec<(String, Array)> {
    let shapes: BTreeMap<_, _> = program
        .tensors()
        .iter()
        .map(|tensor| {
            let shape = tensor.shape.clone().unwrap();
            (tensor.name.clone(), shape.iter().map(|size| *size as usize).collect::<Vec<_>>())
        })
        .collect();
    let array = |(name, bytes): (&String, &Vec<u8>)| {
        (name.clone(), Array::new(ElementType::F32, &shapes[name], bytes.clone()).unwrap())
    };
    outputs.iter().map(array).collect()
}

/// Runs a sample and compares its outputs, in the order of their names.
fn check(name: &str, python: &str, bound: f64) {
    let sample = sample(name);
    let program = Program::from_neff(&sample.built.bytes).unwrap();
    let outputs = program.run(&bytes(&sample.inputs)).unwrap();
    let outputs = arrays(&program, &outputs);
    let arrays = [sample.inputs, sample.weights].concat();
    let (name, python) = (name.to_owned(), python.to_owned());
    verify(&[Check { name, arrays, outputs, python, bound }]);
}

#[test]
fn null_copies_its_input() {
    let sample = sample("null");
    let program = Program::from_neff(&sample.built.bytes).unwrap();
    let outputs = program.run(&bytes(&sample.inputs)).unwrap();
    assert_eq!(outputs["y"], sample.inputs[0].1.data());
    assert_eq!(outputs["y"].len(), 64);
}

#[test]
fn mlp_equals_numpy() {
    let python = "h = np.maximum(x @ fc1_w + fc1_b, 0)\n\
        h = np.maximum(h @ fc2_w + fc2_b, 0)\nout = h @ fc3_w + fc3_b";
    check("mlp", python, 2e-6);
}

#[test]
fn cnn_equals_numpy() {
    let python = "h = x\n\
        for w, b, pad in [(conv1_w, conv1_b, 2), (conv2_w, conv2_b, 0)]:\n\
        \x20   h = np.maximum(conv(h, w, (1, 1), (pad, pad)) + b[:, None, None], 0)\n\
        \x20   h = windows(h, (2, 2), (2, 2)).max((-1, -2))\n\
        h = h.reshape(len(x), -1)\n\
        h = np.maximum(h @ fc1_w + fc1_b, 0)\n\
        h = np.maximum(h @ fc2_w + fc2_b, 0)\n\
        out = h @ fc3_w + fc3_b";
    check("cnn", python, 2e-6);
}

const TRANSFORMER: &str = "q, k, v = x @ q_w + q_b, x @ k_w + k_b, x @ v_w + v_b\n\
    o = attention(q, k, v, 2, 1 / 8) @ o_w + o_b\n\
    h = layernorm(x + o, norm1_gamma, norm1_beta, 1e-5)\n\
    f = gelu(h @ up_w + up_b) @ down_w + down_b\n\
    out = layernorm(h + f, norm2_gamma, norm2_beta, 1e-5)";

#[test]
fn transformer_equals_numpy() {
    check("transformer", TRANSFORMER, 4e-6);
}

#[test]
fn divisions_by_zero_give_infinities_and_nan() {
    let python = "with np.errstate(all='ignore'): out = np.maximum(x, 0) / d\n\
        assert np.isinf(out).any() and np.isnan(out).any()";
    check("divide-by-zero", python, 1e-6);
}

/// Runs a model with collectives, if the software NeuronCore has them; one that
/// has none stops at the first such record. In both cases each core runs by
/// itself too, with sums that this test makes.
fn check_collective(name: &str, python: &str, bound: f64) {
    let made = sample(name);
    let program = Program::from_neff(&made.built.bytes).unwrap();
    assert_eq!(program.cores().len(), 4);
    let mut seen = 0;
    for core in program.cores() {
        for record in core.stream(Engine::Pool) {
            let Some(Body::Collective(body)) = record.instruction().map(|found| found.body) else {
                continue;
            };
            seen += 1;
            let bytes = record.encode();
            // neuroncore.md §3.7: sum of fp32, group 0, all-reduce
            assert_eq!(bytes[..2], [0xc8, 0x10]);
            assert_eq!(bytes[12..16], [0x04, 0x0a, 0, 0]);
            assert_eq!(bytes[32], 1);
            assert_eq!(u64::from_le_bytes(bytes[24..32].try_into().unwrap()), body.num_elements);
            assert_eq!(bytes[36..64], [0; 28]);
            assert_eq!(bytes[6], 0x13);
        }
    }
    assert!(seen >= 4, "{seen}");
    let outputs = alone(&made);
    let arrays = [made.inputs.clone(), made.weights.clone()].concat();
    let title = format!("{name}, cores alone");
    verify(&[Check { name: title, arrays, outputs, python: python.to_owned(), bound }]);
    match program.run(&bytes(&made.inputs)) {
        Err(Stop::Instruction { opcode: Opcode::PSEUDO_TRIGGER_COLLECTIVE, fault, .. }) => {
            assert_eq!(fault, npu::Fault::Opcode);
        }
        Err(stop) => panic!("{name}: {stop}"),
        Ok(_) => check(name, python, bound),
    }
}

/// A core whose collectives are taken out: what one would read is an output,
/// what it would write an input, and the graph says so. Gives the names, in
/// order.
fn without_collectives(core: &mut CoreProgram, graph: &mut Graph) -> Vec<[String; 2]> {
    let mut names = Vec::new();
    let pool = usize::from(Engine::Pool.number());
    for line in &mut core.streams.engines[pool] {
        let Body::Collective(body) = line.instruction.body else {
            continue;
        };
        let header = line.instruction.header;
        line.instruction =
            Instruction::new(Opcode::EVENT_SEMAPHORE, EventSemaphore::default()).unwrap();
        line.instruction.header = Header { opcode: Opcode::EVENT_SEMAPHORE, ..header };
        let [from, to] = [body.input_tensor_id, body.output_tensor_id].map(|id| id as usize - 1);
        core.variables[from].kind = VariableKind::Output;
        core.variables[to].kind = VariableKind::Input;
        let [given, sum] = [from, to].map(|index| core.variables[index].clone());
        let tensor = graph.input(&sum.name, sum.element, &sum.shape).unwrap();
        graph.output(&given.name, tensor).unwrap();
        names.push([given.name, sum.name]);
    }
    names
}

/// The outputs of core 0 when each core runs by itself. A core's n-th sum is
/// right once the sums before it are, so they are made one after the other.
fn alone(made: &Sample) -> Vec<(String, Array)> {
    let mut cores = Vec::new();
    for graph in &made.graphs {
        let mut core = lower(graph).unwrap();
        let output = graph.outputs()[0].clone();
        let shape = graph.tensor(output.1).unwrap().shape.clone();
        let mut graph = graph.clone();
        let names = without_collectives(&mut core, &mut graph);
        let model = Model::new("alone", vec![graph]);
        let program = Program::from_neff(&model.pack(&[vec![core]]).unwrap().bytes).unwrap();
        cores.push((program, names, output.0, shape));
    }
    let count = cores[0].1.len();
    let mut sums: Vec<Option<Vec<f32>>> = vec![None; count];
    let mut last = Vec::new();
    for round in 0..=count {
        last.clear();
        for (program, names, ..) in &cores {
            let mut inputs = bytes(&made.inputs);
            for ([_, to], sum) in names.iter().zip(&sums) {
                let size = program.tensors().iter().find(|tensor| tensor.name == *to).unwrap();
                let sum = sum.clone().unwrap_or_else(|| vec![0.0; size.bytes as usize / 4]);
                inputs.insert(to.clone(), sum.iter().flat_map(|x| x.to_le_bytes()).collect());
            }
            last.push(program.run(&inputs).unwrap());
        }
        if round < count {
            let part = |index: usize| {
                let bytes = &last[index][&cores[index].1[round][0]];
                bytes.as_chunks().0.iter().map(|x| f32::from_le_bytes(*x)).collect::<Vec<_>>()
            };
            let mut sum = part(0);
            for index in 1..cores.len() {
                sum.iter_mut().zip(part(index)).for_each(|(sum, part)| *sum += part);
            }
            sums[round] = Some(sum);
        }
    }
    let (_, _, name, shape) = &cores[0];
    for (outputs, core) in last.iter().zip(&cores) {
        assert_eq!(outputs[&core.2], last[0][name], "cores differ");
    }
    let bytes = last[0][name].clone();
    vec![(name.clone(), Array::new(ElementType::F32, shape, bytes).unwrap())]
}

#[test]
fn transformer_on_four_cores_equals_numpy() {
    check_collective("transformer-4-cores", TRANSFORMER, 4e-6);
}

#[test]
fn data_parallel_step_equals_numpy() {
    let python = "out = w - (x.T @ (x @ w - t)) * rate";
    check_collective("data-parallel-step", python, 2e-6);
}

/// Each Neuron node alone, with this test as the host between them.
#[test]
fn nodes_around_a_cpu_node_equal_numpy() {
    let sample = sample("cpu-node");
    let error = Program::from_neff(&sample.built.bytes).unwrap_err().to_string();
    let told = "NEFF: there are several Neuron nodes; choose one of kelf-0.json, kelf-1.json";
    assert_eq!(error, told);
    let neff = Neff::open(&sample.built.bytes, &Options::strict()).unwrap();
    let node = |kelf| Program::from_node(&neff, Some(kelf)).unwrap();
    let first = node("kelf-0.json").run(&bytes(&sample.inputs)).unwrap();
    let shape = [32, 16];
    let scores = Array::new(ElementType::F32, &shape, first["scores"].clone()).unwrap();
    let numbers: Vec<f32> =
        first["scores"].as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let softmax = |row: &[f32]| {
        let powers: Vec<f32> = row.iter().map(|score| score.exp()).collect();
        let sum: f32 = powers.iter().sum();
        powers.iter().map(|power| power / sum).collect::<Vec<_>>()
    };
    let shares: Vec<f32> = numbers.chunks(16).flat_map(softmax).collect();
    let shares = Array::from_f32(ElementType::F32, &shape, &shares).unwrap();
    let inputs = [("shares".to_owned(), shares.data().to_vec())].into();
    let last = node("kelf-1.json").run(&inputs).unwrap();
    let y = Array::new(ElementType::F32, &[32, 48], last["y"].clone()).unwrap();
    let arrays = [sample.inputs, sample.weights].concat();
    let outputs = vec![("scores".to_owned(), scores), ("y".to_owned(), y)];
    let python = "s = np.tanh(x @ a)\nout = (s, softmax(s) @ b)".to_owned();
    verify(&[Check { name: "cpu-node".to_owned(), arrays, outputs, python, bound: 2e-6 }]);
}

#[test]
fn a_deadlock_names_each_wait() {
    let sample = sample("deadlock");
    let program = Program::from_neff(&sample.built.bytes).unwrap();
    let stop = program.run(&bytes(&sample.inputs)).unwrap_err();
    let Stop::Deadlock(blocked) = &stop else {
        panic!("{stop}");
    };
    let found: Vec<_> = blocked
        .iter()
        .map(|wait| {
            let [Unmet::Semaphore { index, value, needed }, ..] = wait.unmet.as_slice() else {
                panic!("{wait}");
            };
            (wait.at.engine, *index, *value, needed.as_str())
        })
        .collect();
    // POOL would store the sum that DVE makes; SP waits for the ends of PE,
    // which has come, and of ACT, which has not
    let wanted = [
        (Engine::Act, 6, 0, ">=1"),
        (Engine::Pool, 6, 0, ">=1"),
        (Engine::Dve, 4, 0, ">=1"),
        (Engine::Sp, 4, 0, ">=2"),
    ];
    assert_eq!(found, wanted, "{stop}");
    assert!(stop.to_string().contains("semaphore 6 is 0 and must be >=1"), "{stop}");
}

/// The arrays beside the files are what NumPy writes, bfloat16 as ml_dtypes
/// does.
#[test]
fn numpy_reads_the_arrays() {
    let Some(numpy) = support::numpy() else {
        return;
    };
    let values = [1.5, -2.0, 3.25, 0.5, -0.125, 7.0];
    let script = "import sys, io, numpy as np, ml_dtypes\n\
        a = np.load(io.BytesIO(sys.stdin.buffer.read()))\n\
        b = a.view(ml_dtypes.bfloat16) if a.dtype == np.dtype('V2') else a\n\
        assert a.shape == (2, 3) and a.flags.c_contiguous\n\
        out = io.BytesIO(); np.save(out, b)\n\
        sys.stdout.buffer.write(b.astype('<f8').tobytes() + out.getvalue())";
    for element in [ElementType::F32, ElementType::F16, ElementType::Bf16, ElementType::I32] {
        let array = Array::from_f32(element, &[2, 3], &values).unwrap();
        let answer = numpy.run(script, &[], &array.to_npy());
        let (numbers, file) = answer.split_at(48);
        let whole = |x: &f32| if element == ElementType::I32 { x.trunc() } else { *x };
        let wanted: Vec<f64> = values.iter().map(|x| f64::from(whole(x))).collect();
        assert_eq!(support::fp64(numbers), wanted, "{}", element.word());
        assert_eq!(Array::from_npy("numpy's", file).unwrap(), array, "{}", element.word());
    }
}
