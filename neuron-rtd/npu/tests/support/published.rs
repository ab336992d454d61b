//! Every timing number of neuroncore.md §5.5 and §5.6 that a program can show,
//! beside what the clock gives for it.

use neuron_core::instance::Arch;
use neuron_core::isa::address::{Addr8, Location};
use neuron_core::isa::body::dma::DmaDirect;
use neuron_core::isa::body::pseudo::DmaTrigger;
use neuron_core::isa::body::select::RangeSelect;
use neuron_core::isa::body::tensor::{
    AffineSelect, Iota, MatchReplace, Ramp, ScalarTensorTensor, Statistics, TensorScalar, Unary,
};
use neuron_core::isa::code::{AluOp, Dtype, DtypePair, Fp32Mode};
use neuron_core::isa::value::Name;
use neuron_core::isa::{Engine, Instruction, Opcode};
use npu::Program;
use npu::time::{Packet, Parameters};

use crate::support::lab::{
    At, Seen, V2, V3, V4, activate, fill, interval, length, load, matmul, on, products, program,
    read_accumulator, rows_of, run, scalar, two, unary,
};
use crate::support::neff::{Small, changed, plain, wait, whole};

/// A published number and ours.
pub(crate) struct Row {
    pub(crate) what: String,
    /// Where it is published.
    pub(crate) source: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) published: f64,
    pub(crate) simulated: f64,
    /// Largest difference, as a part.
    pub(crate) tolerance: f64,
}

const TRN1: &str = "trainium_inferentia2_arch";
const TRN2: &str = "trainium2_arch";
const TRN3: &str = "trainium3_arch";
const ISA: &str = "nki.isa docstrings";
const SHARED: &str = "nki.api.shared";
const OVERVIEW: &str = "nki-dma-overview";
const BANDWIDTH: &str = "nki-dma-bandwidth-guide";

/// Rounding to a picosecond.
const EXACT: f64 = 2e-4;

fn row(
    what: impl Into<String>,
    source: &'static str,
    unit: &'static str,
    published: f64,
    simulated: f64,
) -> Row {
    Row { what: what.into(), source, unit, published, simulated, tolerance: EXACT }
}

/// Picoseconds in cycles of a clock.
fn cycles(ps: f64, ghz: f64) -> f64 {
    ps * ghz / 1000.0
}

const PE: (Engine, f64) = (Engine::Pe, 2.8);
const ACT: (Engine, f64) = (Engine::Act, 1.4);
const DVE: (Engine, f64) = (Engine::Dve, 1.12);
const POOL: (Engine, f64) = (Engine::Pool, 1.4);

/// Cycles of v2 between the begins of like instructions that do not depend on
/// each other.
fn back_to_back((engine, ghz): (Engine, f64), one: Instruction) -> f64 {
    cycles(interval(&on(V2, engine, vec![one; 6])), ghz)
}

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = clocks();
    rows.extend(array());
    rows.extend(engines());
    rows.extend(newer());
    rows.extend(widths());
    rows.extend(dma());
    rows
}

fn clocks() -> Vec<Row> {
    let published = [
        (Arch::V2, "v2", TRN1, [2.8, 1.4, 1.4, 1.12]),
        (Arch::V3, "v3", TRN2, [2.4, 1.2, 1.2, 0.96]),
        (Arch::V4, "v4", TRN3, [2.4, 1.2, 1.2, 1.2]),
    ];
    let mut rows = Vec::new();
    for (arch, name, source, clocks) in published {
        let parameters = Parameters::of(arch);
        for (engine, ghz) in Engine::ALL.into_iter().zip(clocks) {
            let simulated = 1e9 / parameters.cycles(engine, 1_000_000) as f64;
            rows.push(row(
                format!("clock of {}, {name}", engine.key().to_uppercase()),
                source,
                "GHz",
                ghz,
                simulated,
            ));
        }
    }
    rows
}

fn array() -> Vec<Row> {
    let (bf16, fp32) = (Dtype::BFLOAT16, Dtype::FP32);
    let none = Fp32Mode::NONE;
    let mut rows = Vec::new();
    for n in [512u16, 128, 64, 32, 1] {
        let what = format!("MATMUL 128x128x{n} bf16, interval max(N, 64), v2");
        let simulated = back_to_back(PE, matmul(bf16, none, n));
        rows.push(row(what, TRN1, "cycles", f64::from(n.max(64)), simulated));
    }
    let stream = interval(&on(V2, Engine::Pe, vec![matmul(bf16, none, 512); 6]));
    rows.push(row("the same, 128x128x512", TRN1, "ns", 512.0 / 2.8, stream / 1000.0));
    let flops = 2.0 * 128.0 * 128.0 * 512.0 / stream;
    let mut most = row("most bf16 FLOPs, v2", TRN1, "TFLOP/s", 92.0, flops);
    most.tolerance = 5e-3;
    rows.push(most);
    let one = on(V2, Engine::Pe, vec![matmul(bf16, none, 512)]);
    let latency = cycles(length(&one), 2.8) - 512.0;
    rows.push(row("MATMUL, from its stream to its end, v2", TRN1, "cycles", 64.0, latency));
    // LOW and HIGH, each with both parts of the moving data
    let both = [
        load(fp32, Fp32Mode::LOW, 128),
        matmul(fp32, Fp32Mode::LOW_HIGH, 512),
        load(fp32, Fp32Mode::HIGH, 128),
        matmul(fp32, Fp32Mode::LOW_HIGH, 512),
    ];
    let pairs = on(V2, Engine::Pe, both.iter().cycle().take(16).copied().collect());
    let period = (pairs[13].start - pairs[9].start) as f64;
    rows.push(row("fp32 takes 4 times as long as bf16, v2", TRN1, "times", 4.0, period / stream));
    let flops = 2.0 * 128.0 * 128.0 * 512.0 / period;
    let mut most = row("most fp32 FLOPs, v2", TRN1, "TFLOP/s", 23.0, flops);
    most.tolerance = 5e-3;
    rows.push(most);
    let time = |columns| length(&on(V2, Engine::Pe, vec![load(bf16, none, columns)]));
    let simulated = cycles(time(128) - time(64), 2.8) * 2.0;
    rows.push(row("LDWEIGHTS of 128 columns, M / 4, v2", TRN1, "cycles", 32.0, simulated));
    let hidden = on(V2, Engine::Pe, products(6, 512));
    let period = cycles((hidden[9].start - hidden[7].start) as f64, 2.8);
    rows.push(row("LDWEIGHTS behind a MATMUL of 512, v2", TRN1, "cycles", 512.0, period));
    // warm: the burst has lasted for more than two windows
    let warm = on(V3, Engine::Pe, vec![matmul(bf16, none, 512); 60]);
    let what = "MATMUL 128x128x512 bf16, v3";
    rows.push(row(what, TRN2, "ns", 512.0 / 2.4, interval(&warm) / 1000.0));
    let flops = 2.0 * 128.0 * 128.0 * 512.0 / interval(&warm);
    let mut most = row("most bf16 FLOPs, v3", TRN2, "TFLOP/s", 79.0, flops);
    most.tolerance = 5e-3;
    rows.push(most);
    let start = &warm[..4];
    let what = "the same in the first 3 us of a burst: half the rate";
    rows.push(row(what, "glossary", "ns", 1024.0 / 2.4, interval(start) / 1000.0));
    let begin = warm[0].start;
    let fast = warm.windows(2).find(|pair| pair[1].start - pair[0].start < 300_000).unwrap();
    let mut ramp = row("length of that ramp, v3", "glossary", "us", 3.0, 0.0);
    ramp.simulated = (fast[0].start - begin) as f64 / 1e6;
    // windows do not begin with a burst
    ramp.tolerance = 1.2;
    rows.push(ramp);
    rows
}

fn engines() -> Vec<Row> {
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
    add("STREAM_SHUFFLE", ISA, long, back_to_back(DVE, one(Opcode::STREAM_SHUFFLE, fp32)));
    add("TENSOR_SCALAR fp32", ISA, long, back_to_back(DVE, scalar(Opcode::TENSOR_SCALAR, fp32, n)));
    add("TENSOR_REDUCE fp32", ISA, long, back_to_back(DVE, one(Opcode::TENSOR_REDUCE, fp32)));
    add(
        "TENSOR_REDUCE bf16 add",
        ISA,
        long / 2.0,
        back_to_back(DVE, one(Opcode::TENSOR_REDUCE, bf16)),
    );
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
            dst_type: fp32,
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

/// Elements a cycle that pass an engine of each generation: fp32, fp16 and fp8,
/// from SBUF to SBUF.
fn widths() -> Vec<Row> {
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
fn newer() -> Vec<Row> {
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
    let exponential = |n| scalar(Opcode::EXPONENTIAL, fp32, n);
    rows.push(row("EXPONENTIAL, v4", TRN3, "times", 4.0, times(stream(V4, 1.2, &exponential))));
    let select = |n| {
        let types = DtypePair::new(fp32, fp32).unwrap();
        let (src, dst) = (whole(0, n), whole(2, n));
        let body = RangeSelect { channels: 128, types, src, dst, ..RangeSelect::default() };
        plain(Opcode::RANGE_SELECT, body)
    };
    rows.push(row("RANGE_SELECT: N, v3", ISA, "times", 1.0, times(stream(V3, 0.96, &select))));
    rows
}

/// Loads rows by a block of a ring.
fn ring(target: &str, rows: u16, bytes: u16) -> Seen {
    block(target, rows, bytes, "a", 0, "")
}

/// The same from the input or within SBUF, with further keys of the transfer.
fn block(target: &str, rows: u16, bytes: u16, from: &str, to: u32, keys: &str) -> Seen {
    let mut small = Small { inputs: vec![bytes], output: 64, streams: Default::default() };
    let body = DmaTrigger { queue: Name::new("q").unwrap(), ..DmaTrigger::default() };
    small.on(Engine::Sp).push(plain(Opcode::PSEUDO_DMA_TRIGGER, body));
    small.on(Engine::Sp).push(wait(8, 16));
    let file = changed(&small.build(), "kelf-0.json", |kelf| {
        *kelf = String::from_utf8(kelf.clone()).unwrap().replace(V3, target).into_bytes();
    });
    let step = if from == "SB" { 262_144 } else { u32::from(bytes) };
    let block = format!(
        r#"{{"dma": [{{"id": 0, "queue": "q", "semaphore": 8, "desc": [{{"from": "{from}",
        "to": "SB", "from_off": 0, "to_off": {to}, "from_sizes": [{bytes}, {rows}],
        "from_steps": [1, {step}], "to_sizes": [{bytes}, {rows}], "to_steps": [1, 262144]
        {keys}}}]}}], "instr": "sp.bin",
        "name": "sp"}}"#
    );
    let file = changed(&file, "sg00/sp.json", |json| *json = block.into_bytes());
    run(&Program::from_neff(&file).unwrap()).1
}

fn dynamic(target: &str, engine: Engine, record: Instruction) -> Seen {
    let mut small = Small { inputs: vec![8192], output: 64, streams: Default::default() };
    small.on(engine).push(record);
    small.on(engine).push(wait(8, 16));
    run(&program(target, &small)).1
}

/// From the first packet of data to the end of the last.
fn moved(packets: &[Packet]) -> f64 {
    let data = || packets.iter().filter(|packet| packet.bytes > 4);
    let start = data().map(|packet| packet.start).min().unwrap();
    (data().map(|packet| packet.end).max().unwrap() - start) as f64
}

fn dma() -> Vec<Row> {
    let mut rows = Vec::new();
    let hardware = dynamic(V3, Engine::Sp, rows_of(128, 512));
    let record = hardware.of(Engine::Sp)[0];
    let record_length = (record.end - record.start) as f64 / 1000.0;
    rows.push(row("record of a hardware generator, v3", TRN2, "ns", 600.0, record_length));
    let first = hardware.packets[0].start - record.start;
    rows.push(row(
        "from it to the first packet, v3",
        BANDWIDTH,
        "ns",
        1300.0,
        first as f64 / 1000.0,
    ));
    let static_ring = ring(V2, 128, 2048);
    let doorbell = static_ring.of(Engine::Sp)[0].end;
    let first = static_ring.packets[0].start - doorbell;
    rows.push(row(
        "from a doorbell to the first packet, v2",
        BANDWIDTH,
        "ns",
        1300.0,
        first as f64 / 1000.0,
    ));
    let four = dynamic(V3, Engine::Pool, rows_of(4, 8192));
    let mut transfer =
        row("32 KiB in 4 rows, v3", OVERVIEW, "ns", 1416.0, moved(&four.packets) / 1000.0);
    transfer.tolerance = 1e-3;
    rows.push(transfer);
    let engines = |seen: &Seen, data: bool| {
        let mut engines: Vec<_> = seen
            .packets
            .iter()
            .filter(|packet| (packet.bytes > 4) == data)
            .map(|packet| packet.engine)
            .collect();
        engines.sort_unstable();
        engines.dedup();
        engines.len() as f64
    };
    rows.push(row("engines that move 4 rows", OVERVIEW, "engines", 1.0, engines(&four, true)));
    rows.push(row(
        "engines that add 1 to the semaphore",
        OVERVIEW,
        "engines",
        16.0,
        engines(&four, false),
    ));
    rows.push(row(
        "engines that move 128 rows",
        OVERVIEW,
        "engines",
        16.0,
        engines(&hardware, true),
    ));
    let load = moved(&static_ring.packets) / 1000.0;
    let mut sum = row("128x512 fp32 by 16 engines: 16 KiB / 17, v2", BANDWIDTH, "ns", 964.0, load);
    sum.tolerance = 5e-3;
    rows.push(sum);
    for (target, name, rate) in [(V2, "v2", 17.0), (V3, "v3", 23.0), (V4, "v4", 33.0)] {
        let seen = ring(target, 128, 2048);
        let bytes = 128.0 * 2048.0 / 16.0;
        let simulated = bytes / (moved(&seen.packets) / 1000.0);
        let what = format!("rate of an engine, 2 KiB rows, {name}");
        let mut rate = row(what, BANDWIDTH, "B/ns", rate, simulated);
        rate.tolerance = 1e-2;
        rows.push(rate);
    }
    // tiles of fp16, of which a packet takes a row as a generator's does
    let turned = r#", "from_dtype": "float16", "to_dtype": "float16", "transpose_op": "WZXY",
        "transpose_shape": [1, 1, 128, 1024], "transpose_element_size": 2"#;
    let plain_copy = |src: u32, src_step: i32| {
        let body = DmaDirect {
            semaphore: 8,
            increment: 16,
            src: Addr8::of(Location::Variable { id: src, offset: 0 }).unwrap(),
            src_steps: [src_step, 0],
            src_counts: [128, 1],
            src_elem_size: 2048,
            dst: Addr8::of(Location::Variable { id: 0, offset: 0x8000 }).unwrap(),
            dst_steps: [0x4_0000, 0],
            dst_counts: [128, 1],
            dst_elem_size: 2048,
            ..DmaDirect::default()
        };
        moved(&dynamic(V3, Engine::Sp, plain(Opcode::PSEUDO_DMA_DIRECT2D, body)).packets)
    };
    for (what, from, src, step, share) in [
        ("DMA transpose from HBM, of a copy, v3", "a", 1, 2048, 0.9),
        ("DMA transpose within SBUF, of a copy, v3", "SB", 0, 0x4_0000, 0.5),
    ] {
        let turn = moved(&block(V3, 128, 2048, from, 0x8000, turned).packets);
        let mut rate = row(what, TRN2, "times", share, plain_copy(src, step) / turn);
        rate.tolerance = 1e-2;
        rows.push(rate);
    }
    let most = 1e15 / Parameters::of(Arch::V2).dma.fs_per_byte as f64 / f64::from(1 << 30);
    let mut other = row("the same by the architecture guide, v2", TRN1, "GiB/s", 27.0, most);
    // the guide's unit and the overview's do not agree
    other.tolerance = 7e-2;
    for (arch, name, rate) in
        [(Arch::V2, "v2", 27.2), (Arch::V3, "v3", 27.2), (Arch::V4, "v4", 38.4)]
    {
        let simulated = 1e6 / Parameters::of(arch).dma.fs_per_byte as f64;
        rows.push(row(format!("most of an engine, {name}"), OVERVIEW, "B/ns", rate, simulated));
    }
    rows.push(other);
    for (arch, name, source, rate) in
        [(Arch::V2, "v2", TRN1, 0.82), (Arch::V3, "v3", TRN2, 2.9), (Arch::V4, "v4", TRN3, 4.9)]
    {
        let simulated = 1e3 / Parameters::of(arch).dma.hbm_fs_per_byte as f64;
        let mut rate = row(format!("HBM of a chip, {name}"), source, "TB/s", rate, simulated);
        rate.tolerance = 2e-3;
        rows.push(rate);
    }
    for (arch, name, source, rate) in [(Arch::V3, "v3", TRN2, 1.28), (Arch::V4, "v4", TRN3, 2.56)] {
        let simulated = 1e3 / Parameters::of(arch).collective.fs_per_byte as f64;
        let mut rate = row(format!("link of a chip, {name}"), source, "TB/s", rate, simulated);
        rate.tolerance = 2e-3;
        rows.push(rate);
    }
    rows
}

/// The page of the docs.
pub(crate) fn page(rows: &[Row]) -> String {
    use std::fmt::Write as _;
    let mut page = String::from("| what | source | published | simulated |\n|---|---|---|---|\n");
    for Row { what, source, unit, published, simulated, .. } in rows {
        let digits = if *published < 10.0 { 2 } else { 1 };
        let numbers = format!("{published:.digits$} {unit} | {simulated:.digits$} {unit}");
        writeln!(page, "| {what} | {source} | {numbers} |").unwrap();
    }
    page
}
