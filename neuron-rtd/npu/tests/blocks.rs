//! Blocks of transfers in the engine's JSON, started by a trigger, against
//! NumPy.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use neuron_core::isa::body::pseudo::DmaTrigger;
use neuron_core::isa::value::Name;
use neuron_core::isa::{Engine, Opcode};
use npu::{Fault, Program, Stop, Tensors};
use support::neff::{Small, changed, plain, wait};
use support::{Random, numpy};

/// Rows of 64 bytes: 128 x 32 numbers of 2 bytes.
const ROW: usize = 64;

/// Copies the input to the output with one block, whose transfer has these
/// further keys.
fn file(keys: &str) -> Vec<u8> {
    let mut small = Small { inputs: vec![64], output: 64, streams: Default::default() };
    let mut queue = [0; 32];
    queue[..4].copy_from_slice(b"qOut");
    let trigger = DmaTrigger { queue: Name(queue), block_id: 7, ..DmaTrigger::default() };
    small.on(Engine::Act).push(plain(Opcode::PSEUDO_DMA_TRIGGER, trigger));
    small.on(Engine::Act).push(wait(40, 16));
    let transfer = format!(
        r#"{{"from": "a", "from_off": 0, "from_sizes": [8192], "from_steps": [1],
        "to": "out", "to_off": 0, "to_sizes": [64, 128], "to_steps": [1, 64], {keys}}}"#
    );
    let block = format!(r#"{{"id": 7, "queue": "qOut", "semaphore": 40, "desc": [{transfer}]}}"#);
    changed(&small.build(), "sg00/act.json", |text| {
        let json = String::from_utf8(text.clone()).unwrap();
        *text = json.replace(r#""dma": []"#, &format!(r#""dma": [{block}]"#)).into_bytes();
    })
}

fn run(keys: &str, input: &[u8]) -> Result<Vec<u8>, Stop> {
    let inputs: Tensors = [("a".to_owned(), input.to_vec())].into();
    let mut out = Program::from_neff(&file(keys)).unwrap().run(&inputs)?;
    Ok(out.remove("out").unwrap())
}

const SCRIPT: &str = r#"
import sys, numpy
data = numpy.frombuffer(sys.stdin.buffer.read(), sys.argv[1])
out = eval(sys.argv[2])
sys.stdout.buffer.write(numpy.ascontiguousarray(out).tobytes())
"#;

#[test]
fn blocks_copy_and_turn() {
    let Some(numpy) = numpy() else { return };
    let mut random = Random(140);
    let input: Vec<u8> = (0..128 * ROW).map(|_| random.next() as u8).collect();
    let word = r#""from_dtype": "float16", "to_dtype": "float16""#;
    let turn = |rows, columns, size| {
        format!(
            r#"{word}, "transpose_op": "WZXY", "transpose_shape": [1, 1, {rows}, {columns}],
            "transpose_element_size": {size}"#
        )
    };
    let cases = [
        (r#""op": "copy""#.to_owned(), "uint8", "data"),
        (turn(128, 32, 2), "uint16", "data.reshape(128, 32).T"),
        // several tiles, one after the other
        (turn(16, 32, 2), "uint16", "data.reshape(8, 16, 32).swapaxes(1, 2)"),
        (turn(32, 16, 4), "uint32", "data.reshape(4, 32, 16).swapaxes(1, 2)"),
    ];
    for (keys, kind, expression) in cases {
        let theirs = numpy.run(SCRIPT, &[kind, expression], &input);
        assert_eq!(run(&keys, &input).unwrap(), theirs, "{keys}");
    }
    let bad = [
        turn(128, 32, 2).replace("WZXY", "XYZW"),
        r#""op": "copy", "transpose_op": "WZXY""#.to_owned(),
        r#""op": "fma", "scale": 2.0"#.to_owned(),
    ];
    for keys in bad {
        let stop = run(&keys, &input).unwrap_err();
        let Stop::Instruction { fault, .. } = &stop else { panic!("{stop}") };
        assert!(matches!(fault, Fault::NotUnderstood(_)), "{keys}: {fault}");
    }
    let stop = run(&turn(100, 32, 2), &input).unwrap_err();
    assert!(matches!(stop, Stop::Transfer { fault: Fault::Shape(_), .. }), "{stop}");
}
