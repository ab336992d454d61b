//! A loaded model: its state, its queue, and how an inference goes through it
//! (neuron-rtd.md §3.3 to §3.6).

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::cookies::Cookies;
use crate::deadline::Deadlines;
use crate::failure::{Code, Failure, Subtype};
use crate::job::{End, Job, Waiter};
use crate::journal::{Journal, Level};
use crate::plan::Plan;
use crate::request::{Outcome, Request};
use crate::run::Run;
use crate::runtime::{Held, Settings, Tracing};
use crate::stats::Stats;

mod capture;
mod check;
mod clock;
mod exec;
mod info;
mod watch;

use capture::Capture;
use clock::Clock;
pub use info::{Mode, ModelInfo, ModelState};

/// What all models share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) stats: Stats,
    pub(crate) cookies: Cookies,
    pub(crate) deadlines: Deadlines,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) settings: Settings,
    pub(crate) tracing: Tracing,
    pub(crate) held: Held,
    /// Name of the instance type.
    pub(crate) instance: &'static str,
}

#[derive(Debug, Clone)]
pub(crate) enum State {
    Loaded,
    Started,
    Stopping,
    Failed(Failure),
}

#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) state: State,
    run: Option<Arc<Run>>,
    /// Accepted and not ended.
    jobs: BTreeMap<u64, Arc<Job>>,
    /// Ended and not fetched, with the moment of their end.
    kept: VecDeque<(Instant, u64)>,
}

/// Up to here the thread that posts an inference runs it itself, in
/// nanoseconds: about what it takes to wake another thread (our choice).
const SHORT: u64 = 50_000;

/// Most inferences that a thread that posts runs before it goes on: its own,
/// and those of others that came meanwhile.
const MOST_AT_ONCE: usize = 8;

/// How long a result waits to be fetched once others need its room.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) uuid: [u8; 16],
    pub(crate) version: (u64, u64),
    pub(crate) group: Option<u32>,
    pub(crate) session: u64,
    pub(crate) first_core: u32,
    pub(crate) cores: u32,
    pub(crate) mode: Mode,
    pub(crate) depth: u32,
    pub(crate) timeout: Duration,
    pub(crate) host_bytes: u64,
    /// Device memory by node: node, first core, code, constants, scratchpad, tensors.
    pub(crate) memory: Vec<(u32, u32, [u64; 4])>,
    /// Memory at the host: core and handle.
    pub(crate) handles: Mutex<Vec<(crate::cores::Core, u64)>>,
    pub(crate) plan: Plan,
    /// Simulated time.
    pub(crate) clock: Clock,
    /// Whether the first inference after each start is profiled.
    pub(crate) profile: bool,
    capture: Mutex<Option<Capture>>,
    /// A capture waits for its inference, or for its end.
    capturing: AtomicBool,
    /// What the last step took.
    last_nanos: AtomicU64,
    /// Held by start, stop and unload.
    pub(crate) control: Mutex<()>,
    pub(crate) live: Mutex<Live>,
    idle: Condvar,
    pub(crate) shared: Arc<Shared>,
}

impl Live {
    pub(crate) fn new() -> Self {
        Self { state: State::Loaded, run: None, jobs: BTreeMap::new(), kept: VecDeque::new() }
    }
}

/// What [`Model::new`] needs beside the plan.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) uuid: [u8; 16],
    pub(crate) version: (u64, u64),
    pub(crate) group: Option<u32>,
    pub(crate) session: u64,
    pub(crate) first_core: u32,
    pub(crate) cores: u32,
    pub(crate) mode: Mode,
    pub(crate) ninfer: u32,
    pub(crate) timeout: Duration,
    pub(crate) profile: bool,
    pub(crate) host_bytes: u64,
    pub(crate) memory: Vec<(u32, u32, [u64; 4])>,
}

impl Model {
    pub(crate) fn new(facts: Facts, plan: Plan, shared: Arc<Shared>) -> Self {
        let depth = if facts.mode == Mode::SharedNc { 1 } else { facts.ninfer };
        Self {
            id: facts.id,
            name: facts.name,
            uuid: facts.uuid,
            version: facts.version,
            group: facts.group,
            session: facts.session,
            first_core: facts.first_core,
            cores: facts.cores,
            mode: facts.mode,
            depth,
            timeout: facts.timeout,
            host_bytes: facts.host_bytes,
            memory: facts.memory,
            handles: Mutex::default(),
            clock: Clock::new(plan.steps.len()),
            profile: facts.profile,
            capture: Mutex::default(),
            capturing: AtomicBool::new(false),
            plan,
            last_nanos: AtomicU64::new(u64::MAX),
            control: Mutex::new(()),
            live: Mutex::new(Live::new()),
            idle: Condvar::new(),
            shared,
        }
    }

    pub(crate) fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, level: Level, place: &str, text: &str) {
        self.shared.journal.line(level, place, text);
    }

    pub(crate) fn state(&self) -> ModelState {
        match self.live().state {
            State::Loaded => ModelState::Loaded,
            State::Started | State::Stopping => ModelState::Started,
            State::Failed(_) => ModelState::Failed,
        }
    }

    /// Starts the threads; nothing when they run.
    pub(crate) fn start(self: &Arc<Self>) -> Result<(), Failure> {
        let mut live = self.live();
        match &live.state {
            State::Started | State::Stopping => return Ok(()),
            State::Failed(failure) => {
                let text = format!("Model ({}) has failed; stop it first", self.id);
                let mut told = failure.clone().then("NMGR:dlr_kelf_start", text);
                told.code = Code::FailedState;
                return Err(told);
            }
            State::Loaded => {}
        }
        let model = Arc::clone(self);
        let name = format!("nn{}", self.id);
        let run = Run::start(&name, self.plan.steps.len(), move |run, step, job| {
            model.step(run, step, &job);
        });
        let run = run.map_err(|error| {
            let text = format!("Model ({}) start failed: {error}", self.id);
            Failure::new(Code::Resource, "NMGR:dlr_kelf_start", text)
        })?;
        live.run = Some(run);
        live.state = State::Started;
        Ok(())
    }

    /// Cancels what has not begun, waits for what has, ends the threads.
    pub(crate) fn stop(&self) {
        let mut live = self.live();
        match live.state {
            State::Loaded => return,
            State::Failed(_) => {
                live.state = State::Loaded;
                return;
            }
            State::Started | State::Stopping => live.state = State::Stopping,
        }
        let waiting: Vec<Arc<Job>> = live.jobs.values().cloned().collect();
        drop(live);
        // the newest first, so that none of them begins for want of another
        for job in waiting.iter().rev() {
            self.cancel(job);
        }
        let mut live = self.live();
        while !live.jobs.is_empty() {
            live = self.idle.wait(live).unwrap_or_else(PoisonError::into_inner);
        }
        // one that timed out meanwhile has taken the threads with it
        let run = live.run.take();
        live.state = State::Loaded;
        drop(live);
        if let Some(run) = run {
            run.close();
            run.join();
        }
    }

    /// Ends an inference that has not begun.
    fn cancel(&self, job: &Arc<Job>) {
        let text = format!("the model ({}) was stopped before cookie {:#x}", self.id, job.cookie);
        let failure = Failure::new(Code::Cancelled, "NMGR:exec_cancel", text);
        self.finish(job, Outcome::failed(failure), None, true);
    }

    /// The model cannot go on: everything in flight ends, the threads are left
    /// to themselves.
    pub(crate) fn fail(&self, failure: &Failure) {
        let mut live = self.live();
        if !matches!(live.state, State::Started | State::Stopping) {
            return;
        }
        live.state = State::Failed(failure.clone());
        let run = live.run.take();
        let jobs: Vec<Arc<Job>> = live.jobs.values().cloned().collect();
        drop(live);
        if let Some(run) = run {
            run.close();
        }
        for job in jobs {
            let text = format!("Model ({}) has failed", self.id);
            let mut told = failure.clone().then("NMGR:exec_wait", text);
            told.code = Code::FailedState;
            self.finish(&job, Outcome::failed(told), None, false);
        }
        let text = format!("Model ({}) failed: {failure}", self.id);
        self.say(Level::Error, "NMGR:exec_wait", &text);
    }

    /// Cuts short what runs now.
    pub(crate) fn give_up(&self) {
        if let Some(run) = &self.live().run {
            run.give_up();
        }
    }

    /// The time of an inference is over.
    pub(crate) fn timed_out(&self, job: &Arc<Job>) {
        let text = format!(
            "no completion of cookie {:#x} within {} s",
            job.cookie,
            self.timeout.as_secs()
        );
        let failure = Failure::new(Code::Timeout, "TDRV:kbl_exec_wait", text)
            .then("NMGR:exec_wait", "Inference completed with err: 5");
        if self.finish(job, Outcome::failed(failure.clone()), Some(Subtype::None), false) {
            self.fail(&failure);
        }
    }

    /// Accepts an inference.
    pub(crate) fn post(
        self: &Arc<Self>,
        request: Request,
        waiter: Option<Waiter>,
    ) -> Result<u64, Failure> {
        self.check_running()?;
        let (values, sinks) = match self.check(request) {
            Ok(checked) => checked,
            Err(failure) => {
                let stats = &self.shared.stats;
                stats.ended(self.plan.home(), Some(&failure), None, Duration::ZERO, None);
                return Err(failure);
            }
        };
        let keep = waiter.is_none();
        let mut job = Job {
            cookie: 0,
            model: Arc::downgrade(self),
            posted: Instant::now(),
            deadline: OnceLock::new(),
            values: Mutex::new(values),
            sinks,
            end: Mutex::new(End::Pending { begun: false, waiter }),
        };
        let mut live = self.live();
        let Some(run) = live.run.clone().filter(|_| matches!(live.state, State::Started)) else {
            drop(live);
            self.check_running()?;
            return Err(self.not_running());
        };
        let depth = usize::try_from(self.depth).unwrap_or(usize::MAX);
        // a result that somebody waits for is not kept
        let room = !keep || self.room_for_result(&mut live, depth);
        if live.jobs.len() >= depth || !room {
            let text = format!("{} inferences are in flight, {} may be", live.jobs.len(), depth);
            drop(live);
            self.shared.stats.dropped(self.plan.home());
            return Err(Failure::new(Code::QueueFull, "NMGR:exec_post", text));
        }
        job.cookie = self.shared.cookies.next();
        let (cookie, job) = (job.cookie, Arc::new(job));
        live.jobs.insert(cookie, Arc::clone(&job));
        if keep {
            self.shared.cookies.insert(&job);
        }
        // under the lock, so that the order of posts is that of every queue
        if !keep && self.is_short() && run.claim(0) {
            drop(live);
            self.step(&run, 0, &job);
            for _ in 1..MOST_AT_ONCE {
                match run.more(0) {
                    Some(next) => self.step(&run, 0, &next),
                    None => return Ok(cookie),
                }
            }
            run.release(0);
            return Ok(cookie);
        }
        let ready = job.values.lock().unwrap_or_else(PoisonError::into_inner).ready();
        for step in ready {
            run.push(step, Arc::clone(&job));
        }
        Ok(cookie)
    }

    /// Whether an inference is done sooner than it would be handed over. Known
    /// of models with one step that have run.
    fn is_short(&self) -> bool {
        self.plan.steps.len() == 1 && self.last_nanos.load(Relaxed) < SHORT
    }

    /// Whether a further result may be kept. Old ones that nobody has fetched
    /// give way.
    fn room_for_result(&self, live: &mut Live, depth: usize) -> bool {
        while live.kept.len() + live.jobs.len() >= depth.saturating_mul(2) {
            match live.kept.front() {
                Some((since, cookie)) if since.elapsed() >= PATIENCE => {
                    self.shared.cookies.remove(*cookie);
                    live.kept.pop_front();
                }
                _ => return false,
            }
        }
        true
    }

    /// A result was fetched.
    pub(crate) fn fetched(&self, job: &Job) {
        self.live().kept.retain(|(_, kept)| *kept != job.cookie);
        let ended = job.values.lock().unwrap_or_else(PoisonError::into_inner).ended;
        self.clock.seen(ended);
    }

    fn not_running(&self) -> Failure {
        let text = format!("Model ({}) is not in a running state; start it first", self.id);
        Failure::new(Code::InvalidHandle, "NMGR:exec_post", text)
    }

    fn check_running(&self) -> Result<(), Failure> {
        match &self.live().state {
            State::Started => Ok(()),
            State::Loaded | State::Stopping => Err(self.not_running()),
            State::Failed(failure) => {
                let text = format!("Model ({}) has failed; stop and start it", self.id);
                let mut told = failure.clone().then("NMGR:exec_post", text);
                told.code = Code::FailedState;
                Err(told)
            }
        }
    }

    /// Ends an inference, once; tells whether this call did.
    pub(crate) fn finish(
        &self,
        job: &Arc<Job>,
        mut outcome: Outcome,
        subtype: Option<Subtype>,
        unless_begun: bool,
    ) -> bool {
        outcome.latency = job.posted.elapsed();
        let mut end = job.end.lock().unwrap_or_else(PoisonError::into_inner);
        let waiter = match &mut *end {
            End::Pending { begun, .. } if *begun && unless_begun => return false,
            End::Pending { waiter, .. } => waiter.take(),
            _ => return false,
        };
        // of one that was given up; others have done it before they come here
        self.finish_capture(job.cookie);
        if let Some(deadline) = job.deadline.get() {
            self.shared.deadlines.remove(*deadline, job.cookie);
        }
        let (device_nanos, ended) = {
            let values = job.values.lock().unwrap_or_else(PoisonError::into_inner);
            (values.device_nanos, values.ended)
        };
        let (home, failure) = (self.plan.home(), outcome.failure.as_ref());
        if failure.is_some()
            && let Some(inspection) = self.shared.tracing.inspection()
        {
            inspection.failed();
        }
        self.shared.stats.ended(home, failure, subtype, outcome.latency, device_nanos);
        let mut live = self.live();
        live.jobs.remove(&job.cookie);
        if waiter.is_none() {
            live.kept.push_back((Instant::now(), job.cookie));
        }
        drop(live);
        self.idle.notify_all();
        match waiter {
            None => *end = End::Done(Box::new(outcome)),
            Some(waiter) => {
                *end = End::Taken;
                drop(end);
                self.shared.cookies.remove(job.cookie);
                self.clock.seen(ended);
                waiter(outcome);
            }
        }
        true
    }
}
