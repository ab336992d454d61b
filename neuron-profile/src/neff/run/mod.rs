//! `neff run`: runs a NEFF on the software NeuronCore.

mod fill;
pub(crate) mod npy;
mod numerical;
mod outputs;
mod timing;
mod trace;

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use neuron_core::neff::{Mode, Model, Neff, Options, Report, Usage, shown};
use neuron_core::sys::file_map::FileBytes;
use npu::time::{Timed, Timing};
use npu::{Limits, LoadError, Program, TensorInfo, Tensors};
use serde_json::json as value;
use tempfile::NamedTempFile;

use super::open;
use crate::output::{Exit, Format, json, table};
use fill::Fill;
use numerical::Counts;

/// Run it on the software NeuronCore
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The NEFF; - reads stdin
    file: PathBuf,

    /// Give an input its array; for types that NumPy has not, such as bfloat16, one of as many bytes
    #[arg(short, long = "input", num_args = 2, value_names = ["NAME", "NPY"])]
    input: Vec<String>,

    /// Make up the inputs that are not given
    #[arg(long, value_enum)]
    fill: Option<Fill>,

    /// Start of the random numbers of --fill random
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// Write each output to a .npy file in this folder, which is made
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Node to run, by its kelf member, of a file with several; nodes of the CPU are not run
    #[arg(long, value_name = "KELF")]
    node: Option<String>,

    /// Skip the arithmetic: time and counts only, inputs that are not given are 0
    #[arg(long, conflicts_with_all = ["output", "fill", "no_timing"])]
    timing_only: bool,

    /// Skip the timing: outputs and numerical errors only
    #[arg(long)]
    no_timing: bool,

    /// Write the trace that a device would have written to this file, also of a run that stops
    #[arg(long, value_name = "NTFF", conflicts_with = "no_timing")]
    trace: Option<PathBuf>,

    /// Form of the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// A file that gets its name when it is whole, readable as the user's mask says.
pub(crate) fn temporary(folder: &Path) -> std::io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(".neff-run-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let name = open::name(&args.file);
    let bytes = open::bytes(&args.file)?;
    open::is_neff(&bytes, &name)?;
    // A cut or changed file would run as far as its programs are there, and
    // give numbers that look right: it is refused as a loader refuses it.
    let options = Options::strict().holding_all();
    let neff = Neff::open(&bytes, &options).with_context(|| name.clone())?;
    let program = Program::from_node(&neff, args.node.as_deref());
    let program = program.map_err(|error| match error {
        LoadError::Node { .. } => anyhow!("{error}, with --node; nodes of the CPU are not run"),
        error => error.into(),
    });
    let program = program.with_context(|| name.clone())?;
    let (_, host) = Model::read(&neff, &mut Report::new(Mode::Strict))?.node_counts();
    let tensors = inputs(args, &program).with_context(|| name.clone())?;
    if let Some(folder) = &args.output {
        outputs::check(folder)?;
    }
    if let Some(path) = &args.trace {
        let given = args.input.chunks(2).filter_map(|pair| pair.get(1)).map(Path::new);
        trace::check(path, given.chain([args.file.as_path()]))?;
    }
    let mut errors = Counts::none(program.cores().len());
    let (results, summary) = if args.no_timing {
        let limits = Limits::default();
        let results = npu::on_all_threads(|| program.run_with(&tensors, &limits, &mut errors));
        (results.with_context(|| name.clone())?, None)
    } else {
        let arithmetic = !args.timing_only;
        let timing = Timing { arithmetic, ..Timing::of(&program) };
        let mut sink = trace::Sink::new(args.trace.is_some());
        let done = npu::on_all_threads(|| program.run_timed(&tensors, &timing, &mut sink));
        let save = |timed: &Timed| match &args.trace {
            Some(path) => trace::save(path, &args.file, &bytes, &program, timed, &sink),
            None => Ok(()),
        };
        let timed = match (done, &sink.stopped) {
            (Ok(timed), _) => timed,
            (Err(stop), stopped) => {
                stopped.as_ref().map_or(Ok(()), save)?;
                return Err(stop).with_context(|| name.clone());
            }
        };
        save(&timed)?;
        errors = Counts(timed.summary.cores.iter().map(|core| core.errors).collect());
        (timed.outputs, Some(timed.summary))
    };
    let mut rows = Vec::new();
    let wanted = |tensor: &&TensorInfo| tensor.usage == Usage::Output && !args.timing_only;
    for tensor in program.tensors().iter().filter(wanted) {
        let data = results.get(&tensor.name).map_or(&[][..], Vec::as_slice);
        let file = match &args.output {
            Some(folder) => Some(outputs::save(folder, tensor, rows.len(), data)?),
            None => None,
        };
        rows.push(outputs::Row::new(tensor, data, file));
    }
    match args.format {
        Format::Json => {
            let rows: Vec<_> = rows.iter().map(outputs::Row::document).collect();
            json(
                out,
                &value!({
                    "file": name,
                    "simulated": true,
                    "generation": program.arch().number(),
                    "cores": program.cores().len(),
                    "cpu_nodes_not_run": host,
                    "outputs": rows,
                    "numerical_errors": (!args.timing_only).then(|| errors.document()),
                    "timing": summary.as_ref().map(timing::document),
                }),
            )?;
        }
        Format::Text => {
            let (cores, generation) = (program.cores().len(), program.arch().number());
            let plural = if cores == 1 { "" } else { "s" };
            writeln!(
                out,
                "{}: simulated, {cores} physical NeuronCore{plural} of generation {generation}",
                shown(&name)
            )?;
            if host > 0 {
                let nodes = if host == 1 { "a node" } else { "nodes" };
                writeln!(out, "{nodes} of the CPU: not run")?;
            }
            if let Some(summary) = &summary {
                timing::text(summary, out)?;
            }
            errors.text(out)?;
            if rows.is_empty() {
                out.flush()?;
                return Ok(Exit::Done);
            }
            writeln!(out)?;
            let heads = ["OUTPUT", "TYPE", "SHAPE", "BYTES", "MIN", "MAX", "MEAN", "NAN", "FILE"];
            let mut cells = vec![heads.map(str::to_owned).to_vec()];
            cells.extend(rows.iter().map(outputs::Row::cells));
            table(out, "", &[0, 1, 2, 8], &cells)?;
            out.flush()?;
        }
    }
    Ok(Exit::Done)
}

/// The bytes of every input: as given, else made up.
fn inputs(args: &Args, program: &Program) -> anyhow::Result<Tensors> {
    let wanted: Vec<&TensorInfo> =
        program.tensors().iter().filter(|tensor| tensor.usage == Usage::Input).collect();
    let mut tensors = Tensors::new();
    for pair in args.input.chunks(2) {
        let [name, path] = pair else { continue };
        let Some(tensor) = wanted.iter().find(|tensor| tensor.name == *name) else {
            let names: Vec<String> = wanted.iter().map(|tensor| shown(&tensor.name)).collect();
            bail!("there is no input {}; there are {}", shown(name), names.join(", "));
        };
        let file = FileBytes::open(Path::new(path))?;
        let data = npy::data(path, &file, &(*tensor).into())?;
        if tensors.insert(name.clone(), data).is_some() {
            bail!("input {} is given twice", shown(name));
        }
    }
    for (index, tensor) in wanted.iter().enumerate() {
        if tensors.contains_key(&tensor.name) {
            continue;
        }
        if args.timing_only {
            continue;
        }
        let Some(fill) = args.fill else {
            bail!(
                "input {} ({}) has no value: give -i {} FILE.npy, or --fill random",
                shown(&tensor.name),
                outputs::type_text(tensor),
                shown(&tensor.name)
            );
        };
        let data = fill.bytes(tensor, args.seed, index)?;
        tensors.insert(tensor.name.clone(), data);
    }
    Ok(tensors)
}
