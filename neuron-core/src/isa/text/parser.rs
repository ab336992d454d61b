//! Reads the text of a record.

use super::event::{EventToken, is_event, read_event, update_shows, usual_update_value};
use super::value::{HexBytes, Value};
use super::{Outcome, Text, When, operands};
use crate::instance::Arch;
use crate::isa::body::Body;
use crate::isa::event::{Events, UpdateMode, WaitMode};
use crate::isa::field::{RECORD_BYTES, RecordBytes, Rest, unhex};
use crate::isa::header::Header;
use crate::isa::opcode::Opcode;
use crate::isa::record::{Instruction, Record};

/// Mnemonic of a record whose opcode the generation does not have.
pub(crate) const UNKNOWN: &str = "UNKNOWN";

/// The tokens of a line after its mnemonic, each used once.
#[derive(Default)]
struct Parser {
    events: Vec<EventToken>,
    /// Events after `setter`, which belong to the second block.
    second: Vec<EventToken>,
    items: Vec<(String, String)>,
    bare: std::collections::VecDeque<String>,
}

impl Parser {
    fn new(tokens: &[String]) -> Result<Self, String> {
        let mut parser = Self::default();
        let mut after_setter = false;
        for token in tokens {
            if is_event(token) {
                let event = read_event(token)
                    .ok_or_else(|| format!("{token:?} is no wait and no update"))?;
                let block = if after_setter { &mut parser.second } else { &mut parser.events };
                block.push(event);
                continue;
            }
            match token.split_once('=') {
                Some((key, value)) if !token.starts_with(['$', '"']) => {
                    if parser.has(key) {
                        return Err(format!("{key:?} stands twice"));
                    }
                    after_setter |= key == "setter";
                    parser.items.push((String::from(key), String::from(value)));
                }
                _ => parser.bare.push_back(token.clone()),
            }
        }
        Ok(parser)
    }

    fn has(&self, key: &str) -> bool {
        self.items.iter().any(|(known, _)| known == key)
    }

    fn take(&mut self, key: &str) -> Option<String> {
        let index = self.items.iter().position(|(known, _)| known == key)?;
        Some(self.items.swap_remove(index).1)
    }

    fn read<V: Value>(&mut self, key: &str) -> Result<Option<V>, String> {
        let Some(text) = self.take(key) else { return Ok(None) };
        V::parse(&text).map(Some).ok_or_else(|| format!("{key} cannot be {text:?}"))
    }

    /// Replaces `place` when the key is there.
    fn read_into<V: Value>(&mut self, key: &str, place: &mut V) -> Outcome {
        if let Some(value) = self.read(key)? {
            *place = value;
        }
        Ok(())
    }

    /// At most one wait and one update, and what their text does not show.
    fn events(&mut self, block: &str, tokens: &[EventToken]) -> Result<Events, String> {
        let mut events = Events::default();
        let (mut waits, mut updates) = (0, 0);
        for token in tokens {
            match *token {
                EventToken::Wait { mode, index, value } => {
                    waits += 1;
                    events.wait_mode = mode;
                    events.wait_index = index;
                    events.wait_value = value.unwrap_or(0);
                }
                EventToken::Update { mode, index, value } => {
                    updates += 1;
                    events.update_mode = mode;
                    events.update_index = index;
                    events.update_value = value.unwrap_or(0);
                }
            }
        }
        if waits > 1 || updates > 1 {
            return Err(String::from("a record has room for one wait and one update"));
        }
        if let Some(mode) = self.read(&format!("wait{block}_mode"))? {
            events.wait_mode = WaitMode(mode);
        }
        if let Some(mode) = self.read(&format!("update{block}_mode"))? {
            events.update_mode = UpdateMode(mode);
        }
        self.read_into(&format!("wait{block}_index"), &mut events.wait_index)?;
        self.read_into(&format!("update{block}_index"), &mut events.update_index)?;
        Ok(events)
    }

    fn header(&mut self, opcode: Opcode) -> Result<Header, String> {
        let tokens = std::mem::take(&mut self.events);
        let values: Vec<u32> = tokens
            .iter()
            .filter_map(|token| match token {
                EventToken::Wait { value, .. } | EventToken::Update { value, .. } => *value,
            })
            .collect();
        if values.windows(2).any(|pair| pair.first() != pair.last()) {
            return Err(String::from("the wait and the update of a header share one value"));
        }
        let events = self.events("", &tokens)?;
        let mut header = Header {
            wait_mode: events.wait_mode,
            wait_index: events.wait_index,
            update_mode: events.update_mode,
            update_index: events.update_index,
            value: values.first().copied().unwrap_or(0),
            ..Header::new(opcode)
        };
        self.read_into("sem_value", &mut header.value)?;
        self.read_into("words", &mut header.words)?;
        self.read_into("debug_cmd", &mut header.debug_cmd)?;
        self.read_into("debugHint", &mut header.debug_hint)?;
        Ok(header)
    }

    /// The bytes given as `raw[OFFSET]=HEX`.
    fn raw_bytes(&mut self) -> Result<RecordBytes, String> {
        let mut bytes = [0; RECORD_BYTES];
        while let Some(key) =
            self.items.iter().map(|(key, _)| key).find(|key| key.starts_with("raw[")).cloned()
        {
            let HexBytes(run) = self.read(&key)?.unwrap_or_default();
            let offset = key.strip_prefix("raw[").and_then(|rest| rest.strip_suffix(']'));
            let offset: Option<usize> = offset.and_then(super::value::integer);
            let place = offset
                .filter(|offset| *offset >= 12)
                .and_then(|offset| bytes.get_mut(offset..offset.checked_add(run.len())?))
                .ok_or_else(|| format!("{key} does not lie in bytes 12 to 63"))?;
            place.copy_from_slice(&run);
        }
        Ok(bytes)
    }

    fn leftover(self) -> Outcome {
        let item = self.items.into_iter().map(|(key, value)| format!("{key}={value}")).next();
        match self.bare.into_iter().next().or(item) {
            Some(token) => Err(format!("{token:?} does not belong to this instruction")),
            None if !self.second.is_empty() => {
                Err(String::from("only EVENT_SEMAPHORE has a second wait and update"))
            }
            None => Ok(()),
        }
    }
}

impl Text for Parser {
    fn entry<V: Value>(&mut self, when: When, key: &str, value: &mut V, usual: V) -> Outcome {
        *value = match self.read(key)? {
            Some(given) => given,
            None if when == When::Always => return Err(format!("{key}= is missing")),
            None => usual,
        };
        Ok(())
    }

    fn bare<V: Value>(&mut self, what: &str, value: &mut V) -> Outcome {
        let text = self.bare.pop_front().ok_or_else(|| format!("{what} is missing"))?;
        *value = V::parse(&text).ok_or_else(|| format!("{what} cannot be {text:?}"))?;
        Ok(())
    }

    fn choose(&mut self, keys: &[&str], shown: usize) -> usize {
        keys.iter().position(|key| self.has(key)).unwrap_or(shown)
    }

    fn constant(&mut self, key: &str, value: &str, _: bool) -> Outcome {
        match self.take(key) {
            Some(text) if text != value => Err(format!("{key} cannot be {text:?}")),
            _ => Ok(()),
        }
    }

    fn second_events(&mut self, events: &mut Events) -> Outcome {
        let tokens = std::mem::take(&mut self.second);
        *events = self.events("2", &tokens)?;
        if !update_shows(events.update_mode).1 {
            events.update_value = usual_update_value(events.update_mode);
        }
        self.read_into("wait2_value", &mut events.wait_value)?;
        self.read_into("update2_value", &mut events.update_value)
    }

    fn gap(&mut self) {}

    fn close(&mut self) {}
}

/// The record of a line's tokens, the first of which is the mnemonic.
pub(crate) fn parse(arch: Arch, tokens: &[String]) -> Result<Record, String> {
    let Some((mnemonic, operands)) = tokens.split_first() else {
        return Err(String::from("no instruction"));
    };
    if mnemonic == UNKNOWN {
        return parse_unknown(arch, operands);
    }
    let opcode = Opcode::from_name(mnemonic)
        .ok_or_else(|| format!("there is no instruction {mnemonic:?}"))?;
    if opcode.info_on(arch).is_none() {
        return Err(format!("generation {} has no {mnemonic}", arch.number()));
    }
    let mut parser = Parser::new(operands)?;
    let header = parser.header(opcode)?;
    // bytes without a name may select the layout, so they come first
    let mut raw = parser.raw_bytes()?;
    let [first, ..] = &mut raw;
    *first = opcode.0;
    let Record::Instruction(mut instruction) = Record::decode(arch, &raw) else {
        return Err(format!("there is no instruction {mnemonic:?}"));
    };
    let mask = Body::mask(instruction.body.kind());
    if Rest::of(&raw, 0xfff) != Rest::of(&raw, mask | 0xfff) {
        return Err(String::from("raw[..] names a byte that has a field"));
    }
    instruction.header = header;
    instruction.body = Body::empty(instruction.body.kind());
    operands::visit(&header, &mut instruction.body, &mut parser)?;
    parser.leftover()?;
    decodes_alike(arch, instruction)
}

/// Refuses a record that would decode to something else.
fn decodes_alike(arch: Arch, instruction: Instruction) -> Result<Record, String> {
    let record = Record::Instruction(instruction);
    if Record::decode(arch, &record.encode()) == record {
        Ok(record)
    } else {
        Err(String::from("the operands belong to another layout of this instruction"))
    }
}

fn parse_unknown(arch: Arch, operands: &[String]) -> Result<Record, String> {
    let [text] = operands else {
        return Err(format!("{UNKNOWN} takes the 64 bytes in hexadecimal"));
    };
    let bytes: RecordBytes = unhex(text)
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| format!("{UNKNOWN} takes the 64 bytes in hexadecimal"))?;
    match Record::decode(arch, &bytes) {
        Record::Instruction(known) => {
            Err(format!("these bytes are {} on generation {}", known.header.opcode, arch.number()))
        }
        unknown @ Record::Unknown(_) => Ok(unknown),
    }
}
