//! No race on any timing, and no two live buffers in one place.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "support/order.rs"]
mod order;
mod support;

use neuron_builder::models::SAMPLES;
use neuron_builder::{
    Activation, Array, Attention, ElementType, Graph, Line, Model, Op, PoolKind, Space, TensorId,
    TwoTensors, Variable, VariableKind, Window,
};
use neuron_core::isa::Engine;
use neuron_core::isa::event::WaitMode;
use neuron_core::neff::{Neff, Options};
use proptest::prelude::*;
use support::{Case, Random, compare, random};

fn check(name: &str, bytes: &[u8]) {
    let neff = Neff::open(bytes, &Options::strict()).unwrap();
    let kelfs = (0..).map(|number| format!("kelf-{number}.json"));
    for kelf in kelfs.take_while(|kelf| neff.member(kelf).is_some()) {
        let program = npu::Program::from_node(&neff, Some(&kelf)).unwrap();
        for core in program.cores() {
            let races = order::races(core);
            let some: Vec<_> = races.iter().take(5).collect();
            assert!(races.is_empty(), "{name}: {} races: {some:#?}", races.len());
        }
    }
}

#[test]
fn sample_models_have_no_races() {
    for (name, make) in SAMPLES.iter().filter(|(name, _)| *name != "deadlock") {
        check(name, &make().unwrap().built.bytes);
    }
}

/// A wait taken away, or a smaller one, is a race: the check sees each.
#[test]
fn a_missing_wait_is_found() {
    let mut graph = Graph::new("waits");
    let x = graph.input("x", ElementType::F32, &[200, 300]).unwrap();
    let w = graph.input("w", ElementType::F32, &[300, 130]).unwrap();
    let y = graph.matmul("product", x, w).unwrap();
    let y = graph.activation("product", Activation::Gelu, y).unwrap();
    graph.output("y", y).unwrap();
    let core = neuron_builder::lower(&graph).unwrap();
    let model = Model::new("waits", vec![graph]);
    let mut tried = 0;
    for engine in Engine::ALL {
        let number = usize::from(engine.number());
        for slot in 0..core.streams.engines[number].len() {
            let header = core.streams.engines[number][slot].instruction.header;
            // the end waits for everything, so that nothing is lost with one
            let last = slot + 1 == core.streams.engines[number].len();
            if header.wait_mode == WaitMode(0) || engine == Engine::Sp && last {
                continue;
            }
            let mut changed = core.clone();
            changed.streams.engines[number][slot].instruction.header.wait_mode = WaitMode(0);
            let bytes = model.pack(&[vec![changed]]).unwrap().bytes;
            let program = npu::Program::from_neff(&bytes).unwrap();
            let races = order::races(&program.cores()[0]);
            // the last waits of SP belong to the end
            let rest = &core.streams.engines[number][slot..];
            let works = |line: &Line| line.part.is_some();
            let ending = engine == Engine::Sp && !rest.iter().any(works);
            assert!(ending || !races.is_empty(), "{engine} slot {slot} waits for nothing");
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried}");
}

/// A graph of random operators on a few tensors, and the same in NumPy.
fn graph(seed: u64) -> Case {
    let mut pick = Random(seed);
    let mut choose = move |most: usize| (pick.next() % most as u64) as usize;
    let sizes = [1, 3, 64, 127, 128, 129, 200, 300];
    let (rows, mut python) = (sizes[choose(8)], String::new());
    let mut graph = Graph::new("random");
    let mut inputs = Vec::new();
    // tensors with their width, by their name in Python
    let mut known: Vec<(TensorId, usize, String)> = Vec::new();
    for index in 0..2 {
        let (name, width) = (format!("x{index}"), sizes[choose(8)]);
        let id = graph.input(&name, ElementType::F32, &[rows, width]).unwrap();
        inputs.push((name.clone(), random(seed + index, ElementType::F32, &[rows, width])));
        known.push((id, width, name));
    }
    for index in 0..12 {
        let (id, width, x) = known[choose(known.len())].clone();
        let name = format!("t{index}");
        let constant = |graph: &mut Graph, shape: &[usize], scale: f32| {
            let numbers = random(seed * 100 + index, ElementType::F32, shape);
            let values: Vec<f32> = numbers
                .data()
                .as_chunks()
                .0
                .iter()
                .map(|b| f32::from_le_bytes(*b) * scale)
                .collect();
            let array = Array::from_f32(ElementType::F32, shape, &values).unwrap();
            graph.constant(&format!("c{index}"), array).unwrap()
        };
        let same = known.iter().rev().find(|(other, w, _)| *w == width && *other != id).cloned();
        let (made, width, text) = match choose(9) {
            0 | 1 => {
                let next = sizes[choose(8)];
                let scale = 1.0 / (width as f32).sqrt();
                let w = constant(&mut graph, &[width, next], scale);
                (graph.matmul(&name, id, w).unwrap(), next, format!("{x} @ c{index}"))
            }
            2 => {
                let b = constant(&mut graph, &[width], 1.0);
                (graph.bias(&name, id, b).unwrap(), width, format!("{x} + c{index}"))
            }
            3 => (
                graph.activation(&name, Activation::Tanh, id).unwrap(),
                width,
                format!("np.tanh({x})"),
            ),
            4 => (
                graph.activation(&name, Activation::Silu, id).unwrap(),
                width,
                format!("{x} * sigmoid({x})"),
            ),
            5 => (graph.apply(&name, Op::Softmax, &[id]).unwrap(), width, format!("softmax({x})")),
            6 => {
                let piece = width.div_ceil(2);
                let op = Op::Slice { axis: 1, start: width - piece, size: piece };
                (
                    graph.apply(&name, op, &[id]).unwrap(),
                    piece,
                    format!("{x}[:, {}:]", width - piece),
                )
            }
            7 => {
                let attention = Attention { heads: 1, scale: 0.1, causal: Some(3) };
                if width > 128 {
                    continue;
                }
                let made = graph.apply(&name, Op::Attention(attention), &[id, id, id]).unwrap();
                (made, width, format!("attention({x}, {x}, {x}, 1, 0.1, 3)"))
            }
            _ => {
                let (other, _, y) = same.unwrap_or((id, width, x.clone()));
                (
                    graph.two(&name, TwoTensors::Subtract, id, other).unwrap(),
                    width,
                    format!("{x} - {y}"),
                )
            }
        };
        python += &format!("{name} = {text}\n");
        known.push((made, width, name));
    }
    let (mut names, count) = (Vec::new(), known.len());
    for (id, _, name) in &known[count - 3..] {
        graph.output(&format!("out.{name}"), *id).unwrap();
        names.push(name.clone());
    }
    python += &format!("out = ({})", names.join(", "));
    let mut case = Case::new(&format!("random {seed}"), graph, &python, 2e-5);
    case.inputs = inputs;
    case
}

#[test]
fn random_graphs_have_no_races_and_the_right_numbers() {
    let cases: Vec<Case> = (1..=24).map(graph).collect();
    for case in &cases {
        check(&case.name, &case.model.build().unwrap().bytes);
    }
    compare(&cases);
}

/// Checks a graph on races and numbers.
fn check_case(case: Case) {
    check(&case.name, &case.model.build().unwrap().bytes);
    compare(&[case]);
}

/// Tensors that do not stay in SBUF.
#[test]
fn large_elementwise_tensors_go_through_sbuf() {
    let mut wide = Graph::new("wide");
    let x = wide.input("x", ElementType::F32, &[130, 20_000]).unwrap();
    let b = wide.input("b", ElementType::F32, &[20_000]).unwrap();
    let y = wide.bias("bias", x, b).unwrap();
    let y = wide.activation("relu", Activation::Relu, y).unwrap();
    wide.output("y", y).unwrap();
    let case = Case::new("wide", wide, "out = np.maximum(x + b, 0)", 1e-6);
    let case = case.with("x", random(1, ElementType::F32, &[130, 20_000]));
    check_case(case.with("b", random(2, ElementType::F32, &[20_000])));
}

#[test]
fn large_products_go_through_sbuf() {
    let mut deep = Graph::new("deep");
    let x = deep.input("x", ElementType::F32, &[130, 13_500]).unwrap();
    let w = deep.input("w", ElementType::F32, &[13_500, 140]).unwrap();
    let y = deep.matmul("product", x, w).unwrap();
    deep.output("y", y).unwrap();
    let case = Case::new("deep", deep, "out = x @ w", 2e-6);
    let case = case.with("x", random(3, ElementType::F32, &[130, 13_500]));
    check_case(case.with("w", random(4, ElementType::F32, &[13_500, 140])));
}

/// Nine tensors of 48 KiB a partition, all needed until the end.
#[test]
fn more_tensors_than_fit_move_to_hbm() {
    let mut many = Graph::new("many");
    let x = many.input("x", ElementType::F32, &[100, 12_000]).unwrap();
    let mut kept = Vec::new();
    let mut last = x;
    for index in 0..8 {
        last = many.two(&format!("add{index}"), TwoTensors::Add, last, x).unwrap();
        kept.push(last);
    }
    let mut sum = last;
    for (index, tensor) in kept.into_iter().enumerate() {
        sum = many.two(&format!("less{index}"), TwoTensors::Subtract, sum, tensor).unwrap();
    }
    many.output("y", sum).unwrap();
    let core = neuron_builder::lower(&many).unwrap();
    let scratch = |variable: &&Variable| variable.kind == VariableKind::Scratch;
    assert!(core.variables.iter().filter(scratch).count() > 2);
    // 9 x less 2 x, 3 x, .. 9 x
    let case = Case::new("many", many, "out = 9 * x - 44 * x", 1e-6);
    check_case(case.with("x", random(5, ElementType::F32, &[100, 12_000])));
}

/// The same with tensors that are on chip by columns only.
#[test]
fn tensors_by_columns_move_to_hbm_too() {
    let mut graph = Graph::new("turned");
    let x = graph.input("x", ElementType::F32, &[512, 8]).unwrap();
    let w = graph.input("w", ElementType::F32, &[8, 3000]).unwrap();
    let v = graph.input("v", ElementType::F32, &[3000, 2]).unwrap();
    let made: Vec<TensorId> =
        (0..5).map(|index| graph.matmul(&format!("made{index}"), x, w).unwrap()).collect();
    let results: Vec<TensorId> = made
        .into_iter()
        .enumerate()
        .map(|(index, y)| graph.matmul(&format!("result{index}"), y, v).unwrap())
        .collect();
    let y = graph.apply("all", Op::Concat { axis: 1 }, &results).unwrap();
    graph.output("y", y).unwrap();
    let case = Case::new("turned", graph, "out = np.concatenate([x @ w @ v] * 5, 1)", 2e-6);
    let case = case.with("x", random(6, ElementType::F32, &[512, 8]));
    let case = case.with("w", random(7, ElementType::F32, &[8, 3000]));
    check_case(case.with("v", random(8, ElementType::F32, &[3000, 2])));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// Placed buffers lie within the memory and apart, are refused only when
    /// no gap is large enough, and are found again when given back.
    #[test]
    fn live_buffers_do_not_overlap(
        sizes in prop::collection::vec((1u32..5000, 0usize..8), 1..200),
        start in 0u32..1000,
    ) {
        let range = start * 64..start * 64 + 40_000;
        let mut space = Space::new(range.clone(), 64);
        let mut live: Vec<(u32, u32)> = Vec::new();
        for (bytes, which) in sizes {
            match space.place(bytes) {
                Some(at) => {
                    prop_assert!(at % 64 == 0 && at >= range.start && at + bytes <= range.end);
                    for (other, end) in &live {
                        prop_assert!(at + bytes <= *other || *end <= at);
                    }
                    live.push((at, at + bytes.next_multiple_of(64)));
                }
                None => {
                    live.sort_unstable();
                    let mut gap = range.start;
                    for (other, end) in &live {
                        prop_assert!(other - gap < bytes.next_multiple_of(64));
                        gap = *end;
                    }
                    prop_assert!(range.end - gap < bytes.next_multiple_of(64));
                }
            }
            prop_assert_eq!(space.live().count(), live.len());
            if which < live.len() && which % 2 == 0 {
                let (at, _) = live.remove(which);
                space.release(at);
            }
        }
    }

    /// Any parameters are a program without races or an error, never a panic.
    #[test]
    fn any_parameters_are_a_program_or_an_error(
        kind in 0usize..8,
        shape in prop::collection::vec(prop::sample::select(vec![1usize, 2, 3, 5, 33, 130]), 1..5),
        numbers in prop::array::uniform6(prop::sample::select(vec![0usize, 1, 2, 3, 7, usize::MAX])),
        element in prop::sample::select(vec![ElementType::F32, ElementType::Bf16, ElementType::I32]),
    ) {
        prop_assume!(shape.iter().product::<usize>() < 40_000);
        let [a, b, c, d, e, f] = numbers;
        let window = Window { size: [a, b], stride: [c, d], padding: [e, f] };
        let op = match kind {
            0 => Op::Pool(PoolKind::Average, window),
            1 => Op::Convolution(window),
            2 => Op::Attention(Attention { heads: a, scale: 1.0, causal: Some(b) }),
            3 => Op::Slice { axis: a, start: b, size: c },
            4 => Op::Concat { axis: a },
            5 => Op::Reshape(vec![a, b, c]),
            6 => Op::MatMul { transpose_a: a > 1, transpose_b: b > 1 },
            _ => Op::Embedding,
        };
        let mut graph = Graph::new("any");
        let x = graph.input("x", element, &shape).unwrap();
        let inputs = match kind {
            0 | 3 | 5 => vec![x],
            1 => {
                let sizes = [d.clamp(1, 9), shape.get(1).copied().unwrap_or(1), a.clamp(1, 9), b.clamp(1, 9)];
                vec![x, graph.constant("w", random(1, element, &sizes)).unwrap()]
            }
            2 => vec![x, x, x],
            _ => vec![x, x],
        };
        if let Ok(y) = graph.apply("any", op, &inputs) {
            graph.output("y", y).unwrap();
            if let Ok(built) = Model::new("any", vec![graph]).build() {
                check("any", &built.bytes);
            }
        }
    }
}
