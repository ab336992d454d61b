//! The largest numbers and where they stand, against NumPy.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::address::Pattern;
use neuron_core::isa::body::tensor::{MatchReplace, Memset, Statistics, ValueLoad};
use neuron_core::isa::code::Dtype;
use neuron_core::isa::value::Fp32;
use neuron_core::isa::{Engine, Instruction, Opcode};
use support::neff::{plain, whole};
use support::oracle::{Fill, Near, oracle, stops};

/// Elements of a row; few numbers, so that many are equal.
const COUNT: u16 = 40;
const FEW: Fill = Fill::Whole(-9, 9);

/// Eight elements of a variable, from the last one to the first.
fn backwards<const N: usize>(variable: u32, bytes: u32) -> Pattern<N> {
    let mut pattern = whole(variable, 8);
    pattern.start.0 += 7 * bytes;
    pattern.steps[0] = -1;
    pattern
}

fn max8(dst: Pattern<2>) -> Instruction {
    let body = Statistics {
        src: whole(0, COUNT),
        src_type: Dtype::FP16,
        dst_type: Dtype::FP32,
        channels: 128,
        dst,
        ..Statistics::default()
    };
    plain(Opcode::MAX8, body)
}

fn keys(src: Pattern<2>) -> Instruction {
    let body = ValueLoad { src, src_type: Dtype::FP32, channels: 128, ..ValueLoad::default() };
    plain(Opcode::MATCH_VALUE_LOAD, body)
}

fn find(dst_type: Dtype, variable: u32) -> Instruction {
    let body = Statistics {
        src: whole(0, COUNT),
        src_type: Dtype::FP16,
        dst_type,
        channels: 128,
        dst: whole(variable, 8),
        ..Statistics::default()
    };
    plain(Opcode::FIND_INDEX8, body)
}

fn replace() -> Instruction {
    let body = MatchReplace {
        src: whole(0, COUNT),
        src_type: Dtype::FP16,
        dst_type: Dtype::FP16,
        channels: 128,
        replacement: Fp32::new(-100.0),
        dst: whole(1, COUNT),
    };
    plain(Opcode::MATCH_REPLACE8, body)
}

/// Positions of the eight largest, equal ones in the order of their places.
const ORDER: &str = "np.argsort(-a, 1, kind='stable')[:, :8]";

#[test]
fn the_eight_largest() {
    let Some(mut oracle) = oracle(93) else { return };
    let input = [(Dtype::FP16, COUNT, FEW)];
    let work = vec![max8(whole(1, 8))];
    let output = (Dtype::FP32, 8);
    oracle.case(Near::Same, &input, output, Engine::Dve, work, "np.sort(a, 1)[:, -8:]");
    let work = vec![max8(backwards(1, 4))];
    let expression = "np.sort(a, 1)[:, :-9:-1]";
    oracle.case(Near::Same, &input, output, Engine::Dve, work, expression);
    oracle.check();
}

/// Top 8 with positions, as a router of experts has it.
#[test]
fn the_places_of_the_largest() {
    let Some(mut oracle) = oracle(94) else { return };
    let input = [(Dtype::FP16, COUNT, FEW)];
    for dtype in [Dtype::UINT16, Dtype::UINT32] {
        // variable 3 holds the values from the largest one on; key 0 is the
        // first of them when they are loaded backwards
        let work = vec![max8(backwards(3, 4)), keys(backwards(3, 4)), find(dtype, 1)];
        oracle.case(Near::Same, &input, (dtype, 8), Engine::Dve, work, ORDER);
        // in the order of MAX8, loaded forwards: the same keys
        let work = vec![max8(whole(3, 8)), keys(whole(3, 8)), find(dtype, 1)];
        oracle.case(Near::Same, &input, (dtype, 8), Engine::Dve, work, ORDER);
    }
    oracle.check();
}

/// Keys that are not there, and one that is there twice.
#[test]
fn missing_keys_are_all_ones() {
    let Some(mut oracle) = oracle(95) else { return };
    let values: Vec<u8> = (0..128)
        .flat_map(|_| {
            [7.0f32, 50.0, 7.0, -50.0, 0.0, 0.0, 0.0, 7.0].into_iter().flat_map(f32::to_le_bytes)
        })
        .collect();
    let inputs = [(Dtype::FP16, COUNT, FEW), (Dtype::FP32, 8, Fill::Given(values))];
    let work = vec![keys(backwards(1, 4)), find(Dtype::UINT32, 2)];
    // the n-th key of a value has its n-th place
    let place = "lambda p, n: np.pad(np.flatnonzero(p), (0, n + 1), constant_values=2**32 - 1)[n]";
    let expression = format!(
        "np.array([[({place})(a[i] == v, list(b[i, :n]).count(v)) for n, v in enumerate(b[i])] \
         for i in range(128)])"
    );
    let output = (Dtype::UINT32, 8);
    oracle.case(Near::Same, &inputs, output, Engine::Dve, work, &expression);
    oracle.check();
}

#[test]
fn matches_are_replaced_and_their_places_kept() {
    let Some(mut oracle) = oracle(96) else { return };
    let input = [(Dtype::FP16, COUNT, FEW)];
    let work = vec![max8(whole(3, 8)), keys(whole(3, 8)), replace()];
    let expression =
        format!("(lambda out: (np.put_along_axis(out, {ORDER}, -100, 1), out)[1])(a.copy())");
    let output = (Dtype::FP16, COUNT);
    oracle.case(Near::Same, &input, output, Engine::Dve, work, &expression);
    let mut work = vec![max8(whole(3, 8)), keys(whole(3, 8)), replace()];
    let read = Memset {
        count: 8,
        dst_type: Dtype::UINT32,
        channels: 128,
        dst: whole(1, 8),
        ..Memset::default()
    };
    work.push(plain(Opcode::DVE_READ_INDICES, read));
    oracle.case(Near::Same, &input, (Dtype::UINT32, 8), Engine::Dve, work, ORDER);
    oracle.check();
}

#[test]
fn a_search_needs_eight_elements_and_an_index_type() {
    let stop = |work| {
        stops("cayman", &[(Dtype::FP16, COUNT, FEW)], (Dtype::UINT32, 8), Engine::Dve, vec![work])
    };
    assert!(stop(find(Dtype::INT32, 1)).to_string().contains("int32"));
    let mut few = Statistics {
        src: whole(0, 7),
        src_type: Dtype::FP16,
        dst_type: Dtype::FP32,
        channels: 128,
        dst: whole(1, 8),
        ..Statistics::default()
    };
    assert!(stop(plain(Opcode::MAX8, few)).to_string().contains("7 elements"));
    few.src = whole(0, 8);
    few.dst = whole(1, 9);
    assert!(stop(plain(Opcode::MAX8, few)).to_string().contains("9 elements"));
}
