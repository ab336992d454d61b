//! A run of `inspect` into the store.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use neuron_core::cli::rfc3339;
use neuron_core::instance::InstanceType;
use neuron_core::ntff::error::Findings;
use neuron_core::ntff::frames::{FrameReader, Framed};
use neuron_core::ntff::messages::{NtraceEvent, NtraceInfo};
use neuron_core::ntff::{Limits, Options, root, schema};
use neuron_core::units::Timestamp;
use profile_engine::system::memory::Memories;
use profile_engine::system::{Matcher, Syncs};
use profile_store::disk::content_id;
use profile_store::{DeviceProfile, Error, Labels, Settings, SystemRun, ingest_system};

use super::Args;
use super::ignored::SystemFilter;
use super::ingest::Given;
use crate::output;

/// Files of a run; the first is its description.
const FILES: [&str; 4] = ["trace_info.pb", "ntrace.pb", "cpu_util.pb", "host_mem.pb"];

/// Calls `each` with the messages of a framed file; none if it is not there.
/// What could be read of a damaged one is used. Gives what there is to tell, and
/// whether it is whole.
fn frames<M: Framed>(path: &Path, mut each: impl FnMut(M)) -> anyhow::Result<(Vec<String>, bool)> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok((Vec::new(), true));
        }
        file => file.map_err(neuron_core::Error::io("open", path))?,
    };
    let name = path.display().to_string();
    let mut reader = FrameReader::new(BufReader::new(file), Options::default());
    while let Some(message) = reader.next_message().with_context(|| name.clone())? {
        each(message);
    }
    let (findings, _) = reader.findings().list();
    let lines = findings.iter().map(ToString::to_string).collect();
    Ok((lines, !reader.findings().damaged()))
}

/// As [`frames`], and tells.
fn told<M: Framed>(path: &Path, each: impl FnMut(M)) -> anyhow::Result<bool> {
    let (lines, whole) = frames(path, each)?;
    output::tell(&path.display().to_string(), lines);
    Ok(whole)
}

/// The description of a run, and whether it is whole: events are shown without
/// it too, by the names that the format gives them.
fn description(folder: &Path) -> anyhow::Result<(NtraceInfo, bool)> {
    let (lines, info, whole) = described(folder)?;
    output::tell(&folder.join("trace_info.pb").display().to_string(), lines);
    Ok((info, whole))
}

/// The same, with what there is to tell of it.
fn described(folder: &Path) -> anyhow::Result<(Vec<String>, NtraceInfo, bool)> {
    let path = folder.join("trace_info.pb");
    let limits = Limits::default();
    let mut bytes = Vec::new();
    let file = match File::open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok((Vec::new(), NtraceInfo::default(), true));
        }
        file => file.map_err(neuron_core::Error::io("open", &path))?,
    };
    let read = file.take(limits.message).read_to_end(&mut bytes);
    read.map_err(neuron_core::Error::io("read", &path))?;
    let mut findings = Findings::new(limits.findings);
    let info = root::decode_whole(&bytes, 0, &schema::NTRACE_INFO, &limits, &mut findings);
    let (list, _) = findings.list();
    let mut lines: Vec<String> = list.iter().map(ToString::to_string).collect();
    Ok(match info {
        Ok(info) => (lines, info, !findings.damaged()),
        Err(finding) => {
            lines.push(finding.to_string());
            (lines, NtraceInfo::default(), false)
        }
    })
}

/// The id of a run: of its files, as for a pair of NEFF and trace.
fn id(folder: &Path, filter: &SystemFilter) -> anyhow::Result<String> {
    let mut files: Vec<(PathBuf, File)> = Vec::new();
    for name in FILES {
        let path = folder.join(name);
        match File::open(&path) {
            Ok(file) => files.push((path, file)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(neuron_core::Error::io("open", &path)(error).into()),
        }
    }
    files.reverse();
    let kind = match filter.is_any() {
        true => format!("system profile, {}", filter.text()),
        false => String::from("system profile"),
    };
    content_id(kind.as_bytes(), 0, |piece| {
        piece.clear();
        while let (true, Some((path, file))) = (piece.is_empty(), files.last_mut()) {
            let read = file.take(1 << 18).read_to_end(piece);
            read.map_err(neuron_core::Error::io("read", &*path))?;
            if piece.is_empty() {
                files.pop();
            }
        }
        Ok(())
    })
}

/// Reads the run in a folder, as far as it is asked for; says whether all of it
/// was read. What is damaged is told.
pub(super) fn read(args: &Args, folder: &Path) -> anyhow::Result<(SystemRun, bool)> {
    let (info, mut whole) = description(folder)?;
    let path = folder.join("ntrace.pb");
    let mut syncs = Syncs::default();
    // What is damaged is told by the second pass.
    frames(&path, |event: NtraceEvent| syncs.note(&event))?;
    let mut matcher = Matcher::new(syncs, Some(&info));
    let mut memories = Memories::default();
    let mut run = SystemRun::default();
    whole &= told(&path, |event: NtraceEvent| {
        if let Some(row) = matcher.event(event) {
            run.memories.extend(memories.note(&row));
            if args.filter.keeps(&row) {
                run.rows.push(row);
            }
        }
    })?;
    let (syncs, counts) = matcher.finish();
    run.counts = counts;
    run.syncs = syncs;
    whole &= told(&folder.join("cpu_util.pb"), |sample| run.processors.push(sample))?;
    whole &= told(&folder.join("host_mem.pb"), |sample| run.host.push(sample))?;
    run.capacity =
        InstanceType::find(&info.instance_type).map_or(0, |kind| kind.chip.memory().get());
    run.info = info;
    Ok((run, whole))
}

/// Stores the run in a folder. Gives its id, and whether all of it was read;
/// `None` for a run of an instance that is not asked for.
pub(super) fn run(
    args: &Args,
    folder: &Path,
    mut devices: Vec<DeviceProfile>,
) -> anyhow::Result<Option<(String, bool)>> {
    let name = folder.display().to_string();
    let instance = described(folder).map(|(_, info, _)| info.instance_id)?;
    if !args.filter.instance(&instance) {
        return Ok(None);
    }
    let id = id(folder, &args.filter)?;
    let store = args.place.store()?;
    let given = Given::of(args)?;
    // With other device profiles beside it, it is another profile.
    let draft = match store.begin(&id, args.force) {
        Ok(draft) => draft,
        Err(Error::Exists(_)) => {
            store.label(&id, |labels| given.label(labels))?;
            output::tell(&name, [String::from("note: stored already; --force ingests again")]);
            return Ok(Some((id, true)));
        }
        Err(error) => return Err(error.into()),
    };
    let (mut run, whole) = read(args, folder)?;
    for device in &mut devices {
        device.start = device.start.and_then(|start| run.syncs.host(start));
    }
    run.devices = devices;
    let (from, to) = run.window();
    let date = |nanos| rfc3339(Timestamp::from_unix_nanos(nanos));
    run.dates = (date(from), date(to));
    let own = folder.file_name().map(|name| name.display().to_string());
    let display_name = match &run.info {
        info if !info.instance_id.is_empty() => format!("{}_pid_{}", info.instance_id, info.pid),
        _ => own.unwrap_or_else(|| String::from("system profile")),
    };
    let mut labels = Labels { display_name, tags: Vec::new() };
    given.label(&mut labels);
    let settings = Settings { trace: name, labels, ..Settings::default() };
    let manifest = ingest_system(run, draft, &settings)?;
    let mut notes: Vec<String> =
        manifest.notes.iter().map(|note| format!("note: {note}")).collect();
    if args.filter.is_any() {
        notes.push(format!("note: of its events only {} are stored", args.filter.text()));
    }
    output::tell(&settings.trace, notes);
    Ok(Some((id, whole)))
}

/// What the names of a NEFF and a trace tell of a device profile (profiler.md
/// §0.2): the model of `neff_MODEL.neff`, core and session of
/// `profile_nc_CORE_session_SESSION.ntff`, core of `*_vnc_CORE.ntff`. `start` is
/// its begin on the device's clock, ns; [`run`] puts it on the host's.
pub(super) fn device(id: String, neff: &Path, trace: &Path, start: Option<u64>) -> DeviceProfile {
    let stem = |path: &Path| {
        path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned()
    };
    let (neff, trace) = (stem(neff), stem(trace));
    let after = |text: &str, word: &str| {
        let mut parts = text.split('_').skip_while(|part| *part != word).skip(1);
        parts.next()?.parse().ok()
    };
    let core = after(&trace, "nc").or_else(|| after(&trace, "vnc")).unwrap_or(0);
    DeviceProfile {
        id,
        core,
        session: after(&trace, "session"),
        model: neff.strip_prefix("neff_").and_then(|rest| rest.split('_').next()?.parse().ok()),
        start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_runtime() {
        let of = |neff: &str, trace: &str| {
            let device = device(String::from("n_1"), Path::new(neff), Path::new(trace), None);
            (device.core, device.session, device.model)
        };
        let run = of("a/neff_171450338541704.neff", "a/171450338541704_instid_0_vnc_3.ntff");
        assert_eq!(run, (3, None, Some(171_450_338_541_704)));
        let session = of("neff_12_vnc_1.neff", "profile_nc_1_session_0.ntff");
        assert_eq!(session, (1, Some(0), Some(12)));
        assert_eq!(of("file.neff", "profile_exec_2.ntff"), (0, None, None));
    }
}
