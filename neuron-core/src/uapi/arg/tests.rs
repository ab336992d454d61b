//! Layouts pinned to the sheet; recorded answers decoded.

use proptest::prelude::*;

use super::*;
use crate::uapi::enums::ResetState;
use crate::uapi::recording;

/// `name size: field@offset:type, ...` of driver.md §3.4.
#[rustfmt::skip]
const SHEET: &[&str] = &[
    "neuron_dma_eng_state 20: revision_id@0:u32, max_queues@4:u32, num_queues@8:u32, tx_state@12:u32, rx_state@16:u32",
    "neuron_dma_queue_state 48: hw_status@0:u32, sw_status@4:u32, base_addr@8:u64, length@16:u32, head_pointer@20:u32, tail_pointer@24:u32, completion_base_addr@32:u64, completion_head@40:u32",
    "neuron_uuid 32: value@0:u8[32]",
    "neuron_app_info 152: pid@0:i32, nc_lock_map@4:u8, uuid_data@5:neuron_uuid[4], host_mem_size@136:u64, device_mem_size@144:u64",
    "mem_chunk_info 24: pa@0:u64, size@8:u64, mem_type@16:u32",
    "nc_map_entry 8: device_id@0:u32, device_nc_idx@4:u32",
    "mem_alloc_v2_mem_type64 56: size@0:u64, align@8:u64, host_memory@16:u32, dram_channel@20:u32, dram_region@24:u32, nc_id@28:u32, mem_type@32:u32, mem_handle@40:ptr→u64, pad@48:u32",
    "device_init 4: mem_regions@0:u32",
    "device_reset 8: nc_map@0:u32, request_id@4:u32",
    "device_ready 8: request_id@0:u32, result@4:i32",
    "get_apps_info 16: apps_info_flags@0:u16, capacity@4:u32, size@8:u32, app_data@16:neuron_app_info[]",
    "mem_get_extended_info 48: mem_handle@0:u64, version@8:u32, host_memory@12:u32, mmap_offset@16:u64, pa@24:u64, pid@32:u64, size@40:u64",
    "mem_free 8: mem_handle@0:u64",
    "mem_copy64 40: src_mem_handle@0:u64, dst_mem_handle@8:u64, size@16:u64, src_offset@24:u64, dst_offset@32:u64",
    "mem_copy_async64 56: src_mem_handle@0:u64, dst_mem_handle@8:u64, size@16:u64, src_offset@24:u64, dst_offset@32:u64, host_prefetch_addr@40:u64, pwait_handle@48:u32, wait_handle@52:u32",
    "mem_copy_async_wait 24: src_mem_handle@0:u64, dst_mem_handle@8:u64, pwait_handle@16:u32",
    "memset64 32: mem_handle@0:u64, offset@8:u64, value@16:u32, size@24:u64",
    "mem_buf_copy64 40: mem_handle@0:u64, buffer@8:ptr→void, size@16:u64, offset@24:u64, copy_to_mem_handle@32:u32",
    "program_engine_nc64 40: nc_id@0:u32, dst@8:u64, buffer@16:ptr→void, size@24:u64, offset@32:u64",
    "dma_copy_descriptors64 40: mem_handle@0:u64, buffer@8:ptr→void, num_descs@16:u32, offset@24:u64, queue_type@32:u32",
    "dma_queue_init 48: eng_id@0:u32, qid@4:u32, tx_desc_count@8:u32, rx_desc_count@12:u32, tx_handle@16:u64, rx_handle@24:u64, rxc_handle@32:u64, axi_port@40:u32",
    "dma_queue_init_batch 12296: count@0:u32, entries@8:dma_queue_init[256]",
    "dma_queue_release 8: eng_id@0:u32, qid@4:u32",
    "dma_quiesce_queues 264: nc_id@0:u32, engine_count@4:u32, queue_mask@8:u32[64]",
    "dma_ack_completed 12: eng_id@0:u32, qid@4:u32, count@8:u32",
    "dma_queue_copy_start 16: eng_id@0:u32, qid@4:u32, tx_desc_count@8:u32, rx_desc_count@12:u32",
    "dma_eng_init 4: eng_id@0:u32",
    "dma_eng_set_state 8: eng_id@0:u32, state@4:u32",
    "dma_eng_get_state 16: eng_id@0:u32, state@8:ptr→neuron_dma_eng_state",
    "dma_queue_get_state 24: eng_id@0:u32, qid@4:u32, tx@8:ptr→neuron_dma_queue_state, rx@16:ptr→neuron_dma_queue_state",
    "dma_descriptor_copyout 32: eng_id@0:u32, qid@4:u32, type@8:u32, start_index@12:u32, count@16:u32, buffer@24:ptr→void",
    "semaphore 12: nc_id@0:u32, semaphore_index@4:u32, value@8:u32",
    "event 12: nc_id@0:u32, event_index@4:u32, value@8:u32",
    "notifications_init_v2 48: nq_dev_id@0:u32, nq_dev_type@4:u32, nq_type@8:u32, engine_index@12:u32, size@16:u32, on_host_memory@20:u32, dram_channel@24:u32, dram_region@28:u32, mmap_offset@32:u64, mem_handle@40:u64",
    "notifications_init_with_realloc_v2 56: nq_dev_id@0:u32, nq_dev_type@4:u32, nq_type@8:u32, engine_index@12:u32, size@16:u32, on_host_memory@20:u32, dram_channel@24:u32, dram_region@28:u32, force_alloc_mem@32:u32, mmap_offset@40:u64, mem_handle@48:u64",
    "neuron_ds_info 24: pid@0:i32, mmap_offset@8:u64, size@16:u32",
    "read_hw_counters 24: address@0:ptr→u64, data@8:ptr→u32, count@16:u32",
    "crwl 36: nc_id@0:u32, uuid@4:neuron_uuid",
    "crwl_nc_map 24: nc_count@0:u32, start_nc_index@4:u32, end_nc_index@8:u32, max_nc_available@12:u32, bitmap@16:u64",
    "crwl_nc_map_ext 80: nc_count@0:u32, start_nc_index@4:u32, end_nc_index@8:u32, max_nc_available@12:u32, bitmap@16:u64[8]",
    "cinit_set 12: nc_id@0:u32, state@4:u32, new_state@8:u32",
    "nc_model_started_count 16: nc_id@0:u32, started_count@8:u64",
    "compatible_version 8: max@0:u32, min@4:u32",
    "device_basic_info 8: architecture@0:u32, revision@4:u32",
    "device_bdf 8: bus_number@0:u32, slot@4:u8, func@5:u8",
    "device_bdf_ext 16: nd_index@0:u32, domain@4:u32, bus_number@8:u32, slot@12:u8, func@13:u8",
    "resource_mmap_info 32: block@0:u32, block_id@4:u32, resource@8:u32, offset@16:u64, size@24:u64",
    "device_info 80: architecture@0:u32, revision@4:u32, connected_device_count@8:u32, connected_devices@12:u32[8], bar_address@48:u64[2], bar_size@64:u64[2]",
    "dmabuf_fd 24: va@0:u64, size@8:u64, fd@16:ptr→i32",
    "device_driver_info 24: architecture@0:u32, revision@4:u32, version@8:u32, size@12:u32, feature_flags1@16:u64",
    "mem_get_mc_mmap_info_v2 32: pa@0:u64, mmap_offset@8:u64, size@16:u64, mem_handle@24:u64",
    "printk 16: buffer@0:ptr→void, size@8:u32, action@12:u32",
    "host_device_id 4: host_device_id@0:u32",
    "dump_mem_chunks 24: hbm_index@0:u32, num_entries_in@4:u32, num_entries_out@8:u32, data@16:ptr→mem_chunk_info",
    "nc_pid_state_dump 16: size@0:u32, nc_id@4:u32, filter_log_owner@8:u32, log_dump_limit@12:u32",
    "host_device_id_to_rid_map 260: count@0:u32, host_did_to_rid_map@4:u32[64]",
    "hbm_scrub_start 16: nc_id@0:u32, hbm_index@4:u32, axi_port@8:u32, init_val@12:u32",
    "hbm_scrub_wait 8: nc_id@0:u32, hbm_index@4:u32",
    "get_logical_to_physical_nc_map 16: map@0:ptr→nc_map, max_map_entries@8:u32, mapping_version@12:u32",
    "pod_info 260: sz@0:u16, pod_type@2:u8, pod_id@3:u8[256], pod_sz@259:u8",
    "pod_status 268: sz@0:u16, pod_id@2:u8[256], state@260:u32, pod_type@264:u8, pod_sz@265:u8, node_id@266:i8",
    "pod_status_v2 276: v1@0:pod_status, mode@268:u32, modes_supported@272:u32",
    "pod_ctrl 16: sz@0:u16, ctrl@4:u32, timeout@8:u32, state@12:u32",
    "pod_ctrl_v2 20: v1@0:pod_ctrl, mode@16:u32",
];

/// Name, size and fields of every struct of this module.
type Declared = (&'static str, usize, &'static [FieldLayout]);

macro_rules! declared {
    ($($name:ident),*) => { vec![$(($name::SHEET_NAME, size_of::<$name>(), $name::FIELDS)),*] };
}

#[rustfmt::skip]
fn declared() -> Vec<Declared> {
    declared![NeuronDmaEngState, NeuronDmaQueueState, NeuronUuid, NeuronAppInfo, MemChunkInfo, NcMapEntry, MemAllocV2MemType64, DeviceInit, DeviceReset, DeviceReady, GetAppsInfo, MemGetExtendedInfo, MemFree, MemCopy64, MemCopyAsync64, MemCopyAsyncWait, Memset64, MemBufCopy64, ProgramEngineNc64, DmaCopyDescriptors64, DmaQueueInit, DmaQueueInitBatch, DmaQueueRelease, DmaQuiesceQueues, DmaAckCompleted, DmaQueueCopyStart, DmaEngInit, DmaEngSetState, DmaEngGetState, DmaQueueGetState, DmaDescriptorCopyout, Semaphore, Event, NotificationsInitV2, NotificationsInitWithReallocV2, NeuronDsInfo, ReadHwCounters, Crwl, CrwlNcMap, CrwlNcMapExt, CinitSet, NcModelStartedCount, CompatibleVersion, DeviceBasicInfo, DeviceBdf, DeviceBdfExt, ResourceMmapInfo, DeviceInfo, DmabufFd, DeviceDriverInfo, MemGetMcMmapInfoV2, Printk, HostDeviceId, DumpMemChunks, NcPidStateDump, HostDeviceIdToRidMap, HbmScrubStart, HbmScrubWait, GetLogicalToPhysicalNcMap, PodInfo, PodStatus, PodStatusV2, PodCtrl, PodCtrlV2]
}

/// Size of a type as the sheet writes it.
fn size_of_type(text: &str) -> usize {
    let (element, count) = match text.split_once('[') {
        Some((element, rest)) => (element, rest.trim_end_matches(']').parse().unwrap()),
        None => (text, 1),
    };
    let size = match element {
        "u8" | "i8" => 1,
        "u16" => 2,
        "u32" | "i32" => 4,
        "u64" => 8,
        pointer if pointer.starts_with("ptr→") => 8,
        name => {
            let row = SHEET.iter().find(|row| row.split(' ').next() == Some(name)).unwrap();
            row.split([' ', ':']).nth(1).unwrap().parse().unwrap()
        }
    };
    size * count
}

#[test]
fn layouts_equal_the_sheet() {
    let declared = declared();
    assert_eq!(declared.len(), SHEET.len());
    for ((name, size, fields), row) in declared.into_iter().zip(SHEET) {
        let (head, list) = row.split_once(": ").unwrap();
        assert_eq!(head, format!("{name} {size}"));
        // Fields called `pad` are not in the sheet but for one struct; the
        // entries behind a header are not part of it.
        let wanted: Vec<(String, usize, usize)> = list
            .split(", ")
            .filter(|field| !field.ends_with("[]"))
            .map(|field| {
                let (name, rest) = field.split_once('@').unwrap();
                let (offset, ty) = rest.split_once(':').unwrap();
                let name = if name == "type" { "r#type" } else { name };
                (name.to_owned(), offset.parse().unwrap(), size_of_type(ty))
            })
            .collect();
        let found: Vec<(String, usize, usize)> = fields
            .iter()
            .filter(|f| f.name != "pad" || list.contains("pad@"))
            .map(|f| (f.name.to_owned(), f.offset, f.size))
            .collect();
        assert_eq!(found, wanted, "{name}");
        // Same sizes, so it is the sign of integers that remains.
        let signed = |text: &str| ["i8", "i32"].contains(&text);
        for field in fields.iter().filter(|f| f.name != "pad") {
            let plain = field.name.trim_start_matches("r#");
            let mut words = list.split(", ").filter_map(|f| f.split_once('@'));
            let (_, ty) = words.find(|(name, _)| *name == plain).unwrap();
            let ty = ty.split_once(':').unwrap().1;
            assert_eq!(signed(field.ty), signed(ty), "{name}.{plain}");
        }
    }
}

/// Answers of one request that succeeded on an attaching or free descriptor.
fn answers(entries: &[recording::Entry], name: &str) -> Vec<usize> {
    let found: Vec<usize> = (0..entries.len())
        .filter(|&i| entries[i].name == name && entries[i].ret == 0 && !entries[i].bytes.is_empty())
        .collect();
    assert!(!found.is_empty(), "no recorded {name}");
    found
}

/// Decodes every recorded answer of a request and hands it to a check.
fn each<T: Plain>(name: &str, check: impl Fn(T, &recording::Entry)) {
    for (_, entries) in recording::all() {
        for index in answers(&entries, name) {
            let entry = &entries[index];
            // The recorder printed 160 bytes at most; what follows in the one
            // answer that is longer is unused.
            let mut recorded = entry.bytes.clone();
            if recorded.len() == 160 {
                recorded.resize(T::SIZE, 0);
            }
            let value = T::read_at(&recorded, 0).unwrap();
            if !entry.decoded.is_empty() {
                check(value, entry);
            }
            // Padding is zero in every recorded answer of these requests.
            let mut bytes = vec![0; T::SIZE];
            value.write_at(&mut bytes, 0).unwrap();
            if name != "DEVICE_GET_ALL_APPS_INFO" {
                assert_eq!(bytes, recorded[..T::SIZE], "{}", entry.label);
            }
        }
    }
}

#[test]
fn recorded_device_info() {
    each("DEVICE_BASIC_INFO", |info: DeviceBasicInfo, entry| {
        assert_eq!(u64::from(info.architecture), entry.number_of("architecture"));
        assert_eq!(u64::from(info.revision), entry.number_of("revision"));
    });
    each("DEVICE_INFO", |info: DeviceInfo, entry| {
        assert_eq!(u64::from(info.architecture), entry.number_of("architecture"));
        assert_eq!(
            u64::from(info.connected_device_count),
            entry.number_of("connected_device_count")
        );
        assert_eq!(info.connected(), entry.list_of("connected"));
        // Two fields are called `size`; the first is that of BAR 0.
        assert_eq!(info.bar_size[0], entry.number_of("size"));
        assert_eq!(info.bar_address[0] != 0, entry.field("bar0") == "nonzero");
        assert_eq!(info.bar_address[1] != 0, entry.field("bar1") == "nonzero");
    });
    each("DRIVER_INFO_GET", |info: DeviceDriverInfo, entry| {
        assert_eq!(u64::from(info.architecture), entry.number_of("arch"));
        assert_eq!(u64::from(info.version), entry.number_of("version"));
        assert_eq!(u64::from(info.size), entry.number_of("size"));
        assert_eq!(info.feature_flags1, entry.number_of("feature_flags1"));
    });
    each("COMPATIBLE_VERSION", |range: CompatibleVersion, entry| {
        assert_eq!(u64::from(range.max), entry.number_of("max"));
        assert_eq!(u64::from(range.min), entry.number_of("min"));
    });
}

#[test]
fn recorded_addresses_and_ids() {
    each("DEVICE_BDF", |answer: DeviceBdf, entry| {
        assert_eq!(answer.bdf().unwrap().short(), entry.field("bdf"));
    });
    each("DEVICE_BDF_EXT", |answer: DeviceBdfExt, entry| {
        assert_eq!(answer.bdf().unwrap().to_string(), entry.field("bdf"));
        assert_eq!(u64::from(answer.nd_index), entry.number_of("nd_index"));
    });
    each("HOST_DEVICE_ID", |answer: HostDeviceId, entry| {
        assert_eq!(u64::from(answer.host_device_id), entry.number_of("host_device_id"));
    });
    each("HOST_DEVICE_ID_TO_RID_MAP", |map: HostDeviceIdToRidMap, entry| {
        assert_eq!(u64::from(map.count), entry.number_of("count"));
        let ids: Vec<u32> = (0..map.count).map(|i| map.routing_id(i).unwrap()).collect();
        assert_eq!(ids, entry.list_of("map"));
        assert_eq!(map.routing_id(64), None);
    });
    each("DEVICE_APP_PID", |pid: i32, entry| {
        assert_eq!(u64::try_from(pid).unwrap(), entry.number_of("pid"));
    });
    each("NC_MODEL_STARTED_COUNT", |answer: NcModelStartedCount, entry| {
        assert_eq!(answer.started_count, entry.number_of("count"));
    });
}

/// Both were asked of a device in use; the recorder has no decoded line.
#[test]
fn recorded_state() {
    for (_, entries) in recording::all() {
        for name in ["DEVICE_READY", "DEVICE_RESET_STATUS"] {
            for index in answers(&entries, name) {
                let state = u8::read_at(&entries[index].bytes, 0).map(u32::from).unwrap();
                assert_eq!(ResetState::from_number(state), Some(ResetState::Ready));
            }
        }
    }
}

/// The recorder kept the header only; its padding is what the caller had.
#[test]
fn recorded_apps_header() {
    each("DEVICE_GET_ALL_APPS_INFO", |header: GetAppsInfo, entry| {
        assert_eq!(u64::from(header.size), entry.number_of("size"));
        assert_eq!((header.apps_info_flags, header.capacity), (0xF, 16));
    });
}

/// A process as real-driver/behaviour/datastore-reader-writer.txt shows it:
/// one lock, and whatever the kernel had in the slots of the other cores.
#[test]
fn apps_with_a_lock() {
    let mut bytes = AppsInfo::request(0xF, 2);
    assert_eq!(bytes.len(), 16 + 2 * 152);
    assert_eq!(bytes[..8], [0xF, 0, 0, 0, 2, 0, 0, 0]);
    bytes[8] = 2;
    let entry = &mut bytes[16..168];
    entry[..5].copy_from_slice(&[119, 0, 0, 0, 0x1]);
    entry[5..133].fill(0xA5);
    entry[5..37].fill(0x11);
    entry[136..144].copy_from_slice(&1_052_672_u64.to_le_bytes());
    entry[144..152].copy_from_slice(&4_268_032_u64.to_le_bytes());
    bytes[168] = 118;
    let apps = AppsInfo::parse(&bytes).unwrap();
    let lock = AppLock { core: 0, uuid: NeuronUuid { value: [0x11; 32] } };
    assert_eq!(
        apps,
        [
            AppInfo {
                pid: 119,
                locks: vec![lock],
                host_memory: 1_052_672,
                device_memory: 4_268_032
            },
            AppInfo { pid: 118, locks: vec![], host_memory: 0, device_memory: 0 },
        ]
    );
    // A size beyond the capacity is the capacity.
    bytes[8] = 200;
    assert_eq!(AppsInfo::parse(&bytes).unwrap(), apps);
    // A capacity beyond the bytes is not believed.
    bytes[4] = 200;
    let error = AppsInfo::parse(&bytes).unwrap_err();
    assert_eq!(error.to_string(), "apps info: entry 2 of 200 is cut at offset 320");
    bytes[8] = 1;
    bytes[19] = 0x80;
    assert!(AppsInfo::parse(&bytes).unwrap_err().reason.contains("negative"));
}

#[test]
fn addresses_out_of_range_are_refused() {
    let good = DeviceBdfExt { domain: 1, bus_number: 0xCC, slot: 31, func: 7, nd_index: 0 };
    assert_eq!(good.bdf().unwrap().to_string(), "0001:cc:1f.7");
    for bad in [
        DeviceBdfExt { slot: 32, ..good },
        DeviceBdfExt { func: 8, ..good },
        DeviceBdfExt { bus_number: 256, ..good },
        DeviceBdfExt { domain: 65536, ..good },
    ] {
        assert_eq!(bad.bdf(), None);
    }
    let info = DeviceInfo { connected_device_count: 9, ..DeviceInfo::default() };
    assert_eq!(info.connected().len(), 8);
}

proptest! {
    #[test]
    fn decoding_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..700)) {
        let _ = AppsInfo::parse(&bytes);
        if let Some(info) = DeviceInfo::from_bytes(&bytes) {
            prop_assert_eq!(DeviceInfo::from_bytes(&info.to_bytes()), Some(info));
            prop_assert!(info.connected().len() <= 8);
        } else {
            prop_assert!(bytes.len() < 80);
        }
        if let Some(answer) = DeviceBdfExt::from_bytes(&bytes) {
            let _ = answer.bdf();
        }
        if let Some(status) = PodStatusV2::from_bytes(&bytes) {
            prop_assert_eq!(PodStatusV2::from_bytes(&status.to_bytes()), Some(status));
        }
        prop_assert_eq!(u64::read_at(&bytes, usize::MAX), None);
        prop_assert_eq!(HostDeviceIdToRidMap::from_bytes(&bytes).is_some(), bytes.len() >= 260);
    }

    /// An answer with a plausible header reaches the entries.
    #[test]
    fn apps_never_panic(
        capacity in 0_u8..20,
        size in any::<u32>(),
        rest in prop::collection::vec(any::<u8>(), 0..3000),
    ) {
        let mut bytes = AppsInfo::request(0xF, capacity.into());
        bytes[8..12].copy_from_slice(&size.to_le_bytes());
        for (slot, byte) in bytes[16..].iter_mut().zip(rest) {
            *slot = byte;
        }
        if let Ok(apps) = AppsInfo::parse(&bytes) {
            prop_assert!(apps.len() <= usize::from(capacity));
        }
    }
}
