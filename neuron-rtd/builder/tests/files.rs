//! What is in the files: sound by every rule, the same bytes each time, with
//! the producer, the layers and the source lines.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::ffi::OsString;
use std::path::Path;

use neuron_builder::models::SAMPLES;
use neuron_builder::{Array, ElementType, Graph, Model, Op, PRODUCER, SourceLine, TwoTensors};
use neuron_core::cli::Exit;
use neuron_core::instance::Arch;
use neuron_core::isa::asm::{assemble, disassemble};
use neuron_core::isa::decode_stream;
use neuron_core::isa::names::SemaphoreNames;
use neuron_core::neff::doc::{Engine, Executor, Target};
use neuron_core::neff::{DebugLayer, Neff, Options, Report, SubgraphDebug, verify};

#[test]
fn sample_files_are_sound_in_strict_mode() {
    for (name, make) in SAMPLES {
        let built = make().unwrap().built;
        let neff = Neff::open(&built.bytes, &Options::strict().holding_all()).unwrap();
        let seen = verify(&neff, |_, _| ()).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        assert!(seen.report.warnings().is_empty(), "{name}: {:?}", seen.report.warnings());
        assert_eq!(seen.model.target(), Some(Target::Simulator), "{name}");
        let version = neff.header.build_version;
        assert!(version.starts_with(PRODUCER.as_bytes()), "{name}");
        assert_eq!(seen.model.subgraphs.len(), built.cores, "{name}");
        let slots: u64 = seen.model.subgraphs.iter().flat_map(|graph| graph.slots()).sum();
        assert_eq!(slots, built.instructions as u64, "{name}");
    }
}

#[test]
fn the_same_graph_gives_the_same_bytes() {
    for (name, make) in SAMPLES {
        assert!(make().unwrap().built.bytes == make().unwrap().built.bytes, "{name}");
    }
}

/// Every record is one that its sheet explains whole, and its text gives it
/// back.
#[test]
fn every_record_is_understood_and_has_its_text() {
    for (name, make) in SAMPLES {
        let built = make().unwrap().built;
        let neff = Neff::open(&built.bytes, &Options::strict().holding_all()).unwrap();
        let seen = verify(&neff, |_, _| ()).unwrap();
        for subgraph in &seen.model.subgraphs {
            for program in &subgraph.programs {
                let member = program.stream_member.as_deref().unwrap();
                let body = neff.body(member).unwrap().unwrap();
                let records = decode_stream(Arch::V3, &body).unwrap();
                assert!(records.iter().all(|record| record.is_understood()), "{name} {member}");
                let names = SemaphoreNames::default();
                let lines: Vec<String> =
                    records.iter().map(|record| disassemble(record, &names)).collect();
                let again = assemble(Arch::V3, &lines.join("\n")).unwrap();
                assert_eq!(again, records, "{name} {member}");
            }
        }
    }
}

#[test]
fn instructions_lead_to_their_layer_and_line() {
    let mut graph = Graph::new("places");
    let x = graph.input("x", ElementType::F32, &[8, 8]).unwrap();
    let line = SourceLine { file: "net.py".to_owned(), line: 41 };
    graph.source(Some(line));
    let y = graph.scope("encoder", |graph| graph.two("add", TwoTensors::Add, x, x)).unwrap();
    graph.source(None);
    let z = graph.apply("soft", Op::Softmax, &[y]).unwrap();
    let here = line!() - 1;
    graph.output("z", z).unwrap();
    let bytes = Model::new("places", vec![graph]).build().unwrap().bytes;
    let neff = Neff::open(&bytes, &Options::strict().holding_all()).unwrap();
    let model = verify(&neff, |_, _| ()).unwrap().model;
    let subgraph = &model.subgraphs[0];
    let mut report = Report::new(neuron_core::neff::Mode::Strict);
    let debug = SubgraphDebug::read(&neff, subgraph, &mut report).unwrap();
    let mut found = Vec::new();
    for engine in Engine::ALL {
        let slots = subgraph.program(engine).unwrap().slots;
        for slot in 0..slots as usize {
            let Some((layer, record)) = debug.instruction(engine, slot) else {
                continue;
            };
            assert_eq!(layer.engine(), Some(engine));
            let source = layer.source(record).unwrap();
            found.push((record.name.clone(), source.file, source.line, source.function));
        }
    }
    let of = |what: &str| found.iter().find(|(name, ..)| name.contains(what)).unwrap().clone();
    let (name, file, line, function) = of("encoder/add.elementwise");
    assert!(name.starts_with("I-0-"), "{name}");
    assert_eq!((file.as_str(), line, function.as_str()), ("net.py", 41, "places.0"));
    let (_, file, line, _) = of("soft.reduce");
    assert!(file.ends_with("tests/files.rs"), "{file}");
    assert_eq!(line, u64::from(here));
    // the sum is of what was loaded, and what is stored is the quotient
    let edges = |what: &str| {
        let layers = debug.backend.iter().flat_map(|(_, _, layer)| &layer.records);
        let record = layers.clone().find(|record| record.name.contains(what)).unwrap();
        assert_eq!(record.dataflow.len(), record.dataflow_kinds.len());
        let flow =
            record.dataflow.iter().zip(&record.dataflow_kinds).filter(|(_, kind)| **kind == 4);
        flow.map(|(id, _)| debug.by_id(*id).unwrap().1.name.clone()).collect::<Vec<_>>()
    };
    assert!(edges("elementwise").iter().all(|name| name.ends_with(".load")));
    assert_eq!(edges("elementwise").len(), 1);
    assert!(edges("store")[0].ends_with("soft.scalar"), "{:?}", edges("store"));
    // the first and the last slot are no layer's
    assert!(debug.instruction(Engine::Sp, 0).is_none());
}

#[test]
fn a_cpu_node_stands_between_neuron_nodes() {
    let (_, make) = SAMPLES.iter().find(|(name, _)| *name == "cpu-node").unwrap();
    let bytes = make().unwrap().built.bytes;
    let neff = Neff::open(&bytes, &Options::strict()).unwrap();
    let model = verify(&neff, |_, _| ()).unwrap().model;
    assert_eq!(model.node_counts(), (2, 1));
    let graph = model.graph.unwrap();
    let nodes: Vec<_> =
        graph.executable().map(|(_, node)| (node.executor(), node.attr("func_name"))).collect();
    let neuron = (Executor::NeuronCore, Some("__kelf"));
    assert_eq!(nodes, [neuron, (Executor::Cpu, Some("softmax")), neuron]);
    let names: Vec<_> = model.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    assert_eq!(names, ["x", "y"]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut graph = Graph::new("bad");
    let x = graph.input("x", ElementType::F32, &[4, 5]).unwrap();
    assert!(graph.input("x", ElementType::F32, &[1]).is_err());
    assert!(graph.input("a/b", ElementType::F32, &[1]).is_err());
    assert!(graph.input("SB", ElementType::F32, &[1]).is_err());
    assert!(graph.input("scratch.1", ElementType::F32, &[1]).is_err());
    assert!(graph.input("none", ElementType::F32, &[0]).is_err());
    let error = graph.matmul("product", x, x).unwrap_err().to_string();
    assert_eq!(
        error,
        r#"layer bad/product: matmul does not take [("float32", [4, 5]), ("float32", [4, 5])]"#
    );
    let ids = graph.input("ids", ElementType::I32, &[4]).unwrap();
    assert!(graph.apply("softmax", Op::Softmax, &[ids]).is_err());
    assert!(graph.split("split", x, 1, &[2, 2]).is_err());
    assert!(graph.reshape("reshape", x, &[3, 7]).is_err());
    let long = graph.input("long", ElementType::F32, &[1, 20_000]).unwrap();
    let soft = graph.apply("softmax", Op::Softmax, &[long]).unwrap();
    graph.output("y", soft).unwrap();
    let error = Model::new("bad", vec![graph]).build().unwrap_err().to_string();
    assert_eq!(error, "layer softmax: rows of 20000 elements, the most is 16384");
    assert!(Model::new("empty", vec![Graph::new("empty")]).build().is_err());
}

#[test]
fn weights_come_from_npy_files() {
    let values = [0.5, -1.5, 2.0, 0.25];
    for element in [ElementType::F32, ElementType::F16, ElementType::Bf16] {
        let file = Array::from_f32(element, &[4], &values).unwrap().to_npy();
        let mut graph = Graph::new("npy");
        let x = graph.input("x", element, &[1, 4]).unwrap();
        let w = graph.constant("w", Array::from_npy("w.npy", &file).unwrap()).unwrap();
        let y = graph.bias("add", x, w).unwrap();
        graph.output("y", y).unwrap();
        let bytes = Model::new("npy", vec![graph]).build().unwrap().bytes;
        let program = npu::Program::from_neff(&bytes).unwrap();
        let zero = vec![0; 4 * element.bytes()];
        let outputs = program.run(&[("x".to_owned(), zero)].into()).unwrap();
        let want = Array::from_f32(element, &[4], &values).unwrap();
        assert_eq!(outputs["y"], want.data(), "{}", element.word());
    }
}

/// What people look with.
#[test]
fn neuron_profile_takes_each_file() {
    let dir =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("builder-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    for (name, make) in SAMPLES {
        let path = dir.join(format!("{name}.neff"));
        std::fs::write(&path, make().unwrap().built.bytes).unwrap();
        for command in ["verify", "info", "disasm"] {
            let words = ["neuron-profile", "neff", command].map(OsString::from);
            let exit = neuron_profile::run(words.into_iter().chain([path.clone().into()]));
            assert_eq!(exit, Exit::Done, "{command} of {name}");
        }
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

/// No path of the machine that built it.
#[test]
fn sources_of_samples_are_relative() {
    let (_, make) = SAMPLES.iter().find(|(name, _)| *name == "mlp").unwrap();
    let bytes = make().unwrap().built.bytes;
    let neff = Neff::open(&bytes, &Options::strict().holding_all()).unwrap();
    let body = neff.body("sg00/debug_info_backend_PE.dbg").unwrap().unwrap();
    let layer = DebugLayer::parse("pe", &body).unwrap();
    assert_eq!(layer.files, ["neuron-rtd/builder/src/models/mlp.rs"]);
}
