//! From `nrt_init` to `nrt_close`: the runtime and everything with a handle.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use neuron_core::sim::{Places, Sim};
use neuron_core::uapi::nrt::{INF1, Status, instance_numbers};
use rtd_runtime::{Failure, InspectOptions, Machine, Runtime, Settings, Software};

use crate::asynchronous::{Callback, Units};
use crate::call::Fault;
use crate::environment;
use crate::log::Lines;
use crate::profile::Profiles;
use crate::seat::Seats;
use crate::{model, set, tensor};

/// An open runtime.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) machine: Machine,
    pub(crate) runtime: Runtime,
    pub(crate) seats: Seats,
    pub(crate) units: Units,
    pub(crate) profiles: Profiles,
    /// Executions under way at most, when `nrt_execute` does not wait.
    pub(crate) implicit_async: Option<usize>,
    pub(crate) callback: Mutex<Option<Callback>>,
    closing: AtomicBool,
    pid: u32,
}

#[derive(Debug)]
enum Phase {
    Before,
    Open(Arc<Session>),
    After,
}

static PHASE: RwLock<Phase> = RwLock::new(Phase::Before);

/// Opens the runtime.
pub(crate) fn open() -> Result<(), Fault> {
    let mut phase = PHASE.write().unwrap_or_else(PoisonError::into_inner);
    match &*phase {
        Phase::Before => {}
        Phase::Open(_) => return Err(Fault::invalid("the runtime is open already")),
        Phase::After => {
            let text = "the runtime was closed; a process opens it once";
            return Err(Fault::new(Status::CLOSED, text));
        }
    }
    *phase = Phase::Open(Arc::new(Session::new()?));
    Ok(())
}

/// Closes the runtime: ends what runs, takes every handle away, gives the
/// devices back.
pub(crate) fn close() -> Result<(), Fault> {
    let session = current()?;
    {
        let mut phase = PHASE.write().unwrap_or_else(PoisonError::into_inner);
        // somebody else may have closed it meanwhile
        if !matches!(*phase, Phase::Open(_)) {
            return Err(closed());
        }
        *phase = Phase::After;
    }
    session.closing.store(true, Relaxed);
    session.units.close();
    session.runtime.shut_down();
    set::SETS.clear();
    model::MODELS.clear();
    for tensor in tensor::TENSORS.clear() {
        tensor.wake();
    }
    Ok(())
}

/// The open runtime.
pub(crate) fn current() -> Result<Arc<Session>, Fault> {
    let before = || Fault::new(Status::UNINITIALIZED, "call nrt_init first");
    match &*PHASE.read().unwrap_or_else(PoisonError::into_inner) {
        Phase::Before => Err(before()),
        Phase::After => Err(closed()),
        // threads of the runtime do not live on in a child
        Phase::Open(session) if session.pid != std::process::id() => {
            let text = "this is a child of the process that called nrt_init";
            Err(Fault::new(Status::UNINITIALIZED, text))
        }
        Phase::Open(session) => Ok(Arc::clone(session)),
    }
}

fn closed() -> Fault {
    Fault::new(Status::CLOSED, "the runtime was closed")
}

impl Session {
    fn new() -> Result<Self, Fault> {
        let machine = environment::machine()?;
        let implicit_async = environment::implicit_async()?;
        let (kind, name) = (machine.spec.kind, &machine.spec.name);
        let sim = Sim::open_or_create(&Places::from_env(), name, kind)
            .map_err(|error| Fault::new(Status::FAILURE, error))?;
        let (cores, host) = machine.attach(&sim, "libnrt")?;
        let settings =
            Settings { numerical_errors: environment::numerical_errors(), ..Settings::default() };
        let (backend, journal) = (Box::new(Software::default()), Arc::new(Lines));
        let runtime = Runtime::new(cores, backend, Box::new(host), settings, journal)?;
        if let Some(options) = InspectOptions::from_env()? {
            runtime.inspect(options, name).inspect_err(|_| runtime.shut_down())?;
        }
        Ok(Self {
            runtime,
            seats: Seats::default(),
            units: Units::default(),
            profiles: Profiles::default(),
            implicit_async,
            callback: Mutex::new(None),
            closing: AtomicBool::new(false),
            pid: std::process::id(),
            machine,
        })
    }

    /// Begins an inspection.
    pub(crate) fn inspect(&self, options: InspectOptions) -> Result<(), Fault> {
        let begun = self.runtime.inspect(options, &self.machine.spec.name);
        begun.map(drop).map_err(|failure| self.fault(failure))
    }

    /// Whether tensors lie in memory of the process (§4.2, placement).
    pub(crate) fn is_inf1(&self) -> bool {
        instance_numbers(self.machine.spec.kind.name).0 == INF1
    }

    /// Cores of this process.
    pub(crate) fn cores(&self) -> u32 {
        self.runtime.cores().count()
    }

    /// What the runtime says, or that it was closed under way.
    pub(crate) fn fault(&self, failure: Failure) -> Fault {
        if self.closing.load(Relaxed) { closed() } else { failure.into() }
    }

    /// A core of the caller.
    pub(crate) fn core(&self, vnc: i64) -> Result<u32, Fault> {
        let core = u32::try_from(vnc).ok().filter(|core| *core < self.cores());
        core.ok_or_else(|| {
            Fault::invalid(format!("no core {vnc}; this process has {}", self.cores()))
        })
    }
}
