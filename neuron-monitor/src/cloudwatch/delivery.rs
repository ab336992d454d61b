//! From the queue to the service, until it takes what is there.
//!
//! A batch is kept until it is taken. One that can never be (a value that the
//! service refuses) is halved until the metric that is wrong stands alone, so
//! that nothing else is lost with it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use neuron_core::cli;

use super::queue::Queue;
use super::request::Answer;
use crate::PROGRAM;

/// The shortest and the longest wait between tries.
const SHORTEST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(60);

/// How long is tried to deliver the rest after the end.
pub(super) const AT_THE_END: Duration = Duration::from_secs(10);

/// What became of the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Outcome {
    /// Taken by the service.
    pub(super) delivered: u64,
    /// Not taken: refused, or still waiting at the end.
    pub(super) lost: u64,
}

/// The sending side.
#[derive(Debug)]
pub(super) struct Delivery<P> {
    /// Sends metrics.
    pub(super) put: P,
    /// Where they come from.
    pub(super) queue: Arc<Queue>,
    /// How long a metric may wait for others.
    pub(super) patience: Duration,
    /// How long is tried after the end.
    pub(super) at_the_end: Duration,
    /// When to give up, once the queue is closed.
    give_up: Option<Instant>,
    failures: u32,
    /// What was said last of the trouble, to say it once.
    trouble: Option<String>,
    outcome: Outcome,
}

impl<P: FnMut(&[String]) -> Answer> Delivery<P> {
    pub(super) fn new(put: P, queue: Arc<Queue>, patience: Duration) -> Self {
        Self {
            put,
            queue,
            patience,
            at_the_end: AT_THE_END,
            give_up: None,
            failures: 0,
            trouble: None,
            outcome: Outcome::default(),
        }
    }

    /// Runs until the queue is closed and empty, or nothing can be delivered
    /// for too long after that.
    pub(super) fn run(mut self) -> Outcome {
        while let Some(batch) = self.queue.take(self.patience) {
            let mut parts = vec![batch];
            while let Some(mut part) = parts.pop() {
                match (self.put)(&part) {
                    Answer::Taken => self.taken(part.len()),
                    Answer::Refused(reason) if part.len() == 1 => {
                        self.outcome.lost += 1;
                        let datum = part.first().map_or("", String::as_str);
                        say(&format!("a metric is refused and lost: {reason}: {datum}"));
                    }
                    Answer::Refused(_) => {
                        let second = part.split_off(part.len() / 2);
                        parts.push(second);
                        parts.push(part);
                    }
                    Answer::Again(reason) | Answer::Denied(reason) => {
                        parts.push(part);
                        if !self.wait(reason) {
                            let left = parts.iter().map(|part| count(part.len())).sum::<u64>();
                            self.outcome.lost += left + self.queue.clear();
                            return self.outcome;
                        }
                    }
                }
            }
        }
        self.outcome
    }

    fn taken(&mut self, metrics: usize) {
        self.outcome.delivered += count(metrics);
        self.failures = 0;
        if self.trouble.take().is_some() {
            let (waiting, dropped) = self.queue.waiting_and_dropped();
            say(&format!(
                "PutMetricData succeeds again; {waiting} metrics wait, {dropped} were dropped so far"
            ));
        }
    }

    /// Waits before the next try; `false` when there is none.
    fn wait(&mut self, reason: String) -> bool {
        let time = SHORTEST.saturating_mul(1 << self.failures.min(16)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        // Up to a half less, so that many machines do not come at once.
        let time = time.mul_f64(1.0 - 0.5 * chance());
        if self.trouble.as_ref() != Some(&reason) {
            say(&format!("PutMetricData failed: {reason}; it is tried again, nothing is lost yet"));
            self.trouble = Some(reason);
        }
        if self.give_up.is_none() && !self.queue.closed_within(time) {
            return true;
        }
        // Closed, perhaps during the wait.
        let end = *self.give_up.get_or_insert_with(|| Instant::now() + self.at_the_end);
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        std::thread::sleep(time.min(left).min(Duration::from_secs(2)));
        true
    }
}

/// From 0 to 1.
#[allow(clippy::cast_precision_loss)]
fn chance() -> f64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    // Seeded by the system anew each time.
    let number = std::hash::RandomState::new().build_hasher().finish();
    number as f64 / u64::MAX as f64
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn say(text: &str) {
    cli::complain(PROGRAM, text);
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn run(
        metrics: usize,
        at_the_end: Duration,
        mut put: impl FnMut(&[String]) -> Answer,
    ) -> (Outcome, Vec<String>) {
        let queue = Arc::new(Queue::new());
        queue.push((0..metrics).map(|n| n.to_string()));
        queue.close();
        let taken = Mutex::new(Vec::new());
        let recorded = |part: &[String]| {
            let answer = put(part);
            if answer == Answer::Taken {
                taken.lock().unwrap().extend_from_slice(part);
            }
            answer
        };
        let mut delivery = Delivery::new(recorded, queue, Duration::ZERO);
        delivery.at_the_end = at_the_end;
        let outcome = delivery.run();
        (outcome, taken.into_inner().unwrap())
    }

    #[test]
    fn nothing_is_lost_or_repeated_by_failures() {
        let mut tries = 0;
        let (outcome, taken) = run(2500, Duration::from_secs(60), |_| {
            tries += 1;
            match tries {
                1 => Answer::Again(String::from("status 503")),
                3 => Answer::Denied(String::from("status 403")),
                _ => Answer::Taken,
            }
        });
        assert_eq!(outcome, Outcome { delivered: 2500, lost: 0 });
        let all: Vec<String> = (0..2500).map(|n| n.to_string()).collect();
        assert_eq!(taken, all);
    }

    #[test]
    fn what_is_refused_takes_nothing_with_it() {
        let (outcome, taken) = run(1000, Duration::ZERO, |part| {
            if part.iter().any(|datum| datum == "7" || datum == "501") {
                Answer::Refused(String::from("status 400"))
            } else {
                Answer::Taken
            }
        });
        assert_eq!(outcome, Outcome { delivered: 998, lost: 2 });
        let rest: Vec<String> =
            (0..1000).filter(|n| *n != 7 && *n != 501).map(|n| n.to_string()).collect();
        assert_eq!(taken, rest);
    }

    #[test]
    fn the_end_does_not_wait_for_ever_and_says_what_is_lost() {
        let begin = Instant::now();
        let failing = |_: &[String]| Answer::Again(String::from("connection refused"));
        let (outcome, _) = run(1500, Duration::from_millis(600), failing);
        assert_eq!(outcome, Outcome { delivered: 0, lost: 1500 });
        assert!(begin.elapsed() < Duration::from_secs(10));
    }
}
