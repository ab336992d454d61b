//! The scheduler: deadlocks, what is not understood, order, loops, limits, and
//! copies of real files with something changed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::body::control::{Alu, Branch, Move, RegisterPair};
use neuron_core::isa::body::tensor::{Memset, Unary};
use neuron_core::isa::code::{AluOp, BranchCompare, BranchTarget, Dtype, OperandSource};
use neuron_core::isa::{Engine, Instruction, Opcode};
use npu::dma::Job;
use npu::{At, Fault, Limits, Observer, Program, Stop, Tensors, Unmet};
use support::Random;
use support::neff::{Small, after, changed, plain, wait, whole};

fn small(engine: Engine, work: Vec<Instruction>) -> Small {
    Small::around(&[64], 64, engine, work)
}

fn copy() -> Instruction {
    let body = Unary {
        src: whole(0, 16),
        src_type: Dtype::FP32,
        dst_type: Dtype::FP32,
        channels: 128,
        dst: whole(1, 16),
        ..Unary::default()
    };
    plain(Opcode::COPY, body)
}

fn inputs() -> Tensors {
    let mut random = Random(80);
    let bytes = (0..128 * 64).map(|_| random.next() as u8).collect();
    [("a".to_owned(), bytes)].into()
}

fn run(file: &[u8]) -> Result<Tensors, Stop> {
    Program::from_neff(file).unwrap().run(&inputs())
}

#[test]
fn bits_come_back_as_they_went() {
    let out = run(&small(Engine::Dve, vec![copy()]).build()).unwrap();
    assert_eq!(out["out"], inputs()["a"]);
}

#[test]
fn a_deadlock_names_every_wait() {
    let mut file = small(Engine::Dve, vec![copy()]);
    file.on(Engine::Dve).insert(0, wait(8, 17));
    file.on(Engine::Act).push(wait(77, 3));
    let error = run(&file.build()).unwrap_err();
    let Stop::Deadlock(blocked) = &error else { panic!("{error}") };
    let told: Vec<_> = blocked.iter().map(|b| (b.at.engine, b.at.slot, b.unmet.clone())).collect();
    let unmet = |index, value, needed: &str| {
        vec![Unmet::Semaphore { index, value, needed: needed.to_owned() }]
    };
    assert_eq!(
        told,
        [
            (Engine::Act, 0, unmet(77, 0, ">=3")),
            (Engine::Dve, 0, unmet(8, 16, ">=17")),
            (Engine::Sp, 1, unmet(4, 0, ">=1")),
        ]
    );
    let text = error.to_string();
    let part = "core 0 DVE slot 0 EVENT_SEMAPHORE: semaphore 8 is 16 and must be >=17";
    assert!(text.contains(part) && !text.contains('\n'), "{text}");
}

#[test]
fn what_is_not_understood_stops_the_run() {
    let good = small(Engine::Dve, vec![copy()]).build();
    let try_it = |at: usize, byte: u8| {
        run(&changed(&good, "sg00/dve.bin", |stream| stream[64 + at] = byte)).map(drop).unwrap_err()
    };
    // an opcode that no table has, one without a layout, one that only decodes
    for (opcode, name) in [(0xfe, "OP_FE"), (0x45, "POOL"), (0x4d, "RNG")] {
        let error = try_it(0, opcode);
        let Stop::Instruction { at, bytes, .. } = &error else { panic!("{error}") };
        assert_eq!(*at, At { core: 0, engine: Engine::Dve, slot: 1 });
        assert_eq!(bytes[0], opcode);
        let text = error.to_string();
        assert!(text.starts_with(&format!("core 0 DVE slot 1 {name}: ")), "{text}");
        assert!(text.contains(&format!("; record {opcode:02x}10")), "{text}");
    }
    // a byte that no field has, a wait mode without meaning, a mask, a wrong
    // engine's opcode, partitions past the end, an address form
    for (at, byte) in [(40, 1), (4, 0x33), (38, 1), (0, 0x21), (34, 129), (15, 1), (47, 0x80)] {
        let error = try_it(at, byte);
        assert!(matches!(error, Stop::Instruction { .. }), "byte {at}: {error}");
    }
}

#[test]
fn no_byte_of_a_program_makes_it_panic() {
    let good = small(Engine::Dve, vec![copy()]);
    let mut random = Random(81);
    let limits = Limits { instructions: 1000, ..Limits::default() };
    for round in 0..400 {
        let engine = if round % 2 == 0 { "sp" } else { "dve" };
        let bad = changed(&good.build(), &format!("sg00/{engine}.bin"), |stream| {
            for _ in 0..=random.next() % 3 {
                let at = usize::try_from(random.next()).unwrap() % stream.len();
                stream[at] = random.next() as u8;
            }
        });
        let program = Program::from_neff(&bad).unwrap();
        let _ = program.run_with(&inputs(), &limits, &mut ());
    }
}

#[test]
fn inputs_must_fit() {
    let program = Program::from_neff(&small(Engine::Dve, vec![copy()]).build()).unwrap();
    let mut wrong = inputs();
    wrong.get_mut("a").unwrap().pop();
    for inputs in [Tensors::new(), wrong, [("b".to_owned(), Vec::new())].into()] {
        assert!(matches!(program.run(&inputs), Err(Stop::Input { .. })));
    }
}

/// Adds 3 to a register until it is 30, then selects nothing: the count of
/// instructions shows the ten rounds.
#[test]
fn a_loop_ends_and_is_limited() {
    let register = RegisterPair { low: 60, high: 0 };
    let mut work = vec![plain(
        Opcode::MOVE,
        Move {
            count: 1,
            dtype: Dtype::UINT32,
            source: OperandSource::IMMEDIATE,
            register: 60,
            value: 0,
        },
    )];
    let add = Alu {
        op: AluOp::ADD,
        dtype: Dtype::UINT32,
        src1_source: OperandSource::IMMEDIATE,
        src0: register,
        dst: register,
        immediate: 3,
        ..Alu::default()
    };
    let branch = |compare, distance| Branch {
        compare,
        dtype: Dtype::INT32,
        target: BranchTarget::RELATIVE,
        immediate: 30,
        register: 60,
        distance,
        ..Branch::default()
    };
    work.push(plain(Opcode::ALU_OP, add));
    work.push(plain(Opcode::COMPARE_BRANCH, branch(BranchCompare::EQ, 2 * 64)));
    work.push(plain(Opcode::COMPARE_BRANCH, branch(BranchCompare::ALWAYS, -2 * 64)));
    let set = Memset {
        count: 16,
        dst_type: Dtype::INT32,
        channels: 128,
        value: 7,
        dst: whole(1, 16),
        ..Memset::default()
    };
    work.push(plain(Opcode::MEMSET, set));
    let program = Program::from_neff(&small(Engine::Pool, work).build()).unwrap();
    let mut count = Count::default();
    let out = program.run_with(&inputs(), &Limits::default(), &mut count).unwrap();
    assert_eq!(out["out"], [7, 0, 0, 0].repeat(128 * 16));
    // the wait, MOVE, ten rounds of three less the last jump back, MEMSET
    assert_eq!(count.pool, 1 + 1 + 29 + 1);
    let few = Limits { instructions: 20, ..Limits::default() };
    let error = program.run_with(&inputs(), &few, &mut ()).unwrap_err();
    assert_eq!(error, Stop::Instructions(20));
    let small = Limits { output_bytes: 128 * 64 - 1, ..Limits::default() };
    let error = program.run_with(&inputs(), &small, &mut ()).unwrap_err();
    assert!(matches!(error, Stop::Output { .. }), "{error}");
}

#[derive(Default)]
struct Count {
    pool: u32,
}

impl Observer for Count {
    fn end(&mut self, at: At, _: &Instruction) {
        self.pool += u32::from(at.engine == Engine::Pool);
    }
}

/// What an observer saw, as words.
#[derive(Default)]
struct Log(Vec<String>);

impl Observer for Log {
    fn begin(&mut self, at: At, instruction: &Instruction) {
        self.0.push(format!("begin {} {} {}", at.engine, at.slot, instruction.header.opcode));
    }
    fn end(&mut self, at: At, _: &Instruction) {
        self.0.push(format!("end {} {}", at.engine, at.slot));
    }
    fn queued(&mut self, at: At, job: &Job) {
        self.0.push(format!("queued {} {:?}", at.engine, job.semaphore));
    }
    fn transferred(&mut self, core: usize, job: &Job) {
        self.0.push(format!("transferred {core} {:?}", job.semaphore));
    }
}

#[test]
fn an_observer_sees_everything_in_order() {
    let program = Program::from_neff(&small(Engine::Dve, vec![copy()]).build()).unwrap();
    let mut log = Log::default();
    program.run_with(&inputs(), &Limits::default(), &mut log).unwrap();
    assert_eq!(
        log.0,
        [
            "begin SP 0 PSEUDO_DMA_DIRECT2D",
            "queued SP Some(8)",
            "end SP 0",
            "transferred 0 Some(8)",
            "begin DVE 0 EVENT_SEMAPHORE",
            "end DVE 0",
            "begin DVE 1 COPY",
            "end DVE 1",
            "begin SP 1 PSEUDO_DMA_DIRECT2D",
            "queued SP Some(9)",
            "end SP 1",
            "transferred 0 Some(9)",
            "begin SP 2 EVENT_SEMAPHORE",
            "end SP 2",
        ]
    );
}

#[test]
fn pool_cannot_reach_psum() {
    let mut set = Memset { count: 1, dst_type: Dtype::FP32, channels: 1, ..Memset::default() };
    set.dst = whole(0, 1);
    set.dst.start.0 = neuron_core::isa::address::PSUM_BASE;
    let error = run(&small(Engine::Pool, vec![plain(Opcode::MEMSET, set)]).build()).unwrap_err();
    assert!(matches!(error, Stop::Instruction { fault: Fault::Psum(_), .. }), "{error}");
}

/// A store that does not wait for the engine's result does not have it.
#[test]
fn a_program_without_its_wait_shows_it() {
    let mut file = small(Engine::Dve, vec![copy()]);
    let store = &mut file.on(Engine::Sp)[1];
    *store = after(*store, 8, 16);
    let out = run(&file.build()).unwrap();
    assert_ne!(out["out"], inputs()["a"]);
}
