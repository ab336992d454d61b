//! Runs in time: the same numbers as without it, one trace on every thread,
//! and a file that readers understand.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use neuron_core::isa::{Engine, Opcode};
use neuron_core::neff::Usage;
use neuron_core::ntff::messages::NotificationTraceType as Ring;
use neuron_core::ntff::notification::DmaStep;
use neuron_core::ntff::pairs::Pairs;
use neuron_core::ntff::{
    Mode, Notification, Options, Reader, Record, SectionKind, Summary, program as counters, record,
};
use npu::time::{FileInfo, Sink, Timing, Trace, write_ntff};
use npu::{Limits, Program, Stop, Tensors, Unmet};
use support::Random;
use support::lab::{self, At, V2, V3, activate, on, products, run, unary};
use support::neff::{Small, changed, plain, raising, wait};

use neuron_core::isa::body::control::{EventSemaphore, RangeClear};
use neuron_core::isa::code::{Dtype, RangeMode};
use neuron_core::isa::event::{UpdateMode, WaitMode};

fn real(name: &str) -> Program {
    let file = neuron_tests::fixture(format!("profiles/{name}.neff"));
    Program::from_neff(&std::fs::read(file).unwrap()).unwrap()
}

/// Small numbers, each of which every type has; expert numbers below 128.
fn inputs(program: &Program, seed: u64) -> Tensors {
    let mut random = Random(seed);
    let inputs = program.tensors().iter().filter(|tensor| tensor.usage == Usage::Input);
    inputs
        .map(|tensor| {
            let size = usize::try_from(tensor.bytes).unwrap();
            // the high bytes of bf16, fp16 and fp32 decide how large they are
            let small = |at: usize| if at % 2 == 1 { 0x3c } else { random.next() as u8 };
            let ids =
                tensor.dtype.as_deref() == Some("int32") || size == 32 && tensor.name == "input1";
            let data = if ids {
                (0..size).map(|at| if at % 4 == 0 { (at * 3) as u8 } else { 0 }).collect()
            } else {
                (0..size).map(small).collect()
            };
            (tensor.name.clone(), data)
        })
        .collect()
}

/// A digest of every record, in order.
#[derive(Default)]
struct Digest {
    hasher: DefaultHasher,
    records: u64,
}

impl Sink for Digest {
    fn wants_records(&self) -> bool {
        true
    }
    fn record(&mut self, core: usize, ring: Ring, record: Record) {
        (core, ring as i32, record.to_bytes()).hash(&mut self.hasher);
        self.records += 1;
    }
}

fn digest(program: &Program, inputs: &Tensors, timing: &Timing) -> (u64, u64, u64) {
    let mut digest = Digest::default();
    let timed = program.run_timed(inputs, timing, &mut digest).unwrap();
    (digest.hasher.finish(), digest.records, timed.summary.total)
}

#[test]
fn numbers_are_those_without_time() {
    for name in
        ["attn-fused-bf16-512", "attn-fused-fp32-512", "matmul-small", "moe-dge", "attn-tkg"]
    {
        let program = real(name);
        let inputs = inputs(&program, 7);
        let expected = program.run(&inputs).unwrap();
        let timed = program.run_timed(&inputs, &Timing::of(&program), &mut ()).unwrap();
        assert!(expected.values().flatten().any(|byte| *byte != 0), "{name} gives only zeros");
        assert!(timed.outputs == expected, "{name}: other numbers in time");
    }
}

/// Programs of both generations, also those without a capture.
#[test]
fn every_real_program_has_a_time() {
    for name in ["matmul-small", "xla-cache-a", "xla-cache-b", "attn-tkg"] {
        let program = real(name);
        let (timed, seen) = run(&program);
        let summary = timed.summary;
        println!("{name}: {:.2} us, MFU {:.3}", summary.total as f64 / 1e6, summary.mfu());
        assert!(seen.instructions.iter().all(|one| one.ready <= one.start));
        assert!(seen.instructions.iter().all(|one| one.end <= summary.total));
        for core in 0..summary.cores.len() {
            for engine in Engine::ALL {
                let mine = seen.of(engine);
                let mine: Vec<_> = mine.iter().filter(|one| one.at.core == core).collect();
                let stream = program.cores()[core].stream(engine);
                assert!(mine.len() >= stream.len(), "{name}: {engine} did not end");
                let busy = summary.busy_share(core, engine);
                assert!((0.0..=1.0).contains(&busy), "{name}: {engine} {busy}");
            }
        }
        assert!(
            summary.mfu() > 0.0 && summary.mfu() < summary.hfu() + 1e-12 && summary.hfu() < 1.0
        );
        assert!(summary.mbu() > 0.0 && summary.mbu() < 1.0);
    }
}

/// Neither arithmetic nor a sink that wants records changes a time.
#[test]
fn time_is_that_without_numbers() {
    for name in ["attn-base-bf16-512", "matmul-small", "moe-dge"] {
        let program = real(name);
        let inputs = inputs(&program, 8);
        let with = digest(&program, &inputs, &Timing::of(&program));
        let without = digest(&program, &inputs, &Timing::only(&program));
        assert_eq!(with, without, "{name}");
        let silent = program.run_timed(&inputs, &Timing::only(&program), &mut ()).unwrap();
        assert_eq!(silent.summary.total, with.2, "{name}");
    }
}

#[test]
fn a_hundred_runs_have_one_trace() {
    let program = real("attn-base-bf16-512");
    let inputs = inputs(&program, 9);
    let timing = Timing::only(&program);
    let first = digest(&program, &inputs, &timing);
    assert!(first.1 > 3000, "{} records", first.1);
    for (threads, each) in [(1, 20), (2, 10), (4, 5), (5, 4), (10, 2)] {
        let runs: Vec<_> = std::thread::scope(|scope| {
            let spawn = |_| {
                scope.spawn(|| {
                    let runs = (0..each).map(|_| digest(&program, &inputs, &timing));
                    runs.collect::<Vec<_>>()
                })
            };
            let handles: Vec<_> = (0..threads).map(spawn).collect();
            handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
        });
        assert_eq!(runs.len(), 20, "{threads} threads");
        assert!(runs.iter().all(|run| *run == first), "{threads} threads");
    }
}

/// Products are shared by the threads of the caller's pool; neither the trace
/// nor the numbers show how many there are.
#[test]
fn threads_of_a_pool_change_nothing() {
    for name in ["attn-fused-fp32-512", "attn-base-bf16-512", "matmul-small"] {
        let program = real(name);
        let inputs = inputs(&program, 10);
        let expected = program.run(&inputs).unwrap();
        let first = digest(&program, &inputs, &Timing::of(&program));
        for threads in 1..=3 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                assert_eq!(rayon::current_num_threads(), threads);
                assert!(program.run(&inputs).unwrap() == expected, "{name}: {threads} threads");
                let timing = Timing::of(&program);
                assert_eq!(digest(&program, &inputs, &timing), first, "{name}: {threads} threads");
                let timed = program.run_timed(&inputs, &timing, &mut ()).unwrap();
                assert!(timed.outputs == expected, "{name}: {threads} threads in time");
            });
        }
    }
}

fn blocked() -> Small {
    let copy = unary(Opcode::COPY, Dtype::FP32, At::Sbuf(0), At::Sbuf(1), 16);
    let mut small = Small::around(&[64], 64, Engine::Dve, vec![copy]);
    small.on(Engine::Dve).insert(0, wait(8, 17));
    small
}

#[test]
fn a_deadlock_names_every_wait() {
    let program = lab::program(V3, &blocked());
    let error = program.run_timed(&Tensors::new(), &Timing::only(&program), &mut ()).unwrap_err();
    let Stop::Deadlock(blocked) = &error else { panic!("{error}") };
    let told: Vec<_> = blocked.iter().map(|one| (one.at.engine, one.at.slot, &one.unmet)).collect();
    let unmet = |index, value, needed: &str| {
        vec![Unmet::Semaphore { index, value, needed: needed.to_owned() }]
    };
    let expected = [(Engine::Dve, 0, &unmet(8, 16, ">=17")), (Engine::Sp, 1, &unmet(4, 0, ">=1"))];
    assert_eq!(told, expected);
}

#[test]
fn a_run_is_limited() {
    let program = real("attn-fused-bf16-512");
    let limits = Limits { instructions: 50, ..Limits::default() };
    let timing = Timing { limits, ..Timing::only(&program) };
    let error = program.run_timed(&Tensors::new(), &timing, &mut ()).unwrap_err();
    assert_eq!(error, Stop::Instructions(50));
}

#[test]
fn no_byte_of_a_program_makes_it_panic() {
    let copy = unary(Opcode::COPY, Dtype::FP32, At::Sbuf(0), At::Sbuf(1), 16);
    let good = Small::around(&[64], 64, Engine::Dve, vec![copy]).build();
    let mut random = Random(82);
    let limits = Limits { instructions: 1000, packets: 20_000, ..Limits::default() };
    let mut ended = 0;
    for round in 0..400 {
        let engine = if round % 2 == 0 { "sp" } else { "dve" };
        let bad = changed(&good, &format!("sg00/{engine}.bin"), |stream| {
            for _ in 0..=random.next() % 3 {
                let at = usize::try_from(random.next()).unwrap() % stream.len();
                stream[at] = random.next() as u8;
            }
        });
        let program = Program::from_neff(&bad).unwrap();
        let timing = Timing { limits, ..Timing::only(&program) };
        let result = program.run_timed(&Tensors::new(), &timing, &mut Trace::new());
        ended += usize::from(result.is_ok());
    }
    assert!((1..400).contains(&ended), "{ended} of 400 runs ended well");
}

/// A consumer on another engine begins after the producer's update.
#[test]
fn engines_wait_for_each_other() {
    let mut small = Small { inputs: vec![64], output: 64, streams: Default::default() };
    let first = activate(At::Sbuf(0), At::Sbuf(1), 512);
    small.on(Engine::Act).push(raising(first, 4));
    small.on(Engine::Dve).push(wait(4, 1));
    small.on(Engine::Dve).push(unary(Opcode::COPY, Dtype::FP32, At::Sbuf(1), At::Sbuf(2), 512));
    let (timed, seen) = run(&lab::program(V3, &small));
    let (act, dve) = (seen.of(Engine::Act), seen.of(Engine::Dve));
    assert!(dve[0].start > act[0].end && dve[0].start < act[0].end + 60_000);
    // the wait counts from where the engine stood; neither it nor the record
    // that waits is work
    assert!(dve[0].ready < act[0].end);
    let busy = timed.summary.cores[0].busy[3];
    assert_eq!(busy, dve[1].end - dve[1].start);
}

/// A semaphore that is cleared, and an event that a wait clears, let others go.
#[test]
fn what_is_cleared_lets_others_go() {
    let mut small = Small { inputs: vec![64], output: 64, streams: Default::default() };
    let empty = || plain(Opcode::EVENT_SEMAPHORE, EventSemaphore::default());
    let waits = |mode, index| {
        let mut one = empty();
        (one.header.wait_mode, one.header.wait_index) = (WaitMode(mode), index);
        one
    };
    // SP raises 9 and sets 3, DVE waits for 9 to be 0 again, ACT for 3 to be clear
    small.on(Engine::Sp).push(raising(empty(), 9));
    let mut sets = empty();
    (sets.header.update_mode, sets.header.update_index) = (UpdateMode(0x11), 3);
    small.on(Engine::Sp).push(sets);
    small.on(Engine::Dve).extend([wait(9, 1), waits(0x01, 9)]);
    small.on(Engine::Act).extend([waits(0x06, 3), waits(0x0e, 3)]);
    // POOL clears both, after a while
    let long = unary(Opcode::COPY, Dtype::FP32, At::Sbuf(0), At::Sbuf(1), 2048);
    let clear = RangeClear { mode: RangeMode::SEMAPHORE_ZERO, first: 9, last: 9 };
    let drain = plain(Opcode::DRAIN, neuron_core::isa::body::control::Drain::default());
    let clear = plain(Opcode::EVENT_SEMAPHORE_RANGE_CLEAR, clear);
    small.on(Engine::Pool).extend([long, drain, clear, waits(0x07, 3)]);
    let (_, seen) = run(&lab::program(V3, &small));
    let pool = seen.of(Engine::Pool);
    assert!(seen.of(Engine::Dve)[1].start > pool[2].end);
    assert!(seen.of(Engine::Act)[1].start > pool[3].start);
}

/// Which pairs of engines keep each other waiting, by generation.
#[test]
fn ports_are_shared_where_they_are_one() {
    let overlap = |target, a: (Engine, At), b: (Engine, At)| {
        let mut small = Small { inputs: vec![64], output: 64, streams: Default::default() };
        for (engine, at) in [a, b] {
            let copies = unary(Opcode::COPY, Dtype::FP32, at, at, 2048);
            small.on(engine).push(copies);
        }
        let (_, seen) = run(&lab::program(target, &small));
        let (first, second) = (seen.of(a.0)[0], seen.of(b.0)[0]);
        first.start.max(second.start) < first.start.min(second.start) + 1_000_000
    };
    let (act, dve, pool) = (Engine::Act, Engine::Dve, Engine::Pool);
    let (sbuf, bank0, bank4) = (At::Sbuf(0), At::Psum(0), At::Psum(4));
    // v2: one SBUF port for DVE and POOL, one PSUM port for DVE and ACT
    assert!(!overlap(V2, (dve, sbuf), (pool, sbuf)));
    assert!(!overlap(V2, (dve, bank0), (act, bank4)));
    assert!(overlap(V2, (act, sbuf), (pool, sbuf)));
    // v3: only banks of PSUM
    assert!(overlap(V3, (dve, sbuf), (pool, sbuf)));
    assert!(overlap(V3, (dve, bank0), (act, bank4)));
    assert!(!overlap(V3, (dve, bank0), (act, bank0)));
}

/// Two rings of one engine take turns, packet by packet.
#[test]
fn rings_take_turns() {
    let mut small = Small { inputs: vec![8192], output: 64, streams: Default::default() };
    small.on(Engine::Sp).push(lab::rows_of(128, 8192));
    small.on(Engine::Pool).push(lab::rows_of(128, 8192));
    let (timed, seen) = run(&lab::program(V3, &small));
    assert_eq!(timed.rings, [["sp dynamic", "pool dynamic"]]);
    let mut packets: Vec<_> =
        seen.packets.iter().filter(|packet| packet.engine == 3 && packet.bytes > 4).collect();
    packets.sort_by_key(|packet| packet.start);
    let turns = packets.windows(2).filter(|pair| pair[0].ring != pair[1].ring).count();
    assert!(turns >= 6, "{turns} turns");
    // each ring is first in, first out
    for ring in 0..2 {
        let one: Vec<_> = packets.iter().filter(|packet| packet.ring == ring).collect();
        assert!(one.windows(2).all(|pair| pair[0].start < pair[1].start));
    }
}

/// The HBM of the v2 chip gives less than 32 engines could take.
#[test]
fn hbm_has_a_limit() {
    let v2 = npu::time::Parameters::of(neuron_core::instance::Arch::V2).dma;
    assert!(32 * v2.hbm_fs_per_byte > v2.fs_per_byte);
    let program = real("attn-fused-fp32-512");
    let mut timing = Timing::only(&program);
    let free = program.run_timed(&Tensors::new(), &timing, &mut ()).unwrap().summary;
    // 10 GB/s for the whole chip
    timing.parameters.dma.hbm_fs_per_byte = 100_000;
    let tight = program.run_timed(&Tensors::new(), &timing, &mut ()).unwrap().summary;
    let bytes = free.hbm_bytes();
    assert_eq!(tight.hbm_bytes(), bytes);
    assert!(tight.total > bytes * 100 && free.total < bytes * 50);
}

/// The vendor's own summary of the same program: operations and bytes are
/// equal, and so are the definitions.
#[test]
fn the_summary_counts_as_the_vendor_does() {
    for name in
        ["attn-fused-fp32-512", "attn-fused-bf16-512", "attn-base-bf16-512", "attn-fused-fp32-1024"]
    {
        let path = neuron_tests::fixture(format!("profiles/{name}.json"));
        let export: serde_json::Value =
            serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let theirs = &export["summary"][0];
        let number = |key: &str| theirs[key].as_f64().unwrap_or_else(|| panic!("{name}: {key}"));
        let (timed, _) = run(&real(name));
        let ours = timed.summary;
        assert_eq!(ours.hardware_flops() as f64, number("hardware_flops"), "{name}");
        assert_eq!(ours.transpose_flops() as f64, number("transpose_flops"), "{name}");
        let read: u64 = ours.cores.iter().map(|core| core.hbm_read).sum();
        let written: u64 = ours.cores.iter().map(|core| core.hbm_written).sum();
        assert_eq!(written as f64, number("hbm_write_bytes"), "{name}");
        assert_eq!(read as f64, number("hbm_read_bytes"), "{name}");
        // the same definitions, for another time
        let scale = ours.total as f64 * 1e-12 / number("total_time");
        let close = |ours: f64, theirs: f64| (ours / theirs - 1.0).abs() < 1e-6;
        assert!(close(ours.hfu() * scale, number("hfu_estimated_percent")), "{name}: HFU");
        assert!(close(ours.mfu() * scale, number("mfu_inst_estimated_percent")), "{name}: MFU");
        let bytes = number("hbm_read_bytes") + number("hbm_write_bytes");
        let mbu = ours.mbu() * scale * bytes / ours.hbm_bytes() as f64;
        assert!(close(mbu, number("mbu_estimated_percent")), "{name}: MBU");
    }
}

#[test]
fn a_trace_file_is_understood() {
    for name in ["attn-fused-bf16-512", "matmul-small", "moe-dge"] {
        let program = real(name);
        let mut trace = Trace::new();
        let timing = Timing::only(&program);
        let timed = program.run_timed(&Tensors::new(), &timing, &mut trace).unwrap();
        let info = FileInfo {
            before: 0,
            neff_name: format!("{name}.neff"),
            neff_uuid: [7; 16],
            instance_type: "trn2.3xlarge".to_owned(),
            version: [2, 30, 51],
        };
        let file = write_ntff(&program, &timed, &trace, &info, Vec::new()).unwrap();
        let again = write_ntff(&program, &timed, &trace, &info, Vec::new()).unwrap();
        assert!(file == again, "{name}: two files of one run");
        check(name, &program, &timed.summary, &file);
    }
}

fn check(name: &str, program: &Program, summary: &npu::time::Summary, file: &[u8]) {
    let options = Options { mode: Mode::Strict, ..Options::default() };
    let mut reader = Reader::new(file, options).unwrap();
    let sections = reader.sections().to_vec();
    let mut seen = Summary::new(reader.info(), &sections, reader.header().blobs_start());
    let mut blobs = vec![Vec::new(); sections.len()];
    while let Some(chunk) = reader.next_chunk().unwrap() {
        seen.count(chunk.index, chunk.bytes);
        blobs[chunk.index].extend_from_slice(chunk.bytes);
    }
    let mut findings = reader.findings().clone();
    seen.report(reader.info(), &mut findings);
    assert!(findings.list().0.is_empty(), "{name}: {findings:?}");
    let window = &reader.info().execution_timeline[0];
    assert_eq!(window.end - window.start, summary.total, "{name}");
    let mut starts = BTreeMap::new();
    for (section, blob) in sections.iter().zip(&blobs) {
        if let SectionKind::Program { engine: Ok(engine), start_address } = section.kind {
            let isa = Engine::from_number(engine.index() as u8).unwrap();
            let stream = program.cores()[section.core as usize].stream(isa);
            let bytes: Vec<u8> = stream.iter().flat_map(|record| record.encode()).collect();
            assert!(*blob == bytes, "{name}: {section}");
            starts.insert((section.core, engine), (start_address, section.size / 64));
        }
    }
    let (mut open, mut packets) = (Pairs::new(1 << 20), Pairs::new(1 << 20));
    let mut counts = [0u64; 5];
    for (index, section) in sections.iter().enumerate() {
        let Some(decoder) = seen.decoder(index) else { continue };
        for record in record::records(&blobs[index]) {
            let notification = decoder.decode(record);
            assert!(notification.explains(record), "{name}: {notification:?}");
            let time = decoder.time(record, notification).ps();
            assert!(record.phase() && !record.hardware_loss(), "{name}");
            assert!((window.start..=window.end).contains(&time), "{name}: {time}");
            match notification {
                Notification::Start(start) => {
                    counts[0] += 1;
                    let (address, slots) = starts[&(section.core, start.engine)];
                    assert!(counters::slot(start.pc, address, slots).is_some());
                    open.begin((section.core, start.engine, start.pc), time).unwrap();
                }
                Notification::End(end) => {
                    counts[1] += 1;
                    let start = open.end(&(section.core, end.engine, end.pc)).unwrap();
                    assert!(start <= time, "{name}: an end before its start");
                }
                Notification::Dma(dma) => match dma.step {
                    DmaStep::Start { queue, .. } => {
                        counts[2] += 1;
                        packets.begin((section.core, dma.engine, queue), time).unwrap();
                    }
                    DmaStep::End { queue, .. } => {
                        let start = packets.end(&(section.core, dma.engine, queue)).unwrap();
                        assert!(start < time, "{name}: a packet ends before it starts");
                    }
                    _ => {}
                },
                Notification::Update(update) => {
                    counts[3] += 1;
                    assert_ne!(update.change(), neuron_core::ntff::notification::Change::Unknown);
                }
                Notification::Throttle(_) => counts[4] += 1,
                Notification::Explicit(_) => {}
                other => panic!("{name}: {other:?}"),
            }
        }
    }
    assert!(open.is_empty() && packets.is_empty(), "{name}");
    let instructions: u64 = summary.cores.iter().flat_map(|core| core.instructions).sum();
    let moved: u64 = summary.cores.iter().map(|core| core.packets).sum();
    assert_eq!(counts[..3], [instructions, instructions, moved], "{name}");
    assert!(counts[3] > 0, "{name}: no updates");
    assert_eq!(counts[4] > 0, name == "attn-fused-bf16-512", "{name}: throttling");
}

/// Cold until a window was full of work, then warm, then cold again.
#[test]
fn the_array_warms_up_and_cools_down() {
    let executed = on(V3, Engine::Pe, products(120, 512));
    let lengths: Vec<_> =
        executed.iter().skip(1).step_by(2).map(|one| one.end - one.start).collect();
    let (first, last) = (lengths[0], lengths[119]);
    assert!(first > last + 200_000, "{first} {last}");
    let mut trace = Trace::new();
    let mut small = Small { inputs: vec![64], output: 64, streams: Default::default() };
    *small.on(Engine::Pe) = products(120, 512);
    let program = lab::program(V3, &small);
    program.run_timed(&Tensors::new(), &Timing::only(&program), &mut trace).unwrap();
    assert_eq!(trace.records(0, Ring::Throttle).len(), 1);
    // v2 has no such limit
    let executed = on(V2, Engine::Pe, products(120, 512));
    let lengths: Vec<_> =
        executed.iter().skip(1).step_by(2).map(|one| one.end - one.start).collect();
    assert_eq!(lengths[10], lengths[119]);
}
