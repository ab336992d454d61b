//! Entry functions for fuzzing; the property tests call them too.
//!
//! Each takes any bytes and panics when a promise of this module is broken.

#![expect(clippy::panic, reason = "a broken promise must stop the fuzzer")]

use super::asm::{assemble, disassemble, viewer_operands};
use super::field::RECORD_BYTES;
use super::names::SemaphoreNames;
use super::record::{Record, decode_stream};
use crate::engine::Engine;
use crate::instance::Arch;

const GENERATIONS: [Arch; 4] = [Arch::V1, Arch::V2, Arch::V3, Arch::V4];

fn check(holds: bool, what: &str) {
    if !holds {
        panic!("{what}");
    }
}

/// Every 64 bytes decode on every generation, encode to themselves, and
/// their line assembles to the same record. Shorter input is padded.
pub fn record(data: &[u8]) {
    let mut bytes = [0; RECORD_BYTES];
    for (place, byte) in bytes.iter_mut().zip(data) {
        *place = *byte;
    }
    let names = SemaphoreNames::none();
    for arch in GENERATIONS {
        let record = Record::decode(arch, &bytes);
        check(record.encode() == bytes, "encode(decode(bytes)) differs");
        let _ = viewer_operands(&record, &names);
        let line = disassemble(&record, &names);
        let back = assemble(arch, &line);
        check(back.as_deref() == Ok(&[record]), &format!("{line:?} reads back as {back:?}"));
    }
}

/// A stream as the listing command shows it: the names of its semaphores come
/// from its own records, each line assembles to its record, and the bytes after
/// the last whole record are told.
pub fn stream(data: &[u8]) {
    let (records, rest) = data.as_chunks::<RECORD_BYTES>();
    for arch in GENERATIONS {
        let whole = decode_stream(arch, data);
        check(whole.is_ok() == rest.is_empty(), "only a cut stream is an error");
        let whole = decode_stream(arch, records.as_flattened()).unwrap_or_default();
        check(whole.len() == records.len(), "every whole record decodes");
        let mut names = SemaphoreNames::none();
        for engine in Engine::ALL {
            names.add_stream(engine, &whole);
        }
        for record in &whole {
            let _ = viewer_operands(record, &names);
            let line = disassemble(record, &names);
            let back = assemble(arch, &line);
            let same = back.as_ref().is_ok_and(|back| back.as_slice() == [*record]);
            check(same, &format!("{line:?} reads back as {back:?}"));
        }
    }
}

/// Every text is a program or an error; a program's listing assembles to the
/// same program.
pub fn asm(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for arch in GENERATIONS {
        let Ok(program) = assemble(arch, &text) else { continue };
        let names = SemaphoreNames::none();
        let lines: Vec<String> = program.iter().map(|record| disassemble(record, &names)).collect();
        let back = assemble(arch, &lines.join("\n"));
        check(back.as_ref() == Ok(&program), &format!("{lines:?} reads back as {back:?}"));
    }
}
