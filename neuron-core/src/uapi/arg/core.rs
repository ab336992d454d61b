//! Cores: datastore access, locks, marks, initialisation, semaphores, events,
//! notification queues, core numbering.

super::arguments! {
    /// Argument of `ACQUIRE_NEURON_DS` and `RELEASE_NEURON_DS`.
    NeuronDsInfo, "neuron_ds_info", 24 {
        /// In: the owner; 0 creates or gets the caller's own datastore.
        pid: i32,
        /// Out: offset for `mmap`.
        mmap_offset: u64,
        /// Out: size in bytes, the only length with which to map.
        size: u32,
    }

    /// Identity of a model in core locks.
    NeuronUuid, "neuron_uuid", 32 {
        /// The bytes.
        value: [u8; 32],
    }

    /// Argument of the core lock requests `CRWL_READER_*`, `CRWL_WRITER_*`.
    Crwl, "crwl", 36 {
        /// Physical core.
        nc_id: u32,
        /// The model for which the lock is held.
        uuid: NeuronUuid,
    }

    /// Argument of `CRWL_NC_RANGE_MARK` and `_UNMARK`, for 64 cores. Indices
    /// count the physical cores of all devices.
    CrwlNcMap, "crwl_nc_map", 24 {
        /// How many cores.
        nc_count: u32,
        /// First core of the range to search.
        start_nc_index: u32,
        /// Last core of the range, included.
        end_nc_index: u32,
        /// Out, on `EBUSY`: the most that was found.
        max_nc_available: u32,
        /// Cores granted, or to be released, one bit each.
        bitmap: u64,
    }

    /// As [`CrwlNcMap`], for 512 cores.
    CrwlNcMapExt, "crwl_nc_map_ext", 80 {
        /// How many cores.
        nc_count: u32,
        /// First core of the range to search.
        start_nc_index: u32,
        /// Last core of the range, included.
        end_nc_index: u32,
        /// Out, on `EBUSY`: the most that was found.
        max_nc_available: u32,
        /// Cores granted, or to be released, one bit each, lowest word first.
        bitmap: [u64; 8],
    }

    /// Argument of `CINIT_SET_STATE`.
    CinitSet, "cinit_set", 12 {
        /// Physical core.
        nc_id: u32,
        /// The state that is asked for, [`crate::uapi::enums::CinitState`].
        state: u32,
        /// Out: the state that it became.
        new_state: u32,
    }

    /// Argument of `NC_MODEL_STARTED_COUNT`. A core that the device does not
    /// have gives `E2BIG`.
    NcModelStartedCount, "nc_model_started_count", 16 {
        /// Physical core.
        nc_id: u32,
        /// Out: models started since the driver was loaded.
        started_count: u64,
    }

    /// Argument of `GET_LOGICAL_TO_PHYSICAL_NC_MAP`.
    GetLogicalToPhysicalNcMap, "get_logical_to_physical_nc_map", 16 {
        /// Address of a count (32 bits) followed by [`NcMapEntry`]s.
        map: u64,
        /// Room in entries, at most 128.
        max_map_entries: u32,
        /// Kind of numbering, 0.
        mapping_version: u32,
    }

    /// Where one logical physical-core is.
    NcMapEntry, "nc_map_entry", 8 {
        /// Host index of the device.
        device_id: u32,
        /// Physical core within the device.
        device_nc_idx: u32,
    }

    /// Argument of `SEMAPHORE_*`.
    Semaphore, "semaphore", 12 {
        /// Physical core.
        nc_id: u32,
        /// Index, below 256 (V1: 32).
        semaphore_index: u32,
        /// Amount or value.
        value: u32,
    }

    /// Argument of `EVENT_SET` and `EVENT_GET`.
    Event, "event", 12 {
        /// Physical core.
        nc_id: u32,
        /// Index, below 256.
        event_index: u32,
        /// Value.
        value: u32,
    }

    /// Argument of `NOTIFICATIONS_INIT_V2`.
    NotificationsInitV2, "notifications_init_v2", 48 {
        /// Core or TOPSP.
        nq_dev_id: u32,
        /// [`crate::uapi::enums::NqDeviceType`].
        nq_dev_type: u32,
        /// [`crate::uapi::enums::NqType`].
        nq_type: u32,
        /// Engine of the core.
        engine_index: u32,
        /// Size of the ring in bytes, a power of two.
        size: u32,
        /// Nonzero for a ring in host memory.
        on_host_memory: u32,
        /// Memory channel of a ring on the device.
        dram_channel: u32,
        /// Memory region of a ring on the device.
        dram_region: u32,
        /// Out: offset for `mmap`, all ones for a ring on the device.
        mmap_offset: u64,
        /// Out: memory handle.
        mem_handle: u64,
    }

    /// Argument of `NOTIFICATIONS_INIT_WITH_REALLOC_V2`.
    NotificationsInitWithReallocV2, "notifications_init_with_realloc_v2", 56 {
        /// Core or TOPSP.
        nq_dev_id: u32,
        /// [`crate::uapi::enums::NqDeviceType`].
        nq_dev_type: u32,
        /// [`crate::uapi::enums::NqType`].
        nq_type: u32,
        /// Engine of the core.
        engine_index: u32,
        /// Size of the ring in bytes, a power of two.
        size: u32,
        /// Nonzero for a ring in host memory.
        on_host_memory: u32,
        /// Memory channel of a ring on the device.
        dram_channel: u32,
        /// Memory region of a ring on the device.
        dram_region: u32,
        /// Nonzero to replace a ring that is there.
        force_alloc_mem: u32,
        /// Out: offset for `mmap`, all ones for a ring on the device.
        mmap_offset: u64,
        /// Out: memory handle.
        mem_handle: u64,
    }
}
