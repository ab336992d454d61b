//! A Perfetto trace: a process for each core or group of events, a track for each row of a lane,
//! names of events told once. Only the fields that are used are written; their
//! numbers are those of Perfetto's trace.proto.

use std::collections::HashMap;
use std::io::Write;

use profile_store::Profile;
use profile_store::encode::bits::varint;

use super::shape::Shape;
use super::timeline::{Event, Field, Taker, Track, Value, walk};

/// Kinds of events.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

/// All packets are one sequence, whose names hold from its first packet on.
const SEQUENCE: u64 = 1;
const CLEARED: u64 = 1;
const NEEDS: u64 = 2;

/// A message as bytes.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn number(mut self, field: u64, value: u64) -> Self {
        varint(&mut self.0, field << 3);
        varint(&mut self.0, value);
        self
    }

    fn long(self, field: u64, value: i64) -> Self {
        self.number(field, value.cast_unsigned())
    }

    fn real(mut self, field: u64, value: f64) -> Self {
        varint(&mut self.0, field << 3 | 1);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn fixed(mut self, field: u64, value: u64) -> Self {
        varint(&mut self.0, field << 3 | 1);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn bytes(mut self, field: u64, value: &[u8]) -> Self {
        varint(&mut self.0, field << 3 | 2);
        varint(&mut self.0, u64::try_from(value.len()).unwrap_or(u64::MAX));
        self.0.extend_from_slice(value);
        self
    }

    fn text(self, field: u64, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    fn message(self, field: u64, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }
}

struct Perfetto<'o> {
    out: &'o mut dyn Write,
    names: HashMap<String, u64>,
    processes: Vec<String>,
    began: bool,
}

/// Ids of tracks: processes first.
fn process_id(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(0) + 1
}

fn track_id(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(0) + 1_000_000
}

fn fields(mut event: Message, about: &[Field<'_>]) -> Message {
    for (name, value) in about {
        let field = Message::default().text(10, name);
        let field = match value {
            Value::Text(text) => field.text(6, text),
            Value::Long(number) => field.long(4, *number),
        };
        event = event.message(4, &field);
    }
    event
}

impl Perfetto<'_> {
    fn packet(&mut self, packet: Message) -> anyhow::Result<()> {
        let flags = if self.began { NEEDS } else { CLEARED | NEEDS };
        self.began = true;
        let packet = packet.number(10, SEQUENCE).number(13, flags);
        self.out.write_all(&Message::default().message(1, &packet).0)?;
        Ok(())
    }

    fn event_packet(
        &mut self,
        time: i64,
        track: usize,
        kind: u64,
        name: Option<&str>,
        rest: impl FnOnce(Message) -> Message,
    ) -> anyhow::Result<()> {
        let mut packet = Message::default().long(8, time);
        let mut event = Message::default().number(9, kind).number(11, track_id(track));
        if let Some(name) = name {
            let next = u64::try_from(self.names.len()).unwrap_or(0) + 1;
            let number = match self.names.get(name) {
                Some(number) => *number,
                None => {
                    self.names.insert(name.to_owned(), next);
                    let known = Message::default().number(1, next).text(2, name);
                    packet = packet.message(12, &Message::default().message(2, &known));
                    next
                }
            };
            event = event.number(10, number);
        }
        let packet = packet.message(11, &rest(event));
        self.packet(packet)
    }
}

impl Taker for Perfetto<'_> {
    fn track(&mut self, number: usize, track: &Track) -> anyhow::Result<()> {
        let known = self.processes.iter().position(|name| *name == track.process);
        let parent = process_id(known.unwrap_or(self.processes.len()));
        if known.is_none() {
            self.processes.push(track.process.clone());
            let process = Message::default().number(1, parent).text(6, &track.process);
            let about = Message::default().number(1, parent).message(3, &process);
            self.packet(Message::default().message(60, &about))?;
        }
        let about = Message::default().number(1, track_id(number)).text(2, &track.name);
        let mut about = about.number(5, parent);
        if track.counter {
            about = about.message(8, &Message::default());
        }
        self.packet(Message::default().message(60, &about))
    }

    fn event(&mut self, track: usize, event: Event<'_>) -> anyhow::Result<()> {
        match event {
            Event::Slice { start, end, name, about, flows: (leave, arrive) } => {
                self.event_packet(start, track, BEGIN, Some(name), |event| {
                    let event = fields(event, about);
                    let event = leave.iter().fold(event, |event, flow| event.fixed(47, *flow));
                    arrive.iter().fold(event, |event, flow| event.fixed(48, *flow))
                })?;
                self.event_packet(end, track, END, None, |event| event)
            }
            Event::Instant { time, name, about } => {
                self.event_packet(time, track, INSTANT, Some(name), |event| fields(event, about))
            }
            Event::Count { time, value } => {
                self.event_packet(time, track, COUNTER, None, |event| event.real(44, value))
            }
        }
    }
}

/// Writes the trace.
pub(super) fn write(profile: &Profile, shape: &Shape, out: &mut dyn Write) -> anyhow::Result<()> {
    let (names, processes) = (HashMap::new(), Vec::new());
    walk(profile, shape, &mut Perfetto { out, names, processes, began: false })
}
