//! Sums over a whole execution, from which the metrics follow.

use std::collections::BTreeMap;

use neuron_core::engine::Engine;
use neuron_core::isa::Opcode;

use crate::cores::QueueKind;
use crate::debug::Purpose;
use crate::layer::{EngineTotals, LayerNode};
use crate::operand::Traffic;
use crate::program::Slot;
use crate::row::{InstructionRow, PacketRow, ThrottleRow};
use crate::stream::ReadCounts;
use crate::union::Union;

/// Packets of one origin.
#[derive(Debug, Clone, Default)]
pub struct PacketTotals {
    /// Packets.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Sum of their times, in ps.
    pub time: u64,
    active: Union,
}

impl PacketTotals {
    fn note(&mut self, row: &PacketRow) {
        self.count += 1;
        self.bytes += u64::from(row.bytes);
        self.time += row.end - row.start;
        self.active.note(row.start, row.end);
    }

    /// Time with at least one of them under way, in ps.
    pub fn active(&self) -> u64 {
        self.active.total()
    }
}

/// Instructions of one opcode on one engine.
#[derive(Debug, Clone, Default)]
pub struct OpcodeTotals {
    totals: EngineTotals,
}

impl OpcodeTotals {
    /// Executions.
    pub const fn count(&self) -> u64 {
        self.totals.count
    }

    /// Sum of their times, in ps; waits count here.
    pub const fn time(&self) -> u64 {
        self.totals.time
    }

    /// The same, overlaps counted once.
    pub fn active(&self) -> u64 {
        self.totals.active.total()
    }
}

/// One core.
#[derive(Debug, Clone, Default)]
pub struct CoreTotals {
    /// Instructions by engine.
    pub instructions: [u64; 5],
    /// Packets listed.
    pub packets: u64,
    /// Changes of semaphores and events.
    pub updates: u64,
    /// End of the last instruction, in ps.
    pub last_end: u64,
    /// Throttling by kind of activity: time in whole ns, and that weighted by
    /// k/n.
    pub throttle: BTreeMap<u8, (u64, f64)>,
    /// Whole ns in which less than all cycles might be used.
    pub throttled_ns: u64,
}

/// Records that the tables do not show. None is hidden: they are told beside
/// the tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unmatched {
    /// Ends of instructions without a start.
    pub instruction_ends: u64,
    /// Starts of instructions without an end; one of PE for each core is
    /// normal, the branch back into the idle loop.
    pub instruction_starts: u64,
    /// Ends of packets without a start.
    pub packet_ends: u64,
    /// Starts of packets without an end.
    pub packet_starts: u64,
    /// Packets of ring 14 left out as the viewer leaves them out.
    pub packets_left_out: u64,
    /// Instructions outside every captured program.
    pub resident: u64,
    /// Starts given up because too many were under way.
    pub overflow: u64,
    /// Records of no known kind.
    pub unknown_records: u64,
    /// What reading met.
    pub read: ReadCounts,
}

/// See the module.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// By core.
    pub cores: Vec<CoreTotals>,
    /// Bytes and multiply-adds.
    pub traffic: Traffic,
    /// Instructions that read PSUM and write SBUF.
    pub psum_read_sbuf_write_count: u64,
    /// Products.
    pub products: u64,
    /// Multiply-adds that change a layout only.
    pub transpose_elements: u64,
    /// Bytes saved for want of space.
    pub spill_save: u64,
    /// Bytes loaded again.
    pub spill_reload: u64,
    /// ACTIVATE and ACTIVATE_QUANTIZE.
    pub activates: u64,
    /// Their time, in ps.
    pub activate_time: u64,
    /// All packets.
    pub packets: PacketTotals,
    /// Packets by origin.
    pub packets_by_kind: BTreeMap<QueueKind, PacketTotals>,
    /// By engine and opcode.
    pub opcodes: BTreeMap<(Engine, u8), OpcodeTotals>,
    /// The nodes of all cores.
    pub layers: Vec<LayerNode>,
    /// Notifications of descriptor generation.
    pub descriptor_notices: u64,
    /// What the tables do not show.
    pub unmatched: Unmatched,
    /// First start and last end of what is no set-up, in ps.
    pub work: Option<(u64, u64)>,
    /// Latest end or change, in ps.
    pub last: u64,
    engines: [EngineTotals; 5],
    active: Union,
}

impl Totals {
    pub(crate) fn new(cores: usize) -> Self {
        Self { cores: vec![CoreTotals::default(); cores], ..Self::default() }
    }

    /// All instructions of an engine, waits too.
    pub fn count(&self, engine: Engine) -> u64 {
        self.engine(engine).count
    }

    /// Their time without waits, in ps.
    pub fn time(&self, engine: Engine) -> u64 {
        self.engine(engine).time
    }

    /// The same over all cores, overlaps counted once.
    pub fn active(&self, engine: Engine) -> u64 {
        self.engine(engine).active.total()
    }

    /// Time in which an engine or a packet was busy, in ps.
    pub fn all_active(&self) -> u64 {
        self.active.total()
    }

    /// Opcodes, with their names.
    pub fn opcodes(&self) -> impl Iterator<Item = (Engine, String, &OpcodeTotals)> {
        self.opcodes
            .iter()
            .map(|((engine, code), totals)| (*engine, Opcode(*code).to_string(), totals))
    }

    fn engine(&self, engine: Engine) -> &EngineTotals {
        let [pe, act, pool, dve, sp] = &self.engines;
        match engine {
            Engine::Pe => pe,
            Engine::Act => act,
            Engine::Pool => pool,
            Engine::Dve => dve,
            Engine::Sp => sp,
        }
    }

    fn core(&mut self, core: usize) -> Option<&mut CoreTotals> {
        self.cores.get_mut(core)
    }

    fn work(&mut self, start: u64, end: u64) {
        let (first, last) = self.work.unwrap_or((start, end));
        self.work = Some((first.min(start), last.max(end)));
    }

    pub(crate) fn instruction(&mut self, row: &InstructionRow, slot: Option<&Slot>) {
        let role = slot.map(|slot| slot.role).unwrap_or_default();
        self.last = self.last.max(row.end);
        if let Some(engine) = self.engines.get_mut(row.engine.index()) {
            engine.note(row, role.waits);
        }
        if let Some(core) = self.core(row.core) {
            core.last_end = core.last_end.max(row.end);
            if let Some(count) = core.instructions.get_mut(row.engine.index()) {
                *count += 1;
            }
        }
        if !role.waits {
            self.active.note(row.start, row.end);
        }
        let Some(slot) = slot else { return };
        if !role.setup {
            self.work(row.start, row.end);
        }
        let code = slot.bytes.first().copied().unwrap_or(0);
        self.opcodes.entry((row.engine, code)).or_default().totals.note(row, false);
        let (sum, add) = (&mut self.traffic, &slot.traffic);
        sum.hbm_read += add.hbm_read;
        sum.hbm_write += add.hbm_write;
        sum.sbuf_read += add.sbuf_read;
        sum.sbuf_write += add.sbuf_write;
        sum.psum_read += add.psum_read;
        sum.psum_write += add.psum_write;
        sum.psum_read_sbuf_write += add.psum_read_sbuf_write;
        sum.elements += add.elements;
        self.psum_read_sbuf_write_count += u64::from(add.psum_read_sbuf_write > 0);
        self.products += u64::from(role.product);
        match slot.purpose {
            Purpose::Transpose => self.transpose_elements += add.elements,
            Purpose::Spill => {
                self.spill_save += add.hbm_write;
                self.spill_reload += add.hbm_read;
            }
            Purpose::Unknown | Purpose::Regular => {}
        }
        if role.activates {
            self.activates += 1;
            self.activate_time += row.end - row.start;
        }
    }

    pub(crate) fn packet(&mut self, row: &PacketRow) {
        self.last = self.last.max(row.end);
        self.packets.note(row);
        self.packets_by_kind.entry(row.kind).or_default().note(row);
        self.active.note(row.start, row.end);
        if row.kind != QueueKind::Instruction {
            self.work(row.start, row.end);
        }
        if let Some(core) = self.core(row.core) {
            core.packets += 1;
        }
    }

    pub(crate) fn update(&mut self, core: usize, time: u64) {
        self.last = self.last.max(time);
        if let Some(core) = self.core(core) {
            core.updates += 1;
        }
    }

    pub(crate) fn throttle(&mut self, row: &ThrottleRow) {
        let ns = row.duration / 1000;
        if let Some(core) = self.core(row.core) {
            let limit = f64::from(row.k) / f64::from(row.n.max(1));
            let sum = core.throttle.entry(row.activity).or_default();
            sum.0 += ns;
            #[allow(clippy::cast_precision_loss, reason = "a time in ns")]
            let ns_real = ns as f64;
            sum.1 += ns_real * limit;
            if row.k < row.n {
                core.throttled_ns += ns;
            }
        }
    }
}
