//! Every real NEFF of the fixtures: each number of the fact sheet's table, and
//! no byte left unexplained.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use neuron_core::neff::doc::{
    Definition, Engine, EngineJson, Graph, Info, Kelf, KernelLines, Target, TensorMap,
};
use neuron_core::neff::{
    DebugLayer, DigestForm, Encoding, Member, Mode, Neff, Options, Report, SubgraphDebug, Usage,
    digest, features, verify,
};
use serde_json::Value;
use std::path::PathBuf;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

struct Expected {
    file: &'static str,
    size: usize,
    features: u64,
    lnc: u32,
    members: usize,
    uuid: &'static str,
    slots: &'static [[u64; 5]],
}

const IDLE: [u64; 5] = [2; 5];

#[rustfmt::skip]
const FILES: &[Expected] = &[
    Expected { file: "attn-fused-fp32-512.neff", size: 41984, features: 0xc00, lnc: 2, members: 65,
        uuid: "858910c24e1f4fc783a881c09fb52205", slots: &[[124, 11, 7, 19, 3], IDLE] },
    Expected { file: "attn-fused-bf16-512.neff", size: 41984, features: 0xc00, lnc: 2, members: 67,
        uuid: "dde49a87175a4a58a15258f2942acf29", slots: &[[117, 11, 7, 19, 4], IDLE] },
    Expected { file: "attn-base-bf16-512.neff", size: 41984, features: 0xc00, lnc: 2, members: 67,
        uuid: "630e7739f97c4d40b603ffb553f8ae32", slots: &[[117, 23, 8, 20, 8], IDLE] },
    Expected { file: "attn-fused-fp32-1024.neff", size: 52224, features: 0xc00, lnc: 2, members: 65,
        uuid: "f2de91909d6f4b188030a5d7e544c0eb", slots: &[[470, 36, 7, 60, 3], IDLE] },
    Expected { file: "moe-dge.neff", size: 144384, features: 0xc00, lnc: 2, members: 71,
        uuid: "a8a790d126d347ad866ec1a3ef8e866e", slots: &[[1474, 467, 931, 386, 11], IDLE] },
    Expected { file: "attn-tkg.neff", size: 134144, features: 0xc00, lnc: 2, members: 74,
        uuid: "0ec6131aecd84683b3a8b8f19256750e", slots: &[[781, 149, 338, 667, 26], IDLE] },
    Expected { file: "inspect/neff_171450338541704.neff", size: 205824, features: 0xc00, lnc: 2, members: 71,
        uuid: "f6620188117941679895f416ec8cb9b0", slots: &[[1643, 535, 4749, 388, 11], IDLE] },
    Expected { file: "xla-cache-a.neff", size: 62464, features: 0x9000, lnc: 1, members: 41,
        uuid: "cdbfcde6b4ad4a8fbbd992ea1e450b76", slots: &[[97, 46, 68, 235, 2]] },
    Expected { file: "xla-cache-b.neff", size: 123904, features: 0x9000, lnc: 1, members: 41,
        uuid: "168983601cc04b6786b7378813dd22dd", slots: &[[1180, 98, 535, 793, 2]] },
    Expected { file: "matmul-small.neff", size: 62464, features: 0x20_9c00, lnc: 2, members: 72,
        uuid: "00a04c535fd94f07bffdd5eacdefc852",
        slots: &[[12, 5, 7, 2, 3], [12, 5, 7, 2, 3]] },
];

/// The files are those of their origin: the first 12 digits of their SHA-256.
#[test]
fn files_are_the_original_ones() {
    for (file, sum) in [
        ("attn-fused-fp32-512.neff", "df233a03a1c9"),
        ("attn-fused-bf16-512.neff", "f3428fe33c3c"),
        ("attn-base-bf16-512.neff", "c2a5d1f5197b"),
        ("attn-fused-fp32-1024.neff", "148a8ecbf8ac"),
        ("moe-dge.neff", "853378b51adb"),
        ("attn-tkg.neff", "49895e278555"),
        ("inspect/neff_171450338541704.neff", "c06ce92f521f"),
        ("xla-cache-a.neff", "c78482f33e28"),
        ("xla-cache-b.neff", "5c2c5c2e42bb"),
        ("matmul-small.neff", "5100752fb155"),
    ] {
        let mut hasher = digest::Hasher::for_packager(1);
        hasher.update(&bytes(file));
        let hex: String = hasher.finish().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(&hex[..12], sum, "{file}");
    }
}

#[test]
fn every_number_of_the_table() {
    for expected in FILES {
        let file = bytes(expected.file);
        assert_eq!(file.len(), expected.size, "{}", expected.file);
        let neff = Neff::open(&file, &Options::strict()).unwrap();
        let seen = verify(&neff, |_, _| ()).unwrap();
        let name = expected.file;
        assert_eq!(seen.report.warnings(), [], "{name}");

        let header = &neff.header;
        assert_eq!((header.packager, header.header_size), (2, 1024), "{name}");
        assert_eq!((header.major, header.minor), (2, 0), "{name}");
        assert_eq!(header.feature_bits, expected.features, "{name}");
        assert_eq!(header.lnc_size, expected.lnc, "{name}");
        assert_eq!(header.uuid_hex(), expected.uuid, "{name}");
        assert_eq!(header.build_version_text(), "", "{name}");
        assert_eq!((header.num_tpb, header.requested_tpb), (1, 1), "{name}");
        assert_eq!(header.cores_at_least(), Some(1), "{name}");
        assert_eq!(header.hash[16..], [0; 16], "{name}");
        assert_eq!(seen.digest.form, Some(DigestForm::Swapped), "{name}");
        assert_eq!(neff.members().len(), expected.members, "{name}");

        let model = &seen.model;
        let slots: Vec<[u64; 5]> = model.subgraphs.iter().map(|sg| sg.slots()).collect();
        assert_eq!(slots, expected.slots, "{name}");
        let info = model.info.as_ref().unwrap();
        assert_eq!(info.tool_version.as_deref(), Some("2.23.6484.0+3b612583"), "{name}");
        assert_eq!(info.name.as_deref(), Some(header.name_text().as_str()), "{name}");
        let target = if expected.lnc == 2 { Target::V3 } else { Target::V2 };
        assert_eq!(model.target(), Some(target), "{name}");
        assert_eq!(model.node_counts(), (1, 0), "{name}");
        assert!(model.tensors.iter().all(|tensor| tensor.bytes.is_some()), "{name}");
        // Ten or eleven backend layers, five asm layers, and those of the top level.
        assert!(seen.layers >= 12, "{name}: {}", seen.layers);
    }
}

#[test]
fn every_byte_is_explained() {
    for expected in FILES {
        let name = expected.file;
        let file = bytes(name);
        let neff = Neff::open(&file, &Options::strict()).unwrap();
        assert_eq!(neff.header.to_bytes(), file[..1024], "{name}");
        assert_eq!(neff.payload_range, 1024..file.len(), "{name}");

        // The payload: gzip header, deflate stream, trailer, zeros to 10240.
        let Encoding::Gzip(Some(layout)) = &neff.archive.encoding else {
            panic!("{name} is gzip");
        };
        assert_eq!((layout.header.flags, layout.header.xfl, layout.header.os), (0, 4, 3), "{name}");
        let stored = layout.header.length as u64 + layout.deflate + 8 + layout.padding;
        assert_eq!(stored, neff.header.data_size, "{name}");
        assert_eq!(neff.header.data_size % 10_240, 0, "{name}");

        // The archive: headers, bodies and their padding tile it up to the end.
        let mut at = 0;
        for member in neff.members() {
            let entry = &member.entry;
            assert_eq!((entry.header_at, entry.body_at), (at, at + 512), "{name} {}", entry.name);
            assert_eq!((entry.mode, entry.uid, entry.mtime), (0o664, 1000, 0), "{name}");
            assert_eq!(entry.user, "nobody", "{name}");
            assert_eq!(entry.dialect.name(), "ustar", "{name}");
            at = (entry.body_at + entry.size).next_multiple_of(512);
        }
        assert_eq!(neff.archive.directories, [], "{name}");
        assert_eq!(neff.archive.end_at, at, "{name}");
        assert_eq!(neff.archive.unpacked, at + 1024, "{name}");

        // The members: typed documents hold every key, layers every field,
        // streams are whole slots.
        for member in neff.members() {
            explain(&neff, member, name);
        }
    }
}

fn explain(neff: &Neff<'_>, member: &Member<'_>, file: &str) {
    let name = member.name();
    let body = neff.archive.body(member).unwrap();
    let last = name.rsplit('/').next().unwrap();
    match last {
        "neff.json" => same::<Graph>(name, &body),
        "kelf-0.json" => same::<Kelf>(name, &body),
        "info.json" => same::<Info>(name, &body),
        "def.json" => same::<Definition>(name, &body),
        "tensor_map.json" => same::<TensorMap>(name, &body),
        "PE.json" | "Activation.json" | "Pool.json" | "DVE.json" | "SP.json" => {
            same::<EngineJson>(name, &body);
        }
        "PE.bin" | "Activation.bin" | "Pool.bin" | "DVE.bin" | "SP.bin" => {
            assert_eq!(body.len() % 64, 0, "{file} {name}");
        }
        _ if last.contains(".dbg") => {
            let layer = DebugLayer::parse(name, &body).unwrap();
            assert_eq!(layer.unknown, 0, "{file} {name}");
            assert!(!layer.description.is_empty(), "{file} {name}");
        }
        _ => {}
    }
}

/// The document read into its type and written again is the same document.
fn same<T: serde::Serialize + serde::de::DeserializeOwned>(name: &str, body: &[u8]) {
    let typed: T = serde_json::from_slice(body).unwrap();
    let original: Value = serde_json::from_slice(body).unwrap();
    assert_eq!(serde_json::to_value(&typed).unwrap(), without_nulls(original), "{name}");
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => map
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Value::Array(list) => list.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

#[test]
fn inputs_and_outputs() {
    let file = bytes("attn-fused-fp32-512.neff");
    let neff = Neff::open(&file, &Options::strict()).unwrap();
    let model = verify(&neff, |_, _| ()).unwrap().model;
    let tensors: Vec<_> = model
        .tensors
        .iter()
        .map(|t| (t.name.as_str(), t.usage, t.dtype.as_deref().unwrap(), t.shape.clone().unwrap()))
        .collect();
    assert_eq!(
        tensors,
        [
            ("q_ref", Usage::Input, "float32", vec![128, 512]),
            ("k_ref", Usage::Input, "float32", vec![128, 512]),
            ("v_ref", Usage::Input, "float32", vec![128, 512]),
            ("kernel_out", Usage::Output, "float32", vec![512, 128]),
            ("kernel_out", Usage::Output, "float32", vec![512, 128]),
        ]
    );
    assert!(model.tensors.iter().all(|tensor| tensor.bytes == Some(262_144)));
    let labels = features::labels(neff.header.feature_bits).join(", ");
    assert_eq!(labels, "virtual-core, v3-2x-4x-dve-perf-mode");
    let reservation = &model.subgraphs[0].definition.runtime_statebuffer_reservation;
    assert_eq!(reservation.as_ref().unwrap()[0]["offset"], 0x37ff8);
}

#[test]
fn dma_blocks() {
    let file = bytes("moe-dge.neff");
    let neff = Neff::open(&file, &Options::strict()).unwrap();
    let model = verify(&neff, |_, _| ()).unwrap().model;
    let json = model.subgraphs[0].program(Engine::Pool).unwrap().json.as_ref().unwrap();
    let blocks = json.dma.as_ref().unwrap();
    assert_eq!(blocks.len(), 16);
    assert_eq!(blocks[1].hash_comment.as_deref(), Some("inst.2706-block-1"));
    assert_eq!(blocks[1].desc[0].to_off, Some(256));
    assert_eq!(blocks[1].desc[0].to_bytes(), Some(256));
    let json = model.subgraphs[0].program(Engine::Sp).unwrap().json.as_ref().unwrap();
    assert_eq!(json.dma.as_ref().unwrap().len(), 9);
}

/// Slot to asm layer to backend layer gives the names and ids that the vendor
/// viewer shows, in every row of its exports.
#[test]
fn instruction_names_are_those_of_the_vendor() {
    let table = std::fs::read_to_string(fixture("instruction-names.tsv")).unwrap();
    let mut rows = 0;
    for profile in
        ["attn-fused-fp32-512", "attn-fused-bf16-512", "attn-base-bf16-512", "attn-fused-fp32-1024"]
    {
        let file = bytes(&format!("{profile}.neff"));
        let neff = Neff::open(&file, &Options::strict()).unwrap();
        let model = verify(&neff, |_, _| ()).unwrap().model;
        let mut report = Report::new(Mode::Strict);
        let debug: Vec<SubgraphDebug> = model
            .subgraphs
            .iter()
            .map(|subgraph| SubgraphDebug::read(&neff, subgraph, &mut report).unwrap())
            .collect();
        for line in table.lines().filter(|line| line.split('\t').next() == Some(profile)) {
            let cells: Vec<&str> = line.split('\t').collect();
            let [_, subgraph, engine, slot, name, id, raw] = cells[..] else { panic!("{line}") };
            let subgraph: usize = subgraph.strip_prefix("sg").unwrap().parse().unwrap();
            let engine = Engine::from_key(engine).unwrap();
            let found = debug[subgraph].instruction(engine, slot.parse().unwrap());
            let shown = found.map(|(_, r)| (r.name.clone(), r.id_text(), r.id.to_string()));
            let expected = (name.to_owned(), id.to_owned(), raw.to_owned());
            let empty = || (String::new(), String::new(), String::from("0"));
            assert_eq!(shown.unwrap_or_else(empty), expected, "{line}");
            rows += 1;
        }
    }
    assert_eq!(rows, table.lines().count() - 1);
}

/// Two independent ways to the source line agree: the attributes of the backend
/// layer, and the kernel's own table.
#[test]
fn source_lines_agree() {
    for (file, kernel) in [
        ("xla-cache-a.neff", "testfyc23_d6.klir.debuginfo.json"),
        ("moe-dge.neff", "nki_moe_v6bkakepajm.klir.debuginfo.json"),
    ] {
        let file = bytes(file);
        let neff = Neff::open(&file, &Options::strict()).unwrap();
        let model = verify(&neff, |_, _| ()).unwrap().model;
        let mut report = Report::new(Mode::Strict);
        let body = neff.body(kernel).unwrap().unwrap();
        let tables = KernelLines::parse(kernel, &body, 1 << 24, &mut report).unwrap().unwrap();
        let debug = SubgraphDebug::read(&neff, &model.subgraphs[0], &mut report).unwrap();
        let mut compared = 0;
        for (_, _, layer) in &debug.backend {
            for record in &layer.records {
                let Some(source) = layer.source(record) else { continue };
                let known = tables[0].lines.iter().find(|line| line.instruction == record.name);
                let Some(known) = known.filter(|line| line.line != 0) else { continue };
                assert_eq!(source.line, known.line, "{}", record.name);
                assert_eq!(Some(source.file.as_str()), tables[0].file(known), "{}", record.name);
                compared += 1;
            }
        }
        assert!(compared > 100, "{kernel}: {compared}");
    }
}

/// A lenient reader that holds nothing reads the same bodies.
#[test]
fn bodies_that_were_left_are_read_again() {
    let file = bytes("moe-dge.neff");
    let held = Neff::open(&file, &Options::strict().holding_all()).unwrap();
    let mut options = Options::lenient();
    options.hold = 1000;
    let left = Neff::open(&file, &options).unwrap();
    let mut again = 0;
    for (a, b) in held.members().iter().zip(left.members()) {
        again += usize::from(b.body == neuron_core::neff::Body::Left);
        assert_eq!(held.archive.body(a).unwrap(), left.archive.body(b).unwrap(), "{}", a.name());
        let mut copied = Vec::new();
        left.archive.copy(b, &mut copied).unwrap();
        assert_eq!(copied, *held.archive.body(a).unwrap());
    }
    assert!(again > 10, "{again}");
    let mut bodies = held.members().iter();
    left.archive
        .for_each(|member, body| {
            let expected = held.archive.body(bodies.next().unwrap()).unwrap();
            let mut read = Vec::new();
            body.read_to_end(&mut read)?;
            assert_eq!(read, *expected, "{}", member.name());
            Ok(())
        })
        .unwrap();
    assert!(bodies.next().is_none());
}
