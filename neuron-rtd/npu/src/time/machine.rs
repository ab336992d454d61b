//! The loop: takes what happens next and does it.

use neuron_core::isa::body::Body;
use neuron_core::isa::event::{Action, Moment, Wait};
use neuron_core::isa::{Engine, Opcode};

use super::emit::{Emitter, Value};
use super::events::{Agenda, Event};
use super::lane::{Lane, Span, Waiting};
use super::parameters::{Ps, by_engine};
use super::plan::{Kind, Plan, UpdateOn};
use super::rings::Rings;
use super::sink::{Executed, Sink};
use super::summary::{CoreSummary, Summary, half_weights};
use super::throttle::Throttle;
use super::{Timed, Timing, memory_ports};
use crate::collective::Gathering;
use crate::exec::{self, Flow, Site, State};
use crate::fault::Fault;
use crate::hbm::Hbm;
use crate::observer::At;
use crate::program::{CoreProgram, Program};
use crate::run::{self, Tensors};
use crate::stop::{Blocked, Stop};

pub(super) struct Core<'p> {
    pub(super) program: &'p CoreProgram,
    pub(super) state: State,
    pub(super) lanes: [Lane; 5],
    plans: [Vec<Option<Plan<'p>>>; 5],
    pub(super) rings: Rings,
    pub(super) throttle: Throttle,
    /// When the software generator ends its last job.
    pub(super) software: Ps,
    pub(super) counts: CoreSummary,
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
    pub(super) gathering: Gathering,
    /// When posts ended whose collective is not complete.
    pub(super) posted: Vec<(At, Ps)>,
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
    let loads = |core: &CoreProgram| {
        let mut records = Engine::ALL.iter().flat_map(|engine| core.stream(*engine));
        let loads = [Opcode::PSEUDO_TENSOR_LOAD, Opcode::TENSOR_LOAD, Opcode::POLL_SEM];
        records.any(|record| loads.contains(&record.opcode()))
    };
    let launch = |engine| by_engine(&timing.parameters.launch, engine);
    let cores = program.cores.iter().map(|core| Core {
        program: core,
        state: State::new(program.arch),
        lanes: Engine::ALL.map(|engine| Lane::new(engine, launch(engine))),
        plans: Engine::ALL.map(|engine| vec![None; core.stream(engine).len()]),
        rings: Rings::default(),
        throttle: Throttle::new(timing.parameters.throttle),
        software: 0,
        counts: CoreSummary::default(),
    });
    let wanted = sink.wants_records();
    let mut machine = Machine {
        timing,
        hbm,
        cores: cores.collect(),
        agenda: Agenda::default(),
        emitter: Emitter { sink, wanted },
        moves: timing.arithmetic || program.cores.iter().any(loads),
        hbm_free: 0,
        last: 0,
        done: 0,
        gathering: Gathering::default(),
        posted: Vec::new(),
    };
    machine.run()?;
    machine.finish(program)
}

/// What came of a look at the next instruction.
enum Look {
    /// It began; the engine looks again at this time.
    Again(Ps),
    /// It waits, or the engine has ended.
    Nothing,
}

impl<'p> Machine<'p, '_> {
    fn run(&mut self) -> Result<(), Stop> {
        for core in 0..self.cores.len() {
            for engine in Engine::ALL {
                let launch = by_engine(&self.timing.parameters.launch, engine);
                self.agenda.push(launch, core, Event::Step { engine });
            }
        }
        while let Some((now, core, event)) = self.agenda.pop() {
            match event {
                Event::Step { engine } => self.steps(now, core, engine)?,
                Event::Read { engine, slot } => {
                    self.change(now, core, engine, slot, Some(Moment::Read))?
                }
                Event::Collected { engine, slot } => self.change(now, core, engine, slot, None)?,
                Event::Done { engine, slot, end } => {
                    let at = At { core, engine, slot };
                    let hint = self.plan(at).map_or(0, |plan| plan.instruction.header.debug_hint);
                    self.emitter.end(at, hint, end);
                    self.change(now, core, engine, slot, Some(Moment::Complete))?;
                }
                Event::Doorbell { job } => self.doorbell(now, core, job),
                Event::Packet { engine } => self.packet(now, core, engine)?,
                Event::Semaphore { job, .. } => self.semaphore(now, core, job)?,
            }
        }
        let blocked = self.blocked()?;
        if blocked.is_empty() { Ok(()) } else { Err(Stop::Deadlock(blocked)) }
    }

    fn finish(mut self, program: &Program) -> Result<Timed, Stop> {
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
        let outputs = if self.timing.arithmetic {
            program.outputs(&self.hbm, self.timing.limits.output_bytes)?
        } else {
            Tensors::new()
        };
        Ok(Timed { outputs, summary: Summary::new(&self.timing.parameters, total, counts), rings })
    }

    fn plan(&self, at: At) -> Option<Plan<'p>> {
        let plans = self.cores.get(at.core)?.plans.get(usize::from(at.engine.number()))?;
        plans.get(at.slot).copied().flatten()
    }

    /// Steps an engine for as long as nothing else happens before it.
    fn steps(&mut self, now: Ps, core: usize, engine: Engine) -> Result<(), Stop> {
        let mut now = now;
        loop {
            match self.step(now, core, engine)? {
                Look::Nothing => return Ok(()),
                Look::Again(time) if self.agenda.is_quiet_until(time) => now = time,
                Look::Again(time) => {
                    self.agenda.push(time, core, Event::Step { engine });
                    return Ok(());
                }
            }
        }
    }

    /// Looks at an engine's next instruction.
    fn step(&mut self, now: Ps, index: usize, engine: Engine) -> Result<Look, Stop> {
        let (timing, done) = (self.timing, self.done);
        let parameters = &timing.parameters;
        let Some(core) = self.cores.get_mut(index) else { return Ok(Look::Nothing) };
        let number = usize::from(engine.number());
        let (Some(plans), Some(lane)) = (core.plans.get_mut(number), core.lanes.get_mut(number))
        else {
            return Ok(Look::Nothing);
        };
        let slot = lane.slot;
        let at = At { core: index, engine, slot };
        let Some(place) = plans.get_mut(slot) else { return Ok(Look::Nothing) };
        let stream = core.program.stream(engine);
        let Some(record) = stream.get(slot) else { return Ok(Look::Nothing) };
        let stop = |fault| Stop::Instruction {
            at,
            opcode: record.opcode(),
            fault,
            bytes: Box::new(record.encode()),
        };
        let plan = match place {
            Some(plan) => plan,
            None => {
                let instruction = run::understood(record).map_err(stop)?;
                place.insert(Plan::new(parameters, engine, instruction).map_err(stop)?)
            }
        };
        let earliest = lane.earliest(parameters, plan);
        if earliest > now {
            return Ok(Look::Again(earliest));
        }
        let registers = core.state.registers(engine);
        for wait in plan.waits.iter().flatten() {
            let sync = &core.state.sync;
            if !sync.holds(wait.wait, wait.index, wait.value, registers).map_err(stop)? {
                match &mut lane.waiting {
                    Some(waiting) => waiting.called = false,
                    None => lane.waiting = Some(Waiting { since: now, called: false }),
                }
                return Ok(Look::Nothing);
            }
        }
        let plan = *plan;
        let free = memory_ports::free(parameters, &core.lanes, engine, &plan, now);
        if free > now {
            return Ok(Look::Again(free));
        }
        if done >= timing.limits.instructions {
            return Err(Stop::Instructions(timing.limits.instructions));
        }
        self.done += 1;
        self.issue(now, at, &plan).map_err(stop)
    }

    /// Begins an instruction.
    fn issue(&mut self, now: Ps, at: At, plan: &Plan<'p>) -> Result<Look, Fault> {
        let parameters = &self.timing.parameters;
        let At { core: index, engine, slot } = at;
        let cores = self.cores.len();
        let Some(core) = self.cores.get_mut(index) else { return Ok(Look::Nothing) };
        let number = usize::from(engine.number());
        for wait in plan.waits.iter().flatten() {
            let set = match wait.wait {
                Wait::EventSet { then_clear: true } => false,
                Wait::EventClear { then_set: true } => true,
                _ => continue,
            };
            core.state.sync.put_event(wait.index, set);
            self.emitter.update(at, now, wait.mode, wait.index, Value::Passed(set));
        }
        let (program, stream) = (core.program, core.program.stream(engine));
        let flow = if plan.arithmetic && !self.timing.arithmetic {
            Flow::Next
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
        let Some(lane) = core.lanes.get_mut(number) else { return Ok(Look::Nothing) };
        let ready = lane.waiting.take().map_or(now, |waiting| waiting.since);
        let mut span = lane.begin(parameters, &mut core.throttle, plan, now);
        lane.slot = slot + 1;
        match flow {
            Flow::Next => {}
            Flow::Jump(target) if target <= stream.len() => lane.slot = target,
            Flow::Jump(target) => return Err(Fault::Address(format!("a branch to slot {target}"))),
            Flow::Halt => lane.slot = stream.len(),
            Flow::Queue(job) => self.queue(at, plan, &mut span, job),
            Flow::Post(post) => self.post(span.end, post)?,
        }
        if plan.touches_any() {
            (0..=u8::MAX).for_each(|changed| self.call(now, index, changed));
        }
        self.note(at, plan);
        let Some(core) = self.cores.get_mut(index) else { return Ok(Look::Nothing) };
        let Some(lane) = core.lanes.get_mut(number) else { return Ok(Look::Nothing) };
        lane.account(&span);
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
        }
        // those of a collective come with it
        let none = [None; 2];
        let updates = if plan.posts() { &none } else { &plan.updates }.iter().flatten();
        if updates.clone().any(|update| update.update.moment == Moment::Read) {
            self.agenda.push(span.read, index, Event::Read { engine, slot });
        }
        let completes = updates.clone().any(|update| update.update.moment == Moment::Complete);
        if completes || self.emitter.wanted {
            let time = end + by_engine(&parameters.update, engine);
            self.agenda.push(time, index, Event::Done { engine, slot, end });
        }
        Ok(Look::Again(span.ready))
    }

    /// Counts what an instruction adds to the summary.
    fn note(&mut self, at: At, plan: &Plan<'_>) {
        let Kind::MatMul(_) = plan.kind else { return };
        let Some(core) = self.cores.get_mut(at.core) else { return };
        core.counts.hardware_flops += plan.flops;
        if plan.transposes {
            core.counts.transpose_flops += plan.flops;
        }
        let bytes = plan.reads.iter().flatten().next().and_then(|area| area.dtype.bytes());
        let weight = half_weights(self.timing.parameters.arch, plan.fp32, bytes.unwrap_or(4));
        core.counts.adjusted_flops += plan.flops * weight / 2;
    }

    /// The updates of an instruction at one of its moments; `None` for those of
    /// a collective.
    fn change(
        &mut self,
        now: Ps,
        index: usize,
        engine: Engine,
        slot: usize,
        moment: Option<Moment>,
    ) -> Result<(), Stop> {
        let at = At { core: index, engine, slot };
        let Some(plan) = self.plan(at) else { return Ok(()) };
        for update in plan.updates.iter().flatten() {
            let due = match moment {
                Some(moment) => !plan.posts() && update.update.moment == moment,
                None => plan.posts(),
            };
            if due {
                self.apply(now, at, update).map_err(|fault| Stop::Instruction {
                    at,
                    opcode: plan.instruction.header.opcode,
                    fault,
                    bytes: Box::new(plan.instruction.encode()),
                })?;
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
            let Some(waiting) = &mut lane.waiting else { continue };
            let Some(Some(plan)) = plans.get(lane.slot) else { continue };
            if !waiting.called && plan.waits.iter().flatten().any(|wait| wait.index == changed) {
                waiting.called = true;
                self.agenda.push(wake, index, Event::Step { engine: lane.engine });
            }
        }
    }

    fn blocked(&self) -> Result<Vec<Blocked>, Stop> {
        let mut all = Vec::new();
        for (index, core) in self.cores.iter().enumerate() {
            for lane in core.lanes.iter().filter(|lane| lane.waiting.is_some()) {
                let at = At { core: index, engine: lane.engine, slot: lane.slot };
                let Some(plan) = self.plan(at) else { continue };
                let stop = |fault| Stop::Instruction {
                    at,
                    opcode: plan.instruction.header.opcode,
                    fault,
                    bytes: Box::new(plan.instruction.encode()),
                };
                let blocks =
                    [Some(plan.instruction.header.events()), run::second_block(plan.instruction)];
                let mut unmet = Vec::new();
                for block in blocks.iter().flatten() {
                    let registers = core.state.registers(lane.engine);
                    unmet.extend(core.state.sync.unmet(block, registers).map_err(stop)?);
                }
                all.push(Blocked { at, opcode: plan.instruction.header.opcode, unmet });
            }
        }
        all.extend(self.gathering.blocked());
        Ok(all)
    }
}
