//! What this program costs, and how well it keeps up.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::config::{Group as _, OfApplication, OfSystem};
use crate::plan::Item;
use crate::wire;

/// When this program was started, about, seconds since the Unix epoch.
pub(crate) static STARTED: LazyLock<f64> = LazyLock::new(|| {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.unwrap_or_default().as_secs_f64()
});

/// Counts of this program.
#[derive(Debug)]
pub(crate) struct Own {
    records: u64,
    late: u64,
    /// Counted where records are written.
    pub(crate) dropped: Arc<AtomicU64>,
    collection: BTreeMap<&'static str, Duration>,
    before: Option<(Instant, f64)>,
}

impl Own {
    pub(crate) fn new() -> Self {
        LazyLock::force(&STARTED);
        Self {
            records: 0,
            late: 0,
            dropped: Arc::default(),
            collection: BTreeMap::new(),
            before: None,
        }
    }

    /// A record was made of a reading that served these items. Returns its
    /// number.
    pub(crate) fn made(&mut self, items: &[Item], took: Duration, late: u64) -> u64 {
        self.records += 1;
        self.late = late;
        for item in items {
            let name = match item {
                Item::Application(_, group) => OfApplication::name(*group),
                Item::System(group) => OfSystem::name(*group),
            };
            self.collection.insert(name, took);
        }
        self.records
    }

    /// The figures; the shares are of the time since they were asked for
    /// before.
    pub(crate) fn stats(&mut self) -> wire::SelfStats {
        let (now, cpu) = (Instant::now(), cpu_seconds());
        let (period, used) = match self.before.replace((now, cpu)) {
            Some((before, used)) => (now.duration_since(before).as_secs_f64(), cpu - used),
            None => (0.0, 0.0),
        };
        let cpu_percent = if period > 0.0 { used / period * 100.0 } else { 0.0 };
        let (resident, error) = match resident_memory() {
            Some(bytes) => (bytes, String::new()),
            None => (0, String::from("/proc/self/statm cannot be read")),
        };
        wire::SelfStats {
            period,
            cpu_seconds: cpu,
            cpu_percent: (cpu_percent * 100.0).round() / 100.0,
            resident_memory_bytes: resident,
            records: self.records,
            dropped_records: self.dropped.load(Relaxed),
            late_records: self.late,
            collection_seconds: self
                .collection
                .iter()
                .map(|(name, took)| ((*name).to_owned(), took.as_secs_f64()))
                .collect(),
            error,
        }
    }
}

/// CPU time of this process, all threads, seconds.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Resident memory of this process, bytes.
pub(crate) fn resident_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(u64::try_from(rustix::param::page_size()).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_move() {
        let mut own = Own::new();
        assert_eq!(own.stats().period, 0.0);
        let items =
            [Item::System(OfSystem::MemoryInfo), Item::Application(0, OfApplication::MemoryUsed)];
        assert_eq!(own.made(&items, Duration::from_millis(2), 3), 1);
        let begin = Instant::now();
        while cpu_seconds() < 0.01 {
            assert!(begin.elapsed().as_secs() < 20);
        }
        own.dropped.fetch_add(4, Relaxed);
        let stats = own.stats();
        assert!(stats.cpu_seconds >= 0.01 && stats.period > 0.0, "{stats:?}");
        assert!(stats.resident_memory_bytes > 100_000, "{stats:?}");
        assert_eq!((stats.records, stats.dropped_records, stats.late_records), (1, 4, 3));
        let names: Vec<&str> = stats.collection_seconds.keys().map(String::as_str).collect();
        assert_eq!(names, ["memory_info", "memory_used"]);
        assert_eq!(stats.error, "");
    }
}
