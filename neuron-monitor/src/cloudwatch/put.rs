//! Metrics by PutMetricData: a monitor fills the queue, a thread empties it.

use std::sync::Arc;
use std::thread::Builder;

use neuron_core::cli::{self, Exit};
use neuron_core::error::io_reason;

use super::client::Client;
use super::delivery::Delivery;
use super::queue::Queue;
use super::{CloudwatchArgs, FLUSH, Input, cannot_start, metrics, request};
use crate::PROGRAM;
use crate::monitor::End;

/// Sends until the end.
pub(super) fn run(args: &CloudwatchArgs, region: &str, source: &str) -> Result<Exit, String> {
    let mut client = Client::new(Some(region), args.endpoint.as_deref())?;
    let input = Input::open(args, source)?;
    let url = client.url().to_owned();
    let namespace = args.namespace.clone();
    let queue = Arc::new(Queue::new());
    let put = move |data: &[String]| client.put(&request::body(&namespace, data));
    let delivery = Delivery::new(put, Arc::clone(&queue), args.flush.unwrap_or(FLUSH));
    let sending = Builder::new()
        .name(String::from("delivery"))
        .spawn(move || delivery.run())
        .map_err(cannot_start)?;
    let mut dropping = false;
    let (end, _) = input.run(|record| {
        let seconds = metrics::taken(&record);
        let blocks = metrics::blocks(&record);
        let dropped = queue.push(blocks.iter().flat_map(|block| request::data(block, seconds)));
        if dropped > 0 && !dropping {
            cli::complain(
                PROGRAM,
                "too many metrics wait for PutMetricData: from now on the oldest are dropped",
            );
        }
        dropping = dropped > 0;
    })?;
    queue.close();
    let outcome = sending.join().map_err(|_| String::from("the delivery has failed"))?;
    let (_, dropped) = queue.waiting_and_dropped();
    let lost = outcome.lost + dropped;
    if lost > 0 {
        let delivered = outcome.delivered;
        return Err(format!("{lost} metrics were not delivered to {url}, {delivered} were"));
    }
    match end {
        End::Done => Ok(Exit::Done),
        End::Output(error) => Err(io_reason(&error)),
    }
}
