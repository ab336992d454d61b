//! What is refused before anything runs, which node of a file runs, and the end
//! of a run that is cancelled.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use neuron_core::isa::body::control::{Branch, Nop};
use neuron_core::isa::code::{BranchCompare, BranchTarget};
use neuron_core::isa::{Engine, Opcode};
use neuron_core::neff::{Neff, Options, Rule};
use npu::time::Timing;
use npu::{Cancel, LoadError, Program, Stop, Tensors};
use support::neff::{Small, changed, plain};

fn small() -> Small {
    let mut small = Small { inputs: vec![64], output: 64, streams: Default::default() };
    small.on(Engine::Sp).push(plain(Opcode::NOP, Nop::default()));
    small
}

#[test]
fn a_damaged_file_is_no_program() {
    let good = small().build();
    assert!(Program::from_neff(&good).is_ok());
    let mut bad = good.clone();
    // a byte of the payload that changes no header: the digest sees it
    *bad.last_mut().unwrap() ^= 1;
    let error = Program::from_neff(&bad).unwrap_err();
    assert!(matches!(&error, LoadError::Neff(problem) if problem.rule == Rule::Digest), "{error}");
    assert!(Program::from_neff(&good[..good.len() - 600]).is_err());
    // whole, but a definition names a member that is not there
    let bad = changed(&good, "sg00/def.json", |json| {
        *json = String::from_utf8(json.clone()).unwrap().replace("sp.json", "ps.json").into_bytes();
    });
    let error = Program::from_neff(&bad).unwrap_err();
    assert!(
        matches!(&error, LoadError::Neff(problem) if problem.rule == Rule::MemberAbsent),
        "{error}"
    );
}

#[test]
fn a_file_that_nobody_checked_is_refused() {
    let file = small().build();
    for options in [Options::lenient(), Options::strict().without_digest()] {
        let neff = Neff::open(&file, &options).unwrap();
        assert!(matches!(Program::from_node(&neff, None), Err(LoadError::Unchecked)));
    }
    let neff = Neff::open(&file, &Options::strict()).unwrap();
    assert!(Program::from_node(&neff, None).is_ok());
    assert!(Program::from_node(&neff, Some("kelf-0.json")).is_ok());
    let error = Program::from_node(&neff, Some("kelf-7.json")).unwrap_err().to_string();
    assert_eq!(error, "NEFF: no Neuron node has kelf-7.json; choose one of kelf-0.json");
}

/// A loop without end, which another thread ends, both ways.
#[test]
fn a_run_is_cancelled() {
    let forever = Branch {
        compare: BranchCompare::ALWAYS,
        target: BranchTarget::RELATIVE,
        distance: -64,
        ..Branch::default()
    };
    let mut small = small();
    small.on(Engine::Sp).push(plain(Opcode::COMPARE_BRANCH, forever));
    let program = Program::from_neff(&small.build()).unwrap();
    let inputs: Tensors = [("a".to_owned(), vec![0; 128 * 64])].into();
    let stopped = |run: &dyn Fn(Cancel<'_>) -> Stop| {
        let flag = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                flag.store(true, Ordering::Relaxed);
            });
            run(Cancel(&flag))
        })
    };
    let limits = npu::Limits::default();
    let plain = stopped(&|mut end| program.run_with(&inputs, &limits, &mut end).unwrap_err());
    assert_eq!(plain, Stop::Cancelled);
    let timing = Timing::only(&program);
    let timed = stopped(&|mut end| program.run_timed(&inputs, &timing, &mut end).unwrap_err());
    assert_eq!(timed, Stop::Cancelled);
}
