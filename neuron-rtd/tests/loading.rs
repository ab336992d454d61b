//! NEFFs on their way into the daemon: false ones, large ones, real ones.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use rtd_api::load_request::Content;
use rtd_api::*;
use support::neff::{Chain, Node};
use support::*;

fn copy() -> Vec<u8> {
    Chain::new("copy", &[Node::Copy(1)]).build()
}

/// Peak memory of the daemon in KiB.
fn peak(daemon: &Daemon) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let line = text.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uploads_that_lie_are_told_and_leave_nothing() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let good = copy();
    let message = |content| LoadRequest { content: Some(content) };
    let chunk =
        |bytes: &[u8]| message(Content::NeffChunk(FileChunk { chunk: bytes.to_vec().into() }));
    let size = |size| message(Content::NeffSize(size));
    for (messages, wanted, said) in [
        (vec![], 2, "NEFF upload failed"),
        (vec![LoadRequest { content: None }], 2, "NEFF upload failed"),
        (vec![size(5), chunk(b"abc")], 2, "Wrong NEFF file size"),
        (vec![size(5), chunk(&good), chunk(&good)], 2, "Wrong NEFF file size"),
        (vec![size(u64::MAX), chunk(&good)], 4, "are accepted"),
        (vec![chunk(&good[..good.len() / 2])], 2, "rule "),
        (vec![chunk(b"not a NEFF")], 2, "the file ends after 10 bytes"),
        (vec![message(Content::NeffFile("/etc/hostname".into()))], 2, "rtd.allow_neff_file"),
    ] {
        let answer = client.load(tokio_stream::iter(messages)).await.unwrap().into_inner();
        assert_eq!(answer.h_nn, None);
        let (code, details) = status(answer.status);
        assert_eq!(code, wanted, "{details}");
        assert!(details.contains(said), "{said}: {details}");
    }
    let mut newer = good.clone();
    newer[0x18] = 3;
    let (code, details) = status(load(&mut client, &newer, 0, 0).await.status);
    assert_eq!(code, 10);
    assert!(details.contains("NEFF version mismatch"), "{details}");
    let groups = client.list_egs(Empty {}).await.unwrap().into_inner();
    assert_eq!((groups.eg_info.len(), groups.mla_count, groups.nc_count), (0, 4, 16));
    // a client that goes away in the middle
    let (send, stream) = tokio::sync::mpsc::channel(1);
    let half = good.clone();
    let stream = tokio_stream::wrappers::ReceiverStream::new(stream);
    let mut other = daemon.client().await;
    let loading = tokio::spawn(async move { other.load(stream).await });
    send.send(chunk(&half[..100])).await.unwrap();
    loading.abort();
    assert!(loading.await.unwrap_err().is_cancelled());
    support::good(load(&mut client, &good, 0, 0).await.status);
}

/// Far beyond the 4 MiB that servers accept by default.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_inputs_go_inline() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let mut chain = Chain::new("large", &[Node::Copy(1)]);
    chain.bytes = 512 * 16_000;
    let id = load(&mut client, &chain.build(), 0, 0).await.h_nn.unwrap().id;
    let data: Vec<u8> = (0..chain.bytes / 4).flat_map(|n| n.to_le_bytes()).collect();
    let asked =
        InferRequest { h_nn: nn(id), ifmap: vec![inline("x", &data)], ..Default::default() };
    let answer = client.infer(asked).await.unwrap().into_inner();
    assert!(output(answer) == data);
}

/// Two programs of the real compiler in two groups, against what they compute:
/// a product of ones, and attention of equal scores, which is the mean of V.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_programs_run_side_by_side() {
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let mut models = Vec::new();
    for (name, cores) in [("matmul-small", 2), ("attn-fused-fp32-512", 2)] {
        let neff = std::fs::read(neuron_tests::fixture(format!("profiles/{name}.neff"))).unwrap();
        let create = CreateEgRequest { nc_count: cores, session_id: 0 };
        let group = client.create_eg(create).await.unwrap().into_inner().h_eg.unwrap().id;
        let mut messages = upload(&neff, group, 0, 4);
        let params = ModelParams { timeout: Some(U32 { data: 100 }), ..ModelParams::default() };
        messages.push(LoadRequest { content: Some(Content::ModelParams(params)) });
        let loaded = client.load(tokio_stream::iter(messages)).await.unwrap().into_inner();
        good(loaded.status);
        let h_nn = loaded.h_nn;
        good(client.start(StartRequest { h_nn }).await.unwrap().into_inner().status);
        models.push(h_nn);
    }
    let ones: Vec<u8> = [0x00, 0x3c].repeat(128 * 256);
    let product = InferRequest {
        h_nn: models[0],
        ifmap: vec![inline("x", &ones), inline("y", &ones)],
        ..InferRequest::default()
    };
    // V of row r and key k is r + k / 512, so its mean is r + 511 / 1024
    let v: Vec<u8> = (0..128)
        .flat_map(|row| (0..512).map(move |key| row as f32 + key as f32 / 512.0))
        .flat_map(f32::to_le_bytes)
        .collect();
    let zeros = vec![0; v.len()];
    let attention = InferRequest {
        h_nn: models[1],
        ifmap: vec![inline("q_ref", &zeros), inline("k_ref", &zeros), inline("v_ref", &v)],
        ..InferRequest::default()
    };
    let mut other = daemon.client().await;
    let attention = tokio::spawn(async move { other.infer(attention).await });
    let answer = client.infer(product).await.unwrap().into_inner();
    good(answer.status);
    let Some(infer_io::Data::Buf(data)) = &answer.ofmap[0].data else { panic!() };
    assert_eq!((answer.ofmap[0].name.as_str(), data.len()), ("output0", 128 * 128 * 2));
    assert!(data.chunks(2).all(|half| half == [0x00, 0x5c]), "256.0 everywhere");
    let answer = attention.await.unwrap().unwrap().into_inner();
    good(answer.status);
    let Some(infer_io::Data::Buf(data)) = &answer.ofmap[0].data else { panic!() };
    assert_eq!(data.len(), 512 * 128 * 4);
    for (at, bytes) in data.chunks(4).enumerate() {
        let found = f32::from_le_bytes(bytes.try_into().unwrap());
        let wanted = (at % 128) as f32 + 511.0 / 1024.0;
        assert!((found - wanted).abs() < 1e-3, "{at}: {found}, not {wanted}");
    }
}

/// A large NEFF is in memory once while it is received and looked at.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_neff_is_not_held_twice() {
    const SIZE: usize = 48 << 20;
    let daemon = Daemon::start(&[]);
    let mut client = daemon.client().await;
    let neff = Chain::new("large", &[Node::Copy(1)]).build_with(SIZE);
    assert!(neff.len() > SIZE);
    let before = peak(&daemon);
    let loaded = load(&mut client, &neff, 0, 0).await;
    good(loaded.status);
    let grown = (peak(&daemon) - before) << 10;
    // the allocator takes some MiB at a time
    assert!(grown > SIZE as u64 && grown < SIZE as u64 * 3 / 2, "grown by {grown} bytes");
}
