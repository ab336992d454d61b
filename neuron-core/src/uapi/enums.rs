//! Enumerations of the driver (driver.md §3.5) and the sysfs leaf that each
//! category of memory is charged to (§6.4).

/// Declares an enumeration with the driver's numbers.
macro_rules! enumeration {
    ($($(#[$meta:meta])* $name:ident: $ty:ty {
        $($(#[$value_meta:meta])* $value:ident = $number:literal,)*
    })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$value_meta])* $value,)*
        }

        impl $name {
            /// Every value, in the driver's order.
            pub const ALL: &'static [Self] = &[$(Self::$value),*];

            /// From the driver's number; `None` for one that is unknown.
            pub const fn from_number(number: $ty) -> Option<Self> {
                match number {
                    $($number => Some(Self::$value),)*
                    _ => None,
                }
            }

            /// The driver's number.
            pub const fn number(self) -> $ty {
                match self {
                    $(Self::$value => $number,)*
                }
            }
        }
    )*};
}

enumeration! {
    /// Where memory is.
    MemLocation: u32 {
        /// Of the host.
        Host = 1,
        /// Of the device.
        Device = 2,
    }

    /// A ring of a DMA queue.
    DmaQueueType: u32 {
        /// Transmit.
        Transmit = 0,
        /// Receive.
        Receive = 1,
        /// Completion.
        Completion = 2,
    }

    /// Initialisation of a core: one process does it, others wait.
    CinitState: u32 {
        /// Somebody began.
        Started = 1,
        /// Done.
        Completed = 2,
        /// Not valid.
        Invalid = 3,
    }

    /// What a notification queue belongs to.
    NqDeviceType: u32 {
        /// A NeuronCore.
        NeuronCore = 0,
        /// A processor that synchronises collectives.
        TopSp = 1,
    }

    /// What a notification queue reports.
    NqType: u32 {
        /// Instruction trace.
        Trace = 0,
        /// Explicit notifications.
        Notify = 1,
        /// Events.
        Event = 2,
        /// Errors.
        Error = 3,
        /// DMA trace.
        DmaTrace = 4,
        /// Throttling.
        Throttle = 5,
    }

    /// Block that request 112 can map.
    MmapBlock: u32 {
        /// A NeuronCore.
        Tpb = 0,
        /// A processor that synchronises collectives.
        TopSp = 1,
        /// Device memory.
        Hbm = 2,
    }

    /// Part of a block that request 112 can map.
    MmapResource: u32 {
        /// Semaphores.
        Semaphores = 0,
        /// All of it, read-only, [`MmapBlock::TopSp`] only.
        All = 1,
        /// State buffer.
        Sbuf = 2,
        /// Device memory.
        DeviceMemory = 3,
    }

    /// Handle of an asynchronous copy.
    AsyncHandle: i32 {
        /// No copy.
        None = -1,
        /// A synchronous copy.
        Sync = 0,
        /// The first slot.
        First = 1,
        /// The second slot.
        Second = 2,
    }

    /// State of a device, as `DEVICE_RESET_STATUS` and the `reset` leaf tell
    /// it (driver.md §2.3).
    ResetState: u32 {
        /// In progress; an attaching open waits.
        Reset = 0,
        /// Usable.
        Ready = 1,
        /// Failed; an attaching open gives `EINVAL`.
        Invalid = 2,
    }

    /// Kind of an UltraServer.
    PodType: u8 {
        /// Not part of one.
        None = 0,
        /// Servers linked to each other.
        PeerToPeer = 1,
        /// Servers linked by switches.
        Switch = 2,
    }

    /// Election of an UltraServer.
    PodState: u32 {
        /// Not started.
        NotStarted = 0,
        /// In progress.
        InProgress = 1,
        /// Part of an UltraServer.
        UltraServer = 2,
        /// Failed.
        Failed = 3,
        /// A server on its own.
        SingleNode = 4,
    }

    /// Request to the election.
    PodControl: u32 {
        /// Form an UltraServer.
        RequestPod = 0,
        /// Stay a single server.
        RequestSingleNode = 1,
        /// Stop the election.
        KillElection = 2,
        /// Set the mode.
        SetMode = 3,
    }

    /// Number and arrangement of the servers of an UltraServer.
    UltraServerMode: u32 {
        /// Not set.
        Unset = 0,
        /// Four servers.
        Four = 1,
        /// Two servers, horizontal.
        TwoHorizontal = 2,
        /// Two servers, vertical.
        TwoVertical = 3,
        /// One server.
        One = 4,
    }

    /// Bit of `feature_flags1` of request 110.
    Feature: u8 {
        /// Export as dma-buf, from 2.12.
        DmaBuf = 0,
        /// Asynchronous DMA, from 2.12.
        AsyncDma = 1,
        /// Batched queue initialisation, from 2.12.
        BatchQueueInit = 2,
        /// Maps of 512 cores, from 2.14.
        BigCoreMaps = 3,
        /// Memory categories, from 2.17.
        MemType = 4,
        /// Scrubbing of device memory, from 2.19.
        HbmScrub = 5,
        /// Allocations of 4 GiB and more, from 2.20.
        Mem64 = 6,
        /// Contiguous scratchpad, from 2.24.
        ContiguousScratchpad = 7,
        /// Copies without an intermediate buffer, from 2.25.
        ZeroCopy = 8,
        /// One of pinned host memory, allocation at an address, asynchronous
        /// read and write, asynchronous copy (2.26 to 2.30; their order
        /// follows the sheet's list).
        PinnedHostMemory = 9,
        /// See [`Feature::PinnedHostMemory`].
        AllocAtAddress = 10,
        /// See [`Feature::PinnedHostMemory`].
        AsyncReadWrite = 11,
        /// See [`Feature::PinnedHostMemory`].
        AsyncCopy = 12,
    }
}

impl Feature {
    /// Whether a driver that reports these flags has it.
    pub const fn is_in(self, feature_flags1: u64) -> bool {
        feature_flags1 & (1 << self.number()) != 0
    }
}

/// Flags of the apps-info request.
#[derive(Debug)]
pub struct AppsInfoFlags;

impl AppsInfoFlags {
    /// Core locks.
    pub const LOCKS: u16 = 0x1;
    /// Memory use.
    pub const MEMORY: u16 = 0x2;
    /// Everything.
    pub const ALL: u16 = 0xF;
}

/// Core mask of a reset: all bits for the whole device.
pub const RESET_WHOLE_DEVICE: u32 = u32::MAX;

/// A category of allocations, and what sysfs calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemCategory {
    /// The driver's number, 0 to 19.
    pub id: u32,
    /// A name of our own, unique together with the location.
    pub name: &'static str,
    /// Where such memory is.
    pub location: MemLocation,
    /// The leaf below `stats/memory_usage/host_mem/` of the device for host
    /// memory, below `stats/memory_usage/device_mem/` of the core for device
    /// memory.
    pub leaf: &'static str,
}

const fn host(id: u32, name: &'static str, leaf: &'static str) -> MemCategory {
    MemCategory { id, name, location: MemLocation::Host, leaf }
}

const fn device(id: u32, name: &'static str, leaf: &'static str) -> MemCategory {
    MemCategory { id, name, location: MemLocation::Device, leaf }
}

/// Every category, by number. Host memory counts in the core's `host_mem`
/// total too. Confirmed leaf by leaf by the recorded counter oracle (part B).
#[rustfmt::skip]
pub const MEM_CATEGORIES: &[MemCategory] = &[
    host(0,    "unknown",                "uncategorized"),
    host(1,    "code",                   "dma_buffers"),
    host(2,    "tensors",                "tensors"),
    host(3,    "constants",              "constants"),
    host(4,    "misc",                   "application_memory"),
    host(5,    "driver",                 "driver_memory"),
    host(6,    "notifications",          "notifications"),
    device(7,  "unknown",                "uncategorized"),
    device(8,  "code",                   "model_code"),
    device(9,  "tensors",                "tensors"),
    device(10, "constants",              "constants"),
    device(11, "scratchpad",             "model_shared_scratchpad"),
    device(12, "misc",                   "runtime_memory"),
    device(13, "driver",                 "driver_memory"),
    device(14, "collectives",            "collectives"),
    device(15, "nonshared scratchpad",   "nonshared_scratchpad"),
    device(16, "notifications",          "notifications"),
    host(17,   "dma rings",              "dma_rings"),
    device(18, "dma rings",              "dma_rings"),
    device(19, "contiguous scratchpad",  "model_shared_scratchpad"),
];

/// The category of a number. `None` for one that is unknown, which the driver
/// books as `uncategorized`.
pub fn mem_category(id: u32) -> Option<&'static MemCategory> {
    MEM_CATEGORIES.get(usize::try_from(id).ok()?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn categories_are_indexed_by_number() {
        for (index, category) in (0_u32..).zip(MEM_CATEGORIES) {
            assert_eq!(category.id, index);
            assert_eq!(mem_category(index), Some(category));
        }
        assert_eq!(mem_category(20), None);
        let names: BTreeSet<_> = MEM_CATEGORIES.iter().map(|c| (c.location, c.name)).collect();
        assert_eq!(names.len(), 20);
    }

    /// The real driver was asked for (type + 1) * 8192 bytes of each category
    /// on core 1: each leaf grew by what its categories hold.
    #[test]
    fn categories_are_charged_as_recorded() {
        let text = include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/fixtures/real-driver/behaviour/counter-oracle-2.24.7.0-trn1.txt"
        ));
        let level = |when: &str, leaf: &str| -> u64 {
            let start = format!("{when} {leaf}/total=");
            let line = text.lines().find_map(|line| line.strip_prefix(&start));
            line.map_or(0, |value| value.parse().unwrap())
        };
        let leaf_of = |category: &MemCategory| match category.location {
            MemLocation::Host => format!("stats/memory_usage/host_mem/{}", category.leaf),
            MemLocation::Device => {
                format!("neuron_core1/stats/memory_usage/device_mem/{}", category.leaf)
            }
        };
        let mut wanted = std::collections::BTreeMap::new();
        for category in MEM_CATEGORIES {
            *wanted.entry(leaf_of(category)).or_insert(0) += (u64::from(category.id) + 1) * 8192;
        }
        assert_eq!(wanted.len(), 19);
        for (leaf, size) in wanted {
            assert_eq!(level("B.alive", &leaf) - level("A.before", &leaf), size, "{leaf}");
        }
    }

    #[test]
    fn features_of_the_recorded_flags() {
        let of = |flags| Feature::ALL.iter().filter(|f| f.is_in(flags)).count();
        assert_eq!((of(0xFF), of(0x1FF)), (8, 9));
        assert!(Feature::ContiguousScratchpad.is_in(0xFF));
        assert!(!Feature::ZeroCopy.is_in(0xFF));
    }

    #[test]
    fn numbers_go_both_ways() {
        for state in PodState::ALL {
            assert_eq!(PodState::from_number(state.number()), Some(*state));
        }
        assert_eq!(PodState::from_number(4), Some(PodState::SingleNode));
        assert_eq!(PodState::from_number(5), None);
        assert_eq!(AsyncHandle::from_number(-1), Some(AsyncHandle::None));
        assert_eq!(NqType::from_number(4), Some(NqType::DmaTrace));
    }
}
