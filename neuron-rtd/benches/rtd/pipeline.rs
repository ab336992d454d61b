//! Four nodes, four inferences in flight against one.

use rtd_api::{Empty, HNn};

use crate::Options;
use crate::calls;
use crate::daemon::Server;
use crate::models::{self, CHAIN};
use crate::numbers::{judge, median};

/// Inferences of a round.
const CALLS: usize = 32;

/// Measures and prints.
pub(crate) async fn run(options: &Options) {
    let daemon = Server::daemon();
    let neff = models::chain();
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(daemon.client().await);
    }
    let one = calls::load(&mut clients[0], &neff, 1).await;
    let four = calls::load(&mut clients[0], &neff, 4).await;
    let data: Vec<u8> = (0..CHAIN / 4).flat_map(|n| (n as f32 / 1e4).to_le_bytes()).collect();
    let inputs = [("x".to_owned(), data)];
    let (one_request, four_request) = (calls::request(one, &inputs), calls::request(four, &inputs));
    let (mut alone, mut together, mut ratios) = (vec![], vec![], vec![]);
    let (mut one_time, mut four_time) = (vec![], vec![]);
    for _ in 0..options.rounds {
        let before = (simulated(&daemon, one).await, simulated(&daemon, four).await);
        let a = calls::drive(&clients[..1], &one_request, CALLS).await.rate;
        let b = calls::drive(&clients, &four_request, CALLS / 4).await.rate;
        one_time.push(simulated(&daemon, one).await - before.0);
        four_time.push(simulated(&daemon, four).await - before.1);
        alone.push(a);
        together.push(b);
        ratios.push(b / a);
    }
    println!("\nfour nodes on four cores, {} rounds of {CALLS} inferences", options.rounds);
    println!(
        "  {:8} {:>16} {:>16} {:>20}",
        "", "in a second", "in a simulated s", "simulated us each"
    );
    for (name, wall, nanos) in
        [("ninfer 1", &alone, &one_time), ("ninfer 4", &together, &four_time)]
    {
        let each = median(nanos) / CALLS as f64;
        let (wall, rate, micros) = (median(wall), 1e9 / each, each / 1e3);
        println!("  {name:8} {wall:16.1} {rate:16.1} {micros:20.1}");
    }
    let times = one_time.iter().zip(&four_time);
    let simulated: Vec<f64> = times.map(|(one, four)| one / four).collect();
    judge("in simulated time", median(&simulated), 3.5, false);
    judge("on the wall", median(&ratios), 1.7, false);
}

/// What the inferences of a model have taken on simulated cores so far.
async fn simulated(daemon: &Server, model: u32) -> f64 {
    let listed = daemon.extension().await.list_models(Empty {}).await.unwrap().into_inner();
    let mut models = listed.models.into_iter();
    let found = models.find(|info| info.h_nn == Some(HNn { id: model }));
    found.unwrap().simulated_nanos as f64
}
