//! Collectives between the cores of a program, against NumPy.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::body::pseudo::Collective;
use neuron_core::isa::code::{AluOp, CollectiveKind, Dtype};
use neuron_core::isa::{Engine, Instruction};
use npu::collective::Post;
use npu::number::Element;
use npu::time::Timing;
use npu::{At, Fault, Limits, Observer, Program, Stop, Tensors, Unmet};
use support::neff::wait;
use support::oracle::name;
use support::ranks::{DONE, post, ranks};
use support::{Random, numpy};

/// Numbers of a part.
const COUNT: usize = 40;

fn body(kind: CollectiveKind, op: AluOp, dtype: Dtype) -> Collective {
    Collective { op, dtype, num_elements: COUNT as u64, kind, ..Collective::default() }
}

/// A rank that posts and waits for the end.
fn stream(body: Collective) -> Vec<Instruction> {
    vec![post(body), wait(DONE, 1)]
}

fn inputs(cores: usize, bytes: usize, element: Element) -> Tensors {
    let mut random = Random(110);
    (0..cores)
        .map(|rank| {
            let count = bytes / element.bytes();
            let numbers: Vec<u8> =
                (0..count).flat_map(|_| (random.normal() * 4.0).to_le_bytes()).collect();
            (format!("a{rank}"), Element::Fp32.convert(&numbers, element))
        })
        .collect()
}

/// `x` holds the inputs by rank; the expression gives the outputs by rank.
const SCRIPT: &str = r#"
import sys, numpy, ml_dtypes
kind = lambda name: numpy.dtype(getattr(ml_dtypes, name, None) or name)
expression, dtype, cores = sys.argv[1:]
x = numpy.frombuffer(sys.stdin.buffer.read(), kind(dtype)).reshape(int(cores), -1)
out = eval(expression, {"x": x, "w": x.astype("float32"), "np": numpy})
sys.stdout.buffer.write(numpy.ascontiguousarray(out.astype(kind(dtype))).tobytes())
"#;

#[test]
fn collectives_are_those_of_numpy() {
    let Some(numpy) = numpy() else { return };
    use CollectiveKind as Kind;
    // sums in the order of the ranks, in fp32
    let sum = "np.cumsum(w, 0)[-1:]";
    for (kind, op, dtype, cores, expression) in [
        (Kind::ALL_REDUCE, AluOp::ADD, Dtype::FP32, 4, format!("np.repeat({sum}, 4, 0)")),
        (Kind::ALL_REDUCE, AluOp::ADD, Dtype::BFLOAT16, 3, format!("np.repeat({sum}, 3, 0)")),
        (
            Kind::ALL_REDUCE,
            AluOp::MULTIPLY,
            Dtype::FP16,
            2,
            "np.repeat([w[0] * w[1]], 2, 0)".into(),
        ),
        (Kind::ALL_REDUCE, AluOp::MAX, Dtype::FP32, 4, "np.repeat([x.max(0)], 4, 0)".into()),
        (Kind::ALL_REDUCE, AluOp::MIN, Dtype::INT8, 4, "np.repeat([x.min(0)], 4, 0)".into()),
        (Kind::ALL_REDUCE, AluOp::ADD, Dtype::INT32, 4, "np.repeat([x.sum(0)], 4, 0)".into()),
        (Kind::REDUCE_SCATTER, AluOp::ADD, Dtype::FP32, 4, format!("{sum}.reshape(4, 40)")),
        (
            Kind::ALL_GATHER,
            AluOp::BYPASS,
            Dtype::BFLOAT16,
            4,
            "np.tile(x.reshape(-1), (4, 1))".into(),
        ),
        (
            Kind::ALL_TO_ALL,
            AluOp::BYPASS,
            Dtype::FP32,
            4,
            "x.reshape(4, 4, 40).swapaxes(0, 1).reshape(4, 160)".into(),
        ),
    ] {
        let element = Element::of(dtype).unwrap();
        let part = COUNT * element.bytes();
        let wide = |kinds: &[Kind]| if kinds.contains(&kind) { cores } else { 1 };
        let input = part * wide(&[Kind::REDUCE_SCATTER, Kind::ALL_TO_ALL]);
        let output = part * wide(&[Kind::ALL_GATHER, Kind::ALL_TO_ALL]);
        let file = ranks(input, output, "", &vec![stream(body(kind, op, dtype)); cores]);
        let tensors = inputs(cores, input, element);
        let program = Program::from_neff(&file).unwrap();
        let ours = program.run(&tensors).unwrap();
        let timed = program.run_timed(&tensors, &Timing::of(&program), &mut ()).unwrap();
        assert_eq!(ours, timed.outputs, "{kind} in time");
        let all: Vec<u8> = tensors.values().flatten().copied().collect();
        let arguments = [expression.as_str(), name(dtype), &cores.to_string()];
        let theirs = numpy.run(SCRIPT, &arguments, &all);
        let ours: Vec<u8> = ours.values().flatten().copied().collect();
        assert_eq!(ours, theirs, "{kind} {op} {dtype}");
    }
}

/// Groups of their own, in the order that they have; two collectives in a row.
#[test]
fn groups_and_permutes() {
    let kind = CollectiveKind::ALL_GATHER;
    let twice = |group_id| {
        let body = Collective { group_id, ..body(kind, AluOp::BYPASS, Dtype::UINT8) };
        let later = Collective { src_offset: 40, dst_offset: 80, ..body };
        vec![post(body), post(later), wait(DONE, 2)]
    };
    let more = r#""replica_groups": [[2, 0], [1, 3]], "#;
    let file = ranks(80, 160, more, &[0, 1, 0, 1].map(twice));
    let tensors = inputs(4, 80, Element::Uint8);
    let ours = Program::from_neff(&file).unwrap().run(&tensors).unwrap();
    let half = |rank: usize, part: usize| &tensors[&format!("a{rank}")][part * 40..][..40];
    let expected = |a, b| [half(a, 0), half(b, 0), half(a, 1), half(b, 1)].concat();
    for (rank, pair) in [(0, (2, 0)), (1, (1, 3)), (2, (2, 0)), (3, (1, 3))] {
        assert_eq!(ours[&format!("out{rank}")], expected(pair.0, pair.1), "rank {rank}");
    }
    // rank 2 is no target; rank 3 has no part in it and posts nothing
    let permute = stream(body(CollectiveKind::PERMUTE, AluOp::BYPASS, Dtype::UINT8));
    let more = r#""src_target_pairs": [[[0, 1], [1, 0]], [[2, 0], [0, 1]]], "#;
    let second =
        Collective { group_id: 1, ..body(CollectiveKind::PERMUTE, AluOp::BYPASS, Dtype::UINT8) };
    let all = stream(second);
    for (streams, sources) in [
        ([permute.clone(), permute, vec![], vec![]], [Some(1), Some(0), None, None]),
        ([all.clone(), all.clone(), all, vec![]], [Some(2), Some(0), None, None]),
    ] {
        let file = ranks(40, 40, more, &streams);
        let tensors = inputs(4, 40, Element::Uint8);
        let ours = Program::from_neff(&file).unwrap().run(&tensors).unwrap();
        for (rank, source) in sources.into_iter().enumerate() {
            let expected = source.map_or(vec![0; 40], |from| tensors[&format!("a{from}")].clone());
            assert_eq!(ours[&format!("out{rank}")], expected, "rank {rank}");
        }
    }
}

#[test]
fn a_missing_rank_is_a_deadlock_with_its_name() {
    let body = body(CollectiveKind::ALL_REDUCE, AluOp::ADD, Dtype::FP32);
    for wait_for_it in [true, false] {
        let mut rank = stream(body);
        if !wait_for_it {
            rank.pop();
        }
        let file = ranks(160, 160, "", &[rank.clone(), vec![], rank]);
        let tensors = inputs(3, 160, Element::Fp32);
        let program = Program::from_neff(&file).unwrap();
        let error = program.run(&tensors).unwrap_err();
        let timed = program.run_timed(&tensors, &Timing::of(&program), &mut ()).unwrap_err();
        for stop in [&error, &timed] {
            assert!(stop.to_string().contains("ranks [1] have not posted"), "{stop}");
        }
        let Stop::Deadlock(blocked) = &error else { panic!("{error}") };
        let missing = blocked.iter().filter(|b| b.unmet == [Unmet::Ranks(vec![1])]);
        let cores: Vec<usize> = missing.map(|blocked| blocked.at.core).collect();
        assert_eq!(cores, [0, 2], "{error}");
        assert!(error.to_string().contains("ranks [1] have not posted"), "{error}");
    }
}

#[test]
fn wrong_groups_and_ranks_are_faults() {
    let good = body(CollectiveKind::ALL_REDUCE, AluOp::ADD, Dtype::FP32);
    let stop = |more: &str, streams: &[Vec<Instruction>]| {
        let file = ranks(160, 160, more, streams);
        let tensors = inputs(streams.len(), 160, Element::Fp32);
        match Program::from_neff(&file).unwrap().run(&tensors) {
            Err(Stop::Instruction { fault, .. }) => fault,
            other => panic!("{other:?}"),
        }
    };
    let both = |body| vec![stream(body), stream(body)];
    for (more, streams, part) in [
        (r#""replica_groups": [[0, 2]], "#, both(good), "rank 2 is no core of this program"),
        (r#""replica_groups": [[0]], "#, both(good), "rank 1 is not in the group [0]"),
        (r#""replica_groups": [[0, 0]], "#, both(good), "twice"),
        (r#""replica_groups": [[0, "x"]], "#, both(good), "lists of ranks"),
        ("", both(Collective { group_id: 1, ..good }), "no group 1"),
        ("", both(Collective { kind: CollectiveKind::PERMUTE, ..good }), "no pairs of group 0"),
        ("", both(Collective { num_elements: 0, ..good }), "0 elements"),
        ("", both(Collective { num_elements: 1 << 60, ..good }), "elements"),
        ("", both(Collective { num_elements: 41, ..good }), "164 bytes"),
        (
            "",
            vec![stream(good), stream(Collective { op: AluOp::MAX, ..good })],
            "rank 1 posts ALL_REDUCE MAX of 40 Fp32, rank 0 ALL_REDUCE ADD",
        ),
    ] {
        let fault = stop(more, &streams);
        assert!(fault.to_string().contains(part), "{fault}");
    }
    let fault = stop("", &both(Collective { op: AluOp::DIVIDE, ..good }));
    assert!(matches!(fault, Fault::Operation { op: AluOp::DIVIDE, .. }), "{fault}");
    let fault = stop("", &both(Collective { kind: CollectiveKind::PERMUTE_REDUCE, ..good }));
    assert!(matches!(fault, Fault::NotUnderstood(_)), "{fault}");
}

#[derive(Default)]
struct Log(Vec<String>);

impl Observer for Log {
    fn posted(&mut self, at: At, post: &Post) {
        self.0.push(format!("posted {} {} {}", at.core, at.engine, post.input_bytes()));
    }
    fn collected(&mut self, posts: &[Post]) {
        let cores: Vec<usize> = posts.iter().map(|post| post.at.core).collect();
        self.0.push(format!("collected {cores:?} {}", posts[0].output_bytes()));
    }
}

#[test]
fn an_observer_sees_posts_and_ends() {
    let body = body(CollectiveKind::ALL_GATHER, AluOp::BYPASS, Dtype::FP32);
    let file = ranks(160, 320, "", &[stream(body), stream(body)]);
    let program = Program::from_neff(&file).unwrap();
    let mut log = Log::default();
    let tensors = inputs(2, 160, Element::Fp32);
    program.run_with(&tensors, &Limits::default(), &mut log).unwrap();
    let engine = Engine::Sp;
    assert_eq!(
        log.0,
        [
            format!("posted 0 {engine} 160"),
            format!("posted 1 {engine} 160"),
            "collected [0, 1] 320".to_owned()
        ]
    );
}
