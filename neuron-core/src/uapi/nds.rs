//! The Neuron datastore (NDS): counters that a runtime writes about itself,
//! one entry of 262144 bytes for each process and device (driver.md §5).
//!
//! There is no lock: a reader tolerates counters of different moments, never
//! half a word. What the vendor's runtime keeps between the counters (process
//! info, model table) has no documented layout and is left alone.

mod counters;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use self::counters::{CORE_COUNTERS, Counter, DEVICE_COUNTERS, core_counter, device_counter};
use super::{Malformed, bytes_at, u64_at};

/// Size of an entry in bytes.
pub const SIZE: usize = 262_144;

/// Bytes of the header and the device counters.
pub const HEAD: usize = 256;

/// The first four bytes of an entry that is in use.
pub const SIGNATURE: [u8; 4] = *b"nds\0";

/// Version of the layout that our writers put into the header: that of the
/// recorded process.
pub const VERSION: i32 = 3;

/// Cores that an entry has room for.
pub const MAX_CORES: u32 = 16;

/// Entries of a device (driver.md §5.1).
pub const ENTRIES: u32 = 16;

/// First byte that no counter uses; up to [`SIZE`] all are unused.
pub const UNUSED_FROM: usize = 67_200;

/// Offset of a device counter; `None` for an id that does not exist.
pub const fn device_offset(counter: u32) -> Option<usize> {
    if counter >= device_counter::COUNT {
        return None;
    }
    Some(8 + 8 * counter as usize)
}

/// Offset of a counter of a physical core; `None` for a core or an id that
/// does not exist.
pub const fn core_offset(core: u32, counter: u32) -> Option<usize> {
    if core >= MAX_CORES || counter >= core_counter::COUNT {
        return None;
    }
    let (n, c) = (core as usize, counter as usize);
    Some(match (n < 4, c < 31) {
        (true, true) => 256 + 248 * n + 8 * c,
        (true, false) => 55_936 + 512 * n + 8 * (c - 31),
        (false, _) => 57_984 + 768 * (n - 4) + 8 * c,
    })
}

/// The header of an entry in use: signature and version.
pub const fn header(version: i32) -> [u8; 8] {
    let [a, b, c, d] = SIGNATURE;
    let [e, f, g, h] = version.to_le_bytes();
    [a, b, c, d, e, f, g, h]
}

/// Counters of one physical core.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CoreCounters {
    /// Index within the device.
    pub index: u32,
    /// Counters by id, without those that are zero.
    pub counters: BTreeMap<u32, u64>,
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Datastore {
    /// Version of the layout.
    pub version: i32,
    /// Device counters by id, without those that are zero.
    pub device: BTreeMap<u32, u64>,
    /// The cores of the device, ascending.
    pub cores: Vec<CoreCounters>,
}

/// Outcome of reading an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// The signature is zero: the owner has not written it yet, or has ended
    /// and the driver has cleared the entry.
    Released,
    /// In use.
    InUse(Datastore),
}

/// Reads an entry for a device with this number of physical cores. Cores
/// beyond [`MAX_CORES`] are left out. Of less than [`UNUSED_FROM`] bytes only
/// the header and the device counters are read, which is all that a list needs.
///
/// # Errors
///
/// When there are fewer than [`HEAD`] bytes, or the signature is neither
/// [`SIGNATURE`] nor zero.
pub fn parse(bytes: &[u8], cores: u32) -> Result<Entry, Malformed> {
    const WHAT: &str = "datastore";
    let short = || {
        let reason = format!("{} bytes where the head alone has {HEAD}", bytes.len());
        Malformed::new(WHAT, bytes.len(), reason)
    };
    if bytes.len() < HEAD {
        return Err(short());
    }
    let cores = if bytes.len() < UNUSED_FROM { 0 } else { cores };
    let signature: [u8; 4] = bytes_at(bytes, 0).ok_or_else(short)?;
    if signature == [0; 4] {
        return Ok(Entry::Released);
    }
    if signature != SIGNATURE {
        let reason = format!("signature {signature:02x?} is not that of a datastore");
        return Err(Malformed::new(WHAT, 0, reason));
    }
    let version = bytes_at(bytes, 4).map(i32::from_le_bytes).ok_or_else(short)?;
    let nonzero = |count: u32, offset: &dyn Fn(u32) -> Option<usize>| -> BTreeMap<u32, u64> {
        (0..count)
            .filter_map(|id| Some((id, u64_at(bytes, offset(id)?)?)))
            .filter(|(_, value)| *value != 0)
            .collect()
    };
    let core = |index| CoreCounters {
        index,
        counters: nonzero(core_counter::COUNT, &|id| core_offset(index, id)),
    };
    Ok(Entry::InUse(Datastore {
        version,
        device: nonzero(device_counter::COUNT, &device_offset),
        cores: (0..cores.min(MAX_CORES)).map(core).collect(),
    }))
}

/// As a sample keeps it; the application tag is not part of the counters.
#[cfg(feature = "sources")]
impl From<Datastore> for crate::sample::Datastore {
    fn from(store: Datastore) -> Self {
        let core =
            |c: CoreCounters| crate::sample::DatastoreCore { index: c.index, counters: c.counters };
        Self {
            version: store.version,
            device: store.device,
            cores: store.cores.into_iter().map(core).collect(),
            tag: None,
            models: None,
            latencies: None,
        }
    }
}
