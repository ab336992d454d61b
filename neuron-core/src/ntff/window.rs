//! The execution window of a core in files that do not store one.
//!
//! Form 6 has [`NtffInfo::execution_timeline`]. For forms 4 and 5 the rule of
//! ntff.md §7.4 (our choice) is: the window ends with the last NOTIFY of any
//! engine of the core and is as long as the sub-graph's `exec_duration`.
//!
//! Programs must be seen before the ends, as they lie in every file.

use std::collections::BTreeMap;

use super::clock::DeviceTime;
use super::layout::{self, SLOT, Section, SectionKind};
use super::messages::NtffInfo;
use super::notification::{End, Engine, PC_MASK};
use super::program;

/// Opcode (byte 0 of a slot) of NOTIFY.
const NOTIFY: u8 = 0xa6;

/// Where the NOTIFYs of a program are: one bit per slot that a program counter
/// can tell, so at most 128 KiB.
#[derive(Debug, Default)]
struct Notifies {
    start_address: u64,
    slots: u64,
    bits: Vec<u64>,
}

impl Notifies {
    fn see(&mut self, first: u64, bytes: &[u8]) {
        let size = usize::try_from(SLOT).unwrap_or(64);
        for (slot, entry) in (first..=u64::from(PC_MASK)).zip(bytes.chunks_exact(size)) {
            self.slots = self.slots.max(slot + 1);
            if entry.first() == Some(&NOTIFY)
                && let Ok(word) = usize::try_from(slot / 64)
            {
                if self.bits.len() <= word {
                    self.bits.resize(word + 1, 0);
                }
                if let Some(bits) = self.bits.get_mut(word) {
                    *bits |= 1 << (slot % 64);
                }
            }
        }
    }

    fn has(&self, pc: u32) -> bool {
        program::slot(pc, self.start_address, self.slots).is_some_and(|slot| {
            let word = usize::try_from(slot / 64).ok().and_then(|word| self.bits.get(word));
            word.is_some_and(|bits| bits >> (slot % 64) & 1 != 0)
        })
    }
}

/// Finds the windows of all cores.
#[derive(Debug, Default)]
pub struct Windows {
    programs: BTreeMap<(u32, Engine), Notifies>,
    last: BTreeMap<u32, DeviceTime>,
}

impl Windows {
    /// With the programs that lie in the message.
    pub fn new(info: &NtffInfo) -> Self {
        let mut windows = Self::default();
        for graph in layout::subgraphs(info) {
            for program in &graph.instruction_info {
                let Some(engine) = Engine::from_number(program.nc_engine_type) else { continue };
                let notifies = windows.programs.entry((graph.nc_idx, engine)).or_default();
                notifies.start_address = program.start_address;
                notifies.see(0, &program.instructions);
            }
        }
        windows
    }

    /// A chunk of a program from the blob area, `offset` bytes into it.
    pub fn program(&mut self, section: &Section, offset: u64, bytes: &[u8]) {
        if let SectionKind::Program { engine: Ok(engine), start_address } = section.kind {
            let notifies = self.programs.entry((section.core, engine)).or_default();
            notifies.start_address = start_address;
            notifies.see(offset / SLOT, bytes);
        }
    }

    /// Whether an instruction is a NOTIFY of a captured program.
    pub fn is_notify(&self, core: u32, engine: Engine, pc: u32) -> bool {
        self.programs.get(&(core, engine)).is_some_and(|notifies| notifies.has(pc))
    }

    /// An instruction of a core ended.
    pub fn end(&mut self, core: u32, end: End, time: DeviceTime) {
        if self.is_notify(core, end.engine, end.pc) {
            let last = self.last.entry(core).or_insert(time);
            *last = (*last).max(time);
        }
    }

    /// Start and end for a core, after all of its ends. `None` without a
    /// NOTIFY, or without a duration that fits before it.
    pub fn window(&self, info: &NtffInfo, core: u32) -> Option<(DeviceTime, DeviceTime)> {
        let end = *self.last.get(&core)?;
        let graph = layout::subgraphs(info).find(|graph| graph.nc_idx == core)?;
        let start = end.ps().checked_sub(graph.exec_duration)?;
        (graph.exec_duration > 0).then_some((DeviceTime::from_ps(start), end))
    }
}
