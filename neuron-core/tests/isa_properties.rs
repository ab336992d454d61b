//! Promises for any input: decoding never fails, encoding gives the bytes
//! back, and the text of a record assembles to the record.

mod isa_support;

use neuron_core::isa::fuzz;
use neuron_core::isa::opcode_table::TABLE;
use proptest::prelude::*;

/// 64 bytes with an opcode of the table, most of them zero as in real code.
fn likely_record() -> impl Strategy<Value = Vec<u8>> {
    let opcode = prop::sample::select(TABLE).prop_map(|row| row.opcode.0);
    let byte = prop_oneof![3 => Just(0), 1 => any::<u8>(), 1 => 0..=8u8];
    (opcode, prop::collection::vec(byte, 63)).prop_map(|(opcode, mut rest)| {
        rest.insert(0, opcode);
        rest
    })
}

/// A record of a real file with some bytes changed.
fn changed_record() -> impl Strategy<Value = Vec<u8>> {
    let records: Vec<[u8; 64]> = isa_support::all_streams()
        .iter()
        .flat_map(|(_, bytes)| bytes.as_chunks::<64>().0.to_vec())
        .collect();
    let changes = prop::collection::vec((0..64usize, any::<u8>()), 0..6);
    (prop::sample::select(records), changes).prop_map(|(record, changes)| {
        let mut bytes = record.to_vec();
        for (at, value) in changes {
            bytes[at] = value;
        }
        bytes
    })
}

/// Words of the language in any order.
fn likely_text() -> impl Strategy<Value = String> {
    let words = [
        "MATMUL",
        "LDWEIGHTS",
        "ACTIVATE",
        "EXP",
        "NOP",
        "EVENT_SEMAPHORE",
        "DMA_DIRECT2D",
        "UNKNOWN",
        "PSEUDO_DMA_TRIGGER",
        "setter=0",
        "$S[3]>=4",
        "S[4] (Name)++@complete",
        "$E[1]==1-",
        "$E[2]+@complete",
        "unordered",
        "cycle=1",
        "128*128",
        "acc_flags=3",
        "src=fp32@0x10[-1,0,0][128,1,1]",
        "dst=0x2000000[1,0,0][1,1,1]",
        "raw[12]=ff",
        "raw[15]=01",
        "debugHint=2",
        "words=0",
        ";",
        "#",
        "\n",
        "\"q\\x00\"",
        "q0",
        "block_id=1",
        "bias_raw=0x5:0x1",
        "data=0x1,0x2",
        "size=4",
        "dst=0x8",
        "wait_mode=0x33",
        "wait2_value=7",
        "12:",
        "(",
        "\"",
    ];
    let word = prop_oneof![
        6 => prop::sample::select(words.to_vec()).prop_map(String::from),
        1 => any::<String>(),
        1 => prop::sample::select(TABLE).prop_map(|row| String::from(row.name)),
    ];
    prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_record(bytes in prop::collection::vec(any::<u8>(), 0..=80)) {
        fuzz::record(&bytes);
    }

    #[test]
    fn records_with_an_opcode_survive(bytes in likely_record()) {
        fuzz::record(&bytes);
    }

    #[test]
    fn changed_records_survive(bytes in changed_record()) {
        fuzz::record(&bytes);
    }

    #[test]
    fn any_stream_is_listed(
        mut records in prop::collection::vec(prop_oneof![likely_record(), changed_record()], 0..6),
        rest in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        records.push(rest);
        fuzz::stream(&records.concat());
    }

    #[test]
    fn any_text_is_a_program_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzz::asm(&bytes);
    }

    #[test]
    fn likely_texts_are_programs_or_errors(text in likely_text()) {
        fuzz::asm(text.as_bytes());
    }

    /// A line with one character changed is a program or an error.
    #[test]
    fn changed_lines_are_programs_or_errors(
        bytes in likely_record(),
        at in any::<prop::sample::Index>(),
        replacement in any::<char>(),
    ) {
        use neuron_core::instance::Arch;
        use neuron_core::isa::{Record, asm, names::SemaphoreNames};
        let bytes: [u8; 64] = bytes.try_into().unwrap();
        let record = Record::decode(Arch::V3, &bytes);
        let mut line: Vec<char> =
            asm::disassemble(&record, &SemaphoreNames::none()).chars().collect();
        let index = at.index(line.len());
        line[index] = replacement;
        fuzz::asm(line.into_iter().collect::<String>().as_bytes());
    }
}

/// Every opcode of the table with every byte set, and each single byte of it.
#[test]
fn every_byte_of_every_opcode_survives() {
    for row in TABLE {
        for value in [0x01, 0x80, 0xff] {
            fuzz::record(&[&[row.opcode.0][..], &[value; 63]].concat());
            for byte in 1..64 {
                let mut bytes = [0; 64];
                bytes[0] = row.opcode.0;
                bytes[byte] = value;
                fuzz::record(&bytes);
            }
        }
    }
}
