//! `neuron-profile capture`: runs a NEFF and keeps what the device tells.
//!
//! Flags are those of the vendor's tools (profiler.md §1.2). It runs through
//! the runtime library: on a simulated instance with `--source sim:...`, else
//! on the devices of the machine through libnrt. `--capture-type systrace` keeps
//! what the runtime does instead, as `inspect` does for other programs.

mod cores;
mod inputs;
mod names;
mod outputs;
mod plan;
mod systrace;
mod tensorboard;
mod worker;
mod world;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, bail};
use clap::ValueEnum;
use neuron_core::model::printable;
use neuron_core::sys::file_map::FileBytes;

use crate::output::{self, Exit};
use crate::tensorboard::host::Watch;
use names::Names;
use plan::{Plan, Ranks};
use worker::Worker;

/// Workers of one machine at most.
const MOST_WORKERS: u32 = 4096;

/// Run a NEFF and write a trace of it
#[derive(Debug, clap::Args)]
#[command(after_help = output::codes())]
pub struct Args {
    /// The NEFF to run
    #[arg(short, long, value_name = "FILE", default_value = "file.neff")]
    neff: PathBuf,

    /// Where the trace goes; executions beyond the first and ranks get `_exec_N` and `_rank_R` before the ending
    #[arg(short, long, value_name = "FILE", default_value = "profile.ntff")]
    session_file: PathBuf,

    /// Go on after an execution that ends with an error, such as NaN from inputs of zeros
    #[arg(long)]
    ignore_exec_errors: bool,

    /// Inputs, as pairs of a name and a .npy or raw file; those that are not given are zeros
    #[arg(value_names = ["NAME", "FILE"], num_args = 0..)]
    inputs: Vec<String>,

    /// Inputs of several workers: a text file with a line of such pairs for each
    #[arg(short, long, value_name = "FILE", conflicts_with = "inputs")]
    multi_input: Option<PathBuf>,

    /// The rank that writes a trace, or all
    #[arg(short = 'i', long, value_name = "RANK", default_value = "all")]
    collectives_profile_id: Ranks,

    /// Workers of this machine, each on cores of its own [default: as many as the collectives of the NEFF need, else 1]
    #[arg(short = 'r', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_WORKERS)))]
    collectives_workers_per_node: Option<u32>,

    /// Workers of all machines
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    collectives_worker_count: Option<u32>,

    /// Rank of the first worker of this machine
    #[arg(long, value_name = "RANK", default_value_t = 0)]
    collectives_worker_start_id: u32,

    /// Executions of each worker
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    num_exec: u32,

    /// Trace each N-th execution, 0 for none; there are at least N executions
    #[arg(long, value_name = "N", default_value_t = 1)]
    profile_nth_exec: u32,

    /// What is traced; the files of a systrace are in a folder that has the name of the session file without its ending
    #[arg(short = 't', long, value_enum, default_value_t = CaptureType::Profile)]
    capture_type: CaptureType,

    /// Names of the events of a systrace, and nothing else
    #[arg(long)]
    systrace_get_event_types: bool,

    /// Events of a systrace that are kept, by name, hardware or software, with ^ before it those that are not; may be given more than once
    #[arg(long, value_name = "EVENT", value_delimiter = ',')]
    systrace_event_filter: Vec<String>,

    /// How executions follow each other
    #[arg(long, value_enum, default_value_t = ExecMode::Sync)]
    exec_mode: ExecMode,

    /// Only run, write no trace
    #[arg(long)]
    disable_profile: bool,

    /// Ask the device to tell what each dynamic DMA moves
    #[arg(long)]
    enable_dge_notifs: bool,

    /// Let all tensors share one buffer; here each keeps its own, results and times are the same
    #[arg(long)]
    single_io: bool,

    /// Tensors up to so many bytes keep a buffer of their own
    #[arg(long, value_name = "BYTES", requires = "single_io")]
    single_io_threshold: Option<u64>,

    /// Write each output to a raw file of its name
    #[arg(long)]
    save_output: bool,

    /// Write each output to a .npy file of its name
    #[arg(long)]
    save_output_npy: bool,

    /// Save the outputs of each N-th execution only
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    save_nth_output: u32,

    /// Save the outputs of each execution, as is done anyway
    #[arg(long, hide = true)]
    write_tensors_per_exec: bool,

    /// Compare the outputs of all executions with those of the first; 1 is returned if they differ
    #[arg(long)]
    check_output_determinism: bool,

    /// What inputs and outputs are taken from
    #[arg(long, value_enum, default_value_t = IoFrom::Neff)]
    io_from: IoFrom,

    /// The libnrt that --source kernel uses [default: /opt/aws/neuron/lib/libnrt.so.1]
    #[arg(long, value_name = "FILE", env = "NEURON_RTD_LIBNRT", hide_env_values = true)]
    libnrt: Option<PathBuf>,

    /// Also write the traces as a run for TensorBoard, below plugins/neuron of this log directory
    #[arg(long, value_name = "DIR", conflicts_with = "disable_profile")]
    tensorboard_dir: Option<PathBuf>,

    #[command(flatten)]
    common: neuron_core::cli::CommonArgs,
}

/// What is traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CaptureType {
    /// The device
    Profile,
    /// The runtime
    Systrace,
}

/// How executions follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExecMode {
    /// Each is waited for
    Sync,
    /// All are queued, then waited for
    Async,
    /// Each is queued and waited for by itself
    AsyncWait,
}

/// What inputs and outputs are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IoFrom {
    /// The NEFF
    Neff,
}

/// Runs the command.
///
/// # Errors
///
/// Files that cannot be read or written, no cores, a NEFF that cannot be
/// loaded; an execution that ends with an error, unless that is ignored;
/// outputs that differ.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    if args.systrace_get_event_types {
        return systrace::names(args, out);
    }
    systrace::tell_libnrt(args)?;
    let name = args.neff.display().to_string();
    let bytes = FileBytes::open(&args.neff)?;
    crate::neff::open::is_neff(&bytes, &name)?;
    let mut plan = Plan::of(args)?;
    let ranks = if plan.collectives { 0 } else { world::ranks(&bytes).unwrap_or(0) };
    if args.single_io || args.enable_dge_notifs {
        note(args);
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // The second one ends the program at once.
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&interrupted))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&interrupted)))
            .context("cannot catch signals")?;
    }
    let settle = |each| plan.settle(ranks, each);
    let cores = cores::Cores::open(args.common.source(), args.libnrt.as_deref(), &bytes, settle)
        .with_context(|| name.clone())?;
    plan.check_rank()?;
    let trace = systrace::begin(args, &cores)?;
    let files = inputs::Files::of(args, plan.workers)?;
    let names = Names::new(&args.session_file, plan.collectives);
    let watch = Watch::default();
    let workers: Vec<Worker<'_>> = (0..plan.workers)
        .map(|number| {
            let shared = (&plan, &names, &watch, &*interrupted);
            Worker::load(&cores, &bytes, number, &files, shared)
        })
        .collect::<anyhow::Result<_>>()
        .with_context(|| name.clone())?;
    let reports: Vec<anyhow::Result<worker::Report>> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            workers.iter().map(|worker| scope.spawn(move || worker.run())).collect();
        let broken = |_| Err(anyhow::anyhow!("a worker panicked"));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(broken)).collect()
    });
    let kept = cores.close();
    let mut failed = None;
    let mut traces = Vec::new();
    for report in reports {
        match report {
            Ok(report) => {
                report.tell(&cores, out)?;
                traces.extend(report.into_traces());
            }
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    if let Some(folder) = trace.filter(|_| kept.is_ok()) {
        let folder = folder.display().to_string();
        writeln!(out, "{}: system trace on {}", printable(&folder), cores.place)?;
    }
    out.flush()?;
    if interrupted.load(std::sync::atomic::Ordering::Relaxed) {
        bail!("{name}: interrupted; the traces above are whole");
    }
    if let Some(dir) = args.tensorboard_dir.as_ref().filter(|_| !traces.is_empty()) {
        let run = tensorboard::write(dir, (&name, &bytes), &traces, &watch)?;
        writeln!(out, "{}: run for TensorBoard", run.display())?;
        out.flush()?;
    }
    if let Some(error) = failed {
        return Err(error.context(name));
    }
    kept?;
    Ok(Exit::Done)
}

/// Tells what a flag does not change.
fn note(args: &Args) {
    let mut lines = Vec::new();
    if args.single_io {
        lines.push(String::from("note: each tensor keeps its own buffer"));
    }
    let asked = std::env::var("NEURON_RT_ENABLE_DGE_NOTIFICATIONS").is_ok_and(|text| text == "1");
    if args.enable_dge_notifs && !asked && args.common.source() == neuron_core::cli::DEFAULT_SOURCE
    {
        lines.push(String::from(
            "note: libnrt reads this from its environment: NEURON_RT_ENABLE_DGE_NOTIFICATIONS=1",
        ));
    }
    output::tell("capture", lines);
}
