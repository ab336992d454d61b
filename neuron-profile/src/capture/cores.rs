//! The cores that a capture runs on, by the source that the user named.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use neuron_core::sim::{Places, Sim};
use neuron_core::source::Spec;
use rtd_runtime::{
    Failure, Host, LoadParams, Machine, Nrt, Quiet, Runtime, Settings, Software, Wanted,
    cores_needed,
};

/// Seconds that an execution may take where `NEURON_RT_EXEC_TIMEOUT` says
/// nothing (neuron-rtd.md §4.5).
const TIMEOUT: u32 = 600;

/// Executions that may be queued: what the runtime takes at most.
pub(super) const DEPTH: u32 = 1024;

/// An open runtime.
#[derive(Debug)]
pub(super) struct Cores {
    pub(super) runtime: Runtime,
    /// Cores of one worker.
    each: u32,
    /// What it runs on, for people.
    pub(super) place: String,
    /// Name of the simulated instance; none for devices.
    pub(super) simulated: Option<String>,
    timeout: u32,
}

/// A failure of the runtime on one line.
pub(super) fn told(failure: &Failure) -> anyhow::Error {
    anyhow!("{}", failure.lines().join("; "))
}

impl Cores {
    /// Takes cores for so many times the NEFF as `workers` says of its number of
    /// cores.
    ///
    /// # Errors
    ///
    /// A source without cores, too few of them, a NEFF that no core takes.
    pub(super) fn open(
        source: &str,
        libnrt: Option<&Path>,
        neff: &[u8],
        workers: impl FnOnce(u32) -> anyhow::Result<u32>,
    ) -> anyhow::Result<Self> {
        let timeout = rtd_runtime::number("NEURON_RT_EXEC_TIMEOUT").map_err(|f| told(&f))?;
        let timeout = timeout.filter(|seconds| *seconds > 0).unwrap_or(TIMEOUT);
        let settings = Settings { ninfer: DEPTH, ..Settings::default() };
        let open = |cores, backend, host: Box<dyn Host>| {
            Runtime::new(cores, backend, host, settings, Arc::new(Quiet)).map_err(|f| told(&f))
        };
        let mut simulated = None;
        let (runtime, each, place) = match source.parse::<Spec>()? {
            Spec::Sim(spec) => {
                let mut machine = Machine::from_env(spec).map_err(|f| told(&f))?;
                let each = cores_needed(neff, machine.lnc).map_err(|f| told(&f))?;
                let wanted = each.checked_mul(workers(each)?).context("too many workers")?;
                if machine.wanted == Wanted::All && wanted <= machine.total() {
                    machine.wanted = Wanted::Count(wanted.max(1));
                }
                let (kind, name) = (machine.spec.kind, &machine.spec.name);
                let sim = Sim::open_or_create(&Places::from_env(), name, kind)?;
                let (cores, host) = machine.attach(&sim, "neuron-profile").map_err(|f| told(&f))?;
                let backend = Box::new(Software::default());
                simulated = Some(name.clone());
                let runtime = open(cores, backend, Box::new(host))?;
                (runtime, each, format!("simulated {}", kind.name))
            }
            Spec::Kernel => {
                let nrt = Nrt::open(libnrt).map_err(|f| told(&f))?;
                let cores = nrt.cores(&[]).map_err(|f| told(&f))?;
                let each = cores_needed(neff, cores.lnc()).map_err(|f| told(&f))?;
                workers(each)?;
                let place = format!("{}, {}", nrt.kind().name, nrt.library());
                // memory and counters of the devices are libnrt's own matter
                let runtime = open(cores, Box::new(nrt), Box::new(()))?;
                (runtime, each, place)
            }
            Spec::Root(_) | Spec::Replay { .. } => {
                bail!("a capture runs on --source kernel or on --source sim:trn1.2xlarge")
            }
        };
        Ok(Self { runtime, each, place, simulated, timeout })
    }

    /// Loads and starts the NEFF for a worker.
    ///
    /// # Errors
    ///
    /// What the runtime says.
    pub(super) fn load(&self, neff: &[u8], worker: u32) -> anyhow::Result<u32> {
        let params = LoadParams { timeout: Some(self.timeout), ..LoadParams::default() };
        let first = worker.saturating_mul(self.each);
        let id = match self.each {
            0 => self.runtime.load(neff, &params),
            _ => self.runtime.load_at(neff, first, &params),
        };
        id.map_err(|failure| told(&failure))
    }

    /// Gives everything back.
    ///
    /// # Errors
    ///
    /// A file of a systrace that could not be written.
    pub(super) fn close(&self) -> anyhow::Result<()> {
        self.runtime.drain();
        self.runtime.unload_all();
        let kept = self.runtime.end_inspect();
        self.runtime.shut_down();
        kept.map(drop).map_err(|failure| told(&failure))
    }
}
