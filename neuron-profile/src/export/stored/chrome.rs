//! The Trace Event Format, as chrome://tracing, speedscope and others read it:
//! a process for each core, a thread for each track, times in µs.

use std::io::{self, Write};

use profile_store::Profile;
use serde_json::{Map, Value as Json, json};

use super::timeline::{Event, Taker, Track, Value, walk};

struct Chrome<'o> {
    out: &'o mut dyn Write,
    comma: &'static str,
    tracks: Vec<Track>,
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
        if !self.tracks.iter().any(|known| known.core == track.core) {
            let name = format!("NeuronCore {}", track.core);
            self.put(&json!({
                "ph": "M", "name": "process_name", "pid": track.core, "args": { "name": name },
            }))?;
        }
        self.tracks.push(track.clone());
        self.put(&json!({
            "ph": "M", "name": "thread_name", "pid": track.core, "tid": number,
            "args": { "name": track.name },
        }))
    }

    fn event(&mut self, track: usize, event: Event<'_>) -> anyhow::Result<()> {
        let (pid, name) =
            self.tracks.get(track).map_or((0, String::new()), |t| (t.core, t.name.clone()));
        let event = match event {
            Event::Slice { start, end, name, about } => {
                let args: Map<String, Json> = about
                    .iter()
                    .map(|(name, value)| {
                        let value = match value {
                            Value::Text(text) => json!(text),
                            Value::Long(number) => json!(number),
                        };
                        ((*name).to_owned(), value)
                    })
                    .collect();
                json!({
                    "ph": "X", "name": name, "pid": pid, "tid": track,
                    "ts": us(start), "dur": us(end - start), "args": args,
                })
            }
            Event::Instant { time, name, value } => json!({
                "ph": "i", "s": "t", "name": name, "pid": pid, "tid": track,
                "ts": us(time), "args": { "value": value },
            }),
            Event::Count { time, value } => json!({
                "ph": "C", "name": name, "pid": pid, "ts": us(time), "args": { "value": value },
            }),
        };
        self.put(&event)
    }
}

/// Writes the trace.
pub(super) fn write(profile: &Profile, out: &mut dyn Write) -> anyhow::Result<()> {
    out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    walk(profile, &mut Chrome { out, comma: "", tracks: Vec::new() })?;
    out.write_all(b"\n]}\n")?;
    Ok(())
}
