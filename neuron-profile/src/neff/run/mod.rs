//! `neff run`: runs a NEFF on the software NeuronCore.

mod fill;
pub(crate) mod npy;
mod outputs;
mod timing;
mod trace;

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use neuron_core::neff::{Neff, Options, Usage, shown};
use neuron_core::sys::file_map::FileBytes;
use npu::time::Timing;
use npu::{LoadError, Program, TensorInfo, Tensors};
use serde_json::json as value;
use tempfile::NamedTempFile;

use super::open;
use crate::output::{Exit, Format, json, table};
use fill::Fill;

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

    /// Node to run, by its kelf member, of a file with several
    #[arg(long, value_name = "KELF")]
    node: Option<String>,

    /// Skip the arithmetic: time and counts only, inputs that are not given are 0
    #[arg(long, conflicts_with_all = ["output", "fill", "no_timing"])]
    timing_only: bool,

    /// Skip the timing: outputs only
    #[arg(long)]
    no_timing: bool,

    /// Write the trace that a device would have written to this file
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
        LoadError::Node { .. } => anyhow!("{error}, with --node"),
        error => error.into(),
    });
    let program = program.with_context(|| name.clone())?;
    let tensors = inputs(args, &program).with_context(|| name.clone())?;
    let (results, summary) = if args.no_timing {
        (npu::on_all_threads(|| program.run(&tensors)).with_context(|| name.clone())?, None)
    } else {
        let arithmetic = !args.timing_only;
        let timing = Timing { arithmetic, ..Timing::of(&program) };
        let mut sink = trace::Sink::new(args.trace.is_some());
        let timed = npu::on_all_threads(|| program.run_timed(&tensors, &timing, &mut sink))
            .with_context(|| name.clone())?;
        if let Some(path) = &args.trace {
            trace::save(path, &args.file, &bytes, &program, &timed, &sink)?;
        }
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
                    "outputs": rows,
                    "timing": summary.as_ref().map(timing::document),
                }),
            )?;
        }
        Format::Text => {
            let (cores, generation) = (program.cores().len(), program.arch().number());
            writeln!(
                out,
                "{}: simulated, {cores} NeuronCores of generation {generation}",
                shown(&name)
            )?;
            if let Some(summary) = &summary {
                timing::text(summary, out)?;
            }
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
