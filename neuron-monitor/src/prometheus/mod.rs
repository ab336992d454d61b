//! The exporter: records become metrics that Prometheus can scrape.
//!
//! One thread takes records in, from a monitor in this process or from the
//! stream of another on stdin; scrapes read the newest figures and never wait
//! for a collection.

mod auth;
mod families;
mod http;
mod state;
mod text;
#[cfg(feature = "tls")]
mod tls;

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use neuron_core::cli::{self, Exit, Output};
use neuron_core::error::io_reason;

use crate::args::Collection;
use crate::config::{Config, K8S_PERIOD};
use crate::events::{self, Event};
use crate::kubernetes::Kubelet;
use crate::monitor::{End, Limit};
use crate::wire::Record;
use crate::{PROGRAM, records};
use auth::Users;
use families::Extent;
use http::{Answer, Plain, Request, Wrap};
use state::State;
use text::Format;

/// Name of the original's script, which this program answers to as well.
pub(crate) const SCRIPT: &str = "neuron-monitor-prometheus.py";

/// A record that is older than this many of its periods, and a little, means
/// that the pipeline stands still.
const PERIODS: f64 = 3.0;
const GRACE: f64 = 5.0;

/// Flags of `neuron-monitor prometheus`.
#[derive(Debug, Clone, clap::Args)]
pub struct PrometheusArgs {
    /// Port to listen on; 0 takes one that is free
    #[arg(short, long, default_value_t = 8000)]
    pub port: u16,

    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub listen: IpAddr,

    /// Certificates for HTTPS (PEM); read again when the file changes
    #[arg(long, value_name = "FILE", requires = "key_file")]
    pub cert_file: Option<PathBuf>,

    /// Private key for HTTPS (PEM)
    #[arg(long, value_name = "FILE", requires = "cert_file")]
    pub key_file: Option<PathBuf>,

    /// Ask for a name and password: a file with a line USER:PASSWORD each
    #[arg(long, value_name = "FILE")]
    pub auth_file: Option<PathBuf>,

    /// Read the records of another neuron-monitor from stdin
    #[arg(long)]
    pub stdin: bool,

    /// Label cores and devices with their pod, as the kubelet tells it
    #[arg(long)]
    pub enable_k8s_info: bool,

    /// Also export the usage of each vCPU
    #[arg(long)]
    pub each_vcpu: bool,

    /// What is collected.
    #[command(flatten)]
    pub collection: Collection,
}

/// Flags of the original's script (sys-tools.md §5.1), and nothing else.
#[derive(Debug, Clone, clap::Parser)]
#[command(
    name = SCRIPT,
    about = "Serve the records of neuron-monitor on stdin over HTTP for Prometheus",
    long_about = None,
    version,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub(crate) struct ScriptArgs {
    /// Port to listen on
    #[arg(short, long, default_value_t = 8000)]
    port: u16,

    /// Certificates for HTTPS (PEM)
    #[arg(long, value_name = "FILE", requires = "key_file")]
    cert_file: Option<PathBuf>,

    /// Private key for HTTPS (PEM)
    #[arg(long, value_name = "FILE", requires = "cert_file")]
    key_file: Option<PathBuf>,

    /// Label cores and devices with their pod, as the kubelet tells it
    #[arg(long)]
    enable_k8s_info: bool,
}

impl ScriptArgs {
    /// The same as flags of ours. The original listens on every address.
    pub(crate) fn into_ours(self) -> PrometheusArgs {
        PrometheusArgs {
            port: self.port,
            listen: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            cert_file: self.cert_file,
            key_file: self.key_file,
            auth_file: None,
            stdin: true,
            enable_k8s_info: self.enable_k8s_info,
            each_vcpu: false,
            collection: Collection::NOTHING,
        }
    }
}

/// A page and the number of the record that it shows.
type Shown = Option<(u64, Arc<str>)>;

/// What the threads share: the newest figures, and the page made of them.
#[derive(Debug, Default)]
pub(crate) struct Board {
    state: Mutex<State>,
    /// The page of each format.
    pages: Mutex<[Shown; 2]>,
}

impl Board {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, record: Record) {
        self.take_at(record, Instant::now());
    }

    /// Takes in a record that arrived at this time.
    pub(crate) fn take_at(&self, record: Record, now: Instant) {
        let complaints = self.state().take(record, now);
        for complaint in complaints {
            cli::complain(PROGRAM, &complaint);
        }
    }

    /// The page, made anew when a record has come since the last scrape.
    fn page(&self, format: Format, extent: Extent) -> Arc<str> {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.state();
        let slot = match format {
            Format::Prometheus => &mut pages[0],
            Format::OpenMetrics => &mut pages[1],
        };
        match slot {
            Some((number, page)) if *number == state.records => Arc::clone(page),
            _ => {
                let state = state.clone();
                let page: Arc<str> = families::render(&state, format, extent).into();
                *slot = Some((state.records, Arc::clone(&page)));
                page
            }
        }
    }

    /// The page as a scrape would get it.
    #[cfg(test)]
    pub(crate) fn shown(&self) -> Arc<str> {
        self.page(Format::Prometheus, Extent { each_vcpu: true })
    }

    /// Whether records come, and how old the newest is.
    fn health(&self) -> Answer {
        let state = self.state();
        let period = state.periods.values().copied().fold(0.0, f64::max);
        let (status, word, age) = match state.arrived.map(|at| at.elapsed().as_secs_f64()) {
            None => ("503 Service Unavailable", "starting", -1.0),
            Some(age) if age > period * PERIODS + GRACE => {
                ("503 Service Unavailable", "stale", age)
            }
            Some(age) => ("200 OK", "ok", age),
        };
        let (records, bad) = (state.records, state.bad_records);
        let body = format!(
            "{{\"status\":\"{word}\",\"last_record_age_seconds\":{age:.3},\"records\":{records},\
             \"bad_records\":{bad}}}\n"
        );
        Answer { status, kind: "application/json", header: "", body: body.into() }
    }

    fn answer(&self, request: &Request, users: &Users, extent: Extent) -> Answer {
        if request.path == "/health" {
            return self.health();
        }
        if !users.admit(request.authorization.as_deref()) {
            let mut answer = Answer::text("401 Unauthorized", "a name and password are needed\n");
            answer.header = "WWW-Authenticate: Basic realm=\"neuron-monitor\"\r\n";
            return answer;
        }
        // Any other path has the metrics, as with the original.
        let format = Format::accepted(&request.accept);
        let body = self.page(format, extent);
        Answer { status: "200 OK", kind: format.content_type(), header: "", body }
    }
}

/// Serves until the end.
pub(crate) fn run(args: &PrometheusArgs, source: &str) -> Result<Exit, String> {
    let users = match &args.auth_file {
        Some(path) => Users::read(path)?,
        None => Users::default(),
    };
    let wrap = wrap(args)?;
    let address = SocketAddr::new(args.listen, args.port);
    let listener = TcpListener::bind(address).map_err(|error| {
        format!("cannot listen on {address}: {}; choose another --port", io_reason(&error))
    })?;
    let port = listener.local_addr().map_or(args.port, |address| address.port());
    let board = Arc::new(Board::default());
    // Before anything is served, so that a bad configuration says so first; signals too, so that
    // whoever heard that it is ready can end it in order.
    let monitor = match args.stdin {
        true => None,
        false => {
            let pods = args.enable_k8s_info;
            let monitor = crate::monitor(&args.collection, source, Config::everything, pods)?;
            let (sender, events) = channel();
            events::watch_signals(sender.clone())
                .map_err(|error| format!("cannot start: {}", io_reason(&error)))?;
            Some((monitor, sender, events))
        }
    };
    let (shared, extent) = (Arc::clone(&board), Extent { each_vcpu: args.each_vcpu });
    http::serve(listener, wrap, move |request| shared.answer(request, &users, extent))
        .map_err(|error| format!("cannot start: {}", io_reason(&error)))?;
    let protocol = if args.cert_file.is_some() { "HTTPS" } else { "HTTP" };
    announce(&format!("Running {protocol} prometheus server at port {port}\n"));
    cli::notify_service_manager(&format!("READY=1\nSTATUS=listening on {}:{port}", args.listen));
    let ended = match monitor {
        None => from_stdin(args, &board),
        Some((monitor, sender, events)) => from_monitor(monitor, &sender, &events, args, &board),
    };
    cli::notify_service_manager("STOPPING=1");
    ended
}

/// The original's line. Whoever does not read it misses nothing.
fn announce(line: &str) {
    let mut out = Output::stdout();
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

fn wrap(args: &PrometheusArgs) -> Result<Arc<dyn Wrap>, String> {
    match (&args.cert_file, &args.key_file) {
        #[cfg(feature = "tls")]
        (Some(cert), Some(key)) => Ok(Arc::new(tls::Tls::read(cert.clone(), key.clone())?)),
        #[cfg(not(feature = "tls"))]
        (Some(_), Some(_)) => {
            Err(String::from("this build has no HTTPS: build it with --features tls"))
        }
        _ => Ok(Arc::new(Plain)),
    }
}

fn from_monitor(
    mut monitor: crate::monitor::Monitor,
    sender: &Sender<Event>,
    events: &Receiver<Event>,
    args: &PrometheusArgs,
    board: &Board,
) -> Result<Exit, String> {
    let _watch = crate::watch_config(&args.collection, sender);
    monitor.always_own = true;
    let end = monitor.run(Limit::None, events, |record| {
        board.take(record);
        ControlFlow::Continue(())
    });
    match end {
        End::Done => Ok(Exit::Done),
        End::Output(error) => Err(error.to_string()),
    }
}

/// Takes records from stdin until it ends.
fn from_stdin(args: &PrometheusArgs, board: &Board) -> Result<Exit, String> {
    let socket = args.collection.kubelet_socket.as_deref();
    let kubelet = args.enable_k8s_info.then(|| Kubelet::ask(socket, K8S_PERIOD)).transpose()?;
    records::from_stdin(|record| match record {
        Ok(mut record) => {
            if let Some(kubelet) = &kubelet
                && record.neuron_k8s_info.is_none()
            {
                let per_device = record.neuron_hardware_info.neuroncore_per_device_count;
                record.neuron_k8s_info = kubelet.news(per_device);
            }
            board.take(record);
        }
        Err(complaint) => {
            board.state().bad_records += 1;
            cli::complain(PROGRAM, &complaint);
        }
    })?;
    Ok(Exit::Done)
}
