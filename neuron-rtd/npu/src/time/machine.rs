//! The loop: takes what happens next and does it.

use neuron_core::isa::body::Body;
use neuron_core::isa::event::{Action, Moment, Wait};
use neuron_core::isa::{Engine, Instruction, Opcode};

use super::collectives::Collectives;
use super::emit::{Emitter, Value};
use super::events::{Agenda, Event};
use super::lane::{Lane, Span, Waiting};
use super::legal::Faults;
use super::parameters::{Ps, by_engine};
use super::plan::{self, Kind, Plan, Plans, UpdateOn};
use super::rings::Rings;
use super::sink::{Executed, Sink};
use super::summary::{CoreSummary, Summary};
use super::throttle::Throttle;
use super::{Timed, Timing, memory_ports, steering};
use crate::exec::{self, Flow, Site, State};
use crate::fault::Fault;
use crate::hbm::Hbm;
use crate::observer::At;
use crate::program::{CoreProgram, Program};
use crate::run::{self, Tensors};
use crate::stop::{Blocked, Stop};

/// Most instructions of an engine in one turn of the loop.
const STEPS: u32 = 64;

pub(super) struct Core<'p> {
    pub(super) program: &'p CoreProgram,
    pub(super) state: State,
    /// What cannot run, in a run without arithmetic.
    faults: Option<&'p Faults>,
    pub(super) lanes: [Lane; 5],
    plans: [Plans<'p>; 5],
    pub(super) rings: Rings,
    pub(super) throttle: Throttle,
    /// When the software generator ends its last job.
    pub(super) software: Ps,
    pub(super) counts: CoreSummary,
}

pub(super) fn narrow(slot: usize) -> u32 {
    u32::try_from(slot).unwrap_or(u32::MAX)
}

pub(super) struct Machine<'p, 's> {
    pub(super) timing: &'s Timing,
    pub(super) hbm: Hbm,
    pub(super) cores: Vec<Core<'p>>,
    pub(super) agenda: Agenda,
    pub(super) emitter: Emitter<'s>,
    /// Transfers move bytes.
    pub(super) moves: bool,
    /// The HBM of the chip is free.
    pub(super) hbm_free: Ps,
    /// The end of whatever ended last.
    pub(super) last: Ps,
    done: u64,
    pub(super) packets: u64,
    pub(super) moved_bytes: u64,
    pub(super) collectives: Collectives,
}

/// Runs a program.
pub(super) fn run(
    program: &Program,
    inputs: &Tensors,
    timing: &Timing,
    sink: &mut dyn Sink,
) -> Result<Timed, Stop> {
    let mut hbm = program.hbm.clone();
    program.fill(&mut hbm, inputs, timing.arithmetic)?;
    let faults = if timing.arithmetic { &[][..] } else { program.faults() };
    let cores = program.cores.iter().enumerate().map(|(index, core)| Core {
        program: core,
        state: State { computes: timing.arithmetic, ..State::new(program.arch) },
        faults: faults.get(index),
        lanes: Engine::ALL.map(|engine| Lane::new(&timing.parameters, engine)),
        plans: Engine::ALL.map(|engine| Plans::new(core.stream(engine).len())),
        rings: Rings::default(),
        throttle: Throttle::new(timing.parameters.throttle),
        software: 0,
        counts: CoreSummary::default(),
    });
    let cores: Vec<Core<'_>> = cores.collect();
    let moves = timing.arithmetic || steering::steer(&cores);
    let wanted = sink.wants_records();
    let mut machine = Machine {
        timing,
        hbm,
        cores,
        agenda: Agenda::default(),
        emitter: Emitter { sink, wanted },
        moves,
        hbm_free: 0,
        last: 0,
        done: 0,
        packets: 0,
        moved_bytes: 0,
        collectives: Collectives::default(),
    };
    match machine.run() {
        Ok(()) => machine.finish(program),
        Err(stop) => {
            let timed = machine.count();
            machine.emitter.sink.stopped(&timed);
            Err(stop)
        }
    }
}

/// Whose turn it is.
struct Turn {
    time: Ps,
    core: usize,
    engine: Engine,
    /// When the next engine looks.
    others: Ps,
}

impl<'p> Machine<'p, '_> {
    fn run(&mut self) -> Result<(), Stop> {
        loop {
            if self.emitter.sink.cancelled() {
                return Err(Stop::Cancelled);
            }
            let Turn { time, core, engine, others } = self.turn();
            if self.agenda.time() > time {
                self.steps(time, core, engine, others)?;
                continue;
            }
            let Some((now, core, event)) = self.agenda.pop() else { break };
            match event {
                Event::Read { engine, slot } => {
                    self.change(now, core, engine, slot, Some(Moment::Read))?
                }
                Event::Done { engine, slot } => {
                    if self.emitter.wanted {
                        let at = At { core, engine, slot: slot as usize };
                        let hint = self.instruction(at).map(|it| it.header.debug_hint);
                        let end = now - by_engine(&self.timing.parameters.update, engine);
                        self.emitter.end(at, hint.unwrap_or_default(), end);
                    }
                    self.change(now, core, engine, slot, Some(Moment::Complete))?;
                }
                Event::Changed { index } => self.call(now, core, index),
                Event::Collective { number } => self.collected(now, number)?,
                Event::Doorbell { job } => self.doorbell(now, core, job as usize),
                Event::Packet { engine } => self.packet(now, core, engine)?,
                Event::Semaphore { job, .. } => self.semaphore(now, core, job as usize)?,
            }
        }
        let blocked = self.blocked()?;
        if blocked.is_empty() { Ok(()) } else { Err(Stop::Deadlock(blocked)) }
    }

    /// Which engine looks first at its next instruction: the lowest of those
    /// that look at one time.
    fn turn(&self) -> Turn {
        let mut turn = Turn { time: Ps::MAX, core: 0, engine: Engine::Pe, others: Ps::MAX };
        for (core, lanes) in self.cores.iter().map(|core| &core.lanes).enumerate() {
            for lane in lanes {
                if lane.next < turn.time {
                    let others = turn.time;
                    turn = Turn { time: lane.next, core, engine: lane.engine, others };
                } else {
                    turn.others = turn.others.min(lane.next);
                }
            }
        }
        turn
    }

    /// What the run came to, without its outputs.
    fn count(&mut self) -> Timed {
        let total = self.last + self.timing.parameters.finish;
        let mut rings = Vec::new();
        let mut counts = Vec::new();
        for (index, core) in self.cores.iter_mut().enumerate() {
            core.throttle.advance(total);
            for (time, notice) in core.throttle.notices() {
                self.emitter.throttle(index, time, notice);
            }
            rings.push(core.rings.names().to_vec());
            for (lane, (busy, count)) in core
                .lanes
                .iter()
                .zip(core.counts.busy.iter_mut().zip(&mut core.counts.instructions))
            {
                (*busy, *count) = (lane.busy, lane.count);
            }
            counts.push(core.counts);
        }
        let summary = Summary::new(&self.timing.parameters, total, counts);
        Timed { outputs: Tensors::new(), summary, rings }
    }

    fn finish(mut self, program: &Program) -> Result<Timed, Stop> {
        let mut timed = self.count();
        if self.timing.arithmetic {
            timed.outputs = program.outputs(&self.hbm, self.timing.limits.output_bytes)?;
        }
        Ok(timed)
    }

    /// An instruction that is under way.
    fn instruction(&self, at: At) -> Option<&'p Instruction> {
        self.cores.get(at.core)?.program.stream(at.engine).get(at.slot)?.instruction()
    }

    /// Lets an engine look at its instructions until others look at theirs or
    /// something happens.
    fn steps(&mut self, now: Ps, core: usize, engine: Engine, others: Ps) -> Result<(), Stop> {
        let mut now = now;
        for _ in 0..STEPS {
            now = self.step(now, core, engine)?;
            if now >= others || now >= self.agenda.time() {
                break;
            }
        }
        if let Some(lane) = self.lane(core, engine) {
            lane.next = now;
        }
        Ok(())
    }

    fn lane(&mut self, core: usize, engine: Engine) -> Option<&mut Lane> {
        self.cores.get_mut(core)?.lanes.get_mut(usize::from(engine.number()))
    }

    /// Begins an engine's next instruction, if it may; gives when to look again,
    /// [`Ps::MAX`] when something must happen first.
    fn step(&mut self, now: Ps, index: usize, engine: Engine) -> Result<Ps, Stop> {
        let (timing, done) = (self.timing, self.done);
        let parameters = &timing.parameters;
        let Some(core) = self.cores.get_mut(index) else { return Ok(Ps::MAX) };
        let number = usize::from(engine.number());
        let (Some(plans), Some(lane)) = (core.plans.get_mut(number), core.lanes.get_mut(number))
        else {
            return Ok(Ps::MAX);
        };
        let slot = lane.slot;
        let at = At { core: index, engine, slot };
        let stream = core.program.stream(engine);
        let Some(record) = stream.get(slot) else { return Ok(Ps::MAX) };
        let stop = |fault| Stop::Instruction {
            at,
            opcode: record.opcode(),
            fault,
            bytes: Box::new(record.encode()),
        };
        let make = || Plan::new(parameters, engine, run::understood(record)?);
        let Some(plan) = plans.ready(slot, make).map_err(stop)? else { return Ok(Ps::MAX) };
        let earliest = lane.earliest(parameters, plan);
        if earliest > now {
            return Ok(earliest);
        }
        let registers = core.state.registers(engine);
        for wait in plan.waits.iter().flatten() {
            let sync = &core.state.sync;
            if !sync.holds(wait.wait, wait.index, wait.value, registers).map_err(stop)? {
                lane.waiting.get_or_insert(Waiting { since: now });
                return Ok(Ps::MAX);
            }
        }
        let plan = *plan;
        let free = memory_ports::free(parameters, &core.lanes, engine, &plan, now);
        if free > now {
            return Ok(free);
        }
        if done >= timing.limits.instructions {
            return Err(Stop::Instructions(timing.limits.instructions));
        }
        self.done += 1;
        self.issue(now, at, &plan).map_err(stop)
    }

    /// Begins an instruction.
    fn issue(&mut self, now: Ps, at: At, plan: &Plan<'p>) -> Result<Ps, Fault> {
        let parameters = &self.timing.parameters;
        let At { core: index, engine, slot } = at;
        let cores = self.cores.len();
        let Some(core) = self.cores.get_mut(index) else { return Ok(Ps::MAX) };
        let number = usize::from(engine.number());
        for wait in plan.waits.iter().flatten() {
            let set = match wait.wait {
                Wait::EventSet { then_clear: true } => false,
                Wait::EventClear { then_set: true } => true,
                _ => continue,
            };
            core.state.sync.put_event(wait.index, set);
            self.agenda.push(now, index, Event::Changed { index: wait.index });
            self.emitter.update(at, now, wait.mode, wait.index, Value::Passed(set));
        }
        let (program, stream) = (core.program, core.program.stream(engine));
        let flow = if plan.known && !self.timing.arithmetic {
            match core.faults.and_then(|faults| faults.get(number)?.get(&slot)) {
                Some(fault) => return Err(fault.clone()),
                None => Flow::Next,
            }
        } else {
            let next = stream.get(slot + 1);
            let site = Site { core: index, cores, engine, slot, next, program };
            exec::execute(&mut core.state, &mut self.hbm, site, plan.instruction)?
        };
        let errors = std::mem::take(&mut core.state.errors);
        if !errors.is_none() {
            core.counts.errors.add(&errors);
            self.emitter.sink.errors(at, &errors);
        }
        let Some(lane) = core.lanes.get_mut(number) else { return Ok(Ps::MAX) };
        let ready = lane.waiting.take().map_or(now, |waiting| waiting.since);
        let mut span = lane.begin(parameters, &mut core.throttle, plan, now);
        lane.slot = slot + 1;
        match flow {
            Flow::Next => {}
            Flow::Jump(target) if target <= stream.len() => lane.slot = target,
            Flow::Jump(target) => return Err(Fault::Address(format!("a branch to slot {target}"))),
            Flow::Halt => lane.slot = stream.len(),
            Flow::Queue(job) => self.queue(at, plan, &mut span, job),
            Flow::Post(post) => self.posted(now, post)?,
        }
        if plan.touches_any() {
            (0..=u8::MAX).for_each(|changed| self.call(now, index, changed));
        }
        self.note(at, plan);
        let Some(core) = self.cores.get_mut(index) else { return Ok(Ps::MAX) };
        let Some(lane) = core.lanes.get_mut(number) else { return Ok(Ps::MAX) };
        lane.account(&span, plan);
        lane.ready = span.ready;
        self.last = self.last.max(span.end);
        for (time, notice) in core.throttle.notices() {
            self.emitter.throttle(index, time, notice);
        }
        let hint = plan.instruction.header.debug_hint;
        self.emitter.start(at, hint, span.start, now.saturating_sub(ready));
        let Span { start, end, .. } = span;
        self.emitter.sink.instruction(&Executed { at, ready, start, end });
        if let Body::RangeClear(body) = &plan.instruction.body {
            self.emitter.cleared(at, end, body.first, body.last);
            for changed in body.first..=body.last {
                self.agenda.push(end, index, Event::Changed { index: changed });
            }
        }
        // those of a collective come with it
        let none = [None; 2];
        let updates = if plan.posts() { &none } else { &plan.updates }.iter().flatten();
        if updates.clone().any(|update| update.update.moment == Moment::Read) {
            self.agenda.push(span.read, index, Event::Read { engine, slot: narrow(slot) });
        }
        let completes = updates.clone().any(|update| update.update.moment == Moment::Complete);
        if completes || self.emitter.wanted {
            let time = end + by_engine(&parameters.update, engine);
            self.agenda.push(time, index, Event::Done { engine, slot: narrow(slot) });
        }
        Ok(span.ready)
    }

    /// Counts what an instruction adds to the summary.
    fn note(&mut self, at: At, plan: &Plan<'_>) {
        let Kind::MatMul { flops, transposes, weight, .. } = plan.kind else { return };
        let Some(core) = self.cores.get_mut(at.core) else { return };
        core.counts.hardware_flops += flops;
        if transposes {
            core.counts.transpose_flops += flops;
        }
        core.counts.adjusted_flops += flops * u64::from(weight) / 2;
    }

    /// A fault at a record that ran.
    pub(super) fn stop(&self, at: At, fault: Fault) -> Stop {
        let instruction = self.instruction(at);
        let opcode = instruction.map_or(Opcode(0), |instruction| instruction.header.opcode);
        let bytes = Box::new(instruction.map_or([0; 64], Instruction::encode));
        Stop::Instruction { at, opcode, fault, bytes }
    }

    /// The updates of an instruction at one of its moments; `None` for those of
    /// a collective.
    pub(super) fn change(
        &mut self,
        now: Ps,
        index: usize,
        engine: Engine,
        slot: u32,
        moment: Option<Moment>,
    ) -> Result<(), Stop> {
        let at = At { core: index, engine, slot: slot as usize };
        let Some(core) = self.cores.get(index) else { return Ok(()) };
        let kept = core.plans.get(usize::from(engine.number()));
        let (updates, posts) = match kept.and_then(|plans| plans.get(at.slot)) {
            Some(plan) => (plan.updates, plan.posts()),
            // its plan is gone by now
            None => {
                let Some(instruction) = self.instruction(at) else { return Ok(()) };
                let updates = plan::all_updates(instruction);
                (updates.map_err(|fault| self.stop(at, fault))?, plan::posts(instruction))
            }
        };
        for update in updates.iter().flatten() {
            let due = match moment {
                Some(moment) => !posts && update.update.moment == moment,
                None => posts,
            };
            if due {
                self.apply(now, at, update).map_err(|fault| self.stop(at, fault))?;
            }
        }
        Ok(())
    }

    fn apply(&mut self, now: Ps, at: At, update: &UpdateOn) -> Result<(), Fault> {
        let Some(core) = self.cores.get_mut(at.core) else { return Ok(()) };
        let UpdateOn { update, mode, index, value } = *update;
        let State { sync, registers, .. } = &mut core.state;
        let Some(registers) = registers.get(usize::from(at.engine.number())) else {
            return Ok(());
        };
        sync.act(update.action, index, value, registers)?;
        let value = match update.action {
            Action::SetEvent | Action::ClearEvent => Value::Event(sync.event(index)),
            _ => Value::Semaphore(sync.semaphore(index)),
        };
        self.emitter.update(at, now, mode, index, value);
        self.call(now, at.core, index);
        Ok(())
    }

    /// Tells the engines that wait for a semaphore or event of this number to
    /// look again.
    pub(super) fn call(&mut self, now: Ps, index: usize, changed: u8) {
        let wake = now + self.timing.parameters.wake;
        let Some(core) = self.cores.get_mut(index) else { return };
        for (lane, plans) in core.lanes.iter_mut().zip(&core.plans) {
            // the first change calls it; it looks at all of them then
            if lane.waiting.is_none() || lane.next != Ps::MAX {
                continue;
            }
            let Some(plan) = plans.get(lane.slot) else { continue };
            if plan.waits.iter().flatten().any(|wait| wait.index == changed) {
                lane.next = wake;
            }
        }
    }

    fn blocked(&self) -> Result<Vec<Blocked>, Stop> {
        let mut all = Vec::new();
        for (index, core) in self.cores.iter().enumerate() {
            for lane in core.lanes.iter().filter(|lane| lane.waiting.is_some()) {
                let at = At { core: index, engine: lane.engine, slot: lane.slot };
                let Some(instruction) = self.instruction(at) else { continue };
                let stop = |fault| self.stop(at, fault);
                let blocks = [Some(instruction.header.events()), run::second_block(instruction)];
                let mut unmet = Vec::new();
                for block in blocks.iter().flatten() {
                    let registers = core.state.registers(lane.engine);
                    unmet.extend(core.state.sync.unmet(block, registers).map_err(stop)?);
                }
                all.push(Blocked { at, opcode: instruction.header.opcode, unmet });
            }
        }
        all.extend(self.collectives.gathering.blocked());
        Ok(all)
    }
}
