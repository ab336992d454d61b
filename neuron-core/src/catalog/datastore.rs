//! What a process reports in its datastore and no leaf of sysfs repeats.

use super::row::{Kind, Metric, OF_PROCESS, OF_PROCESS_CORE, Unit, rows};

rows! {
    PROCESS_FRAMEWORK_VERSION: "process.datastore.framework_version", "framework_version", Fact Version, OF_PROCESS,
        "driver.md §5.4", "Version of the framework in the process", nds_device(1);
    PROCESS_FAL_VERSION: "process.datastore.fal_version", "fal_version", Fact Version, OF_PROCESS,
        "driver.md §5.4", "Version of the framework abstraction layer in the process", nds_device(2);
    PROCESS_FEATURES: "process.datastore.features", "features", Fact Number, OF_PROCESS,
        "driver.md §5.4", "Bitmap of the features that the process uses", nds_device(3);
    PROCESS_NEFF_VERSION_MIN: "process.datastore.neff_version_min", "neff_version_min", Level Number, OF_PROCESS,
        "driver.md §5.4", "Lowest NEFF version loaded", nds_device(4);
    PROCESS_NEFF_VERSION_MAX: "process.datastore.neff_version_max", "neff_version_max", Level Number, OF_PROCESS,
        "driver.md §5.4", "Highest NEFF version loaded", nds_device(5);
    PROCESS_HOST_CODE: "process.datastore.host_code", "host_code", Level Bytes, OF_PROCESS,
        "driver.md §5.4", "Host memory of the process: code", nds_device(6);
    PROCESS_HOST_TENSORS: "process.datastore.host_tensors", "host_tensors", Level Bytes, OF_PROCESS,
        "driver.md §5.4", "Host memory of the process: tensors", nds_device(7);
    PROCESS_HOST_CONSTANTS: "process.datastore.host_constants", "host_constants", Level Bytes, OF_PROCESS,
        "driver.md §5.4", "Host memory of the process: constants", nds_device(8);
    PROCESS_HOST_SCRATCHPAD: "process.datastore.host_scratchpad", "host_scratchpad", Level Bytes, OF_PROCESS,
        "driver.md §5.4", "Host memory of the process: scratchpad", nds_device(9);
    PROCESS_HOST_MISC: "process.datastore.host_misc", "host_misc", Level Bytes, OF_PROCESS,
        "driver.md §5.4", "Host memory of the process: everything else", nds_device(10);
    PROCESS_SYSFS_BITMAP: "process.datastore.sysfs_bitmap", "sysfs_bitmap", Fact Number, OF_PROCESS,
        "driver.md §5.4", "Bitmap of the optional sysfs leaves that the process asks for", nds_device(11);
    PROCESS_CLUSTER_ID: "process.datastore.cluster_id", "cluster_id", Fact Number, OF_PROCESS,
        "driver.md §5.4", "Id of the cluster that the device belongs to", nds_device(12);
    PROCESS_NEFF_ID: "process.datastore.neff_id", "neff_id", Level Number, OF_PROCESS,
        "driver.md §5.4", "Aggregated id of the NEFFs loaded, from driver 2.30", nds_device(13);

    PROCESS_CORE_ERROR_NUMERICAL: "process.core.error_numerical", "error_numerical", Counter Number, OF_PROCESS_CORE,
        "driver.md §5.5", "Errors of the kind numerical", nds_core(8), prometheus("execution_errors_total");
    PROCESS_CORE_ERROR_MODEL: "process.core.error_model", "error_model", Counter Number, OF_PROCESS_CORE,
        "driver.md §5.5", "Errors of the kind model", nds_core(9), prometheus("execution_errors_total");
    PROCESS_CORE_ERROR_TRANSIENT: "process.core.error_transient", "error_transient", Counter Number, OF_PROCESS_CORE,
        "driver.md §5.5", "Errors of the kind transient", nds_core(10), prometheus("execution_errors_total");
    PROCESS_CORE_ERROR_RUNTIME: "process.core.error_runtime", "error_runtime", Counter Number, OF_PROCESS_CORE,
        "driver.md §5.5", "Errors of the kind runtime", nds_core(12), prometheus("execution_errors_total");
    PROCESS_CORE_DEVICE_LATENCY: "process.core.device_latency", "device_latency", Counter Nanoseconds, OF_PROCESS_CORE,
        "driver.md §5.5", "Sum of the times that executions took on the device; the unit is our choice", nds_core(13);
    PROCESS_CORE_TOTAL_LATENCY: "process.core.total_latency", "total_latency", Counter Nanoseconds, OF_PROCESS_CORE,
        "driver.md §5.5", "Sum of the times from queueing to completion; the unit is our choice", nds_core(14);
    PROCESS_CORE_CORE_TIME: "process.core.core_time", "core_time", Counter Nanoseconds, OF_PROCESS_CORE,
        "driver.md §5.5", "Wall time against which the busy time is held; the unit is our choice", nds_core(15);
    PROCESS_CORE_COLLECTIVE_TIME: "process.core.collective_time", "collective_time", Counter Nanoseconds, OF_PROCESS_CORE,
        "driver.md §5.5", "Time spent in collectives; the unit is our choice", nds_core(21);
    PROCESS_CORE_MEMORY_CODE: "process.core.memory_code", "memory_code", Level Bytes, OF_PROCESS_CORE,
        "driver.md §5.5", "Device memory of the process on the core: code", nds_core(22);
    PROCESS_CORE_MEMORY_TENSORS: "process.core.memory_tensors", "memory_tensors", Level Bytes, OF_PROCESS_CORE,
        "driver.md §5.5", "Device memory of the process on the core: tensors", nds_core(23);
    PROCESS_CORE_MEMORY_CONSTANTS: "process.core.memory_constants", "memory_constants", Level Bytes, OF_PROCESS_CORE,
        "driver.md §5.5", "Device memory of the process on the core: constants", nds_core(24);
    PROCESS_CORE_MEMORY_SCRATCHPAD: "process.core.memory_scratchpad", "memory_scratchpad", Level Bytes, OF_PROCESS_CORE,
        "driver.md §5.5", "Device memory of the process on the core: scratchpad", nds_core(25);
    PROCESS_CORE_MEMORY_MISC: "process.core.memory_misc", "memory_misc", Level Bytes, OF_PROCESS_CORE,
        "driver.md §5.5", "Device memory of the process on the core: everything else", nds_core(26);
}
