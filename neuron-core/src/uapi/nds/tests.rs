//! Layout, table and reader against the sheet and the recorded counters.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// The corners of every range of driver.md §5.3.
#[test]
fn offsets_equal_the_sheet() {
    let device = [(0, 8), (1, 16), (11, 96), (30, 248)];
    for (id, offset) in device {
        assert_eq!(device_offset(id), Some(offset));
    }
    assert_eq!(device_offset(31), None);
    let core = [
        (0, 0, 256),
        (0, 30, 496),
        (1, 0, 504),
        (3, 30, 1240),
        (0, 31, 55_936),
        (0, 94, 56_440),
        (1, 31, 56_448),
        (3, 94, 57_976),
        (4, 0, 57_984),
        (4, 94, 58_736),
        (5, 0, 58_752),
        (15, 94, 67_184),
    ];
    for (core, id, offset) in core {
        assert_eq!(core_offset(core, id), Some(offset), "core {core} counter {id}");
    }
    assert_eq!((core_offset(16, 0), core_offset(0, 95)), (None, None));
}

#[test]
fn no_two_counters_overlap() {
    let device = (0..31).filter_map(device_offset);
    let cores = (0..16).flat_map(|core| (0..95).filter_map(move |id| core_offset(core, id)));
    let all: Vec<usize> = device.chain(cores).collect();
    assert_eq!(all.len(), 31 + 16 * 95);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    assert!(all.iter().all(|offset| offset % 8 == 0 && offset + 8 <= UNUSED_FROM));
}

#[test]
fn tables_are_indexed_by_id() {
    for (table, reserved) in [
        (DEVICE_COUNTERS, device_counter::FIRST_RESERVED),
        (CORE_COUNTERS, core_counter::FIRST_RESERVED),
    ] {
        assert_eq!(table.len(), usize::try_from(reserved).unwrap());
        assert!((0_u32..).zip(table).all(|(index, counter)| counter.id == index));
        assert_eq!(table.iter().map(|c| c.name).collect::<BTreeSet<_>>().len(), table.len());
    }
    assert_eq!(device_counter::DYNAMIC_SYSFS_BITMAP, 11);
    assert_eq!(core_counter::HW_REPAIRABLE_HBM_UE_ERROR, 40);
    assert_eq!(CORE_COUNTERS[29].leaf_factor, 2);
}

/// The real driver, after a process that had stored
/// (core + 1) * 1000000 + id * 1000 in every core counter ended: every leaf
/// shows the counter that the table names, and no other leaf moved.
#[test]
fn leaves_move_as_recorded() {
    let text = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/fixtures/real-driver/behaviour/counter-oracle-2.24.7.0-trn1.txt"
    ));
    for core in 0..2_u64 {
        let start = format!("A.exited neuron_core{core}/");
        let found: BTreeSet<(String, u64)> = text
            .lines()
            .filter_map(|line| line.strip_prefix(&start)?.split_once("/total="))
            .filter(|(leaf, _)| !leaf.contains("memory_usage") && !leaf.contains("reset_req"))
            .map(|(leaf, value)| (leaf.to_owned(), value.parse().unwrap()))
            .collect();
        let wanted: BTreeSet<(String, u64)> = CORE_COUNTERS
            .iter()
            .filter_map(|counter| {
                let value = (core + 1) * 1_000_000 + u64::from(counter.id) * 1000;
                Some((counter.sysfs_leaf?.to_owned(), value * counter.leaf_factor))
            })
            .collect();
        assert_eq!(wanted.len(), 28);
        assert_eq!(found, wanted, "core {core}");
    }
}

fn put(bytes: &mut [u8], offset: Option<usize>, value: u64) {
    let offset = offset.unwrap();
    bytes[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
}

/// The words of real-driver/behaviour/datastore-reader-writer.txt, and one of
/// a core behind the fourth.
#[test]
fn entry_of_a_process() {
    let mut bytes = vec![0; SIZE];
    assert_eq!(parse(&bytes, 2), Ok(Entry::Released));
    bytes[..8].copy_from_slice(b"nds\0\x03\0\0\0");
    assert_eq!(bytes[..8], header(VERSION));
    put(&mut bytes, device_offset(0), 0x21c_0000_5b23);
    put(&mut bytes, core_offset(0, core_counter::COMPLETED), 1000);
    put(&mut bytes, core_offset(0, core_counter::HW_HBM_UE_ERROR), 4);
    put(&mut bytes, core_offset(6, core_counter::MAC_COUNT), 123_456);
    let Ok(Entry::InUse(store)) = parse(&bytes, 8) else { panic!("not in use") };
    assert_eq!(store.version, 3);
    assert_eq!(store.device, BTreeMap::from([(0, 0x21c_0000_5b23)]));
    assert_eq!(store.cores.len(), 8);
    assert_eq!(store.cores[0].counters, BTreeMap::from([(1, 1000), (32, 4)]));
    assert_eq!(store.cores[6].counters, BTreeMap::from([(29, 123_456)]));
    assert!(store.cores[7].counters.is_empty());
    #[cfg(feature = "sources")]
    {
        let sample = crate::sample::Datastore::from(store);
        assert_eq!((sample.version, sample.device.len(), sample.cores.len()), (3, 1, 8));
        assert_eq!((sample.cores[6].index, sample.cores[6].counters[&29]), (6, 123_456));
    }
    let Ok(Entry::InUse(store)) = parse(&bytes, 99) else { panic!("not in use") };
    assert_eq!(store.cores.len(), 16);

    // The head alone has the device counters and no core.
    for length in [HEAD, UNUSED_FROM - 1] {
        let Ok(Entry::InUse(head)) = parse(&bytes[..length], 8) else { panic!("not in use") };
        assert_eq!((head.device.len(), head.cores.len()), (1, 0));
    }
    let error = parse(&bytes[..HEAD - 1], 8).unwrap_err();
    assert_eq!(
        error.to_string(),
        "datastore: 255 bytes where the head alone has 256 at offset 255"
    );
    bytes[3] = b'x';
    assert!(parse(&bytes, 8).unwrap_err().reason.contains("signature"));
}

proptest! {
    #[test]
    fn parse_never_panics(
        start in prop::collection::vec(any::<u8>(), 0..2000),
        signed in any::<bool>(),
        length in prop_oneof![Just(SIZE), Just(UNUSED_FROM), 0..2 * HEAD, 0..SIZE + 4096],
        cores in any::<u32>(),
    ) {
        let mut bytes = start;
        bytes.resize(length, 0xA5);
        if signed && length >= 8 {
            bytes[..8].copy_from_slice(&header(-1));
        }
        match parse(&bytes, cores) {
            Ok(Entry::InUse(store)) => {
                prop_assert!(length >= HEAD && bytes.starts_with(&SIGNATURE));
                let whole = if length >= UNUSED_FROM { cores.min(16) } else { 0 };
                prop_assert_eq!(store.cores.len(), usize::try_from(whole).unwrap());
            }
            Ok(Entry::Released) => prop_assert!(bytes.starts_with(&[0; 4])),
            Err(_) => prop_assert!(length < HEAD || !bytes.starts_with(&SIGNATURE)),
        }
    }
}
