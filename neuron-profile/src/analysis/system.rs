//! What a run of `inspect` was about: its events by source, name and core, the
//! transfers between host and device, memories and processors.

use std::collections::{BTreeMap, HashMap};

use profile_store::read::Line;
use profile_store::{Error, Profile};
use serde_json::{Map, Value, json};

/// Transfers that are listed at most.
const TRANSFERS: usize = 10_000;

/// The event that says both clocks at one moment (profiler.md §4.2).
const SYNC: &str = "timestamp_sync_point";

/// Of these at most as many are listed.
const SYNCS: usize = 1000;

/// Lengths of events.
#[derive(Debug, Clone, Copy, Default)]
struct Lengths {
    count: u64,
    sum: u64,
    least: u64,
    most: u64,
}

impl Lengths {
    fn add(&mut self, length: u64) {
        self.least = if self.count == 0 { length } else { self.least.min(length) };
        self.count += 1;
        self.sum = self.sum.saturating_add(length);
        self.most = self.most.max(length);
    }
}

/// A transfer between host and device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// From the host to the device.
    pub to_device: bool,
    /// Core, counted within the process.
    pub core: Option<i64>,
    /// ns
    pub start: u64,
    /// ns
    pub end: u64,
    /// Bytes.
    pub bytes: u64,
    /// Row of the event.
    pub row: u64,
}

/// A moment on the clocks of host and device.
#[derive(Debug, Clone, Copy)]
struct Sync {
    core: Option<i64>,
    physical: Option<i64>,
    start: u64,
    /// Host less device, ns.
    offset: i128,
}

/// A number that an event told besides its columns, as a text or as a number.
fn told<T: std::str::FromStr + TryFrom<u64>>(all: &Value, name: &str) -> Option<T> {
    match all.get(name)? {
        Value::String(text) => text.parse().ok(),
        number => T::try_from(number.as_u64()?).ok(),
    }
}

/// The direction of a transfer by the name of its event; none for others.
fn direction(name: &str) -> Option<bool> {
    let is = |parts: [&str; 2]| parts.iter().any(|part| name.starts_with(part));
    if is(["nrt_tensor_write", "dmem_buf_copyin"]) || name == "dmem_buf_batch_copyin" {
        Some(true)
    } else if is(["nrt_tensor_read", "dmem_buf_copyout"]) || name == "dmem_buf_batch_copyout" {
        Some(false)
    } else {
        None
    }
}

/// Transfers that lie in no other of their thread and direction: a call of the
/// runtime's interface and the copy within it are one.
fn outermost(mut all: Vec<(i64, Transfer)>) -> Vec<Transfer> {
    all.sort_by_key(|(thread, one)| (one.start, std::cmp::Reverse(one.end), *thread, one.row));
    let mut open: HashMap<(i64, bool), u64> = HashMap::new();
    let mut out = Vec::new();
    for (thread, one) in all {
        let until = open.entry((thread, one.to_device)).or_default();
        if one.end > *until {
            *until = one.end;
            out.push(one);
        }
    }
    out
}

fn time(line: Line<'_>, name: &str) -> u64 {
    line.long(name).and_then(|time| u64::try_from(time).ok()).unwrap_or(0)
}

/// Calls `each` with the rows of a table; nothing where it is not there.
fn rows(profile: &Profile, table: &str, mut each: impl FnMut(u64, Line<'_>)) -> Result<(), Error> {
    if !profile.manifest().tables.contains_key(table) {
        return Ok(());
    }
    let path = profile.table(table)?;
    let mut row = 0;
    for batch in profile.batches(table)? {
        let batch = batch.map_err(|error| Error::damaged(&path, error))?;
        for line in Line::all(&batch) {
            each(row, line);
            row += 1;
        }
    }
    Ok(())
}

/// Events by source, name and core, and transfers.
fn events(profile: &Profile, out: &mut Map<String, Value>) -> Result<(), Error> {
    let mut kinds: BTreeMap<(String, String, Option<i64>), Lengths> = BTreeMap::new();
    let mut processes: BTreeMap<(String, i64), ()> = BTreeMap::new();
    let mut transfers = Vec::new();
    let mut syncs: Vec<Sync> = Vec::new();
    rows(profile, "SystemProfileEvents", |row, line| {
        let name = line.text("name").unwrap_or_default();
        let source = line.text("trace_event_source").unwrap_or_default();
        let core = line.long("nc_idx");
        let key = (source.to_owned(), name.to_owned(), core);
        kinds.entry(key).or_default().add(time(line, "duration_ns"));
        let instance = line.text("instance_id").unwrap_or_default().to_owned();
        processes.insert((instance, line.long("process_id").unwrap_or(0)), ());
        let to_device = direction(name);
        let sync = name == SYNC;
        if to_device.is_none() && !sync {
            return;
        }
        let more = line.text("extra_attributes_json").unwrap_or_default();
        let more: Value = serde_json::from_str(more).unwrap_or_default();
        let (start, end) = (time(line, "start_ts"), time(line, "end_ts"));
        if let (Some(to_device), Some(bytes)) = (to_device, told(&more, "size")) {
            let one = Transfer { to_device, core, start, end, bytes, row };
            transfers.push((line.long("thread_id").unwrap_or(0), one));
        }
        let clock = |name| told::<u64>(&more, name);
        let clocks = clock("cpu_timestamp_ns").zip(clock("nc_timestamp_ns"));
        if let (true, Some((host, device))) = (sync, clocks) {
            let offset = i128::from(host) - i128::from(device);
            syncs.push(Sync { core, physical: line.long("pcore_idx"), start, offset });
        }
    })?;
    let kinds = kinds.into_iter().map(|((source, name, core), of)| {
        json!({
            "source": source, "name": name, "core": core, "count": of.count,
            "time_ns": of.sum, "min_ns": of.least, "max_ns": of.most,
        })
    });
    out.insert(String::from("events"), kinds.collect());
    // How far the clocks went apart since the first point: large offsets are no
    // numbers for a browser.
    let first = syncs.first().map_or(0, |sync| sync.offset);
    let one = |of: &Sync| {
        let drift = i64::try_from(of.offset - first).unwrap_or(i64::MAX);
        json!({
            "core": of.core, "physical": of.physical, "start_ns": of.start, "drift_ns": drift,
        })
    };
    out.insert(String::from("syncs"), syncs.iter().take(SYNCS).map(one).collect());
    let instances: std::collections::BTreeSet<&String> =
        processes.keys().map(|(instance, _)| instance).collect();
    out.insert(String::from("instances"), json!(instances.len()));
    out.insert(String::from("processes"), json!(processes.len()));
    let transfers = outermost(transfers);
    out.insert(String::from("transfers_cut"), json!(transfers.len() > TRANSFERS));
    let one = |of: &Transfer| {
        json!({
            "direction": if of.to_device { "host_to_device" } else { "device_to_host" },
            "core": of.core, "start_ns": of.start, "end_ns": of.end, "bytes": of.bytes,
            "row": of.row,
        })
    };
    out.insert(String::from("transfers"), transfers.iter().take(TRANSFERS).map(one).collect());
    Ok(())
}

/// How full each device memory was at most and at the end.
fn memories(profile: &Profile, out: &mut Map<String, Value>) -> Result<(), Error> {
    let mut known: BTreeMap<(i64, i64), (u64, u64, u64)> = BTreeMap::new();
    rows(profile, "SystemProfileHbmUsage", |_, line| {
        let key = (line.long("device_idx").unwrap_or(0), line.long("hbm_idx").unwrap_or(0));
        let of = known.entry(key).or_default();
        let (total, at) = (time(line, "total_bytes"), time(line, "timestamp"));
        if total > of.0 {
            (of.0, of.1) = (total, at);
        }
        of.2 = total;
    })?;
    let one = |((device, memory), (most, at, last))| {
        json!({
            "device": device, "memory": memory, "max_bytes": most, "max_at_ns": at,
            "last_bytes": last,
        })
    };
    out.insert(String::from("memories"), known.into_iter().map(one).collect());
    Ok(())
}

/// Load of the processors of the host, and its memory.
fn host(profile: &Profile, out: &mut Map<String, Value>) -> Result<(), Error> {
    let mut known: BTreeMap<String, (u64, f64, f64)> = BTreeMap::new();
    rows(profile, "CpuUsage", |_, line| {
        let load = line.real("util_percent").unwrap_or(0.0);
        let of = known.entry(line.text("cpu_id").unwrap_or_default().to_owned()).or_default();
        *of = (of.0 + 1, of.1 + load, of.2.max(load));
    })?;
    let one = |(name, (count, sum, most))| json!({ "name": name, "samples": count, "mean_percent": sum / count as f64, "max_percent": most });
    out.insert(String::from("processors"), known.into_iter().map(one).collect());
    let (mut bytes, mut percent) = (0, 0.0_f64);
    rows(profile, "HostMemUsage", |_, line| {
        bytes = bytes.max(time(line, "used_bytes"));
        percent = percent.max(line.real("used_percent").unwrap_or(0.0));
    })?;
    out.insert(String::from("host_memory"), json!({ "max_bytes": bytes, "max_percent": percent }));
    Ok(())
}

/// All of it.
///
/// # Errors
///
/// A profile of a device, and files that cannot be read.
pub fn summary(profile: &Profile) -> Result<Map<String, Value>, Error> {
    if !profile.manifest().system {
        return Err(Error::Query(String::from("this is the profile of a device, not of a run")));
    }
    let mut out = Map::new();
    out.insert(String::from("total_ns"), json!(profile.manifest().total_ns));
    events(profile, &mut out)?;
    memories(profile, &mut out)?;
    host(profile, &mut out)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_within_a_call_counts_once() {
        let one = |thread, to_device, start, end| {
            (thread, Transfer { to_device, core: None, start, end, bytes: 8, row: start })
        };
        let all = vec![
            one(1, true, 0, 100),
            one(1, true, 10, 90),
            one(1, false, 20, 30),
            one(2, true, 20, 40),
            one(1, true, 100, 150),
        ];
        let found: Vec<u64> = outermost(all).iter().map(|one| one.start).collect();
        assert_eq!(found, [0, 20, 20, 100]);
    }

    #[test]
    fn directions_go_by_names() {
        assert_eq!(direction("nrt_tensor_write_batch"), Some(true));
        assert_eq!(direction("dmem_buf_copyout"), Some(false));
        assert_eq!(direction("nrt_tensor_free"), None);
    }
}
