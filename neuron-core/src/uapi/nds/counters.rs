//! The counters by number (driver.md §5.4, §5.5) and the sysfs leaves that the
//! driver adds core counters to (§6.5). Ids that are not listed are reserved.
//!
//! Units of the time counters are not published. Ours write nanoseconds (our
//! choice).

/// A counter of the datastore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    /// Its number.
    pub id: u32,
    /// A name of our own, unique within its table.
    pub name: &'static str,
    /// The directory below `neuron_coreM/` whose `total` and `present` it
    /// moves; `None` when sysfs does not show it.
    pub sysfs_leaf: Option<&'static str>,
    /// By how much the leaf moves for one count: 2 for multiply-accumulates,
    /// 1 for all others.
    pub leaf_factor: u64,
    /// What it counts, as one line without a full stop.
    pub help: &'static str,
}

const fn counter(id: u32, name: &'static str, help: &'static str) -> Counter {
    Counter { id, name, sysfs_leaf: None, leaf_factor: 1, help }
}

impl Counter {
    const fn leaf(mut self, path: &'static str) -> Self {
        self.sysfs_leaf = Some(path);
        self
    }

    const fn twice(mut self) -> Self {
        self.leaf_factor = 2;
        self
    }
}

/// Ids of the device counters (driver.md §5.4).
pub mod device_counter {
    /// Version of the runtime, packed.
    pub const RUNTIME_VERSION: u32 = 0;
    /// Version of the framework, packed.
    pub const FRAMEWORK_VERSION: u32 = 1;
    /// Version of the framework abstraction layer, packed.
    pub const FAL_VERSION: u32 = 2;
    /// Features that the process uses, one bit each.
    pub const FEATURE_BITMAP: u32 = 3;
    /// Lowest NEFF version loaded.
    pub const MIN_NEFF_VERSION: u32 = 4;
    /// Highest NEFF version loaded.
    pub const MAX_NEFF_VERSION: u32 = 5;
    /// Host memory of code, bytes.
    pub const HOST_MEM_CODE: u32 = 6;
    /// Host memory of tensors, bytes.
    pub const HOST_MEM_TENSORS: u32 = 7;
    /// Host memory of constants, bytes.
    pub const HOST_MEM_CONSTANTS: u32 = 8;
    /// Host memory of scratchpads, bytes.
    pub const HOST_MEM_SCRATCHPAD: u32 = 9;
    /// Other host memory, bytes.
    pub const HOST_MEM_MISC: u32 = 10;
    /// Optional leaves to publish.
    ///
    /// Never store a value here on a real host: when the owner ends or
    /// releases, the kernel oopses and the task hangs with the datastore lock
    /// held (drivers 2.24.7.0 and 2.25.4.0).
    pub const DYNAMIC_SYSFS_BITMAP: u32 = 11;
    /// Cluster of the device.
    pub const CLUSTER_ID: u32 = 12;
    /// Aggregated NEFF id, from driver 2.30.
    pub const AGGREGATED_NEFF_ID: u32 = 13;
    /// First reserved id; all from here to [`COUNT`] are reserved.
    pub const FIRST_RESERVED: u32 = 14;
    /// Number of counters, with the reserved ones.
    pub const COUNT: u32 = 31;
}

/// Ids of the core counters (driver.md §5.5).
pub mod core_counter {
    /// Busy time, accumulated.
    pub const TIME_IN_USE: u32 = 0;
    /// Executions completed.
    pub const COMPLETED: u32 = 1;
    /// Executions completed with an error.
    pub const COMPLETED_WITH_ERR: u32 = 2;
    /// Executions completed with a numerical error.
    pub const COMPLETED_WITH_NUM_ERR: u32 = 3;
    /// Executions that timed out.
    pub const TIMED_OUT: u32 = 4;
    /// Executions with incorrect input.
    pub const INCORRECT_INPUT: u32 = 5;
    /// Executions that could not be queued.
    pub const FAILED_TO_QUEUE: u32 = 6;
    /// Generic errors.
    pub const ERROR_GENERIC: u32 = 7;
    /// Numerical errors.
    pub const ERROR_NUMERICAL: u32 = 8;
    /// Errors of a model.
    pub const ERROR_MODEL: u32 = 9;
    /// Transient errors.
    pub const ERROR_TRANSIENT: u32 = 10;
    /// Hardware errors.
    pub const ERROR_HARDWARE: u32 = 11;
    /// Errors of the runtime.
    pub const ERROR_RUNTIME: u32 = 12;
    /// Latency on the device, accumulated.
    pub const LATENCY_DEVICE: u32 = 13;
    /// Latency in all, accumulated.
    pub const LATENCY_TOTAL: u32 = 14;
    /// Time that the core was owned, accumulated; the base of utilisation.
    pub const CORE_TIME: u32 = 15;
    /// Generic failures.
    pub const FAILURE: u32 = 16;
    /// Resource errors.
    pub const RESOURCE_ERROR: u32 = 17;
    /// Resource errors of cores.
    pub const RESOURCE_NC_ERROR: u32 = 18;
    /// Invalid requests.
    pub const INVALID_ERROR: u32 = 19;
    /// NEFFs of an unsupported version.
    pub const UNSUPPORTED_NEFF_VERSION: u32 = 20;
    /// Time in collectives, accumulated.
    pub const COLLECTIVE_TIME: u32 = 21;
    /// Device memory of code, bytes.
    pub const DEVICE_MEM_CODE: u32 = 22;
    /// Device memory of tensors, bytes.
    pub const DEVICE_MEM_TENSORS: u32 = 23;
    /// Device memory of constants, bytes.
    pub const DEVICE_MEM_CONSTANTS: u32 = 24;
    /// Device memory of scratchpads, bytes.
    pub const DEVICE_MEM_SCRATCHPAD: u32 = 25;
    /// Other device memory, bytes.
    pub const DEVICE_MEM_MISC: u32 = 26;
    /// Models loaded.
    pub const MODEL_LOAD_COUNT: u32 = 27;
    /// Inferences.
    pub const INFERENCE_COUNT: u32 = 28;
    /// Multiply-accumulates; the leaf shows twice as many operations.
    pub const MAC_COUNT: u32 = 29;
    /// Accesses out of bounds.
    pub const OOB_ERROR: u32 = 30;
    /// Hardware errors of collectives.
    pub const HW_COLLECTIVES_ERROR: u32 = 31;
    /// Uncorrectable errors of device memory.
    pub const HW_HBM_UE_ERROR: u32 = 32;
    /// Uncorrectable errors of the core.
    pub const HW_NC_UE_ERROR: u32 = 33;
    /// Aborted DMA.
    pub const HW_DMA_ABORT_ERROR: u32 = 34;
    /// Overflows of a notification queue.
    pub const SW_NQ_OVERFLOW: u32 = 35;
    /// Semaphore errors.
    pub const SW_SEMAPHORE_ERROR: u32 = 36;
    /// Event errors.
    pub const SW_EVENT_ERROR: u32 = 37;
    /// Collisions in PSUM.
    pub const SW_PSUM_COLLISION: u32 = 38;
    /// Fatal errors of a sequencer.
    pub const SW_SEQUENCER_FATAL: u32 = 39;
    /// Uncorrectable but repairable errors of device memory.
    pub const HW_REPAIRABLE_HBM_UE_ERROR: u32 = 40;
    /// First reserved id; all from here to [`COUNT`] are reserved.
    pub const FIRST_RESERVED: u32 = 41;
    /// Number of counters, with the reserved ones.
    pub const COUNT: u32 = 95;
}

/// The device counters, by number.
#[rustfmt::skip]
pub const DEVICE_COUNTERS: &[Counter] = &[
    counter(0, "runtime_version", "Version of the runtime, packed"),
    counter(1, "framework_version", "Version of the framework, packed"),
    counter(2, "fal_version", "Version of the framework abstraction layer, packed"),
    counter(3, "feature_bitmap", "Features that the process uses, one bit each"),
    counter(4, "min_neff_version", "Lowest NEFF version loaded"),
    counter(5, "max_neff_version", "Highest NEFF version loaded"),
    counter(6, "host_mem_code", "Host memory of code, bytes"),
    counter(7, "host_mem_tensors", "Host memory of tensors, bytes"),
    counter(8, "host_mem_constants", "Host memory of constants, bytes"),
    counter(9, "host_mem_scratchpad", "Host memory of scratchpads, bytes"),
    counter(10, "host_mem_misc", "Other host memory, bytes"),
    counter(11, "dynamic_sysfs_bitmap", "Optional leaves to publish. Never store a value on a real host: kernel oops"),
    counter(12, "cluster_id", "Cluster of the device"),
    counter(13, "aggregated_neff_id", "Aggregated NEFF id, from driver 2.30"),
];

/// The core counters, by number.
#[rustfmt::skip]
pub const CORE_COUNTERS: &[Counter] = &[
    counter(0, "time_in_use", "Busy time, accumulated").leaf("stats/other_info/nc_time_in_use"),
    counter(1, "completed", "Executions completed").leaf("stats/status/success"),
    counter(2, "completed_with_err", "Executions completed with an error").leaf("stats/status/execute_completed_with_error"),
    counter(3, "completed_with_num_err", "Executions completed with a numerical error").leaf("stats/status/execute_completed_with_num_error"),
    counter(4, "timed_out", "Executions that timed out").leaf("stats/status/timeout"),
    counter(5, "incorrect_input", "Executions with incorrect input").leaf("stats/status/exec_bad_input"),
    counter(6, "failed_to_queue", "Executions that could not be queued").leaf("stats/status/execute_failed_to_queue"),
    counter(7, "error_generic", "Generic errors").leaf("stats/status/generic_error"),
    counter(8, "error_numerical", "Numerical errors"),
    counter(9, "error_model", "Errors of a model"),
    counter(10, "error_transient", "Transient errors"),
    counter(11, "error_hardware", "Hardware errors").leaf("stats/status/hw_error"),
    counter(12, "error_runtime", "Errors of the runtime"),
    counter(13, "latency_device", "Latency on the device, accumulated"),
    counter(14, "latency_total", "Latency in all, accumulated"),
    counter(15, "core_time", "Time that the core was owned, accumulated; the base of utilisation"),
    counter(16, "failure", "Generic failures").leaf("stats/status/failure"),
    counter(17, "resource_error", "Resource errors").leaf("stats/status/resource_error"),
    counter(18, "resource_nc_error", "Resource errors of cores").leaf("stats/status/resource_nc_error"),
    counter(19, "invalid_error", "Invalid requests").leaf("stats/status/invalid_error"),
    counter(20, "unsupported_neff_version", "NEFFs of an unsupported version").leaf("stats/status/unsupported_neff_version"),
    counter(21, "collective_time", "Time in collectives, accumulated"),
    counter(22, "device_mem_code", "Device memory of code, bytes"),
    counter(23, "device_mem_tensors", "Device memory of tensors, bytes"),
    counter(24, "device_mem_constants", "Device memory of constants, bytes"),
    counter(25, "device_mem_scratchpad", "Device memory of scratchpads, bytes"),
    counter(26, "device_mem_misc", "Other device memory, bytes"),
    counter(27, "model_load_count", "Models loaded").leaf("stats/other_info/model_load_count"),
    counter(28, "inference_count", "Inferences").leaf("stats/other_info/inference_count"),
    counter(29, "mac_count", "Multiply-accumulates; the leaf shows twice as many operations").leaf("stats/other_info/flop_count").twice(),
    counter(30, "oob_error", "Accesses out of bounds").leaf("stats/status/oob_error"),
    counter(31, "hw_collectives_error", "Hardware errors of collectives").leaf("stats/status/hw_collectives_error"),
    counter(32, "hw_hbm_ue_error", "Uncorrectable errors of device memory").leaf("stats/status/hw_hbm_ue_error"),
    counter(33, "hw_nc_ue_error", "Uncorrectable errors of the core").leaf("stats/status/hw_nc_ue_error"),
    counter(34, "hw_dma_abort_error", "Aborted DMA").leaf("stats/status/hw_dma_abort_error"),
    counter(35, "sw_nq_overflow", "Overflows of a notification queue").leaf("stats/status/execute_sw_nq_overflow"),
    counter(36, "sw_semaphore_error", "Semaphore errors").leaf("stats/status/execute_sw_semaphore_error"),
    counter(37, "sw_event_error", "Event errors").leaf("stats/status/execute_sw_event_error"),
    counter(38, "sw_psum_collision", "Collisions in PSUM").leaf("stats/status/execute_sw_psum_collision"),
    counter(39, "sw_sequencer_fatal", "Fatal errors of a sequencer").leaf("stats/status/execute_sw_sequencer_fatal"),
    counter(40, "hw_repairable_hbm_ue_error", "Uncorrectable but repairable errors of device memory").leaf("stats/status/hw_repairable_hbm_ue_error"),
];
