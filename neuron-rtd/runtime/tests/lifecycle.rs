//! Loading, groups, start and stop, sessions.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use rtd_runtime::{Code, LoadParams, Mode, ModelState};
use support::neff::{Chain, Node};
use support::{gated, into, request, software, until};

fn copy() -> Vec<u8> {
    Chain::new("copy", &[Node::Copy(1)]).build()
}

#[test]
fn a_model_is_loaded_started_run_and_unloaded() {
    let runtime = software();
    let group = runtime.create_group(Some(1), 0).unwrap();
    assert_eq!((group.id, group.count, group.start), (1, 1, 0));
    let id = runtime.load(&copy(), &into(1)).unwrap();
    assert_eq!(id, 10001);
    let early = runtime.infer(request(id, 1)).failure.unwrap();
    assert_eq!(early.code, Code::InvalidHandle);
    assert!(early.details().contains("not in a running state"), "{early}");
    runtime.start(id).unwrap();
    runtime.start(id).unwrap();
    let outcome = runtime.infer(request(id, 7));
    assert_eq!(outcome.failure, None);
    assert_eq!(outcome.outputs, [("y".to_owned(), vec![7; 64])]);
    let cookie = runtime.post(request(id, 8)).unwrap();
    assert_eq!(runtime.wait(cookie).outputs[0].1, [8; 64]);
    assert_eq!(runtime.wait(cookie).failure.unwrap().code, Code::InvalidHandle);
    runtime.stop(id).unwrap();
    runtime.stop(id).unwrap();
    runtime.unload(id).unwrap();
    let gone = runtime.unload(id).unwrap_err();
    assert_eq!(gone.code, Code::InvalidHandle);
    assert!(gone.details().contains("Failed to find model: 10001"), "{gone}");
    runtime.destroy_group(1).unwrap();
    let counters = runtime.snapshot();
    assert_eq!((counters.loads, counters.unloads), (1, 1));
    assert_eq!((counters.starts, counters.stops), (1, 1));
    assert_eq!((counters.inferences, counters.outcomes), (2, [2, 0, 0, 0, 0]));
    runtime.shut_down();
}

#[test]
fn an_implicit_group_is_made_started_and_taken_away() {
    let runtime = software();
    let id = runtime.load(&copy(), &LoadParams::default()).unwrap();
    let model = runtime.model_info(id).unwrap();
    assert_eq!(model.state, ModelState::Started);
    let group = model.group.unwrap();
    assert_eq!(runtime.infer(request(id, 3)).outputs[0].1, [3; 64]);
    // no other model may join, and it cannot be destroyed apart from its model
    let joined = runtime.load(&copy(), &into(group)).unwrap_err();
    assert_eq!(joined.code, Code::Invalid, "{joined}");
    assert_eq!(runtime.destroy_group(group).unwrap_err().code, Code::Invalid);
    runtime.unload(id).unwrap();
    assert_eq!(runtime.groups(), []);
    // 16 cores, then none
    let all: Vec<u32> =
        (0..16).map(|_| runtime.load(&copy(), &LoadParams::default()).unwrap()).collect();
    assert_eq!(all.first(), Some(&10002));
    let full = runtime.load(&copy(), &LoadParams::default()).unwrap_err();
    assert_eq!(full.code, Code::ResourceNc);
    assert!(full.details().contains("Insufficient number of VNCs"), "{full}");
    runtime.unload_all();
    runtime.unload_all();
    assert_eq!((runtime.groups().len(), runtime.models().len()), (0, 0));
    runtime.shut_down();
}

#[test]
fn a_group_crosses_devices_and_holds_a_model_of_six_cores() {
    let runtime = software();
    runtime.create_group(Some(2), 0).unwrap();
    let group = runtime.create_group(Some(6), 0).unwrap();
    assert_eq!((group.start, group.device_start, group.core_start), (2, 0, 2));
    let neff = Chain::new("six", &[Node::Copy(6)]).build();
    let id = runtime.load(&neff, &into(group.id)).unwrap();
    let model = runtime.model_info(id).unwrap();
    assert_eq!((model.first_core, model.cores, model.mode), (2, 6, Mode::Normal));
    runtime.start(id).unwrap();
    assert_eq!(runtime.infer(request(id, 5)).outputs[0].1, [5; 64]);
    runtime.shut_down();
}

/// Normal mode takes the sum of the cores, shared-NC mode the largest.
#[test]
fn the_load_mode_follows_the_size_of_the_group() {
    let runtime = software();
    let neff = Chain::new("two", &[Node::Copy(1), Node::Copy(2)]).build();
    for (cores, mode, depth) in [(3, Mode::Normal, 4), (2, Mode::SharedNc, 1)] {
        let group = runtime.create_group(Some(cores), 0).unwrap();
        let id = runtime.load(&neff, &into(group.id)).unwrap();
        let model = runtime.model_info(id).unwrap();
        assert_eq!((model.mode, model.cores, model.depth), (mode, cores, depth));
        runtime.start(id).unwrap();
        assert_eq!(runtime.infer(request(id, 9)).outputs[0].1, [9; 64]);
    }
    let group = runtime.create_group(Some(1), 0).unwrap();
    let refused = runtime.load(&neff, &into(group.id)).unwrap_err();
    assert_eq!(refused.code, Code::ResourceNc);
    assert!(refused.details().contains("Insufficient number of VNCs: 1, required: 2"));
    // implicit groups know normal mode only
    let id = runtime.load(&neff, &LoadParams::default()).unwrap();
    assert_eq!(runtime.model_info(id).unwrap().cores, 3);
    runtime.destroy_group(group.id).unwrap();
    runtime.shut_down();
}

#[test]
fn one_model_of_a_group_runs_at_a_time() {
    let runtime = software();
    let group = runtime.create_group(Some(1), 0).unwrap().id;
    let [a, b] = [(); 2].map(|()| runtime.load(&copy(), &into(group)).unwrap());
    runtime.start(a).unwrap();
    let refused = runtime.start(b).unwrap_err();
    assert_eq!(refused.code, Code::Invalid);
    assert!(refused.details().contains("(10001) of EG(1) is running"), "{refused}");
    assert_eq!(runtime.destroy_group(group).unwrap_err().code, Code::Invalid);
    runtime.stop(a).unwrap();
    runtime.start(b).unwrap();
    assert_eq!(runtime.infer(request(b, 4)).outputs[0].1, [4; 64]);
    runtime.shut_down();
}

#[test]
fn models_come_and_go_while_another_of_the_group_runs() {
    let (runtime, gates) = gated();
    let group = runtime.create_group(Some(1), 0).unwrap().id;
    let running = runtime.load(&copy(), &into(group)).unwrap();
    runtime.start(running).unwrap();
    let cookie = runtime.post(request(running, 1)).unwrap();
    until("the node runs", || gates.begun().len() == 1);
    // ten clients at once
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                let other = runtime.load(&copy(), &into(group)).unwrap();
                runtime.unload(other).unwrap();
            });
        }
    });
    gates.free();
    assert_eq!(runtime.wait(cookie).outputs[0].1, [1; 64]);
    assert_eq!(runtime.models().len(), 1);
    runtime.shut_down();
}

/// The host alone: no core is needed, none is taken.
#[test]
fn a_neff_without_neuron_nodes_loads_and_runs() {
    let runtime = software();
    let neff = Chain::new("host", &[Node::Cpu("identity"), Node::Cpu("relu")]).build();
    let id = runtime.load(&neff, &LoadParams::default()).unwrap();
    let model = runtime.model_info(id).unwrap();
    assert_eq!((model.cores, model.group, model.state), (0, None, ModelState::Started));
    assert_eq!(runtime.infer(request(id, 0)).outputs[0].1, [0; 64]);
    assert_eq!(runtime.groups(), []);
    runtime.unload(id).unwrap();
    let native = Chain::new("native", &[Node::Cpu("fused_conv")]).build();
    let refused = runtime.load(&native, &LoadParams::default()).unwrap_err();
    assert_eq!(refused.code, Code::Invalid);
    assert!(refused.details().contains("\"fused_conv\" is not built in"), "{refused}");
    runtime.shut_down();
}

#[test]
fn handles_that_do_not_exist_are_told() {
    let runtime = software();
    for code in [
        runtime.start(1).unwrap_err().code,
        runtime.stop(10001).unwrap_err().code,
        runtime.unload(0).unwrap_err().code,
        runtime.destroy_group(1).unwrap_err().code,
        runtime.load(&copy(), &into(9)).unwrap_err().code,
        runtime.create_group(None, 77).unwrap_err().code,
        runtime.post(request(10001, 0)).unwrap_err().code,
        runtime.poll(1).unwrap_err().code,
        runtime.completed(&[0]).unwrap_err().code,
        runtime.unmap("/nothing").unwrap_err().code,
    ] {
        assert_eq!(code, Code::InvalidHandle);
    }
    runtime.shut_down();
}

#[test]
fn everything_of_a_session_goes_with_it() {
    let (runtime, gates) = gated();
    let (mine, other) = (runtime.open_session(), runtime.open_session());
    let group = runtime.create_group(Some(2), mine).unwrap().id;
    let kept = runtime.create_group(Some(1), other).unwrap().id;
    let load = |group, session| {
        let params = LoadParams { group, session, ..LoadParams::default() };
        runtime.load(&copy(), &params).unwrap()
    };
    let (a, b) = (load(Some(group), mine), load(Some(kept), other));
    let c = load(None, mine);
    runtime.start(a).unwrap();
    let cookies: Vec<u64> = (0..3).map(|n| runtime.post(request(a, n)).unwrap()).collect();
    until("the node runs", || gates.begun().len() == 1);
    std::thread::scope(|scope| {
        let closing = scope.spawn(|| runtime.close_session(mine));
        // what is queued is cancelled, what runs is waited for
        until("two are cancelled", || runtime.completed(&cookies[1..]).is_ok_and(|d| d.len() == 2));
        assert!(!closing.is_finished());
        gates.free();
    });
    assert_eq!(runtime.sessions(), [other]);
    assert_eq!(runtime.models().iter().map(|model| model.id).collect::<Vec<_>>(), [b]);
    assert_eq!(runtime.groups().iter().map(|group| group.id).collect::<Vec<_>>(), [kept]);
    assert_eq!(runtime.unload(c).unwrap_err().code, Code::InvalidHandle);
    assert_eq!(runtime.in_flight(), (0, 0));
    // twice is harmless
    runtime.close_session(mine);
    runtime.start(b).unwrap();
    assert_eq!(runtime.infer(request(b, 1)).failure, None);
    runtime.shut_down();
}

/// A group that others still use stays until they have gone.
#[test]
fn a_group_stays_while_models_of_others_are_in_it() {
    let runtime = software();
    let session = runtime.open_session();
    let group = runtime.create_group(Some(1), session).unwrap().id;
    let id = runtime.load(&copy(), &into(group)).unwrap();
    runtime.start(id).unwrap();
    runtime.close_session(session);
    assert_eq!(runtime.infer(request(id, 2)).outputs[0].1, [2; 64]);
    assert_eq!(runtime.load(&copy(), &into(group)).unwrap_err().code, Code::InvalidHandle);
    runtime.unload(id).unwrap();
    assert_eq!(runtime.groups(), []);
    runtime.shut_down();
}

#[test]
fn files_that_cannot_be_loaded_leave_nothing_behind() {
    let runtime = software();
    let good = copy();
    let group = runtime.create_group(Some(1), 0).unwrap().id;
    for length in (0..good.len()).step_by(97) {
        let refused = runtime.load(&good[..length], &into(group)).unwrap_err();
        assert!(matches!(refused.code, Code::Invalid | Code::UnsupportedVersion), "{refused}");
        assert!(!refused.details().is_empty());
    }
    let mut newer = good.clone();
    newer[0x18] = 3;
    let refused = runtime.load(&newer, &into(group)).unwrap_err();
    assert_eq!(refused.code, Code::UnsupportedVersion);
    let text = refused.details();
    assert!(text.contains("NEFF version mismatch supported: 2.0 received: 3.0"), "{text}");
    let mut spoilt = good;
    *spoilt.last_mut().unwrap() ^= 1;
    assert_eq!(runtime.load(&spoilt, &LoadParams::default()).unwrap_err().code, Code::Invalid);
    runtime.destroy_group(group).unwrap();
    assert_eq!(runtime.groups(), []);
    runtime.shut_down();
}
