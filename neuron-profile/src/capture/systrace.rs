//! `capture --capture-type systrace`: what the runtime does while the NEFF runs,
//! in the files of an inspect run.
//!
//! On a simulated instance our runtime writes them. On devices libnrt does, which
//! reads from its environment what it shall do, before it is opened: there the
//! program begins anew with what it reads.

use std::io::Write;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, bail};
use neuron_core::cli::DEFAULT_SOURCE;
use neuron_core::ntff::event::NAMES;
use rtd_runtime::inspect::{Kind, Kinds};
use rtd_runtime::{DeviceTraces, InspectOptions};

use super::cores::{Cores, told};
use super::{Args, CaptureType};
use crate::output::Exit;

/// What libnrt reads.
const ENABLE: &str = "NEURON_RT_INSPECT_ENABLE";

/// Writes the names of events: those of our runtime, for devices all that are
/// known of the vendor's.
pub(super) fn names(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let own = Kind::ALL.map(Kind::name);
    let devices = args.common.source() == DEFAULT_SOURCE;
    let names: &[&str] = if devices { NAMES.get(1..).unwrap_or_default() } else { &own };
    for name in names {
        writeln!(out, "{name}")?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// Begins the program anew where libnrt is to trace and has not been told.
///
/// # Errors
///
/// A program that cannot be begun.
pub(super) fn tell_libnrt(args: &Args) -> anyhow::Result<()> {
    let asked = || std::env::var(ENABLE).is_ok_and(|text| text.trim() == "1");
    let wanted = args.capture_type == CaptureType::Systrace;
    if !wanted || args.common.source() != DEFAULT_SOURCE || asked() {
        return Ok(());
    }
    let own = std::env::current_exe().context("cannot find the program itself")?;
    let mut command = Command::new(&own);
    command.args(std::env::args_os().skip(1)).env(ENABLE, "1");
    command.env("NEURON_RT_INSPECT_OUTPUT_DIR", folder(args));
    command.env("NEURON_RT_INSPECT_SYSTEM_PROFILE", "1");
    command.env("NEURON_RT_INSPECT_DEVICE_PROFILE", "0");
    if !args.systrace_event_filter.is_empty() {
        let filter = args.systrace_event_filter.join(",");
        command.env("NEURON_RT_INSPECT_EVENT_FILTER_TYPE", filter);
    }
    // comes back only when it could not be done
    Err(command.exec()).with_context(|| format!("cannot run {}", own.display()))
}

/// The folder of a systrace.
fn folder(args: &Args) -> PathBuf {
    args.session_file.with_extension("")
}

/// Begins a systrace, if one is asked for; gives its folder.
pub(super) fn begin(args: &Args, cores: &Cores) -> anyhow::Result<Option<PathBuf>> {
    let filter = args.systrace_event_filter.join(",");
    if args.capture_type != CaptureType::Systrace {
        if !filter.is_empty() {
            bail!("--systrace-event-filter is for --capture-type systrace");
        }
        return Ok(None);
    }
    let folder = folder(args);
    let Some(instance) = &cores.simulated else {
        // libnrt has begun it
        return Ok(Some(folder));
    };
    let options = InspectOptions {
        folder,
        device: DeviceTraces::None,
        kinds: Kinds::listed(&filter).map_err(|failure| told(&failure))?,
        ..InspectOptions::default()
    };
    let begun = cores.runtime.inspect(options, instance);
    Ok(Some(begun.map_err(|failure| told(&failure))?))
}
