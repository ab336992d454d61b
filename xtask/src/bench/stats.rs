//! Order statistics of samples, and how sure a median is.

/// The value below which the share `p` (0 to 1) of the samples lies,
/// interpolated between neighbours; 0 of no samples.
pub(super) fn percentile(samples: &[f64], p: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 samples")]
    let rank = p.clamp(0.0, 1.0) * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to last")]
    let below = rank.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * rank.fract()
}

/// The middle of the samples.
pub(super) fn median(samples: &[f64]) -> f64 {
    percentile(samples, 0.5)
}

/// The interval that holds the median of what was sampled with 95 %
/// confidence: the bootstrap of 2000 resamples, the same for the same samples.
pub(super) fn bootstrap_95(samples: &[f64]) -> (f64, f64) {
    let mut random = Lcg(0x5eed);
    let mut resample = vec![0.0; samples.len()];
    let mut medians = Vec::with_capacity(2000);
    for _ in 0..2000 {
        resample.fill_with(|| samples[random.below(samples.len())]);
        medians.push(median(&resample));
    }
    (percentile(&medians, 0.025), percentile(&medians, 0.975))
}

/// Knuth's 64-bit linear congruential generator. Good enough to draw samples,
/// and the same on every machine.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The high bits are the good ones.
        let high = usize::try_from(self.0 >> 33).unwrap_or(0);
        high.checked_rem(bound).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn percentiles_interpolate() {
        let samples = [4.0, 1.0, 3.0, 2.0];
        assert!(near(median(&samples), 2.5));
        assert!(near(percentile(&samples, 0.0), 1.0));
        assert!(near(percentile(&samples, 1.0), 4.0));
        assert!(near(percentile(&samples, 0.1), 1.3));
        assert!(near(median(&[7.0]), 7.0));
        assert!(near(median(&[]), 0.0));
    }

    #[test]
    fn the_interval_of_equal_samples_is_a_point() {
        assert_eq!(bootstrap_95(&[2.0; 20]), (2.0, 2.0));
    }

    #[test]
    fn the_interval_holds_the_median_and_narrows_with_more_samples() {
        let samples =
            |n: u32| (0..n).map(|i| f64::from(i * 37 % n) / f64::from(n)).collect::<Vec<_>>();
        let width = |n| {
            let samples = samples(n);
            let (low, high) = bootstrap_95(&samples);
            assert!(low <= median(&samples) && median(&samples) <= high);
            high - low
        };
        let (few, many) = (width(50), width(1000));
        // Known for uniform samples: 1.96 / sqrt(n), 0.277 and 0.062.
        assert!((0.2..0.36).contains(&few), "{few}");
        assert!((0.045..0.08).contains(&many), "{many}");
    }

    #[test]
    fn draws_are_spread_evenly() {
        let mut random = Lcg(1);
        let mut hits = [0_u32; 10];
        for _ in 0..10_000 {
            hits[random.below(10)] += 1;
        }
        assert!(hits.iter().all(|&n| (900..1100).contains(&n)), "{hits:?}");
    }
}
