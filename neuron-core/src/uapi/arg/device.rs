//! Identity, state and addresses of devices; what the driver says of itself.

use crate::units::Bdf;

super::arguments! {
    /// Argument of `DEVICE_BASIC_INFO`. Says nothing about one device: every
    /// node gives the same answer.
    DeviceBasicInfo, "device_basic_info", 8 {
        /// Generation, 1 to 4.
        architecture: u32,
        /// PCI revision; 240 is an emulator, 255 is qemu.
        revision: u32,
    }

    /// Argument of `DEVICE_INFO`.
    DeviceInfo, "device_info", 80 {
        /// Generation, 1 to 4.
        architecture: u32,
        /// PCI revision.
        revision: u32,
        /// How many of `connected_devices` are filled.
        connected_device_count: u32,
        /// Host indices of the connected devices in the driver's order; see
        /// [`DeviceInfo::connected`].
        connected_devices: [u32; 8],
        /// Kernel addresses: of no use here, and not to be printed.
        bar_address: [u64; 2],
        /// Sizes in bytes, 0 for a window that the generation does not use.
        bar_size: [u64; 2],
    }

    /// Argument of `DEVICE_BDF`: the PCI address of the opened device without
    /// its domain.
    DeviceBdf, "device_bdf", 8 {
        /// Bus number.
        bus_number: u32,
        /// Device number on the bus.
        slot: u8,
        /// Function number.
        func: u8,
    }

    /// Argument of `DEVICE_BDF_EXT`.
    DeviceBdfExt, "device_bdf_ext", 16 {
        /// In: index counted from the host index of the opened device, so 0 is
        /// that device and others can only follow it.
        nd_index: u32,
        /// PCI domain.
        domain: u32,
        /// Bus number.
        bus_number: u32,
        /// Device number on the bus.
        slot: u8,
        /// Function number.
        func: u8,
    }

    /// Argument of `DRIVER_INFO_GET`.
    DeviceDriverInfo, "device_driver_info", 24 {
        /// Generation, 1 to 4.
        architecture: u32,
        /// PCI revision.
        revision: u32,
        /// Version of this struct, 0.
        version: u32,
        /// How many bytes the driver wrote, 24.
        size: u32,
        /// Bits of [`crate::uapi::enums::Feature`].
        feature_flags1: u64,
    }

    /// Argument of `COMPATIBLE_VERSION`: the runtime interface versions that
    /// the driver supports, both ends included. Note that `max` comes first.
    CompatibleVersion, "compatible_version", 8 {
        /// Highest.
        max: u32,
        /// Lowest.
        min: u32,
    }

    /// Argument of `HOST_DEVICE_ID`: the opened device's index on the host,
    /// the only way to learn it in a container.
    HostDeviceId, "host_device_id", 4 {
        /// The index.
        host_device_id: u32,
    }

    /// Argument of `HOST_DEVICE_ID_TO_RID_MAP`; the exact size is required.
    HostDeviceIdToRidMap, "host_device_id_to_rid_map", 260 {
        /// Number of devices.
        count: u32,
        /// Routing id by host index; 0 for an index without a device.
        host_did_to_rid_map: [u32; 64],
    }

    /// Argument of `DEVICE_INIT`, of driver 1.x.
    DeviceInit, "device_init", 4 {
        /// Number of memory regions.
        mem_regions: u32,
    }

    /// Argument of `NC_RESET`. The request returns 1 when an equal one is
    /// pending.
    DeviceReset, "device_reset", 8 {
        /// One bit for each core, or all bits for the whole device.
        nc_map: u32,
        /// Out: the caller's process id.
        request_id: u32,
    }

    /// Argument of `NC_RESET_READY`, which waits for a reset to end.
    DeviceReady, "device_ready", 8 {
        /// The id from [`DeviceReset`].
        request_id: u32,
        /// Out: result of the reset, 0 for success.
        result: i32,
    }

    /// Argument of `READ_HW_COUNTERS`: parallel arrays.
    ReadHwCounters, "read_hw_counters", 24 {
        /// Address of `count` register addresses, 64 bits each.
        address: u64,
        /// Address of `count` results, 32 bits each.
        data: u64,
        /// Number of registers.
        count: u32,
    }

    /// Argument of `PRINTK`: a line for the kernel log.
    Printk, "printk", 16 {
        /// Address of the text, which must contain a zero byte.
        buffer: u64,
        /// Size of the text, 512 bytes at most.
        size: u32,
        /// What to do with it.
        action: u32,
    }

    /// Argument of `NC_PID_STATE_DUMP`: writes state to the kernel log.
    NcPidStateDump, "nc_pid_state_dump", 16 {
        /// Size of this struct, 16.
        size: u32,
        /// Physical core.
        nc_id: u32,
        /// Nonzero to show the owner's lines only.
        filter_log_owner: u32,
        /// Highest number of lines.
        log_dump_limit: u32,
    }
}

impl DeviceInfo {
    /// The connected devices. A count beyond the slots is cut to them.
    pub fn connected(&self) -> &[u32] {
        let slots = &self.connected_devices;
        let count = usize::try_from(self.connected_device_count).unwrap_or(usize::MAX);
        slots.get(..count).unwrap_or(slots)
    }
}

impl DeviceBdf {
    /// The address with domain 0; `None` when a number is out of range.
    pub fn bdf(&self) -> Option<Bdf> {
        pci_address(0, self.bus_number, self.slot, self.func)
    }
}

impl DeviceBdfExt {
    /// The address; `None` when a number is out of range.
    pub fn bdf(&self) -> Option<Bdf> {
        pci_address(self.domain, self.bus_number, self.slot, self.func)
    }
}

fn pci_address(domain: u32, bus: u32, slot: u8, function: u8) -> Option<Bdf> {
    if slot > 31 || function > 7 {
        return None;
    }
    Some(Bdf { domain: domain.try_into().ok()?, bus: bus.try_into().ok()?, slot, function })
}

impl HostDeviceIdToRidMap {
    /// The slots of the array.
    ///
    /// With holes in the numbering `count` is smaller than the highest index
    /// plus one, so it does not bound the indices in use.
    pub fn routing_id(&self, host_index: u32) -> Option<u32> {
        self.host_did_to_rid_map.get(usize::try_from(host_index).ok()?).copied()
    }
}
