//! Promises for any bytes: loading and running never panic and always end. The
//! fuzz targets run the same functions.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use neuron_core::isa::opcode_table::TABLE;
use neuron_core::neff::{Neff, Options};
use npu::fuzz;
use proptest::prelude::*;

/// Few by default, as each one loads and runs a file three times.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(48)
}

/// 64 bytes with an opcode of the table, most of them as in real code.
fn likely_record() -> impl Strategy<Value = Vec<u8>> {
    let opcode = prop::sample::select(TABLE).prop_map(|row| row.opcode.0);
    let byte = prop_oneof![
        6 => Just(0), 2 => Just(1), 1 => Just(10), 1 => any::<u8>(), 1 => 0..=8u8
    ];
    (opcode, prop::collection::vec(byte, 63)).prop_map(|(opcode, mut rest)| {
        rest.insert(0, opcode);
        rest
    })
}

/// Some records of a real program, one after the other, with bytes changed.
fn changed_records() -> impl Strategy<Value = Vec<u8>> {
    let mut records = Vec::new();
    for name in ["attn-fused-bf16-512", "attn-tkg", "matmul-small"] {
        let file = neuron_tests::fixture(format!("profiles/{name}.neff"));
        let file = std::fs::read(file).unwrap();
        let neff = Neff::open(&file, &Options::strict().holding_all()).unwrap();
        for engine in ["PE", "Activation", "Pool", "DVE", "SP"] {
            let body = neff.body(&format!("sg00/{engine}.bin")).unwrap().unwrap();
            records.extend(body.as_chunks::<64>().0.iter().take(200).copied());
        }
    }
    let changes = prop::collection::vec((0..64 * 8usize, any::<u8>()), 0..6);
    (0..records.len() - 8, changes).prop_map(move |(first, changes)| {
        let mut bytes = records[first..first + 8].concat();
        for (at, value) in changes {
            bytes[at] = value;
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn any_records(first in 0..8u8, records in prop::collection::vec(likely_record(), 1..12)) {
        fuzz::records(&[&[first][..], &records.concat()].concat());
    }

    #[test]
    fn records_of_a_real_program(first in 0..8u8, records in changed_records()) {
        fuzz::records(&[&[first][..], &records].concat());
    }

    #[test]
    fn any_payload(bytes in prop::collection::vec(any::<u8>(), 0..2048)) {
        fuzz::payload(&bytes);
        fuzz::neff(&bytes);
    }

    /// The payload of a real file with a byte changed is read again, behind a
    /// header that fits.
    #[test]
    fn a_changed_file(at in 0..1usize << 20, value in any::<u8>()) {
        let file = neuron_tests::fixture("profiles/matmul-small.neff");
        let mut file = std::fs::read(file).unwrap().split_off(1024);
        let at = at % file.len();
        file[at] = value;
        fuzz::payload(&file);
    }
}
