//! Runs without arithmetic refuse what whole runs refuse: records of real files
//! and of every opcode, with bytes changed, end both ways alike.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::body::control::Nop;
use neuron_core::isa::code::{AluOp, Dtype};
use neuron_core::isa::opcode_table::TABLE;
use neuron_core::isa::{Engine, Opcode};
use neuron_core::neff::Usage;
use npu::time::Timing;
use npu::{Limits, Program, Stop, Tensors};
use support::Random;
use support::lab::{
    At, V3, activate, fill, products, program, read_accumulator, rows_of, scalar, two, unary,
};
use support::neff::{Small, changed, plain};

/// Where a run ends: with its total and its counts, or with why it stopped.
fn end(program: &Program, inputs: &Tensors, arithmetic: bool) -> Result<String, Stop> {
    let limits = Limits { instructions: 20_000, packets: 100_000, ..Limits::default() };
    let timing = Timing { arithmetic, limits, ..Timing::of(program) };
    let summary = program.run_timed(inputs, &timing, &mut ())?.summary;
    let cores = summary.cores.iter();
    let counts = cores.map(|core| (core.busy, core.instructions, core.hbm_read, core.hbm_written));
    Ok(format!("{} {:?}", summary.total, counts.collect::<Vec<_>>()))
}

/// Faults that numbers decide, which a run without arithmetic cannot find.
fn is_of_numbers(stop: &Stop) -> bool {
    stop.to_string().contains("divides by zero")
}

/// Runs both ways; tells whether the file was refused.
fn both_ways(file: &[u8], what: &str) -> bool {
    let Ok(program) = Program::from_neff(file) else { return false };
    let inputs = program.tensors().iter().filter(|tensor| tensor.usage == Usage::Input);
    let inputs: Tensors =
        inputs.map(|tensor| (tensor.name.clone(), vec![0; tensor.bytes as usize])).collect();
    let whole = end(&program, &inputs, true);
    if whole.as_ref().is_err_and(is_of_numbers) {
        return true;
    }
    assert_eq!(end(&program, &inputs, false), whole, "{what}");
    whole.is_err()
}

/// A byte of a record, out of what changes its meaning most often.
fn byte(random: &mut Random, old: u8) -> u8 {
    match random.next() % 4 {
        0 => random.next() as u8,
        1 => old ^ (1 << (random.next() % 8)),
        2 => old.wrapping_add(1),
        _ => 0,
    }
}

#[test]
fn altered_records_of_real_files() {
    let mut random = Random(77);
    let engines = ["PE", "Activation", "Pool", "DVE", "SP"];
    for (name, count) in [
        ("attn-fused-bf16-512", 60),
        ("attn-base-bf16-512", 30),
        ("matmul-small", 60),
        ("moe-dge", 12),
        ("xla-cache-a", 30),
        ("attn-tkg", 6),
    ] {
        let file = neuron_tests::fixture(format!("profiles/{name}.neff"));
        let file = std::fs::read(file).unwrap();
        assert!(!both_ways(&file, name));
        let mut refused = 0;
        for round in 0..count {
            let engine = engines[round % engines.len()];
            let mut what = String::new();
            let bad = changed(&file, &format!("sg00/{engine}.bin"), |stream| {
                let records = stream.len() / 64;
                if records == 0 {
                    return;
                }
                let record = random.next() as usize % records;
                // waits and updates only deadlock
                let at = 64 * record + 12 + random.next() as usize % 52;
                let new = byte(&mut random, stream[at]);
                what = format!("{name} {engine} slot {record} byte {}: {new:#04x}", at % 64);
                stream[at] = new;
            });
            refused += usize::from(both_ways(&bad, &what));
        }
        println!("{name}: {refused} of {count} refused");
        assert!(refused * 4 > count, "{name}: {refused} of {count}");
    }
}

/// Records that can run, one byte changed at a time.
#[test]
fn altered_records_of_every_kind() {
    let mut random = Random(78);
    let (fp32, int32) = (Dtype::FP32, Dtype::INT32);
    let (sbuf, out) = (At::Sbuf(0), At::Sbuf(2));
    let (dve, pool) = (Engine::Dve, Engine::Pool);
    let mut work = vec![
        (Engine::Act, activate(sbuf, out, 64)),
        (Engine::Act, read_accumulator()),
        (dve, two(Opcode::TENSOR_TENSOR, fp32, AluOp::ADD, sbuf, 64)),
        (pool, two(Opcode::TENSOR_TENSOR, int32, AluOp::ADD, sbuf, 64)),
        (dve, two(Opcode::TENSOR_TENSOR_BITVEC, int32, AluOp::AND, sbuf, 64)),
        (dve, two(Opcode::COPY_PREDICATED, fp32, AluOp::BYPASS, sbuf, 64)),
        (dve, scalar(Opcode::TENSOR_SCALAR, fp32, 64)),
        (dve, scalar(Opcode::TRANSPOSE_TENSOR_SCALAR, fp32, 64)),
        (dve, fill(fp32, 64)),
        (Engine::Sp, rows_of(128, 64)),
    ];
    work.extend(products(1, 64).into_iter().map(|one| (Engine::Pe, one)));
    let opcodes = [
        Opcode::COPY,
        Opcode::CAST,
        Opcode::RECIPROCAL,
        Opcode::STREAM_TRANSPOSE,
        Opcode::TENSOR_REDUCE,
    ];
    work.extend(opcodes.map(|opcode| (dve, unary(opcode, fp32, sbuf, out, 64))));
    for (engine, one) in work {
        let name = one.header.opcode.to_string();
        let good = Small::around(&[64], 64, engine, vec![one, one]).build();
        assert!(!both_ways(&good, &name), "{name}");
        let mut refused = 0;
        for _ in 0..24 {
            let mut what = String::new();
            let bad = changed(&good, &format!("sg00/{}.bin", engine.key()), |stream| {
                let end = stream.len() - if engine == Engine::Sp { 256 } else { 128 };
                let at = end + 12 + random.next() as usize % 52;
                stream[at] = byte(&mut random, stream[at]);
                what = format!("{name} on {engine}: {:02x?}", &stream[end..end + 64]);
            });
            refused += usize::from(both_ways(&bad, &what));
        }
        println!("{name} on {engine}: {refused} of 24 refused");
        assert!((1..24).contains(&refused), "{name} on {engine}: {refused}");
    }
}

/// Bodies that hardly make sense, of every opcode.
#[test]
fn records_of_every_opcode() {
    let mut random = Random(79);
    let nop = plain(Opcode::NOP, Nop::default());
    let mut refused = 0;
    for row in TABLE {
        for engine in row.engines.iter() {
            let good = Small::around(&[64], 64, engine, vec![nop, nop]).build();
            for _ in 0..3 {
                let mut what = String::new();
                let bad = changed(&good, &format!("sg00/{}.bin", engine.key()), |stream| {
                    let end = stream.len() - if engine == Engine::Sp { 256 } else { 128 };
                    let record = &mut stream[end..end + 64];
                    record[0] = row.opcode.0;
                    for byte_of in &mut record[12..] {
                        *byte_of = [0, 0, 0, 0, 1, 10, 128, 4][random.next() as usize % 8];
                    }
                    what = format!("{} on {engine}: {record:02x?}", row.name);
                });
                refused += usize::from(both_ways(&bad, &what));
            }
        }
    }
    println!("{refused} refused");
    assert!(refused > 500, "{refused} refused");
}

/// One fault of each kind, in a run without arithmetic.
#[test]
fn each_kind_of_fault() {
    let copy = |engine, at| {
        let copy = unary(Opcode::COPY, Dtype::FP32, at, At::Sbuf(2), 64);
        (engine, vec![copy])
    };
    let mut wrong_dst = products(1, 64);
    if let neuron_core::isa::body::Body::MatMul(body) = &mut wrong_dst[1].body {
        body.dst.start = body.src.start;
    }
    let mut far = products(1, 64);
    if let neuron_core::isa::body::Body::MatMul(body) = &mut far[1].body {
        body.src.steps[0] = i16::MAX;
    }
    for ((engine, work), expected) in [
        (copy(Engine::Pool, At::Psum(0)), "POOL cannot reach PSUM"),
        ((Engine::Dve, products(1, 64)), "the engine does not have this opcode"),
        ((Engine::Pe, wrong_dst), "PE reads SBUF and writes PSUM"),
        ((Engine::Pe, far), "leaves a partition"),
    ] {
        let mut small = Small { inputs: vec![64], output: 64, streams: Default::default() };
        *small.on(engine) = work;
        let program = program(V3, &small);
        for arithmetic in [false, true] {
            let inputs: Tensors = [("a".to_owned(), vec![0; 128 * 64])].into();
            let stop = end(&program, &inputs, arithmetic).unwrap_err().to_string();
            assert!(stop.contains(expected), "{stop}");
        }
    }
}
