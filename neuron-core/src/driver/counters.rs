//! Counters and memory levels of sysfs.
//!
//! Directories are listed rather than spelled out, so that leaves which a
//! newer driver adds are kept under their own names.

use std::collections::BTreeMap;

use super::files::Files;
use super::leaf::{DEVICES, Missing, keep, text, value};
use crate::sample::{Core, CounterValue, Device, Level, MemoryLevels, Power, Problem};

/// Most entries of a directory that are read.
const MAX_ENTRIES: usize = 256;

/// Reads everything below a device that is not answered by firmware.
pub(crate) fn read(files: &dyn Files, device: &mut Device, problems: &mut Vec<Problem>) {
    let host = device.host_index;
    let dir = format!("{DEVICES}/neuron{host}");
    let memory = categories(files, &format!("{dir}/stats/memory_usage/host_mem"), host, problems);
    device.host_memory = Some(memory).filter(|levels| !levels.is_empty());
    device.power = keep(problems, host, power(files, &format!("{dir}/stats/power/utilization")));
    device.cores = (0..device.core_count.unwrap_or(0))
        .map(|core| {
            read_core(files, &format!("{dir}/neuron_core{core}/stats"), core, host, problems)
        })
        .collect();
}

fn read_core(
    files: &dyn Files,
    dir: &str,
    index: u32,
    host: u32,
    problems: &mut Vec<Problem>,
) -> Core {
    let mut counters = BTreeMap::new();
    for group in ["status", "other_info"] {
        for name in names(files, &format!("{dir}/{group}")) {
            let leaf = format!("{dir}/{group}/{name}");
            let read = |face: &str| value(files, &format!("{leaf}/{face}"));
            if let Some(total) = keep(problems, host, read("total")) {
                let present = keep(problems, host, read("present")).unwrap_or(0);
                counters.insert(name, CounterValue { total, present });
            }
        }
    }
    let memory = format!("{dir}/memory_usage");
    let pe = format!("{dir}/tensor_engine/pe_cntrs");
    Core {
        index,
        counters,
        host_memory: keep(problems, host, level(files, &format!("{memory}/host_mem"))),
        device_memory: keep(problems, host, level(files, &format!("{memory}/device_mem"))),
        device_memory_by: categories(files, &format!("{memory}/device_mem"), host, problems),
        tensor_engine: keep(problems, host, tensor_engine(files, &pe)).unwrap_or_default(),
    }
}

/// Levels of the category directories in a directory.
fn categories(
    files: &dyn Files,
    dir: &str,
    host: u32,
    problems: &mut Vec<Problem>,
) -> MemoryLevels {
    names(files, dir)
        .into_iter()
        .filter(|name| !matches!(name.as_str(), "total" | "present" | "peak"))
        .filter_map(|name| {
            let level = keep(problems, host, level(files, &format!("{dir}/{name}")))?;
            Some((name, level))
        })
        .collect()
}

fn names(files: &dyn Files, dir: &str) -> Vec<String> {
    let mut names = files.list(dir).unwrap_or_default();
    names.sort();
    names.truncate(MAX_ENTRIES);
    names
}

/// A level; a total of 2^63 or more has run below zero and is not a level.
fn level(files: &dyn Files, dir: &str) -> Result<Level, Missing> {
    let total: u64 = value(files, &format!("{dir}/total"))?;
    Ok(Level {
        total: (total < 1 << 63).then_some(total),
        present: value(files, &format!("{dir}/present"))?,
        peak: value(files, &format!("{dir}/peak"))?,
    })
}

/// Four lines `row group, matrix multiply, weight load, idle` under a header.
fn tensor_engine(files: &dyn Files, path: &str) -> Result<Vec<[u64; 3]>, Missing> {
    let table = text(files, path)?;
    let row = |line: &str| {
        let mut cells = line.split(',').skip(1).map(|cell| cell.trim().parse().ok());
        Some([cells.next()??, cells.next()??, cells.next()??])
    };
    let rows: Option<Vec<_>> = table.lines().skip(1).take(MAX_ENTRIES).map(row).collect();
    rows.ok_or_else(|| super::leaf::garbled(files, path, "does not hold rows of four numbers"))
}

/// `STATUS,epoch,min,max,avg` (driver.md §6.6).
pub(super) fn power(files: &dyn Files, path: &str) -> Result<Power, Missing> {
    let line = text(files, path)?;
    parse_power(&line).ok_or_else(|| {
        super::leaf::garbled(files, path, &format!("holds {:?}", super::leaf::shorten(&line)))
    })
}

fn parse_power(line: &str) -> Option<Power> {
    let mut cells = line.split(',').map(str::trim);
    let valid = match cells.next()? {
        "POWER_STATUS_VALID" => true,
        "POWER_STATUS_NO_DATA" | "POWER_STATUS_INVALID" => false,
        _ => return None,
    };
    let epoch_seconds = cells.next()?.parse().ok()?;
    let mut percent = || cells.next()?.parse().ok().filter(|p: &f64| p.is_finite());
    Some(Power { valid, epoch_seconds, min: percent()?, max: percent()?, avg: percent()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of real-driver/behaviour/power-over-time.txt.
    #[test]
    fn recorded_power_lines() {
        let idle = parse_power("POWER_STATUS_NO_DATA,1795216289,0.00,0.00,0.00").unwrap();
        assert!(!idle.valid);
        let busy = parse_power("POWER_STATUS_VALID,1795216320,5.00,9.90,7.45").unwrap();
        assert_eq!((busy.valid, busy.epoch_seconds), (true, 1_795_216_320));
        assert_eq!((busy.min, busy.max, busy.avg), (5.0, 9.9, 7.45));
        for bad in ["", "POWER_STATUS_VALID", "X,1,2,3,4", "POWER_STATUS_VALID,1,NaN,2,3"] {
            assert_eq!(parse_power(bad), None, "{bad:?}");
        }
    }
}
