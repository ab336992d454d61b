//! Looks for races in a program, from its records alone.
//!
//! A program is right on every timing if each two accesses to one byte, of
//! which one writes, are ordered: by the stream of an engine, or by a semaphore
//! that the second one, or something before it, waits for. Clocks count what is
//! known to be done: the engine's own instructions do not count for its
//! transfers unless it waited for them.
#![allow(clippy::single_range_in_vec_init, reason = "an area of one piece")]

use std::collections::BTreeMap;
use std::ops::Range;

use neuron_core::isa::address::{Location, Pattern, Place};
use neuron_core::isa::body::Body;
use neuron_core::isa::body::dma::DmaDirect;
use neuron_core::isa::code::{BiasSource, Dtype, ImmSource};
use neuron_core::isa::{Engine, Instruction};

/// Engines by number, then the semaphores of transfers.
const THREADS: usize = 5 + 256;
type Clock = Vec<u32>;

/// Bytes of a memory: which, partitions, and pieces of a partition.
#[derive(Debug, Clone)]
struct Area {
    memory: u64,
    partitions: Range<usize>,
    pieces: Vec<Range<i64>>,
}

const SBUF: u64 = 1 << 40;
const PSUM: u64 = SBUF + 1;

impl Area {
    fn overlaps(&self, other: &Self) -> bool {
        let meet = |a: &Range<i64>, b: &Range<i64>| a.start < b.end && b.start < a.end;
        self.memory == other.memory
            && self.partitions.start < other.partitions.end
            && other.partitions.start < self.partitions.end
            && meet(&self.hull(), &other.hull())
            && self.pieces_meet(other)
    }

    /// Pieces are in order of their start, and of their end.
    fn pieces_meet(&self, other: &Self) -> bool {
        let (mut a, mut b) = (self.pieces.iter().peekable(), other.pieces.iter().peekable());
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            if x.end <= y.start {
                a.next();
            } else if y.end <= x.start {
                b.next();
            } else {
                return true;
            }
        }
        false
    }

    fn hull(&self) -> Range<i64> {
        self.pieces.first().unwrap().start..self.pieces.last().unwrap().end
    }
}

#[derive(Debug)]
struct Access {
    area: Area,
    writes: bool,
    thread: usize,
    count: u32,
    what: String,
}

fn operand<const N: usize>(pattern: &Pattern<N>, channels: u8, dtype: Dtype) -> Area {
    let size = i64::from(dtype.bytes().unwrap());
    let (memory, partition, byte) = match pattern.start.place() {
        Place::Sbuf { partition, byte } => (SBUF, partition, byte),
        Place::Psum { partition, byte } => (PSUM, partition, byte),
        Place::Other(address) => panic!("address {address:#x}"),
    };
    let offsets: Vec<i64> = pattern.offsets().collect();
    let start = i64::from(byte) + offsets.iter().min().unwrap() * size;
    let end = i64::from(byte) + (offsets.iter().max().unwrap() + 1) * size;
    let first = usize::from(partition);
    Area { memory, partitions: first..first + usize::from(channels), pieces: vec![start..end] }
}

fn column(address: u32, channels: u8) -> Area {
    let start = neuron_core::isa::address::Addr4(address);
    operand(&Pattern { start, steps: [1], counts: [1] }, channels, Dtype::FP32)
}

/// What an instruction reads and writes.
fn areas(instruction: &Instruction) -> (Vec<Area>, Vec<Area>) {
    match &instruction.body {
        Body::LoadWeights(b) => (vec![operand(&b.src, b.rows, b.src_type)], vec![]),
        Body::MatMul(b) => {
            let turned = b.transpose_mode.0 == 1;
            let dst = operand(&b.dst, b.columns, if turned { b.src_type } else { Dtype::FP32 });
            let mut reads = vec![operand(&b.src, b.rows, b.src_type)];
            if !b.accumulate.overwrites() {
                reads.push(dst.clone());
            }
            (reads, vec![dst])
        }
        Body::Activate(b) => {
            let mut reads = vec![operand(&b.src, b.channels, b.types.low())];
            if b.bias_source == BiasSource::PTR {
                reads.push(column(b.bias, b.channels));
            }
            (reads, vec![operand(&b.dst, b.channels, b.dst_type)])
        }
        Body::ReadAccumulator(b) => (vec![], vec![operand(&b.dst, b.channels, b.dst_type)]),
        Body::Unary(b) => (
            vec![operand(&b.src, b.channels, b.src_type)],
            vec![operand(&b.dst, b.channels, b.dst_type)],
        ),
        Body::TensorTensor(b) => (
            vec![
                operand(&b.src0, b.channels, b.src_types.low()),
                operand(&b.src1, b.channels, b.src_types.high()),
            ],
            vec![operand(&b.dst, b.channels, b.dst_type)],
        ),
        Body::TensorScalar(b) => {
            let mut reads = vec![operand(&b.src, b.channels, b.src_type)];
            for (source, bits) in [(b.imm0_source, b.imm0), (b.imm1_source, b.imm1)] {
                if source == ImmSource::PTR {
                    reads.push(column(bits, b.channels));
                }
            }
            (reads, vec![operand(&b.dst, b.channels, b.dst_type)])
        }
        Body::Memset(b) => (vec![], vec![operand(&b.dst, b.channels, b.dst_type)]),
        Body::Iota(b) => (vec![], vec![operand(&b.dst, b.channels, b.dst_type)]),
        Body::AffineSelect(b) => (
            vec![operand(&b.src, b.channels, b.types.low())],
            vec![operand(&b.dst, b.channels, b.types.high())],
        ),
        Body::DmaDirect(b) => (vec![side(b, true)], vec![side(b, false)]),
        Body::Collective(b) => {
            let all = |memory: u32| Area {
                memory: memory.into(),
                partitions: 0..1,
                pieces: vec![0..i64::MAX],
            };
            (vec![all(b.input_tensor_id)], vec![all(b.output_tensor_id)])
        }
        Body::EventSemaphore(_) | Body::SetOrdering(_) | Body::BranchLabel(_) => (vec![], vec![]),
        Body::Move(_) | Body::TableLoad(_) | Body::RangeClear(_) => (vec![], vec![]),
        other => panic!("no rule for {other:?}"),
    }
}

/// One side of a transfer.
fn side(body: &DmaDirect, source: bool) -> Area {
    let (address, [step, _], [count, outer], run) = if source {
        (body.src, body.src_steps, body.src_counts, body.src_elem_size)
    } else {
        (body.dst, body.dst_steps, body.dst_counts, body.dst_elem_size)
    };
    assert_eq!(outer, 1);
    let Location::Variable { id, offset } = address.location() else {
        panic!("{address:?}");
    };
    let (offset, run) = (i64::from(offset), i64::from(run));
    if id == 0 {
        assert_eq!(step, 0x4_0000);
        let (partition, byte) = ((offset >> 18) as usize, offset & 0x3_ffff);
        let partitions = partition..partition + usize::from(count);
        return Area { memory: SBUF, partitions, pieces: vec![byte..byte + run] };
    }
    let start = |index| offset + i64::from(index) * i64::from(step);
    let pieces = (0..count).map(|index| start(index)..start(index) + run).collect();
    Area { memory: id.into(), partitions: 0..1, pieces }
}

fn join(into: &mut Clock, from: &Clock) {
    for (into, from) in into.iter_mut().zip(from) {
        *into = (*into).max(*from);
    }
}

#[derive(Default)]
struct Semaphore {
    /// Its value after each rise, and what is known then.
    rises: Vec<(u32, Clock)>,
    producer: Option<usize>,
}

impl Semaphore {
    fn value(&self) -> u32 {
        self.rises.last().map_or(0, |(value, _)| *value)
    }

    fn rise(&mut self, by: u32, producer: usize, clock: Clock, what: &str) {
        let known = *self.producer.get_or_insert(producer);
        assert_eq!(known, producer, "{what}: a semaphore with two producers");
        self.rises.push((self.value() + by, clock));
    }
}

struct Core {
    clocks: Vec<Clock>,
    counts: Vec<u32>,
    semaphores: BTreeMap<u8, Semaphore>,
    history: BTreeMap<u64, Vec<Access>>,
    races: Vec<String>,
    stored: BTreeMap<u64, Vec<Area>>,
}

/// Every race of a core, in words.
pub(crate) fn races(core: &npu::CoreProgram) -> Vec<String> {
    let mut state = Core {
        clocks: vec![vec![0; THREADS]; 5],
        counts: vec![0; THREADS],
        semaphores: BTreeMap::new(),
        history: BTreeMap::new(),
        races: Vec::new(),
        stored: BTreeMap::new(),
    };
    let mut slots = [0; 5];
    loop {
        let mut moved = false;
        for engine in Engine::ALL {
            let number = usize::from(engine.number());
            // as far as it can: waits say what must come before, not the turn
            while let Some(record) = core.stream(engine).get(slots[number]) {
                let instruction = record.instruction().unwrap();
                let what = format!("{engine} slot {} {}", slots[number], record.opcode());
                if !state.step(number, instruction, &what) {
                    break;
                }
                slots[number] += 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    for engine in Engine::ALL {
        let number = usize::from(engine.number());
        let length = core.stream(engine).len();
        assert_eq!(slots[number], length, "{engine} does not reach its end");
    }
    state.races
}

impl Core {
    /// Runs an instruction if its waits hold.
    fn step(&mut self, engine: usize, instruction: &Instruction, what: &str) -> bool {
        let mut waits = vec![instruction.header.events()];
        if let Body::EventSemaphore(body) = &instruction.body {
            waits.push(body.events);
        }
        waits.retain(|wait| wait.wait_mode.0 != 0);
        for wait in &waits {
            assert_eq!(wait.wait_mode.0, 5, "{what}");
            let value = self.semaphores.get(&wait.wait_index).map_or(0, Semaphore::value);
            if value < wait.wait_value {
                return false;
            }
        }
        for wait in &waits {
            let rises = &self.semaphores[&wait.wait_index].rises;
            let (_, clock) = rises.iter().find(|(value, _)| *value >= wait.wait_value).unwrap();
            join(&mut self.clocks[engine], &clock.clone());
        }
        let (reads, writes) = areas(instruction);
        let (thread, mut clock) = match &instruction.body {
            Body::DmaDirect(body) => (5 + usize::from(body.semaphore), self.clocks[engine].clone()),
            Body::Collective(_) => {
                let index = instruction.header.update_index;
                (5 + usize::from(index), self.clocks[engine].clone())
            }
            _ => {
                let mut clock = self.clocks[engine].clone();
                clock[engine] = self.counts[engine];
                (engine, clock)
            }
        };
        // one transfer at a time on a semaphore
        if clock[thread] != self.counts[thread] {
            self.races.push(format!("{what}: two transfers on one semaphore"));
        }
        self.counts[thread] += 1;
        let count = self.counts[thread];
        for (areas, writes) in [(reads, false), (writes, true)] {
            for area in areas {
                self.access(Access { area, writes, thread, count, what: what.to_owned() }, &clock);
            }
        }
        clock[thread] = count;
        if let Body::DmaDirect(body) = &instruction.body {
            assert_eq!(body.increment, 16);
            let semaphore = self.semaphores.entry(body.semaphore).or_default();
            semaphore.rise(16, thread, clock.clone(), what);
        }
        if instruction.header.update_mode.0 != 0 {
            assert_eq!(instruction.header.update_mode.0, 0x13, "{what}");
            let index = instruction.header.update_index;
            self.semaphores.entry(index).or_default().rise(1, thread, clock, what);
        }
        true
    }

    fn access(&mut self, access: Access, clock: &Clock) {
        let history = self.history.entry(access.area.memory).or_default();
        for other in history.iter() {
            let ordered = other.thread == access.thread || clock[other.thread] >= other.count;
            if (access.writes || other.writes) && !ordered && other.area.overlaps(&access.area) {
                self.races.push(format!("{} and {}: {:?}", other.what, access.what, access.area));
            }
        }
        // a variable's bytes are written once, and before they are read
        if access.area.memory < SBUF && access.writes {
            let stored = self.stored.entry(access.area.memory).or_default();
            if stored.iter().any(|stored| stored.overlaps(&access.area)) {
                self.races.push(format!("{} writes bytes again", access.what));
            }
            stored.push(access.area.clone());
        }
        // What a write covers is ordered before it, so it stands for the rest. So
        // does an access for an earlier one of the same kind by its own thread:
        // who comes after it comes after both.
        let whole = access.writes && access.area.memory >= SBUF;
        let hull = access.area.hull();
        history.retain(|other| {
            let stands = whole
                || (other.thread == access.thread
                    && other.writes == access.writes
                    && access.area.pieces.len() == 1);
            let inside = stands
                && other.area.partitions.start >= access.area.partitions.start
                && other.area.partitions.end <= access.area.partitions.end
                && other.area.hull().start >= hull.start
                && other.area.hull().end <= hull.end;
            !inside || other.count == access.count && other.thread == access.thread
        });
        history.push(access);
    }
}
