//! Shuffles and transposes of partitions against NumPy.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::body::select::MaskLoad;
use neuron_core::isa::body::tensor::{TensorScalar, Unary};
use neuron_core::isa::code::{AluOp, Dtype, ReduceDims};
use neuron_core::isa::value::LaneMap;
use neuron_core::isa::{Engine, Opcode};
use support::neff::{plain, whole};
use support::oracle::{Fill, Near, normal, oracle, stops};

/// Two tiles of 32 in a row.
const COUNT: u16 = 64;
const TURNED: &str = "a_raw.reshape(4, 32, 2, 32).swapaxes(1, 3).reshape(128, 64)";

fn unary(dtype: Dtype) -> Unary {
    Unary {
        src: whole(0, COUNT),
        src_type: dtype,
        dst_type: dtype,
        channels: 128,
        dst: whole(1, COUNT),
        ..Unary::default()
    }
}

#[test]
fn stream_transpose() {
    let Some(mut oracle) = oracle(101) else { return };
    for dtype in [Dtype::FP32, Dtype::BFLOAT16, Dtype::UINT8] {
        let work = vec![plain(Opcode::STREAM_TRANSPOSE, unary(dtype))];
        let input = [(dtype, COUNT, Fill::Bits)];
        oracle.case(Near::Same, &input, (dtype, COUNT), Engine::Dve, work, TURNED);
    }
    // one quadrant, in a walk of two dimensions
    let mut body = Unary { channels: 32, ..unary(Dtype::INT16) };
    (body.src.steps, body.src.counts) = ([2, 1, 1, 1], [32, 2, 1, 1]);
    let work = vec![plain(Opcode::STREAM_TRANSPOSE, body)];
    let expression = "np.vstack([np.hstack([a_raw[:32, ::2].T, a_raw[:32, 1::2].T]), \
        np.zeros((96, 64))])";
    let input = [(Dtype::INT16, COUNT, Fill::Bits)];
    oracle.case(Near::Same, &input, (Dtype::INT16, COUNT), Engine::Dve, work, expression);
    oracle.check();
}

#[test]
fn turned_before_the_operation() {
    let Some(mut oracle) = oracle(102) else { return };
    let turned = TURNED.replace("a_raw", "a");
    let body = Unary {
        op: AluOp::MAX,
        dims: ReduceDims::X,
        dst_type: Dtype::FP32,
        dst: whole(1, 1),
        ..unary(Dtype::BFLOAT16)
    };
    let work = vec![plain(Opcode::TRANSPOSE_TENSOR_REDUCE, body)];
    let input = [normal(Dtype::BFLOAT16, COUNT)];
    let expression = format!("{turned}.max(1)");
    oracle.case(Near::Same, &input, (Dtype::FP32, 1), Engine::Dve, work, &expression);
    let body =
        Unary { op: AluOp::XOR, dims: ReduceDims::X, dst: whole(1, 1), ..unary(Dtype::UINT16) };
    let work = vec![plain(Opcode::TRANSPOSE_TENSOR_REDUCE_BITVEC, body)];
    let input = [(Dtype::UINT16, COUNT, Fill::Bits)];
    let expression = format!("np.bitwise_xor.reduce({TURNED}, 1)");
    oracle.case(Near::Same, &input, (Dtype::UINT16, 1), Engine::Dve, work, &expression);
    let body = TensorScalar {
        src: whole(0, COUNT),
        src_type: Dtype::BFLOAT16,
        dst_type: Dtype::FP32,
        channels: 128,
        op0: AluOp::MULTIPLY,
        op1: AluOp::ADD,
        imm0: 0.3f32.to_bits(),
        imm1: 1.5f32.to_bits(),
        dst: whole(1, COUNT),
        ..TensorScalar::default()
    };
    let work = vec![plain(Opcode::TRANSPOSE_TENSOR_SCALAR, body)];
    let input = [normal(Dtype::BFLOAT16, COUNT)];
    let expression = format!("{turned} * f(0.3) + f(1.5)");
    oracle.case(Near::Same, &input, (Dtype::FP32, COUNT), Engine::Dve, work, &expression);
    oracle.check();
}

/// Each quadrant by one map; 32 and 255 keep what is there.
#[test]
fn stream_shuffle() {
    let Some(mut oracle) = oracle(103) else { return };
    let mut map = [0; 32];
    for (lane, from) in map.iter_mut().enumerate() {
        *from = u8::try_from(lane * 7 % 32).unwrap();
    }
    (map[3], map[30]) = (32, 255);
    let list: Vec<String> = map.iter().map(u8::to_string).collect();
    let expression = format!(
        "np.concatenate([np.stack([b_raw[q * 32 + i] if m > 31 else a_raw[q * 32 + m] \
         for i, m in enumerate([{}])]) for q in range(4)])",
        list.join(",")
    );
    let keep = Unary { src: whole(1, COUNT), dst: whole(2, COUNT), ..unary(Dtype::FP32) };
    let shuffle = Unary { dst: whole(2, COUNT), ..unary(Dtype::FP32) };
    let work = vec![
        plain(Opcode::COPY, keep),
        plain(Opcode::LOAD_MASK_SELECT, MaskLoad { map: LaneMap(map) }),
        plain(Opcode::STREAM_SHUFFLE, shuffle),
    ];
    let inputs = [(Dtype::FP32, COUNT, Fill::Bits), (Dtype::FP32, COUNT, Fill::Bits)];
    oracle.case(Near::Same, &inputs, (Dtype::FP32, COUNT), Engine::Dve, work, &expression);
    oracle.check();
}

#[test]
fn whole_quadrants_and_tiles_only() {
    let stop = |opcode, body| {
        let input = [normal(Dtype::FP32, COUNT)];
        stops("cayman", &input, (Dtype::FP32, COUNT), Engine::Dve, vec![plain(opcode, body)])
    };
    let fault = stop(Opcode::STREAM_TRANSPOSE, Unary { channels: 48, ..unary(Dtype::FP32) });
    assert!(fault.to_string().contains("48 partitions"), "{fault}");
    let mut body = unary(Dtype::FP32);
    (body.src, body.dst) = (whole(0, 40), whole(1, 40));
    let fault = stop(Opcode::STREAM_TRANSPOSE, body);
    assert!(fault.to_string().contains("40 elements"), "{fault}");
    let fault = stop(Opcode::STREAM_SHUFFLE, unary(Dtype::FP32));
    assert!(fault.to_string().contains("before its map"), "{fault}");
}
