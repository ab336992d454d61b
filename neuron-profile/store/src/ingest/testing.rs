//! Small profiles for tests of what reads them.

use std::path::Path;

use neuron_core::instance::Arch;
use profile_engine::chip::Chip;

use super::gather::Moved;
use super::write::Writer;
use crate::manifest::Manifest;
use crate::read::Profile;

/// A profile whose DMA engines 5 and 6 moved packets at these times (ns).
pub(crate) fn packets(dir: &Path, lanes: &[Vec<(u64, u64)>; 2], total: u64) -> Profile {
    let mut writer = Writer::new(dir, &[], Chip::of(Arch::V3)).unwrap();
    for (engine, events) in (5..).zip(lanes) {
        let mut rows: Vec<Moved> = (1..)
            .zip(events)
            .map(|(id, (start, end))| Moved {
                start: start * 1000,
                end: end * 1000,
                id,
                index: id,
                bytes: 64,
                rate: 1.0,
                crc: 7,
                queue: 3,
            })
            .collect();
        rows.sort_by_key(|row| row.end);
        for rows in rows.chunks(90) {
            writer.moved(engine, rows.to_vec(), 40).unwrap();
        }
    }
    let mut manifest = Manifest { total_ns: total, ..Manifest::default() };
    writer.finish_lanes(&mut manifest).unwrap();
    Profile::open(dir.to_owned(), manifest, Default::default()).unwrap()
}
