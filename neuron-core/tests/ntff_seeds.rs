//! The seeds of the fuzz targets are cut from the fixtures, and every one of
//! them passes its target. `NTFF_REGENERATE=1` writes them anew.

#![cfg(feature = "ntff")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

mod ntff_support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use neuron_core::ntff::layout::{self, SLOT};
use neuron_core::ntff::{Mode, SectionKind, Writer, fuzz};
use ntff_support::{Whole, bytes};

const FILE: &str = "moe-dge.ntff";

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds")
}

/// The real file with at most `keep` entries in each blob and four DMA rings.
fn short(keep: u64) -> Vec<u8> {
    let whole = Whole::read(&bytes(FILE), Mode::Strict);
    let mut info = whole.info.clone();
    if let Some(neuron_core::ntff::messages::neff_node_info::Node::NdNode(node)) =
        &mut info.neff_nodes[0].node
    {
        for graph in &mut node.graphs {
            graph.dma_queue_usage.truncate(4);
            for program in &mut graph.instruction_info {
                program.instructions_size = program.instructions_size.min(keep * SLOT);
            }
        }
    }
    for trace in &mut info.session_notifications {
        trace.size = trace.size.min(keep * 16);
    }
    let sizes: Vec<u64> = layout::sections(&info).iter().map(|section| section.size).collect();
    let mut writer = Writer::new(Vec::new(), 6, info).unwrap();
    for (blob, size) in whole.blobs.iter().zip(sizes) {
        writer.bytes(&blob[..usize::try_from(size).unwrap()]).unwrap();
    }
    writer.finish().unwrap()
}

fn seeds() -> BTreeMap<PathBuf, Vec<u8>> {
    let file = bytes(FILE);
    let container = short(2);
    let whole = Whole::read(&container, Mode::Strict);
    let message = container[128..usize::try_from(whole.header.blobs_start()).unwrap()].to_vec();
    let mut records = Vec::new();
    let all = Whole::read(&bytes("attn-fused-bf16-512.ntff"), Mode::Strict);
    for (section, blob) in all.sections.iter().zip(&all.blobs) {
        if matches!(section.kind, SectionKind::Trace { .. }) {
            records.extend_from_slice(&blob[..blob.len().min(256)]);
        }
    }
    let inspect = |name: &str, size: usize| {
        let data = bytes(&format!("inspect/{name}"));
        data[..data.len().min(size)].to_vec()
    };
    BTreeMap::from([
        ("ntff-header/real".into(), file[..128].to_vec()),
        ("ntff-message/real".into(), message),
        ("ntff-container/real".into(), container),
        ("ntff-records/real".into(), records),
        // Whole frames: 1 of an event, 12 CPUs, 3 of memory.
        ("ntff-inspect/event".into(), inspect("ntrace.pb", 83)),
        ("ntff-inspect/events-cut".into(), inspect("ntrace.pb", 2500)),
        ("ntff-inspect/cpu".into(), inspect("cpu_util.pb", 300)),
        ("ntff-inspect/memory".into(), inspect("host_mem.pb", 60)),
        ("ntff-inspect/run".into(), inspect("trace_info.pb", 4096)),
    ])
}

#[test]
fn seeds_are_current_and_pass() {
    for (name, wanted) in seeds() {
        let path = home().join(&name);
        if std::env::var_os("NTFF_REGENERATE").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &wanted).unwrap();
        }
        let found = std::fs::read(&path).unwrap_or_default();
        assert!(found == wanted, "{} is stale: run with NTFF_REGENERATE=1", name.display());
    }
    // Those that fuzzing added are run as well.
    let mut count = 0;
    for (name, target) in fuzz::TARGETS {
        for entry in std::fs::read_dir(home().join(format!("ntff-{name}"))).unwrap() {
            target(&std::fs::read(entry.unwrap().path()).unwrap());
            count += 1;
        }
    }
    assert!(count >= 9);
}
