//! Writes a timeline in the Trace Event Format, with its rows in their order for
//! every viewer of it.

use std::io::{self, Write};

use profile_store::{Timeline, TimelineRow};
use serde_json::{Value, json};

/// Nanoseconds in µs, exact to the last digit.
#[allow(clippy::cast_precision_loss, reason = "below 2^53 ns, which are 104 days")]
fn us(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

/// Rows and events, one after the other.
pub struct Writer<'o> {
    out: &'o mut dyn Write,
    comma: &'static str,
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

impl<'o> Writer<'o> {
    /// Begins a trace; `start` is when its time 0 was, ns since 1970, 0 if
    /// unknown.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn begin(out: &'o mut dyn Write, start: u64) -> io::Result<Self> {
        write!(
            out,
            "{{\"displayTimeUnit\":\"ns\",\"neuronStartTimestampNs\":{start},\"traceEvents\":["
        )?;
        Ok(Self { out, comma: "" })
    }

    fn put(&mut self, event: &Value) -> io::Result<()> {
        writeln!(self.out, "{}", self.comma)?;
        self.comma = ",";
        Ok(serde_json::to_writer(&mut *self.out, event)?)
    }

    /// A row. Rows of a process follow each other; `place` rises.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn row(&mut self, process: &str, row: &str, place: usize) -> io::Result<()> {
        let about = |what: &str, args: Value| json!({ "ph": "M", "name": what, "pid": process, "tid": row, "args": args });
        self.put(&about("process_name", json!({ "name": process })))?;
        self.put(&about("process_sort_index", json!({ "sort_index": place })))?;
        self.put(&about("thread_name", json!({ "name": row })))?;
        self.put(&about("thread_sort_index", json!({ "sort_index": place })))
    }

    /// A slice of a row.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn slice(
        &mut self,
        process: &str,
        row: &str,
        name: &str,
        of: &TimelineRow,
    ) -> io::Result<()> {
        let mut event = json!({
            "ph": "X", "name": name, "pid": process, "tid": row,
            "ts": us(of.start), "dur": us(of.end.saturating_sub(of.start)),
        });
        if let Ok(args) = serde_json::from_str::<Value>(&of.args) {
            event["args"] = args;
        }
        self.put(&event)
    }

    /// Ends it.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn end(self) -> io::Result<()> {
        self.out.write_all(b"\n]}\n")
    }
}

/// Writes a whole timeline.
///
/// # Errors
///
/// Those of the writer.
pub fn write(timeline: &Timeline, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer::begin(out, 0)?;
    let mut first = (String::new(), 0);
    for (place, lane) in timeline.lanes.iter().enumerate() {
        // The viewer puts "Process" before the name of a process itself.
        let process = lane.group.strip_prefix("Process ").unwrap_or(&lane.group);
        if first.0 != process {
            first = (process.to_owned(), place);
        }
        // Rows without a label are told apart by blanks.
        let row =
            if lane.name.is_empty() { " ".repeat(place - first.1 + 1) } else { lane.name.clone() };
        writer.row(process, &row, place)?;
        for of in &lane.rows {
            let name = timeline.names.get(of.name as usize).map_or("", String::as_str);
            writer.slice(process, &row, name, of)?;
        }
    }
    writer.end()
}
