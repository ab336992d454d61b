//! What the NTFF tests share: fixtures and a whole reading in memory.

#![allow(
    dead_code,
    unreachable_pub,
    missing_debug_implementations,
    reason = "each test file uses a part of it"
)]

use std::path::{Path, PathBuf};

use neuron_core::ntff::error::Findings;
use neuron_core::ntff::messages::NtffInfo;
use neuron_core::ntff::{DeviceTime, Header, Mode, Options, Reader, Section, Summary, record};
use neuron_core::ntff::{Notification, Record};

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
