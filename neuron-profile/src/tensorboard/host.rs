//! The timeline of host and devices (tensorboard.md §3): what moves in and out,
//! what devices execute, how they wait for each other, and threads of the host.
//!
//! It is made of a run of `inspect`, or of what `capture` saw while it ran.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use profile_store::read::Line;
use profile_store::{Error, Profile, Timeline, TimelineLane, TimelineRow};

const EVENTS: &str = "SystemProfileEvents";

/// The rows of a process, in their order.
const ROWS: [&str; 3] = ["IO Data Transfer", "NeuronDevice Execution", "CC Synchronization"];

/// The process of the host's threads.
const HOST: &str = "Process /host:CPU";

/// Where something stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    /// Tensors that move between host and device.
    Transfer,
    /// A device executes.
    Execution,
    /// Devices wait for each other.
    Collective,
    /// A thread of the host.
    Thread(String),
}

/// Something that lasted.
#[derive(Debug, Clone)]
struct Span {
    row: Row,
    start: u64,
    end: u64,
    name: String,
    args: Box<str>,
}

/// Where an event of the runtime stands, by its name (profiler.md §4.1).
fn row(name: &str, hardware: bool, thread: i64) -> Row {
    match name {
        "nc_exec_running" => Row::Execution,
        _ if hardware && name.starts_with("cc_") => Row::Collective,
        "dmem_buf_copyin" | "dmem_buf_copyout" | "nrt_tensor_read" | "nrt_tensor_write" => {
            Row::Transfer
        }
        _ => Row::Thread(format!("neuron_rt#{thread}")),
    }
}

/// The timeline of a run of `inspect`.
///
/// # Errors
///
/// A profile that cannot be read.
pub fn timeline(profile: &Profile) -> Result<Timeline, Error> {
    let mut spans = Vec::new();
    let mut process = 0;
    if profile.manifest().tables.contains_key(EVENTS) {
        let path = profile.table(EVENTS)?;
        for batch in profile.batches(EVENTS)? {
            let batch = batch.map_err(|error| Error::damaged(&path, error))?;
            for line in Line::all(&batch) {
                let time = |name| line.long(name).and_then(|time| u64::try_from(time).ok());
                let (Some(start), Some(end)) = (time("start_ts"), time("end_ts")) else { continue };
                process = line.long("process_id").unwrap_or(process);
                let name = line.text("name").unwrap_or_default();
                let hardware = line.text("trace_event_source") == Some("neuron_hw");
                let row = row(name, hardware, line.long("thread_id").unwrap_or(0));
                let args = line.text("extra_attributes_json").unwrap_or_default();
                let args = if args == "{}" { "" } else { args };
                spans.push(Span { row, start, end, name: name.to_owned(), args: args.into() });
            }
        }
    }
    Ok(laid(process, spans))
}

/// Spans on their rows; those that overlap stand under each other.
fn laid(process: i64, mut spans: Vec<Span>) -> Timeline {
    spans.sort_by(|a, b| a.row.cmp(&b.row).then(a.start.cmp(&b.start)).then(b.end.cmp(&a.end)));
    let mut names: Vec<String> = Vec::new();
    let mut known: BTreeMap<String, u32> = BTreeMap::new();
    let mut rows: BTreeMap<Row, Vec<(u64, Vec<TimelineRow>)>> = BTreeMap::new();
    for row in [Row::Transfer, Row::Execution, Row::Collective] {
        rows.insert(row, vec![(0, Vec::new())]);
    }
    for span in spans {
        let name = *known.entry(span.name.clone()).or_insert_with(|| {
            names.push(span.name.clone());
            u32::try_from(names.len() - 1).unwrap_or(u32::MAX)
        });
        let levels = rows.entry(span.row).or_default();
        let made = TimelineRow { start: span.start, end: span.end, name, args: span.args };
        match levels.iter_mut().find(|(end, _)| *end <= span.start) {
            Some((end, level)) => {
                *end = span.end;
                level.push(made);
            }
            None => levels.push((span.end, vec![made])),
        }
    }
    let mut lanes = Vec::new();
    for (row, levels) in rows {
        let (group, label) = match &row {
            Row::Transfer => (format!("Process {process}"), ROWS[0].to_owned()),
            Row::Execution => (format!("Process {process}"), ROWS[1].to_owned()),
            Row::Collective => (format!("Process {process}"), ROWS[2].to_owned()),
            Row::Thread(name) => (HOST.to_owned(), name.clone()),
        };
        for (depth, (_, rows)) in levels.into_iter().enumerate() {
            let name = if depth == 0 { label.clone() } else { String::new() };
            lanes.push(TimelineLane { group: group.clone(), name, rows });
        }
    }
    Timeline { names, lanes, notes: Vec::new() }
}

/// What a capture sees while it runs.
#[derive(Debug)]
pub struct Watch {
    begin: Instant,
    spans: Mutex<Vec<Span>>,
}

impl Default for Watch {
    fn default() -> Self {
        Self { begin: Instant::now(), spans: Mutex::default() }
    }
}

impl Watch {
    fn ns(&self, at: Instant) -> u64 {
        let since = at.saturating_duration_since(self.begin);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Notes what lasted from then until now.
    pub fn note(&self, row: Row, name: impl Into<String>, since: Instant) {
        let (start, end) = (self.ns(since), self.ns(Instant::now()));
        let span = Span { row, start, end, name: name.into(), args: Box::default() };
        self.spans.lock().unwrap_or_else(PoisonError::into_inner).push(span);
    }

    /// The timeline.
    pub fn timeline(&self) -> Timeline {
        let spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner).clone();
        laid(i64::from(std::process::id()), spans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_the_original() {
        let span = |row: Row, start, end, name: &str| Span {
            row,
            start,
            end,
            name: name.to_owned(),
            args: Box::default(),
        };
        let thread = || Row::Thread(String::from("neuron_rt#24"));
        let found = laid(
            4736,
            vec![
                span(thread(), 5, 8, "inner"),
                span(thread(), 0, 10, "outer"),
                span(Row::Execution, 3, 9, "nc_exec_running"),
            ],
        );
        let rows: Vec<_> = found
            .lanes
            .iter()
            .map(|lane| (lane.group.as_str(), lane.name.as_str(), lane.rows.len()))
            .collect();
        let process = "Process 4736";
        assert_eq!(
            rows,
            [
                (process, "IO Data Transfer", 0),
                (process, "NeuronDevice Execution", 1),
                (process, "CC Synchronization", 0),
                (HOST, "neuron_rt#24", 1),
                (HOST, "", 1),
            ]
        );
        assert_eq!(row("cc_exec_barrier", true, 1), Row::Collective);
        assert_eq!(row("nrt_cc_x", false, 1), Row::Thread(String::from("neuron_rt#1")));
        assert_eq!(row("dmem_buf_copyin", false, 1), Row::Transfer);
    }
}
