//! Inferences in flight: order, overlap, depth, time, errors.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rtd_runtime::{Code, Data, Input, LoadParams, ModelState, Request, Runtime};
use support::neff::{Chain, Node};
use support::{gated, request, software, until};

fn started(runtime: &Runtime, nodes: &[Node], ninfer: u32, timeout: u32) -> u32 {
    let params =
        LoadParams { ninfer: Some(ninfer), timeout: Some(timeout), ..LoadParams::default() };
    runtime.load(&Chain::new("chain", nodes).build(), &params).unwrap()
}

#[test]
fn exactly_ninfer_posts_are_accepted() {
    for ninfer in [1, 2, 5] {
        let (runtime, gates) = gated();
        let id = started(&runtime, &[Node::Copy(1)], ninfer, 60);
        let cookies: Vec<u64> =
            (0..ninfer).map(|n| runtime.post(request(id, n as u8)).unwrap()).collect();
        let full = runtime.post(request(id, 99)).unwrap_err();
        assert_eq!(full.code, Code::QueueFull);
        assert_eq!(runtime.infer(request(id, 99)).failure.unwrap().code, Code::QueueFull);
        assert_eq!(runtime.snapshot().drops, 2);
        // a slot is free as soon as one is done, fetched or not
        gates.open("node0@0", 1);
        until("one is done", || runtime.completed(&cookies).unwrap().len() == 1);
        assert_eq!(runtime.completed(&cookies).unwrap(), cookies[..1]);
        let more = runtime.post(request(id, 50)).unwrap();
        assert_eq!(runtime.post(request(id, 99)).unwrap_err().code, Code::QueueFull);
        gates.free();
        for (n, cookie) in cookies.iter().enumerate().rev() {
            assert_eq!(runtime.wait(*cookie).outputs[0].1, [n as u8; 64]);
        }
        assert_eq!(runtime.wait(more).outputs[0].1, [50; 64]);
        assert!(!gates.begun().iter().any(|(_, byte)| *byte == 99), "a refused one ran");
        runtime.shut_down();
    }
}

/// Execution is in the order of posts, on every node; waits come in any order.
#[test]
fn nodes_see_inferences_in_order() {
    let (runtime, gates) = gated();
    gates.free();
    let id = started(&runtime, &[Node::Copy(1), Node::Cpu("identity"), Node::Copy(1)], 64, 60);
    let cookies: Vec<u64> = (0..64).map(|n| runtime.post(request(id, n)).unwrap()).collect();
    for (n, cookie) in (0..64).zip(&cookies).rev() {
        assert_eq!(runtime.wait(*cookie).outputs[0].1, [n; 64]);
    }
    let begun = gates.begun();
    for node in ["node0@0", "node2@1"] {
        let order: Vec<u8> =
            begun.iter().filter(|(name, _)| name == node).map(|(_, byte)| *byte).collect();
        assert_eq!(order, (0..64).collect::<Vec<u8>>(), "{node}");
        assert_eq!(gates.most(node), 1, "a core does one thing at a time");
    }
    runtime.shut_down();
}

/// While the slow node holds one inference, the next is in the node before it.
#[test]
fn a_slow_node_overlaps_with_the_one_before() {
    let (runtime, gates) = gated();
    let id = started(&runtime, &[Node::Copy(1), Node::Copy(1)], 4, 60);
    let cookies: Vec<u64> = (1..4).map(|n| runtime.post(request(id, n)).unwrap()).collect();
    gates.open("node0@0", 1);
    until("both nodes are busy", || gates.begun().len() == 3);
    let begun = gates.begun();
    assert_eq!(begun[0], ("node0@0".to_owned(), 1));
    let mut then = begun[1..].to_vec();
    then.sort();
    assert_eq!(then, [("node0@0".to_owned(), 2), ("node1@1".to_owned(), 1)]);
    assert_eq!(gates.most_together(), 2);
    gates.free();
    for (n, cookie) in (1..4).zip(cookies) {
        assert_eq!(runtime.wait(cookie).outputs[0].1, [n; 64]);
    }
    runtime.shut_down();
}

/// On shared cores nothing overlaps.
#[test]
fn shared_cores_take_one_inference_at_a_time() {
    let (runtime, gates) = gated();
    let group = runtime.create_group(Some(1), 0).unwrap().id;
    let neff = Chain::new("two", &[Node::Copy(1), Node::Copy(1)]).build();
    let id = runtime.load(&neff, &support::into(group)).unwrap();
    runtime.start(id).unwrap();
    let cookie = runtime.post(request(id, 1)).unwrap();
    assert_eq!(runtime.post(request(id, 2)).unwrap_err().code, Code::QueueFull);
    gates.free();
    assert_eq!(runtime.wait(cookie).failure, None);
    assert_eq!(gates.most_together(), 1);
    runtime.shut_down();
}

#[test]
fn an_inference_that_takes_too_long_ends_and_its_model_has_failed() {
    let (runtime, gates) = gated();
    let id = started(&runtime, &[Node::Copy(1)], 4, 1);
    let other = started(&runtime, &[Node::Copy(1)], 4, 60);
    let from = Instant::now();
    let cookies: Vec<u64> = (0..3).map(|n| runtime.post(request(id, n)).unwrap()).collect();
    assert_eq!(runtime.wait(cookies[0]).failure.unwrap().code, Code::Timeout);
    let took = from.elapsed();
    assert!(took >= Duration::from_secs(1) && took < Duration::from_secs(5), "{took:?}");
    assert_eq!(runtime.wait(cookies[1]).failure.unwrap().code, Code::FailedState);
    assert_eq!(runtime.wait(cookies[2]).failure.unwrap().code, Code::FailedState);
    assert_eq!(runtime.model_info(id).unwrap().state, ModelState::Failed);
    assert_eq!(runtime.post(request(id, 1)).unwrap_err().code, Code::FailedState);
    assert_eq!(runtime.start(id).unwrap_err().code, Code::FailedState);
    // others go on, and so does this one once it was started anew
    gates.free();
    assert_eq!(runtime.infer(request(other, 6)).outputs[0].1, [6; 64]);
    runtime.stop(id).unwrap();
    runtime.start(id).unwrap();
    assert_eq!(runtime.infer(request(id, 5)).outputs[0].1, [5; 64]);
    let outcomes = runtime.snapshot().outcomes;
    assert_eq!((outcomes[0], outcomes[4]), (2, 1), "{outcomes:?}");
    runtime.shut_down();
}

/// The software NeuronCore sees a deadlock at once.
#[test]
fn a_deadlock_is_told_with_what_waits() {
    let runtime = software();
    let id = started(&runtime, &[Node::Deadlock], 4, 60);
    let failure = runtime.infer(request(id, 0)).failure.unwrap();
    assert_eq!(failure.code, Code::Timeout);
    let text = failure.details();
    assert!(text.contains("NC 0-0 of node node0: deadlock: core 0 SP"), "{text}");
    assert!(text.ends_with("[NMGR:exec_wait] Inference completed with err: 5\n"), "{text}");
    until("it has failed", || runtime.model_info(id).unwrap().state == ModelState::Failed);
    assert_eq!(runtime.snapshot().subtypes[2], 1);
    runtime.shut_down();
}

#[test]
fn stop_cancels_what_waits_and_lets_the_rest_end() {
    let (runtime, gates) = gated();
    let id = started(&runtime, &[Node::Copy(1)], 4, 60);
    let cookies: Vec<u64> = (0..4).map(|n| runtime.post(request(id, n)).unwrap()).collect();
    until("the first runs", || gates.begun().len() == 1);
    std::thread::scope(|scope| {
        let stopping = scope.spawn(|| runtime.stop(id).unwrap());
        until("three are done", || runtime.completed(&cookies).unwrap().len() == 3);
        assert_eq!(runtime.post(request(id, 9)).unwrap_err().code, Code::InvalidHandle);
        assert!(!stopping.is_finished());
        gates.free();
    });
    assert_eq!(runtime.wait(cookies[0]).outputs[0].1, [0; 64]);
    for cookie in &cookies[1..] {
        assert_eq!(runtime.wait(*cookie).failure.unwrap().code, Code::Cancelled);
    }
    assert_eq!(gates.begun().len(), 1);
    runtime.shut_down();
}

#[test]
fn unload_while_inferring_waits_for_what_runs() {
    let (runtime, gates) = gated();
    let id = started(&runtime, &[Node::Copy(1)], 4, 60);
    let answers = Arc::new(Mutex::new(Vec::new()));
    for n in 0..2 {
        let answers = Arc::clone(&answers);
        runtime
            .post_with(request(id, n), move |outcome| {
                answers.lock().unwrap().push(outcome.failure.map(|failure| failure.code));
            })
            .unwrap();
    }
    until("the first runs", || gates.begun().len() == 1);
    std::thread::scope(|scope| {
        scope.spawn(|| runtime.unload(id).unwrap());
        until("one is cancelled", || answers.lock().unwrap().len() == 1);
        gates.free();
    });
    assert_eq!(*answers.lock().unwrap(), [Some(Code::Cancelled), None]);
    assert_eq!(runtime.models().len(), 0);
    runtime.shut_down();
}

#[test]
fn bad_inputs_are_told_and_counted() {
    let runtime = software();
    let id = started(&runtime, &[Node::Copy(1)], 4, 60);
    let with = |inputs: Vec<(&str, usize)>| Request {
        model: id,
        inputs: inputs
            .into_iter()
            .map(|(name, bytes)| (name.to_owned(), Input::Inline(Data::new(vec![0; bytes]))))
            .collect(),
        outputs: Vec::new(),
    };
    for (request, said) in [
        (with(vec![]), "Wrong number of ifmaps, expected: 1, received: 0"),
        (with(vec![("x", 63)]), "Invalid data length for [x], received 63, expected 64"),
        (with(vec![("x", 64), ("z", 1)]), "the model has no input \"z\""),
    ] {
        let failure = runtime.infer(request).failure.unwrap();
        assert_eq!(failure.code, Code::BadInput);
        assert!(failure.details().contains(said), "{failure}");
    }
    assert_eq!(runtime.snapshot().outcomes, [0, 0, 0, 3, 0]);
    assert_eq!(runtime.in_flight(), (0, 0));
    runtime.shut_down();
}

/// Outputs are there all the same.
#[test]
fn a_nan_is_told_with_the_outputs() {
    let runtime = software();
    let id = started(&runtime, &[Node::Copy(1)], 4, 60);
    let outcome = runtime.infer(request(id, 0xff));
    let failure = outcome.failure.unwrap();
    assert_eq!(failure.code, Code::NumErr);
    assert!(failure.details().contains("INFER_ERROR_SUBTYPE_NUMERICAL"), "{failure}");
    assert_eq!(outcome.outputs[0].1, [0xff; 64]);
    let counters = runtime.snapshot();
    assert_eq!((counters.outcomes[1], counters.subtypes[1]), (1, 1));
    runtime.shut_down();
}

/// Results that nobody fetches take no more room than twice the depth.
#[test]
fn results_that_are_not_fetched_fill_the_queue() {
    let runtime = software();
    let id = started(&runtime, &[Node::Copy(1)], 2, 60);
    let mut cookies = Vec::new();
    for n in 0..4 {
        cookies.push(runtime.post(request(id, n)).unwrap());
        until("it is done", || runtime.completed(&cookies).unwrap().len() == cookies.len());
    }
    assert_eq!(runtime.post(request(id, 9)).unwrap_err().code, Code::QueueFull);
    assert_eq!(runtime.poll(cookies[3]).unwrap().outputs[0].1, [3; 64]);
    assert_eq!(runtime.poll(cookies[3]).unwrap_err().code, Code::InvalidHandle);
    runtime.post(request(id, 9)).unwrap();
    runtime.shut_down();
}

#[test]
fn counters_of_eight_clients_add_up() {
    let runtime = software();
    let ids: Vec<u32> = (0..2).map(|_| started(&runtime, &[Node::Copy(1)], 4, 60)).collect();
    let full = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        for client in 0..8_u8 {
            let (runtime, ids, full) = (&runtime, &ids, &full);
            scope.spawn(move || {
                for n in 0..100 {
                    loop {
                        let outcome = runtime.infer(request(ids[usize::from(client % 2)], n));
                        match outcome.failure {
                            None => {
                                assert_eq!(outcome.outputs[0].1, [n; 64]);
                                break;
                            }
                            Some(failure) => {
                                assert_eq!(failure.code, Code::QueueFull, "{failure}");
                                full.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                            }
                        }
                    }
                }
            });
        }
    });
    let counters = runtime.snapshot();
    assert_eq!((counters.inferences, counters.outcomes), (800, [800, 0, 0, 0, 0]));
    assert_eq!(counters.drops, full.into_inner());
    let completed = neuron_core::uapi::nds::core_counter::COMPLETED;
    for core in 0..2 {
        assert_eq!(runtime.core_snapshot(core).unwrap().counter(completed), 400);
    }
    runtime.shut_down();
}

/// A model whose inferences take no time runs where it is asked, and many
/// threads that ask keep out of each other's way.
#[test]
fn short_inferences_run_on_the_thread_that_asks() {
    let runtime = software();
    let id = started(&runtime, &[Node::Cpu("identity")], 16, 60);
    let here = std::thread::current().id();
    let (send, receive) = std::sync::mpsc::channel();
    until("it runs here", || {
        let send = send.clone();
        let done = move |_| send.send(std::thread::current().id()).unwrap();
        runtime.post_with(request(id, 1), done).unwrap();
        receive.recv().unwrap() == here
    });
    let before = runtime.snapshot().inferences;
    std::thread::scope(|scope| {
        for client in 0..8_u8 {
            let runtime = &runtime;
            scope.spawn(move || {
                for n in 0..200_u8 {
                    let byte = n ^ client;
                    let outcome = if n % 3 == 0 {
                        runtime.wait(runtime.post(request(id, byte & 0x7e)).unwrap())
                    } else {
                        runtime.infer(request(id, byte & 0x7e))
                    };
                    assert_eq!(outcome.failure, None);
                    assert_eq!(outcome.outputs[0].1, [byte & 0x7e; 64]);
                }
            });
        }
    });
    assert_eq!(runtime.snapshot().inferences - before, 1600);
    runtime.shut_down();
}
