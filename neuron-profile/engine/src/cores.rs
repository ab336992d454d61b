//! One traced core: its programs, names, queues and memory.

use std::collections::{BTreeMap, HashMap};

use neuron_core::engine::Engine;
use neuron_core::instance::Arch;
use neuron_core::isa::address::Location;
use neuron_core::isa::body::Body;
use neuron_core::isa::field::RecordBytes;
use neuron_core::isa::names::SemaphoreNames;
use neuron_core::isa::{Opcode, Record};
use neuron_core::neff::doc::VarKind;
use neuron_core::neff::{Neff, Problem, Report, Subgraph};
use neuron_core::ntff::Calibration;
use neuron_core::ntff::messages::{DmaQueueType, SubgraphInfo};
use neuron_core::ntff::program::PatchMap;

use crate::debug::{Origin, Origins};
use crate::dram::{self, DeviceTensors};
use crate::kernels::Kernels;
use crate::operand::{self, OnChip};
use crate::program::{Program, Slot};

/// Ring of instruction fetch and table loads.
pub const FETCH_QUEUE: u8 = 14;

/// Engines in the order of their own semaphores; that of Sync has no name.
const ENGINE_SEMAPHORES: [Engine; 4] = [Engine::Pool, Engine::Act, Engine::Pe, Engine::Dve];

/// What a DMA queue is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum QueueKind {
    /// Instruction fetch and tables.
    Instruction,
    /// Inputs.
    Input,
    /// Outputs.
    Output,
    /// Descriptors of the NEFF.
    Data,
    /// Descriptors written by GpSimd.
    SoftwareDynamic,
    /// Descriptors written by hardware.
    HardwareDynamic,
    /// Not told.
    #[default]
    Unknown,
}

impl QueueKind {
    /// The viewer's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::Input => "input",
            Self::Output => "output",
            Self::Data => "data",
            Self::SoftwareDynamic => "software_dynamic",
            Self::HardwareDynamic => "hardware_dynamic",
            Self::Unknown => "unknown",
        }
    }

    /// By ring and name. Settled on the exports: ring 14 is `instruction`,
    /// `..Dynamic` and `..DynamicHW` are the two dynamic kinds. The other words
    /// follow from the type in the trace (inferred).
    fn of(queue: u8, queue_type: i32, name: &str) -> Self {
        if queue == FETCH_QUEUE {
            return Self::Instruction;
        }
        if name.ends_with("DynamicHW") {
            return Self::HardwareDynamic;
        }
        if name.ends_with("Dynamic") {
            return Self::SoftwareDynamic;
        }
        match DmaQueueType::try_from(queue_type) {
            Ok(DmaQueueType::Instructions) => Self::Instruction,
            Ok(DmaQueueType::Input) => Self::Input,
            Ok(DmaQueueType::Output) => Self::Output,
            Ok(DmaQueueType::Weights) => Self::Data,
            _ => Self::Unknown,
        }
    }
}

/// A DMA ring of one engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// Device-wide DMA engine.
    pub engine: u32,
    /// Ring, 0 to 15.
    pub queue: u8,
    /// Name with the viewer's word for the engine: `qSyncDynamicHW`.
    pub name: String,
    /// What for.
    pub kind: QueueKind,
    /// Type as the trace has it.
    pub queue_type: i32,
    /// Tracing event.
    pub event_id: i32,
    /// Bus port.
    pub axi_port: u32,
    /// Memory channel.
    pub dram_channel: u32,
}

impl Queue {
    /// The viewer's word for the type in the trace.
    pub fn type_name(&self) -> &'static str {
        match DmaQueueType::try_from(self.queue_type) {
            Ok(DmaQueueType::Instructions) => "instructions",
            Ok(DmaQueueType::Weights) => "weights",
            Ok(DmaQueueType::Input) => "input",
            Ok(DmaQueueType::Output) => "output",
            _ => "unknown",
        }
    }
}

/// The engine in a queue's name as the viewer writes it.
pub fn queue_name(name: &str) -> String {
    [("qPool", "qGpSimd"), ("qSP", "qSync"), ("qAct", "qScalar")]
        .into_iter()
        .find_map(|(from, to)| Some(format!("{to}{}", name.strip_prefix(from)?)))
        .unwrap_or_else(|| name.to_owned())
}

/// A traced core.
#[derive(Debug)]
pub struct Core {
    /// Physical number on the device.
    pub number: u32,
    /// Device.
    pub device: u32,
    /// `sg00`.
    pub name: String,
    /// Generation.
    pub arch: Arch,
    /// Programs by engine.
    pub programs: [Program; 5],
    /// Names of its semaphores.
    pub names: SemaphoreNames,
    /// Rings by engine and number.
    pub queues: BTreeMap<(u32, u8), Queue>,
    /// Kind of the ring of a number, whatever the engine.
    pub queue_kinds: [QueueKind; 16],
    /// Bytes of device memory by class, in the order of the trace.
    pub memory: Vec<(String, u64)>,
    /// Compiler's instructions; slots point into it.
    pub origins: Vec<Origin>,
    /// Layer paths; slots point into it.
    pub layers: Vec<String>,
    /// Tensors in device memory.
    pub tensors: DeviceTensors,
    pub(crate) calibration: Calibration,
}

impl Core {
    /// The program of an engine.
    pub fn program(&self, engine: Engine) -> &Program {
        let [pe, act, pool, dve, sp] = &self.programs;
        match engine {
            Engine::Pe => pe,
            Engine::Act => act,
            Engine::Pool => pool,
            Engine::Dve => dve,
            Engine::Sp => sp,
        }
    }

    /// A slot of an engine.
    pub fn slot(&self, engine: Engine, slot: u32) -> Option<&Slot> {
        self.program(engine).slot(slot)
    }

    /// The origin of a slot.
    pub fn origin(&self, slot: &Slot) -> Option<&Origin> {
        self.origins.get(slot.origin?)
    }

    /// Without its programs.
    pub(crate) fn new(graph: &SubgraphInfo, arch: Arch) -> Self {
        let mut queues = BTreeMap::new();
        let mut queue_kinds = [QueueKind::Unknown; 16];
        for usage in &graph.dma_queue_usage {
            let Some(queue) = u8::try_from(usage.queue_index).ok().filter(|queue| *queue < 16)
            else {
                continue;
            };
            let name = queue_name(&usage.name);
            let kind = QueueKind::of(queue, usage.queue_type, &name);
            if let Some(known) = queue_kinds.get_mut(usize::from(queue)) {
                *known = kind;
            }
            let row = Queue {
                engine: usage.engine_index,
                queue,
                name,
                kind,
                queue_type: usage.queue_type,
                event_id: usage.dma_tracing_event_id,
                axi_port: usage.axi_port,
                dram_channel: usage.dram_channel,
            };
            queues.insert((usage.engine_index, queue), row);
        }
        if let Some(fetch) = queue_kinds.get_mut(usize::from(FETCH_QUEUE)) {
            *fetch = QueueKind::Instruction;
        }
        Self {
            number: graph.nc_idx,
            device: graph.nd_idx,
            name: graph.name.clone(),
            arch,
            programs: Default::default(),
            names: SemaphoreNames::none(),
            queues,
            queue_kinds,
            memory: graph
                .memory_usage_breakdown
                .iter()
                .map(|usage| (usage.usage_name.clone(), usage.bytes))
                .collect(),
            origins: Vec::new(),
            layers: Vec::new(),
            tensors: DeviceTensors::default(),
            calibration: graph.timestamp_info.as_ref().map(Calibration::new).unwrap_or_default(),
        }
    }

    /// Takes the loaded image of an engine.
    pub(crate) fn load(&mut self, engine: Engine, start_address: u64, image: &[u8]) {
        let arch = self.arch;
        if let Some(program) = self.programs.get_mut(engine.index()) {
            program.start_address = start_address;
            let records = image.as_chunks::<{ std::mem::size_of::<RecordBytes>() }>().0;
            program.slots = records.iter().map(|bytes| Slot::new(*bytes, arch)).collect();
        }
    }

    /// Joins the loaded programs with those of the NEFF. Slots get their
    /// operands even where there is no such subgraph.
    pub(crate) fn join(
        &mut self,
        graph: &SubgraphInfo,
        neff: &Neff<'_>,
        subgraph: Option<&Subgraph>,
        kernels: &Kernels,
        report: &mut Report,
    ) -> Result<(), Problem> {
        for patch in &graph.patch_info {
            let Some(engine) = Engine::from_number(patch.engine) else { continue };
            if let Some(program) = self.programs.get_mut(engine.index()) {
                program.patch = PatchMap::new(patch);
            }
        }
        let on_chip: HashMap<u64, bool> = subgraph
            .iter()
            .flat_map(|subgraph| subgraph.definition.var.values())
            .map(|var| (var.var_id, var.kind() == Some(VarKind::StateBuffer)))
            .collect();
        let streams = match subgraph {
            Some(subgraph) => streams(neff, subgraph)?,
            None => Default::default(),
        };
        self.name_semaphores(subgraph, &streams);
        let origins = match subgraph {
            Some(subgraph) => Origins::read(neff, subgraph, report)?,
            None => Origins::default(),
        };
        let mut tensors = subgraph.map(DeviceTensors::begin);
        let mut known: HashMap<u64, usize> = HashMap::new();
        let mut layers: HashMap<String, usize> = HashMap::new();
        for (engine, stream) in Engine::ALL.into_iter().zip(&streams) {
            let Some(program) = self.programs.get_mut(engine.index()) else { continue };
            for (device, slot) in (0..).zip(&mut program.slots) {
                let neff_slot = program.patch.as_ref().and_then(|patch| patch.neff_slot(device));
                let index = neff_slot.and_then(|slot| usize::try_from(slot).ok());
                let compiled = index.and_then(|index| stream.get(index));
                slot.neff_slot = neff_slot.filter(|_| compiled.is_some());
                slot.compiled =
                    compiled.filter(|bytes| bytes.first() != slot.bytes.first()).copied();
                if let (Some(tensors), Ok(at)) = (&mut tensors, u32::try_from(device)) {
                    let record = slot.compiled.as_ref().unwrap_or(&slot.bytes);
                    slot.moves_tensors = tensors.slot(self.arch, (engine, at), record);
                }
                let record = Record::decode(self.arch, &slot.bytes);
                let sides = sides(self.arch, &record, slot.compiled.as_ref(), &on_chip);
                let operands = operand::operands(&record, sides);
                (slot.traffic, slot.reads, slot.writes) =
                    (operands.traffic, operands.reads, operands.writes);
                let id = slot.neff_slot.and(index).and_then(|index| origins.id(engine, index));
                let Some(id) = id else { continue };
                let place = match known.get(&id) {
                    Some(place) => *place,
                    None => {
                        let Some(origin) = origins.origin(id, kernels) else { continue };
                        self.origins.push(origin);
                        known.insert(id, self.origins.len() - 1);
                        self.origins.len() - 1
                    }
                };
                slot.origin = Some(place);
                if let Some(origin) = self.origins.get(place) {
                    slot.purpose = origin.purpose;
                    let next = layers.len();
                    slot.layer = Some(*layers.entry(origin.layer.clone()).or_insert(next));
                }
            }
        }
        self.tensors = tensors.map(dram::Loader::finish).unwrap_or_default();
        self.layers = vec![String::new(); layers.len()];
        for (layer, index) in layers {
            if let Some(place) = self.layers.get_mut(index) {
                *place = layer;
            }
        }
        self.link(&known);
        Ok(())
    }

    /// Turns the compiler's dependences into slots: every slot of the other
    /// instruction is one.
    fn link(&mut self, known: &HashMap<u64, usize>) {
        let mut places: Vec<Vec<(Engine, u32)>> = vec![Vec::new(); self.origins.len()];
        for engine in Engine::ALL {
            for (index, slot) in (0_u32..).zip(&self.program(engine).slots) {
                if let Some(list) = slot.origin.and_then(|origin| places.get_mut(origin)) {
                    list.push((engine, index));
                }
            }
        }
        let linked: Vec<Vec<_>> = self
            .origins
            .iter()
            .map(|origin| {
                let of =
                    |id: &u64| known.get(id).and_then(|at| places.get(*at)).into_iter().flatten();
                let each = origin.predecessors.iter();
                each.flat_map(|(id, kind)| of(id).map(|(engine, slot)| (*engine, *slot, *kind)))
                    .collect()
            })
            .collect();
        for program in &mut self.programs {
            for slot in &mut program.slots {
                if let Some(list) = slot.origin.and_then(|origin| linked.get(origin)) {
                    slot.predecessors.clone_from(list);
                }
            }
        }
    }

    /// Sources: instructions, blocks of static DMA, and the sets of the dynamic
    /// queues, whose semaphores all carry the queue's name in the exports. The
    /// first semaphores after those of the runtime belong to the engines, used
    /// or not.
    fn name_semaphores(&mut self, subgraph: Option<&Subgraph>, streams: &[Vec<RecordBytes>; 5]) {
        for (engine, stream) in Engine::ALL.into_iter().zip(streams) {
            let records: Vec<Record> =
                stream.iter().map(|bytes| Record::decode(self.arch, bytes)).collect();
            self.names.add_stream(engine, &records);
        }
        let Some(subgraph) = subgraph else { return };
        for json in subgraph.programs.iter().filter_map(|program| program.json.as_deref()) {
            for block in json.dma.iter().flatten() {
                let semaphore = block.semaphore.and_then(|number| u8::try_from(number).ok());
                if let (Some(semaphore), Some(queue)) = (semaphore, &block.queue) {
                    self.names.add_queue(semaphore, queue);
                }
            }
        }
        for (name, queue) in &subgraph.definition.dma_queue {
            for number in queue.semaphore_set.iter().flatten() {
                if let Ok(semaphore) = u8::try_from(*number) {
                    self.names.add_queue(semaphore, name);
                }
            }
        }
        let first = subgraph.definition.runtime_semaphore_count.unwrap_or(u64::MAX);
        for (index, engine) in (0..).zip(ENGINE_SEMAPHORES) {
            let semaphore = first.checked_add(index).and_then(|number| u8::try_from(number).ok());
            if let Some(semaphore) = semaphore {
                self.names.add_queue(semaphore, engine.display_name());
            }
        }
    }
}

/// The streams of a subgraph, by engine.
fn streams(neff: &Neff<'_>, subgraph: &Subgraph) -> Result<[Vec<RecordBytes>; 5], Problem> {
    let mut out: [Vec<RecordBytes>; 5] = Default::default();
    for (engine, stream) in Engine::ALL.into_iter().zip(&mut out) {
        let Some(name) = subgraph.program(engine).and_then(|p| p.stream_member.as_deref()) else {
            continue;
        };
        if let Some(body) = neff.body(&subgraph.member(name)).or_else(|| neff.body(name)) {
            stream.extend_from_slice(body?.as_chunks().0);
        }
    }
    Ok(out)
}

/// Where the sides of a DMA lie: by the variable in the compiler's record, else
/// by the address.
fn sides(
    arch: Arch,
    record: &Record,
    compiled: Option<&RecordBytes>,
    on_chip: &HashMap<u64, bool>,
) -> OnChip {
    let direct = |record: &Record| match record.instruction().map(|i| (i.header.opcode, i.body)) {
        Some((Opcode::DMA_DIRECT2D | Opcode::PSEUDO_DMA_DIRECT2D, Body::DmaDirect(dma))) => {
            Some((dma.src.location(), dma.dst.location()))
        }
        _ => None,
    };
    let Some(loaded) = direct(record) else { return OnChip::default() };
    // A simulated trace keeps the compiler's record.
    let written = compiled.map_or(Some(loaded), |bytes| direct(&Record::decode(arch, bytes)));
    let side = |loaded: Location, written: Option<Location>| {
        match written {
            Some(Location::Variable { id, .. }) => on_chip.get(&u64::from(id)).copied(),
            Some(Location::Table { .. } | Location::TableRegister { .. }) => Some(false),
            _ => None,
        }
        .unwrap_or_else(|| is_chip_address(loaded))
    };
    OnChip {
        source: side(loaded.0, written.map(|sides| sides.0)),
        destination: side(loaded.1, written.map(|sides| sides.1)),
    }
}

/// Addresses of SBUF in loaded records of Trn2: 0x80_2000_xxxx_xxxx and the
/// same of other cores (inferred from the captures).
fn is_chip_address(location: Location) -> bool {
    matches!(location, Location::Device(address) if address >> 40 == 0x80 && address >> 36 & 0xf == 2)
}
