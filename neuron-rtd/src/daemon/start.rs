//! Start-up: which devices, and the runtime over them (neuron-rtd.md §2.8).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use neuron_core::instance::InstanceType;
use neuron_core::sim::{Places, Sim};
use neuron_core::source::Spec;
use rtd_runtime::{Code, Cores, Failure, Level, Nrt, Runtime, SimHost, Software};

use super::Plan;
use crate::args::Args;
use crate::devices::{self, Named};
use crate::log::Log;

impl Plan {
    /// Gets the devices, several times if need be.
    pub(super) fn runtime(&self) -> Result<(Runtime, Option<Sim>), Failure> {
        const PLACE: &str = "NRTD:nrtd_main";
        let mut last = Failure::new(Code::HwError, PLACE, "no attempt was made");
        for attempt in 1..=self.config.init_attempts {
            match self.attempt() {
                Ok(ready) => return Ok(ready),
                Err(failure) => {
                    for line in failure.lines() {
                        self.log.body(Level::Error, line);
                    }
                    let code = failure.code.number();
                    let text = format!("Failed to initialize devices, error:{code}");
                    self.say(Level::Error, "NRTD:InitTongas", &text);
                    let text = format!("Failed to initialize devices: , attempt: {attempt}");
                    self.say(Level::Error, PLACE, &text);
                    last = failure;
                }
            }
            if attempt < self.config.init_attempts {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
        // §1.4: every call is answered with this code then
        last.code = Code::HwError;
        Err(last.then(PLACE, "the daemon has no devices; see its log and start it anew"))
    }

    fn attempt(&self) -> Result<(Runtime, Option<Sim>), Failure> {
        const PLACE: &str = "NMGR:kmgr_init_mlas";
        let spec = match &self.spec {
            Spec::Sim(spec) => spec,
            Spec::Kernel => return Ok((self.on_libnrt()?, None)),
            Spec::Root(_) | Spec::Replay { .. } => {
                let text = "models run on --source kernel or --source sim:inf1.6xlarge";
                return Err(
                    Failure::new(Code::Invalid, PLACE, text).then(PLACE, "No devices specified")
                );
            }
        };
        let cores = cores(spec.kind, &self.devices, self.lnc)?;
        let sim = Sim::open_or_create(&Places::from_env(), &spec.name, spec.kind)
            .map_err(|error| Failure::new(Code::Fail, PLACE, error))?;
        let bdf = |device: &u32| {
            spec.kind.pci(*device).map_or_else(String::new, |pci| pci.bdf.to_string())
        };
        for device in cores.devices() {
            let text = format!("Resetting {}", bdf(device));
            self.say(Level::Info, "TDRV:reset_mla", &text);
        }
        let host = SimHost::attach(sim.clone(), &cores, "neuron-rtd")?;
        for device in cores.devices() {
            let chip = spec.kind.chip.device_name();
            let text = format!("Initialized {chip}: {}", bdf(device));
            self.say(Level::Info, "TDRV:tdrv_init_one_mla_phase2", &text);
        }
        let runtime = Runtime::new(
            cores,
            Box::new(Software::default()),
            Box::new(host),
            self.config.settings.clone(),
            Arc::clone(&self.log) as Arc<dyn rtd_runtime::Journal>,
        )?;
        let text = format!(
            "simulated instance {} ({}), {}",
            sim.name(),
            spec.kind.name,
            runtime.backend_name()
        );
        self.say(Level::Info, "NRTD:nrtd_main", &text);
        Ok((runtime, Some(sim)))
    }

    /// Begins to write what the runtime does, where `NEURON_RT_INSPECT_*` ask for it. A run that
    /// was to be looked at is not begun without.
    pub(super) fn inspect(&self, runtime: &Runtime, instance: &str) -> Result<(), String> {
        let Some(options) = self.inspect.clone() else { return Ok(()) };
        let told = |failure: Failure| {
            let text = failure.lines().join("; ");
            format!("{text}; NEURON_RT_INSPECT_OUTPUT_DIR names another folder")
        };
        let folder = runtime.inspect(options, instance).map_err(told)?;
        self.say(Level::Info, "NRT:inspect", &format!("Inspection into {}", folder.display()));
        Ok(())
    }

    /// The devices of this machine, through libnrt.
    fn on_libnrt(&self) -> Result<Runtime, Failure> {
        let nrt = Nrt::open(self.libnrt.as_deref())?;
        let cores = nrt.cores(&self.devices)?;
        let text = format!("{} with {} cores, {}", nrt.kind().name, cores.count(), nrt.library());
        let journal = Arc::clone(&self.log) as Arc<dyn rtd_runtime::Journal>;
        // memory and counters of the devices are libnrt's own matter
        let (host, settings) = (Box::new(()), self.config.settings.clone());
        let runtime = Runtime::new(cores, Box::new(nrt), host, settings, journal)?;
        self.say(Level::Info, "NRTD:nrtd_main", &text);
        Ok(runtime)
    }
}

/// Cores of these devices, of so many physical ones as the user says.
pub(super) fn cores(
    kind: &'static InstanceType,
    devices: &[u32],
    lnc: Option<u32>,
) -> Result<Cores, Failure> {
    let cores = Cores::new(kind, devices)?;
    match lnc {
        // chips that have no choice ignore the variable, as neuron-ls does
        Some(lnc) if kind.chip.default_lnc() > 1 => cores.with_lnc(lnc),
        _ => Ok(cores),
    }
}

/// The devices, by -t, by -i, by infa-map.json, or all.
pub(super) fn choose(
    args: &Args,
    instance: Option<Named>,
    kind: Option<&InstanceType>,
    map: &Path,
    log: &Log,
) -> Result<Vec<u32>, String> {
    let Some(kind) = kind else {
        // of this machine; whether they are connected is libnrt's matter
        if !args.bdfs.is_empty() {
            return devices::of_machine(&args.bdfs);
        }
        return Ok(instance.map_or_else(Vec::new, |named| named.devices));
    };
    if !args.bdfs.is_empty() {
        return devices::by_bdf(kind, &args.bdfs);
    }
    if let Some(named) = instance {
        return Ok(named.devices);
    }
    match devices::map(map)? {
        Some(bdfs) => {
            let text = "Using all the BDFs in the infa_map.json!";
            log.line(Level::Info, "NRTD:ParseArguments", text);
            devices::by_bdf(kind, &bdfs)
        }
        None => Ok(Vec::new()),
    }
}
