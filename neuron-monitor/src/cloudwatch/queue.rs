//! Metrics that wait for delivery.
//!
//! Bounded by size: when nothing can be delivered for long, the oldest are
//! dropped and counted, so that what arrives in the end is the newest. What
//! was taken out is the sender's, which keeps it until it is delivered.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::request::{MOST_BYTES, MOST_DATA};

/// Bytes that wait at most: hours of a small instance, some minutes of the
/// largest at the shortest useful period.
const LIMIT: usize = 16 << 20;

/// The queue.
#[derive(Debug)]
pub(super) struct Queue {
    inner: Mutex<Inner>,
    changed: Condvar,
    limit: usize,
}

#[derive(Debug, Default)]
struct Inner {
    data: VecDeque<String>,
    bytes: usize,
    /// When the oldest came.
    since: Option<Instant>,
    dropped: u64,
    closed: bool,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self::limited(LIMIT)
    }

    fn limited(limit: usize) -> Self {
        Self { inner: Mutex::default(), changed: Condvar::new(), limit }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes metrics in. Returns how many older ones had to go for them.
    pub(super) fn push(&self, data: impl Iterator<Item = String>) -> u64 {
        let mut inner = self.inner();
        let mut gone = 0;
        for datum in data {
            inner.bytes += datum.len();
            inner.data.push_back(datum);
            inner.since.get_or_insert_with(Instant::now);
            while inner.bytes > self.limit {
                let Some(oldest) = inner.data.pop_front() else { break };
                inner.bytes -= oldest.len();
                gone += 1;
            }
        }
        inner.dropped += gone;
        drop(inner);
        self.changed.notify_all();
        gone
    }

    /// Waits for what fits one request: as soon as one is full, else when the
    /// oldest metric has waited for `patience`. `None` when the queue is closed
    /// and empty.
    pub(super) fn take(&self, patience: Duration) -> Option<Vec<String>> {
        let mut inner = self.inner();
        loop {
            let full = inner.data.len() >= MOST_DATA || inner.bytes >= MOST_BYTES;
            let left = inner.since.map(|since| patience.saturating_sub(since.elapsed()));
            if full || inner.closed || left.is_some_and(|left| left.is_zero()) {
                return inner.next();
            }
            inner = match left {
                Some(left) => {
                    let waited = self.changed.wait_timeout(inner, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Waits, but for no longer than until the queue is closed. Returns whether
    /// it is.
    pub(super) fn closed_within(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        let mut inner = self.inner();
        while !inner.closed {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(inner, left);
            inner = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Nothing comes any more.
    pub(super) fn close(&self) {
        self.inner().closed = true;
        self.changed.notify_all();
    }

    /// Empties it. Returns how many there were.
    pub(super) fn clear(&self) -> u64 {
        let mut inner = self.inner();
        inner.bytes = 0;
        inner.since = None;
        u64::try_from(std::mem::take(&mut inner.data).len()).unwrap_or(u64::MAX)
    }

    /// How many wait, and how many were dropped.
    pub(super) fn waiting_and_dropped(&self) -> (usize, u64) {
        let inner = self.inner();
        (inner.data.len(), inner.dropped)
    }
}

impl Inner {
    /// The oldest that fit one request.
    fn next(&mut self) -> Option<Vec<String>> {
        let mut bytes = 0;
        let fits = |datum: &&String| {
            // A comma behind each.
            bytes += datum.len() + 1;
            bytes <= MOST_BYTES
        };
        let count = self.data.iter().take(MOST_DATA).take_while(fits).count();
        // Nothing is so long; should it be, the service is to say so.
        let count = count.max(1).min(self.data.len());
        let batch: Vec<String> = self.data.drain(..count).collect();
        self.bytes -= batch.iter().map(String::len).sum::<usize>();
        self.since = (!self.data.is_empty()).then(Instant::now);
        (!batch.is_empty()).then_some(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(range: std::ops::Range<usize>) -> impl Iterator<Item = String> {
        range.map(|n| format!("{n:08}"))
    }

    #[test]
    fn batches_hold_what_one_request_may() {
        let queue = Queue::new();
        assert_eq!(queue.push(numbered(0..2500)), 0);
        queue.close();
        let long = Duration::from_secs(60);
        let sizes: Vec<usize> =
            std::iter::from_fn(|| queue.take(long)).map(|batch| batch.len()).collect();
        assert_eq!(sizes, [MOST_DATA, MOST_DATA, 500]);

        let queue = Queue::new();
        queue.push((0..30).map(|_| "x".repeat(100_000)));
        queue.close();
        let mut seen = 0;
        while let Some(batch) = queue.take(long) {
            assert!(batch.iter().map(|datum| datum.len() + 1).sum::<usize>() <= MOST_BYTES);
            seen += batch.len();
        }
        assert_eq!(seen, 30);
    }

    #[test]
    fn the_oldest_go_when_it_is_full_and_are_counted() {
        let queue = Queue::limited(80);
        assert_eq!(queue.push(numbered(0..10)), 0);
        assert_eq!(queue.push(numbered(10..13)), 3);
        assert_eq!(queue.waiting_and_dropped(), (10, 3));
        queue.close();
        let batch = queue.take(Duration::ZERO).unwrap();
        assert_eq!(batch.first().map(String::as_str), Some("00000003"));
        assert_eq!(batch.last().map(String::as_str), Some("00000012"));
        assert_eq!(queue.take(Duration::ZERO), None);
    }

    #[test]
    fn a_part_of_a_batch_waits_for_its_time_only() {
        let queue = Queue::new();
        let begin = Instant::now();
        queue.push(numbered(0..1));
        assert_eq!(queue.take(Duration::from_millis(50)).unwrap().len(), 1);
        assert!(begin.elapsed() >= Duration::from_millis(50));
        assert!(!queue.closed_within(Duration::from_millis(1)));
        queue.push(numbered(0..MOST_DATA));
        // At once.
        assert_eq!(queue.take(Duration::from_secs(3600)).unwrap().len(), MOST_DATA);
        queue.push(numbered(0..7));
        assert_eq!(queue.clear(), 7);
        queue.close();
        assert!(queue.closed_within(Duration::from_secs(3600)));
        assert_eq!(queue.take(Duration::from_secs(3600)), None);
    }
}
