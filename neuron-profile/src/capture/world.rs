//! How many workers the collectives of a NEFF need, where nobody said.
//!
//! The definition of a sub-graph tells its ranks (neff.md §5.3): by number in
//! `#rank_world_size`, else as those that its replica groups and routes name.

use anyhow::ensure;
use neuron_core::neff::{Mode, Model, Neff, Options, Report};
use serde_json::Value;

use super::MOST_WORKERS;

/// Ranks that the collectives of a NEFF are over; 0 for a NEFF without them.
///
/// # Errors
///
/// A NEFF that cannot be read.
pub(super) fn ranks(bytes: &[u8]) -> anyhow::Result<u64> {
    let neff = Neff::open(bytes, &Options::new(Mode::Lenient).without_digest())?;
    let model = Model::read(&neff, &mut Report::new(Mode::Lenient))?;
    let each = model.subgraphs.iter().map(|subgraph| {
        let definition = &subgraph.definition;
        let told = definition.rank_world_size.and_then(|size| u64::try_from(size).ok());
        told.filter(|size| *size > 0).unwrap_or_else(|| {
            let lists = [&definition.replica_groups, &definition.src_target_pairs];
            lists.into_iter().flatten().filter_map(highest).max().map_or(0, |rank| rank + 1)
        })
    });
    Ok(each.max().unwrap_or(0))
}

/// The highest rank in lists of ranks, however deep.
fn highest(value: &Value) -> Option<u64> {
    match value {
        Value::Array(list) => list.iter().filter_map(highest).max(),
        Value::Number(rank) => rank.as_u64().filter(|rank| *rank < u64::MAX),
        _ => None,
    }
}

/// Workers for so many ranks with `each` cores of the NEFF in one worker; `None`
/// where one worker has them all.
///
/// # Errors
///
/// More workers than a machine has.
pub(super) fn workers(ranks: u64, each: u32) -> anyhow::Result<Option<u32>> {
    let workers = ranks.div_ceil(u64::from(each.max(1)));
    if workers <= 1 {
        return Ok(None);
    }
    ensure!(
        workers <= u64::from(MOST_WORKERS),
        "its collectives name {ranks} ranks; say how many of them are on this machine with \
         --collectives-workers-per-node"
    );
    Ok(u32::try_from(workers).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ranks_are_the_highest_named() {
        assert_eq!(highest(&json!([[0, 1], [2, 3]])), Some(3));
        assert_eq!(highest(&json!([[[7]], []])), Some(7));
        assert_eq!(highest(&json!([[]])), None);
        assert_eq!(highest(&json!({"a": [9], "b": -1})), None);
    }

    #[test]
    fn a_worker_has_all_cores_of_the_neff() {
        for (ranks, each, wanted) in [
            (0, 1, None),
            (1, 1, None),
            (2, 2, None),
            (2, 1, Some(2)),
            (5, 2, Some(3)),
            (4, 0, Some(4)),
        ] {
            assert_eq!(workers(ranks, each).unwrap(), wanted, "{ranks} of {each}");
        }
        let error = workers(1 << 40, 1).unwrap_err().to_string();
        assert!(error.contains("--collectives-workers-per-node"), "{error}");
    }
}
