//! Ends without a beginning (ntff.md §7.3, §10): a sign that a ring was full
//! and its oldest records are missing.

use super::Notification;
use super::error::{Findings, Rule};
use super::layout::Section;
use super::notification::{DmaStep, Engine};
use super::pairs::Pairs;

/// Open beginnings that are remembered; after that nothing more is judged.
const OPEN: usize = 1 << 20;

/// Pairs the records of one trace.
#[derive(Debug)]
pub struct Orphans {
    instructions: Pairs<(Engine, u32), ()>,
    packets: Pairs<(u8, u8), ()>,
    completions: Pairs<(u8, u8), ()>,
    ends: u64,
    packet_ends: u64,
    full: bool,
}

impl Default for Orphans {
    fn default() -> Self {
        Self {
            instructions: Pairs::new(OPEN),
            packets: Pairs::new(OPEN),
            completions: Pairs::new(OPEN),
            ends: 0,
            packet_ends: 0,
            full: false,
        }
    }
}

impl Orphans {
    /// The next record of the trace.
    pub fn see(&mut self, notification: Notification) {
        if self.full {
            return;
        }
        match notification {
            Notification::Start(start) => {
                self.full |= self.instructions.begin((start.engine, start.pc), ()).is_err();
            }
            Notification::End(end) => {
                let start = self.instructions.end(&(end.engine, end.pc));
                self.ends += u64::from(start.is_none());
            }
            Notification::Dma(dma) => match dma.step {
                DmaStep::Start { queue, .. } => {
                    let key = (dma.engine, queue);
                    self.full |= self.packets.begin(key, ()).is_err();
                    self.full |= self.completions.begin(key, ()).is_err();
                }
                DmaStep::End { queue, .. } => {
                    let start = self.packets.end(&(dma.engine, queue));
                    self.packet_ends += u64::from(start.is_none());
                }
                DmaStep::Completion { queue, .. } => {
                    let start = self.completions.end(&(dma.engine, queue));
                    self.packet_ends += u64::from(start.is_none());
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// Starts that have no end. One of PE per core is normal.
    pub fn open(&self) -> usize {
        self.instructions.len()
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
