//! Numbers of v3 and v4 beside those of v2.

use neuron_core::isa::body::select::RangeSelect;
use neuron_core::isa::body::tensor::TensorScalar;
use neuron_core::isa::code::{AluOp, Dtype, DtypePair};
use neuron_core::isa::value::Fp32;
use neuron_core::isa::{Engine, Instruction, Opcode};

use super::{ISA, Row, TRN1, TRN2, TRN3, cycles, row};
use crate::support::lab::{At, V2, V3, V4, interval, on, two, unary};
use crate::support::neff::{plain, whole};

/// Elements a cycle that pass an engine of each generation: fp32, fp16 and fp8,
/// from SBUF to SBUF.
pub(super) fn widths() -> Vec<Row> {
    let (fp32, fp16, fp8) = (Dtype::FP32, Dtype::FP16, Dtype::FP8_E4M3);
    let published = [
        ("v2", V2, TRN1, Engine::Dve, 1.12, vec![(fp32, 128.0), (fp16, 128.0)]),
        ("v3", V3, TRN2, Engine::Dve, 0.96, vec![(fp32, 256.0), (fp16, 512.0)]),
        ("v4", V4, TRN3, Engine::Dve, 1.2, vec![(fp32, 256.0), (fp16, 512.0), (fp8, 512.0)]),
        ("v2", V2, TRN1, Engine::Act, 1.4, vec![(fp32, 128.0), (fp16, 128.0)]),
        ("v3", V3, TRN2, Engine::Act, 1.2, vec![(fp32, 128.0), (fp16, 128.0)]),
        ("v4", V4, TRN3, Engine::Act, 1.2, vec![(fp32, 128.0), (fp16, 256.0), (fp8, 256.0)]),
        ("v4", V4, TRN3, Engine::Pool, 1.2, vec![(fp32, 128.0), (fp16, 128.0)]),
    ];
    let mut rows = Vec::new();
    for (name, target, source, engine, ghz, widths) in published {
        for (dtype, width) in widths {
            let time = |n| {
                let copy = unary(Opcode::COPY, dtype, At::Sbuf(0), At::Sbuf(2), n);
                interval(&on(target, engine, vec![copy; 4]))
            };
            let simulated = 128.0 * 1024.0 / cycles(time(2048) - time(1024), ghz);
            let engine = engine.key().to_uppercase();
            let what = format!("width of {engine} for {dtype}, {name}");
            rows.push(row(what, source, "elements/cycle", width, simulated));
        }
    }
    rows
}

/// Rates of v3 and v4 beside those of v2.
pub(super) fn newer() -> Vec<Row> {
    let (bf16, fp32) = (Dtype::BFLOAT16, Dtype::FP32);
    let (sbuf, out, bank) = (At::Sbuf(0), At::Sbuf(2), At::Psum(0));
    // cycles that 2048 elements take more than 1024
    let stream = |target, ghz, one: &dyn Fn(u16) -> Instruction| {
        let time = |n| interval(&on(target, Engine::Dve, vec![one(n); 4]));
        cycles(time(2048) - time(1024), ghz)
    };
    let copy = |dtype, src| move |n| unary(Opcode::COPY, dtype, src, out, n);
    let times = |cycles: f64| 1024.0 / cycles;
    let mut rows = vec![
        row(
            "copies of 16 bits in SBUF, v3",
            TRN2,
            "times",
            4.0,
            times(stream(V3, 0.96, &copy(bf16, sbuf))),
        ),
        row(
            "copies of 16 bits from PSUM, v3",
            TRN2,
            "times",
            2.0,
            times(stream(V3, 0.96, &copy(bf16, bank))),
        ),
    ];
    let sums = |n| two(Opcode::TENSOR_TENSOR, bf16, AluOp::ADD, sbuf, n);
    rows.push(row(
        "TENSOR_TENSOR of 16 bits in SBUF, v3",
        TRN2,
        "times",
        2.0,
        times(stream(V3, 0.96, &sums)),
    ));
    let exponential = |n| {
        let (src, dst, channels) = (whole(0, n), whole(2, n), 128);
        let body = TensorScalar {
            src,
            src_type: fp32,
            dst_type: fp32,
            channels,
            dst,
            ..TensorScalar::default()
        };
        plain(Opcode::EXPONENTIAL, body)
    };
    rows.push(row("EXPONENTIAL, v4", TRN3, "times", 4.0, times(stream(V4, 1.2, &exponential))));
    let select = |n| {
        let types = DtypePair::new(fp32, fp32).unwrap();
        let (src, dst) = (whole(0, n), whole(2, n));
        let (op, fill) = (AluOp::IS_GE, Fp32::new(f32::MIN));
        let rest =
            RangeSelect { op0: op, op1: op, reduce_op: AluOp::MAX, ..RangeSelect::default() };
        let body = RangeSelect { channels: 128, types, src, dst, fill, ..rest };
        plain(Opcode::RANGE_SELECT, body)
    };
    rows.push(row("RANGE_SELECT: N, v3", ISA, "times", 1.0, times(stream(V3, 0.96, &select))));
    rows
}
