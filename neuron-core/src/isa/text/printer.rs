//! Writes the text of a record.

use super::event::{update_shows, update_text, usual_update_value, wait_shows, wait_text};
use super::value::{Hex, HexBytes, Value};
use super::{Outcome, Style, Text, When, operands};
use crate::isa::event::Events;
use crate::isa::header::Header;
use crate::isa::names::SemaphoreNames;
use crate::isa::record::{Instruction, Record};
use crate::text::hex;

/// Writes items to a string, each with a space after it.
struct Printer<'a> {
    out: String,
    style: Style,
    names: &'a SemaphoreNames,
}

impl Printer<'_> {
    fn pair<V: Value>(&mut self, key: &str, value: &V) {
        self.out.push_str(key);
        self.out.push('=');
        value.show(self.style, &mut self.out);
        self.out.push(' ');
    }

    fn word(&mut self, word: &str) {
        self.out.push_str(word);
        self.out.push(' ');
    }

    fn line(&self) -> bool {
        self.style == Style::Line
    }

    /// What the text of two events does not show. `block` is empty for the
    /// header and `2` for the second block.
    fn hidden_events(&mut self, block: &str, events: &Events) {
        let (wait_index, _) = wait_shows(events.wait_mode);
        let (update_index, _) = update_shows(events.update_mode);
        if events.wait_mode.0 != 0 && events.wait_mode.meaning().is_none() {
            self.pair(&format!("wait{block}_mode"), &Hex(events.wait_mode.0));
        }
        if !wait_index && events.wait_index != 0 {
            self.pair(&format!("wait{block}_index"), &events.wait_index);
        }
        if events.update_mode.0 != 0 && events.update_mode.meaning().is_none() {
            self.pair(&format!("update{block}_mode"), &Hex(events.update_mode.0));
        }
        if !update_index && events.update_index != 0 {
            self.pair(&format!("update{block}_index"), &events.update_index);
        }
    }
}

impl Text for Printer<'_> {
    fn entry<V: Value>(&mut self, when: When, key: &str, value: &mut V, usual: V) -> Outcome {
        let shown = match when {
            When::Always => true,
            When::Unusual => *value != usual,
            When::UnusualInLine => self.line() && *value != usual,
            When::Viewer => !self.line() || *value != usual,
        };
        if shown {
            self.pair(key, value);
        }
        Ok(())
    }

    fn bare<V: Value>(&mut self, _: &str, value: &mut V) -> Outcome {
        value.show(self.style, &mut self.out);
        self.out.push(' ');
        Ok(())
    }

    fn choose(&mut self, _: &[&str], shown: usize) -> usize {
        shown
    }

    fn constant(&mut self, key: &str, value: &str, shown: bool) -> Outcome {
        if shown {
            self.word(&format!("{key}={value}"));
        }
        Ok(())
    }

    fn second_events(&mut self, events: &mut Events) -> Outcome {
        let wait = wait_text(events, self.names).unwrap_or_default();
        let update = update_text(events, self.names).unwrap_or_default();
        if !self.line() {
            self.word(&wait);
            self.word(&update);
            return Ok(());
        }
        for text in [&wait, &update] {
            if !text.is_empty() {
                self.word(text);
            }
        }
        self.hidden_events("2", events);
        if !wait_shows(events.wait_mode).1 && events.wait_value != 0 {
            self.pair("wait2_value", &events.wait_value);
        }
        let usual = usual_update_value(events.update_mode);
        if !update_shows(events.update_mode).1 && events.update_value != usual {
            self.pair("update2_value", &events.update_value);
        }
        Ok(())
    }

    fn gap(&mut self) {
        if !self.line() {
            self.out.push(' ');
        }
    }

    fn close(&mut self) {
        if !self.line() && self.out.ends_with(' ') {
            self.out.pop();
        }
    }
}

/// Header part: the wait and the update that exist, each with a space after
/// it; a single space in the viewer when there is neither.
fn header_events(printer: &mut Printer<'_>, header: &Header) {
    let events = header.events();
    let wait = wait_text(&events, printer.names);
    let update = update_text(&events, printer.names);
    if wait.is_none() && update.is_none() {
        printer.gap();
    }
    for text in [wait, update].into_iter().flatten() {
        printer.word(&text);
    }
}

/// Fields of the header that the viewer does not show.
fn header_rest(printer: &mut Printer<'_>, instruction: &Instruction) {
    let header = &instruction.header;
    printer.hidden_events("", &header.events());
    let value_shown = wait_shows(header.wait_mode).1 || update_shows(header.update_mode).1;
    if !value_shown && header.value != 0 {
        printer.pair("sem_value", &header.value);
    }
    if header.words != header.opcode.usual_words() {
        printer.pair("words", &header.words);
    }
    if header.debug_cmd != header.opcode.usual_debug_cmd() {
        printer.pair("debug_cmd", &header.debug_cmd);
    }
    for (offset, run) in instruction.rest.runs() {
        printer.pair(&format!("raw[{offset}]"), &HexBytes(run.to_vec()));
    }
}

fn print_items(instruction: &Instruction, names: &SemaphoreNames, style: Style) -> String {
    let mut printer = Printer { out: String::new(), style, names };
    let mut copy = *instruction;
    header_events(&mut printer, &instruction.header);
    // a printer refuses nothing
    let _ = operands::visit(&instruction.header, &mut copy.body, &mut printer);
    if printer.line() {
        header_rest(&mut printer, instruction);
    }
    if instruction.header.debug_hint != 0 {
        printer.out.push_str(&format!("debugHint={}", instruction.header.debug_hint));
    }
    printer.out
}

/// The operands of a record as the vendor's viewer 2.28.23 prints them, where
/// [`Status::SettledByCapture`](super::super::opcode::Status) stands for its
/// opcode; else in the same manner. An unknown record prints as its bytes.
pub(crate) fn viewer_operands(record: &Record, names: &SemaphoreNames) -> String {
    match record {
        Record::Instruction(instruction) => print_items(instruction, names, Style::Viewer),
        Record::Unknown(bytes) => format!(" {} ", hex(bytes)),
    }
}

/// The assembler's line of a record, without a line end.
pub(crate) fn line(record: &Record, names: &SemaphoreNames) -> String {
    match record {
        Record::Instruction(instruction) => {
            let items = print_items(instruction, names, Style::Line);
            let mnemonic = instruction.header.opcode.to_string();
            match items.trim_end() {
                "" => format!("{mnemonic};"),
                items => format!("{mnemonic} {items};"),
            }
        }
        Record::Unknown(bytes) => format!("{} {};", super::parser::UNKNOWN, hex(bytes)),
    }
}
