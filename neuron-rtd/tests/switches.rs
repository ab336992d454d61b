//! Switches of the configuration and of load: profiles, taking turns, seeds,
//! operators of CPU nodes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "../builder/tests/support/mod.rs"]
mod numbers;
mod support;

use neuron_builder::models::SAMPLES;
use neuron_builder::{Array, ElementType};
use rtd_api::load_request::Content;
use rtd_api::nmgr_ext_v1_client::NmgrExtV1Client;
use rtd_api::*;
use support::neff::{Chain, Node};
use support::*;

fn configured(text: &str) -> Daemon {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("c.json");
    let text = text.replace("HERE", dir.path().to_str().unwrap());
    std::fs::write(&config, text).unwrap();
    let config = config.to_str().unwrap().to_owned();
    Daemon::start_in(dir, &["-c", &config])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn profiles_are_written_where_the_configuration_says() {
    let daemon = configured(r#"{"rtd": {"profile_dir": "HERE"}}"#);
    let mut client = daemon.client().await;
    let mut messages = upload(&Chain::new("copy", &[Node::Copy(1)]).build(), 0, 0, 4);
    let on = Some(U32 { data: 1 });
    let params =
        ModelParams { enable_tracing: on, enable_node_profiling: on, ..Default::default() };
    messages.push(LoadRequest { content: Some(Content::ModelParams(params)) });
    let loaded = client.load(tokio_stream::iter(messages)).await.unwrap().into_inner();
    good(loaded.status);
    let id = loaded.h_nn.unwrap().id;
    assert_eq!(output(client.infer(request(id, 3)).await.unwrap().into_inner()), [3; 64]);
    let file = daemon.dir.path().join(format!("copy-{id}-0.ntff"));
    assert!(file.metadata().unwrap().len() > 0);
    // by hand, through the extension
    let mut extension = NmgrExtV1Client::new(daemon.channel().await);
    let start = |name: &str| ProfileStartRequest { h_nn: nn(id), name: name.to_owned() };
    let refused = extension.profile_start(start("../x.ntff")).await.unwrap().into_inner();
    assert_eq!(refused.code, 2);
    let begun = extension.profile_start(start("mine.ntff")).await.unwrap().into_inner();
    assert_eq!(begun.code, 0);
    let stop = ProfileStopRequest { h_nn: nn(id) };
    assert_eq!(output(client.infer(request(id, 4)).await.unwrap().into_inner()), [4; 64]);
    let done = extension.profile_stop(stop).await.unwrap().into_inner();
    good(done.status);
    assert_eq!(done.files, [daemon.dir.path().join("mine.ntff").to_str().unwrap()]);
    let again = extension.profile_stop(stop).await.unwrap().into_inner();
    assert_eq!(status(again.status).0, 2);
    // one that cannot be written leaves no part, and the inference is done
    std::fs::create_dir(daemon.dir.path().join("taken.ntff")).unwrap();
    assert_eq!(extension.profile_start(start("taken.ntff")).await.unwrap().into_inner().code, 0);
    assert_eq!(output(client.infer(request(id, 5)).await.unwrap().into_inner()), [5; 64]);
    let (code, details) = status(extension.profile_stop(stop).await.unwrap().into_inner().status);
    assert_eq!(code, 1);
    assert!(details.contains("cannot write profile"), "{details}");
    let names = std::fs::read_dir(daemon.dir.path()).unwrap();
    let parts =
        names.filter(|e| e.as_ref().unwrap().path().extension().is_some_and(|e| e == "part"));
    assert_eq!(parts.count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn models_of_a_group_take_turns_where_that_is_allowed() {
    let neff = Chain::new("copy", &[Node::Copy(1)]).build();
    for (config, code) in [("{}", 2), (r#"{"rtd": {"auto_switch": true}}"#, 0)] {
        let daemon = configured(config);
        let mut client = daemon.client().await;
        let create = CreateEgRequest { nc_count: 1, session_id: 0 };
        let group = client.create_eg(create).await.unwrap().into_inner().h_eg.unwrap();
        let mut answers = Vec::new();
        for _ in 0..2 {
            let h_nn = load(&mut client, &neff, group.id, 0).await.h_nn;
            let started = client.start(StartRequest { h_nn }).await.unwrap().into_inner();
            answers.push(status(started.status));
        }
        assert_eq!((answers[0].0, answers[1].0), (0, code), "{answers:?}");
        if code != 0 {
            assert!(answers[1].1.contains("Model (10001) of EG(1) is running"), "{answers:?}");
        }
        let seed = |id| RandomSeedRequest { h_eg: Some(HEg { id }), seed: 5 };
        let kept = client.random_seed(seed(group.id)).await.unwrap().into_inner();
        good(kept.status);
        let nowhere = client.random_seed(seed(9)).await.unwrap().into_inner();
        assert_eq!(status(nowhere.status).0, 3);
        daemon.signal("USR1");
        daemon.line("seed 5");
    }
}

/// A model of the builder with a softmax on the host, against NumPy.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_builders_cpu_nodes_run() {
    let (_, make) = SAMPLES.iter().find(|(name, _)| *name == "cpu-node").unwrap();
    let sample = make().unwrap();
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let loaded = load(&mut client, &sample.built.bytes, 0, 0).await;
    good(loaded.status);
    let (name, x) = &sample.inputs[0];
    let asked = InferRequest {
        h_nn: loaded.h_nn,
        ifmap: vec![inline(name, x.data())],
        ..InferRequest::default()
    };
    let bytes = output(client.infer(asked).await.unwrap().into_inner());
    let y = Array::new(ElementType::F32, &[32, 48], bytes).unwrap();
    let arrays = [sample.inputs.clone(), sample.weights.clone()].concat();
    numbers::verify(&[numbers::Check {
        name: "cpu-node".to_owned(),
        arrays,
        outputs: vec![("y".to_owned(), y)],
        python: "out = softmax(np.tanh(x @ a)) @ b".to_owned(),
        bound: 1e-5,
    }]);
}
