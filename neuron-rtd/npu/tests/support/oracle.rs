//! One program each against NumPy: inputs come by DMA, one engine works on
//! them, the result goes back by DMA. All expressions of a test go to one
//! Python process.

use std::fmt::Write as _;

use neuron_core::isa::code::Dtype;
use neuron_core::isa::{Engine, Instruction};
use npu::number::Element;
use npu::{Program, Stop, Tensors};

use super::neff::{ROWS, Small, changed};
use super::{Numpy, Random, numpy};

/// Elements of a row, where a test has no reason for another number.
pub(crate) const COUNT: u16 = 24;

/// NumPy computes each output from the inputs a, b, .. with 128 rows each: as
/// fp32 by these names, as they are with `_raw`. The result is cast to the
/// output's type.
const SCRIPT: &str = r#"
import json, math, sys, numpy, ml_dtypes
numpy.seterr(all="ignore")
kind = lambda name: numpy.dtype(getattr(ml_dtypes, name, None) or name)
data, at = sys.stdin.buffer.read(), 0
cases = json.loads(sys.argv[1])
for expression, target, sources in cases:
    scope = {"np": numpy, "f": numpy.float32, "math": math}
    for name, (source, size) in zip("abcd", sources):
        raw = numpy.frombuffer(data[at : at + size], kind(source)).reshape(128, -1)
        at += size
        scope[name + "_raw"] = raw
        scope[name] = raw.astype("float32")
    try:
        out = eval(expression, scope)
    except Exception as error:
        raise SystemExit(f"{expression}: {error}")
    sys.stdout.buffer.write(numpy.ascontiguousarray(numpy.asarray(out).astype(kind(target))).tobytes())
"#;

/// What an input holds.
#[derive(Clone)]
pub(crate) enum Fill {
    /// About normal, deviation 3, some of them whole.
    Normal,
    /// Whole numbers within a range, both ends included.
    Whole(i64, i64),
    /// Any bits.
    Bits,
    /// These bytes.
    Given(Vec<u8>),
}

/// An input: type, elements of a row, content.
pub(crate) type Input = (Dtype, u16, Fill);

/// An input of usual numbers.
pub(crate) fn normal(dtype: Dtype, count: u16) -> Input {
    (dtype, count, Fill::Normal)
}

/// How near a result must be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Near {
    /// Every bit, but of NaN.
    Same,
    /// So many units in the last place of the output's type, fp32 only.
    Ulp(u32),
}

struct Pending {
    label: String,
    dtype: Dtype,
    ours: Vec<u8>,
    near: Near,
}

pub(crate) struct Oracle {
    numpy: Numpy,
    pub(crate) random: Random,
    cases: String,
    data: Vec<u8>,
    pending: Vec<Pending>,
    /// `cayman`, `sunda`, ..
    pub(crate) target: &'static str,
}

pub(crate) fn oracle(seed: u64) -> Option<Oracle> {
    let (cases, data, pending) = (String::new(), Vec::new(), Vec::new());
    let random = Random(seed);
    numpy().map(|numpy| Oracle { numpy, random, cases, data, pending, target: "cayman" })
}

/// NumPy's name of a type.
pub(crate) fn name(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::FP32 => "float32",
        Dtype::BFLOAT16 => "bfloat16",
        Dtype::FP16 => "float16",
        Dtype::FP8_E3M4 => "float8_e3m4",
        Dtype::FP8_E4M3 => "float8_e4m3",
        Dtype::FP8_E5M2 => "float8_e5m2",
        Dtype::INT32 => "int32",
        Dtype::UINT32 => "uint32",
        Dtype::INT16 => "int16",
        Dtype::UINT16 => "uint16",
        Dtype::INT8 => "int8",
        Dtype::UINT8 => "uint8",
        other => panic!("{other} has no name here"),
    }
}

fn size(dtype: Dtype) -> u16 {
    u16::from(dtype.bytes().unwrap())
}

/// The file of a program.
pub(crate) fn file(
    target: &str,
    inputs: &[Input],
    (dtype, count): (Dtype, u16),
    engine: Engine,
    work: Vec<Instruction>,
) -> Vec<u8> {
    let rows: Vec<u16> = inputs.iter().map(|(dtype, count, _)| size(*dtype) * count).collect();
    let file = Small::around(&rows, size(dtype) * count, engine, work).build();
    changed(&file, "kelf-0.json", |text| {
        let json = String::from_utf8(text.clone()).unwrap().replace("cayman", target);
        *text = json.into_bytes();
    })
}

impl Oracle {
    fn fill(&mut self, (dtype, count, fill): &Input) -> Vec<u8> {
        let count = usize::from(ROWS) * usize::from(*count);
        let element = Element::of(*dtype).unwrap();
        let bytes = match fill {
            Fill::Given(bytes) => bytes.clone(),
            Fill::Bits => (0..count * element.bytes()).map(|_| self.random.next() as u8).collect(),
            Fill::Whole(low, high) => (0..count)
                .flat_map(|_| {
                    let span = u64::try_from(high - low).unwrap() + 1;
                    let value = low + i64::try_from(self.random.next() % span).unwrap();
                    let bits = match element.is_signed() {
                        Some(_) => element.wrap(value),
                        None => element.encode(value as f32),
                    };
                    bits.to_le_bytes().into_iter().take(element.bytes())
                })
                .collect(),
            Fill::Normal => {
                let numbers: Vec<u8> = (0..count)
                    .flat_map(|_| {
                        // sometimes equal, so that comparisons see that too
                        let value = self.random.normal() * 3.0;
                        let whole = self.random.next().is_multiple_of(4);
                        (if whole { value.round() } else { value }).to_le_bytes()
                    })
                    .collect();
                Element::Fp32.convert(&numbers, element)
            }
        };
        assert_eq!(bytes.len(), count * element.bytes());
        bytes
    }

    /// Runs `work` and keeps the result for [`Oracle::check`].
    pub(crate) fn case(
        &mut self,
        near: Near,
        inputs: &[Input],
        output: (Dtype, u16),
        engine: Engine,
        work: Vec<Instruction>,
        expression: &str,
    ) {
        let file = file(self.target, inputs, output, engine, work);
        let (mut tensors, mut sources) = (Tensors::new(), Vec::new());
        for (letter, input) in ["a", "b", "c", "d"].iter().zip(inputs) {
            let bytes = self.fill(input);
            sources.push(format!("[\"{}\", {}]", name(input.0), bytes.len()));
            self.data.extend_from_slice(&bytes);
            tensors.insert((*letter).to_owned(), bytes);
        }
        let ours = Program::from_neff(&file).unwrap().run(&tensors);
        let ours = ours.unwrap_or_else(|stop| panic!("{expression}: {stop}"));
        let gap = if self.cases.is_empty() { "" } else { ", " };
        let (sources, target) = (sources.join(", "), name(output.0));
        let escaped = expression.replace('\\', "\\\\").replace('"', "\\\"");
        write!(self.cases, "{gap}[\"{escaped}\", \"{target}\", [{sources}]]").unwrap();
        let label = expression.to_owned();
        self.pending.push(Pending { label, dtype: output.0, ours: ours["out"].clone(), near });
    }

    /// As `case` with usual numbers, and every bit must be equal.
    pub(crate) fn same(
        &mut self,
        inputs: &[(Dtype, u16)],
        output: (Dtype, u16),
        engine: Engine,
        work: Vec<Instruction>,
        expression: &str,
    ) {
        let inputs: Vec<Input> =
            inputs.iter().map(|(dtype, count)| normal(*dtype, *count)).collect();
        self.case(Near::Same, &inputs, output, engine, work, expression);
    }

    /// Compares everything that was kept with NumPy.
    pub(crate) fn check(mut self) {
        let pending = std::mem::take(&mut self.pending);
        assert!(!pending.is_empty(), "nothing to compare");
        let cases = format!("[{}]", self.cases);
        let theirs = self.numpy.run(SCRIPT, &[&cases], &self.data);
        let mut rest = theirs.as_slice();
        for case in pending {
            let (theirs, later) =
                rest.split_at_checked(case.ours.len()).unwrap_or_else(|| panic!("{}", case.label));
            rest = later;
            case.compare(theirs);
        }
        assert!(rest.is_empty(), "NumPy has {} bytes more", rest.len());
    }
}

/// A test that forgets to compare must not pass.
impl Drop for Oracle {
    fn drop(&mut self) {
        assert!(self.pending.is_empty() || std::thread::panicking(), "not compared");
    }
}

impl Pending {
    fn compare(&self, theirs: &[u8]) {
        let bytes = usize::from(size(self.dtype));
        let element = Element::of(self.dtype).unwrap();
        for (index, (ours, theirs)) in self.ours.chunks(bytes).zip(theirs.chunks(bytes)).enumerate()
        {
            let number = |bytes| element.decode(element.load(bytes));
            let (a, b) = (number(ours), number(theirs));
            let near = ours == theirs
                || a.is_nan() && b.is_nan()
                || matches!(self.near, Near::Ulp(units) if distance(a, b) <= units);
            assert!(near, "{}, element {index}: {a} is not {b} ({:?})", self.label, self.near);
        }
    }
}

/// Units in the last place between two fp32 numbers; both zeros are one.
pub(crate) fn distance(a: f32, b: f32) -> u32 {
    let place = |value: f32| {
        let bits = i64::from(value.to_bits() & 0x7fff_ffff);
        if value.is_sign_negative() { -bits } else { bits }
    };
    u32::try_from((place(a) - place(b)).abs()).unwrap()
}

/// The fault that stops a program.
pub(crate) fn stops(
    target: &str,
    inputs: &[Input],
    output: (Dtype, u16),
    engine: Engine,
    work: Vec<Instruction>,
) -> npu::Fault {
    let file = file(target, inputs, output, engine, work);
    let tensors: Tensors = ["a", "b", "c", "d"]
        .iter()
        .zip(inputs)
        .map(|(letter, (dtype, count, _))| {
            let bytes = usize::from(ROWS) * usize::from(*count) * usize::from(size(*dtype));
            ((*letter).to_owned(), vec![0; bytes])
        })
        .collect();
    match Program::from_neff(&file).unwrap().run(&tensors) {
        Err(Stop::Instruction { fault, .. }) => fault,
        other => panic!("{other:?}"),
    }
}
