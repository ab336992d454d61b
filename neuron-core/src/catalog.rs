//! Every metric once: id, headings, keys, unit, kind, help, labels.
//!
//! Table columns, JSON keys, CSV headers, Prometheus lines and the metric
//! page of the docs are read from these rows, so they cannot disagree. Each
//! row is also a constant, so that a view that names a missing row does not
//! compile. What a row leaves out is where its value comes from in a sample:
//! that is the model's business.

mod counters;
mod datastore;
mod devices;
mod memory;
mod monitor;
mod row;

pub use counters::*;
pub use datastore::*;
pub use devices::*;
pub use memory::*;
pub use monitor::*;
pub use row::{Kind, Metric, Unit};

/// Every group of rows; [`METRICS`] is their concatenation.
const GROUPS: [&[Metric]; 5] =
    [devices::ROWS, counters::ROWS, memory::ROWS, datastore::ROWS, monitor::ROWS];

const COUNT: usize = {
    let (mut group, mut count) = (0, 0);
    while group < GROUPS.len() {
        count += GROUPS[group].len();
        group += 1;
    }
    count
};

static TABLE: [Metric; COUNT] = {
    let mut table = [GROUPS[0][0]; COUNT];
    let (mut group, mut next) = (0, 0);
    while group < GROUPS.len() {
        let mut row = 0;
        while row < GROUPS[group].len() {
            table[next] = GROUPS[group][row];
            next += 1;
            row += 1;
        }
        group += 1;
    }
    table
};

/// Every metric, in the order of the metric page.
pub const METRICS: &[Metric] = &TABLE;

/// The row of an id.
pub fn find(id: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.id == id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::instance::Chip;

    #[test]
    fn ids_are_unique_and_found() {
        let ids: BTreeSet<_> = METRICS.iter().map(|m| m.id).collect();
        assert_eq!(ids.len(), METRICS.len());
        for metric in METRICS {
            assert_eq!(find(metric.id), Some(metric));
        }
        assert_eq!(find("device.temperature"), None);
    }

    #[test]
    fn every_row_is_complete() {
        for metric in METRICS {
            let id = metric.id;
            assert!(
                metric.help.len() > 10 && !metric.help.ends_with('.'),
                "{id}: {:?}",
                metric.help
            );
            assert!(metric.source.contains('§'), "{id}: {:?}", metric.source);
            for key in metric.labels.iter().chain([&metric.json]) {
                let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
                assert!(!key.is_empty() && key.chars().all(plain), "{id}: {key:?}");
            }
            assert_eq!(metric.heading[0].is_empty(), metric.heading == ["", ""], "{id}");
        }
    }

    /// Within one kind of object no two rows share a JSON key.
    #[test]
    fn json_keys_do_not_collide() {
        let keys: BTreeSet<_> = METRICS
            .iter()
            .map(|m| (m.id.rsplit_once('.').map(|(object, _)| object), m.json))
            .collect();
        assert_eq!(keys.len(), METRICS.len());
    }

    #[test]
    fn kind_and_unit_go_together() {
        for metric in METRICS {
            match metric.kind {
                Kind::Fact => assert!(metric.prometheus.is_none(), "{}", metric.id),
                Kind::Counter => assert_ne!(metric.unit, Unit::Text, "{}", metric.id),
                Kind::Level => {}
            }
        }
    }

    /// The NDS counters of driver.md §5.5: 0 to 40 without a gap.
    #[test]
    fn every_datastore_core_counter_has_one_row() {
        let ids: Vec<u32> = METRICS.iter().filter_map(|m| m.core_counter).collect();
        let unique: BTreeSet<u32> = ids.iter().copied().collect();
        assert_eq!(unique.len(), ids.len());
        assert_eq!(unique, (0..=40).collect());
    }

    /// The NDS device counters of driver.md §5.4: 0 to 13 without a gap.
    #[test]
    fn every_datastore_device_counter_has_one_row() {
        let ids: BTreeSet<u32> = METRICS.iter().filter_map(|m| m.device_counter).collect();
        assert_eq!(ids, (0..=13).collect());
    }

    /// Leaves per core of driver.md §6.8: 24 status, 6 other, and 12 device
    /// memory nodes (the total and 11 categories). The status table of §6.5
    /// lists 24 names.
    #[test]
    fn leaf_counts_are_those_of_the_driver() {
        let below = |prefix: &str| {
            METRICS.iter().filter(|m| m.leaf.is_some_and(|leaf| leaf.starts_with(prefix))).count()
        };
        assert_eq!(below("neuron_core/stats/status/"), 24);
        assert_eq!(below("neuron_core/stats/other_info/"), 6);
        assert_eq!(below("neuron_core/stats/memory_usage/device_mem"), 12);
        assert_eq!(below("neuron_core/stats/memory_usage/host_mem"), 1);
        assert_eq!(below("stats/memory_usage/host_mem/"), 8);
        assert_eq!(below("stats/hardware/"), 6);
    }

    /// Names in sysfs that the rest of the crate spells as well.
    #[test]
    fn device_type_help_names_every_product() {
        for chip in Chip::ALL {
            assert!(DEVICE_TYPE.help.contains(chip.device_type()), "{chip:?}");
        }
    }
}
