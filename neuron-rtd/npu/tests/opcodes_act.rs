//! The activation engine against NumPy: every function of the table in the
//! docs, by the formula and within the bound that stand there.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::activation::{ACTIVATIONS, Activation};
use neuron_core::isa::address::Addr4;
use neuron_core::isa::body::act::{Activate, ActivateQuantize, ReadAccumulator};
use neuron_core::isa::code::{AccumulatorCmd, BiasSource, Dtype, DtypePair, ImmSource};
use neuron_core::isa::value::Fp32;
use neuron_core::isa::{Engine, Opcode};
use support::neff::{GAP, plain, whole};
use support::oracle::{COUNT, Fill, Near, oracle, stops};

fn activate(function: &str) -> Activate {
    Activate {
        bias_source: BiasSource::INSTRUCTION,
        src: whole(0, COUNT),
        types: DtypePair::new(Dtype::FP32, Dtype::FP32).unwrap(),
        dst_type: Dtype::FP32,
        channels: 128,
        function: Activation::from_name(function).unwrap(),
        scale: 1f32.to_bits(),
        dst: whole(1, COUNT),
        ..Activate::default()
    }
}

/// Rows of the table: number, name, formula in NumPy, units in the last place.
fn table() -> Vec<[&'static str; 4]> {
    include_str!("../src/activations.md")
        .lines()
        .skip(2)
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let [number, name, formula, bound, ..] = cells.as_slice() else { panic!("{line}") };
            [*number, *name, formula.trim_matches('`'), *bound]
        })
        .collect()
}

/// Numbers of every size around those that matter, and the special ones.
fn arguments() -> Vec<u8> {
    let mut random = support::Random(7);
    let special = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 88.0, -104.0];
    let mut numbers: Vec<f32> = special.to_vec();
    while numbers.len() < 128 * usize::from(COUNT) {
        let value = match numbers.len() % 4 {
            0 => random.unit() * 3.0,
            1 => random.unit() * 20.0,
            2 => random.unit() * 1e-3,
            _ => random.normal() * 2f32.powi((random.next() % 60) as i32 - 40),
        };
        numbers.push(value);
    }
    numbers.into_iter().flat_map(f32::to_le_bytes).collect()
}

#[test]
fn functions_are_those_of_the_table() {
    let Some(mut oracle) = oracle(65) else { return };
    for [number, name, formula, bound] in table() {
        assert_eq!(Activation::from_name(name).map(|a| a.0.to_string()).as_deref(), Some(number));
        if formula == "refused" {
            continue;
        }
        let expression = format!(
            "(lambda x: {formula})((a * f(1) + f(0)).astype('float64'))",
            formula = formula
                .replace("erfc(", "np.vectorize(math.erfc)(")
                .replace("erf(", "np.vectorize(math.erf)(")
                .replace(
                    "sigmoid(",
                    "(lambda v: np.where(v < 0, np.exp(v) / (1 + np.exp(v)), \
                    1 / (1 + np.exp(-v))))("
                )
        );
        let work = vec![plain(Opcode::ACTIVATE, activate(name))];
        let near = Near::Ulp(bound.parse().unwrap());
        let input = [(Dtype::FP32, COUNT, Fill::Given(arguments()))];
        oracle.case(near, &input, (Dtype::FP32, COUNT), Engine::Act, work, &expression);
    }
    oracle.check();
}

/// The table has every function that has a name, and the others are refused.
#[test]
fn the_table_is_whole() {
    let table = table();
    let names: Vec<&str> = table.iter().map(|[_, name, ..]| *name).collect();
    let known: Vec<&str> = ACTIVATIONS.iter().map(|(_, name, _)| *name).collect();
    assert_eq!(names, known);
    for [_, name, formula, _] in table {
        if formula == "refused" {
            let work = vec![plain(Opcode::ACTIVATE, activate(name))];
            let input = [(Dtype::FP32, COUNT, Fill::Normal)];
            let fault = stops("cayman", &input, (Dtype::FP32, COUNT), Engine::Act, work);
            assert!(fault.to_string().contains(name), "{fault}");
        }
    }
    let unknown = Activate { function: Activation(200), ..activate("COPY") };
    let input = [(Dtype::FP32, COUNT, Fill::Normal)];
    let work = vec![plain(Opcode::ACTIVATE, unknown)];
    let fault = stops("cayman", &input, (Dtype::FP32, COUNT), Engine::Act, work);
    assert!(fault.to_string().contains("FUNC_200"), "{fault}");
}

#[test]
fn scale_and_bias_as_numbers_and_as_columns() {
    let Some(mut oracle) = oracle(104) else { return };
    let inputs = [(Dtype::FP16, COUNT), (Dtype::FP32, 1), (Dtype::BFLOAT16, 1)];
    let body = Activate {
        types: DtypePair::new(Dtype::FP16, Dtype::BFLOAT16).unwrap(),
        dst: whole(3, COUNT),
        ..activate("SQUARE")
    };
    for (scale, bias, expression) in [
        (false, false, "(a * f(0.75) + f(-1.25)) ** 2"),
        (true, false, "(a * b + f(-1.25)) ** 2"),
        (false, true, "(a * f(0.75) + c) ** 2"),
        (true, true, "(a * b + c) ** 2"),
    ] {
        let body = Activate {
            scale_source: if scale { ImmSource::PTR } else { ImmSource::INSTRUCTION },
            scale: if scale { GAP } else { 0.75f32.to_bits() },
            bias_source: if bias { BiasSource::PTR } else { BiasSource::INSTRUCTION },
            bias: if bias { Addr4(2 * GAP).0 } else { (-1.25f32).to_bits() },
            ..body
        };
        let work = vec![plain(Opcode::ACTIVATE, body)];
        oracle.same(&inputs, (Dtype::FP32, COUNT), Engine::Act, work, expression);
    }
    oracle.check();
}

/// A sum that is set to zero, grows over two records, and is read.
#[test]
fn running_sums() {
    let Some(mut oracle) = oracle(67) else { return };
    let record = |accumulator| {
        let body = Activate {
            accumulator,
            types: DtypePair::new(Dtype::BFLOAT16, Dtype::FP32).unwrap(),
            dst: whole(2, COUNT),
            ..activate("SQUARE")
        };
        plain(Opcode::ACTIVATE, body)
    };
    let read = ReadAccumulator {
        count: 1,
        dst_type: Dtype::FP32,
        negated: 1,
        channels: 128,
        dst: whole(1, 1),
    };
    let read = plain(Opcode::ACTIVATION_READ_ACCUMULATOR, read);
    let work = vec![
        record(AccumulatorCmd::ACCUMULATE),
        record(AccumulatorCmd::ZERO_ACCUMULATE),
        record(AccumulatorCmd::IDLE),
        record(AccumulatorCmd::ACCUMULATE),
        read,
    ];
    let input = [(Dtype::BFLOAT16, COUNT)];
    let expression = "-np.cumsum(np.hstack([a * a, a * a]), 1)[:, -1:]";
    oracle.same(&input, (Dtype::FP32, 1), Engine::Act, work, expression);
    let work = vec![record(AccumulatorCmd::ZERO_ACCUMULATE), record(AccumulatorCmd::ZERO), read];
    oracle.same(&input, (Dtype::FP32, 1), Engine::Act, work, "-np.zeros((128, 1))");
    oracle.check();
}

/// Sums of integers become numbers, go through a function and become 8 bits.
#[test]
fn quantized_results() {
    let Some(mut oracle) = oracle(97) else { return };
    let fp32 = Fp32::new;
    for (function, formula) in [("RELU", "np.maximum(X, f(0))"), ("COPY", "X")] {
        for (dtype, low, high) in [(Dtype::UINT8, 0, 255), (Dtype::INT8, -128, 127)] {
            let body = ActivateQuantize {
                quant_scale: fp32(8.5),
                src: whole(0, COUNT),
                types: DtypePair::new(Dtype::INT32, Dtype::FP32).unwrap(),
                dst_type: dtype,
                channels: 128,
                function: Activation::from_name(function).unwrap(),
                dequant_scale: fp32(0.0125),
                bias: Addr4(GAP),
                zero_point: 3f32.to_bits(),
                dst: whole(2, COUNT),
            };
            let work = vec![plain(Opcode::ACTIVATE_QUANTIZE, body)];
            let inputs =
                [(Dtype::INT32, COUNT, Fill::Whole(-2000, 2000)), (Dtype::FP32, 1, Fill::Normal)];
            let x = formula.replace('X', "(a * f(0.0125) + b)");
            let expression = format!("np.clip(np.trunc({x} * f(8.5) + f(3)), {low}, {high})");
            let output = (dtype, COUNT);
            oracle.case(Near::Same, &inputs, output, Engine::Act, work, &expression);
        }
    }
    oracle.check();
}
