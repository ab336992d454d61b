//! A real trace whose execution happens many times over, as bytes that are made
//! when they are read: a trace of any length without a file.

use std::io;
use std::path::PathBuf;

use neuron_core::ntff::messages::NotificationTraceType as TraceType;
use neuron_core::ntff::notification::{Decoder, DmaStep};
use neuron_core::ntff::pairs::Pairs;
use neuron_core::ntff::record::{Record, SIZE};
use neuron_core::ntff::{self, Notification, Reader, SectionKind, Ticks};
use profile_engine::ReadAt;
use prost::Message as _;

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/profiles");
    std::fs::read(root.join(name)).unwrap()
}

/// A run of records that is repeated.
struct Run {
    /// Where it begins in the file.
    start: u64,
    records: Vec<Record>,
}

/// See the module.
pub(crate) struct Repeated {
    /// Header, message and programs.
    front: Vec<u8>,
    runs: Vec<Run>,
    times: u64,
    /// Picoseconds from one execution to the next.
    period: u64,
    /// Instructions and packets that are rows, of one execution.
    pub(crate) rows: [u64; 2],
}

fn wide(value: usize) -> u64 {
    u64::try_from(value).unwrap()
}

impl Repeated {
    /// The capture `name`, its execution `times` over.
    pub(crate) fn new(name: &str, times: u64) -> Self {
        let bytes = fixture(&format!("{name}.ntff"));
        let reader = Reader::new(bytes.as_slice(), ntff::Options::default()).unwrap();
        let blobs = usize::try_from(reader.header().blobs_start()).unwrap();
        let mut info = reader.info().clone();
        let window = info.execution_timeline[0].start..=info.execution_timeline[0].end;
        let period = window.end() - window.start() + 1_000_000;
        let mut groups: Vec<(usize, Vec<Record>)> = Vec::new();
        let mut rows = [0; 2];
        let traces = reader.sections().iter().filter(|s| s.trace_type().is_some());
        for (trace, section) in traces.enumerate() {
            let kind = section.trace_type().unwrap();
            let from = blobs + usize::try_from(section.offset).unwrap();
            let all = &bytes[from..from + usize::try_from(section.size).unwrap()];
            let decoder = Decoder::new(kind, info.arch);
            let records: Vec<Record> =
                all.as_chunks::<SIZE>().0.iter().map(|b| Record::from_bytes(*b)).collect();
            let whole = whole(&records, decoder, &window, &mut rows);
            if kind == TraceType::Dma {
                // One engine after the other, as in a real file.
                for part in whole.chunk_by(|a, b| a.kind() == b.kind()) {
                    groups.push((trace, part.to_vec()));
                }
            } else {
                groups.push((trace, whole));
            }
        }
        let programs: u64 = reader
            .sections()
            .iter()
            .filter(|section| matches!(section.kind, SectionKind::Program { .. }))
            .map(|section| section.size)
            .sum();
        let mut at = programs;
        let mut runs = Vec::new();
        for (trace, message) in info.session_notifications.iter_mut().enumerate() {
            message.offset = at;
            message.size = 0;
            for (of, records) in groups.iter().filter(|(of, _)| *of == trace) {
                assert_eq!(*of, trace);
                let size = wide(records.len() * SIZE) * times;
                if size > 0 {
                    runs.push(Run { start: at, records: records.clone() });
                }
                message.size += size;
                at += size;
            }
        }
        info.execution_timeline[0].end += period * times;
        let message = info.encode_to_vec();
        let mut front = bytes[..128].to_vec();
        front[1..9].copy_from_slice(&wide(message.len()).to_le_bytes());
        front.extend_from_slice(&message);
        let blobs_start = wide(front.len());
        front.extend_from_slice(&bytes[blobs..blobs + usize::try_from(programs).unwrap()]);
        for run in &mut runs {
            run.start += blobs_start;
        }
        Self { front, runs, times, period, rows }
    }
}

/// Records of what is whole inside a window: pairs, and updates.
fn whole(
    records: &[Record],
    decoder: Decoder,
    window: &std::ops::RangeInclusive<u64>,
    rows: &mut [u64; 2],
) -> Vec<Record> {
    let mut keep = vec![false; records.len()];
    let mut open: Pairs<(u8, u32), usize> = Pairs::new(1 << 20);
    for (at, record) in records.iter().enumerate() {
        let inside = |at: usize| window.contains(&records[at].time.0);
        let mut pair = |key, row: &mut u64| {
            if let Some(start) = open.end(&key)
                && inside(start)
                && inside(at)
            {
                (keep[start], keep[at]) = (true, true);
                *row += 1;
            }
        };
        match decoder.decode(*record) {
            Notification::Start(s) => open.begin((s.engine.number(), s.pc), at).unwrap(),
            Notification::End(e) => pair((e.engine.number(), e.pc), &mut rows[0]),
            Notification::Dma(dma) => match dma.step {
                DmaStep::Start { queue, .. } => {
                    open.begin((dma.engine, u32::from(queue)), at).unwrap();
                }
                DmaStep::End { queue, .. } => {
                    pair((dma.engine, u32::from(queue)), &mut rows[1]);
                }
                _ => {}
            },
            Notification::Update(_) => keep[at] = inside(at),
            _ => {}
        }
    }
    records.iter().zip(keep).filter(|(_, keep)| *keep).map(|(record, _)| *record).collect()
}

impl ReadAt for Repeated {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let front = wide(self.front.len());
        if offset < front {
            return self.front[..].read_at(offset, buffer);
        }
        let Some(run) = self.runs.iter().rev().find(|run| run.start <= offset) else {
            return Ok(0);
        };
        let all = wide(run.records.len()) * self.times;
        let first = (offset - run.start) / wide(SIZE);
        assert_eq!((offset - run.start) % wide(SIZE), 0, "the engine reads whole records");
        let mut done = 0;
        for (at, to) in (first..all).zip(buffer.chunks_exact_mut(SIZE)) {
            let len = wide(run.records.len());
            let mut record = run.records[usize::try_from(at % len).unwrap()];
            record.time = Ticks(record.time.0 + at / len * self.period);
            to.copy_from_slice(&record.to_bytes());
            done += SIZE;
        }
        Ok(done)
    }
}
