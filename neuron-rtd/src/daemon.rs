//! The daemon: start-up, signals, drain (neuron-rtd.md §2.8, §2.9).

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use neuron_core::cli::{notify_service_manager, watchdog_period};
use neuron_core::instance::InstanceType;
use neuron_core::sim::{Places, Sim};
use neuron_core::source::Spec;
use rtd_api::nmgr_ext_v1_server::NmgrExtV1Server;
use rtd_api::nmgr_session_manager_server::NmgrSessionManagerServer;
use rtd_api::nmgr_stream_server::NmgrStreamServer;
use rtd_api::nmgr_v1_server::NmgrV1Server;
use rtd_runtime::{Code, Cores, Failure, Level, Nrt, Runtime, SimHost, Software};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tonic::transport::Server;

use crate::args::Args;
use crate::config::Config;
use crate::devices::{self, Named};
use crate::log::Log;
use crate::service::{Service, Shared};
use crate::transport::{Endpoint, Listener};

/// Where files of the original are; `NEURON_RTD_ROOT` puts a folder before it.
const CONFIG: &str = "opt/aws/neuron/config/neuron-rtd.config";
const INSTANCES: &str = "opt/aws/neuron/bin";
const MAP: &str = "run/infa-map.json";

/// Flow-control windows: large enough that an input of some MiB is not held up.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

/// Calls of one connection at a time: a client may wait for every inference of
/// a model with the deepest queue, and post more meanwhile.
const MOST_CALLS: u32 = 4096;

/// Calls of one connection that were given up before they were looked at.
const MOST_RESETS: usize = 2 * MOST_CALLS as usize;

/// How long the end waits for clients to read their last answers.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// The server at work.
type Serving = Pin<Box<dyn Future<Output = Result<(), tonic::transport::Error>> + Send>>;

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
        if let Some(kind) = kind {
            // devices that cannot be served together are a mistake, not a failure
            cores(kind, &devices, lnc).map_err(|failure| failure.lines().join("; "))?;
        }
        let config_path = (config_path, named);
        let level = args.level;
        let libnrt = args.libnrt.clone().or_else(|| config.libnrt.clone());
        Ok(Self { config, config_path, level, endpoint, spec, devices, lnc, libnrt, log })
    }

    fn say(&self, level: Level, place: &str, text: &str) {
        self.log.line(level, place, text);
    }

    /// Gets the devices, several times if need be.
    fn runtime(&self) -> Result<(Runtime, Option<Sim>), Failure> {
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
            let ended = tokio::task::spawn_blocking(move || runtime.shut_down());
            if tokio::time::timeout(Duration::from_secs(5), ended).await.is_err() {
                let text = "a model does not end; leaving it";
                self.say(Level::Warning, "NRTD:RunServer", text);
            }
        }
        self.say(Level::Info, "NRTD:RunServer", "Server ended");
        result
    }

    /// The server over all services; it ends when `ending` says so.
    fn server(
        &self,
        shared: Shared,
        health: tonic_health::pb::health_server::HealthServer<
            impl tonic_health::pb::health_server::Health,
        >,
        listener: Listener,
        mut ending: watch::Receiver<bool>,
    ) -> Result<Serving, String> {
        let service = Service(Arc::new(shared));
        let most = self.config.max_message_bytes;
        let reflection = || {
            tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(rtd_api::DESCRIPTORS)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        };
        let told = |error: tonic_reflection::server::Error| error.to_string();
        let mut builder = Server::builder()
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_concurrent_streams(MOST_CALLS)
            // a client that gives up all of its calls at once, as with short
            // deadlines, keeps its connection and with it its session
            .http2_max_pending_accept_reset_streams(Some(MOST_RESETS));
        if matches!(self.endpoint, Endpoint::Tcp(_)) {
            // a dead peer of a Unix socket shows by itself
            let interval = Duration::from_secs(self.config.keepalive_sec);
            builder = builder.http2_keepalive_interval(Some(interval));
        }
        let router = builder
            .add_service(
                NmgrV1Server::new(service.clone())
                    .max_decoding_message_size(most)
                    .max_encoding_message_size(most),
            )
            .add_service(
                NmgrStreamServer::new(service.clone())
                    .max_decoding_message_size(most)
                    .max_encoding_message_size(most),
            )
            .add_service(NmgrSessionManagerServer::new(service.clone()))
            .add_service(NmgrExtV1Server::new(service))
            .add_service(health)
            .add_service(reflection().build_v1().map_err(told)?)
            .add_service(reflection().build_v1alpha().map_err(told)?);
        let (send, connections) = mpsc::channel(16);
        let (log, mut accepting) = (Arc::clone(&self.log), ending.clone());
        tokio::spawn(async move {
            loop {
                let connection = tokio::select! {
                    connection = listener.accept() => connection,
                    _ = accepting.wait_for(|ending| *ending) => return,
                };
                let text = format!("connection from {}", connection.peer());
                log.line(Level::Debug, "NRTD:RunServer", &text);
                if send.send(Ok::<_, std::io::Error>(connection)).await.is_err() {
                    return;
                }
            }
        });
        let incoming = tokio_stream::wrappers::ReceiverStream::new(connections);
        Ok(Box::pin(router.serve_with_incoming_shutdown(incoming, async move {
            let _ = ending.wait_for(|ending| *ending).await;
        })))
    }

    /// SIGHUP: the log level and the way to syslog can change.
    fn reload(&self) {
        const PLACE: &str = "NRTD:reload";
        self.log.reopen();
        match Config::read(&self.config_path.0, self.config_path.1) {
            Ok((config, _)) => {
                let level = self.level.unwrap_or(config.log_level);
                self.log.set_level(level);
                self.say(Level::Info, PLACE, &format!("log level {level}"));
            }
            Err(reason) => self.say(Level::Error, PLACE, &reason),
        }
    }

    /// SIGUSR1: the state in the log.
    fn dump(&self, runtime: &Result<Runtime, Failure>) {
        const PLACE: &str = "NRTD:dump";
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(failure) => return self.say(Level::Info, PLACE, &failure.to_string()),
        };
        let (flying, waiting) = runtime.in_flight();
        let text = format!(
            "{} sessions, {} mappings, {flying} inferences in flight, {waiting} cookies",
            runtime.sessions().len(),
            runtime.maps()
        );
        self.say(Level::Info, PLACE, &text);
        for group in runtime.groups() {
            let seed = runtime.seed(group.id).map(|seed| format!(", seed {seed}"));
            let text = format!("{group:?}{}", seed.unwrap_or_default());
            self.say(Level::Info, PLACE, &text);
        }
        for model in runtime.models() {
            let text = format!(
                "model {} {:?} {:?}, NC {} x {}, session {}, {} in flight",
                model.id,
                model.name,
                model.state,
                model.first_core,
                model.cores,
                model.session,
                model.in_flight
            );
            self.say(Level::Info, PLACE, &text);
        }
    }
}

/// Cores of these devices, of so many physical ones as the user says.
fn cores(kind: &'static InstanceType, devices: &[u32], lnc: Option<u32>) -> Result<Cores, Failure> {
    let cores = Cores::new(kind, devices)?;
    match lnc {
        // chips that have no choice ignore the variable, as neuron-ls does
        Some(lnc) if kind.chip.default_lnc() > 1 => cores.with_lnc(lnc),
        _ => Ok(cores),
    }
}

/// The devices, by -t, by -i, by infa-map.json, or all.
fn choose(
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

enum Event {
    End,
    Reload,
    Dump,
}

struct Signals {
    term: Signal,
    int: Signal,
    hup: Signal,
    usr1: Signal,
}

impl Signals {
    fn new() -> Result<Self, String> {
        let on = |kind| signal(kind).map_err(|error| format!("cannot catch signals: {error}"));
        Ok(Self {
            term: on(SignalKind::terminate())?,
            int: on(SignalKind::interrupt())?,
            hup: on(SignalKind::hangup())?,
            usr1: on(SignalKind::user_defined1())?,
        })
    }

    async fn next(&mut self) -> Event {
        tokio::select! {
            _ = self.term.recv() => Event::End,
            _ = self.int.recv() => Event::End,
            _ = self.hup.recv() => Event::Reload,
            _ = self.usr1.recv() => Event::Dump,
        }
    }
}
