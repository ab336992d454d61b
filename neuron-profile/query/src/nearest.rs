//! Names like the one that was asked for.

use datafusion::common::utils::datafusion_strsim::normalized_levenshtein;

/// Names that are told at most.
const TOLD: usize = 3;

/// How like two names must be, 0 to 1 (our choice).
const LIKE: f64 = 0.5;

/// The names nearest to one, the best first: those of which it is a part, and
/// those with few different letters.
pub(crate) fn nearest<'n>(asked: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let asked = asked.to_lowercase();
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let like = normalized_levenshtein(&asked, &lower);
            let part = asked.len() > 2 && (lower.contains(&asked) || asked.contains(&lower));
            let score = if part { like.max(LIKE) } else { like };
            (score >= LIKE).then_some((score, name))
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.dedup_by_key(|(_, name)| *name);
    scored.into_iter().take(TOLD).map(|(_, name)| name).collect()
}

/// `; nearest: a, b`, or what else to do.
pub(crate) fn hint<'n>(
    asked: &str,
    names: impl IntoIterator<Item = &'n str>,
    otherwise: &str,
) -> String {
    match nearest(asked, names).as_slice() {
        [] => format!("; {otherwise}"),
        near => format!("; nearest: {}", near.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_and_parts_are_near() {
        let names = ["Instruction", "DmaPacket", "ActiveTime", "DmaUsage", "Throttle"];
        assert_eq!(nearest("instructions", names), ["Instruction"]);
        assert_eq!(nearest("dmapackt", names), ["DmaPacket"]);
        assert_eq!(nearest("DMA", names), ["DmaPacket", "DmaUsage"]);
        assert_eq!(nearest("zzz", names), Vec::<&str>::new());
        assert_eq!(hint("zzz", names, "see --tables"), "; see --tables");
        assert_eq!(hint("trottle", names, ""), "; nearest: Throttle");
    }
}
