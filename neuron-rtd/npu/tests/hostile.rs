//! Records of every opcode with bytes that make no sense: a run ends with a
//! fault or with outputs, never with a panic.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::time::{Duration, Instant};

use neuron_core::isa::opcode_table::TABLE;
use neuron_core::isa::{Instruction, Opcode};
use npu::{Limits, Program, Tensors};
use support::Random;
use support::neff::{Small, changed, plain};

use neuron_core::isa::body::control::Nop;

/// Bytes that records of real files hold often.
fn byte(random: &mut Random) -> u8 {
    let value = random.next();
    match value >> 8 & 7 {
        0..=2 => 0,
        3 => 1,
        4 => 10,
        5 => 128,
        6 => (value & 15) as u8,
        _ => value as u8,
    }
}

#[test]
fn no_record_of_any_opcode_panics() {
    let mut random = Random(150);
    let input: Vec<u8> = (0..128 * 64).map(|_| random.next() as u8).collect();
    let tensors: Tensors = [("a".to_owned(), input)].into();
    let limits = Limits { instructions: 200, ..Limits::default() };
    let nop: Instruction = plain(Opcode::NOP, Nop::default());
    for row in TABLE {
        let engine = row.engines.iter().next().unwrap();
        let good = Small::around(&[64], 64, engine, vec![nop, nop]).build();
        let begin = Instant::now();
        for target in ["cayman", "sunda"] {
            for round in 0..6 {
                let member = format!("sg00/{}.bin", engine.key());
                let bad = changed(&good, &member, |stream| {
                    // the wait, our record, the last one; SP has more
                    let end = stream.len() - if engine.key() == "sp" { 256 } else { 128 };
                    let record = &mut stream[end..end + 64];
                    record[0] = row.opcode.0;
                    for byte_of in &mut record[12..] {
                        *byte_of = byte(&mut random);
                    }
                    // half of them with patterns of plausible size
                    if round % 2 == 0 {
                        for field in record[16..].chunks_mut(2) {
                            field[1] &= 1;
                        }
                    }
                });
                let bad = changed(&bad, "kelf-0.json", |text| {
                    let json = String::from_utf8(text.clone()).unwrap();
                    *text = json.replace("cayman", target).into_bytes();
                });
                let _ = Program::from_neff(&bad).unwrap().run_with(&tensors, &limits, &mut ());
            }
        }
        let spent = begin.elapsed();
        assert!(spent < Duration::from_secs(60), "{} took {spent:?}", row.name);
    }
}
