//! The runtime: groups, models and shared memory by handle.

mod groups;
mod infer;
mod inspect;
mod maps;
mod memory;
mod models;
mod profile;
mod publish;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

pub(crate) use self::inspect::Tracing;
use self::maps::Map;
pub use self::memory::DeviceMemory;
pub(crate) use self::memory::Held;
use crate::backend::Backend;
use crate::cookies::Cookies;
use crate::cores::Cores;
use crate::deadline::Deadlines;
use crate::failure::{Code, Failure};
use crate::groups::Groups;
use crate::host::Host;
use crate::journal::{Journal, Level};
use crate::load::FIRST_MODEL;
use crate::model::{Model, Shared};
use crate::stats::{Aggregate, CoreSnapshot, Metric, Snapshot, Stats};

/// What a configuration may set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Seconds that an inference may take where a load says nothing.
    pub timeout_sec: u32,
    /// Inferences in flight where a load says nothing.
    pub ninfer: u32,
    /// Whether NaN in an output is told ([`Code::NumErr`]).
    pub numerical_errors: bool,
    /// Whether the start of a model stops the one of its group that runs.
    pub auto_switch: bool,
    /// Where profiles go; without it there are none.
    pub profile_folder: Option<PathBuf>,
    /// Names of native functions of CPU nodes that would be allowed.
    pub native_cpu_nodes: Vec<String>,
}

impl Default for Settings {
    /// 2 s and 4 (neuron-rtd.md §2.2); numerical errors are told, all else is
    /// off.
    fn default() -> Self {
        Self {
            timeout_sec: 2,
            ninfer: 4,
            numerical_errors: true,
            auto_switch: false,
            profile_folder: None,
            native_cpu_nodes: Vec::new(),
        }
    }
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
    /// Seeds of groups.
    pub(crate) seeds: BTreeMap<u32, u32>,
}

#[derive(Debug)]
struct Inner {
    cores: Cores,
    backend: Box<dyn Backend>,
    host: Box<dyn Host>,
    tables: Mutex<Tables>,
    shared: Arc<Shared>,
    models_changed: AtomicBool,
    draining: AtomicBool,
    /// Profiles that were begun without a name.
    profiles: AtomicU64,
    /// Held while counters are shown, so that none goes back.
    publishing: Mutex<()>,
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
            stats: Stats::new(cores.count(), cores.lnc()),
            cookies: Cookies::default(),
            deadlines: Deadlines::default(),
            journal,
            settings,
            tracing: Tracing::default(),
            held: Held::default(),
            instance: cores.kind().name,
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
            profiles: AtomicU64::new(0),
            publishing: Mutex::new(()),
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
        if let Err(failure) = self.end_inspect() {
            self.say(Level::Error, "NRT:inspect", &failure.to_string());
        }
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

    /// Name and version of what the backend stands on, if it has one.
    pub fn backend_version(&self) -> Option<String> {
        self.inner.backend.version()
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
}
