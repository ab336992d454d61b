//! A trace of any length: the execution of a real one many times over, each
//! stretched by another factor and with other data, so that no two are alike.
//!
//! Times within an execution are multiplied by 0.9 to 1.1, for all sections
//! alike, so that what belongs together stays so. Hashes of data that are not
//! off are drawn anew. The rest, programs and order of instructions, is real.

use std::fs::File;
use std::io::{BufWriter, Write as _};

use neuron_core::ntff::messages::NotificationTraceType as TraceType;
use neuron_core::ntff::notification::{Decoder, DmaStep};
use neuron_core::ntff::pairs::Pairs;
use neuron_core::ntff::record::{Record, SIZE};
use neuron_core::ntff::{self, Notification, Reader, SectionKind, Ticks};
use prost::Message as _;
use serde_json::{Value, json};

/// A run of records that is repeated; times are from the start of an execution.
struct Run {
    records: Vec<(Record, Hashes)>,
}

/// Which halves of the upper word of a record are hashes of data.
type Hashes = [bool; 2];

fn hashes(decoder: Decoder, record: Record) -> Hashes {
    match decoder.decode(record) {
        Notification::End(end) => [end.crc_in != u16::MAX, end.crc_out != u16::MAX],
        Notification::Dma(dma) => [false, matches!(dma.step, DmaStep::End { .. })],
        _ => [false, false],
    }
}

/// A number that only depends on its argument.
fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Begin of execution `at` and its factor, in thousandths.
fn starts(times: u64, length: u64) -> Vec<(u64, u64)> {
    let mut begin = 0;
    (0..times)
        .map(|at| {
            let factor = 900 + mix(at + 1) % 201;
            let here = begin;
            begin += length * factor / 1000 + 1_000_000;
            (here, factor)
        })
        .collect()
}

/// A time within an execution, on the grid of the device's clock: 850 MHz for
/// packets, of which the steps of 1,176 ps in real traces tell.
fn stretched(ps: u64, factor: u64) -> u64 {
    let ticks = (ps * factor / 1000 * 17).div_ceil(20_000);
    ticks * 20_000 / 17
}

pub(crate) fn make(capture: &str, events: u64, file: &str) -> Value {
    let bytes = std::fs::read(format!("{capture}.ntff")).unwrap();
    let reader = Reader::new(bytes.as_slice(), ntff::Options::default()).unwrap();
    let blobs = usize::try_from(reader.header().blobs_start()).unwrap();
    let mut info = reader.info().clone();
    let window = info.execution_timeline[0].start..=info.execution_timeline[0].end;
    let mut groups: Vec<(usize, Run)> = Vec::new();
    let mut rows = 0;
    let traces = reader.sections().iter().filter(|s| s.trace_type().is_some());
    for (trace, section) in traces.enumerate() {
        let kind = section.trace_type().unwrap();
        let from = blobs + usize::try_from(section.offset).unwrap();
        let all = &bytes[from..from + usize::try_from(section.size).unwrap()];
        let decoder = Decoder::new(kind, info.arch);
        let records: Vec<Record> =
            all.as_chunks::<SIZE>().0.iter().map(|b| Record::from_bytes(*b)).collect();
        let mut whole = whole(&records, decoder, &window, &mut rows);
        for record in &mut whole {
            record.time = Ticks(record.time.0 - window.start());
        }
        let marked = |records: &[Record]| {
            records.iter().map(|record| (*record, hashes(decoder, *record))).collect()
        };
        if kind == TraceType::Dma {
            // One engine after the other, as in a real file.
            for part in whole.chunk_by(|a, b| a.kind() == b.kind()) {
                groups.push((trace, Run { records: marked(part) }));
            }
        } else {
            groups.push((trace, Run { records: marked(&whole) }));
        }
    }
    let times = events.div_ceil(rows);
    let starts = starts(times, window.end() - window.start());
    let programs: u64 = reader
        .sections()
        .iter()
        .filter(|section| matches!(section.kind, SectionKind::Program { .. }))
        .map(|section| section.size)
        .sum();
    let mut at = programs;
    for (trace, message) in info.session_notifications.iter_mut().enumerate() {
        message.offset = at;
        message.size = groups
            .iter()
            .filter(|(of, _)| *of == trace)
            .map(|(_, run)| (run.records.len() * SIZE) as u64 * times)
            .sum();
        at += message.size;
    }
    let (last, factor) = starts[starts.len() - 1];
    let length = last + (window.end() - window.start()) * factor / 1000 + 1_000_000;
    info.execution_timeline[0].end = window.start() + length;
    let message = info.encode_to_vec();
    let mut front = bytes[..128].to_vec();
    front[1..9].copy_from_slice(&(message.len() as u64).to_le_bytes());
    front.extend_from_slice(&message);
    front.extend_from_slice(&bytes[blobs..blobs + usize::try_from(programs).unwrap()]);
    let mut out = BufWriter::with_capacity(1 << 20, File::create(file).unwrap());
    out.write_all(&front).unwrap();
    let mut drawn = 0;
    for (_, run) in &groups {
        for (begin, factor) in &starts {
            for (record, hashes) in &run.records {
                let mut record = *record;
                record.time = Ticks(window.start() + begin + stretched(record.time.0, *factor));
                for (half, _) in hashes.iter().enumerate().filter(|(_, hash)| **hash) {
                    drawn += 1;
                    let shift = 32 + 16 * half;
                    // 65535 stands for a hash that is off.
                    let hash = mix(drawn) % 0xffff;
                    record.word = (record.word & !(0xffff << shift)) | (hash << shift);
                }
                out.write_all(&record.to_bytes()).unwrap();
            }
        }
    }
    out.flush().unwrap();
    let size = std::fs::metadata(file).unwrap().len();
    json!({ "events": rows * times, "executions": times, "bytes": size, "length_ps": length })
}

/// Records of what is whole inside a window: pairs, and updates.
fn whole(
    records: &[Record],
    decoder: Decoder,
    window: &std::ops::RangeInclusive<u64>,
    rows: &mut u64,
) -> Vec<Record> {
    let mut keep = vec![false; records.len()];
    let mut open: Pairs<(u8, u32), usize> = Pairs::new(1 << 20);
    for (at, record) in records.iter().enumerate() {
        let inside = |at: usize| window.contains(&records[at].time.0);
        let mut pair = |key| {
            if let Some(start) = open.end(&key)
                && inside(start)
                && inside(at)
            {
                (keep[start], keep[at]) = (true, true);
                *rows += 1;
            }
        };
        match decoder.decode(*record) {
            Notification::Start(s) => open.begin((s.engine.number(), s.pc), at).unwrap(),
            Notification::End(e) => pair((e.engine.number(), e.pc)),
            Notification::Dma(dma) => match dma.step {
                DmaStep::Start { queue, .. } => {
                    open.begin((dma.engine, u32::from(queue)), at).unwrap();
                }
                DmaStep::End { queue, .. } => pair((dma.engine, u32::from(queue))),
                _ => {}
            },
            Notification::Update(_) => keep[at] = inside(at),
            _ => {}
        }
    }
    records.iter().zip(keep).filter(|(_, keep)| *keep).map(|(record, _)| *record).collect()
}
