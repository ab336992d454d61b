//! Listings of real NEFFs.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests stop at the first surprise"
)]

#[path = "../../neuron-core/tests/isa_support/mod.rs"]
mod isa_support;

use isa_support::{EXPORTED, NEFFS, json, neff};
use neuron_core::instance::Arch;
use neuron_core::isa::asm::assemble;
use neuron_core::isa::{Engine, Record};
use neuron_profile::neff::disasm::{Program, Stream};

/// Calls back with the streams of a fixture.
fn with_program<T>(name: &str, then: impl FnOnce(&Program<'_>) -> T) -> T {
    let file = neff(name);
    let queues: Vec<Vec<(String, u8)>> = file
        .streams
        .iter()
        .map(|stream| stream.blocks.iter().map(|(q, _, s)| (q.clone(), *s)).collect())
        .collect();
    let streams: Vec<Stream<'_>> = file
        .streams
        .iter()
        .zip(&queues)
        .map(|(stream, queues)| Stream {
            subgraph: &stream.subgraph,
            engine: stream.engine,
            bytes: &stream.bytes,
            queues,
        })
        .collect();
    then(&Program { arch: file.arch, streams: &streams })
}

/// The list `streams` of the JSON form.
fn listing(program: &Program<'_>) -> serde_json::Value {
    let mut out = vec![b'['];
    program.write_json(&mut out, true).unwrap();
    out.push(b']');
    serde_json::from_slice(&out).unwrap()
}

fn text(program: &Program<'_>) -> String {
    let mut out = Vec::new();
    program.write_text(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_listing_assembles_to_the_streams() {
    for name in NEFFS {
        with_program(name, |program| {
            let listing = text(program);
            assert!(program.warnings().is_empty());
            // empty lines stand between streams
            let parts: Vec<&str> = listing.split("\n\n").collect();
            assert_eq!(parts.len(), program.streams.len());
            for (part, stream) in parts.iter().zip(program.streams) {
                let heading = part.lines().next().unwrap();
                assert!(heading.starts_with(&format!("# {} {}", stream.subgraph, stream.engine)));
                let records = assemble(program.arch, part).unwrap();
                let bytes: Vec<u8> = records.iter().flat_map(Record::encode).collect();
                assert_eq!(bytes, stream.bytes, "{name} {heading}");
            }
        });
    }
}

/// Rows of the export that stem from a record of the NEFF and were not
/// rewritten by the loader have the operands that the JSON shows.
#[test]
fn json_has_the_vendor_operands() {
    let mut compared = 0;
    for name in EXPORTED {
        let streams = with_program(name, |program| {
            assert_eq!(program.arch, Arch::V3);
            listing(program)
        });
        let export = json(&format!("{name}.json"));
        for row in export["instruction"].as_array().unwrap() {
            let Some(slot) = row["compiler_pc"].as_u64() else { continue };
            let engine = Engine::ALL
                .into_iter()
                .find(|engine| row["subgroup"] == engine.display_name())
                .unwrap();
            let stream = streams
                .as_array()
                .unwrap()
                .iter()
                .find(|s| s["subgraph"] == row["subgraph"] && s["engine"] == engine.name())
                .unwrap();
            let record = &stream["records"][usize::try_from(slot).unwrap()];
            assert_eq!(record["understood"], true);
            let rewritten = row["compiler_operands"].as_str().is_some_and(|t| !t.is_empty());
            let (opcode, operands) = if rewritten {
                ("compiler_opcode", "compiler_operands")
            } else {
                ("opcode", "operands")
            };
            assert_eq!(record["opcode"], row[opcode], "{name} slot {slot}");
            assert_eq!(record["operands"], row[operands], "{name} slot {slot}");
            compared += 1;
        }
    }
    // rows of the four exports with a `compiler_pc`
    assert_eq!(compared, 1074);
}

#[test]
fn what_is_not_understood_is_shown_as_bytes() {
    let mut bytes = [0u8; 100];
    bytes[0] = 0xff;
    let streams = [Stream { subgraph: "sg00", engine: Engine::Pe, bytes: &bytes, queues: &[] }];
    let program = Program { arch: Arch::V2, streams: &streams };
    let unknown = format!("0: UNKNOWN ff{};", "00".repeat(63));
    let warning = "sg00 PE: 36 bytes after slot 1 are no whole record of 64 bytes; not shown";
    let heading = "# sg00 PE (Tensor), records: 1, generation: 2";
    assert_eq!(text(&program), format!("{heading}\n{unknown}\n# {warning}\n"));
    let record = &listing(&program)[0]["records"][0];
    assert_eq!(record["status"], "unknown");
    assert_eq!(record["understood"], false);
    assert_eq!(program.warnings(), [warning]);
}

/// A reader that goes away is an error of the writer, not a panic.
#[test]
fn a_closed_pipe_is_an_error() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    with_program("matmul-small", |program| {
        let text = program.write_text(&mut Closed).unwrap_err();
        assert_eq!(text.kind(), std::io::ErrorKind::BrokenPipe);
        let json = program.write_json(&mut Closed, true).unwrap_err();
        assert_eq!(json.kind(), std::io::ErrorKind::BrokenPipe);
    });
}
