//! The records of the streams, as far as they can be told wrong without being
//! run: part of `neff verify`.

use super::listing::{MOST_BYTES, generation};
use neuron_core::isa::Record;
use neuron_core::isa::field::RECORD_BYTES;
use neuron_core::neff::{Member, Model, Neff, Place, Problem, Report, Rule};
use std::collections::HashSet;

/// 16 words of 4 bytes, byte 1 of every record (neuroncore.md §3.2).
const WORDS: u8 = 0x10;

/// PSEUDO_EXTENSION, the second half of a record, which has 0 words in every
/// real file (isa-layouts.md §5.2).
const EXTENSION: u8 = 0xda;

/// Looks at every record of every stream, each member once; returns how many.
///
/// # Errors
///
/// The first broken rule that refuses the file in the report's mode.
pub(super) fn check(neff: &Neff<'_>, model: &Model, report: &mut Report) -> Result<u64, Problem> {
    let arch = generation(model);
    let mut seen = HashSet::new();
    let mut count = 0;
    for program in model.subgraphs.iter().flat_map(|subgraph| &subgraph.programs) {
        let Some(name) = program.stream_member.as_deref().filter(|name| seen.insert(*name)) else {
            continue;
        };
        if neff.member(name).map_or(0, Member::size) > MOST_BYTES {
            let value = format!("the stream has more than {MOST_BYTES} bytes");
            return Err(Problem::new(Rule::LimitRead, place(name, 0), value));
        }
        let Some(body) = neff.body(name) else { continue };
        let body = body?;
        // Wrong ones: how many, and the first with its slot.
        let mut length = (0_u64, None);
        let mut opcode = (0_u64, None);
        for (slot, bytes) in body.as_chunks::<RECORD_BYTES>().0.iter().enumerate() {
            count += 1;
            let [number, words, ..] = *bytes;
            if words != WORDS && !(number == EXTENSION && words == 0) {
                length.0 += 1;
                length.1.get_or_insert((slot, words));
            }
            if Record::decode(arch, bytes).opcode().info_on(arch).is_none() {
                opcode.0 += 1;
                opcode.1.get_or_insert((slot, number));
            }
        }
        if let (wrong, Some((slot, words))) = length {
            let value = format!("{wrong} records, the first in slot {slot} with {words} words");
            report.note(Rule::StreamRecord, place(name, slot * RECORD_BYTES + 1), value)?;
        }
        if let (wrong, Some((slot, number))) = opcode {
            let value = format!("{wrong} records, the first in slot {slot} with {number:#04x}");
            report.note(Rule::StreamOpcode, place(name, slot * RECORD_BYTES), value)?;
        }
    }
    Ok(count)
}

fn place(name: &str, at: usize) -> Place {
    Place::Member { name: name.to_owned(), at: u64::try_from(at).unwrap_or(u64::MAX) }
}
