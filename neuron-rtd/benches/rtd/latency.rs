//! The null model beside two servers that do nothing.

use std::path::Path;

use crate::Options;
use crate::calls::{self, Round};
use crate::daemon::Server;
use crate::numbers::{judge, median, percentile};
use crate::{models, python};

/// Calls of a round, of all clients together.
const CALLS: usize = 800;

/// A row of the report.
struct Row {
    name: &'static str,
    rounds: Vec<Round>,
}

impl Row {
    fn new(name: &'static str) -> Self {
        Self { name, rounds: Vec::new() }
    }

    /// Something of each round.
    fn each(&self, of: impl Fn(&Round) -> f64) -> Vec<f64> {
        self.rounds.iter().map(of).collect()
    }

    fn print(&self) {
        let all: Vec<f64> = self.rounds.iter().flat_map(|round| &round.micros).copied().collect();
        let [p50, p99] = [0.5, 0.99].map(|p| percentile(&all, p));
        let rate = median(&self.each(|round| round.rate));
        println!("  {:24} {p50:10.1} {p99:10.1} {rate:12.0}", self.name);
    }
}

/// The middle of the ratios of what was measured in the same round.
fn ratio(a: &Row, b: &Row, of: impl Fn(&Round) -> f64 + Copy) -> f64 {
    let pairs = a.each(of).into_iter().zip(b.each(of));
    median(&pairs.map(|(a, b)| a / b).collect::<Vec<_>>())
}

/// Measures and prints.
pub(crate) async fn run(options: &Options) {
    let (daemon, echo) = (Server::daemon(), Server::echo());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/rtd/echo.py");
    let python = options.python.as_deref();
    let peer = python.map(|python| Server::python(python, &script));
    let (neff, inputs) = models::sample("null");
    let id = calls::load(&mut daemon.client().await, &neff, 64).await;
    let request = calls::request(id, &inputs);
    let mut made = 0;
    for clients in [1, 8] {
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..clients {
            ours.push(daemon.client().await);
            bare.push(echo.client().await);
        }
        let mut theirs: Vec<python::Client> = Vec::new();
        if let (Some(python), Some(peer)) = (python, &peer) {
            let start = || python::Client::start(python, &script, &peer.address());
            theirs.extend((0..clients).map(|_| start()));
        }
        let each = CALLS / clients;
        calls::drive(&ours, &request, each).await;
        calls::drive(&bare, &request, each).await;
        let mut rows =
            [Row::new("null model"), Row::new("tonic echo"), Row::new("Python grpcio echo")];
        for round in 0..options.rounds {
            for turn in 0..3 {
                // every round begins with another one
                let which = (round + turn) % 3;
                rows[which].rounds.push(match which {
                    0 => calls::drive(&ours, &request, each).await,
                    1 => calls::drive(&bare, &request, each).await,
                    _ => python::drive(&mut theirs, each),
                });
            }
        }
        made += (each * clients * (options.rounds + 1)) as u64;
        println!("\nnull model, {clients} clients, {} rounds of {CALLS} calls", options.rounds);
        println!("  {:24} {:>10} {:>10} {:>12}", "", "p50 us", "p99 us", "calls/s");
        let [null, bare, python] = &rows;
        null.print();
        bare.print();
        let p50 = |round: &Round| median(&round.micros);
        let rate = |round: &Round| round.rate;
        let with_python = !theirs.is_empty();
        if with_python {
            python.print();
        }
        if clients == 1 {
            judge("p50 to that of the tonic echo", ratio(null, bare, p50), 1.15, true);
            if with_python {
                judge("p50 of the Python echo to ours", ratio(python, null, p50), 5.0, false);
            }
        } else {
            let to_bare = ratio(null, bare, rate);
            println!("  calls/s to those of the tonic echo: {to_bare:.2}");
            if with_python {
                judge("calls/s to those of the Python echo", ratio(null, python, rate), 5.0, false);
            }
        }
    }
    let counted = calls::completed(&daemon).await;
    assert_eq!(counted, made, "inferences that the daemon counted");
    println!("  the daemon counted {counted} inferences, all that were made");
}
