//! The functional scheduler: five engines and the DMA queues of each core, in
//! turns, until all have ended.
//!
//! A turn goes over the cores in order; on each, every engine runs one
//! instruction if its waits hold, then every queue does one job. A job that
//! loads SBUF waits until no engine of its core runs, within limits, so that
//! what it brings is still in the caches of the host when it is used. So a run
//! is the same on every host, and a transfer is done after its trigger, not
//! with it: a program that does not wait for its transfers shows it.

use std::collections::{BTreeMap, VecDeque};

use neuron_core::isa::body::Body;
use neuron_core::isa::{Engine, Instruction, Opcode, Record};
use neuron_core::neff::Usage;

use crate::collective::{self, Gathering, Post, States};
use crate::dma::Job;
use crate::exec::{self, Flow, Site, State};
use crate::fault::Fault;
use crate::hbm::Hbm;
use crate::observer::{At, Observer};
use crate::program::{CoreProgram, Program};
use crate::stop::{Blocked, Stop};

/// Bytes of tensors by name.
pub type Tensors = BTreeMap<String, Vec<u8>>;

/// Bytes of an input, wherever they are.
pub trait Source {
    /// How many.
    fn size(&self) -> u64;

    /// Copies those from an offset on.
    ///
    /// # Errors
    ///
    /// Why they are not there, one line.
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), String>;
}

impl Source for [u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), String> {
        let from = usize::try_from(at).ok().and_then(|at| self.get(at..)?.get(..into.len()));
        into.copy_from_slice(from.ok_or("has too few bytes")?);
        Ok(())
    }
}

impl Source for Vec<u8> {
    fn size(&self) -> u64 {
        self.as_slice().size()
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), String> {
        self.as_slice().read(at, into)
    }
}

/// Inputs by name.
pub type Sources<'a> = BTreeMap<&'a str, &'a dyn Source>;

fn sources(tensors: &Tensors) -> Sources<'_> {
    tensors.iter().map(|(name, bytes)| (name.as_str(), bytes as &dyn Source)).collect()
}

/// How much a run may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Instructions of all engines together.
    pub instructions: u64,
    /// Bytes of all outputs together.
    pub output_bytes: u64,
    /// Packets of all DMA engines together, in a timed run.
    pub packets: u64,
    /// Bytes that all transfers together move.
    pub moved_bytes: u64,
}

impl Default for Limits {
    /// 2^32 instructions, 8 GiB of outputs, 2^32 packets, 2^44 bytes moved: what
    /// real programs need stays far below (our choice).
    fn default() -> Self {
        let (instructions, packets) = (1 << 32, 1 << 32);
        Self { instructions, output_bytes: 8 << 30, packets, moved_bytes: 1 << 44 }
    }
}

impl Program {
    /// Runs the program with these inputs and gives its outputs.
    ///
    /// # Errors
    ///
    /// The first thing that stops it; nothing is guessed and nothing is skipped.
    pub fn run(&self, inputs: &Tensors) -> Result<Tensors, Stop> {
        self.run_with(inputs, &Limits::default(), &mut ())
    }

    /// Runs the program under limits, and tells an observer of it.
    ///
    /// # Errors
    ///
    /// As [`Program::run`].
    pub fn run_with(
        &self,
        inputs: &Tensors,
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Tensors, Stop> {
        self.run_from(&sources(inputs), limits, observer)
    }

    /// As [`Program::run_with`], with inputs that are read straight into the
    /// memory of the device.
    ///
    /// # Errors
    ///
    /// As [`Program::run`]; what a source says is [`Stop::Input`].
    pub fn run_from(
        &self,
        inputs: &Sources<'_>,
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Tensors, Stop> {
        let mut hbm = self.hbm.clone();
        self.fill_from(&mut hbm, inputs, true)?;
        let mut cores: Vec<Core<'_>> =
            self.cores.iter().map(|core| Core::new(core, self)).collect();
        let (mut done, mut gathering) = (0, Gathering::default());
        let mut bytes_left = limits.moved_bytes;
        loop {
            if observer.cancelled() {
                return Err(Stop::Cancelled);
            }
            let before = done;
            let (mut moved, mut posts) = (false, Vec::new());
            for (index, core) in cores.iter_mut().enumerate() {
                let (count, hbm) = (self.cores.len(), &mut hbm);
                let (observer, bytes_left) = (&mut *observer, &mut bytes_left);
                let mut turn =
                    Turn { core: index, cores: count, hbm, observer, limits, bytes_left };
                let started = done;
                for engine in Engine::ALL {
                    match turn.step(core, engine)? {
                        Step::Ran => done += 1,
                        Step::Posted(post) => {
                            done += 1;
                            posts.push(post);
                        }
                        Step::Ended | Step::Waits => {}
                    }
                }
                moved |= turn.transfer(core, done == started)?;
            }
            for post in posts {
                let at = post.at;
                if let Some(posts) = gathering.post(post).map_err(stop_at(&cores, at))? {
                    collect(&posts, &mut hbm, &mut cores, observer).map_err(stop_at(&cores, at))?;
                }
            }
            if done > limits.instructions {
                return Err(Stop::Instructions(limits.instructions));
            }
            if done == before && !moved {
                let mut blocked = Vec::new();
                for (index, core) in cores.iter().enumerate() {
                    core.blocked(index, &mut blocked)?;
                }
                blocked.extend(gathering.blocked());
                if blocked.is_empty() {
                    return self.outputs(&hbm, limits.output_bytes);
                }
                return Err(Stop::Deadlock(blocked));
            }
        }
    }

    /// Puts inputs into their buffers. What is not given stays zero, unless
    /// everything is `required`.
    pub(crate) fn fill(&self, hbm: &mut Hbm, inputs: &Tensors, required: bool) -> Result<(), Stop> {
        self.fill_from(hbm, &sources(inputs), required)
    }

    fn fill_from(&self, hbm: &mut Hbm, inputs: &Sources<'_>, required: bool) -> Result<(), Stop> {
        let wrong = |name: &str, reason: String| Stop::Input { name: name.to_owned(), reason };
        let known = |name: &str| {
            let mut tensors = self.tensors().iter();
            tensors.find(|tensor| tensor.usage == Usage::Input && tensor.name == name)
        };
        if let Some(name) = inputs.keys().find(|name| known(name).is_none()) {
            return Err(wrong(name, "the program has no such input".to_owned()));
        }
        for tensor in self.tensors().iter().filter(|tensor| tensor.usage == Usage::Input) {
            let missing = || wrong(&tensor.name, format!("is missing, {} bytes", tensor.bytes));
            let data = match inputs.get(tensor.name.as_str()) {
                None if !required => continue,
                data => data.ok_or_else(missing)?,
            };
            if data.size() != tensor.bytes {
                let reason = format!("has {} bytes and must have {}", data.size(), tensor.bytes);
                return Err(wrong(&tensor.name, reason));
            }
            let Some(buffer) = hbm.buffers.get_mut(tensor.buffer) else { continue };
            let read = buffer.fill(|at, page| data.read(at, page));
            read.map_err(|reason| wrong(&tensor.name, reason))?;
        }
        Ok(())
    }

    pub(crate) fn outputs(&self, hbm: &Hbm, mut left: u64) -> Result<Tensors, Stop> {
        let mut out = Tensors::new();
        for tensor in self.tensors().iter().filter(|tensor| tensor.usage == Usage::Output) {
            let name = tensor.name.clone();
            left = left.checked_sub(tensor.bytes).ok_or_else(|| Stop::Output {
                name: name.clone(),
                fault: Fault::address(format!("{} bytes are beyond the limit", tensor.bytes)),
            })?;
            let data = hbm.buffers.get(tensor.buffer).map(|buffer| buffer.to_vec()).transpose();
            let data = data.map_err(|fault| Stop::Output { name: name.clone(), fault })?;
            out.insert(name, data.unwrap_or_default());
        }
        Ok(out)
    }
}

/// A core while it runs.
struct Core<'p> {
    program: &'p CoreProgram,
    state: State,
    /// Next slot of each engine; past the end once it has ended.
    slots: [usize; 5],
    /// Queues in the order of their first job.
    queues: Vec<(String, VecDeque<Job>)>,
    turns: usize,
}

/// Loads that may wait in a queue, and turns that they may, while an engine
/// runs (our choice).
const MOST_WAITING: usize = 64;

impl<'p> Core<'p> {
    fn new(program: &'p CoreProgram, whole: &Program) -> Self {
        let state = State::new(whole.arch);
        Self { program, state, slots: [0; 5], queues: Vec::new(), turns: 0 }
    }

    /// What each engine that has not ended waits for.
    fn blocked(&self, core: usize, blocked: &mut Vec<Blocked>) -> Result<(), Stop> {
        for (engine, slot) in Engine::ALL.into_iter().zip(self.slots) {
            let Some(record) = self.program.stream(engine).get(slot) else { continue };
            let at = At { core, engine, slot };
            let stop = |fault| stop(at, record, fault);
            let instruction = understood(record).map_err(stop)?;
            let registers = self.state.registers(engine);
            let blocks = [Some(instruction.header.events()), second_block(instruction)];
            let unmet =
                blocks.iter().flatten().map(|block| self.state.sync.unmet(block, registers));
            let unmet: Result<Vec<_>, Fault> = unmet.collect();
            let unmet: Vec<_> = unmet.map_err(stop)?.into_iter().flatten().collect();
            if !unmet.is_empty() {
                blocked.push(Blocked { at, opcode: record.opcode(), unmet });
            }
        }
        Ok(())
    }
}

fn stop(at: At, record: &Record, fault: Fault) -> Stop {
    Stop::Instruction { at, opcode: record.opcode(), fault, bytes: Box::new(record.encode()) }
}

/// A fault at a record that ran.
fn stop_at(cores: &[Core<'_>], at: At) -> impl FnOnce(Fault) -> Stop {
    let record = cores.get(at.core).and_then(|core| core.program.stream(at.engine).get(at.slot));
    let (opcode, bytes) =
        record.map_or((Opcode(0), [0; 64]), |record| (record.opcode(), record.encode()));
    move |fault| Stop::Instruction { at, opcode, fault, bytes: Box::new(bytes) }
}

impl States for Vec<Core<'_>> {
    fn state(&mut self, core: usize) -> Option<&mut State> {
        self.get_mut(core).map(|core| &mut core.state)
    }
}

/// Does a complete collective, then the updates of its records.
fn collect(
    posts: &[Post],
    hbm: &mut Hbm,
    cores: &mut Vec<Core<'_>>,
    observer: &mut dyn Observer,
) -> Result<(), Fault> {
    collective::perform(posts, hbm, cores)?;
    for post in posts {
        if let Some(state) = cores.state(post.at.core) {
            state.update(post.at.engine, &post.update)?;
        }
    }
    observer.collected(posts);
    Ok(())
}

enum Step {
    Ran,
    Posted(Post),
    Ended,
    Waits,
}

struct Turn<'t> {
    core: usize,
    cores: usize,
    hbm: &'t mut Hbm,
    observer: &'t mut dyn Observer,
    limits: &'t Limits,
    /// Bytes that transfers may still move.
    bytes_left: &'t mut u64,
}

impl Turn<'_> {
    /// Runs one instruction of an engine, if its waits hold.
    fn step(&mut self, core: &mut Core<'_>, engine: Engine) -> Result<Step, Stop> {
        let number = usize::from(engine.number());
        let slot = core.slots.get(number).copied().unwrap_or(usize::MAX);
        let stream = core.program.stream(engine);
        let Some(record) = stream.get(slot) else {
            return Ok(Step::Ended);
        };
        let at = At { core: self.core, engine, slot };
        let next = stream.get(slot + 1);
        let (core_number, cores, program) = (self.core, self.cores, core.program);
        let site = Site { core: core_number, cores, engine, slot, next, program };
        let stop = |fault| stop(at, record, fault);
        let instruction = understood(record).map_err(stop)?;
        let blocks = [Some(instruction.header.events()), second_block(instruction)];
        let blocks = blocks.iter().flatten();
        for block in blocks.clone() {
            if !core.state.holds(engine, block).map_err(stop)? {
                return Ok(Step::Waits);
            }
        }
        for block in blocks.clone() {
            core.state.sync.pass(block).map_err(stop)?;
        }
        self.observer.begin(at, instruction);
        let flow = exec::execute(&mut core.state, self.hbm, site, instruction).map_err(stop)?;
        let errors = std::mem::take(&mut core.state.errors);
        if !errors.is_none() {
            self.observer.errors(at, &errors);
        }
        // the update of a collective comes with it
        let updates = if matches!(flow, Flow::Post(_)) { 0 } else { usize::MAX };
        for block in blocks.take(updates) {
            core.state.update(engine, block).map_err(stop)?;
        }
        let mut step = Step::Ran;
        let following = match flow {
            Flow::Next => slot + 1,
            Flow::Post(post) => {
                self.observer.posted(at, &post);
                step = Step::Posted(post);
                slot + 1
            }
            Flow::Jump(target) if target <= stream.len() => target,
            Flow::Jump(target) => {
                return Err(stop(Fault::Address(format!("a branch to slot {target}"))));
            }
            Flow::Halt => stream.len(),
            Flow::Queue(job) => {
                self.observer.queued(at, &job);
                match core.queues.iter_mut().find(|(name, _)| *name == job.queue) {
                    Some((_, jobs)) => jobs.push_back(job),
                    None => core.queues.push((job.queue.clone(), VecDeque::from([job]))),
                }
                slot + 1
            }
        };
        if let Some(slot) = core.slots.get_mut(number) {
            *slot = following;
        }
        self.observer.end(at, instruction);
        Ok(step)
    }

    /// Does one job of every queue, but loads only where no engine of the core
    /// runs or many wait; tells whether there was one.
    fn transfer(&mut self, core: &mut Core<'_>, idle: bool) -> Result<bool, Stop> {
        let mut any = false;
        core.turns += 1;
        let due = idle || core.turns.is_multiple_of(MOST_WAITING);
        for (queue, jobs) in &mut core.queues {
            let waits = jobs.len() <= MOST_WAITING && jobs.front().is_some_and(Job::only_loads);
            if waits && !due {
                continue;
            }
            let Some(job) = jobs.pop_front() else {
                continue;
            };
            any = true;
            let left = self.bytes_left.checked_sub(job.bytes());
            *self.bytes_left = left.ok_or(Stop::MovedBytes(self.limits.moved_bytes))?;
            let stop = |fault| Stop::Transfer { core: self.core, queue: queue.clone(), fault };
            for transfer in &job.transfers {
                transfer.perform(&mut core.state.memory, self.hbm).map_err(stop)?;
            }
            if let Some(semaphore) = job.semaphore {
                core.state.sync.add(semaphore, i64::from(job.increment)).map_err(stop)?;
            }
            if let Some(event) = job.event {
                core.state.sync.put_event(event, true);
            }
            self.observer.transferred(self.core, &job);
        }
        Ok(any)
    }
}

/// A record of which every byte has a meaning.
pub(crate) fn understood(record: &Record) -> Result<&Instruction, Fault> {
    match record.instruction() {
        None => Err(Fault::NotUnderstood("the generation has no such opcode".to_owned())),
        Some(instruction) if instruction.body == Body::HeaderOnly => {
            Err(Fault::NotUnderstood("its layout is not published".to_owned()))
        }
        Some(instruction) if !instruction.rest.is_none() => Err(Fault::NotUnderstood(format!(
            "bytes outside of its fields: {:?}",
            instruction.rest
        ))),
        Some(instruction) => Ok(instruction),
    }
}

/// The second block of events, which EVENT_SEMAPHORE has.
pub(crate) fn second_block(instruction: &Instruction) -> Option<neuron_core::isa::event::Events> {
    match &instruction.body {
        Body::EventSemaphore(body) => Some(body.events),
        _ => None,
    }
}
