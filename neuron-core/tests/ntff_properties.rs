//! Properties over generated files, and the fuzz functions over random and
//! over damaged real bytes.

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

use std::io::Read;

use neuron_core::ntff::messages::{
    EngineInstructionInfo, NdNodeInfo, NeffNodeInfo, NtffInfo, SubgraphInfo, TraceInfo,
    neff_node_info::Node,
};
use neuron_core::ntff::{Mode, Reader, Ticks, Writer, fuzz, record};
use ntff_support::{bytes, options};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// A file as generated: a message and the bytes of its blobs in order.
#[derive(Debug, Clone)]
struct File {
    form: u8,
    info: NtffInfo,
    blobs: Vec<u8>,
}

prop_compose! {
    fn program()(engine in 0..5_i32, address: u64, slots in 0..9_u64, inline in vec(any::<u8>(), 0..65))
        -> EngineInstructionInfo {
        EngineInstructionInfo {
            nc_engine_type: engine,
            start_address: address,
            instructions_size: if inline.is_empty() { slots * 64 } else { 0 },
            instructions: inline,
            ..EngineInstructionInfo::default()
        }
    }
}

prop_compose! {
    fn trace()(trace_type in 0..7_i32, block_type in 0..4_i32, block_index in 0..3_u32,
               records in 0..400_u64, nc_idx in 0..3_u32) -> TraceInfo {
        let size = records * 16;
        TraceInfo { trace_type, block_type, block_index, size, nc_idx, ..TraceInfo::default() }
    }
}

prop_compose! {
    fn graph()(name in "[a-z]{0,9}", nc_idx: u32, programs in vec(program(), 0..4),
               traces in vec(trace(), 0..4), exec_duration: u64) -> SubgraphInfo {
        let instruction_info = programs;
        SubgraphInfo {
            name, nc_idx, instruction_info, traces, exec_duration, ..SubgraphInfo::default()
        }
    }
}

prop_compose! {
    fn file()(form in 4..7_u8, graphs in vec(graph(), 0..3), session in vec(trace(), 0..9),
              arch in 1..3_u64, seed: u64) -> File {
        let node = Node::NdNode(NdNodeInfo { graphs });
        let info = NtffInfo {
            arch,
            neff_nodes: vec![NeffNodeInfo { node: Some(node), ..NeffNodeInfo::default() }],
            session_notifications: session,
            ..NtffInfo::default()
        };
        let sections = neuron_core::ntff::layout::sections(&info);
        let size: u64 = sections.iter().map(|section| section.size).sum();
        let mut state = seed | 1;
        let blobs = (0..size)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 32) as u8
            })
            .collect();
        File { form, info, blobs }
    }
}

impl File {
    fn write(&self) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), self.form, self.info.clone()).unwrap();
        writer.bytes(&self.blobs).unwrap();
        writer.finish().unwrap()
    }
}

/// Gives at most `step` bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let count = to.len().min(self.1).min(self.0.len());
        let (now, rest) = self.0.split_at(count);
        to[..count].copy_from_slice(now);
        self.0 = rest;
        Ok(count)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Written, read however slowly, written again: the same bytes.
    #[test]
    fn write_read_write(file in file(), step in 1..5000_usize) {
        let first = file.write();
        let mut reader = Reader::new(Slow(&first, step), options(Mode::Strict)).unwrap();
        let mut blobs = vec![Vec::new(); reader.sections().len()];
        while let Some(chunk) = reader.next_chunk().unwrap() {
            prop_assert_eq!(blobs[chunk.index].len() as u64, chunk.offset);
            blobs[chunk.index].extend_from_slice(chunk.bytes);
        }
        prop_assert_eq!(reader.position(), first.len() as u64);
        prop_assert_eq!(reader.expected_size(), first.len() as u64);
        prop_assert!(reader.findings().list().0.is_empty());
        prop_assert_eq!(&blobs.concat(), &file.blobs);
        let again = File { form: reader.header().form, info: reader.info().clone(), blobs: blobs.concat() };
        prop_assert!(again.write() == first);
    }

    /// Cut anywhere, exactly the whole entries before the cut are kept.
    #[test]
    fn what_is_whole_is_kept(file in file(), cut in any::<Index>()) {
        let data = file.write();
        let start = data.len() - file.blobs.len();
        let cut = start + cut.index(file.blobs.len() + 1);
        let mut reader = Reader::new(&data[..cut], options(Mode::Lenient)).unwrap();
        let mut kept = vec![0; reader.sections().len()];
        while let Some(chunk) = reader.next_chunk().unwrap() {
            kept[chunk.index] += chunk.bytes.len() as u64;
        }
        for (section, kept) in reader.sections().iter().zip(kept) {
            let there = ((cut - start) as u64).saturating_sub(section.offset).min(section.size);
            prop_assert_eq!(kept, there / section.unit() * section.unit());
        }
        prop_assert_eq!(reader.findings().damaged(), cut < data.len());
    }

    #[test]
    fn any_bytes(data in vec(any::<u8>(), 0..3000)) {
        for (_, target) in fuzz::TARGETS {
            target(&data);
        }
    }

    /// Real messages and frames with a few bytes changed.
    #[test]
    fn damaged_real_bytes(changes in vec((any::<Index>(), any::<u8>()), 1..6)) {
        let damage = |mut data: Vec<u8>| {
            for (at, value) in &changes {
                let at = at.index(data.len());
                data[at] = *value;
            }
            data
        };
        let file = bytes("attn-fused-fp32-512.ntff");
        fuzz::container(&damage(file[..3288].to_vec()));
        fuzz::message(&damage(file[128..3288].to_vec()));
        fuzz::records(&damage(file[3288 + 56384..3288 + 58000].to_vec()));
        fuzz::inspect(&damage(bytes("inspect/trace_info.pb")));
        fuzz::inspect(&damage(bytes("inspect/ntrace.pb")[..3000].to_vec()));
    }

    /// Every generated file under every target.
    #[test]
    fn generated_files(file in file()) {
        fuzz::container(&file.write());
    }
}

/// The iterator gives whole records only.
#[test]
fn records_of_odd_pieces() {
    assert_eq!(record::records(&[1; 47]).len(), 2);
    assert_eq!(record::records(&[1; 15]).len(), 0);
    let first = record::records(&[1; 16]).next().unwrap();
    assert_eq!(first.time, Ticks(0x0101_0101_0101_0101));
}

/// Frames of nothing but default values: more in a row than empty frames may be.
#[test]
fn frames_of_defaults_in_a_row() {
    fuzz::inspect(&[2, 0, 0, 0, 0x08, 0].repeat(40));
}
