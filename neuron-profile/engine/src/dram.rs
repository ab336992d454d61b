//! Tensors in device memory, and the instructions that load and store them.
//!
//! A trace does not name the tensors of its packets, but the compiler's records
//! do: a dynamic DMA names its variables, or the entry of the address table
//! that stands for one (neff.md §5.3), and a trigger of a static DMA names a
//! block whose transfers do. So what moves a tensor, how often and how many
//! bytes, follows from which instructions were executed.
//!
//! A scratch tensor is taken to be in use from the start of the first
//! instruction that moves it to the end of the last (our choice: the vendor's
//! tracker is not public). Tensors of the shared scratchpad may lie over each
//! other; what is in use is the bytes that one of them covers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use neuron_core::engine::Engine;
use neuron_core::instance::Arch;
use neuron_core::isa::Record;
use neuron_core::isa::address::{Addr8, Location};
use neuron_core::isa::body::Body;
use neuron_core::isa::field::RecordBytes;
use neuron_core::neff::Subgraph;
use neuron_core::neff::doc::{DmaBlock, Transfer, VarKind};

use crate::covered::Covered;

/// Where a tensor of the program itself lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scratch {
    /// In a scratchpad that tensors share.
    Shared {
        /// Which one; those of a core are numbered from 0.
        area: usize,
        /// First byte in it.
        offset: u64,
    },
    /// In memory of its own.
    Private,
}

/// A tensor in device memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceTensor {
    /// Variable.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
    /// Place of a temporary; `None` for inputs, outputs and weights.
    pub scratch: Option<Scratch>,
}

/// What one execution of an instruction does to a tensor: all its transfers of a
/// kind together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Move {
    tensor: usize,
    transfers: u64,
    bytes: u64,
    /// The tensor is the destination.
    writes: bool,
    /// The other side is the state buffer.
    on_chip: bool,
}

/// The tensors of a core and what moves them.
#[derive(Debug, Clone, Default)]
pub struct DeviceTensors {
    /// By name.
    pub list: Vec<DeviceTensor>,
    /// Shared scratchpads.
    areas: usize,
    moves: HashMap<(Engine, u32), Arc<[Move]>>,
}

/// What was done to a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TensorUse {
    /// Start of the first instruction and end of the last, in ps.
    pub span: Option<(u64, u64)>,
    /// Transfers from it into the state buffer.
    pub loads: u64,
    /// Their bytes.
    pub loaded_bytes: u64,
    /// All transfers from it.
    pub reads: u64,
    /// All transfers to it.
    pub writes: u64,
}

/// What a record or a transfer names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Tensor(usize),
    OnChip,
    Unknown,
}

/// Variables of a sub-graph, as records name them.
struct Variables {
    by_id: HashMap<u64, Side>,
    by_name: HashMap<String, Side>,
    /// Variables of the entries of the address table; empty where there are
    /// several, of which a record does not say which.
    table: Vec<u64>,
    areas: usize,
}

/// Sources of one transfer at most (neff.md §5.4).
const SOURCES: usize = 16;

/// Sizes and offsets fit into tables of signed numbers.
const MOST_BYTES: u64 = i64::MAX as u64;

impl Variables {
    fn of(subgraph: &Subgraph, list: &mut Vec<DeviceTensor>) -> Self {
        let mut all =
            Self { by_id: HashMap::new(), by_name: HashMap::new(), table: Vec::new(), areas: 0 };
        let mut tables = 0;
        // As the software NeuronCore takes them: one for each name of buffer and path.
        let mut areas: BTreeMap<[Option<&str>; 2], usize> = BTreeMap::new();
        for (name, variable) in &subgraph.definition.var {
            let scratch = match variable.kind() {
                Some(VarKind::StateBuffer) => {
                    all.by_id.insert(variable.var_id, Side::OnChip);
                    all.by_name.insert(name.clone(), Side::OnChip);
                    continue;
                }
                Some(VarKind::DgeTable) => {
                    tables += 1;
                    all.table.extend(variable.list.iter().flatten());
                    continue;
                }
                Some(VarKind::Input | VarKind::Output | VarKind::File) => None,
                Some(VarKind::TmpBuf) => Some(Scratch::Private),
                Some(VarKind::Virtual) => {
                    let name =
                        [&variable.backing_buf, &variable.fabric_path].map(|name| name.as_deref());
                    let next = areas.len();
                    let area = *areas.entry(name).or_insert(next);
                    Some(Scratch::Shared {
                        area,
                        offset: variable.backing_variable_off.unwrap_or(0),
                    })
                }
                _ => continue,
            };
            let bytes = variable.size.unwrap_or(0);
            let offset = match scratch {
                Some(Scratch::Shared { offset, .. }) => offset,
                _ => 0,
            };
            // No memory is so large; what moves it is not known then.
            if offset.checked_add(bytes).is_none_or(|end| end > MOST_BYTES) {
                continue;
            }
            let side = Side::Tensor(list.len());
            list.push(DeviceTensor { name: name.clone(), bytes, scratch });
            all.by_id.insert(variable.var_id, side);
            all.by_name.insert(name.clone(), side);
        }
        if tables > 1 {
            all.table.clear();
        }
        all.areas = areas.len();
        all
    }

    fn id(&self, id: u64) -> Side {
        self.by_id.get(&id).copied().unwrap_or(Side::Unknown)
    }

    fn address(&self, address: Addr8) -> Side {
        match address.location() {
            Location::Variable { id, .. } => self.id(id.into()),
            Location::Table { index, .. } | Location::TableRegister { index, .. } => {
                let id = usize::try_from(index).ok().and_then(|at| self.table.get(at));
                id.map_or(Side::Unknown, |id| self.id(*id))
            }
            Location::Device(_) | Location::Other(_) => Side::Unknown,
        }
    }

    fn name(&self, name: Option<&str>) -> Side {
        name.and_then(|name| self.by_name.get(name)).copied().unwrap_or(Side::Unknown)
    }

    fn read((from, bytes): (Side, u64), to: Side, out: &mut Vec<Move>) {
        if let Side::Tensor(tensor) = from {
            let on_chip = to == Side::OnChip;
            out.push(Move { tensor, transfers: 1, bytes, writes: false, on_chip });
        }
    }

    fn written(from: Side, (to, bytes): (Side, u64), out: &mut Vec<Move>) {
        if let Side::Tensor(tensor) = to {
            let on_chip = from == Side::OnChip;
            out.push(Move { tensor, transfers: 1, bytes, writes: true, on_chip });
        }
    }

    /// Both sides of one transfer as moves.
    fn moves(from: (Side, u64), to: (Side, u64), out: &mut Vec<Move>) {
        Self::read(from, to.0, out);
        Self::written(from.0, to, out);
    }

    fn transfer(&self, transfer: &Transfer, out: &mut Vec<Move>) {
        let bytes = |sizes: &Option<Vec<u64>>| {
            sizes.iter().flatten().fold(1_u64, |all, size| all.saturating_mul(*size))
        };
        let (read, written) = (bytes(&transfer.from_sizes), bytes(&transfer.to_sizes));
        let several = transfer.from_arr.as_ref().and_then(|list| list.as_array());
        let named = several.into_iter().flatten().filter_map(|name| name.as_str());
        let to = self.name(transfer.to.as_deref());
        let sources =
            transfer.from.as_deref().into_iter().chain(named).map(|name| self.name(Some(name)));
        let sources: Vec<Side> = sources.take(SOURCES).collect();
        for from in &sources {
            Self::read((*from, read), to, out);
        }
        let from = sources.first().copied().unwrap_or(Side::Unknown);
        Self::written(from, (to, written), out);
    }
}

/// Blocks of static DMA by engine, queue and number; those of the sub-graph
/// itself without an engine.
type Blocks<'s> = HashMap<(Option<Engine>, &'s str, u64), &'s DmaBlock>;

impl DeviceTensors {
    /// Tensors of a sub-graph, moved by nothing yet.
    pub(crate) fn begin(subgraph: &Subgraph) -> Loader<'_> {
        let mut tensors = Self::default();
        let variables = Variables::of(subgraph, &mut tensors.list);
        let mut blocks = Blocks::new();
        for block in subgraph.definition.dma.iter().flatten() {
            if let (Some(queue), Some(id)) = (&block.queue, block.id) {
                blocks.insert((None, queue, id), block);
            }
        }
        for program in &subgraph.programs {
            for block in program.json.iter().filter_map(|json| json.dma.as_ref()).flatten() {
                if let (Some(queue), Some(id)) = (&block.queue, block.id) {
                    blocks.insert((Some(program.engine), queue, id), block);
                }
            }
        }
        tensors.areas = variables.areas;
        Loader { tensors, variables, blocks, known: HashMap::new() }
    }

    /// Uses of all tensors before anything was executed.
    pub(crate) fn unused(&self) -> Vec<TensorUse> {
        vec![TensorUse::default(); self.list.len()]
    }

    /// Takes note of an executed instruction.
    pub(crate) fn note(
        &self,
        uses: &mut [TensorUse],
        (engine, slot): (Engine, u32),
        (start, end): (u64, u64),
    ) {
        for one in self.moves.get(&(engine, slot)).into_iter().flat_map(|list| list.iter()) {
            let Some(of) = uses.get_mut(one.tensor) else { continue };
            let (first, last) = of.span.unwrap_or((start, end));
            of.span = Some((first.min(start), last.max(end)));
            if one.writes {
                of.writes += one.transfers;
                continue;
            }
            of.reads += one.transfers;
            if one.on_chip {
                of.loads += one.transfers;
                of.loaded_bytes = of.loaded_bytes.saturating_add(one.bytes);
            }
        }
    }

    /// Bytes of scratch in use over time: a time in ps and the bytes from then
    /// on, in order; the first is at the first use. Empty without scratch.
    pub fn scratch_usage(&self, uses: &[TensorUse]) -> Vec<(u64, u64)> {
        let mut steps: BTreeMap<u64, Vec<(usize, bool)>> = BTreeMap::new();
        let mut edges = vec![Vec::new(); self.areas];
        for (at, (tensor, of)) in self.list.iter().zip(uses).enumerate() {
            let (Some(scratch), Some((first, last))) = (tensor.scratch, of.span) else { continue };
            if let Scratch::Shared { area, offset } = scratch
                && let Some(edges) = edges.get_mut(area)
            {
                edges.extend([offset, offset.saturating_add(tensor.bytes)]);
            }
            steps.entry(first).or_default().push((at, true));
            steps.entry(last).or_default().push((at, false));
        }
        let mut covered: Vec<Covered> = edges.into_iter().map(Covered::new).collect();
        let mut private = 0_u64;
        let mut out: Vec<(u64, u64)> = Vec::with_capacity(steps.len());
        for (time, changes) in steps {
            for (at, begins) in changes {
                let Some(tensor) = self.list.get(at) else { continue };
                match tensor.scratch {
                    Some(Scratch::Shared { area, offset }) => {
                        let Some(covered) = covered.get_mut(area) else { continue };
                        covered.change((offset, offset.saturating_add(tensor.bytes)), begins);
                    }
                    _ if begins => private = private.saturating_add(tensor.bytes),
                    _ => private = private.saturating_sub(tensor.bytes),
                }
            }
            let shared = covered.iter().map(Covered::total);
            let bytes = shared.fold(private, u64::saturating_add).min(MOST_BYTES);
            if out.last().is_none_or(|(_, before)| *before != bytes) {
                out.push((time, bytes));
            }
        }
        out
    }
}

/// Finds what moves the tensors, slot by slot.
pub(crate) struct Loader<'s> {
    tensors: DeviceTensors,
    variables: Variables,
    blocks: Blocks<'s>,
    /// What blocks move: many slots may trigger one of many transfers.
    known: HashMap<(Option<Engine>, String, u64), Arc<[Move]>>,
}

/// Moves of a kind together.
fn together(moves: &[Move]) -> Arc<[Move]> {
    let mut kinds: BTreeMap<(usize, bool, bool), Move> = BTreeMap::new();
    for one in moves {
        let key = (one.tensor, one.writes, one.on_chip);
        let sum = kinds.entry(key).or_insert(Move { transfers: 0, bytes: 0, ..*one });
        sum.transfers += one.transfers;
        sum.bytes = sum.bytes.saturating_add(one.bytes);
    }
    kinds.into_values().collect()
}

impl Loader<'_> {
    /// What a block moves, by the engine that triggers it.
    fn block(&mut self, engine: Engine, queue: &str, id: u64) -> Option<Arc<[Move]>> {
        let own = self.blocks.contains_key(&(Some(engine), queue, id)).then_some(engine);
        let key = (own, queue.to_owned(), id);
        if let Some(known) = self.known.get(&key) {
            return Some(Arc::clone(known));
        }
        let block = self.blocks.get(&(own, queue, id))?;
        let mut moves = Vec::new();
        for transfer in &block.desc {
            self.variables.transfer(transfer, &mut moves);
        }
        let moves = together(&moves);
        self.known.insert(key, Arc::clone(&moves));
        Some(moves)
    }

    /// A slot with the compiler's record of it; whether it moves a tensor.
    pub(crate) fn slot(
        &mut self,
        arch: Arch,
        (engine, slot): (Engine, u32),
        record: &RecordBytes,
    ) -> bool {
        let mut moves = Vec::new();
        let record = Record::decode(arch, record);
        let Some(instruction) = record.instruction() else { return false };
        match &instruction.body {
            Body::DmaDirect(dma) => {
                let from = (self.variables.address(dma.src), dma.src_bytes());
                let to = (self.variables.address(dma.dst), dma.dst_bytes());
                Variables::moves(from, to, &mut moves);
            }
            Body::DmaIndirect(dma) => {
                let bytes = |count: u16, size: u16| u64::from(count) * u64::from(size);
                let read = bytes(dma.src_count, dma.src_elem_size);
                let written = bytes(dma.dst_count, dma.dst_elem_size);
                let from = (self.variables.address(dma.src), read);
                Variables::moves(from, (self.variables.address(dma.dst), written), &mut moves);
            }
            Body::DmaTrigger(trigger) => {
                let Some(queue) = trigger.queue.text() else { return false };
                let block = self.block(engine, queue, u64::from(trigger.block_id));
                return self.moved((engine, slot), block);
            }
            _ => {}
        }
        let moves = (!moves.is_empty()).then(|| moves.into());
        self.moved((engine, slot), moves)
    }

    fn moved(&mut self, slot: (Engine, u32), moves: Option<Arc<[Move]>>) -> bool {
        let moves = moves.filter(|moves| !moves.is_empty());
        let any = moves.is_some();
        self.tensors.moves.extend(moves.map(|moves| (slot, moves)));
        any
    }

    pub(crate) fn finish(self) -> DeviceTensors {
        self.tensors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(bytes: u64, scratch: Scratch) -> DeviceTensor {
        DeviceTensor { name: String::from("t"), bytes, scratch: Some(scratch) }
    }

    fn shared(area: usize, offset: u64) -> Scratch {
        Scratch::Shared { area, offset }
    }

    #[test]
    fn moves_of_a_kind_are_one() {
        let one =
            |tensor, writes, bytes| Move { tensor, transfers: 1, bytes, writes, on_chip: true };
        let all = [one(0, false, 3), one(1, true, 5), one(0, false, u64::MAX), one(0, true, 1)];
        let wanted =
            [Move { transfers: 2, ..one(0, false, u64::MAX) }, one(0, true, 1), one(1, true, 5)];
        assert_eq!(*together(&all), wanted);
    }

    fn used(first: u64, last: u64) -> TensorUse {
        TensorUse { span: Some((first, last)), ..TensorUse::default() }
    }

    #[test]
    fn tensors_over_each_other_count_once() {
        let list = vec![
            tensor(100, shared(0, 0)),
            tensor(100, shared(0, 50)),
            tensor(10, Scratch::Private),
            tensor(7, shared(0, 400)),
            // At a place of another area.
            tensor(1000, shared(1, 0)),
        ];
        let tensors = DeviceTensors { list, areas: 2, moves: HashMap::new() };
        let uses = [used(0, 30), used(10, 40), used(20, 50), TensorUse::default(), used(20, 30)];
        let steps = tensors.scratch_usage(&uses);
        assert_eq!(steps, [(0, 100), (10, 150), (20, 1160), (30, 110), (40, 10), (50, 0)]);
        assert!(DeviceTensors::default().scratch_usage(&[]).is_empty());
    }
}
