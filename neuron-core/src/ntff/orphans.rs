//! Ends without a beginning (ntff.md §7.3, §10): a sign that a ring was full
//! and its oldest records are missing.
//!
//! Only the number of open beginnings per program counter or queue is needed,
//! so they are counted in tables of fixed size: 20 MiB at most for a trace
//! that touches every program counter, some KiB for a real one.

use super::Notification;
use super::error::{Findings, Rule};
use super::layout::Section;
use super::notification::{DmaStep, PC_MASK};

/// Program counters in a page of the table.
const PAGE: usize = 1024;

/// DMA engines modulo 32 times queues.
const QUEUES: usize = 32 * 16;

/// Pairs the records of one trace.
#[derive(Debug)]
pub struct Orphans {
    /// Open starts by engine and program counter; pages are made when touched.
    pages: Vec<Option<Box<[u32; PAGE]>>>,
    packets: [u32; QUEUES],
    completions: [u32; QUEUES],
    open: u64,
    ends: u64,
    packet_ends: u64,
}

impl Default for Orphans {
    fn default() -> Self {
        Self {
            pages: Vec::new(),
            packets: [0; QUEUES],
            completions: [0; QUEUES],
            open: 0,
            ends: 0,
            packet_ends: 0,
        }
    }
}

/// Takes one from a count; whether there was one.
fn take(count: Option<&mut u32>) -> bool {
    count.is_some_and(|count| {
        let some = *count > 0;
        *count = count.saturating_sub(1);
        some
    })
}

fn put(count: Option<&mut u32>) {
    if let Some(count) = count {
        *count = count.saturating_add(1);
    }
}

impl Orphans {
    /// The next record of the trace.
    #[inline]
    pub fn see(&mut self, notification: Notification) {
        match notification {
            Notification::Start(start) => {
                put(self.place(start.engine.index(), start.pc));
                self.open += 1;
            }
            Notification::End(end) => {
                if take(self.place(end.engine.index(), end.pc)) {
                    self.open -= 1;
                } else {
                    self.ends += 1;
                }
            }
            Notification::Dma(dma) => match dma.step {
                DmaStep::Start { queue, .. } => {
                    put(self.packets.get_mut(lane(dma.engine, queue)));
                    put(self.completions.get_mut(lane(dma.engine, queue)));
                }
                DmaStep::End { queue, .. } => {
                    let found = take(self.packets.get_mut(lane(dma.engine, queue)));
                    self.packet_ends += u64::from(!found);
                }
                DmaStep::Completion { queue, .. } => {
                    let found = take(self.completions.get_mut(lane(dma.engine, queue)));
                    self.packet_ends += u64::from(!found);
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn place(&mut self, engine: usize, pc: u32) -> Option<&mut u32> {
        if self.pages.is_empty() {
            self.pages.resize_with(5 * (1 << 20) / PAGE, || None);
        }
        let at = (engine << 20) | usize::try_from(pc & PC_MASK).ok()?;
        let page = self.pages.get_mut(at / PAGE)?.get_or_insert_with(|| Box::new([0; PAGE]));
        page.get_mut(at % PAGE)
    }

    /// Starts that have no end. One of PE per core is normal.
    pub fn open(&self) -> u64 {
        self.open
    }

    /// Adds what was found in the section that was seen.
    pub fn report(&self, section: &Section, blobs_start: u64, findings: &mut Findings) {
        let at = blobs_start.saturating_add(section.offset);
        let section = section.to_string();
        if self.ends > 0 {
            let rule = Rule::OrphanEnds { section: section.clone(), count: self.ends };
            findings.push(at, rule);
        }
        if self.packet_ends > 0 {
            findings.push(at, Rule::OrphanPackets { section, count: self.packet_ends });
        }
    }
}

fn lane(engine: u8, queue: u8) -> usize {
    usize::from(engine & 31) * 16 + usize::from(queue & 15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ntff::notification::{Direction, Dma, End, Engine, Start};
    use crate::ntff::{SectionKind, messages};

    #[test]
    fn ends_without_a_start_are_counted() {
        let start = |pc| {
            let engine = Engine::Sp;
            Notification::Start(Start { engine, pc, hint: 0, soft_reset: 0, wait_cycles: 0 })
        };
        let end = |pc| {
            let engine = Engine::Sp;
            Notification::End(End { engine, pc, hint: 0, crc_in: 0, crc_out: 0 })
        };
        let completion = DmaStep::Completion { direction: Direction::Write, queue: 3 };
        let mut orphans = Orphans::default();
        for seen in [
            end(7),
            start(7),
            start(7),
            end(7),
            end(PC_MASK),
            Notification::Dma(Dma { engine: 31, step: completion }),
        ] {
            orphans.see(seen);
        }
        assert_eq!(orphans.open(), 1);
        let trace_type = Ok(messages::NotificationTraceType::Instruction);
        let kind = SectionKind::Trace {
            trace_type,
            block_type: Ok(messages::BlockType::Nc),
            block_index: 0,
        };
        let section = Section { kind, core: 4, offset: 10, size: 96 };
        let mut findings = Findings::new(9);
        orphans.report(&section, 1000, &mut findings);
        let name = section.to_string();
        let rules: Vec<_> = findings.list().0.iter().map(|f| (f.offset, f.rule.clone())).collect();
        assert_eq!(
            rules,
            [
                (1010, Rule::OrphanEnds { section: name.clone(), count: 2 }),
                (1010, Rule::OrphanPackets { section: name, count: 1 }),
            ]
        );
    }
}
