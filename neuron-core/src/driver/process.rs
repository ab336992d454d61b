//! What is known of a process that is attached to a device: its datastore, and
//! what `/proc` says of it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::files::Files;
use super::system;
use super::users::Asking;
use crate::sample::{CoreLatency, Datastore, Latency, LoadedModel, ModelMemory, Usage};
use crate::text::hex;
use crate::uapi::nds_ext::{self, Block};
use crate::uapi::{Malformed, nds};

/// The processes met during one reading: one is often on every device.
#[derive(Debug)]
pub(crate) struct Processes<'a> {
    pub(crate) asking: Asking,
    pub(crate) seen: BTreeMap<u32, OnHost>,
    pub(crate) before: &'a mut Before,
}

/// How long a command line and an environment are believed: a process can
/// change them, seldom as it does.
const BELIEVED: Duration = Duration::from_secs(30);

/// What readings before found of processes that may still be the same.
#[derive(Debug, Default)]
pub(crate) struct Before(BTreeMap<u32, Known>);

#[derive(Debug, Clone)]
struct Known {
    /// What tells the process from another of the same pid.
    started: u64,
    read: Instant,
    command: Option<String>,
    tag: Option<String>,
}

impl Before {
    /// Forgets those that a reading did not meet.
    pub(crate) fn keep(&mut self, seen: &BTreeMap<u32, OnHost>) {
        self.0.retain(|pid, _| seen.contains_key(pid));
    }
}

/// What `/proc` says.
#[derive(Debug, Clone, Default)]
pub(crate) struct OnHost {
    pub(crate) command: Option<String>,
    pub(crate) tag: Option<String>,
    pub(crate) usage: Option<Usage>,
    pub(crate) usage_error: Option<String>,
}

impl Processes<'_> {
    /// Looks a process up, once.
    pub(crate) fn of(&mut self, files: &dyn Files, pid: u32) -> OnHost {
        let Self { asking, seen, before } = self;
        seen.entry(pid).or_insert_with(|| look(files, pid, *asking, before)).clone()
    }
}

/// The driver's pids are the host's, so without the host's pid namespace
/// nothing is known: the same number may be somebody else in here.
fn look(files: &dyn Files, pid: u32, asking: Asking, before: &mut Before) -> OnHost {
    let hidden = || format!("open /proc/{pid}/stat: no such file or directory");
    if !files.shows_host_processes() {
        let usage_error = asking.usage.then(hidden);
        return OnHost { usage_error, ..OnHost::default() };
    }
    let (usage, usage_error) = match asking.usage.then(|| system::usage(files, pid)) {
        Some(Ok(usage)) => (Some(usage), None),
        Some(Err(error)) => (None, Some(error)),
        None => (None, None),
    };
    // Without its start time a process cannot be told from another.
    let started = usage.filter(|_| asking.datastores).map(|usage| usage.started);
    let known = before
        .0
        .get(&pid)
        .filter(|known| Some(known.started) == started && known.read.elapsed() < BELIEVED);
    if let Some(Known { command, tag, .. }) = known.cloned() {
        return OnHost { command, tag, usage, usage_error };
    }
    let tag = asking.datastores.then(|| tag(files, pid)).flatten();
    let command = command(files, pid);
    if let Some(started) = started {
        let (command, tag) = (command.clone(), tag.clone());
        before.0.insert(pid, Known { started, read: Instant::now(), command, tag });
    }
    OnHost { command, tag, usage, usage_error }
}

/// Command line of a process, arguments joined by blanks.
fn command(files: &dyn Files, pid: u32) -> Option<String> {
    let bytes = files.read(&format!("proc/{pid}/cmdline")).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    // Control characters would break the table, and terminals.
    let clean = |arg: &str| arg.replace(|c: char| c.is_control(), " ");
    let args: Vec<String> = text.trim_end_matches('\0').split('\0').map(clean).collect();
    Some(args.join(" ")).filter(|command| !command.is_empty())
}

/// `NEURON_PROCESS_TAG` in the environment of a process (sys-tools.md §4.3).
fn tag(files: &dyn Files, pid: u32) -> Option<String> {
    const NAME: &[u8] = b"NEURON_PROCESS_TAG=";
    let bytes = files.read(&format!("proc/{pid}/environ")).ok()?;
    let value = bytes.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(NAME))?;
    Some(String::from_utf8_lossy(value).into_owned()).filter(|tag| !tag.is_empty())
}

/// The datastore in these bytes; `None` for one that was released meanwhile.
/// Tag, models and latencies are in a block that only our runtime writes.
pub(crate) fn datastore(bytes: &[u8], cores: u32) -> Result<Option<Datastore>, Malformed> {
    let nds::Entry::InUse(store) = nds::parse(bytes, cores)? else { return Ok(None) };
    let mut store = Datastore::from(store);
    if bytes.len() >= nds_ext::START + nds_ext::LENGTH
        && let Some(block) = Block::decode_cores(bytes, cores)?
    {
        let cores = (0..).zip(&block.cores).map(|(core, latency)| CoreLatency {
            core,
            total: counts(&latency.total),
            device: counts(&latency.device),
        });
        store.latencies = Some(cores.filter(|l| l.total != Latency::default()).collect());
        store.models = Some(block.models.into_iter().map(model).collect());
        store.tag = Some(block.tag).filter(|tag| !tag.is_empty());
    }
    Ok(Some(store))
}

fn counts(histogram: &nds_ext::Histogram) -> Latency {
    let buckets = (0..).zip(histogram.buckets).filter(|(_, count)| *count > 0).collect();
    Latency { buckets, sum: histogram.sum }
}

fn model(model: nds_ext::Model) -> LoadedModel {
    LoadedModel {
        id: model.id,
        node: model.node,
        core: model.core,
        running: model.running,
        name: model.name,
        uuid: hex(&model.uuid),
        host: memory(model.host),
        device: memory(model.device),
    }
}

fn memory(memory: nds_ext::ModelMemory) -> ModelMemory {
    ModelMemory {
        code: memory.code,
        tensors: memory.tensors,
        constants: memory.constants,
        scratchpad: memory.scratchpad,
        misc: memory.misc,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::HostFiles;

    #[test]
    fn an_environment_tells_the_tag() {
        let dir = tempfile::tempdir().unwrap();
        let process = dir.path().join("proc/7");
        std::fs::create_dir_all(&process).unwrap();
        let files = HostFiles::open(dir.path()).unwrap();
        assert_eq!(tag(&files, 7), None);
        for (environ, expected) in [
            ("A=b\0NEURON_PROCESS_TAG=train 1\0C=d\0", Some("train 1")),
            ("XNEURON_PROCESS_TAG=no\0", None),
            ("NEURON_PROCESS_TAG=\0", None),
        ] {
            std::fs::write(process.join("environ"), environ).unwrap();
            assert_eq!(tag(&files, 7).as_deref(), expected, "{environ:?}");
        }
    }

    #[test]
    fn models_and_latencies_come_from_the_block() {
        let mut entry = vec![0; nds::SIZE];
        entry[..8].copy_from_slice(&nds::header(nds::VERSION));
        let plain = datastore(&entry, 2).unwrap().unwrap();
        assert_eq!((plain.models, plain.latencies, plain.tag), (None, None, None));
        let mut cores = vec![nds_ext::CoreLatency::default(); 2];
        cores[1].total.add(1000);
        cores[1].total.add(1500);
        let block = Block {
            tag: String::from("lab"),
            models: vec![nds_ext::Model { id: 10_001, uuid: [0xab; 16], ..Default::default() }],
            cores,
        };
        let bytes = block.encode().unwrap();
        entry[nds_ext::START..nds_ext::START + bytes.len()].copy_from_slice(&bytes);
        let store = datastore(&entry, 2).unwrap().unwrap();
        assert_eq!(store.tag.as_deref(), Some("lab"));
        assert_eq!(store.models.unwrap()[0].uuid, "ab".repeat(16));
        let latencies = store.latencies.unwrap();
        assert_eq!(latencies.len(), 1);
        let expected = Latency { buckets: [(9, 1), (10, 1)].into(), sum: 2500 };
        assert_eq!((latencies[0].core, &latencies[0].total), (1, &expected));
    }
}
