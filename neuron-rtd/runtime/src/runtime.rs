//! The runtime: groups, models and shared memory by handle.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use neuron_core::uapi::nds_ext;

use crate::backend::Backend;
use crate::cookies::{Cookies, Fetched};
use crate::cores::Cores;
use crate::deadline::Deadlines;
use crate::failure::{Code, Failure};
use crate::groups::{GroupInfo, Groups};
use crate::host::{Host, Published};
use crate::job::Waiter;
use crate::journal::{Journal, Level};
use crate::load::FIRST_MODEL;
use crate::model::{Model, ModelInfo, ModelState, Shared};
use crate::request::{Outcome, Request};
use crate::sessions;
use crate::shared::SharedBuffer;
use crate::stats::{Aggregate, CoreSnapshot, Metric, Snapshot, Stats};

/// What a configuration may set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Seconds that an inference may take where a load says nothing.
    pub timeout_sec: u32,
    /// Inferences in flight where a load says nothing.
    pub ninfer: u32,
    /// Whether NaN in an output is told ([`Code::NumErr`]).
    pub numerical_errors: bool,
}

impl Default for Settings {
    /// 2 s and 4 (neuron-rtd.md §2.2); numerical errors are told.
    fn default() -> Self {
        Self { timeout_sec: 2, ninfer: 4, numerical_errors: true }
    }
}

/// A client's shared memory.
#[derive(Debug)]
pub(crate) struct Map {
    pub(crate) buffer: Arc<SharedBuffer>,
    pub(crate) session: u64,
    count: u32,
}

/// Everything that has a handle.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) groups: Groups,
    pub(crate) models: BTreeMap<u32, Arc<Model>>,
    pub(crate) last_model: u32,
    pub(crate) sessions: BTreeSet<u64>,
    pub(crate) last_session: u64,
    pub(crate) maps: BTreeMap<String, Map>,
}

/// Most shared memory objects that are held (our choice).
const MOST_MAPS: usize = 16_384;

/// How often counters are shown while they change, and while they do not.
const BUSY: Duration = Duration::from_millis(100);
const QUIET: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct Inner {
    cores: Cores,
    backend: Box<dyn Backend>,
    host: Box<dyn Host>,
    tables: Mutex<Tables>,
    shared: Arc<Shared>,
    models_changed: AtomicBool,
    draining: AtomicBool,
    ending: (Mutex<bool>, Condvar),
}

/// A runtime. Clones are one runtime; [`Runtime::shut_down`] ends it.
#[derive(Debug, Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
    threads: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Runtime {
    /// A runtime over these cores.
    ///
    /// # Errors
    ///
    /// When its threads cannot be made.
    pub fn new(
        cores: Cores,
        backend: Box<dyn Backend>,
        host: Box<dyn Host>,
        settings: Settings,
        journal: Arc<dyn Journal>,
    ) -> Result<Self, Failure> {
        let shared = Arc::new(Shared {
            stats: Stats::new(cores.count()),
            cookies: Cookies::default(),
            deadlines: Deadlines::default(),
            journal,
            settings,
        });
        let tables = Tables { last_model: FIRST_MODEL - 1, ..Tables::default() };
        let inner = Arc::new(Inner {
            cores,
            backend,
            host,
            tables: Mutex::new(tables),
            shared: Arc::clone(&shared),
            models_changed: AtomicBool::new(false),
            draining: AtomicBool::new(false),
            ending: (Mutex::new(false), Condvar::new()),
        });
        let runtime = Self { inner, threads: Arc::default() };
        let failed = |error: std::io::Error| {
            Failure::new(Code::Resource, "NMGR:kmgr_init", format!("cannot make a thread: {error}"))
        };
        let watcher = move || {
            shared.deadlines.watch(|job| {
                if let Some(model) = job.model.upgrade() {
                    model.timed_out(&job);
                }
            });
        };
        let own = runtime.clone();
        let publisher = move || own.publish_until_the_end();
        for (name, body) in [
            ("deadlines", Box::new(watcher) as Box<dyn FnOnce() + Send>),
            ("publisher", Box::new(publisher)),
        ] {
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(body);
            match thread {
                Ok(thread) => runtime.threads().push(thread),
                Err(error) => {
                    runtime.shut_down();
                    return Err(failed(error));
                }
            }
        }
        Ok(runtime)
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops and unloads everything, shows the last counters and ends the
    /// threads. Calls that follow are refused.
    pub fn shut_down(&self) {
        self.inner.draining.store(true, Relaxed);
        self.unload_all();
        self.inner.shared.deadlines.close();
        *self.inner.ending.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.inner.ending.1.notify_all();
        let threads = std::mem::take(&mut *self.threads());
        for thread in threads {
            let _ = thread.join();
        }
    }

    /// Refuses new models and new inferences from now on.
    pub fn drain(&self) {
        self.inner.draining.store(true, Relaxed);
    }

    pub(crate) fn check_serving(&self) -> Result<(), Failure> {
        if self.inner.draining.load(Relaxed) {
            let text = "the runtime is ending";
            return Err(Failure::new(Code::FailedState, "NMGR:kmgr_drain", text));
        }
        Ok(())
    }

    /// The cores.
    pub fn cores(&self) -> &Cores {
        &self.inner.cores
    }

    /// Name of the backend.
    pub fn backend_name(&self) -> &'static str {
        self.inner.backend.name()
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        self.inner.backend.as_ref()
    }

    pub(crate) fn host(&self) -> &dyn Host {
        self.inner.host.as_ref()
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.inner.shared
    }

    pub(crate) fn tables(&self) -> MutexGuard<'_, Tables> {
        self.inner.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn say(&self, level: Level, place: &str, text: &str) {
        self.inner.shared.journal.line(level, place, text);
    }

    pub(crate) fn models_changed(&self) {
        self.inner.models_changed.store(true, Relaxed);
        self.inner.shared.stats.touch();
    }

    /// Makes a group of `count` cores, or of the longest free run.
    ///
    /// # Errors
    ///
    /// [`Code::ResourceNc`] with who holds the cores; an unknown session.
    pub fn create_group(&self, count: Option<u32>, session: u64) -> Result<GroupInfo, Failure> {
        const PLACE: &str = "NMGR:kmgr_create_eg";
        self.check_serving()?;
        let mut tables = self.tables();
        sessions::check(&tables, session, PLACE)?;
        let id = tables.groups.create(self.cores(), count.filter(|n| *n > 0), session, false)?;
        let all = tables.groups.info(self.cores());
        drop(tables);
        let info = all.into_iter().find(|info| info.id == id);
        let info = info.ok_or_else(|| Failure::new(Code::Fail, PLACE, "the group is gone"))?;
        self.shared().stats.own(info.start, info.count, true);
        let text = format!("Created EG({id}) with {} NCs, start: {}", info.count, info.start);
        self.say(Level::Info, PLACE, &text);
        Ok(info)
    }

    /// Destroys a group without models.
    ///
    /// # Errors
    ///
    /// An unknown group; one with models, or one that belongs to a model.
    pub fn destroy_group(&self, id: u32) -> Result<(), Failure> {
        let mut tables = self.tables();
        let place = tables.groups.all.get(&id).map(|group| (group.start, group.count));
        tables.groups.destroy(id)?;
        if let Some((start, count)) = place {
            self.shared().stats.own(start, count, false);
        }
        drop(tables);
        self.say(Level::Info, "NMGR:kmgr_destroy_eg", &format!("Destroyed EG({id})"));
        Ok(())
    }

    /// Destroys a group now, or with its last model.
    pub(crate) fn abandon_group(&self, tables: &mut Tables, id: u32) {
        let Some(group) = tables.groups.all.get_mut(&id) else { return };
        if group.members == 0 {
            self.shared().stats.own(group.start, group.count, false);
            tables.groups.all.remove(&id);
        } else {
            group.orphan = true;
        }
    }

    /// A model, or a load that failed, leaves its group.
    pub(crate) fn leave_group(&self, id: u32) {
        let mut tables = self.tables();
        let place = tables.groups.all.get(&id).map(|group| (group.start, group.count));
        tables.groups.leave(id);
        if let (Some((start, count)), None) = (place, tables.groups.all.get(&id)) {
            self.shared().stats.own(start, count, false);
        }
    }

    /// All groups.
    pub fn groups(&self) -> Vec<GroupInfo> {
        self.tables().groups.info(self.cores())
    }

    pub(crate) fn model(&self, id: u32) -> Result<Arc<Model>, Failure> {
        self.tables().models.get(&id).cloned().ok_or_else(|| unknown_model(id))
    }

    /// All models.
    pub fn models(&self) -> Vec<ModelInfo> {
        let models: Vec<Arc<Model>> = self.tables().models.values().cloned().collect();
        models.iter().map(|model| model.info()).collect()
    }

    /// One model.
    ///
    /// # Errors
    ///
    /// When there is none of this handle.
    pub fn model_info(&self, id: u32) -> Result<ModelInfo, Failure> {
        Ok(self.model(id)?.info())
    }

    /// Starts a model; nothing when it runs.
    ///
    /// # Errors
    ///
    /// An unknown model; one that has failed; another one of its group runs.
    pub fn start(&self, id: u32) -> Result<(), Failure> {
        const PLACE: &str = "NMGR:dlr_kelf_start";
        let from = Instant::now();
        let model = self.model(id)?;
        self.check_serving()?;
        let _control = model.control.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut tables = self.tables();
            if !tables.models.contains_key(&id) {
                return Err(unknown_model(id));
            }
            if let Some(group) = model.group {
                let running = tables.groups.get(group, PLACE)?.running;
                let other = running.filter(|other| *other != id);
                let active = other.and_then(|other| tables.models.get(&other));
                if let Some(other) = active.filter(|other| other.state() == ModelState::Started) {
                    let text = format!(
                        "Model ({}) of EG({group}) is running; stop it before ({id})",
                        other.id
                    );
                    return Err(Failure::new(Code::Invalid, PLACE, text));
                }
                tables.groups.get_mut(group, PLACE)?.running = Some(id);
            }
        }
        let before = model.state();
        let started = model.start();
        if started.is_ok() && before == ModelState::Loaded {
            self.shared().stats.starts.fetch_add(1, Relaxed);
            self.shared().stats.measure(Metric::StartLatency, from.elapsed().as_secs_f64());
            self.models_changed();
            self.say(Level::Info, PLACE, &format!("Started model ({id})"));
        }
        started
    }

    /// Stops a model: cancels what is queued, waits for what runs.
    ///
    /// # Errors
    ///
    /// An unknown model.
    pub fn stop(&self, id: u32) -> Result<(), Failure> {
        let model = self.model(id)?;
        let _control = model.control.lock().unwrap_or_else(PoisonError::into_inner);
        self.stop_locked(&model);
        Ok(())
    }

    fn stop_locked(&self, model: &Model) {
        let from = Instant::now();
        let before = model.state();
        model.stop();
        if let Some(group) = model.group
            && let Some(group) = self.tables().groups.all.get_mut(&group)
            && group.running == Some(model.id)
        {
            group.running = None;
        }
        if before != ModelState::Loaded {
            self.shared().stats.stops.fetch_add(1, Relaxed);
            self.shared().stats.measure(Metric::StopLatency, from.elapsed().as_secs_f64());
            self.models_changed();
            self.say(Level::Info, "NMGR:dlr_kelf_stop", &format!("Stopped model ({})", model.id));
        }
    }

    /// Unloads a model, stopping it first if need be.
    ///
    /// # Errors
    ///
    /// An unknown model.
    pub fn unload(&self, id: u32) -> Result<(), Failure> {
        let from = Instant::now();
        let model = self.model(id)?;
        let _control = model.control.lock().unwrap_or_else(PoisonError::into_inner);
        // somebody else may have been faster
        if !self.tables().models.contains_key(&id) {
            return Err(unknown_model(id));
        }
        self.stop_locked(&model);
        self.tables().models.remove(&id);
        self.shared().cookies.forget(|job| job.model.upgrade().is_some_and(|of| of.id == id));
        let handles =
            std::mem::take(&mut *model.handles.lock().unwrap_or_else(PoisonError::into_inner));
        self.release(handles);
        if let Some(group) = model.group {
            self.leave_group(group);
        }
        self.shared().stats.unloads.fetch_add(1, Relaxed);
        self.shared().stats.measure(Metric::UnloadLatency, from.elapsed().as_secs_f64());
        self.models_changed();
        self.say(Level::Info, "NMGR:dlr_kelf_unload", &format!("Unloaded model ({id})"));
        Ok(())
    }

    /// Unloads every model and removes every group, of all clients.
    pub fn unload_all(&self) {
        let ids: Vec<u32> = self.tables().models.keys().copied().collect();
        std::thread::scope(|scope| {
            for id in ids {
                // one that somebody else unloads meanwhile is gone as well
                scope.spawn(move || self.unload(id).is_ok());
            }
        });
        let mut tables = self.tables();
        let groups: Vec<u32> = tables.groups.all.keys().copied().collect();
        for group in groups {
            self.abandon_group(&mut tables, group);
        }
    }

    /// Accepts an inference and returns its cookie.
    ///
    /// # Errors
    ///
    /// Nothing was queued: a model that does not run, bad input, a full queue.
    pub fn post(&self, request: Request) -> Result<u64, Failure> {
        self.check_serving()?;
        self.model(request.model)?.post(request, None)
    }

    /// Accepts an inference; `done` is called once with its outcome, on the
    /// thread that ends it, and must not wait for anything.
    ///
    /// # Errors
    ///
    /// As [`Self::post`]; then `done` is not called.
    pub fn post_with(
        &self,
        request: Request,
        done: impl FnOnce(Outcome) + Send + 'static,
    ) -> Result<(), Failure> {
        self.check_serving()?;
        self.model(request.model)?.post(request, Some(Box::new(done))).map(|_| ())
    }

    /// Runs an inference and waits for it.
    pub fn infer(&self, request: Request) -> Outcome {
        let (send, receive) = std::sync::mpsc::sync_channel(1);
        let posted = self.post_with(request, move |outcome| {
            let _ = send.send(outcome);
        });
        received(posted, &receive)
    }

    /// Waits for a posted inference; its cookie is gone afterwards.
    pub fn wait(&self, cookie: u64) -> Outcome {
        let (send, receive) = std::sync::mpsc::sync_channel(1);
        let waiting = self.wait_with(cookie, move |outcome| {
            let _ = send.send(outcome);
        });
        received(waiting, &receive)
    }

    /// Hands the outcome of a posted inference to `done`, now or when it is
    /// there.
    ///
    /// # Errors
    ///
    /// An unknown cookie, or one that somebody waits for; `done` is not called.
    pub fn wait_with(
        &self,
        cookie: u64,
        done: impl FnOnce(Outcome) + Send + 'static,
    ) -> Result<(), Failure> {
        let mut waiter: Option<Waiter> = Some(Box::new(done));
        if let Fetched::Outcome(outcome, job) = self.shared().cookies.fetch(cookie, &mut waiter)? {
            if let Some(model) = job.model.upgrade() {
                model.fetched(cookie);
            }
            if let Some(done) = waiter {
                done(*outcome);
            }
        }
        Ok(())
    }

    /// The outcome of a posted inference if it is there.
    ///
    /// # Errors
    ///
    /// [`Code::Pending`]; an unknown cookie.
    pub fn poll(&self, cookie: u64) -> Result<Outcome, Failure> {
        match self.shared().cookies.fetch(cookie, &mut None)? {
            Fetched::Outcome(outcome, job) => {
                if let Some(model) = job.model.upgrade() {
                    model.fetched(cookie);
                }
                Ok(*outcome)
            }
            Fetched::Pending => {
                let text = format!("cookie {cookie:#x} is not done");
                Err(Failure::new(Code::Pending, "NMGR:infer_poll", text))
            }
        }
    }

    /// Those of `cookies` that are done.
    ///
    /// # Errors
    ///
    /// An unknown cookie.
    pub fn completed(&self, cookies: &[u64]) -> Result<Vec<u64>, Failure> {
        self.shared().cookies.done(cookies)
    }

    /// Opens a client's shared memory and keeps it under its name.
    ///
    /// # Errors
    ///
    /// As [`SharedBuffer::open`]; a name that another session has mapped.
    pub fn map(&self, path: &str, prot: u32, session: u64) -> Result<(), Failure> {
        const PLACE: &str = "NRTD:shm_map";
        let buffer = Arc::new(SharedBuffer::open(path, prot)?);
        let mut tables = self.tables();
        sessions::check(&tables, session, PLACE)?;
        if let Some(map) = tables.maps.get_mut(path) {
            if map.session != session && map.session != 0 {
                let text = format!("{path} is mapped by session {}", map.session);
                return Err(Failure::new(Code::Invalid, PLACE, text));
            }
            let count = if map.buffer.same(&buffer) { map.count + 1 } else { 1 };
            *map = Map { buffer, session, count };
            return Ok(());
        }
        if tables.maps.len() >= MOST_MAPS {
            let text = format!("{MOST_MAPS} objects are mapped, no more can be");
            return Err(Failure::new(Code::Resource, PLACE, text));
        }
        tables.maps.insert(path.to_owned(), Map { buffer, session, count: 1 });
        Ok(())
    }

    /// Lets go of shared memory. Inferences in flight keep what they use.
    ///
    /// # Errors
    ///
    /// A name that is not mapped.
    pub fn unmap(&self, path: &str) -> Result<(), Failure> {
        let mut tables = self.tables();
        let Some(map) = tables.maps.get_mut(path) else {
            let text = format!("{path:?} is not mapped");
            return Err(Failure::new(Code::InvalidHandle, "NRTD:shm_unmap", text));
        };
        map.count = map.count.saturating_sub(1);
        if map.count == 0 {
            tables.maps.remove(path);
        }
        Ok(())
    }

    /// Shared memory by its name.
    ///
    /// # Errors
    ///
    /// A name that is not mapped.
    pub fn shared_buffer(&self, path: &str) -> Result<Arc<SharedBuffer>, Failure> {
        let tables = self.tables();
        let map = tables.maps.get(path).map(|map| Arc::clone(&map.buffer));
        map.ok_or_else(|| {
            let text = format!("shared memory {path:?} is not mapped; call shm_map first");
            Failure::new(Code::BadInput, "NRTD:infer", text)
        })
    }

    /// Count of shared memory objects that are held.
    pub fn maps(&self) -> usize {
        self.tables().maps.len()
    }

    /// Inferences in flight, and results that nobody has fetched yet.
    pub fn in_flight(&self) -> (usize, usize) {
        let models: Vec<Arc<Model>> = self.tables().models.values().cloned().collect();
        let flying = models.iter().map(|model| model.info().in_flight).sum();
        (flying, self.shared().cookies.count())
    }

    /// Counters.
    pub fn snapshot(&self) -> Snapshot {
        self.shared().stats.snapshot()
    }

    /// Counters of a core.
    pub fn core_snapshot(&self, core: u32) -> Option<CoreSnapshot> {
        self.shared().stats.core_snapshot(core)
    }

    /// Metrics, summed up since the start.
    pub fn metrics(&self) -> Vec<(Metric, Aggregate)> {
        self.shared().stats.metrics()
    }

    /// Device memory that models hold on a device, by its position.
    pub fn device_memory(&self, position: u32) -> u64 {
        let tables = self.tables();
        let parts = tables.models.values().flat_map(|model| &model.memory);
        let here = parts.filter(|(_, core, _)| {
            self.cores().core(*core).is_some_and(|core| core.position == position)
        });
        here.flat_map(|(_, _, parts)| parts).sum()
    }

    /// Shows the counters now.
    pub fn publish(&self) {
        let models: Vec<Arc<Model>> = self.tables().models.values().cloned().collect();
        for position in 0..self.cores().devices().len() {
            let what = self.published(position, &models);
            if let Err(reason) = self.host().publish(position, &what) {
                self.say(Level::Warning, "TDRV:nds_write", &reason);
            }
        }
    }

    fn published(&self, position: usize, models: &[Arc<Model>]) -> Published {
        let mut out = Published::default();
        let lnc = self.cores().lnc();
        for index in 0..self.cores().count() {
            let Some(core) = self.cores().core(index) else { continue };
            if usize::try_from(core.position) != Ok(position) {
                continue;
            }
            if let Some(snapshot) = self.core_snapshot(index) {
                out.cores.push((core.within * lnc, snapshot));
            }
            for model in models {
                let nodes = model.memory.iter().filter(|(_, first, _)| *first == index);
                out.models.extend(nodes.map(
                    |(node, _, [code, constants, scratchpad, tensors])| nds_ext::Model {
                        id: model.id,
                        node: *node,
                        core: core.within * lnc,
                        running: model.state() == ModelState::Started,
                        name: model.name.clone(),
                        uuid: model.uuid,
                        host: nds_ext::ModelMemory::default(),
                        device: nds_ext::ModelMemory {
                            code: *code,
                            tensors: *tensors,
                            constants: *constants,
                            scratchpad: *scratchpad,
                            misc: 0,
                        },
                    },
                ));
            }
        }
        out
    }

    fn publish_until_the_end(&self) {
        let (ending, changed) = &self.inner.ending;
        let mut shown = Instant::now();
        let mut lost: BTreeSet<u32> = BTreeSet::new();
        let mut guard = ending.lock().unwrap_or_else(PoisonError::into_inner);
        while !*guard {
            guard = changed.wait_timeout(guard, BUSY).unwrap_or_else(PoisonError::into_inner).0;
            let due = shown.elapsed() >= QUIET;
            if self.shared().stats.take_dirty() || due || *guard {
                drop(guard);
                self.publish();
                if due {
                    shown = Instant::now();
                    self.look_for_lost_devices(&mut lost);
                }
                guard = ending.lock().unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Models on a device that is lost have failed.
    fn look_for_lost_devices(&self, known: &mut BTreeSet<u32>) {
        let lost = self.host().lost();
        known.retain(|position| lost.iter().any(|(now, _)| now == position));
        for (position, why) in lost {
            let failure = Failure::new(Code::HwError, "TDRV:device_watch", &why);
            if known.insert(position) {
                self.say(Level::Error, "TDRV:device_watch", &why);
            }
            let models: Vec<Arc<Model>> = self.tables().models.values().cloned().collect();
            for model in models {
                let on_it = model.memory.iter().any(|(_, core, _)| {
                    self.cores().core(*core).is_some_and(|core| core.position == position)
                });
                if on_it {
                    model.fail(&failure);
                }
            }
        }
    }
}

fn unknown_model(id: u32) -> Failure {
    Failure::new(Code::InvalidHandle, "NMGR:kmgr_find_model", format!("Failed to find model: {id}"))
}

fn received(
    accepted: Result<(), Failure>,
    receive: &std::sync::mpsc::Receiver<Outcome>,
) -> Outcome {
    match accepted {
        Err(failure) => Outcome::failed(failure),
        Ok(()) => receive.recv().unwrap_or_else(|_| {
            let text = "the runtime ended before the inference";
            Outcome::failed(Failure::new(Code::Cancelled, "NMGR:exec_wait", text))
        }),
    }
}
