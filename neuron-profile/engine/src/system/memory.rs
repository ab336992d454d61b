//! Device memory over time, from the allocations that an inspect run tells.
//!
//! An end of an allocation tells, for the memory that it was made in, the bytes
//! of its use and of all uses after it (found in the real run; the uses are the
//! 22 words of the table `nrt_inspect_mem_usage_type`, ntff.md §3.8). Uses of
//! which nothing was told yet are not known, and are shown as 0; what is missing
//! to the total is [`MemoryRow::unknown`].

use std::collections::BTreeMap;

use super::SystemRow;

/// The uses that the public schema has a column for, in its order, with the
/// runtime's word. Words and columns go by their meaning (inferred).
pub const USES: [(&str, &str); 21] = [
    ("generic", "generic"),
    ("pe", "tensor_instructions"),
    ("act", "scalar_instructions"),
    ("pool", "gpsimd_instructions"),
    ("io", "io"),
    ("spill", "dram_spill"),
    ("weight", "weights"),
    ("notification", "profiler_buffers"),
    ("act table", "scalar_table"),
    ("dve", "vector_instructions"),
    ("sp", "sync_instructions"),
    ("shared scratchpad", "shared_scratchpad"),
    ("tensor", "tensors"),
    ("ucode lib", "ucode_lib"),
    ("pool stdio", "gpsimd_stdio"),
    ("collectives", "collectives"),
    ("scratchpad", "scratchpad"),
    ("dma rings runtime", "dma_rings_runtime"),
    ("dma rings spill", "dma_rings_spill"),
    ("dma rings io", "dma_rings_io"),
    ("dma rings collectives", "dma_rings_collectives"),
];

/// How full a memory is after a change. Bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRow {
    /// Unix nanoseconds.
    pub time: u64,
    /// Device.
    pub device: u64,
    /// Memory of the device.
    pub memory: u64,
    /// All uses.
    pub total: u64,
    /// By use, in the order of [`USES`].
    pub uses: [u64; USES.len()],
    /// Of uses without a column, or not told yet.
    pub unknown: u64,
}

/// Follows the memories. Rows are taken in the order in which they end.
#[derive(Debug, Default)]
pub struct Memories {
    /// By device and memory.
    known: BTreeMap<(u64, u64), [u64; USES.len()]>,
    /// Memory and use of each address that is held: a release repeats the
    /// address, and may leave out the rest.
    held: BTreeMap<String, (u64, u64, String)>,
}

impl Memories {
    /// Takes a row; how full the memory is then, when it is an allocation or a
    /// release that tells so.
    pub fn note(&mut self, row: &SystemRow) -> Option<MemoryRow> {
        let text = |key: &str| row.attributes.get(key).map(String::as_str);
        let number = |key: &str| text(key)?.parse::<u64>().ok();
        let released = number("freed_bytes").is_some();
        // One that failed tells the bytes as they stayed.
        let failed = text("return_code").is_some_and(|code| code != "0");
        let (total, of_use) = (number("total_bytes")?, number("usage_type_total_bytes")?);
        let address = text("physical_address").unwrap_or_default();
        let held = if released { self.held.remove(address) } else { None };
        let own = || Some((number("mla_idx")?, number("hbm_idx")?, text("usage_type")?.to_owned()));
        let (device, memory, usage) = own().or(held)?;
        if !released && !failed && !address.is_empty() {
            self.held.insert(address.to_owned(), (device, memory, usage.clone()));
        }
        let uses = self.known.entry((device, memory)).or_default();
        let place = USES.iter().position(|(word, _)| *word == usage);
        if let Some(slot) = place.and_then(|place| uses.get_mut(place)) {
            *slot = of_use;
        }
        let sum = uses.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
        let unknown = total.saturating_sub(sum);
        Some(MemoryRow { time: row.end, device, memory, total, uses: *uses, unknown })
    }
}

#[cfg(test)]
mod tests {
    use super::super::EventSource;
    use super::*;

    fn row(end: u64, attributes: &[(&str, &str)]) -> SystemRow {
        let pair = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        SystemRow {
            id: end,
            name: String::from("nrt_dma_mem_alloc"),
            kind: 34,
            start: end,
            end,
            source: EventSource::Runtime,
            thread: 1,
            core: Some(0),
            worker: None,
            aligned: false,
            attributes: attributes.iter().map(pair).collect(),
        }
    }

    #[test]
    fn sums_follow_what_is_told() {
        let mut all = Memories::default();
        let place = [("mla_idx", "0"), ("hbm_idx", "2"), ("physical_address", "0x8")];
        let told = |usage, of_use, total| {
            let own =
                [("usage_type", usage), ("usage_type_total_bytes", of_use), ("total_bytes", total)];
            [place.as_slice(), &own].concat()
        };
        let first = all.note(&row(1, &told("tensor", "40", "100"))).unwrap();
        assert_eq!((first.total, first.uses[12], first.unknown), (100, 40, 60));
        let second = all.note(&row(2, &told("weight", "60", "100"))).unwrap();
        assert_eq!((second.uses[12], second.uses[6], second.unknown), (40, 60, 0));
        // A use that no column has.
        let third = all.note(&row(3, &told("xt cc", "7", "107"))).unwrap();
        assert_eq!((third.total, third.unknown), (107, 7));
        // A release that names the address alone.
        let mut free = vec![("freed_bytes", "7"), ("physical_address", "0x8")];
        free.extend([("usage_type_total_bytes", "0"), ("total_bytes", "100")]);
        let last = all.note(&row(4, &free)).unwrap();
        assert_eq!((last.memory, last.total, last.unknown), (2, 100, 0));
        assert_eq!(all.note(&row(5, &free)), None);
        let mut failed = told("tensor", "40", "100");
        failed.push(("return_code", "12"));
        assert_eq!(all.note(&row(6, &failed)).unwrap().total, 100);
        assert_eq!(all.note(&row(6, &free)), None);
        assert_eq!(all.note(&row(7, &[])), None);
    }
}
