//! Where the time of a run goes: by opcode and engine, transfers, and what is
//! before, between and after them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use neuron_core::isa::Instruction;
use npu::dma::Job;
use npu::{At, Limits, Observer, Program, Tensors};

/// Time and number of events of one kind.
type Share = (Duration, u64);

/// Time of one run by kind; each event ends what began with the one before it.
#[derive(Debug)]
struct Shares {
    last: Instant,
    kinds: BTreeMap<String, Share>,
}

impl Shares {
    fn mark(&mut self, kind: impl FnOnce() -> String) {
        let passed = self.last.elapsed();
        let (time, count) = self.kinds.entry(kind()).or_default();
        *time += passed;
        *count += 1;
        self.last = Instant::now();
    }
}

impl Observer for Shares {
    fn begin(&mut self, _: At, _: &Instruction) {
        self.mark(|| "waits".to_owned());
    }

    fn end(&mut self, at: At, instruction: &Instruction) {
        self.mark(|| format!("{} {}", at.engine.key(), instruction.header.opcode));
    }

    fn transferred(&mut self, _: usize, _: &Job) {
        self.mark(|| "transfer".to_owned());
    }
}

/// The kinds of a program, the longest first; of each the median of all runs.
pub(crate) fn table(name: &str, program: &Program, inputs: &Tensors) -> String {
    let started = Instant::now();
    let mut kinds: BTreeMap<String, Vec<Share>> = BTreeMap::new();
    let mut runs = 0;
    while runs < 3 || started.elapsed() < Duration::from_secs(1) {
        let mut shares = Shares { last: Instant::now(), kinds: BTreeMap::new() };
        program.run_with(inputs, &Limits::default(), &mut shares).unwrap();
        shares.mark(|| "the end".to_owned());
        for (kind, share) in shares.kinds {
            kinds.entry(kind).or_default().push(share);
        }
        runs += 1;
    }
    let median = |mut shares: Vec<Share>| {
        shares.sort_unstable();
        shares[shares.len() / 2]
    };
    let mut kinds: Vec<(String, Share)> =
        kinds.into_iter().map(|(kind, shares)| (kind, median(shares))).collect();
    kinds.sort_by_key(|(_, share)| std::cmp::Reverse(*share));
    let whole: Duration = kinds.iter().map(|(_, (time, _))| *time).sum();
    let micro = |time: Duration| time.as_secs_f64() * 1e6;
    let mut lines = format!("{name}: {:.1} us, the median of {runs} runs\n", micro(whole));
    for (kind, (time, count)) in kinds {
        let share = 100.0 * time.as_secs_f64() / whole.as_secs_f64();
        lines += &format!("{:10.1} us {share:5.1} % {count:7} x {kind}\n", micro(time));
    }
    lines
}
