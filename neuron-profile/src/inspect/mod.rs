//! `neuron-profile inspect`: runs a program and keeps what the runtime under it
//! tells (profiler.md §1.5, §1.7).
//!
//! The runtime does the recording: libnrt.so.1, the vendor's on devices or ours
//! on a simulated instance, asked by `NEURON_RT_INSPECT_*`. Variables that the
//! user has set stay as they are.

mod cut;
mod program;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use neuron_core::Error;
use neuron_core::cli::DEFAULT_SOURCE;
use neuron_core::model::printable;

use crate::output::{self, Exit};

/// Run a program and keep what the runtime does for it
#[derive(Debug, clap::Args)]
#[command(after_help = output::codes())]
pub struct Args {
    /// Folder in which that of the run is made, INSTANCE_pid_PID
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    output_dir: PathBuf,

    /// Events that are kept of each core; then the oldest are dropped [default: 1000000]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    num_trace_events: Option<u64>,

    /// The program and what it takes
    #[arg(
        value_name = "PROGRAM",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    userscript: Vec<String>,

    #[command(flatten)]
    common: neuron_core::cli::CommonArgs,
}

/// Sets a variable of the program unless the user has.
fn unless_set(command: &mut Command, name: &str, value: &str) {
    if std::env::var_os(name).is_none() {
        command.env(name, value);
    }
}

/// Runs the command.
///
/// # Errors
///
/// A folder that cannot be made, a program that cannot be run or that fails, one
/// that left nothing.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let (program, rest) = args.userscript.split_first().context("give a program to run")?;
    let folder = &args.output_dir;
    std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    // the program may change its directory
    let folder = folder.canonicalize().map_err(Error::io("look at", folder))?;
    let before = runs(&folder)?;
    let mut command = Command::new(program);
    command.args(rest);
    command.env("NEURON_RT_INSPECT_ENABLE", "1");
    command.env("NEURON_RT_INSPECT_OUTPUT_DIR", &folder);
    if let Some(most) = args.num_trace_events {
        let name = "NEURON_RT_INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC";
        command.env(name, most.to_string());
    }
    for name in ["SYSTEM_PROFILE", "DEVICE_PROFILE", "CPU_UTIL", "HOST_MEMORY"] {
        unless_set(&mut command, &format!("NEURON_RT_INSPECT_{name}"), "1");
    }
    if args.common.source() != DEFAULT_SOURCE {
        command.env("NEURON_SOURCE", args.common.source());
    }
    let ended = program::run(&mut command).with_context(|| format!("cannot run {program:?}"))?;
    let made: Vec<PathBuf> = runs(&folder)?.difference(&before).cloned().collect();
    for run in &made {
        writeln!(out, "{}", printable(&run.display().to_string()))?;
    }
    out.flush()?;
    if let Some(failure) = ended {
        for error in made.iter().filter_map(|run| cut::mend(run).err()) {
            output::tell("inspect", [output::one_line(&error)]);
        }
        let kept = if made.is_empty() { "" } else { "; what it left above can be read" };
        bail!("{program:?}: {failure}{kept}");
    }
    if made.is_empty() {
        bail!(
            "{program:?} left nothing in {}: it must use libnrt.so.1 from nrt_init to nrt_close, \
             that of aws-neuronx-runtime-lib or, with --source sim:trn1.2xlarge, that of \
             neuron-tools",
            folder.display()
        );
    }
    Ok(Exit::Done)
}

/// Folders of runs, and of those with times between.
fn runs(folder: &Path) -> anyhow::Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut left = vec![(folder.to_owned(), 2_u32)];
    while let Some((folder, depth)) = left.pop() {
        // a folder of the program may go while it is looked at
        let Ok(list) = std::fs::read_dir(&folder) else { continue };
        for entry in list.flatten() {
            let path = entry.path();
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if ["trace_info.pb", "ntrace.pb"].iter().any(|name| path.join(name).is_file()) {
                found.insert(path.clone());
            }
            if depth > 1 {
                left.push((path, depth - 1));
            }
        }
    }
    Ok(found)
}
