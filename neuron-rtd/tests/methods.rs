//! The methods over a real socket, with the generated client.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use rtd_api::*;
use support::neff::{Chain, Node};
use support::*;

fn copy() -> Vec<u8> {
    Chain::new("copy", &[Node::Copy(1)]).build()
}

/// As the TensorFlow client of 2021 goes: session, group, load, start, infer
/// in all four ways, stop, unload, destroy.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_life() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let mut sessions = daemon.sessions().await;
    // the answer comes although nothing was written
    let (keep, open) = tokio::sync::mpsc::channel::<SessionMonitorRequest>(1);
    let open = tokio_stream::wrappers::ReceiverStream::new(open);
    let mut session = sessions.session_monitor(open).await.unwrap().into_inner();
    let hello = session.message().await.unwrap().unwrap();
    assert_eq!(hello.session_id, 1);
    assert_eq!(hello.runtime_version.unwrap().full_version, env!("CARGO_PKG_VERSION"));
    let framework = SessionMonitorRequest {
        framework_name: "TENSORFLOW".into(),
        framework_version: None,
        fal_version: None,
    };
    keep.send(framework).await.unwrap();
    daemon.line("[NRTD:session_monitor] Session 1: TENSORFLOW");

    let group = CreateEgRequest { nc_count: 1, session_id: hello.session_id };
    let group = client.create_eg(group).await.unwrap().into_inner();
    good(group.status);
    assert_eq!((group.h_eg, group.nc_count), (Some(HEg { id: 1 }), 1));
    let loaded = load(&mut client, &copy(), 1, hello.session_id).await;
    good(loaded.status);
    assert_eq!(loaded.h_nn, nn(10001));
    let started = client.start(StartRequest { h_nn: nn(10001) }).await.unwrap().into_inner();
    good(started.status);

    let answer = client.infer(request(10001, 1)).await.unwrap().into_inner();
    assert_eq!(output(answer), [1; 64]);
    let post = async |client: &mut nmgr_v1_client::NmgrV1Client<_>, byte| {
        let posted = client.infer_post(request(10001, byte)).await.unwrap().into_inner();
        good(posted.status);
        posted.cookie
    };
    let wait = |cookie| InferWaitRequest { cookie, shm_ofmap: vec![] };
    let cookies = [post(&mut client, 2).await, post(&mut client, 3).await];
    let answer = client.infer_wait(wait(cookies[1])).await.unwrap().into_inner();
    assert_eq!(output(answer), [3; 64]);
    let check = InferCheckCompletionRequest { cookie: vec![cookies[0]] };
    let done = client.infer_check_completion(check).await.unwrap().into_inner();
    good(done.status);
    assert_eq!(done.cookie, cookies[..1]);
    let answer = client.infer_poll(wait(cookies[0])).await.unwrap().into_inner();
    assert_eq!(output(answer), [2; 64]);
    let again = client.infer_wait(wait(cookies[0])).await.unwrap().into_inner();
    let (code, details) = status(again.status);
    assert_eq!(code, 3);
    assert_eq!(
        details,
        "[NMGR:infer_wait] Failed to find cookie: 0x2\n[NRTD:infer_wait] error: 3\n"
    );

    let requests = tokio_stream::iter((10..20).map(|byte| request(10001, byte)));
    let mut stream = nmgr_stream_client::NmgrStreamClient::new(daemon.channel().await);
    // more than ninfer at once: some are refused, but each has its answer, in order
    let mut answers = stream.infer_stream(requests).await.unwrap().into_inner();
    for byte in 10..20 {
        let answer = answers.message().await.unwrap().unwrap();
        match answer.status.as_ref().unwrap().code {
            0 => assert_eq!(output(answer), [byte; 64]),
            code => assert_eq!(code, 7),
        }
    }
    assert_eq!(answers.message().await.unwrap(), None);

    good(client.stop(StopRequest { h_nn: nn(10001) }).await.unwrap().into_inner().status);
    good(client.unload(UnloadRequest { h_nn: nn(10001) }).await.unwrap().into_inner().status);
    let destroy = DestroyEgRequest { h_eg: Some(HEg { id: 1 }) };
    good(client.destroy_eg(destroy).await.unwrap().into_inner().status);
    drop(keep);
    assert_eq!(session.message().await.unwrap(), None);
    daemon.line("Session 1 ended: 0 models, 0 groups, 0 mappings");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shared_memory_goes_both_ways() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let id = load(&mut client, &copy(), 0, 0).await.h_nn.unwrap().id;
    let object = |name: &str| {
        let name = format!("/neuron_rtd_{}_{name}", std::process::id());
        let path = format!("/dev/shm{name}");
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        file.set_len(64).unwrap();
        (name, path, file)
    };
    let (input, output, other) = (object("in"), object("out"), object("other"));
    for (name, path, _) in [&input, &output, &other] {
        let map = ShmMapRequest {
            data: Some(shm_map_request::Data::Path(name.clone())),
            mmap_prot: 3,
            session_id: 0,
        };
        good(client.shm_map(map).await.unwrap().into_inner().status);
        std::fs::remove_file(path).unwrap();
    }
    let read = |file: &File| {
        let mut bytes = [0; 64];
        file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    };
    input.2.write_all_at(&[5; 64], 0).unwrap();
    let asked = InferRequest {
        h_nn: nn(id),
        ifmap: vec![shared("x", &input.0)],
        shm_ofmap: vec![shared("y", &output.0)],
        loop_end_value: 0,
    };
    let answer = client.infer(asked.clone()).await.unwrap().into_inner();
    good(answer.status);
    assert!(answer.ofmap.is_empty());
    assert_eq!(read(&output.2), [5; 64]);
    // inline in, shared out
    let mixed = InferRequest { ifmap: vec![inline("x", &[6; 64])], ..asked.clone() };
    good(client.infer(mixed).await.unwrap().into_inner().status);
    assert_eq!(read(&output.2), [6; 64]);
    // the list of the post, the same one again, another one, and none at the post
    for (at_post, at_wait, written) in [
        (Some(&output), None, &output),
        (Some(&output), Some(&output), &output),
        (Some(&output), Some(&other), &other),
        (None, Some(&other), &other),
    ] {
        written.2.write_all_at(&[0; 64], 0).unwrap();
        let list = |object: Option<&(String, String, File)>| {
            object.iter().map(|object| shared("y", &object.0)).collect::<Vec<_>>()
        };
        let asked = InferRequest { shm_ofmap: list(at_post), ..asked.clone() };
        let cookie = client.infer_post(asked).await.unwrap().into_inner().cookie;
        let wait = InferWaitRequest { cookie, shm_ofmap: list(at_wait) };
        let answer = client.infer_wait(wait).await.unwrap().into_inner();
        good(answer.status);
        assert!(answer.ofmap.is_empty());
        assert_eq!(read(&written.2), [5; 64]);
    }
    // truncated by the client: its error, and nobody else's
    input.2.set_len(0).unwrap();
    let (code, details) = status(client.infer(asked.clone()).await.unwrap().into_inner().status);
    assert_eq!(code, 1002);
    assert!(details.contains("was it truncated?"), "{details}");
    let unmap = ShmUnmapRequest { path: input.0.clone(), mmap_prot: 3 };
    good(client.shm_unmap(unmap).await.unwrap().into_inner().status);
    let (code, details) = status(client.infer(asked).await.unwrap().into_inner().status);
    assert_eq!(code, 1002);
    assert!(details.contains("is not mapped; call shm_map first"), "{details}");
    let answer = client.infer(request(id, 9)).await.unwrap().into_inner();
    assert_eq!(support::output(answer), [9; 64]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_handle_that_does_not_exist_has_its_code() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let mut answers = Vec::new();
    let h_nn = nn(10001);
    answers.push(client.start(StartRequest { h_nn }).await.unwrap().into_inner().status);
    answers.push(client.stop(StopRequest { h_nn }).await.unwrap().into_inner().status);
    answers.push(client.unload(UnloadRequest { h_nn }).await.unwrap().into_inner().status);
    answers.push(client.infer(request(10001, 0)).await.unwrap().into_inner().status);
    let posted = client.infer_post(request(10001, 0)).await.unwrap().into_inner();
    assert_eq!(posted.cookie, 0);
    answers.push(posted.status);
    let wait = InferWaitRequest { cookie: 7, shm_ofmap: vec![] };
    answers.push(client.infer_wait(wait.clone()).await.unwrap().into_inner().status);
    answers.push(client.infer_poll(wait).await.unwrap().into_inner().status);
    let destroy = DestroyEgRequest { h_eg: Some(HEg { id: 9 }) };
    answers.push(client.destroy_eg(destroy).await.unwrap().into_inner().status);
    answers.push(load(&mut client, &copy(), 9, 0).await.status);
    answers.push(load(&mut client, &copy(), 0, 99).await.status);
    let create = CreateEgRequest { nc_count: 1, session_id: 99 };
    answers.push(client.create_eg(create).await.unwrap().into_inner().status);
    let unmap = ShmUnmapRequest { path: "/x".into(), mmap_prot: 3 };
    answers.push(client.shm_unmap(unmap).await.unwrap().into_inner().status);
    for answer in answers {
        let (code, details) = status(answer);
        assert_eq!(code, 3, "{details}");
        assert!(details.contains("] Failed to find") || details.contains("is not mapped"));
        assert!(details.lines().last().unwrap().ends_with("error: 3"), "{details}");
    }
    // a ping is told nothing in the log
    let before = daemon.lines().len();
    let ping = client.start(StartRequest { h_nn: nn(0) }).await.unwrap().into_inner();
    assert_eq!(status(ping.status).0, 3);
    assert_eq!(daemon.lines().len(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cores_that_are_taken_are_told_with_their_owner() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let create = |nc_count| CreateEgRequest { nc_count, session_id: 0 };
    // nothing asked for: all there are
    let all = client.create_eg(create(0)).await.unwrap().into_inner();
    assert_eq!(all.nc_count, 16);
    let full = client.create_eg(create(2)).await.unwrap().into_inner();
    assert_eq!((full.h_eg, full.nc_count), (None, 0));
    let (code, details) = status(full.status);
    assert_eq!(code, 9);
    let first = "[NMGR:kmgr_create_eg] Not enough free NCs to allocate 2 members group\n";
    assert!(details.starts_with(first), "{details}");
    assert!(details.contains("EG(1) of no session holds 0-15"), "{details}");
    assert!(details.contains("[NRTD:create_eg] create_eg() failed."), "{details}");
    daemon.line("[NMGR:kmgr_create_eg] Created EG(1) with 16 NCs, start: 0");
    for _ in 0..2 {
        let answer = client.unload_all(Empty {}).await.unwrap().into_inner();
        assert_eq!(answer.code, 0);
    }
    let again = client.create_eg(create(6)).await.unwrap().into_inner();
    assert_eq!((again.h_eg, again.nc_count), (Some(HEg { id: 2 }), 6));
    let more = client.create_eg(create(3)).await.unwrap().into_inner();
    support::good(more.status);
    let list = client.list_egs(Empty {}).await.unwrap().into_inner().eg_info;
    let places: Vec<_> = list
        .iter()
        .map(|info| {
            (info.vnc_start_index, info.nc_count, info.mla_start_index, info.nc_start_index)
        })
        .collect();
    assert_eq!(places, [(0, 6, 0, 0), (6, 3, 1, 2)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counters_add_up() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let neff = copy();
    let id = load(&mut client, &neff, 0, 0).await.h_nn.unwrap().id;
    for byte in 0..10 {
        client.infer(request(id, byte)).await.unwrap();
    }
    client.infer(request(id, 0xff)).await.unwrap();
    let short = InferRequest { h_nn: nn(id), ifmap: vec![inline("x", &[0])], ..Default::default() };
    client.infer(short).await.unwrap();
    let counters = client.read_inference_counters(Empty {}).await.unwrap().into_inner();
    let counters = counters.nmgr_counters.unwrap();
    let of = |status: InferStatus| {
        let counts = &counters.infer_status_counts;
        counts.iter().find(|count| count.infer_status() == status).unwrap().count
    };
    assert_eq!((of(InferStatus::IstOk), of(InferStatus::IstCompletedWithNumErr)), (10, 1));
    assert_eq!((of(InferStatus::IstBadInput), of(InferStatus::IstTimeout)), (1, 0));
    assert_eq!((counters.infer_count, counters.model_load_count), (12, 1));
    assert_eq!(counters.neff_size_bytes_max, neff.len() as u64);
    let all = client.read_all_counters(ReadAllCountersRequest {}).await.unwrap().into_inner();
    good(all.status);
    assert_eq!(all.nc_counters.len(), 16);
    assert_eq!(all.nmgr_counters.unwrap(), counters);
    let system = all.system_counters.unwrap();
    assert!(system.num_logs_error >= 2 && system.memory_counters.len() == 4);
    assert!(system.memory_counters[0].mem_used_infa_0 > 0);
    let time = ReadNcTimeInUseRequest { vnc_id: 0 };
    let time = client.read_nc_time_in_use(time).await.unwrap().into_inner();
    assert!(time.nc_time_in_use.unwrap().time_in_use > 0);
    let nowhere = ReadNcCountersRequest { vnc_id: 16 };
    let nowhere = client.read_nc_counters(nowhere).await.unwrap().into_inner();
    assert_eq!(status(nowhere.status).0, 2);
    let metrics = ReadAllMetricsRequest { summarize_period: 0 };
    let metrics = client.read_all_metrics(metrics).await.unwrap().into_inner();
    let latency = &metrics.nmgr_metrics[0];
    assert_eq!(latency.metric_type(), MetricType::NmgrMetricInferLatency);
    let Some(metric_data::Value::ValueAgg(sum)) = &latency.data[0].value else { panic!() };
    assert!((sum.count - 11.0).abs() < 0.1 && sum.min > 0.0 && sum.max <= sum.sum);
    let hardware = client.get_all_hw_counters(Empty {}).await.unwrap().into_inner();
    assert_eq!(hardware.counters[3].bdf, "0000:00:1f.0");
    let device = Some(get_hw_counters_request::Device::DeviceId(2));
    let one = client.get_hw_counters(GetHwCountersRequest { device }).await.unwrap().into_inner();
    assert_eq!(one.counters.unwrap().bdf, "0000:00:1e.0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_of_a_client_goes_when_it_dies() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    // the dying client has an executor of its own, whose end closes its sockets
    let executor = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let mut sessions = {
        let address = daemon.address();
        let connect = async move {
            let endpoint = tonic::transport::Endpoint::try_from(address).unwrap();
            let channel = endpoint.connect().await.unwrap();
            nmgr_session_manager_client::NmgrSessionManagerClient::new(channel)
        };
        executor.spawn(connect).await.unwrap()
    };
    let (_keep, open) = tokio::sync::mpsc::channel::<SessionMonitorRequest>(1);
    let open = tokio_stream::wrappers::ReceiverStream::new(open);
    let mut stream = sessions.session_monitor(open).await.unwrap().into_inner();
    let session = stream.message().await.unwrap().unwrap().session_id;
    let create = CreateEgRequest { nc_count: 2, session_id: session };
    let group = client.create_eg(create).await.unwrap().into_inner().h_eg.unwrap().id;
    let id = load(&mut client, &copy(), group, session).await.h_nn.unwrap().id;
    good(client.start(StartRequest { h_nn: nn(id) }).await.unwrap().into_inner().status);
    // another client's, without a session
    let other = load(&mut client, &copy(), 0, 0).await.h_nn.unwrap().id;
    client.infer_post(request(id, 1)).await.unwrap();
    executor.shutdown_background();
    daemon.line(&format!("Session {session} ended: 1 models, 1 groups, 0 mappings"));
    let list = client.list_egs(Empty {}).await.unwrap().into_inner();
    assert_eq!(list.eg_info.len(), 1);
    assert_eq!(status(client.infer(request(id, 1)).await.unwrap().into_inner().status).0, 3);
    let answer = client.infer(request(other, 4)).await.unwrap().into_inner();
    assert_eq!(output(answer), [4; 64]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn models_are_listed_by_the_extension() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let six = Chain::new("six", &[Node::Copy(6)]).build();
    let id = load(&mut client, &six, 0, 0).await.h_nn.unwrap().id;
    let mut ext = nmgr_ext_v1_client::NmgrExtV1Client::new(daemon.channel().await);
    let list = ext.list_models(Empty {}).await.unwrap().into_inner();
    let [model] = list.models.as_slice() else { panic!("{list:?}") };
    assert_eq!((model.h_nn, model.name.as_str(), model.nc_count), (nn(id), "six", 6));
    assert_eq!((model.state(), model.uuid.len()), (ModelState::Started, 16));
    assert_eq!(model.tensors[0].dtype, "float32");
    let health = ext.get_health(Empty {}).await.unwrap().into_inner();
    assert!(health.serving && health.models == 1, "{health:?}");
    let level = SetLogLevelRequest { module: String::new(), level: 6 };
    assert_eq!(ext.set_log_level(level).await.unwrap().into_inner().code, 0);
    client.start(StartRequest { h_nn: nn(0) }).await.unwrap();
    daemon.line("[NRTD:start] ping");
}

/// A model that waits for ever fails alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadlock_is_the_matter_of_its_model() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let neff = Chain::new("stuck", &[Node::Deadlock]).build();
    let stuck = load(&mut client, &neff, 0, 0).await.h_nn.unwrap().id;
    let fine = load(&mut client, &copy(), 0, 0).await.h_nn.unwrap().id;
    let (code, details) =
        status(client.infer(request(stuck, 1)).await.unwrap().into_inner().status);
    assert_eq!(code, 5);
    assert!(details.contains("deadlock: core 0 SP slot 2"), "{details}");
    assert!(details.ends_with("[NRTD:infer] error: 5\n"), "{details}");
    let (code, _) = status(client.infer(request(stuck, 1)).await.unwrap().into_inner().status);
    assert_eq!(code, 8);
    let answer = client.infer(request(fine, 7)).await.unwrap().into_inner();
    assert_eq!(output(answer), [7; 64]);
    let h_nn = nn(stuck);
    let (code, _) = status(client.start(StartRequest { h_nn }).await.unwrap().into_inner().status);
    assert_eq!(code, 8);
    good(client.stop(StopRequest { h_nn }).await.unwrap().into_inner().status);
    good(client.unload(UnloadRequest { h_nn }).await.unwrap().into_inner().status);
}
