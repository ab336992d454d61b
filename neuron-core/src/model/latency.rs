//! Percentiles from counts of latencies.
//!
//! The buckets double in width, so a value is known to within a factor of two;
//! the exact sum of all latencies makes it better. Within a bucket the values
//! are taken to lie evenly; then all are scaled so that their mean is the true
//! one, without leaving their bucket. Where all latencies are in one bucket,
//! every percentile comes close to the mean.

use super::core_use::as_f64;
use crate::sample::Latency;

/// The percentiles that the stream has, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Percentiles {
    /// Smallest.
    pub p0: f64,
    /// 1 % are below.
    pub p1: f64,
    /// 25 % are below.
    pub p25: f64,
    /// Median.
    pub p50: f64,
    /// 75 % are below.
    pub p75: f64,
    /// 99 % are below.
    pub p99: f64,
    /// Largest.
    pub p100: f64,
}

/// Buckets of 64-bit values.
const BUCKETS: u32 = 64;

/// The percentiles; `None` when nothing was counted.
pub(super) fn percentiles(latency: &Latency) -> Option<Percentiles> {
    let counts: Vec<(f64, f64, f64)> = latency
        .buckets
        .iter()
        .filter(|(bucket, count)| **bucket < BUCKETS && **count > 0)
        .map(|(bucket, count)| (lower(*bucket), lower(bucket + 1), as_f64(*count)))
        .collect();
    let total: f64 = counts.iter().map(|(_, _, count)| count).sum();
    let evenly: f64 = counts.iter().map(|(low, high, count)| (low + high) / 2.0 * count).sum();
    if total <= 0.0 || evenly <= 0.0 {
        return None;
    }
    let scale = as_f64(latency.sum) / evenly;
    let at = |share: f64| {
        let rank = total * share;
        let mut below = 0.0;
        for (index, (low, high, count)) in counts.iter().enumerate() {
            if rank <= below + count || index + 1 == counts.len() {
                let value = low + (high - low) * ((rank - below) / count).clamp(0.0, 1.0);
                // Nanoseconds are what was counted.
                return (value * scale).clamp(*low, *high).round() / 1e9;
            }
            below += count;
        }
        0.0
    };
    if let [(low, high, _)] = counts.as_slice() {
        let mean = (as_f64(latency.sum) / total).clamp(*low, *high).round() / 1e9;
        return Some(Percentiles {
            p0: mean,
            p1: mean,
            p25: mean,
            p50: mean,
            p75: mean,
            p99: mean,
            p100: mean,
        });
    }
    Some(Percentiles {
        p0: at(0.0),
        p1: at(0.01),
        p25: at(0.25),
        p50: at(0.5),
        p75: at(0.75),
        p99: at(0.99),
        p100: at(1.0),
    })
}

/// Where a bucket begins, nanoseconds.
fn lower(bucket: u32) -> f64 {
    if bucket == 0 { 0.0 } else { 2.0_f64.powi(i32::try_from(bucket).unwrap_or(64)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counted(values: &[u64]) -> Latency {
        let mut latency = Latency::default();
        for value in values {
            *latency.buckets.entry(value.checked_ilog2().unwrap_or(0)).or_default() += 1;
            latency.sum += value;
        }
        latency
    }

    #[test]
    fn nothing_counted_has_no_percentiles() {
        assert_eq!(percentiles(&Latency::default()), None);
        assert_eq!(percentiles(&Latency { buckets: [(3, 0)].into(), sum: 0 }), None);
    }

    #[test]
    fn one_bucket_is_its_mean() {
        let found = percentiles(&counted(&[1100, 1300, 1500])).unwrap();
        assert_eq!((found.p0, found.p50, found.p100), (1.3e-6, 1.3e-6, 1.3e-6));
    }

    proptest! {
        /// Against the percentiles of the values themselves: in order, and
        /// never more than a factor of two away.
        #[test]
        fn within_a_bucket_of_the_truth(mut values in prop::collection::vec(1_u64..1 << 40, 1..200)) {
            let found = percentiles(&counted(&values)).unwrap();
            values.sort_unstable();
            let nearest = |share: usize| values[(values.len() * share / 100).min(values.len() - 1)];
            let list = [found.p0, found.p1, found.p25, found.p50, found.p75, found.p99, found.p100];
            prop_assert!(list.is_sorted(), "{list:?}");
            for (share, seconds) in [(0, found.p0), (50, found.p50), (100, found.p100)] {
                let truth = as_f64(nearest(share)) / 1e9;
                let neighbours = [share.saturating_sub(1), share + 1].map(nearest);
                let low = as_f64(neighbours[0]).min(truth * 1e9) / 1e9;
                let high = as_f64(neighbours[1]).max(truth * 1e9) / 1e9;
                prop_assert!(seconds >= low / 2.01 && seconds <= high * 2.01, "{seconds} {truth}");
            }
        }
    }
}
