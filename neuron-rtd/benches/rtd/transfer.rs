//! A large input: by shared memory, in the message, and beside a plain copy.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::Instant;

use rtd_api::infer_io::Data;
use rtd_api::*;

use crate::Options;
use crate::calls;
use crate::daemon::Server;
use crate::models::{self, LARGE};
use crate::numbers::{judge, median};

/// Inferences of a round.
const CALLS: usize = 20;

/// Buffers that copies go through in turn: together larger than any cache.
const COPIES: usize = 64;

/// Copies between buffers, in microseconds each.
fn copy(from: &[Vec<u8>], to: &mut [Vec<u8>]) -> Vec<f64> {
    let copy = |(from, to): (&Vec<u8>, &mut Vec<u8>)| {
        let start = Instant::now();
        std::hint::black_box(to).copy_from_slice(std::hint::black_box(from));
        start.elapsed().as_secs_f64() * 1e6
    };
    from.iter().zip(to).map(copy).collect()
}

/// Measures and prints.
pub(crate) async fn run(options: &Options) {
    let daemon = Server::daemon();
    let mut client = daemon.client().await;
    let id = calls::load(&mut client, &models::large(), 4).await;
    let (null, inputs) = models::sample("null");
    let null = calls::load(&mut client, &null, 4).await;
    let null = calls::request(null, &inputs);
    let data: Vec<u8> = (0..LARGE).map(|at| (at % 251) as u8).collect();
    let by_value = calls::request(id, &[("x".to_owned(), data.clone())]);
    let name = format!("/neuron_rtd_bench_{}", std::process::id());
    let path = format!("/dev/shm{name}");
    let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    file.write_all_at(&data, 0).unwrap();
    let map = ShmMapRequest {
        data: Some(shm_map_request::Data::Path(name.clone())),
        mmap_prot: 3,
        session_id: 0,
    };
    calls::good(client.shm_map(map).await.unwrap().into_inner().status);
    std::fs::remove_file(&path).unwrap();
    let mut by_memory = by_value.clone();
    by_memory.ifmap[0].data = Some(Data::BufShm(SharedMemBuf { path: name }));
    let answer = client.infer(by_memory.clone()).await.unwrap().into_inner();
    let Some(Data::Buf(first)) = &answer.ofmap[0].data else { panic!("{answer:?}") };
    assert_eq!(first[..], data[..64]);
    let clients = [client];
    let sources = vec![data.clone(); COPIES];
    let mut targets = vec![vec![1; LARGE]; COPIES];
    let (mut shared, mut inline, mut nothing, mut copied, mut hot) =
        (vec![], vec![], vec![], vec![], vec![]);
    for _ in 0..options.rounds {
        shared.push(median(&calls::drive(&clients, &by_memory, CALLS).await.micros));
        inline.push(median(&calls::drive(&clients, &by_value, CALLS).await.micros));
        nothing.push(median(&calls::drive(&clients, &null, CALLS).await.micros));
        copied.push(median(&copy(&sources, &mut targets)));
        let again: Vec<f64> =
            (0..CALLS).flat_map(|_| copy(&sources[..1], &mut targets[..1])).collect();
        hot.push(median(&again));
    }
    let [a, b, c, d, e] =
        [&shared, &inline, &nothing, &copied, &hot].map(|samples| median(samples));
    let rate = |micros: f64| LARGE as f64 / micros / 1e3;
    println!("\nan input of 2 MiB, {} rounds of {CALLS}, p50 in us", options.rounds);
    println!("  by shared memory {a:10.1}");
    println!("  in the message   {b:10.1}");
    println!("  null model       {c:10.1}");
    println!("  memcpy           {d:10.1}   {:.2} GB/s, memory to memory", rate(d));
    println!("  memcpy           {e:10.1}   {:.2} GB/s, in the cache of one core", rate(e));
    let input = (a - c).max(0.1);
    println!("  the input alone, without the null model: {input:.1} us, {:.2} GB/s", rate(input));
    judge("bandwidth to that of memcpy, memory to memory", d / input, 0.8, false);
    judge("in the message to by shared memory", b / a, 3.0, false);
}
