//! The operator timeline of a profile: what runs when, by layer of the
//! framework and operator, apart for control, computation and data movement.
//!
//! Four processes as in the original (tensorboard.md §5):
//!
//! * *Overview*: what the runtime put around the program, any engine busy, any
//!   DMA busy;
//! * *Control*, *Execution*, *Data Transfer*: a row for each level of the layers
//!   above those of framework and HLO operators. Where operators overlap, the
//!   slice is `fused_N` and tells whose it is.
//!
//! What an instruction belongs to (our choice, the original's is not public):
//! those that started a DMA or move data by one are of Data Transfer, and last
//! until the DMA has ended; those that read or write memory of the core are of
//! Execution; all others are of Control. Waits for semaphores, and instructions
//! without an operator, stand in the overview alone.

use std::collections::HashMap;

use profile_store::read::Line;
use profile_store::{Error, Profile, Timeline, TimelineLane, TimelineRow};

use super::ops::{path, word};
use super::sweep::{Slice, Span, slices};

const INSTRUCTIONS: &str = "Instruction";
const PACKETS: &str = "DmaPacket";

/// Waiting is all that this opcode does.
const WAIT: &str = "EVENT_SEMAPHORE";

/// Members that a fused slice tells at most.
const MEMBERS: usize = 64;

/// Processes below the overview.
const PARTS: [&str; 3] = ["Process Control", "Process Execution", "Process Data Transfer"];
const CONTROL: usize = 0;
const EXECUTION: usize = 1;
const TRANSFER: usize = 2;

/// Columns whose bytes make an instruction one that computes.
const MEMORIES: [&str; 4] =
    ["sbuf_read_bytes", "sbuf_write_bytes", "psum_read_bytes", "psum_write_bytes"];

/// Texts, each with a number.
#[derive(Debug, Default)]
struct Names {
    list: Vec<String>,
    known: HashMap<String, u32>,
}

impl Names {
    fn place(&mut self, text: &str) -> u32 {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let place = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.push(text.to_owned());
        self.known.insert(text.to_owned(), place);
        place
    }

    #[cfg(test)]
    fn text(&self, place: u32) -> &str {
        self.list.get(place as usize).map_or("", String::as_str)
    }
}

/// What is gathered of a core.
#[derive(Debug, Default)]
struct Core {
    setup: Vec<Span>,
    compute: Vec<Span>,
    dma: Vec<Span>,
    /// Spans of operators by process; nodes are numbers of [`Operator`].
    parts: [Vec<Span>; PARTS.len()],
}

/// An operator of the program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Operator {
    /// Components of its path; the last is the framework's operator.
    path: Vec<String>,
    /// HLO instruction; empty if unknown.
    hlo: String,
}

#[derive(Debug, Default)]
struct Gathered {
    operators: Vec<Operator>,
    known: HashMap<(String, String), u32>,
    cores: Vec<(i64, Core)>,
}

impl Gathered {
    fn core(&mut self, number: i64) -> &mut Core {
        let at = match self.cores.iter().position(|(known, _)| *known == number) {
            Some(at) => at,
            None => {
                self.cores.push((number, Core::default()));
                self.cores.len() - 1
            }
        };
        #[allow(clippy::indexing_slicing, reason = "just found or just added")]
        &mut self.cores[at].1
    }

    /// The operator of an instruction, if it has one.
    fn operator(&mut self, layer: Option<&str>, hlo: Option<&str>) -> Option<u32> {
        let layer = path(layer, hlo).unwrap_or_default();
        let hlo = hlo.unwrap_or_default();
        if layer.is_empty() && hlo.is_empty() {
            return None;
        }
        let key = (layer.to_owned(), hlo.to_owned());
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let path = layer.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let place = u32::try_from(self.operators.len()).unwrap_or(u32::MAX);
        self.operators.push(Operator { path, hlo: hlo.to_owned() });
        self.known.insert(key, place);
        Some(place)
    }

    fn instruction(&mut self, line: &Line<'_>) {
        let time = |name| line.long(name).and_then(|time| u64::try_from(time).ok());
        let (Some(start), Some(end)) = (time("start_ts"), time("end_ts")) else { return };
        let opcode = line.text("opcode").unwrap_or_default();
        if opcode == WAIT {
            return;
        }
        let number = line.long("pcore_idx").unwrap_or(0);
        let operator = self.operator(line.text("layer"), line.text("hlo_name"));
        let span = |start, end, node| Span { start, end, node };
        // Only the compiler's instructions have a place in the NEFF.
        let inserted = line.long("compiler_pc").is_none();
        let core = self.core(number);
        if inserted {
            core.setup.push(span(start, end, 0));
            return;
        }
        core.compute.push(span(start, end, 0));
        let Some(operator) = operator else { return };
        let triggered = time("dma_trigger_end_ts");
        let part = if triggered.is_some() || opcode.contains("DMA") {
            TRANSFER
        } else if MEMORIES.iter().any(|name| line.long(name).unwrap_or(0) > 0) {
            EXECUTION
        } else {
            CONTROL
        };
        if let Some(spans) = core.parts.get_mut(part) {
            let begin = if part == TRANSFER { time("dma_trigger_start_ts") } else { None };
            let from = begin.unwrap_or(start).min(start);
            spans.push(span(from, triggered.unwrap_or(end).max(end), operator));
        }
    }

    fn packet(&mut self, line: &Line<'_>) {
        let time = |name| line.long(name).and_then(|time| u64::try_from(time).ok());
        let (Some(start), Some(end)) = (time("start_ts"), time("end_ts")) else { return };
        let number = line.long("pcore_idx").unwrap_or(0);
        self.core(number).dma.push(Span { start, end, node: 0 });
    }
}

/// Calls `each` with the rows of a table, with these columns alone.
fn lines(
    profile: &Profile,
    table: &str,
    columns: &[&str],
    each: &mut dyn FnMut(&Line<'_>),
) -> Result<(), Error> {
    if !profile.manifest().tables.contains_key(table) {
        return Ok(());
    }
    let path = profile.table(table)?;
    for batch in profile.columns(table, columns)? {
        let batch = batch.map_err(|error| Error::damaged(&path, error))?;
        Line::all(&batch).for_each(|line| each(&line));
    }
    Ok(())
}

/// The timeline of a profile.
///
/// # Errors
///
/// A profile that cannot be read.
pub fn timeline(profile: &Profile) -> Result<Timeline, Error> {
    let mut gathered = Gathered::default();
    let times = ["start_ts", "end_ts", "pcore_idx"];
    let more = [
        "opcode",
        "layer",
        "hlo_name",
        "compiler_pc",
        "dma_trigger_start_ts",
        "dma_trigger_end_ts",
    ];
    let columns: Vec<&str> = times.into_iter().chain(more).chain(MEMORIES).collect();
    lines(profile, INSTRUCTIONS, &columns, &mut |line| gathered.instruction(line))?;
    lines(profile, PACKETS, &times, &mut |line| gathered.packet(line))?;
    let Gathered { operators, mut cores, .. } = gathered;
    cores.sort_by_key(|(number, _)| *number);
    let mut names = Names::default();
    let several = cores.len() > 1;
    // All processes have the same rows, whatever is on them.
    let depth = operators.iter().map(|one| one.path.len().saturating_sub(1)).max().unwrap_or(0);
    let mut lanes = Vec::new();
    for (number, core) in cores {
        let suffix = if several { format!(" NC {number}") } else { String::new() };
        let group = format!("Process Overview{suffix}");
        let rows = [
            ("Neuron Runtime Setup", &core.setup),
            ("Compute Busy", &core.compute),
            ("DMA Busy", &core.dma),
        ];
        for (name, spans) in rows {
            let place = names.place(name);
            let rows = slices(spans, false).into_iter().map(|slice| plain(&slice, place)).collect();
            lanes.push(TimelineLane { group: group.clone(), name: name.to_owned(), rows });
        }
        for (name, spans) in PARTS.into_iter().zip(&core.parts) {
            let group = format!("{name}{suffix}");
            part(&operators, spans, depth, &group, &mut names, &mut lanes);
        }
    }
    Ok(Timeline { names: names.list, lanes, notes: Vec::new() })
}

fn plain(slice: &Slice, name: u32) -> TimelineRow {
    TimelineRow { start: slice.start, end: slice.end, name, args: Box::default() }
}

/// What a row of a process shows of an operator: a key that tells nodes apart,
/// and a name.
type Shown = (String, String);

/// The component of a path on one of `depth` rows above the operator. A path
/// that is shorter is stretched below its parent.
fn level(operator: &Operator, row: usize, depth: usize) -> Option<Shown> {
    let above = operator.path.len().checked_sub(1)?;
    // An operator without layers stands on every row by itself.
    let parts: &[String] =
        if above == 0 { operator.path.get(..1)? } else { operator.path.get(..above)? };
    let last = parts.len() - 1;
    let own = depth - 1;
    if row < last {
        let key = parts.get(..=row)?.join("/");
        return Some((key, parts.get(row)?.clone()));
    }
    let name = parts.get(last)?;
    let key = parts.join("/");
    if row == own {
        return Some((key, name.clone()));
    }
    Some((key, format!("{name}.projected.{}", own - 1 - row)))
}

fn part(
    operators: &[Operator],
    spans: &[Span],
    depth: usize,
    group: &str,
    names: &mut Names,
    lanes: &mut Vec<TimelineLane>,
) {
    let mut row = |label: &str, bridge: bool, shown: &dyn Fn(&Operator) -> Option<Shown>| {
        lanes.push(TimelineLane {
            group: group.to_owned(),
            name: label.to_owned(),
            rows: made(operators, spans, bridge, shown, names),
        });
    };
    for at in 0..depth {
        row("", true, &|operator| level(operator, at, depth));
    }
    row("Framework Ops", false, &|operator| {
        Some((operator.path.join("/"), operator.path.last()?.clone()))
    });
    row("HLO Ops", false, &|operator| {
        // Without an HLO instruction there is nothing to show; with one, all of its name.
        word(&operator.hlo)?;
        Some((operator.hlo.clone(), operator.hlo.clone()))
    });
}

/// The slices of a row.
fn made(
    operators: &[Operator],
    spans: &[Span],
    bridge: bool,
    shown: &dyn Fn(&Operator) -> Option<Shown>,
    names: &mut Names,
) -> Vec<TimelineRow> {
    // Nodes of this row, by operator.
    let mut keys: HashMap<String, u32> = HashMap::new();
    let mut labels: Vec<Shown> = Vec::new();
    let nodes: Vec<Option<u32>> = operators
        .iter()
        .map(|operator| {
            let (key, label) = shown(operator)?;
            Some(*keys.entry(key.clone()).or_insert_with(|| {
                labels.push((key, label));
                u32::try_from(labels.len() - 1).unwrap_or(u32::MAX)
            }))
        })
        .collect();
    let own: Vec<Span> = spans
        .iter()
        .filter_map(|span| {
            let node = nodes.get(span.node as usize).copied().flatten()?;
            Some(Span { node, ..*span })
        })
        .collect();
    let mut fused: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut places: Vec<Option<u32>> = vec![None; labels.len()];
    let mut out = Vec::new();
    for slice in slices(&own, bridge) {
        if let [node] = slice.nodes.as_slice() {
            let Some(place) = places.get_mut(*node as usize) else { continue };
            let label = labels.get(*node as usize).map_or("", |(_, label)| label.as_str());
            let name = *place.get_or_insert_with(|| names.place(label));
            out.push(plain(&slice, name));
            continue;
        }
        let next = fused.len();
        let number = *fused.entry(slice.nodes.clone()).or_insert(next);
        let paths = slice.nodes.iter().filter_map(|node| labels.get(*node as usize));
        let mut list: Vec<&str> = paths.map(|(key, _)| key.as_str()).take(MEMBERS).collect();
        if slice.nodes.len() > MEMBERS {
            list.push("...");
        }
        let args = serde_json::json!({ "fused": list.join(",\n") }).to_string();
        let name = names.place(&format!("fused_{number}"));
        out.push(TimelineRow { args: args.into(), ..plain(&slice, name) });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operator(path: &str, hlo: &str) -> Operator {
        let path = path.split('/').map(str::to_owned).collect();
        Operator { path, hlo: hlo.to_owned() }
    }

    fn drawn(
        operators: &[Operator],
        spans: &[(u64, u64, u32)],
        depth: usize,
    ) -> Vec<Vec<(String, u64, u64, String)>> {
        let spans: Vec<Span> = spans
            .iter()
            .map(|(start, end, node)| Span { start: *start, end: *end, node: *node })
            .collect();
        let (mut names, mut lanes) = (Names::default(), Vec::new());
        part(operators, &spans, depth, "Process Execution", &mut names, &mut lanes);
        lanes
            .iter()
            .map(|lane| {
                let row = |row: &TimelineRow| {
                    (names.text(row.name).to_owned(), row.start, row.end, row.args.to_string())
                };
                lane.rows.iter().map(row).collect()
            })
            .collect()
    }

    fn names_of(rows: &[(String, u64, u64, String)]) -> Vec<&str> {
        rows.iter().map(|row| row.0.as_str()).collect()
    }

    #[test]
    fn short_paths_are_stretched_below_their_parent() {
        let operators = [
            operator("TestModel[model]/Inner[inner]/Linear[l]/aten__addmm", "%dot.1"),
            operator("TestModel[model]/Tanh[t]/aten__tanh", "%tanh"),
            operator("input", "%p"),
        ];
        let rows = drawn(&operators, &[(0, 10, 0), (20, 30, 1), (40, 50, 2)], 3);
        assert_eq!(names_of(&rows[0]), ["TestModel[model]", "input.projected.1"]);
        assert_eq!(rows[0][0].1..rows[0][0].2, 0..30);
        assert_eq!(
            names_of(&rows[1]),
            ["Inner[inner]", "Tanh[t].projected.0", "input.projected.0"]
        );
        assert_eq!(names_of(&rows[2]), ["Linear[l]", "Tanh[t]", "input"]);
        assert_eq!(names_of(&rows[3]), ["aten__addmm", "aten__tanh", "input"]);
        assert_eq!(names_of(&rows[4]), ["%dot.1", "%tanh", "%p"]);
    }

    #[test]
    fn overlap_is_fused_and_tells_whose_it_is() {
        let operators = [operator("m/a/x", "%a"), operator("m/b/y", "%b"), operator("m/b/z", "")];
        let rows = drawn(&operators, &[(0, 10, 0), (5, 15, 1), (15, 20, 2), (5, 12, 0)], 2);
        assert_eq!(rows[0], [("m".into(), 0, 20, String::new())]);
        assert_eq!(names_of(&rows[1]), ["a", "fused_0", "b"]);
        assert_eq!(rows[1][2].1..rows[1][2].2, 12..20);
        assert_eq!(names_of(&rows[2]), ["x", "fused_0", "y", "z"]);
        assert_eq!(rows[2][1].3, "{\"fused\":\"m/a/x,\\nm/b/y\"}");
        assert_eq!(names_of(&rows[3]), ["%a", "fused_0", "%b"]);
    }
}
