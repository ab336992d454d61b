//! The list of processes that are attached to a device (request nr 7): a
//! header of 16 bytes and one entry of 152 bytes for each process.

use super::{NeuronUuid, Plain};
use crate::uapi::Malformed;

super::arguments! {
    /// Header of `DEVICE_GET_ALL_APPS_INFO`.
    GetAppsInfo, "get_apps_info", 16 {
        /// In: what is asked for, [`crate::uapi::enums::AppsInfoFlags`].
        apps_info_flags: u16,
        /// In: room in entries.
        capacity: u32,
        /// Out: number of entries.
        size: u32,
        /// Up to the first entry.
        pad: u32,
    }

    /// One entry as the driver writes it; [`AppInfo`] is what it says.
    NeuronAppInfo, "neuron_app_info", 152 {
        /// Process id in the host's namespace.
        pid: i32,
        /// Cores 0 to 3 that are locked, one bit each.
        nc_lock_map: u8,
        /// Models of the locks. Uninitialised kernel memory for a core whose
        /// bit is not set: never to be shown.
        uuid_data: [NeuronUuid; 4],
        /// Host memory in bytes.
        host_mem_size: u64,
        /// Device memory in bytes.
        device_mem_size: u64,
    }
}

/// A core lock of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppLock {
    /// Physical core within the device, 0 to 3.
    pub core: u32,
    /// The model for which it is held.
    pub uuid: NeuronUuid,
}

/// A process that is attached to a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppInfo {
    /// Process id in the host's namespace.
    pub pid: u32,
    /// Locks on cores; the driver tells of the first four cores only.
    pub locks: Vec<AppLock>,
    /// Host memory charged to it on this device, bytes.
    pub host_memory: u64,
    /// Device memory charged to it on this device, bytes.
    pub device_memory: u64,
}

/// The answer of `DEVICE_GET_ALL_APPS_INFO`.
#[derive(Debug)]
pub struct AppsInfo;

impl AppsInfo {
    /// Processes that can be attached to a device at a time (driver.md §1.1).
    pub const MAX_PROCESSES: u32 = 16;

    /// An argument of the right length with an empty list, to be filled by the
    /// driver.
    pub fn request(flags: u16, capacity: u16) -> Vec<u8> {
        let header =
            GetAppsInfo { apps_info_flags: flags, capacity: capacity.into(), size: 0, pad: 0 };
        let mut bytes = header.to_bytes().to_vec();
        bytes.resize(bytes.len() + usize::from(capacity) * NeuronAppInfo::SIZE, 0);
        bytes
    }

    /// Reads an answer. A size beyond the capacity counts as the capacity: the
    /// driver has no room for more. A slot with process id 0 is skipped.
    ///
    /// # Errors
    ///
    /// When the bytes end before the last entry, or a process id is negative.
    pub fn parse(bytes: &[u8]) -> Result<Vec<AppInfo>, Malformed> {
        const WHAT: &str = "apps info";
        let header = GetAppsInfo::from_bytes(bytes)
            .ok_or_else(|| Malformed::new(WHAT, bytes.len(), "the header is cut"))?;
        let count = header.size.min(header.capacity);
        let mut apps = Vec::new();
        let mut at = GetAppsInfo::SIZE;
        for index in 0..count {
            let entry = NeuronAppInfo::read_at(bytes, at).ok_or_else(|| {
                Malformed::new(WHAT, at, format!("entry {index} of {count} is cut"))
            })?;
            let pid = u32::try_from(entry.pid).map_err(|_| {
                Malformed::new(WHAT, at, format!("process id {} is negative", entry.pid))
            })?;
            if pid != 0 {
                apps.push(AppInfo {
                    pid,
                    locks: entry.locks(),
                    host_memory: entry.host_mem_size,
                    device_memory: entry.device_mem_size,
                });
            }
            at += NeuronAppInfo::SIZE;
        }
        Ok(apps)
    }
}

impl NeuronAppInfo {
    fn locks(&self) -> Vec<AppLock> {
        (0..)
            .zip(self.uuid_data)
            .filter(|(core, _)| self.nc_lock_map & (1_u8 << core) != 0)
            .map(|(core, uuid)| AppLock { core, uuid })
            .collect()
    }
}
