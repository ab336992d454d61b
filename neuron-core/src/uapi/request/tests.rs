//! Numbers pinned to the sheet and to the recorded requests.

use std::collections::BTreeSet;

use super::*;
use crate::uapi::recording;

/// Name and number of every row, as printed in driver.md §3.3.
#[rustfmt::skip]
const SHEET: &[(&str, u32)] = &[
    ("DEVICE_RESET", 0x00004E01),
    ("DEVICE_READY", 0x80014E02),
    ("DEVICE_INFO", 0x80084E03),
    ("DEVICE_INIT", 0x80084E04),
    ("DEVICE_RELEASE", 0x00004E05),
    ("DEVICE_APP_PID", 0x80044E06),
    ("DEVICE_GET_ALL_APPS_INFO", 0x80084E07),
    ("BAR_READ", 0x80084E0B),
    ("BAR_WRITE", 0x40084E0C),
    ("POST_METRIC", 0x40084E0D),
    ("MEM_ALLOC", 0x80084E15),
    ("MEM_FREE", 0x80084E16),
    ("MEM_COPY", 0x80084E17),
    ("MEM_COPY64", 0x80284E17),
    ("MEM_BUF_COPY", 0xC0084E18),
    ("MEM_BUF_COPY64", 0xC0284E18),
    ("MEM_GET_PA", 0x80084E19),
    ("MEM_GET_INFO", 0x80084E1A),
    ("PROGRAM_ENGINE", 0xC0084E1B),
    ("MEMSET", 0x80084E1C),
    ("MEMSET64", 0x80204E1C),
    ("MEM_GET_EXTENDED_INFO", 0x80084E1D),
    ("DMA_ENG_INIT", 0x80084E1E),
    ("DMA_ENG_SET_STATE", 0x80084E1F),
    ("DMA_ENG_GET_STATE", 0xC0084E20),
    ("DMA_QUEUE_INIT", 0x80084E21),
    ("DMA_QUEUE_RELEASE", 0x80084E22),
    ("DMA_QUEUE_COPY_START", 0x80084E23),
    ("DMA_ACK_COMPLETED", 0x80084E24),
    ("DMA_QUEUE_GET_STATE", 0xC0084E25),
    ("DMA_COPY_DESCRIPTORS", 0x80084E26),
    ("DMA_COPY_DESCRIPTORS64", 0x80284E26),
    ("DMA_DESCRIPTOR_COPYOUT", 0xC0084E27),
    ("DMA_QUIESCE_QUEUES", 0x80084E28),
    ("SEMAPHORE_INCREMENT", 0x80084E29),
    ("SEMAPHORE_DECREMENT", 0x80084E2A),
    ("SEMAPHORE_READ", 0xC0084E2B),
    ("SEMAPHORE_WRITE", 0x80084E2C),
    ("EVENT_SET", 0x80084E2D),
    ("EVENT_GET", 0xC0084E2E),
    ("NOTIFICATIONS_INIT_V1", 0x80084E33),
    ("NOTIFICATIONS_DESTROY_V1", 0x80084E34),
    ("NOTIFICATIONS_INIT_V2", 0x80084E35),
    ("NOTIFICATIONS_INIT_WITH_REALLOC_V2", 0x80084E36),
    ("NOTIFICATIONS_QUEUE_INFO", 0x80084E3A),
    ("READ_HW_COUNTERS", 0x80084E3D),
    ("ACQUIRE_NEURON_DS", 0x80084E47),
    ("RELEASE_NEURON_DS", 0x80084E48),
    ("CRWL_READER_ENTER", 0x40084E51),
    ("CRWL_READER_EXIT", 0x40084E52),
    ("CRWL_WRITER_ENTER", 0x40084E53),
    ("CRWL_WRITER_DOWNGRADE", 0x40084E54),
    ("CRWL_NC_RANGE_MARK", 0x40084E55),
    ("CRWL_NC_RANGE_MARK_EXT0", 0xC0504E55),
    ("CRWL_NC_RANGE_UNMARK", 0x40084E56),
    ("CRWL_NC_RANGE_UNMARK_EXT0", 0x40504E56),
    ("CINIT_SET_STATE", 0x40084E5B),
    ("NC_MODEL_STARTED_COUNT", 0x40084E5C),
    ("COMPATIBLE_VERSION", 0x40084E5D),
    ("DEVICE_BASIC_INFO", 0x40084E64),
    ("DEVICE_BDF", 0x80084E65),
    ("MEM_ALLOC_V2", 0x80084E66),
    ("MEM_ALLOC_V2MT", 0x80304E66),
    ("MEM_ALLOC_V2MT64", 0x80384E66),
    ("MEM_ALLOC_V2MT64_PA", 0xC0404E66),
    ("NC_RESET", 0x80084E67),
    ("NC_RESET_READY", 0x80084E68),
    ("PROGRAM_ENGINE_NC", 0xC0084E69),
    ("PROGRAM_ENGINE_NC64", 0xC0284E69),
    ("DEVICE_RESET_STATUS", 0x80014E6A),
    ("DEVICE_BDF_EXT", 0x80084E6A),
    ("DMABUF_FD", 0x80084E6B),
    ("MEM_COPY_ASYNC", 0xC0304E6C),
    ("MEM_COPY_ASYNC64", 0xC0384E6C),
    ("MEM_COPY_ASYNC_WAIT", 0x40184E6D),
    ("DRIVER_INFO_GET", 0x80184E6E),
    ("DRIVER_INFO_SET", 0x40184E6E),
    ("MEM_MC_GET_INFO", 0xC0184E6F),
    ("MEM_MC_GET_INFO_V2", 0xC0204E6F),
    ("RESOURCE_MMAP_INFO", 0xC0204E70),
    ("PRINTK", 0x40104E71),
    ("HOST_DEVICE_ID", 0x80044E72),
    ("HOST_DEVICE_ID_TO_RID_MAP", 0xC1044E73),
    ("DUMP_MEM_CHUNKS", 0x80084E74),
    ("NC_PID_STATE_DUMP", 0xC0104E75),
    ("HBM_SCRUB_START", 0xC0104E76),
    ("HBM_SCRUB_WAIT", 0xC0084E77),
    ("GET_LOGICAL_TO_PHYSICAL_NC_MAP", 0xC0104E78),
    ("POD_INFO", 0xC1044E79),
    ("POD_STATUS", 0xC10C4E7A),
    ("POD_STATUS_V2", 0xC1144E7A),
    ("POD_CTRL", 0xC0104E7B),
    ("POD_CTRL_V2", 0xC0144E7B),
    ("MEM_BUF_ZEROCOPY64_2_24", 0xC0284E7C),
    ("MEM_BUF_ZEROCOPY64_2_25", 0xC0304E7C),
    ("MEM_BUF_ZEROCOPY64_2_30", 0xC0404E7C),
    ("DMA_QUEUE_INIT_BATCH", 0xB0084E85),
    ("H2T_DMA_ALLOC_QUEUES", 0xC0144E7D),
    ("H2T_DMA_FREE_QUEUES", 0xC0084E7E),
    ("POWER_PROFILE", 0x40084E7F),
    ("METRICS_CTRL", 0x40044E80),
    ("MEM_BUF_ZEROCOPY64_BATCHES", 0xC0204E81),
    ("MEM_COPY64_2_30", 0x80384E17),
    ("THROTTLING_NOTIFICATIONS", 0x40044E82),
    ("GET_VA_PLACEMENT", 0x40104E83),
    ("GET_PERFORMANCE_PROFILE", 0xC0084E84),
    ("AVAILABLE_PERF_PROFILES", 0xC0244E86),
    ("GET_ASYNC_H2T_DMA_COMPL_QUEUES", 0xC1084E87),
    ("HOST_MEM_PIN", 0xC0184E88),
    ("HOST_MEM_UNPIN", 0x40084E89),
    ("DMABUF_FD_V2", 0x80084E8A),
    ("GET_BAR_INFO", 0xC0C84E8B),
];

#[test]
fn numbers_equal_the_sheet() {
    let table: Vec<(&str, u32)> = TABLE.iter().map(|row| (row.name(), row.number())).collect();
    assert_eq!(table, SHEET);
}

#[test]
fn names_and_numbers_are_unique() {
    let names: BTreeSet<_> = TABLE.iter().map(Request::name).collect();
    let numbers: BTreeSet<_> = TABLE.iter().map(Request::number).collect();
    assert_eq!((names.len(), numbers.len()), (TABLE.len(), TABLE.len()));
    for row in TABLE {
        assert_eq!(by_number(row.number()), Some(row));
        assert_eq!(by_name(row.name()), Some(row));
    }
    assert_eq!(by_number(0x0000_4E63), None);
}

/// The requests of the recordings are those that the real driver answered.
#[test]
fn numbers_equal_the_recorded_requests() {
    let mut seen = BTreeSet::new();
    for (_, entries) in recording::all() {
        for entry in &entries {
            // Deliberately wrong sizes and unknown requests are not rows.
            if entry.label.contains("ler size(") || entry.label.contains("ger size(") {
                continue;
            }
            let Some(row) = by_name(&entry.name) else {
                assert_eq!(entry.name, "unknown", "no row for {}", entry.label);
                continue;
            };
            assert_eq!(row.number(), entry.number, "{}", entry.label);
            assert_eq!(u32::from(row.nr()), entry.nr, "{}", entry.label);
            seen.insert(row.name());
        }
    }
    assert_eq!(seen.len(), 21, "{seen:?}");
}

/// A free-access descriptor got `EINVAL` for what is not a misc request.
#[test]
fn access_equals_the_recorded_refusals() {
    for (_, entries) in recording::all() {
        for entry in entries.iter().filter(|e| e.node.contains("O_WRONLY")) {
            if let Some(row) = by_name(&entry.name).filter(|row| row.number() == entry.number) {
                // 524: a misc request that this generation does not support.
                let refused = entry.ret == -1 && entry.errno == 22;
                assert_eq!(row.access() != Access::Misc, refused, "{}", entry.label);
            }
        }
    }
}
