//! Counts the records of a trace as they stream by: per core what was seen,
//! per section what could not be read.

use std::collections::BTreeMap;

use serde::Serialize;

use super::clock::{Calibration, Clock, DeviceTime};
use super::error::{Findings, Rule};
use super::layout::{self, Section, SectionKind};
use super::messages::{BlockType, NotificationTraceType as TraceType, NtffInfo};
use super::notification::{Decoder, DmaStep, KEYS, Layouts, Notification};
use super::record::{self, Record};

/// The arch numbers that are known: 1 Trn1, 2 Trn2 (ntff.md §3.1), and 3 for
/// Trn3, which no real file showed (our choice).
pub const ARCHES: std::ops::RangeInclusive<u64> = 1..=3;

/// What one core did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Core {
    /// Begun instructions of PE, ACT, POOL, DVE, SP.
    pub starts: [u64; 5],
    /// Finished instructions, same order.
    pub ends: [u64; 5],
    /// Explicit records, same order.
    pub explicits: [u64; 5],
    /// Semaphore and event updates in EVENT traces.
    pub updates: u64,
    /// Those made over the bus.
    pub bus_updates: u64,
    /// Those followed by a loss.
    pub lossy_updates: u64,
    /// DMA packets begun.
    pub dma_starts: u64,
    /// DMA packets ended.
    pub dma_ends: u64,
    /// DMA completions.
    pub dma_completions: u64,
    /// Bytes moved, from the ended packets.
    pub dma_bytes: u64,
    /// Other DMA records.
    pub dma_others: u64,
    /// Throttle records.
    pub throttles: u64,
    /// Errors of engines.
    pub faults: u64,
    /// Interrupts and warnings of blocks.
    pub errors: u64,
    /// Records of a kind without a known layout.
    pub unknown: u64,
    /// Smallest time of all records.
    #[serde(rename = "first_ps")]
    pub first: Option<DeviceTime>,
    /// Largest time of all records.
    #[serde(rename = "last_ps")]
    pub last: Option<DeviceTime>,
}

/// What could not be read in one section.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    total: u64,
    blank: u64,
    unknown: u64,
    unexplained: u64,
    untold: u64,
    hardware_loss: u64,
    software_loss: u64,
}

/// Decodes the records of one section and gives them the common time.
#[derive(Debug, Clone)]
pub struct TraceDecoder {
    decoder: Decoder,
    layouts: &'static Layouts,
    trace_type: TraceType,
    topsp: bool,
    /// `None` when ticks are device time already.
    calibration: Option<Calibration>,
}

impl TraceDecoder {
    /// For a section of this file; `None` for programs and for traces of an
    /// unknown type.
    pub fn new(section: &Section, info: &NtffInfo) -> Option<Self> {
        let SectionKind::Trace { trace_type: Ok(trace_type), block_type, .. } = section.kind else {
            return None;
        };
        let calibration = layout::subgraphs(info)
            .find(|graph| graph.nc_idx == section.core)
            .and_then(|graph| graph.timestamp_info.as_ref())
            .map(Calibration::new)
            .filter(|calibration| !calibration.is_identity());
        let decoder = Decoder::new(trace_type, info.arch);
        Some(Self {
            decoder,
            layouts: Layouts::of(decoder),
            trace_type,
            topsp: block_type == Ok(BlockType::Topsp),
            calibration,
        })
    }

    /// Decodes a record.
    #[inline]
    pub fn decode(&self, record: Record) -> Notification {
        self.decoder.decode(record)
    }

    /// When it happened.
    #[inline]
    pub fn time(&self, record: Record, notification: Notification) -> DeviceTime {
        match &self.calibration {
            Some(calibration) => self.clock(calibration, notification).correct(record.time),
            None => DeviceTime::from_ps(record.time.0),
        }
    }

    /// The clock of a record's source.
    #[inline]
    fn clock(&self, calibration: &Calibration, notification: Notification) -> Clock {
        match (self.trace_type, notification) {
            _ if self.topsp => calibration.topsp(),
            (TraceType::Dma, Notification::Dma(dma)) => calibration.dma(dma.engine.into()),
            (TraceType::Throttle, _) => calibration.throttle(),
            (TraceType::Error, _) => calibration.errors(),
            (_, Notification::Start(start)) => calibration.engine(start.engine),
            (_, Notification::End(end)) => calibration.engine(end.engine),
            (_, Notification::Explicit(explicit)) => calibration.engine(explicit.engine),
            _ => calibration.updates(),
        }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Summary {
    cores: BTreeMap<u32, Core>,
    tallies: Vec<(Section, Option<TraceDecoder>, Tally)>,
    /// Where the blob area starts in the file.
    blobs_start: u64,
}

impl Summary {
    /// Nothing seen yet. `blobs_start` is where the blob area starts in the
    /// file, for the findings.
    pub fn new(info: &NtffInfo, sections: &[Section], blobs_start: u64) -> Self {
        let mut cores = BTreeMap::new();
        for graph in layout::subgraphs(info) {
            cores.insert(graph.nc_idx, Core::default());
        }
        let tallies = sections
            .iter()
            .map(|section| (*section, TraceDecoder::new(section, info), Tally::default()))
            .collect();
        Self { cores, tallies, blobs_start }
    }

    /// By core number.
    pub fn cores(&self) -> &BTreeMap<u32, Core> {
        &self.cores
    }

    /// Whole records seen of a section.
    pub fn records(&self, index: usize) -> u64 {
        self.tallies.get(index).map_or(0, |(_, _, tally)| tally.total)
    }

    /// The decoder of a section.
    pub fn decoder(&self, index: usize) -> Option<&TraceDecoder> {
        self.tallies.get(index)?.1.as_ref()
    }

    /// Counts whole records of a section; programs and traces of unknown type
    /// count as nothing.
    pub fn count(&mut self, index: usize, bytes: &[u8]) {
        let Some((section, decoder, tally)) = self.tallies.get_mut(index) else { return };
        let Some(decoder) = decoder else { return };
        let layouts = decoder.layouts;
        let mut keys = [Key::default(); KEYS];
        let (mut first, mut last) = (u64::MAX, 0);
        let (mut unexplained, mut untold, mut software_loss) = (0, 0, 0);
        for record in record::records(bytes) {
            tally.total += 1;
            if record.is_blank() {
                tally.blank += 1;
                continue;
            }
            let key = layouts.key(record.word);
            if let Some(seen) = keys.get_mut(key) {
                seen.count += 1;
                seen.hardware_loss += u64::from(record.hardware_loss());
                seen.payload += record.word & 0xff_ffff;
            }
            unexplained += u64::from(record.word & layouts.reserved(key) != 0);
            software_loss += u64::from(record.software_loss());
            let time = match &decoder.calibration {
                None => record.time.0,
                Some(calibration) => {
                    let clock = decoder.clock(calibration, decoder.decode(record));
                    untold += u64::from(!clock.tells(record.time));
                    clock.correct(record.time).ps()
                }
            };
            first = first.min(time);
            last = last.max(time);
        }
        tally.unexplained += unexplained;
        tally.untold += untold;
        tally.software_loss += software_loss;
        let core = self.cores.entry(section.core).or_default();
        for (key, seen) in keys.iter().enumerate().filter(|(_, seen)| seen.count > 0) {
            tally.hardware_loss += seen.hardware_loss;
            if !core.count(layouts.sample(key), *seen) {
                tally.unknown += seen.count;
            }
            let (first, last) = (DeviceTime::from_ps(first), DeviceTime::from_ps(last));
            core.first = Some(core.first.map_or(first, |known| known.min(first)));
            core.last = core.last.max(Some(last));
        }
    }

    /// What the records themselves tell (ntff.md §10), with the ring sizes of
    /// the file; and what device and times of the message cannot be.
    pub fn report(&self, info: &NtffInfo, findings: &mut Findings) {
        if !ARCHES.contains(&info.arch) {
            findings.push(128, Rule::Arch { arch: info.arch });
        }
        for (index, window) in info.execution_timeline.iter().enumerate() {
            let (start, end) = (window.start, window.end);
            if end < start {
                findings.push(128, Rule::Window { index, start, end });
            }
        }
        for (section, _, tally) in &self.tallies {
            let at = self.blobs_start.saturating_add(section.offset);
            let section_name = || section.to_string();
            let Tally { total, blank, unknown, .. } = *tally;
            if unknown > 0 {
                // Over 5 % of a trace: not a trace that we can read. (The layout
                // of throttle records is unknown on Trn1.)
                let readable = section.trace_type() == Some(TraceType::Throttle);
                let rule = if !readable && unknown.saturating_mul(20) > total {
                    Rule::Undecodable { section: section_name(), count: unknown, total }
                } else {
                    Rule::Reserved { section: section_name(), count: unknown }
                };
                findings.push(at, rule);
            }
            for (count, rule) in [
                (blank, Rule::Blank { section: section_name(), count: blank }),
                (
                    tally.unexplained,
                    Rule::Unexplained { section: section_name(), count: tally.unexplained },
                ),
                (tally.untold, Rule::ClockRange { section: section_name(), count: tally.untold }),
                (
                    tally.hardware_loss,
                    Rule::HardwareLoss { section: section_name(), count: tally.hardware_loss },
                ),
                (
                    tally.software_loss,
                    Rule::SoftwareLoss { section: section_name(), count: tally.software_loss },
                ),
            ] {
                if count > 0 {
                    findings.push(at, rule);
                }
            }
            let SectionKind::Trace { trace_type: Ok(trace), block_type: Ok(block), .. } =
                section.kind
            else {
                continue;
            };
            let full = info.notification_buffer_size.iter().any(|ring| {
                ring.block_type == i32::from(block)
                    && ring.trace_type == i32::from(trace)
                    && ring.buffer_size == section.size
                    && section.size > 0
            });
            if full {
                let size = section.size;
                findings.push(at, Rule::RingFull { section: section_name(), size });
            }
        }
    }
}

/// Records of one key in a chunk.
#[derive(Debug, Clone, Copy, Default)]
struct Key {
    count: u64,
    hardware_loss: u64,
    /// Sum of payload A, which holds the bytes of ended packets.
    payload: u64,
}

impl Core {
    /// Counts records like this one; whether their kind is known.
    fn count(&mut self, sample: Notification, seen: Key) -> bool {
        let count = seen.count;
        let add = |list: &mut [u64; 5], at: usize| {
            if let Some(sum) = list.get_mut(at) {
                *sum += count;
            }
        };
        match sample {
            Notification::Start(start) => add(&mut self.starts, start.engine.index()),
            Notification::End(end) => add(&mut self.ends, end.engine.index()),
            Notification::Explicit(explicit) => add(&mut self.explicits, explicit.engine.index()),
            Notification::Update(update) => {
                self.updates += count;
                self.bus_updates += if update.engine.is_none() { count } else { 0 };
                self.lossy_updates += seen.hardware_loss;
            }
            Notification::Fault(_) => self.faults += count,
            Notification::Error(_) => self.errors += count,
            Notification::Throttle(_) => self.throttles += count,
            Notification::Dma(dma) => match dma.step {
                DmaStep::Start { .. } => self.dma_starts += count,
                DmaStep::End { .. } => {
                    self.dma_ends += count;
                    self.dma_bytes = self.dma_bytes.saturating_add(seen.payload);
                }
                DmaStep::Completion { .. } => self.dma_completions += count,
                DmaStep::AxiRequest { .. } | DmaStep::Apb { .. } => self.dma_others += count,
                DmaStep::Other { .. } => {
                    self.dma_others += count;
                    return false;
                }
            },
            Notification::Unknown { .. } => {
                self.unknown += count;
                return false;
            }
        }
        true
    }
}
