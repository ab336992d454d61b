//! Members that do not say what they should: an error with rule and place, or a
//! warning in lenient mode.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod neff_common;

use neff_common::{file, fixture, sample, sample_members, tar, wrap};
use neuron_core::neff::{
    Builder, DebugLayer, Mode, Model, Neff, Options, Packing, Problem, Report, Rule, Usage, fuzz,
    node_tensors, verify,
};
use serde_json::{Value, json};

fn strict(bytes: &[u8]) -> Result<(), Problem> {
    let neff = Neff::open(bytes, &Options::strict())?;
    verify(&neff, |_, _| ()).map(drop)
}

fn refused(bytes: &[u8]) -> Rule {
    strict(bytes).map(|()| panic!("it was accepted")).unwrap_err().rule
}

/// Opens and reads leniently; the rules of its warnings.
fn lenient(bytes: &[u8]) -> Result<Vec<Rule>, Problem> {
    let neff = Neff::open(bytes, &Options::lenient())?;
    let seen = verify(&neff, |_, _| ())?;
    Ok(seen.report.warnings().iter().map(|problem| problem.rule).collect())
}

/// The sample with one member replaced, packed without our writer's checks.
fn with_member(name: &str, body: &[u8]) -> Vec<u8> {
    let members = sample_members();
    let mut entries = Vec::new();
    for (other, original) in &members {
        if !other.ends_with('/') {
            entries.push(file(other, if *other == name { body } else { original }));
        }
    }
    wrap(&tar(&entries))
}

fn without_member(name: &str) -> Vec<u8> {
    let members = sample_members();
    let kept = members.iter().filter(|(other, _)| *other != name && !other.ends_with('/'));
    wrap(&tar(&kept.map(|(name, body)| file(name, body)).collect::<Vec<_>>()))
}

#[test]
fn json_ten_thousand_deep() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}0{}", open.repeat(10_000), close.repeat(10_000));
        for name in ["neff.json", "kelf-a.json", "sg00/def.json", "sg00/pool.json"] {
            let bytes = with_member(name, deep.as_bytes());
            let error = strict(&bytes).unwrap_err();
            assert_eq!(error.rule, Rule::JsonSyntax, "{name}");
            assert!(error.to_string().starts_with(&format!("{name} offset 0x")), "{error}");
            assert!(lenient(&bytes).unwrap().contains(&Rule::JsonSyntax), "{name}");
        }
        fuzz::json(deep.as_bytes());
    }
    // In a place that no type looks at.
    let deep = format!("{}0{}", "[".repeat(10_000), "]".repeat(10_000));
    let mut members: Vec<_> =
        sample_members().into_iter().filter(|(name, _)| !name.ends_with('/')).collect();
    members.push(("hlo_stats.json", deep.into_bytes()));
    let entries: Vec<_> = members.iter().map(|(name, body)| file(name, body)).collect();
    assert_eq!(refused(&wrap(&tar(&entries))), Rule::JsonSyntax);
}

#[test]
fn json_errors_have_their_offset() {
    let bytes = with_member("kelf-a.json", b"{\n  \"graphs\": [],\n  \"version\": 5\n}");
    let error = strict(&bytes).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("kelf-a.json offset 0x1f: invalid type: integer `5`"), "{text}");
    let mut small = Options::strict();
    small.limits.json = 100;
    let whole = sample(Packing::Bare);
    let neff = Neff::open(&whole, &small).unwrap();
    let error = Model::read(&neff, &mut Report::new(Mode::Lenient)).unwrap_err();
    assert_eq!(error.rule, Rule::LimitJson);
}

#[test]
fn json_that_does_not_fit_together() {
    let text = |name: &str| {
        let (_, body) = sample_members().into_iter().find(|(other, _)| *other == name).unwrap();
        String::from_utf8(body).unwrap()
    };
    let graph = text("neff.json");
    let definition = text("sg00/def.json");
    let compact = |text: &str| {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        serde_json::to_string(&value).unwrap()
    };
    let (graph, definition) = (compact(&graph), compact(&definition));
    let kelf = compact(&text("kelf-a.json"));
    let pool = compact(&text("sg00/pool.json"));
    for (name, document, from, to, rule) in [
        ("neff.json", &graph, "\"arg_nodes\":[0],", "", Rule::JsonSyntax),
        ("neff.json", &graph, "\"arg_nodes\":[0]", "\"arg_nodes\":[2]", Rule::GraphShape),
        ("neff.json", &graph, "[[1,0,0]]", "[[9,0,0]]", Rule::GraphShape),
        ("neff.json", &graph, "[[1,0,0]]", "[[1,9,0]]", Rule::GraphShape),
        ("neff.json", &graph, "[[1,0,0]]", "[[1]]", Rule::GraphShape),
        ("neff.json", &graph, "[0,1,2]", "[0,1]", Rule::GraphShape),
        ("neff.json", &graph, "[0,1,2]", "[0,2,1]", Rule::GraphShape),
        ("neff.json", &graph, "[0,1,2]", "[0,1,18446744073709551615]", Rule::GraphShape),
        ("neff.json", &graph, "[[32],[32]]", "[[32]]", Rule::GraphShape),
        ("neff.json", &graph, "[[32],[32]]", "[[31],[32]]", Rule::TensorSize),
        (
            "neff.json",
            &graph,
            "\"float32\",\"float32\"",
            "\"float32\",\"float16\"",
            Rule::TensorSize,
        ),
        ("neff.json", &graph, "__kelf", "0", Rule::KelfNode),
        ("neff.json", &graph, "\"kelf\":\"kelf-a.json\"", "\"kelf\":7", Rule::KelfNode),
        ("neff.json", &graph, "kelf-a.json", "kelf-9.json", Rule::MemberAbsent),
        ("neff.json", &graph, "\"name\":\"input\"", "\"name\":\"other\"", Rule::TensorName),
        ("kelf-a.json", &kelf, "0.5", "5", Rule::KelfVersion),
        ("kelf-a.json", &kelf, "\"*\"", "\"unheard\"", Rule::Target),
        ("kelf-a.json", &kelf, "sg00/def.json", "sg01/def.json", Rule::MemberAbsent),
        ("sg00/def.json", &definition, "\"pe.json\"", "\"p.json\"", Rule::MemberAbsent),
        (
            "sg00/def.json",
            &definition,
            "\"type\":\"output\"",
            "\"type\":\"tmp-buf\"",
            Rule::NoOutput,
        ),
        ("sg00/def.json", &definition, "\"owner\":\"pool\"", "\"owner\":\"gpu\"", Rule::QueueOwner),
        (
            "sg00/def.json",
            &definition,
            "\"owner\":\"pool\"",
            "\"owner\":\"pool\",\"num_queues\":17",
            Rule::QueueCount,
        ),
        ("sg00/def.json", &definition, "\"gradient_in\":", "\"input\":", Rule::JsonSyntax),
        ("sg00/pool.json", &pool, "\"queue\":\"q_gradient_in\"", "\"queue\":\"q\"", Rule::DmaName),
        ("sg00/pool.json", &pool, "\"to\":\"output\"", "\"to\":\"nowhere\"", Rule::DmaName),
        ("sg00/pool.json", &pool, "pool.bin", "pool.asm", Rule::StreamLength),
    ] {
        let changed = document.replacen(from, to, 1);
        assert_ne!(&changed, document, "{name} {from}");
        let bytes = with_member(name, changed.as_bytes());
        let error = strict(&bytes).unwrap_err();
        assert_eq!(error.rule, rule, "{name} {from} {to}: {error}");
        assert!(lenient(&bytes).unwrap().contains(&rule), "{name} {from} {to}");
    }
    // Our choice: sparse ids and unknown words only warn.
    for (from, to, rule) in [
        ("\"var_id\":4", "\"var_id\":9", Rule::VarDense),
        ("\"type\":\"tmp-buf\"", "\"type\":\"attic\"", Rule::VarType),
        ("\"type\":\"in\"", "\"type\":\"sideways\"", Rule::QueueType),
        ("\"git_version\"", "\"got_version\"", Rule::JsonUnknown),
    ] {
        let bytes = with_member("sg00/def.json", definition.replacen(from, to, 1).as_bytes());
        strict(&bytes).unwrap();
        assert!(lenient(&bytes).unwrap().contains(&rule), "{from}");
    }
}

#[test]
fn absent_members() {
    for (name, rule) in [
        ("neff.json", Rule::GraphAbsent),
        ("kelf-a.json", Rule::MemberAbsent),
        ("sg00/def.json", Rule::MemberAbsent),
        ("sg00/pe.json", Rule::MemberAbsent),
        ("sg00/pool.bin", Rule::MemberAbsent),
    ] {
        let bytes = without_member(name);
        assert_eq!(refused(&bytes), rule, "{name}");
        assert!(lenient(&bytes).unwrap().contains(&rule), "{name}");
    }
    // Without the graph, tensors come from the definition.
    let bytes = without_member("neff.json");
    let neff = Neff::open(&bytes, &Options::lenient()).unwrap();
    let model = Model::read(&neff, &mut Report::new(Mode::Lenient)).unwrap();
    let names: Vec<&str> = model.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    assert_eq!(names, ["input", "output"]);
    assert_eq!(model.tensors[0].bytes, Some(128));
}

/// A real file with members changed, packed again.
fn real_with(changes: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let bytes = fixture("attn-fused-fp32-512.neff");
    let neff = Neff::open(&bytes, &Options::strict()).unwrap();
    let mut builder = Builder::with_header(neff.header.clone());
    builder.packing = Packing::Bare;
    for member in neff.members() {
        if !changes.iter().any(|(name, _)| *name == member.name()) {
            let body = neff.archive.body(member).unwrap().into_owned();
            builder.add(member.name(), body).unwrap();
        }
    }
    for (name, body) in changes {
        builder.add(name, body.clone()).unwrap();
    }
    let mut out = Vec::new();
    builder.write(&mut out).unwrap();
    out
}

fn real(name: &str) -> Vec<u8> {
    let bytes = fixture("attn-fused-fp32-512.neff");
    let neff = Neff::open(&bytes, &Options::strict()).unwrap();
    neff.body(name).unwrap().unwrap().into_owned()
}

#[test]
fn constants_and_layers_of_a_real_file() {
    strict(&real_with(&[])).unwrap();
    let weight = "sg00/value_sg0000_identity_45_CRSM.npy";
    let mut array = real(weight);
    array.truncate(array.len() - 4);
    assert_eq!(refused(&real_with(&[(weight, array)])), Rule::Npy);
    assert_eq!(refused(&real_with(&[(weight, vec![0; 65_664])])), Rule::Npy);
    let smaller = String::from_utf8(real("sg00/def.json")).unwrap();
    let smaller = smaller.replace("\"size\": 65536", "\"size\": 65532");
    assert_eq!(refused(&real_with(&[("sg00/def.json", smaller.into_bytes())])), Rule::WeightSize);

    let layer = "sg00/debug_info_asm_PE.dbg";
    let mut one_more = real(layer);
    one_more.extend_from_slice(&[0x1a, 0x00]);
    let bytes = real_with(&[(layer, one_more)]);
    strict(&bytes).unwrap();
    assert_eq!(lenient(&bytes).unwrap(), [Rule::DebugCount]);
    let cut = real(layer)[..500].to_vec();
    assert_eq!(refused(&real_with(&[(layer, cut)])), Rule::Protobuf);
    // A pttf layer that is an archive is left alone.
    let archive = tar(&[file("simulation", b"")]);
    strict(&real_with(&[("debug_info/debug_info_pttf.dbg_sg000000", archive)])).unwrap();
    let unheard = real_with(&[("attic.dat", vec![1])]);
    assert_eq!(lenient(&unheard).unwrap(), [Rule::MemberRole]);
}

#[test]
fn layers_of_too_many_records() {
    let body = [0x1a, 0x00].repeat((2 << 20) + 1);
    assert_eq!(DebugLayer::parse("d", &body).unwrap_err().rule, Rule::LimitDebug);
    let records = DebugLayer::parse("d", &body[2..]).unwrap().records.len();
    assert_eq!(records, 2 << 20);
}

#[test]
fn subgraphs_beyond_reason() {
    let kelf = |names: &[&str]| {
        let graph = |name: &&str| json!({ "name": "sg00", "definition": name });
        let graphs: Vec<Value> = names.iter().map(graph).collect();
        json!({ "version": "0.5", "target": "*", "graphs": graphs }).to_string().into_bytes()
    };
    let twice = with_member("kelf-a.json", &kelf(&["sg00/def.json"; 2]));
    assert_eq!(refused(&twice), Rule::SubgraphCount);
    let neff = Neff::open(&twice, &Options::lenient()).unwrap();
    let mut report = Report::new(Mode::Lenient);
    let model = Model::read(&neff, &mut report).unwrap();
    assert_eq!(model.subgraphs.len(), 1);
    assert!(report.warnings().iter().any(|problem| problem.rule == Rule::SubgraphTwice));
    let many = with_member("kelf-a.json", &kelf(&["sg00/def.json"; 101]));
    assert_eq!(lenient(&many).unwrap_err().rule, Rule::LimitSubgraphs);
}

/// A list may name one node a million times.
#[test]
fn tensors_beyond_reason() {
    let (_, graph) = sample_members().into_iter().find(|(name, _)| *name == "neff.json").unwrap();
    let mut graph: Value = serde_json::from_slice(&graph).unwrap();
    graph["arg_nodes"] = vec![0; 1_000_000].into();
    graph["nodes"][0]["name"] = "n".repeat(100_000).into();
    graph["attrs"]["shape"][1][0] = vec![1; 100_000].into();
    let bytes = with_member("neff.json", graph.to_string().as_bytes());
    assert_eq!(refused(&bytes), Rule::TensorCount);
    let neff = Neff::open(&bytes, &Options::lenient()).unwrap();
    let mut report = Report::new(Mode::Lenient);
    let model = Model::read(&neff, &mut report).unwrap();
    assert_eq!(model.tensors.len(), 65_537);
    assert!(model.tensors.iter().all(|t| t.name.len() <= 256));
    assert!(model.tensors[0].shape.is_none());
    assert_eq!(report.warnings().len(), 1000);
    assert!(report.warnings().iter().all(|problem| problem.to_string().len() < 1000));
}

#[test]
fn custom_operators() {
    let members = |libraries: &Value| {
        let mut members = sample_members();
        members.retain(|(name, _)| !name.ends_with('/'));
        for (name, body) in &mut members {
            if *name == "sg00/def.json" {
                let mut definition: Value = serde_json::from_slice(body).unwrap();
                definition["ucode_lib"] = "ucode_lib.json".into();
                *body = definition.to_string().into_bytes();
            }
        }
        members.push(("sg00/ucode_lib.json", libraries.to_string().into_bytes()));
        let entries: Vec<_> = members.iter().map(|(name, body)| file(name, body)).collect();
        wrap(&tar(&entries))
    };
    let library = json!({
        "library": "lib.so", "ulib_to_ucode_version": "1.2", "opcode": 1, "cpu_id": 0,
        "total_cpus": 8, "functions": [{ "name": "f", "opcode": 1, "sub_opcode": 2 }],
    });
    strict(&members(&json!([library]))).unwrap();
    strict(&members(&library)).unwrap();
    for (key, value) in [
        ("ulib_to_ucode_version", json!("2.0")),
        ("cpu_id", json!(1)),
        ("total_cpus", json!(2)),
        ("functions", json!([{ "name": "n".repeat(64) }])),
        ("functions", Value::Array(vec![json!({ "name": "f" }); 29])),
    ] {
        let mut bad = library.clone();
        bad[key] = value;
        assert_eq!(refused(&members(&json!([bad]))), Rule::CustomOps, "{key}");
    }
    assert_eq!(refused(&members(&json!([library, library]))), Rule::CustomOps);
}

/// A file of runtime 1: two Neuron nodes with a kelf each, a host operator
/// between them.
#[test]
fn cpu_nodes_and_several_kelfs() {
    let node = |name: &str, kelf: &str, from: u64| {
        json!({
            "op": "tvm_op", "name": name, "inputs": [[from, 0, 0]], "output_names": [name],
            "attrs": { "func_name": "__kelf", "kelf": kelf, "num_inputs": "1", "num_outputs": "1" },
        })
    };
    let graph = json!({
        "nodes": [
            { "op": "null", "name": "input", "inputs": [] },
            node("first", "kelf-a.json", 0),
            {
                "op": "tvm_op", "name": "resize", "inputs": [[1, 0, 0]],
                "attrs": { "func_name": "fused_resize" },
            },
            node("second", "kelf-b.json", 2),
        ],
        "arg_nodes": [0],
        "heads": [[3, 0, 0]],
        "node_row_ptr": [0, 1, 2, 3, 4],
        "attrs": {
            "shape": ["list_shape", [[32], [32], [4, 8], [32]]],
            "storage_id": ["list_int", [0, 1, 2, 3]],
            "dltype": ["list_str", ["float32", "float32", "float16", "float32"]],
        },
    });
    let mut members = sample_members();
    members.retain(|(name, _)| !name.ends_with('/') && *name != "neff.json");
    members.push(("neff.json", graph.to_string().into_bytes()));
    let kelf = members.iter().find(|(name, _)| *name == "kelf-a.json").unwrap().1.clone();
    let kelf = String::from_utf8(kelf).unwrap().replace("sg00", "sg01").into_bytes();
    members.push(("kelf-b.json", kelf));
    let second: Vec<(String, Vec<u8>)> = members
        .iter()
        .filter_map(|(name, body)| Some((name.strip_prefix("sg00/")?, body.clone())))
        .map(|(name, body)| (format!("sg01/{name}"), body))
        .collect();
    let mut entries: Vec<_> = members.iter().map(|(name, body)| file(name, body)).collect();
    entries.extend(second.iter().map(|(name, body)| file(name, body)));
    let bytes = wrap(&tar(&entries));
    let neff = Neff::open(&bytes, &Options::strict()).unwrap();
    let model = verify(&neff, |_, _| ()).unwrap().model;
    assert_eq!(model.node_counts(), (2, 1));
    assert_eq!(model.kelf_member.as_deref(), Some("kelf-a.json"));
    assert_eq!(model.more_kelfs, ["kelf-b.json"]);
    let kelfs: Vec<_> =
        model.subgraphs.iter().map(|sg| (sg.name.as_str(), sg.kelf_member.as_str())).collect();
    assert_eq!(kelfs, [("sg00", "kelf-a.json"), ("sg01", "kelf-b.json")]);
    let tensors = node_tensors(model.graph.as_ref().unwrap(), 2);
    let [input, output] = &tensors[..] else { panic!("{tensors:?}") };
    assert_eq!((input.name.as_str(), input.usage, input.bytes), ("first", Usage::Input, Some(128)));
    assert_eq!((output.name.as_str(), output.usage), ("resize", Usage::Output));
    assert_eq!((output.bytes, output.shape.as_deref()), (Some(64), Some(&[4, 8][..])));
}
