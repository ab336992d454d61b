//! The public worked example of the NEFF sheet (section 10), re-created from
//! its tables, and helpers to bend files.
#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use neuron_core::neff::{Builder, Header, Packing, digest};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The header bytes of section 10.1.
pub(crate) fn sample_header() -> [u8; 1024] {
    let mut out = [0; 1024];
    let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
    put(0x000, &[2]);
    put(0x008, &[0x00, 0x04]);
    put(0x010, &[0xad, 0x06]);
    put(0x018, &[2]);
    put(0x028, b"2.0.21884.0%kaena-tools/develop@6c66f4b");
    put(0x0a8, &[1]);
    #[rustfmt::skip]
    put(0x0ac, &[0x61, 0xb3, 0xca, 0xb2, 0x43, 0x69, 0xb3, 0x26, 0xa2, 0xb3, 0xee, 0x40, 0xa7, 0x44, 0xc7, 0x46]);
    put(0x0bc, &[0x30; 16]);
    #[rustfmt::skip]
    put(0x0cc, &[0x56, 0x18, 0x26, 0xfb, 0x12, 0x5f, 0x4b, 0xb8, 0x99, 0x1c, 0x29, 0xe0, 0x85, 0xc8, 0x94, 0x9a]);
    put(0x0dc, b"x");
    put(0x1dc, &[1]);
    put(0x228, &[1]);
    out
}

fn engine(stem: &str) -> Vec<u8> {
    let name = format!("{stem}_array_json");
    let value = json!({ "dma": [], "instr": format!("{stem}.bin"), "name": name });
    serde_json::to_vec_pretty(&value).unwrap()
}

/// A document of which the sheet knows the content but not every byte: filled
/// with blanks to the published length.
fn filled(value: &Value, length: usize) -> Vec<u8> {
    let mut out = serde_json::to_vec_pretty(value).unwrap();
    assert!(out.len() <= length, "{} of {length}", out.len());
    out.resize(length, b' ');
    out
}

fn transfer(from: &str, to: &str) -> Value {
    json!({
        "from": from, "from_off": 0, "from_sizes": [128, 1], "from_steps": [1, 128],
        "to": to, "to_off": 0, "to_sizes": [128, 1], "to_steps": [1, 128],
    })
}

pub(crate) fn pool_json() -> Vec<u8> {
    let value = json!({
        "dma": [
            { "desc": [transfer("input", "gradient_in")], "id": 0, "queue": "q_gradient_in" },
            { "desc": [transfer("gradient_out", "output")], "id": 0, "queue": "q_gradient_out" },
        ],
        "instr": "pool.bin",
        "name": "pool_array_json",
    });
    serde_json::to_vec_pretty(&value).unwrap()
}

pub(crate) fn pe_bin() -> Vec<u8> {
    let mut out = vec![
        0xc8, 0x10, 0, 0, 0x04, 0x0a, 0x13, 0x16, 0, 0, 0, 0, 0x04, 0x0a, 0, 0, //
        0x03, 0, 0, 0, 0x04, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, //
        0x01,
    ];
    out.resize(64, 0);
    out
}

pub(crate) fn pool_bin() -> Vec<u8> {
    let mut out = vec![0; 192];
    out[0..2].copy_from_slice(&[0xc1, 0x10]);
    out[12..25].copy_from_slice(b"q_gradient_in");
    out[0x40..0x46].copy_from_slice(&[0xc1, 0x10, 0, 0, 0x04, 0x16]);
    out[0x4c..0x5a].copy_from_slice(b"q_gradient_out");
    out[0x80..0x86].copy_from_slice(&[0xa0, 0x10, 0, 0, 0x04, 0x0b]);
    out
}

fn neff_json() -> Value {
    json!({
        "nodes": [
            { "op": "null", "name": "input", "inputs": [], "attrs": { "is_param": "0" } },
            {
                "op": "tvm_op", "name": "sg_tonga0", "inputs": [[0, 0, 0]], "output": "output",
                "attrs": {
                    "func_name": "__kelf", "kelf": "kelf-a.json",
                    "num_inputs": "1", "num_outputs": "1",
                },
            },
        ],
        "arg_nodes": [0],
        "heads": [[1, 0, 0]],
        "node_row_ptr": [0, 1, 2],
        "attrs": {
            "shape": ["list_shape", [[32], [32]]],
            "storage_id": ["list_int", [0, 1]],
            "dltype": ["list_str", ["float32", "float32"]],
        },
    })
}

fn def_json() -> Value {
    json!({
        "act": "act.json", "dve": "dve.json", "pe": "pe.json", "pool": "pool.json", "sp": "sp.json",
        "debug_info": { "wavegraph": "wavegraph-bin.json" },
        "dma_queue": {
            "q_gradient_in": { "owner": "pool", "semaphore": 10, "type": "in" },
            "q_gradient_out": { "owner": "pool", "semaphore": 11, "type": "out" },
        },
        "git_version": "", "name": "definition", "version": "0.6-",
        "replica_groups": [[]],
        "runtime_statebuffer_reservation": [],
        "var": {
            "SB": { "type": "state-buffer", "var_id": 1 },
            "input": {
                "#transfer-type": "input", "type": "input", "size": 128, "element_size": 4,
                "internal_shape": [1, 1, 1, 32], "var_id": 0,
            },
            "output": {
                "#transfer-type": "output", "type": "output", "size": 128, "element_size": 4,
                "internal_shape": [1, 1, 1, 32], "var_id": 2,
                "#file-name": "value_nn__output:0-simout.npy",
            },
            "gradient_in": {
                "#transfer-type": "tmp-buf", "type": "tmp-buf", "size": 128, "var_id": 3,
            },
            "gradient_out": {
                "#transfer-type": "tmp-buf", "type": "tmp-buf", "size": 128, "var_id": 4,
            },
        },
    })
}

/// The members of section 10.2 in its order, `sg00/` being a directory.
pub(crate) fn sample_members() -> Vec<(&'static str, Vec<u8>)> {
    let kelf = json!({
        "graphs": [{ "definition": "sg00/def.json", "name": "sg00" }],
        "version": "0.5", "target": "*",
    });
    let act = json!({
        "act_info": "act_info.json", "act_semaphore": 9, "dma": [], "instr": "act.bin",
        "name": "act_array_json",
    });
    let mut kelf = serde_json::to_vec_pretty(&kelf).unwrap();
    kelf.push(b'\n');
    vec![
        ("kelf-a.json", kelf),
        ("neff.json", compact(&neff_json(), 980)),
        ("sg00/", Vec::new()),
        ("sg00/pe.json", engine("pe")),
        ("sg00/def.json", compact(&def_json(), 1421)),
        ("sg00/pool.bin", pool_bin()),
        ("sg00/sp.asm", Vec::new()),
        ("sg00/pe.bin", pe_bin()),
        ("sg00/dve.json", engine("dve")),
        ("sg00/act.json", filled(&act, 182)),
        ("sg00/dve.bin", Vec::new()),
        ("sg00/dve.asm", Vec::new()),
        ("sg00/act.bin", Vec::new()),
        ("sg00/sp.bin", Vec::new()),
        ("sg00/sp.json", engine("sp")),
        (
            "sg00/pool.asm",
            b"PSEUDO_DMA_TRIGGER q_gradient_in block_id=0;\n\
              PSEUDO_DMA_TRIGGER $S[22]>0 q_gradient_out block_id=0;\n\
              EVENT_SEMAPHORE $S[11]>0;\n"
                .to_vec(),
        ),
        (
            "sg00/pe.asm",
            b"PSEUDO_TRIGGER_COLLECTIVE $S[10]>0 $S[22]++@complete ctype=ALL_REDUCE \
              input_tensor_id=3 output_tensor_id=4 num_elements=32 dtype=fp32 op=ADD group_id=0;\n"
                .to_vec(),
        ),
        ("sg00/pool.json", pool_json()),
        ("sg00/act.asm", Vec::new()),
    ]
}

/// Like [`filled`], for documents whose layout is not published either.
fn compact(value: &Value, length: usize) -> Vec<u8> {
    let pretty = serde_json::to_vec_pretty(value).unwrap();
    let mut out = if pretty.len() <= length { pretty } else { serde_json::to_vec(value).unwrap() };
    assert!(out.len() <= length, "{} of {length}", out.len());
    out.resize(length, b' ');
    out
}

/// The sample packed with our writer.
pub(crate) fn sample(packing: Packing) -> Vec<u8> {
    let mut builder = Builder::with_header(Header::parse(&sample_header()));
    builder.packing = packing;
    for (name, body) in sample_members() {
        if !name.ends_with('/') {
            builder.add(name, body).unwrap();
        }
    }
    let mut out = Vec::new();
    builder.write(&mut out).unwrap();
    out
}

/// A file around any payload: header of the sample, size and digest made to fit.
pub(crate) fn wrap(payload: &[u8]) -> Vec<u8> {
    let mut header = Header::parse(&sample_header());
    header.data_size = payload.len() as u64;
    let mut hasher = digest::Hasher::for_packager(2);
    hasher.update(payload);
    header.hash = digest::field(&hasher.finish(), digest::WRITTEN_FORM);
    let mut out = header.to_bytes().to_vec();
    out.extend_from_slice(payload);
    out
}

/// A tar header block with a right checksum.
pub(crate) fn block(name: &[u8], size: &[u8; 12], kind: u8, magic: &[u8; 8]) -> [u8; 512] {
    let mut out = [0; 512];
    let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name);
    put(100, b"0000644\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, size);
    put(136, b"00000000000\0");
    put(156, &[kind]);
    put(257, magic);
    seal(&mut out);
    out
}

/// Sets the checksum of a header block.
pub(crate) fn seal(block: &mut [u8; 512]) {
    block[148..156].copy_from_slice(b"        ");
    let sum: u32 = block.iter().map(|b| u32::from(*b)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

pub(crate) const USTAR: &[u8; 8] = b"ustar\x0000";
pub(crate) const GNU: &[u8; 8] = b"ustar  \0";
pub(crate) const V7: &[u8; 8] = &[0; 8];

/// The size field of a length.
pub(crate) fn octal(size: usize) -> [u8; 12] {
    format!("{size:011o}\0").into_bytes().try_into().unwrap()
}

/// A tar of entries with their header blocks given, ended by two zero blocks.
pub(crate) fn tar(entries: &[([u8; 512], &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (block, body) in entries {
        out.extend_from_slice(block);
        out.extend_from_slice(body);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.extend_from_slice(&[0; 1024]);
    out
}

/// A plain ustar file entry.
pub(crate) fn file<'b>(name: &str, body: &'b [u8]) -> ([u8; 512], &'b [u8]) {
    (block(name.as_bytes(), &octal(body.len()), b'0', USTAR), body)
}

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles");
    std::fs::read(path.join(name)).unwrap()
}
