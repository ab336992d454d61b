//! How fast whole programs run: each case with its time, the time inside PE
//! records, and its instructions.
//!
//! `cargo bench -p npu --bench npu -- [CASE..]` prints a table; a case is `gemm`,
//! the name of a real program of the fixtures, or the path of a NEFF; after
//! `time:` it runs in simulated time without arithmetic. After `--shares`,
//! each case is taken apart instead: the time of each opcode. With
//! `--serve`, each line of standard input names a case that is run once, and
//! answered by a line: nanoseconds of the run, nanoseconds in PE records,
//! nanoseconds of processors, instructions, transfers. So `cargo xtask bench npu` runs it in turn with
//! other programs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a bench, as its helpers of tests")]

mod gemm;
mod shares;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::io::{Write as _, stdin, stdout};
use std::time::{Duration, Instant};

use neuron_core::isa::{Engine, Instruction};
use neuron_core::neff::Usage;
use npu::dma::Job;
use npu::number::Element;
use npu::time::Timing;
use npu::{At, Limits, Observer, Program, Tensors};
use support::Random;

/// Real programs of the table.
const REAL: [&str; 8] = [
    "attn-fused-bf16-512",
    "attn-fused-fp32-512",
    "attn-fused-fp32-1024",
    "matmul-small",
    "moe-dge",
    "xla-cache-a",
    "xla-cache-b",
    "attn-tkg",
];

/// A program with inputs.
struct Case {
    /// In simulated time, without arithmetic.
    timed: bool,
    program: Program,
    inputs: Tensors,
}

impl Case {
    fn new(name: &str) -> Self {
        let (timed, name) = name.strip_prefix("time:").map_or((false, name), |name| (true, name));
        let file = match name {
            "gemm" => gemm::neff(),
            path if path.contains(".neff") => std::fs::read(path).unwrap(),
            name => {
                let file = neuron_tests::fixture(format!("profiles/{name}.neff"));
                std::fs::read(file).unwrap()
            }
        };
        let program = Program::from_neff(&file).unwrap();
        let inputs = inputs(&program, name == "gemm");
        Self { timed, program, inputs }
    }

    fn run(&self) -> Sample {
        let mut sample = Sample::default();
        let (start, before) = (Instant::now(), processor_time());
        if self.timed {
            let timing = Timing::only(&self.program);
            let run = self.program.run_timed(&self.inputs, &timing, &mut ()).unwrap();
            let cores = run.summary.cores.iter();
            sample.instructions = cores.flat_map(|core| core.instructions).sum();
        } else {
            self.program.run_with(&self.inputs, &Limits::default(), &mut sample).unwrap();
        }
        sample.whole = start.elapsed();
        sample.processor = processor_time().saturating_sub(before);
        sample
    }
}

/// What all threads of this process have used of processors, where Linux tells.
fn processor_time() -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let times =
        tasks.filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok());
    let times = times.filter_map(|line| line.split(' ').next()?.parse::<u64>().ok());
    Duration::from_nanos(times.sum())
}

/// Random numbers; small ones where a type has no fraction, as for an index.
/// What our own records read as `fp32` is bytes in the file.
fn inputs(program: &Program, fp32: bool) -> Tensors {
    let mut random = Random(90);
    let inputs = program.tensors().iter().filter(|tensor| tensor.usage == Usage::Input);
    let mut make = |bytes: u64, dtype: Option<&str>| {
        let dtype = dtype.filter(|_| !fp32);
        let element = dtype.map_or(Element::Fp32, |word| Element::of_word(word).unwrap());
        let count = usize::try_from(bytes).unwrap() / element.bytes();
        let whole = matches!(element, Element::Int32 | Element::Uint32);
        let mut number = || if whole { random.unit().abs() * 8.0 } else { random.normal() * 0.3 };
        let numbers: Vec<u8> = (0..count).flat_map(|_| number().to_le_bytes()).collect();
        Element::Fp32.convert(&numbers, element)
    };
    inputs
        .map(|tensor| (tensor.name.clone(), make(tensor.bytes, tensor.dtype.as_deref())))
        .collect()
}

/// What one run took.
#[derive(Debug, Default)]
struct Sample {
    whole: Duration,
    array: Duration,
    processor: Duration,
    began: Option<Instant>,
    instructions: u64,
    transfers: u64,
}

impl Observer for Sample {
    fn begin(&mut self, at: At, _: &Instruction) {
        self.instructions += 1;
        self.began = (at.engine == Engine::Pe).then(Instant::now);
    }

    fn end(&mut self, _: At, _: &Instruction) {
        self.array += self.began.take().map(|began| began.elapsed()).unwrap_or_default();
    }

    fn transferred(&mut self, _: usize, job: &Job) {
        self.transfers += u64::try_from(job.transfers.len()).unwrap();
    }
}

fn serve() {
    let mut cases = BTreeMap::new();
    for line in stdin().lines() {
        let name = line.unwrap();
        let case = cases.entry(name.clone()).or_insert_with(|| Case::new(&name));
        let sample = case.run();
        let times = [sample.whole, sample.array, sample.processor].map(|time| time.as_nanos());
        let [whole, array, processor] = times;
        let (instructions, transfers) = (sample.instructions, sample.transfers);
        let line = format!("{whole} {array} {processor} {instructions} {transfers}\n");
        stdout().write_all(line.as_bytes()).unwrap();
        stdout().flush().unwrap();
    }
}

fn table(names: &[&str]) {
    let mut lines = format!(
        "{:24} {:>10} {:>10} {:>10} {:>10} {:>12} {:>9}\n",
        "fastest run, ms", "whole", "in PE", "processors", "GFLOP/s", "instructions", "million/s"
    );
    for name in names {
        let case = Case::new(name);
        case.run();
        let start = Instant::now();
        let mut samples = Vec::new();
        while samples.len() < 3 || start.elapsed() < Duration::from_secs(2) {
            samples.push(case.run());
        }
        let sample = samples.iter().min_by_key(|sample| sample.whole).unwrap();
        let times = [sample.whole, sample.array, sample.processor].map(|time| time.as_secs_f64());
        let [whole, array, processor] = times;
        let flops = if *name == "gemm" { gemm::FLOPS as f64 / array / 1e9 } else { 0.0 };
        let rate = sample.instructions as f64 / whole / 1e6;
        lines += &format!(
            "{name:24} {:10.3} {:10.3} {:10.3} {flops:10.1} {:12} {rate:9.3}\n",
            whole * 1e3,
            array * 1e3,
            processor * 1e3,
            sample.instructions,
        );
    }
    stdout().write_all(lines.as_bytes()).unwrap();
}

fn shares(names: &[&str]) {
    for name in names {
        let case = Case::new(name);
        let lines = shares::table(name, &case.program, &case.inputs);
        stdout().write_all(lines.as_bytes()).unwrap();
    }
}

fn main() {
    // as the peers of `cargo xtask bench npu` are told
    let threads = std::env::var("NPU_BENCH_THREADS").ok().and_then(|n| n.parse().ok());
    rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build_global().unwrap();
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    // on a thread of the pool, so that products are shared with the others
    rayon::scope(|_| match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--serve"] => serve(),
        ["--shares", names @ ..] => shares(names),
        [] => table(&[&["gemm", "time:gemm", "time:moe-dge"], REAL.as_slice()].concat()),
        names => table(names),
    });
}
