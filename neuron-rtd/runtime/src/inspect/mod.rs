//! Inspection of a run: what the runtime does, told in the files of the
//! vendor's runtime (ntff.md §1.1, §3.10, §9), so that a program needs no change
//! to be looked at.
//!
//! A folder `INSTANCE_pid_PID` is made in the one that was named. It has
//! `ntrace.pb`, `trace_info.pb`, `cpu_util.pb` and `host_mem.pb`, the NEFF of
//! each model and, where asked for, a device trace of its first execution, or in
//! session mode one of everything that a core executed
//! (`profile_nc_CORE_session_0.ntff`). The files grow while the run goes on, events
//! and samples by a thread of their own once a second, traces with each execution,
//! so that what a process that was killed has left can be read.
//!
//! Events that this runtime tells are in [`Kind::ALL`]. Left out: what only the
//! vendor's parts do.

mod files;
mod growing;
mod json;
mod kinds;
mod options;
mod recorder;
mod samples;
mod session;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use files::{About, Counts, Frames};
pub use json::json;
pub use kinds::{Kind, Kinds};
pub use options::{DeviceTraces, EVENTS, InspectOptions};
pub use recorder::{Attribute, Attributes, Begun, Event, Recorder};
use samples::Processors;
use session::Sessions;

use crate::cores::Cores;
use crate::failure::{Code, Failure};
use crate::journal::{Journal, Level};

const PLACE: &str = "NRT:inspect";

/// How often samples are taken and events are written.
const PERIOD: Duration = Duration::from_secs(1);

/// The open files of a run.
#[derive(Debug)]
struct Open {
    events: Frames,
    processors: Option<Frames>,
    memory: Option<Frames>,
    load: Processors,
    samples: u32,
    about: About,
    /// Events of each core that were written.
    seen: BTreeMap<u32, u64>,
}

#[derive(Debug)]
struct Inner {
    options: InspectOptions,
    folder: PathBuf,
    recorder: Arc<Recorder>,
    open: Mutex<Open>,
    sessions: Sessions,
    failed: AtomicBool,
    /// The first file that is not there.
    missing: Mutex<Option<Failure>>,
    ending: (Mutex<bool>, Condvar),
    journal: Arc<dyn Journal>,
}

/// A run that is inspected. Clones are one; it ends with [`Inspection::end`].
#[derive(Debug, Clone)]
pub(crate) struct Inspection {
    inner: Arc<Inner>,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
}

fn cannot(what: &Path) -> impl FnOnce(io::Error) -> Failure {
    let what = what.display().to_string();
    move |error| {
        let text = error.to_string();
        let text = text.split(" (os error ").next().unwrap_or_default().to_lowercase();
        Failure::new(Code::Fail, PLACE, format!("cannot write {what}: {text}"))
    }
}

impl Inspection {
    /// Makes the folder and begins.
    pub(crate) fn begin(
        options: InspectOptions,
        cores: &Cores,
        instance: &str,
        journal: Arc<dyn Journal>,
    ) -> Result<Self, Failure> {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '+' };
        let name: String = instance.chars().map(plain).collect();
        let folder = options.folder.join(format!("{name}_pid_{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(cannot(&folder))?;
        let create = |name: &str| {
            let path = folder.join(name);
            Frames::create(path.clone()).map_err(cannot(&path))
        };
        let maybe = |on: bool, name: &str| on.then(|| create(name)).transpose();
        let mut load = Processors::default();
        let first = load.sample(0);
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let kind = cores.kind();
        let about = About {
            instance: name,
            instance_type: kind.name.to_owned(),
            arch: match kind.chip.arch() {
                neuron_core::instance::Arch::V1 | neuron_core::instance::Arch::V2 => 1,
                neuron_core::instance::Arch::V3 => 2,
                neuron_core::instance::Arch::V4 => 3,
            },
            lnc: cores.lnc().into(),
            start: recorder::now(),
            host: host.trim().to_owned(),
            processors: u32::try_from(first.len()).unwrap_or(0),
            processor: samples::processor(),
            memory: samples::memory(0).map_or(0, |(total, _)| total),
            models: BTreeMap::new(),
        };
        let open = Open {
            events: create("ntrace.pb")?,
            processors: maybe(options.processors, "cpu_util.pb")?,
            memory: maybe(options.memory, "host_mem.pb")?,
            load: Processors::default(),
            samples: 0,
            about,
            seen: BTreeMap::new(),
        };
        let recorder = Arc::new(Recorder::new(&options));
        let inner = Arc::new(Inner {
            options,
            folder,
            recorder,
            open: Mutex::new(open),
            sessions: Sessions::default(),
            failed: AtomicBool::new(false),
            missing: Mutex::new(None),
            ending: (Mutex::new(false), Condvar::new()),
            journal,
        });
        inner.tick().map_err(cannot(&inner.folder))?;
        let own = Arc::clone(&inner);
        let thread = std::thread::Builder::new().name("inspect".to_owned());
        let thread = thread.spawn(move || own.work()).map_err(cannot(&inner.folder))?;
        Ok(Self { inner, thread: Arc::new(Mutex::new(Some(thread))) })
    }

    /// Where its files are.
    pub(crate) fn folder(&self) -> &Path {
        &self.inner.folder
    }

    /// What takes events, where those of the runtime are wanted.
    pub(crate) fn recorder(&self) -> Option<Arc<Recorder>> {
        self.inner.options.system.then(|| Arc::clone(&self.inner.recorder))
    }

    /// A model was loaded on a core: keeps its NEFF. Gives the file of its device
    /// trace where one is wanted.
    pub(crate) fn model(&self, id: u32, core: u32, neff: &[u8]) -> Option<PathBuf> {
        let folder = &self.inner.folder;
        let path = folder.join(format!("neff_{id}.neff"));
        match files::whole(&path, neff) {
            Ok(_) => {
                self.inner.open().about.models.insert(id.into(), path.display().to_string());
            }
            Err(error) => {
                let failure = cannot(&path)(error);
                self.inner.say(&failure);
                self.inner.missing().get_or_insert(failure);
            }
        }
        let first = self.inner.options.device == DeviceTraces::First;
        first.then(|| folder.join(format!("{id}_instid_0_vnc_{core}.ntff")))
    }

    /// Whether every execution is traced.
    pub(crate) fn is_session(&self) -> bool {
        self.inner.options.device == DeviceTraces::All
    }

    /// An execution that is traced comes to the cores from `first` on: the time of
    /// the device, ns. `told` is the one that its events have, if it has events.
    pub(crate) fn arrive(&self, (first, cores): (u32, u32), told: u64) -> u64 {
        let at =
            if self.inner.options.system { told } else { self.inner.recorder.arrive(first, cores) };
        let sessions = &self.inner.sessions;
        let own = first..first.saturating_add(cores);
        let ends = own.filter_map(|core| sessions.until(core)).map(|end| end.saturating_add(1));
        ends.fold(at, u64::max)
    }

    /// It has ended on cores of so many physical ones each, after so long on the
    /// device; `trace` is its trace file, if it left one.
    pub(crate) fn executed(
        &self,
        (first, cores, physical): (u32, u32, u32),
        nanos: u64,
        trace: Option<&[u8]>,
    ) {
        for (number, core) in (0..cores).map(|number| (number, first.saturating_add(number))) {
            if !self.inner.options.system {
                self.inner.recorder.advance(core, nanos);
            }
            let Some(trace) = trace else { continue };
            let physical = physical.max(1);
            let from = number.saturating_mul(physical);
            let own = from..from.saturating_add(physical);
            let added = self.inner.sessions.add(&self.inner.folder, core, trace, own);
            if let Err((path, error)) = added {
                let failure = cannot(&path)(error);
                self.inner.say(&failure);
                self.inner.missing().get_or_insert(failure);
            }
        }
    }

    /// An execution has failed.
    pub(crate) fn failed(&self) {
        self.inner.failed.store(true, Relaxed);
    }

    /// Writes what is left. The files are gone where they were for failures and
    /// there was none. What could not be written is the failure.
    pub(crate) fn end(&self) -> Result<PathBuf, Failure> {
        let inner = &self.inner;
        *inner.ending.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        inner.ending.1.notify_all();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
        let folder = inner.folder.clone();
        if inner.options.on_failure && !inner.failed.load(Relaxed) {
            inner.sessions.give_up();
            fs::remove_dir_all(&folder).map_err(cannot(&folder))?;
            return Ok(folder);
        }
        let sessions = inner.sessions.end();
        for ended in sessions {
            if let Some((count, why)) = ended.left_out {
                let path = ended.path.display();
                let text = format!("{count} executions are not in {path}: {why}");
                inner.journal.line(Level::Warning, PLACE, &text);
            }
            if let Err(error) = ended.result {
                let failure = cannot(&ended.path)(error);
                inner.missing().get_or_insert(failure);
            }
        }
        inner.finish().map_err(cannot(&folder))?;
        let lost = inner.recorder.dropped();
        let told = match lost {
            0 => String::new(),
            _ => format!(", {lost} oldest events were dropped"),
        };
        let text = format!("Inspection: {}{told}", folder.display());
        inner.journal.line(Level::Info, PLACE, &text);
        match inner.missing().take() {
            Some(failure) => Err(failure),
            None => Ok(folder),
        }
    }
}

impl Inner {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn missing(&self) -> MutexGuard<'_, Option<Failure>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, failure: &Failure) {
        self.journal.line(Level::Error, PLACE, &failure.to_string());
    }

    /// Ticks until the end.
    fn work(&self) {
        let mut told = false;
        loop {
            let guard = self.ending.0.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = self.ending.1.wait_timeout_while(guard, PERIOD, |ending| !*ending);
            let (guard, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if *guard {
                return;
            }
            drop(guard);
            if let Err(error) = self.tick()
                && !std::mem::replace(&mut told, true)
            {
                self.say(&cannot(&self.folder)(error));
            }
        }
    }

    /// Takes samples and writes what is new.
    fn tick(&self) -> io::Result<()> {
        let open = &mut *self.open();
        self.events(open)?;
        if open.samples < samples::MOST {
            open.samples += 1;
            let time = recorder::now();
            if let Some(file) = &mut open.processors {
                file.append(&open.load.sample(time))?;
            }
            if let (Some(file), Some((_, sample))) = (&mut open.memory, samples::memory(time)) {
                file.append(&[sample])?;
            }
        }
        self.describe(open)
    }

    /// Events that could not be written are new the next time.
    fn events(&self, open: &mut Open) -> io::Result<()> {
        let mut seen = open.seen.clone();
        let fresh = self.recorder.fresh(&mut seen);
        let messages: Vec<_> = fresh.iter().map(Event::message).collect();
        if !messages.is_empty() {
            open.events.append(&messages)?;
        }
        open.seen = seen;
        // what the rings dropped leaves the file too, once it is most of it
        let dropped = self.recorder.dropped();
        let kept = self.recorder.came().saturating_sub(dropped);
        if open.events.count > kept.saturating_mul(2) + 1024 { self.kept(open) } else { Ok(()) }
    }

    /// Writes the events that the rings hold.
    fn kept(&self, open: &mut Open) -> io::Result<()> {
        let mut seen = BTreeMap::new();
        let all = self.recorder.fresh(&mut seen);
        let messages: Vec<_> = all.iter().map(Event::message).collect();
        open.events.replace(&messages)?;
        open.seen = seen;
        Ok(())
    }

    fn describe(&self, open: &Open) -> io::Result<()> {
        let counts = Counts {
            events: open.events.count,
            processors: open.processors.as_ref().map(|file| file.count),
            memory: open.memory.as_ref().map(|file| file.count),
        };
        files::describe(&self.folder, &open.about, counts, recorder::now())
    }

    fn finish(&self) -> io::Result<()> {
        self.tick()?;
        let open = &mut *self.open();
        if self.recorder.dropped() > 0 {
            self.kept(open)?;
            self.describe(open)?;
        }
        open.events.sync()?;
        for file in [&open.processors, &open.memory].into_iter().flatten() {
            file.sync()?;
        }
        fs::File::open(&self.folder)?.sync_all()
    }
}
