//! Where events stand: a row for each thread, and one below it for each level of
//! slices within slices.

use std::collections::HashMap;

use profile_store::{Timeline, TimelineLane, TimelineRow};
use serde_json::{Map, Value};

use super::event::{Event, Label};

/// Times beyond 2^53 ns, which are 104 days from the first event, are none.
const LATEST: f64 = 9_007_199_254_740_992.0;

/// Levels of a thread at most; what is deeper stands on the last one.
const DEEPEST: usize = 64;

/// Rows at most: a browser lists them all.
const ROWS: usize = 20_000;

/// Bytes that the arguments of a slice take at most.
const ARGUMENTS: usize = 1 << 20;

/// A slice while others are read; times in ns, not yet from the first event.
#[derive(Debug)]
struct Slice {
    start: f64,
    end: f64,
    name: u32,
    args: Box<str>,
}

#[derive(Debug, Default)]
struct Thread {
    label: Option<String>,
    order: i64,
    slices: Vec<Slice>,
    /// Slices that have begun and not ended.
    open: Vec<Slice>,
}

#[derive(Debug, Default)]
struct Process {
    label: Option<String>,
    order: i64,
    /// In the order in which they were met.
    threads: Vec<(Label, Thread)>,
    places: HashMap<Label, usize>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Layout {
    names: Vec<String>,
    known: HashMap<String, u32>,
    processes: Vec<(Label, Process)>,
    places: HashMap<Label, usize>,
    not_drawn: usize,
    impossible: usize,
}

fn ns(us: f64) -> Option<f64> {
    let ns = (us * 1000.0).round();
    (ns.abs() < LATEST * 2000.0).then_some(ns)
}

fn text(args: Option<Map<String, Value>>) -> Box<str> {
    let Some(args) = args.filter(|args| !args.is_empty()) else { return Box::default() };
    let text = Value::Object(args).to_string();
    if text.len() > ARGUMENTS {
        Box::from("{\"args\":\"too long to be shown\"}")
    } else {
        text.into()
    }
}

impl Layout {
    fn process(&mut self, pid: &Label) -> &mut Process {
        let at = match self.places.get(pid) {
            Some(at) => *at,
            None => {
                self.processes.push((pid.clone(), Process::default()));
                self.places.insert(pid.clone(), self.processes.len() - 1);
                self.processes.len() - 1
            }
        };
        // Just looked up or just added.
        #[allow(clippy::indexing_slicing, reason = "the place is in the list")]
        &mut self.processes[at].1
    }

    fn thread(&mut self, pid: &Label, tid: &Label) -> &mut Thread {
        let process = self.process(pid);
        let at = match process.places.get(tid) {
            Some(at) => *at,
            None => {
                process.threads.push((tid.clone(), Thread::default()));
                process.places.insert(tid.clone(), process.threads.len() - 1);
                process.threads.len() - 1
            }
        };
        #[allow(clippy::indexing_slicing, reason = "the place is in the list")]
        &mut process.threads[at].1
    }

    fn name(&mut self, name: String) -> u32 {
        if let Some(known) = self.known.get(&name) {
            return *known;
        }
        let place = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.clone());
        self.known.insert(name, place);
        place
    }

    /// Takes an event.
    pub(super) fn take(&mut self, event: Event) {
        let Event { ph, name, pid, tid, ts, dur, args } = event;
        if ph == "M" {
            return self.about(&name.0, &pid, &tid, args.as_ref());
        }
        if !matches!(ph.as_str(), "X" | "B" | "E" | "i" | "I" | "R") {
            self.not_drawn += 1;
            return;
        }
        let time = ts.and_then(ns);
        let length = dur.unwrap_or(0.0);
        let end = ts.and_then(|ts| ns(ts + length)).filter(|_| length >= 0.0);
        let (Some(start), Some(end)) = (time, end) else {
            self.impossible += 1;
            return;
        };
        if ph == "E" {
            let thread = self.thread(&pid, &tid);
            match thread.open.pop() {
                Some(open) => thread.slices.push(Slice { end: start.max(open.start), ..open }),
                None => self.impossible += 1,
            }
            return;
        }
        let name = self.name(name.0);
        let slice = Slice { start, end, name, args: text(args) };
        let thread = self.thread(&pid, &tid);
        if ph == "B" { thread.open.push(slice) } else { thread.slices.push(slice) }
    }

    /// A name or an order of a process or thread.
    fn about(&mut self, what: &str, pid: &Label, tid: &Label, args: Option<&Map<String, Value>>) {
        let of = |key: &str| args.and_then(|args| args.get(key));
        let label = || of("name").and_then(Value::as_str).map(str::to_owned);
        let order = || of("sort_index").and_then(Value::as_i64).unwrap_or(0);
        match what {
            "process_name" => self.process(pid).label = label(),
            "process_sort_index" => self.process(pid).order = order(),
            "thread_name" => self.thread(pid, tid).label = label(),
            "thread_sort_index" => self.thread(pid, tid).order = order(),
            _ => {}
        }
    }

    /// The rows.
    pub(super) fn finish(self) -> Timeline {
        let Self { names, mut processes, not_drawn, mut impossible, .. } = self;
        let all = || processes.iter().flat_map(|(_, p)| &p.threads).flat_map(|(_, t)| &t.slices);
        let first = all().map(|slice| slice.start).fold(f64::INFINITY, f64::min);
        processes.sort_by_key(|(_, process)| process.order);
        let mut lanes = Vec::new();
        let (mut unended, mut left_out) = (0, 0);
        for (pid, mut process) in processes {
            let name = process.label.take().unwrap_or(pid.0);
            // The original's viewer says so of every process.
            let group = if name.starts_with("Process ") { name } else { format!("Process {name}") };
            process.threads.sort_by_key(|(_, thread)| thread.order);
            for (tid, thread) in process.threads {
                unended += thread.open.len();
                if thread.slices.is_empty() && thread.label.is_none() {
                    continue;
                }
                let label = thread.label.unwrap_or(tid.0);
                let mut levels = levels(thread.slices, first, &mut impossible);
                if levels.is_empty() {
                    // A row that was named is there, with nothing on it.
                    levels.push(Vec::new());
                }
                for (depth, rows) in levels.into_iter().enumerate() {
                    if lanes.len() >= ROWS {
                        left_out += 1;
                        continue;
                    }
                    // Labels of blanks only keep rows apart.
                    let own = if depth == 0 { label.trim().to_owned() } else { String::new() };
                    lanes.push(TimelineLane { group: group.clone(), name: own, rows });
                }
            }
        }
        let told = [
            (impossible, "events have times that cannot be"),
            (unended, "events have no end"),
            (not_drawn, "events have a form that is not drawn"),
            (left_out, "rows are too many and left out"),
        ];
        let some = told.into_iter().filter(|(count, _)| *count > 0);
        let notes = some.map(|(count, what)| format!("{count} {what}")).collect();
        Timeline { names, lanes, notes }
    }
}

/// Slices by level: one that lies within another stands below it.
fn levels(mut slices: Vec<Slice>, first: f64, impossible: &mut usize) -> Vec<Vec<TimelineRow>> {
    slices.sort_by(|a, b| a.start.total_cmp(&b.start).then(b.end.total_cmp(&a.end)));
    let mut out: Vec<Vec<TimelineRow>> = Vec::new();
    let mut ends: Vec<f64> = Vec::new();
    for slice in slices {
        let (start, end) = (slice.start - first, slice.end - first);
        if end >= LATEST {
            *impossible += 1;
            continue;
        }
        let free = ends.iter().position(|end| *end <= slice.start);
        let level = free.unwrap_or(ends.len()).min(DEEPEST - 1);
        if level >= ends.len() {
            ends.push(slice.end);
            out.push(Vec::new());
        } else if let Some(known) = ends.get_mut(level) {
            *known = slice.end;
        }
        // Below 2^53, and not negative: `first` is the least.
        let row = TimelineRow {
            start: start as u64,
            end: end as u64,
            name: slice.name,
            args: slice.args,
        };
        if let Some(rows) = out.get_mut(level) {
            rows.push(row);
        }
    }
    out
}
