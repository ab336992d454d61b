//! Numbers of ACT, DVE and POOL of v2.

use neuron_core::isa::activation::Activation;
use neuron_core::isa::body::Body;
use neuron_core::isa::body::select::MaskLoad;
use neuron_core::isa::body::tensor::{
    AffineSelect, Iota, MatchReplace, Ramp, ScalarTensorTensor, Statistics, TensorScalar, Unary,
};
use neuron_core::isa::code::{AluOp, Dtype, DtypePair};
use neuron_core::isa::{Engine, Opcode};

use super::{ACT, DVE, ISA, POOL, Row, SHARED, TRN1, back_to_back, cycles, row};
use crate::support::lab::{
    At, V2, activate, fill, interval, length, on, read_accumulator, scalar, two, unary,
};
use crate::support::neff::{plain, whole};

pub(super) fn engines() -> Vec<Row> {
    let (bf16, fp32) = (Dtype::BFLOAT16, Dtype::FP32);
    let (sbuf, out, bank) = (At::Sbuf(0), At::Sbuf(2), At::Psum(0));
    let mut rows = Vec::new();
    let mut add = |what: &str, source, published: f64, simulated| {
        rows.push(row(format!("{what}, v2"), source, "cycles", published, simulated));
    };
    let n = 512u16;
    let long = f64::from(n);
    add("ACTIVATE 128x512", ISA, long, back_to_back(ACT, activate(sbuf, out, n)));
    add("ACTIVATE of 16: MIN_II", SHARED, 64.0, back_to_back(ACT, activate(sbuf, out, 16)));
    add("ReadAccumulator", TRN1, 64.0, back_to_back(ACT, read_accumulator()));
    let chain = (0..6).map(|i| activate(At::Sbuf(i % 2), At::Sbuf((i + 1) % 2), 1)).collect();
    let chain = interval(&on(V2, Engine::Act, chain));
    add("ACTIVATE of 1 on the one before it", "nki_perf_guide", 264.0, cycles(chain, 1.4));
    let sums: Vec<_> = (0..6)
        .map(|i| if i % 2 == 0 { activate(sbuf, out, n) } else { read_accumulator() })
        .collect();
    let sums = on(V2, Engine::Act, sums);
    let sums = cycles((sums[4].start - sums[2].start) as f64, 1.4);
    add("ACTIVATE with its sum read: N + 64", ISA, long + 64.0, sums);
    let dependent: Vec<_> = [activate(sbuf, At::Sbuf(1), n), activate(At::Sbuf(1), out, n)].into();
    let dependent = on(V2, Engine::Act, dependent);
    let wait = (dependent[1].start - dependent[0].end) as f64;
    add("a dependent instruction waits", TRN1, 100.0, cycles(wait, 1.4));

    let tensors = |dtype, op, src| two(Opcode::TENSOR_TENSOR, dtype, op, src, n);
    let (plus, max) = (AluOp::ADD, AluOp::MAX);
    add(
        "TENSOR_TENSOR fp32, SBUF and SBUF",
        ISA,
        2.0 * long,
        back_to_back(DVE, tensors(fp32, plus, sbuf)),
    );
    add(
        "TENSOR_TENSOR fp32, PSUM and SBUF",
        ISA,
        long,
        back_to_back(DVE, tensors(fp32, plus, bank)),
    );
    add("TENSOR_TENSOR bf16 add, SBUF", ISA, long, back_to_back(DVE, tensors(bf16, plus, sbuf)));
    add(
        "TENSOR_TENSOR bf16 max, SBUF",
        ISA,
        2.0 * long,
        back_to_back(DVE, tensors(bf16, max, sbuf)),
    );
    let one = |opcode, dtype| unary(opcode, dtype, sbuf, out, n);
    add("COPY fp32", ISA, long, back_to_back(DVE, one(Opcode::COPY, fp32)));
    let mut wide = Unary {
        src: whole(0, n),
        src_type: fp32,
        dst_type: fp32,
        channels: 128,
        dst: whole(2, n),
        ..Unary::default()
    };
    wide.src.steps[0] = 4;
    let wide = plain(Opcode::COPY, wide);
    add("COPY fp32 in steps of 16 bytes", TRN1, 2.0 * long, back_to_back(DVE, wide));
    add("STREAM_TRANSPOSE", ISA, long, back_to_back(DVE, one(Opcode::STREAM_TRANSPOSE, fp32)));
    let mut shuffles = vec![one(Opcode::STREAM_SHUFFLE, fp32); 6];
    shuffles.insert(0, plain(Opcode::LOAD_MASK_SELECT, MaskLoad::default()));
    add("STREAM_SHUFFLE", ISA, long, cycles(interval(&on(V2, DVE.0, shuffles)), DVE.1));
    add("TENSOR_SCALAR fp32", ISA, long, back_to_back(DVE, scalar(Opcode::TENSOR_SCALAR, fp32, n)));
    add("TENSOR_REDUCE fp32", ISA, long, back_to_back(DVE, one(Opcode::TENSOR_REDUCE, fp32)));
    add(
        "TENSOR_REDUCE bf16 add",
        ISA,
        long / 2.0,
        back_to_back(DVE, one(Opcode::TENSOR_REDUCE, bf16)),
    );
    let mut root = activate(sbuf, out, n);
    if let Body::Activate(body) = &mut root.body {
        body.function = Activation::from_name("RECIPROCAL").unwrap();
    }
    add("reciprocal by a function of ACT: N", SHARED, long, back_to_back(ACT, root));
    add("RECIPROCAL: 8 N", SHARED, 8.0 * long, back_to_back(DVE, one(Opcode::RECIPROCAL, fp32)));
    add("MEMSET of zero, bf16", ISA, long / 2.0, back_to_back(DVE, fill(bf16, n)));
    add("MEMSET fp32", ISA, long, back_to_back(DVE, fill(fp32, n)));
    let predicated = |src| two(Opcode::COPY_PREDICATED, fp32, AluOp::BYPASS, src, n);
    add("COPY_PREDICATED, SBUF", ISA, 2.0 * long, back_to_back(DVE, predicated(sbuf)));
    add("COPY_PREDICATED, one in PSUM", ISA, long, back_to_back(DVE, predicated(bank)));
    let scan = ScalarTensorTensor {
        src0: whole(0, n),
        src1: whole(1, n),
        src_types: DtypePair::new(fp32, fp32).unwrap(),
        imm0_type: fp32,
        dst_type: fp32,
        channels: 128,
        dst: whole(2, n),
        ..ScalarTensorTensor::default()
    };
    let scans = |opcode| plain(opcode, scan);
    add(
        "TENSOR_TENSOR_SCAN",
        ISA,
        2.0 * long,
        back_to_back(DVE, scans(Opcode::TENSOR_TENSOR_SCAN)),
    );
    let both = back_to_back(DVE, scans(Opcode::SCALAR_TENSOR_TENSOR));
    add("SCALAR_TENSOR_TENSOR fp32", ISA, 2.0 * long, both);
    let fast = ScalarTensorTensor {
        src_types: DtypePair::new(bf16, bf16).unwrap(),
        dst_type: bf16,
        op0: AluOp::SUBTRACT,
        op1: AluOp::MULTIPLY,
        ..scan
    };
    let fast = back_to_back(DVE, plain(Opcode::SCALAR_TENSOR_TENSOR, fast));
    add("SCALAR_TENSOR_TENSOR bf16, subtract and multiply", ISA, long, fast);
    let statistics = |opcode, n, results| {
        let body = Statistics {
            src: whole(0, n),
            src_type: fp32,
            dst_type: if opcode == Opcode::FIND_INDEX8 { Dtype::UINT32 } else { fp32 },
            channels: 128,
            dst: whole(2, results),
            ..Statistics::default()
        };
        back_to_back(DVE, plain(opcode, body))
    };
    add("BN_STATS", ISA, long, statistics(Opcode::BATCH_NORM_STATS2, n, 6));
    let merged = statistics(Opcode::BATCH_NORM_AGGREGATE, 48, 2);
    add("BN_AGGR of 16 triples: 13 N / 3", ISA, 13.0 * 16.0, merged);
    add("MAX8", ISA, long, statistics(Opcode::MAX8, n, 8));
    add("FIND_INDEX8", ISA, long, statistics(Opcode::FIND_INDEX8, n, 8));
    let replace = MatchReplace {
        src: whole(0, n),
        src_type: fp32,
        dst_type: fp32,
        channels: 128,
        dst: whole(2, n),
        ..MatchReplace::default()
    };
    add("MATCH_REPLACE8", ISA, long, back_to_back(DVE, plain(Opcode::MATCH_REPLACE8, replace)));
    let iota = Iota {
        ramp: Ramp { base: 0, steps: [1; 4], counts: [n, 1, 1, 1] },
        dst_type: fp32,
        channels: 128,
        channel_multiplier: 0,
        dst: whole(2, n),
    };
    let iota = on(V2, POOL.0, vec![plain(Opcode::IOTA, iota)]);
    add("IOTA: 150 + N", ISA, 150.0 + long, cycles(length(&iota), POOL.1));
    let select = AffineSelect {
        channels: 128,
        types: DtypePair::new(fp32, fp32).unwrap(),
        ramp: Ramp { base: 0, steps: [1; 4], counts: [n, 1, 1, 1] },
        src: whole(0, n),
        dst: whole(2, n),
        ..AffineSelect::default()
    };
    let select = on(V2, POOL.0, vec![plain(Opcode::TENSOR_SCALAR_AFFINE_SELECT, select)]);
    add("AFFINE_SELECT: 150 + N", ISA, 150.0 + long, cycles(length(&select), POOL.1));
    let root = |n| {
        let (src, dst) = (whole(0, n), whole(1, n));
        let (src_type, dst_type, op0) = (fp32, fp32, AluOp::RSQRT);
        let rest = TensorScalar::default();
        let body = TensorScalar { src, src_type, dst_type, op0, channels: 128, dst, ..rest };
        length(&on(V2, POOL.0, vec![plain(Opcode::TENSOR_SCALAR, body)]))
    };
    let function = |n| length(&on(V2, ACT.0, vec![activate(sbuf, out, n)]));
    let times = (root(1024) - root(512)) / (function(1024) - function(512));
    rows.push(row("RSQRT on POOL, of a function of ACT, v2", SHARED, "times", 4.0, times));
    let mut perf = row("the dependent ACTIVATE of 1", "nki_perf_guide", "ns", 189.0, chain / 1e3);
    perf.tolerance = 3e-3;
    rows.push(perf);
    rows
}
