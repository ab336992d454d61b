//! What the NTFF tests share: fixtures and a whole reading in memory.

#![allow(
    dead_code,
    unreachable_pub,
    missing_debug_implementations,
    reason = "each test file uses a part of it"
)]

use std::path::{Path, PathBuf};

use neuron_core::ntff::error::Findings;
use neuron_core::ntff::messages::{
    NdNodeInfo, NeffNodeInfo, NotificationTraceType as TraceType, NtffInfo, SubgraphInfo,
    TraceInfo, neff_node_info::Node,
};
use neuron_core::ntff::notification::{End, Engine, Start};
use neuron_core::ntff::{DeviceTime, Header, Mode, Options, Reader, Section, Summary, record};
use neuron_core::ntff::{Notification, Record, Ticks, Writer};

/// The seven real traces.
pub const TRACES: [&str; 7] = [
    "attn-fused-fp32-512.ntff",
    "attn-fused-bf16-512.ntff",
    "attn-base-bf16-512.ntff",
    "attn-fused-fp32-1024.ntff",
    "moe-dge.ntff",
    "attn-tkg.ntff",
    "inspect/profile_exec_2.ntff",
];

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profiles").join(name)
}

pub fn bytes(name: &str) -> Vec<u8> {
    let path = fixture(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn options(mode: Mode) -> Options {
    Options { mode, ..Options::default() }
}

/// A file read whole.
pub struct Whole {
    pub header: Header,
    pub info: NtffInfo,
    pub sections: Vec<Section>,
    pub blobs: Vec<Vec<u8>>,
    pub summary: Summary,
    pub findings: Findings,
    pub position: u64,
}

/// Something that happened.
#[derive(Debug, Clone, Copy)]
pub struct Event {
    pub core: u32,
    pub time: DeviceTime,
    pub notification: Notification,
    pub record: Record,
}

impl Whole {
    pub fn read(data: &[u8], mode: Mode) -> Self {
        let mut reader = Reader::new(data, options(mode)).unwrap();
        let sections = reader.sections().to_vec();
        let mut summary = Summary::new(reader.info(), &sections, reader.header().blobs_start());
        let mut blobs = vec![Vec::new(); sections.len()];
        while let Some(chunk) = reader.next_chunk().unwrap() {
            summary.count(chunk.index, chunk.bytes);
            assert_eq!(blobs[chunk.index].len() as u64, chunk.offset);
            blobs[chunk.index].extend_from_slice(chunk.bytes);
        }
        let mut findings = reader.findings().clone();
        summary.report(reader.info(), &mut findings);
        Self {
            header: reader.header(),
            info: reader.info().clone(),
            sections,
            blobs,
            summary,
            findings,
            position: reader.position(),
        }
    }

    /// Every record of every trace.
    pub fn events(&self) -> impl Iterator<Item = Event> + '_ {
        self.sections.iter().zip(&self.blobs).enumerate().flat_map(
            move |(index, (section, blob))| {
                record::records(blob).filter_map(move |record| {
                    let decoder = self.summary.decoder(index)?;
                    let notification = decoder.decode(record);
                    let time = decoder.time(record, notification);
                    Some(Event { core: section.core, time, notification, record })
                })
            },
        )
    }
}

/// Two traces of one core: four instruction records, then two.
pub fn small() -> Vec<u8> {
    let trace = |kind: TraceType, size| TraceInfo {
        trace_type: kind.into(),
        size,
        nc_idx: 4,
        ..TraceInfo::default()
    };
    let graph = SubgraphInfo { name: "sg00".into(), nc_idx: 4, ..SubgraphInfo::default() };
    let node = Node::NdNode(NdNodeInfo { graphs: vec![graph] });
    let info = NtffInfo {
        neff_name: "file.neff".into(),
        arch: 2,
        neff_nodes: vec![NeffNodeInfo { node: Some(node), ..NeffNodeInfo::default() }],
        session_notifications: vec![trace(TraceType::Instruction, 64), trace(TraceType::Event, 32)],
        ..NtffInfo::default()
    };
    let mut writer = Writer::new(Vec::new(), 6, info).unwrap();
    for n in 0..6_u64 {
        let pc = u32::try_from(n / 2).unwrap();
        let engine = Engine::Act;
        let notification = if n % 2 == 0 {
            Notification::Start(Start { engine, pc, hint: 0, soft_reset: 0, wait_cycles: 9 })
        } else {
            Notification::End(End { engine, pc, hint: 0, crc_in: 1, crc_out: 2 })
        };
        writer.record(notification.encode(Ticks(1000 + n))).unwrap();
    }
    writer.finish().unwrap()
}

/// A file of form 6.
pub fn assemble(message: &[u8], blobs: &[u8]) -> Vec<u8> {
    let header = Header { form: 6, message_size: message.len() as u64 };
    [&header.to_bytes(), message, blobs].concat()
}
