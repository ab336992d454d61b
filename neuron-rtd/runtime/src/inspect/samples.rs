//! Load of the processors and memory of the host, as the kernel tells them.

use std::fs;

use neuron_core::ntff::messages::{CpuUtil, HostMemUsage};

/// Samples that are taken at most (ntff.md §3.11).
pub(super) const MOST: u32 = 10_000;

/// Jiffies of a processor: all, and those in which it did nothing.
type Jiffies = (u64, u64);

/// What was read before.
#[derive(Debug, Default)]
pub(super) struct Processors(Vec<Jiffies>);

/// The jiffies of each processor in `/proc/stat` (proc(5)).
fn jiffies(stat: &str) -> Vec<Jiffies> {
    let own = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
    let read = |line: &str| {
        let numbers: Vec<u64> =
            line.split_whitespace().skip(1).take(8).filter_map(|word| word.parse().ok()).collect();
        // Idle, and waiting for input or output, which old kernels do not tell.
        let idle = numbers.iter().skip(3).take(2).sum();
        (numbers.iter().sum(), idle)
    };
    stat.lines().filter(own).map(read).collect()
}

impl Processors {
    /// A sample of each processor: its load since the last one, none before.
    pub(super) fn sample(&mut self, time: u64) -> Vec<CpuUtil> {
        self.of(&fs::read_to_string("/proc/stat").unwrap_or_default(), time)
    }

    fn of(&mut self, stat: &str, time: u64) -> Vec<CpuUtil> {
        let fresh = jiffies(stat);
        let before = std::mem::replace(&mut self.0, fresh.clone());
        let load = |(at, (all, idle)): (usize, &Jiffies)| {
            let (old, still) = before.get(at).copied().unwrap_or((*all, *idle));
            let (all, idle) = (all.saturating_sub(old), idle.saturating_sub(still));
            #[allow(clippy::cast_precision_loss, reason = "a share in per cent")]
            let value =
                if all == 0 { 0.0 } else { (all - idle.min(all)) as f32 * 100.0 / all as f32 };
            CpuUtil { value, timestamp: time, cpu: u32::try_from(at).unwrap_or(u32::MAX) }
        };
        fresh.iter().enumerate().map(load).collect()
    }
}

/// A number of `/proc/meminfo`, in bytes.
fn meminfo(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let number: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    number.checked_mul(1024)
}

/// Memory of the host, and how much of it is in use; nothing where the kernel
/// does not say.
pub(super) fn memory(time: u64) -> Option<(u64, HostMemUsage)> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let total = meminfo(&text, "MemTotal")?;
    let free = meminfo(&text, "MemAvailable")?;
    Some((total, HostMemUsage { bytes_used: total.saturating_sub(free), timestamp: time }))
}

/// Name of the processor; empty where the kernel does not say.
pub(super) fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map(|(_, name)| name.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_is_of_the_time_between() {
        let mut all = Processors::default();
        let first = all.of("cpu  9 9 9\ncpu0 10 0 10 80 0 0 0 0 5 5\ncpu1 0 0 0 100\nintr 1\n", 1);
        assert_eq!(
            first.iter().map(|s| (s.cpu, s.value)).collect::<Vec<_>>(),
            [(0, 0.0), (1, 0.0)]
        );
        let next = all.of("cpu0 30 0 10 140 20 0 0 0 9 9\ncpu1 50 0 0 150\n", 2);
        assert_eq!(next.iter().map(|s| s.value).collect::<Vec<_>>(), [20.0, 50.0]);
        assert_eq!(next.iter().map(|s| s.timestamp).collect::<Vec<_>>(), [2, 2]);
    }

    #[test]
    fn memory_is_read() {
        let text = "MemTotal:       2048 kB\nMemFree: 1 kB\nMemAvailable:   1024 kB\n";
        assert_eq!(meminfo(text, "MemTotal"), Some(2 << 20));
        assert_eq!(meminfo(text, "MemAvailable"), Some(1 << 20));
        assert_eq!(meminfo(text, "Mem"), None);
    }
}
