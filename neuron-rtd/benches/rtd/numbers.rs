//! Order statistics and the lines of the report.

/// The value below which the share `p` of the samples lies.
pub(crate) fn percentile(samples: &[f64], p: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (p * (sorted.len().max(1) - 1) as f64).round() as usize;
    sorted.get(rank).copied().unwrap_or_default()
}

/// The middle of the samples.
pub(crate) fn median(samples: &[f64]) -> f64 {
    percentile(samples, 0.5)
}

/// A bar and what was measured: `most` where less is better.
pub(crate) fn judge(what: &str, measured: f64, bar: f64, most: bool) {
    let good = if most { measured <= bar } else { measured >= bar };
    let sign = if most { "<=" } else { ">=" };
    let word = if good { "met" } else { "MISSED" };
    println!("  {what}: {measured:.2}, bar {sign} {bar:.2}: {word}");
}
