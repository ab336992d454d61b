//! Inferences without end: nothing is lost, and memory stays.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rtd_api::infer_io::Data;
use rtd_api::*;

use crate::daemon::Server;
use crate::numbers::{judge, percentile};
use crate::{calls, models};

/// Clients, each with a connection of its own.
const CLIENTS: usize = 4;

/// One inference in so many is of the mlp model, the others of the null model.
const EVERY: u64 = 10;

/// What all clients share.
struct Plan {
    inferences: u64,
    next: AtomicU64,
    done: AtomicU64,
    until: Instant,
    requests: [InferRequest; 2],
    outputs: [Vec<u8>; 2],
}

/// The one output of an inference.
fn output(answer: InferResponse) -> Vec<u8> {
    calls::good(answer.status);
    let [InferIo { data: Some(Data::Buf(data)), .. }] = answer.ofmap.as_slice() else {
        panic!("{:?}", answer.ofmap)
    };
    data.to_vec()
}

/// Latencies by model, in microseconds.
type Latencies = [Vec<f64>; 2];

async fn client(plan: Arc<Plan>, daemon: Arc<Server>) -> Latencies {
    let mut client = daemon.client().await;
    let mut latencies = Latencies::default();
    loop {
        let ticket = plan.next.fetch_add(1, Relaxed);
        if ticket >= plan.inferences || Instant::now() >= plan.until {
            return latencies;
        }
        let which = usize::from(ticket.is_multiple_of(EVERY));
        let from = Instant::now();
        let answer = client.infer(plan.requests[which].clone()).await.unwrap().into_inner();
        latencies[which].push(from.elapsed().as_secs_f64() * 1e6);
        assert!(output(answer) == plan.outputs[which], "inference {ticket}");
        plan.done.fetch_add(1, Relaxed);
    }
}

/// Runs so many inferences, or as many as the time allows.
pub(crate) async fn run(inferences: u64, seconds: u64) {
    let daemon = Arc::new(Server::daemon());
    let mut first = daemon.client().await;
    let (mut requests, mut outputs) = (Vec::new(), Vec::new());
    for name in ["null", "mlp"] {
        let (neff, inputs) = models::sample(name);
        let id = calls::load(&mut first, &neff, 64).await;
        let request = calls::request(id, &inputs);
        outputs.push(output(first.infer(request.clone()).await.unwrap().into_inner()));
        requests.push(request);
    }
    assert_eq!(
        outputs[0],
        match &requests[0].ifmap[0].data {
            Some(Data::Buf(data)) => data.to_vec(),
            other => panic!("{other:?}"),
        }
    );
    let start = Instant::now();
    let plan = Arc::new(Plan {
        inferences,
        next: AtomicU64::new(0),
        done: AtomicU64::new(0),
        until: start + Duration::from_secs(seconds),
        requests: requests.try_into().unwrap(),
        outputs: outputs.try_into().unwrap(),
    });
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| tokio::spawn(client(Arc::clone(&plan), Arc::clone(&daemon))))
        .collect();
    println!("soak of {inferences} inferences, at most {seconds} s, {CLIENTS} clients");
    println!("  {:>10} {:>8} {:>12}", "done", "seconds", "RSS KiB");
    // malloc's arenas of all threads take more than a tenth to be as large as
    // they get; what a tenth alone would say is told too
    let (mut early, mut warm, mut most, mut told) = (None::<u64>, None::<u64>, 0, 0);
    while clients.iter().any(|client| !client.is_finished()) {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let (done, resident) = (plan.done.load(Relaxed), daemon.resident());
        let by_time = start.elapsed().as_secs() * 10 / seconds.max(1);
        let tenth = (done * 10 / inferences.max(1)).max(by_time);
        if tenth >= 1 {
            early.get_or_insert(resident);
        }
        if tenth >= 2 {
            warm.get_or_insert(resident);
            most = most.max(resident);
        }
        if tenth > told {
            told = tenth;
            println!("  {done:10} {:8} {resident:12}", start.elapsed().as_secs());
        }
    }
    let mut latencies = Latencies::default();
    for client in clients {
        for (all, own) in latencies.iter_mut().zip(client.await.unwrap()) {
            all.extend(own);
        }
    }
    let (done, took) = (plan.done.load(Relaxed), start.elapsed().as_secs_f64());
    let counted = calls::completed(&daemon).await;
    println!("  {done} inferences in {took:.1} s, {:.0} in a second", done as f64 / took);
    println!("  {:8} {:>10} {:>10} {:>10} {:>10}", "", "count", "p50 us", "p99 us", "p999 us");
    for (name, samples) in ["null", "mlp"].iter().zip(&latencies) {
        let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|p| percentile(samples, p));
        println!("  {name:8} {:10} {p50:10.1} {p99:10.1} {p999:10.1}", samples.len());
    }
    assert_eq!(counted, done + 2, "inferences that the daemon counted");
    println!("  the daemon counted all of them, and every output was right");
    if done < inferences {
        println!("  TIME IS UP: {inferences} were asked for");
    }
    let since = |from: Option<u64>| most as f64 / from.unwrap_or(most).max(1) as f64;
    println!("  most RSS to that after a tenth: {:.3}", since(early));
    judge("most RSS to that after the warm-up, a fifth", since(warm), 1.02, true);
}
