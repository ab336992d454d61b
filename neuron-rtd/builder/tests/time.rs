//! The sample models in time: the numbers of a run without it, and one trace
//! however many threads there are.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use neuron_builder::models::{SAMPLES, Sample};
use neuron_core::neff::{Neff, Options, Usage};
use neuron_core::ntff::Record;
use neuron_core::ntff::messages::NotificationTraceType as Ring;
use npu::time::{Sink, Timing};
use npu::{Program, Tensors};

/// The Neuron nodes of a sample.
fn nodes(sample: &Sample) -> Vec<Program> {
    let neff = Neff::open(&sample.built.bytes, &Options::strict()).unwrap();
    let kelfs = (0..).map(|number| format!("kelf-{number}.json"));
    let kelfs = kelfs.take_while(|kelf| neff.member(kelf).is_some());
    kelfs.map(|kelf| Program::from_node(&neff, Some(&kelf)).unwrap()).collect()
}

/// The sample's inputs; what another node would give is 1 to 250.
fn inputs(sample: &Sample, program: &Program) -> Tensors {
    let all = program.tensors().iter().filter(|tensor| tensor.usage == Usage::Input);
    all.map(|tensor| {
        let given = sample.inputs.iter().find(|(name, _)| *name == tensor.name);
        let other = || {
            let numbers = (0..tensor.bytes / 4).map(|at| (at % 250 + 1) as f32);
            numbers.flat_map(f32::to_le_bytes).collect()
        };
        (tensor.name.clone(), given.map_or_else(other, |(_, array)| array.data().to_vec()))
    })
    .collect()
}

#[test]
fn samples_give_the_same_numbers_in_time() {
    let (mut tried, mut cores) = (0, BTreeSet::new());
    for (name, make) in SAMPLES.iter().filter(|(name, _)| *name != "deadlock") {
        let sample = make().unwrap();
        for program in nodes(&sample) {
            let inputs = inputs(&sample, &program);
            let plain = program.run(&inputs).unwrap();
            assert!(plain.values().flatten().any(|byte| *byte != 0), "{name} gives only zeros");
            let timed = program.run_timed(&inputs, &Timing::of(&program), &mut ()).unwrap();
            assert!(timed.outputs == plain, "{name}: other numbers in time");
            assert!(timed.summary.total > 0);
            cores.insert(program.cores().len());
            tried += 1;
        }
    }
    // all but the deadlock, and two nodes of the one around a CPU node
    assert_eq!(tried, SAMPLES.len());
    assert_eq!(cores, [1, 4].into());
}

/// A digest of every record, in order.
#[derive(Default)]
struct Digest(DefaultHasher, BTreeSet<usize>);

impl Sink for Digest {
    fn wants_records(&self) -> bool {
        true
    }
    fn record(&mut self, core: usize, ring: Ring, record: Record) {
        (core, ring as i32, record.to_bytes()).hash(&mut self.0);
        self.1.insert(core);
    }
}

/// Four cores with collectives between them: 100 runs, in 1 to 10 threads at
/// once.
#[test]
fn a_hundred_runs_of_four_cores_have_one_trace() {
    let (_, make) = SAMPLES.iter().find(|(name, _)| *name == "transformer-4-cores").unwrap();
    let sample = make().unwrap();
    let program = nodes(&sample).pop().unwrap();
    let inputs = inputs(&sample, &program);
    let run = |timing: &Timing| {
        let mut digest = Digest::default();
        let timed = program.run_timed(&inputs, timing, &mut digest).unwrap();
        assert_eq!(digest.1, (0..4).collect(), "cores with records");
        (digest.0.finish(), timed.summary.total)
    };
    // with numbers, whose products are shared out to threads, and without
    let (with, only) = (Timing::of(&program), Timing::only(&program));
    let first = run(&with);
    for (threads, each) in [(1, 20), (2, 10), (4, 5), (5, 4), (10, 2)] {
        let runs: Vec<_> = std::thread::scope(|scope| {
            let spawn = |number| {
                let (run, with, only) = (&run, &with, &only);
                scope.spawn(move || {
                    let runs = (0..each).map(|turn| if number + turn == 0 { with } else { only });
                    runs.map(run).collect::<Vec<_>>()
                })
            };
            let handles: Vec<_> = (0..threads).map(spawn).collect();
            handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
        });
        assert_eq!(runs.len(), 20, "{threads} threads");
        assert!(runs.iter().all(|run| *run == first), "{threads} threads");
    }
}
