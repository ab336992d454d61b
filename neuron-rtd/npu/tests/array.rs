//! LDWEIGHTS and MATMUL against NumPy: products in groups of two, each type,
//! part of the array, and exact transposes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::address::{Addr4, PSUM_BASE, Pattern};
use neuron_core::isa::body::pe::{AccumulateFlags, ArrayGroup, LoadWeights, MatMul};
use neuron_core::isa::body::tensor::Unary;
use neuron_core::isa::code::{Dtype, Fp32Mode, TransposeMode};
use neuron_core::isa::{Engine, Instruction, Opcode};
use npu::number::Element;
use npu::{Program, Tensors};
use support::neff::{GAP, ROWS, Small, changed, plain, raising, wait, whole};
use support::{Random, fp32, fp64, numpy};

const COLUMNS: u16 = 96;
const MOVING: u16 = 200;

/// Weights of variable `index`: the walk starts at the last column.
fn load(index: u32, first_row: u8, rows: u8, dtype: Dtype, mode: Fp32Mode) -> LoadWeights {
    let size = u32::from(dtype.bytes().unwrap());
    let row = u32::from(first_row) << 18;
    let start = Addr4(row + index * GAP + (u32::from(COLUMNS) - 1) * size);
    LoadWeights {
        src: Pattern { start, steps: [-1, 0, 0], counts: [COLUMNS, 1, 1] },
        src_type: dtype,
        fp32_mode: mode,
        rows,
        columns: u8::try_from(COLUMNS).unwrap(),
        row_group: if rows == 128 { ArrayGroup(15) } else { ArrayGroup(1 << (first_row / 32)) },
        ..LoadWeights::default()
    }
}

fn multiply(
    index: u32,
    first_row: u8,
    rows: u8,
    dtype: Dtype,
    mode: Fp32Mode,
    flags: u8,
) -> MatMul {
    let mut src: Pattern<3> = whole(index, MOVING);
    src.start.0 += u32::from(first_row) << 18;
    MatMul {
        src,
        src_type: dtype,
        fp32_mode: mode,
        rows,
        columns: u8::try_from(COLUMNS).unwrap(),
        accumulate: AccumulateFlags(flags),
        row_group: if rows == 128 { ArrayGroup(15) } else { ArrayGroup(1 << (first_row / 32)) },
        dst: Pattern { start: Addr4(PSUM_BASE), steps: [1; 3], counts: [MOVING, 1, 1] },
        ..MatMul::default()
    }
}

/// PE works, then DVE copies PSUM to the variable that is stored.
fn program(
    target: &str,
    inputs: &[u16],
    pe: Vec<Instruction>,
    dtype: Dtype,
    channels: u8,
) -> Program {
    let copy = Unary {
        src: Pattern { start: Addr4(PSUM_BASE), steps: [1; 4], counts: [MOVING, 1, 1, 1] },
        src_type: dtype,
        dst_type: dtype,
        channels,
        dst: whole(u32::try_from(inputs.len()).unwrap(), MOVING),
        ..Unary::default()
    };
    let size = u16::from(dtype.bytes().unwrap());
    let work = vec![wait(5, 1), plain(Opcode::COPY, copy)];
    let mut small = Small::around(inputs, size * MOVING, Engine::Dve, work);
    small.on(Engine::Pe).push(wait(8, 16 * u32::try_from(inputs.len()).unwrap()));
    let last = pe.len() - 1;
    for (index, instruction) in pe.into_iter().enumerate() {
        let done = if index == last { raising(instruction, 5) } else { instruction };
        small.on(Engine::Pe).push(done);
    }
    let file = changed(&small.build(), "kelf-0.json", |text| {
        let json = String::from_utf8(text.clone()).unwrap().replace("cayman", target);
        *text = json.into_bytes();
    });
    Program::from_neff(&file).unwrap()
}

fn random(seed: &mut Random, dtype: Dtype, columns: u16) -> Vec<u8> {
    let count = usize::from(ROWS) * usize::from(columns);
    let bytes: Vec<u8> = (0..count).flat_map(|_| seed.normal().to_le_bytes()).collect();
    Element::Fp32.convert(&bytes, Element::of(dtype).unwrap())
}

const SCRIPT: &str = r#"
import sys, numpy, ml_dtypes
kind = numpy.dtype(getattr(ml_dtypes, sys.argv[1], None) or sys.argv[1])
first, last = int(sys.argv[2]), int(sys.argv[3])
data = numpy.frombuffer(sys.stdin.buffer.read(), kind).astype("float64")
w, data = data[: 128 * 96].reshape(128, 96), data[128 * 96 :]
x, y = data.reshape(2, 128, 200)
rows = slice(first, last)
sys.stdout.buffer.write((w[rows].T @ x[rows] + w[rows].T @ y[rows]).tobytes())
"#;

#[test]
fn products_accumulate() {
    let Some(numpy) = numpy() else { return };
    let mut seed = Random(70);
    // a generation is told by its types and by a byte that only the older has
    for (target, dtype, name, bus) in [
        ("cayman", Dtype::BFLOAT16, "bfloat16", 0),
        ("cayman", Dtype::FP16, "float16", 0),
        ("cayman", Dtype::FP8_E4M3, "float8_e4m3", 0),
        ("cayman", Dtype::FP8_E5M2, "float8_e5m2", 0),
        ("cayman", Dtype::FP32, "float32", 0),
        ("sunda", Dtype::BFLOAT16, "bfloat16", 15),
        ("sunda", Dtype::FP32, "float32", 2),
    ] {
        for (first, rows) in [(0, 128), (64, 32), (96, 20)] {
            if target == "sunda" && rows == 20 {
                continue;
            }
            let passes: &[_] = if dtype == Dtype::FP32 {
                &[(Fp32Mode::LOW, Fp32Mode::LOW_HIGH), (Fp32Mode::HIGH, Fp32Mode::LOW_HIGH)]
            } else {
                &[(Fp32Mode::NONE, Fp32Mode::NONE)]
            };
            let mut work = Vec::new();
            for (pass, (weights, moving)) in passes.iter().enumerate() {
                let loads = load(0, first, rows, dtype, *weights);
                let loads = LoadWeights { bus_select: bus, ..loads };
                work.push(plain(Opcode::LDWEIGHTS, loads));
                for index in [1, 2] {
                    let flags = u8::from(pass == 0 && index == 1);
                    let body = multiply(index, first, rows, dtype, *moving, flags);
                    let body = MatMul { bus_select: bus, ..body };
                    work.push(plain(Opcode::MATMUL, body));
                }
            }
            let size = u16::from(dtype.bytes().unwrap());
            let inputs = [COLUMNS, MOVING, MOVING];
            let data = inputs.map(|columns| random(&mut seed, dtype, columns));
            let names = ["a", "b", "c"].map(str::to_owned);
            let tensors: Tensors = names.into_iter().zip(data.clone()).collect();
            let sizes = inputs.map(|columns| columns * size);
            let out = program(target, &sizes, work, Dtype::FP32, 96).run(&tensors).unwrap();
            let ours = fp32(&out["out"]);
            let (from, to) = (first.to_string(), (first + rows).to_string());
            let theirs = fp64(&numpy.run(SCRIPT, &[name, &from, &to], &data.concat()));
            // partitions from 96 on hold what was stored there: nothing
            assert_eq!((ours.len(), theirs.len()), (128 * 200, 96 * 200));
            assert!(ours[theirs.len()..].iter().all(|value| *value == 0.0));
            // fp32 sums of up to 256 products of size 1: 2^-24 of each partial sum
            let bound = 256.0 * 16.0 / f64::from(1 << 24);
            for (ours, theirs) in ours.iter().zip(&theirs) {
                let error = (f64::from(*ours) - theirs).abs();
                assert!(error < bound, "{name} from {first}: {ours} is not {theirs}");
            }
        }
    }
}

/// A HIGH pass by itself adds nothing, and where it replaces it leaves zeros.
#[test]
fn a_high_pass_has_no_products() {
    for (flags, left) in [(0, 3.0), (1, 0.0)] {
        let work = [(Fp32Mode::LOW, 1), (Fp32Mode::HIGH, flags)];
        let work = work.into_iter().flat_map(|(mode, flags)| {
            let loads = load(0, 0, 128, Dtype::FP32, mode);
            let moves = multiply(1, 0, 128, Dtype::FP32, Fp32Mode::LOW_HIGH, flags);
            [plain(Opcode::LDWEIGHTS, loads), plain(Opcode::MATMUL, moves)]
        });
        let ones = |columns: u16, value: f32| {
            (0..128 * columns).flat_map(|_| value.to_le_bytes()).collect::<Vec<u8>>()
        };
        let (a, b) = (ones(COLUMNS, 3.0 / 128.0), ones(MOVING, 1.0));
        let tensors = [("a".to_owned(), a), ("b".to_owned(), b)].into();
        let sizes = [4 * COLUMNS, 4 * MOVING];
        let out = program("cayman", &sizes, work.collect(), Dtype::FP32, 96).run(&tensors).unwrap();
        assert!(fp32(&out["out"])[..96 * 200].iter().all(|value| *value == left));
    }
}

/// Every bit pattern passes a transpose through an identity: NaN, infinities,
/// subnormals and the sign of zero.
#[test]
fn transposes_are_exact() {
    let mut seed = Random(71);
    for (dtype, mode) in [(Dtype::BFLOAT16, Fp32Mode::NONE), (Dtype::FP32, Fp32Mode::LOW)] {
        let element = Element::of(dtype).unwrap();
        let size = element.bytes();
        let columns = usize::from(COLUMNS);
        let weights: Vec<u8> = (0..128 * columns * size).map(|_| seed.next() as u8).collect();
        let mut identity = vec![0; 128 * usize::from(MOVING) * size];
        for row in 0..128 {
            let at = (row * usize::from(MOVING) + row) * size;
            element.store(element.encode(1.0), &mut identity[at..]);
        }
        let mut loads = load(0, 0, 128, dtype, mode);
        loads.transpose_mode = TransposeMode::ENABLED;
        let moving = if mode == Fp32Mode::LOW { Fp32Mode::LOW_HIGH } else { mode };
        let mut moves = multiply(1, 0, 128, dtype, moving, 3);
        moves.transpose_mode = TransposeMode::ENABLED;
        let work = vec![plain(Opcode::LDWEIGHTS, loads), plain(Opcode::MATMUL, moves)];
        let sizes = [COLUMNS, MOVING].map(|columns| columns * u16::try_from(size).unwrap());
        let tensors = [("a".to_owned(), weights.clone()), ("b".to_owned(), identity)].into();
        let out = program("cayman", &sizes, work, dtype, 96).run(&tensors).unwrap();
        for column in 0..columns {
            for row in 0..128 {
                let ours = element.load(&out["out"][(column * 200 + row) * size..]);
                let theirs = element.load(&weights[(row * columns + column) * size..]);
                let nan = element.decode(ours).is_nan() && element.decode(theirs).is_nan();
                assert!(ours == theirs || nan, "{dtype} {row} {column}: {ours:x} {theirs:x}");
            }
        }
    }
}

/// Trn1 has no exact transpose: fp32 numbers go through an identity in two
/// passes, whose moving part is the high one alone.
#[test]
fn older_transposes_are_products() {
    let mut seed = Random(72);
    let weights = random(&mut seed, Dtype::FP32, COLUMNS);
    let mut identity = vec![0; 128 * usize::from(MOVING) * 4];
    for row in 0..128 {
        let at = (row * usize::from(MOVING) + row) * 4;
        identity[at..at + 4].copy_from_slice(&1.0f32.to_le_bytes());
    }
    let mut work = Vec::new();
    for (mode, flags) in [(Fp32Mode::LOW, 1), (Fp32Mode::HIGH, 2)] {
        work.push(plain(Opcode::LDWEIGHTS, load(0, 0, 128, Dtype::FP32, mode)));
        let body = multiply(1, 0, 128, Dtype::FP32, Fp32Mode::HIGH, flags);
        work.push(plain(Opcode::MATMUL, body));
    }
    let sizes = [4 * COLUMNS, 4 * MOVING];
    let tensors = [("a".to_owned(), weights.clone()), ("b".to_owned(), identity)].into();
    let out = program("sunda", &sizes, work, Dtype::FP32, 96).run(&tensors).unwrap();
    let (ours, theirs) = (fp32(&out["out"]), fp32(&weights));
    for (column, ours) in ours.chunks(200).take(96).enumerate() {
        for (row, ours) in ours.iter().take(128).enumerate() {
            assert_eq!(*ours, theirs[row * 96 + column], "{row} {column}");
        }
    }
}
