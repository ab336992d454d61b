//! The daemon: start-up, signals, drain (neuron-rtd.md §2.8, §2.9).

mod server;
mod signals;
mod start;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use neuron_core::cli::{notify_service_manager, watchdog_period};
use neuron_core::sim::Sim;
use neuron_core::source::Spec;
use rtd_runtime::{Failure, InspectOptions, Level, Runtime};
use tokio::sync::{mpsc, watch};

use crate::args::Args;
use crate::config::Config;
use crate::devices::{self, Named};
use crate::log::Log;
use crate::service::Shared;
use crate::transport::{Endpoint, Listener};
use signals::{Event, Signals};
use start::{choose, cores};

/// Where files of the original are; `NEURON_RTD_ROOT` puts a folder before it.
const CONFIG: &str = "opt/aws/neuron/config/neuron-rtd.config";
const INSTANCES: &str = "opt/aws/neuron/bin";
const MAP: &str = "run/infa-map.json";

/// How long the end waits for clients to read their last answers.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// How long the end waits for models, and for files of an inspection.
const MODELS_END: Duration = Duration::from_secs(5);
const FILES_END: Duration = Duration::from_secs(40);

/// Everything that was decided before the start.
#[derive(Debug)]
pub(crate) struct Plan {
    config: Config,
    config_path: (PathBuf, bool),
    level: Option<u8>,
    endpoint: Endpoint,
    spec: Spec,
    devices: Vec<u32>,
    lnc: Option<u32>,
    libnrt: Option<PathBuf>,
    /// What is recorded of the run, where that is asked for.
    inspect: Option<InspectOptions>,
    log: Arc<Log>,
}

fn root() -> PathBuf {
    std::env::var_os("NEURON_RTD_ROOT").map_or_else(|| PathBuf::from("/"), PathBuf::from)
}

impl Plan {
    /// Reads what the arguments name.
    pub(crate) fn new(args: &Args) -> Result<Self, String> {
        let config_path = args.config.clone().unwrap_or_else(|| root().join(CONFIG));
        let named = args.config.is_some();
        let (config, warnings) = Config::read(&config_path, named)?;
        let log = Arc::new(Log::new(args.level.unwrap_or(config.log_level), args.log_console));
        for warning in warnings {
            log.line(Level::Warning, "NRTD:ParseArguments", &warning);
        }
        if let Some(folder) = config.settings.profile_folder.as_deref().filter(|dir| !dir.is_dir())
        {
            let text = format!("rtd.profile_dir {} is no folder (yet)", folder.display());
            log.line(Level::Warning, "NRTD:ParseArguments", &text);
        }
        let source = if args.source.is_empty() { "kernel" } else { &args.source };
        let spec: Spec = source.parse().map_err(|error: neuron_core::Error| error.to_string())?;
        let instance = match &args.instance {
            Some(name) => Some(Named::read(&root().join(INSTANCES), name)?),
            None => None,
        };
        let address = args.address.clone();
        let address = address.or_else(|| instance.as_ref().map(|named| named.server_port.clone()));
        let address = address.as_deref().unwrap_or(crate::DEFAULT_ADDRESS);
        let endpoint = address.parse()?;
        let kind = match &spec {
            Spec::Sim(sim) => Some(sim.kind),
            _ => None,
        };
        let devices = choose(args, instance, kind, &root().join(MAP), &log)?;
        let lnc = devices::lnc_from_env()?;
        let inspect = match kind {
            Some(_) => InspectOptions::from_env().map_err(|failure| failure.lines().join("; "))?,
            // libnrt reads these variables itself, in this very process
            None => None,
        };
        if let Some(kind) = kind {
            // devices that cannot be served together are a mistake, not a failure
            cores(kind, &devices, lnc).map_err(|failure| failure.lines().join("; "))?;
        }
        let config_path = (config_path, named);
        let level = args.level;
        let libnrt = args.libnrt.clone().or_else(|| config.libnrt.clone());
        Ok(Self { config, config_path, level, endpoint, spec, devices, lnc, libnrt, inspect, log })
    }

    fn say(&self, level: Level, place: &str, text: &str) {
        self.log.line(level, place, text);
    }

    /// Runs until a signal or a client ends it.
    pub(crate) fn run(self) -> Result<(), String> {
        let build = format!("nrtd build using:{}", env!("CARGO_PKG_VERSION"));
        self.say(Level::Info, "NRTD:nrtd_main", &build);
        // first of all, so that a second daemon ends before it touches a device
        let lock = Listener::claim(&self.endpoint)?;
        raise_file_limit();
        let executor = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot make threads: {error}"))?;
        let ready = self.runtime();
        if let Ok((runtime, Some(sim))) = &ready {
            self.inspect(runtime, sim.name()).inspect_err(|_| runtime.shut_down())?;
        }
        let served = executor.block_on(self.serve(ready, lock));
        // threads that wait for a stuck node must not keep the process
        executor.shutdown_background();
        served
    }

    async fn serve(
        &self,
        ready: Result<(Runtime, Option<Sim>), Failure>,
        lock: Option<std::fs::File>,
    ) -> Result<(), String> {
        let (runtime, sim) = match ready {
            Ok((runtime, sim)) => (Ok(runtime), sim),
            Err(failure) => (Err(failure), None),
        };
        let mut signals = Signals::new()?;
        let listener = Listener::bind(&self.endpoint, self.config.socket_mode, lock).await?;
        let endpoint = listener.endpoint.clone();
        let (end, ending) = watch::channel(false);
        let (drain, mut drained) = mpsc::channel(1);
        let shared = Shared {
            runtime: runtime.clone(),
            config: self.config.clone(),
            log: Arc::clone(&self.log),
            sim,
            ending: ending.clone(),
            sessions: AtomicU64::new(0),
            drain,
        };
        let (health, health_service) = tonic_health::server::health_reporter();
        let names = ["", "nrt.nmgr_v1", "nrt.nmgr_session_manager", "nrt.nmgr_stream"];
        let status = match &runtime {
            Ok(_) => tonic_health::ServingStatus::Serving,
            Err(_) => tonic_health::ServingStatus::NotServing,
        };
        for name in names {
            health.set_service_status(name, status).await;
        }
        let server = self.server(shared, health_service, listener, ending)?;
        let text = format!("Server listening on {endpoint}");
        self.say(Level::Info, "NRTD:RunServer", &text);
        notify_service_manager(&format!("READY=1\nSTATUS=listening on {endpoint}"));
        let watchdog = tokio::spawn(pat());
        let mut server = tokio::spawn(server);
        let broken = loop {
            tokio::select! {
                event = signals.next() => match event {
                    Event::End => break None,
                    Event::Reload => self.reload(),
                    Event::Dump => self.dump(&runtime),
                },
                _ = drained.recv() => break None,
                done = &mut server => break Some(done),
            }
        };
        watchdog.abort();
        notify_service_manager("STOPPING=1");
        for name in names {
            health.set_service_status(name, tonic_health::ServingStatus::NotServing).await;
        }
        self.say(Level::Info, "NRTD:RunServer", "Draining");
        let until = Instant::now() + Duration::from_secs(self.config.drain_sec);
        if let Ok(runtime) = &runtime {
            runtime.drain();
            while runtime.in_flight().0 > 0 && Instant::now() < until {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        let _ = end.send(true);
        let result = match broken {
            Some(Ok(Err(error))) => Err(format!("the server broke off: {error}")),
            Some(Err(error)) => Err(format!("the server broke off: {error}")),
            Some(Ok(Ok(()))) => Ok(()),
            None => {
                // answers that are on their way; a client that does not read
                // them does not keep the daemon
                let rest = until.saturating_duration_since(Instant::now());
                let rest = rest.clamp(Duration::from_secs(1), LAST_ANSWERS);
                if tokio::time::timeout(rest, &mut server).await.is_err() {
                    server.abort();
                    let _ = server.await;
                }
                Ok(())
            }
        };
        if let Ok(runtime) = runtime {
            self.end(runtime).await;
        }
        self.say(Level::Info, "NRTD:RunServer", "Server ended");
        result
    }

    /// Ends the runtime. A model that does not end takes nothing with it that was recorded.
    async fn end(&self, runtime: Runtime) {
        let own = runtime.clone();
        let unloaded = tokio::task::spawn_blocking(move || own.unload_all());
        let unloaded = tokio::time::timeout(MODELS_END, unloaded).await.is_ok();
        if !unloaded {
            let text = "a model does not end; leaving it";
            self.say(Level::Warning, "NRTD:RunServer", text);
        }
        let own = runtime.clone();
        let written = tokio::task::spawn_blocking(move || own.end_inspect());
        match tokio::time::timeout(FILES_END, written).await {
            Ok(Ok(Err(failure))) => {
                self.say(Level::Error, "NRTD:RunServer", &failure.lines().join("; "));
            }
            Ok(Ok(Ok(_))) => {}
            Ok(Err(error)) => {
                let text = format!("the files of the inspection may not be whole: {error}");
                self.say(Level::Error, "NRTD:RunServer", &text);
            }
            Err(_) => {
                let text = "the files of the inspection take too long; leaving them as they are";
                self.say(Level::Warning, "NRTD:RunServer", text);
            }
        }
        if unloaded {
            let ended = tokio::task::spawn_blocking(move || runtime.shut_down());
            // what is left are threads that sleep
            let _ = tokio::time::timeout(MODELS_END, ended).await;
        }
    }
}

/// Tells the service manager that the daemon lives.
async fn pat() {
    if let Some(interval) = watchdog_period() {
        loop {
            notify_service_manager("WATCHDOG=1");
            tokio::time::sleep(interval).await;
        }
    }
}

/// A thousand clients need more descriptors than a shell grants.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // fewer clients is all that follows
    let _ = setrlimit(Resource::Nofile, raised);
}
