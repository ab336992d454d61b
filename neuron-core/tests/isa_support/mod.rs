//! Instruction streams of real files, read with as little as will do: a NEFF
//! is a tar behind 1024 bytes (neff.md §1), an NTFF a protobuf and blobs
//! (ntff.md §2). The readers of the product are tested elsewhere.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests stop at the first surprise"
)]
#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

use std::collections::HashMap;
use std::io::Read as _;
use std::path::PathBuf;

use neuron_core::instance::Arch;
use neuron_core::isa::names::SemaphoreNames;
use neuron_core::isa::{Engine, Record, decode_stream};
use serde_json::Value;

/// Every NEFF of the fixtures.
pub const NEFFS: [&str; 10] = [
    "attn-base-bf16-512",
    "attn-fused-bf16-512",
    "attn-fused-fp32-512",
    "attn-fused-fp32-1024",
    "attn-tkg",
    "matmul-small",
    "moe-dge",
    "xla-cache-a",
    "xla-cache-b",
    "inspect/neff_171450338541704",
];

/// NEFFs with a trace and a vendor export of it.
pub const EXPORTED: [&str; 4] =
    ["attn-base-bf16-512", "attn-fused-bf16-512", "attn-fused-fp32-512", "attn-fused-fp32-1024"];

/// Traces, which hold the images that the runtime loaded.
pub const NTFFS: [&str; 7] = [
    "attn-base-bf16-512",
    "attn-fused-bf16-512",
    "attn-fused-fp32-512",
    "attn-fused-fp32-1024",
    "attn-tkg",
    "moe-dge",
    "inspect/profile_exec_2",
];

pub struct Stream {
    pub subgraph: String,
    pub engine: Engine,
    pub bytes: Vec<u8>,
    /// Queue, id and completion semaphore of each DMA block.
    pub blocks: Vec<(String, u64, u8)>,
}

pub struct Program {
    pub arch: Arch,
    pub streams: Vec<Stream>,
}

pub fn fixture(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles");
    std::fs::read(root.join(name)).unwrap()
}

pub fn json(name: &str) -> Value {
    serde_json::from_slice(&fixture(name)).unwrap()
}

pub fn neff(name: &str) -> Program {
    let file = fixture(&format!("{name}.neff"));
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&file[1024..]));
    let mut members = HashMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().display().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        members.insert(path, bytes);
    }
    let parse = |path: &str| -> Value { serde_json::from_slice(&members[path]).unwrap() };
    let kelf = parse("kelf-0.json");
    let arch = match kelf["target"].as_str().unwrap() {
        "sunda" => Arch::V2,
        "cayman" => Arch::V3,
        other => panic!("target {other}"),
    };
    let mut streams = Vec::new();
    for graph in kelf["graphs"].as_array().unwrap() {
        let subgraph = graph["name"].as_str().unwrap();
        let definition = parse(graph["definition"].as_str().unwrap());
        for engine in Engine::ALL {
            let member = |key: String| format!("{subgraph}/{}", definition[&key].as_str().unwrap());
            let engine_json = parse(&member(engine.key().to_owned()));
            let blocks = engine_json["dma"].as_array().unwrap().iter().filter_map(|block| {
                let semaphore = u8::try_from(block["semaphore"].as_u64()?).ok()?;
                Some((block["queue"].as_str()?.to_owned(), block["id"].as_u64()?, semaphore))
            });
            streams.push(Stream {
                subgraph: subgraph.to_owned(),
                engine,
                bytes: members[&member(format!("{}_instr", engine.key()))].clone(),
                blocks: blocks.collect(),
            });
        }
    }
    Program { arch, streams }
}

/// The images of a trace, by sub-graph and engine.
pub fn images(name: &str) -> Vec<(String, Engine, Vec<u8>)> {
    let file = fixture(&format!("{name}.ntff"));
    let size = usize::try_from(u64::from_le_bytes(file[1..9].try_into().unwrap())).unwrap();
    let (message, blobs) = file[128..].split_at(size);
    let mut images = Vec::new();
    for node in fields(message).filter(|f| f.0 == 4) {
        for graphs in fields(node.2).filter(|f| f.0 == 4) {
            for graph in fields(graphs.2).filter(|f| f.0 == 1) {
                let text = |f: (u64, u64, &[u8])| String::from_utf8(f.2.to_vec()).unwrap();
                let subgraph = fields(graph.2).find(|f| f.0 == 1).map(text).unwrap();
                for block in fields(graph.2).filter(|f| f.0 == 4) {
                    let number =
                        |wanted| fields(block.2).find(|f| f.0 == wanted).map_or(0, |f| f.1);
                    let engine = Engine::from_number(u8::try_from(number(1)).unwrap()).unwrap();
                    let start = usize::try_from(number(7)).unwrap();
                    let end = start + usize::try_from(number(8)).unwrap();
                    images.push((subgraph.clone(), engine, blobs[start..end].to_vec()));
                }
            }
        }
    }
    images
}

/// Fields of a protobuf message: number, varint value, bytes.
fn fields(message: &[u8]) -> impl Iterator<Item = (u64, u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (first, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                break;
            }
        }
        value
    }
    let mut rest = message;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let tag = varint(&mut rest);
        let (value, size) = match tag & 7 {
            0 => (varint(&mut rest), 0),
            1 => (0, 8),
            2 => (0, usize::try_from(varint(&mut rest)).unwrap()),
            5 => (0, 4),
            other => panic!("wire type {other}"),
        };
        let (bytes, after) = rest.split_at(size);
        rest = after;
        Some((tag >> 3, value, bytes))
    })
}

impl Stream {
    pub fn records(&self, arch: Arch) -> Vec<Record> {
        decode_stream(arch, &self.bytes).unwrap()
    }
}

impl Program {
    /// Names of the semaphores of one sub-graph, as the viewer knows them
    /// from the NEFF.
    pub fn names(&self, subgraph: &str) -> SemaphoreNames {
        let mut names = SemaphoreNames::none();
        for stream in self.streams.iter().filter(|stream| stream.subgraph == subgraph) {
            names.add_stream(stream.engine, &stream.records(self.arch));
            for (queue, _, semaphore) in &stream.blocks {
                names.add_queue(*semaphore, queue);
            }
        }
        names
    }
}

/// Byte runs of instructions, for the benches.
pub fn all_streams() -> Vec<(Arch, Vec<u8>)> {
    NEFFS
        .iter()
        .flat_map(|name| {
            let program = neff(name);
            program.streams.into_iter().map(move |stream| (program.arch, stream.bytes))
        })
        .collect()
}
