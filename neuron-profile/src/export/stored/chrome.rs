//! The Trace Event Format, as chrome://tracing, speedscope and others read it:
//! a process for each core or group of events, a thread for each track, times in µs.

use std::io::{self, Write};

use profile_store::Profile;
use serde_json::{Map, Value as Json, json};

use super::shape::Shape;
use super::timeline::{Event, Field, Taker, Track, Value, walk};

struct Chrome<'o> {
    out: &'o mut dyn Write,
    comma: &'static str,
    processes: Vec<String>,
    /// Number of the process and name of each.
    tracks: Vec<(usize, String)>,
}

fn fields(about: &[Field<'_>]) -> Map<String, Json> {
    let field = |(name, value): &Field<'_>| {
        let value = match value {
            Value::Text(text) => json!(text),
            Value::Long(number) => json!(number),
        };
        ((*name).to_owned(), value)
    };
    about.iter().map(field).collect()
}

impl Chrome<'_> {
    fn put(&mut self, event: &Json) -> anyhow::Result<()> {
        writeln!(self.out, "{}", self.comma)?;
        self.comma = ",";
        serde_json::to_writer(&mut *self.out, event).map_err(io::Error::from)?;
        Ok(())
    }
}

/// Nanoseconds in µs, exact to the last digit.
#[allow(clippy::cast_precision_loss, reason = "below 2^53 ns, which are 104 days")]
fn us(ns: i64) -> f64 {
    ns as f64 / 1000.0
}

impl Taker for Chrome<'_> {
    fn track(&mut self, number: usize, track: &Track) -> anyhow::Result<()> {
        let known = self.processes.iter().position(|name| *name == track.process);
        let pid = known.unwrap_or(self.processes.len());
        if known.is_none() {
            self.processes.push(track.process.clone());
            self.put(&json!({
                "ph": "M", "name": "process_name", "pid": pid, "args": { "name": track.process },
            }))?;
        }
        self.tracks.push((pid, track.name.clone()));
        self.put(&json!({
            "ph": "M", "name": "thread_name", "pid": pid, "tid": number,
            "args": { "name": track.name },
        }))
    }

    fn event(&mut self, track: usize, event: Event<'_>) -> anyhow::Result<()> {
        let (pid, of) = self.tracks.get(track).cloned().unwrap_or_default();
        match event {
            Event::Slice { start, end, name, about, flows: (leave, arrive) } => {
                self.put(&json!({
                    "ph": "X", "name": name, "pid": pid, "tid": track,
                    "ts": us(start), "dur": us(end - start), "args": fields(about),
                }))?;
                for (kind, flows) in [("s", leave), ("f", arrive)] {
                    for flow in flows {
                        self.put(&json!({
                            "ph": kind, "bp": "e", "cat": "flow", "name": "depends", "id": flow,
                            "pid": pid, "tid": track, "ts": us(start),
                        }))?;
                    }
                }
                Ok(())
            }
            Event::Instant { time, name, about } => self.put(&json!({
                "ph": "i", "s": "t", "name": name, "pid": pid, "tid": track,
                "ts": us(time), "args": fields(about),
            })),
            Event::Count { time, value } => self.put(&json!({
                "ph": "C", "name": of, "pid": pid, "ts": us(time), "args": { "value": value },
            })),
        }
    }
}

/// Writes the trace.
pub(super) fn write(profile: &Profile, shape: &Shape, out: &mut dyn Write) -> anyhow::Result<()> {
    out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let (processes, tracks) = (Vec::new(), Vec::new());
    walk(profile, shape, &mut Chrome { out, comma: "", processes, tracks })?;
    out.write_all(b"\n]}\n")?;
    Ok(())
}
