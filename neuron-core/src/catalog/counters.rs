//! Counters of devices and physical cores that sysfs reports.
//!
//! Where the datastore holds the same count for each process, the row names
//! its id as well (driver.md §6.5): the leaf is their sum over processes.

use super::row::{Kind, Metric, OF_CORE, OF_DEVICE, Unit, rows};

rows! {
    STATUS_SUCCESS: "core.status.success", "success", Counter Number, OF_CORE,
        "driver.md §6.5", "Executions completed",
        leaf("neuron_core/stats/status/success"), nds_core(1), prometheus("execution_status_total");
    STATUS_COMPLETED_WITH_ERROR: "core.status.execute_completed_with_error", "execute_completed_with_error", Counter Number, OF_CORE,
        "driver.md §6.5", "Executions that completed with an error other than a numerical one",
        leaf("neuron_core/stats/status/execute_completed_with_error"), nds_core(2), prometheus("execution_status_total");
    STATUS_COMPLETED_WITH_NUM_ERROR: "core.status.execute_completed_with_num_error", "execute_completed_with_num_error", Counter Number, OF_CORE,
        "driver.md §6.5", "Executions that completed with a numerical error",
        leaf("neuron_core/stats/status/execute_completed_with_num_error"), nds_core(3), prometheus("execution_status_total");
    STATUS_TIMEOUT: "core.status.timeout", "timeout", Counter Number, OF_CORE,
        "driver.md §6.5", "Executions that ran over the runtime's time limit",
        leaf("neuron_core/stats/status/timeout"), nds_core(4), prometheus("execution_status_total");
    STATUS_BAD_INPUT: "core.status.exec_bad_input", "exec_bad_input", Counter Number, OF_CORE,
        "driver.md §6.5", "Executions not started because of their input",
        leaf("neuron_core/stats/status/exec_bad_input"), nds_core(5), prometheus("execution_status_total");
    STATUS_FAILED_TO_QUEUE: "core.status.execute_failed_to_queue", "execute_failed_to_queue", Counter Number, OF_CORE,
        "driver.md §6.5", "Executions that the queue refused",
        leaf("neuron_core/stats/status/execute_failed_to_queue"), nds_core(6), prometheus("execution_status_total");
    STATUS_GENERIC_ERROR: "core.status.generic_error", "generic_error", Counter Number, OF_CORE,
        "driver.md §6.5", "Errors of no other kind",
        leaf("neuron_core/stats/status/generic_error"), nds_core(7);
    STATUS_HW_ERROR: "core.status.hw_error", "hw_error", Counter Number, OF_CORE,
        "driver.md §6.5", "Hardware errors",
        leaf("neuron_core/stats/status/hw_error"), nds_core(11), prometheus("execution_errors_total");
    STATUS_FAILURE: "core.status.failure", "failure", Counter Number, OF_CORE,
        "driver.md §6.5", "Failures of no other kind",
        leaf("neuron_core/stats/status/failure"), nds_core(16);
    STATUS_RESOURCE_ERROR: "core.status.resource_error", "resource_error", Counter Number, OF_CORE,
        "driver.md §6.5", "Failures for want of a resource",
        leaf("neuron_core/stats/status/resource_error"), nds_core(17);
    STATUS_RESOURCE_NC_ERROR: "core.status.resource_nc_error", "resource_nc_error", Counter Number, OF_CORE,
        "driver.md §6.5", "Failures for want of a NeuronCore resource",
        leaf("neuron_core/stats/status/resource_nc_error"), nds_core(18);
    STATUS_INVALID_ERROR: "core.status.invalid_error", "invalid_error", Counter Number, OF_CORE,
        "driver.md §6.5", "Invalid requests or arguments",
        leaf("neuron_core/stats/status/invalid_error"), nds_core(19);
    STATUS_UNSUPPORTED_NEFF_VERSION: "core.status.unsupported_neff_version", "unsupported_neff_version", Counter Number, OF_CORE,
        "driver.md §6.5", "NEFFs refused for their version",
        leaf("neuron_core/stats/status/unsupported_neff_version"), nds_core(20);
    STATUS_OOB_ERROR: "core.status.oob_error", "oob_error", Counter Number, OF_CORE,
        "driver.md §6.5", "Accesses out of bounds",
        leaf("neuron_core/stats/status/oob_error"), nds_core(30);
    STATUS_HW_COLLECTIVES_ERROR: "core.status.hw_collectives_error", "hw_collectives_error", Counter Number, OF_CORE,
        "driver.md §6.5", "Hardware errors of collectives",
        leaf("neuron_core/stats/status/hw_collectives_error"), nds_core(31);
    STATUS_HW_HBM_UE_ERROR: "core.status.hw_hbm_ue_error", "hw_hbm_ue_error", Counter Number, OF_CORE,
        "driver.md §6.5", "Uncorrectable errors of device memory",
        leaf("neuron_core/stats/status/hw_hbm_ue_error"), nds_core(32);
    STATUS_HW_NC_UE_ERROR: "core.status.hw_nc_ue_error", "hw_nc_ue_error", Counter Number, OF_CORE,
        "driver.md §6.5", "Uncorrectable errors of a NeuronCore",
        leaf("neuron_core/stats/status/hw_nc_ue_error"), nds_core(33);
    STATUS_HW_DMA_ABORT_ERROR: "core.status.hw_dma_abort_error", "hw_dma_abort_error", Counter Number, OF_CORE,
        "driver.md §6.5", "DMA transfers that were aborted",
        leaf("neuron_core/stats/status/hw_dma_abort_error"), nds_core(34);
    STATUS_SW_NQ_OVERFLOW: "core.status.execute_sw_nq_overflow", "execute_sw_nq_overflow", Counter Number, OF_CORE,
        "driver.md §6.5", "Notification queues that overflowed",
        leaf("neuron_core/stats/status/execute_sw_nq_overflow"), nds_core(35);
    STATUS_SW_SEMAPHORE_ERROR: "core.status.execute_sw_semaphore_error", "execute_sw_semaphore_error", Counter Number, OF_CORE,
        "driver.md §6.5", "Semaphore errors of a program",
        leaf("neuron_core/stats/status/execute_sw_semaphore_error"), nds_core(36);
    STATUS_SW_EVENT_ERROR: "core.status.execute_sw_event_error", "execute_sw_event_error", Counter Number, OF_CORE,
        "driver.md §6.5", "Event errors of a program",
        leaf("neuron_core/stats/status/execute_sw_event_error"), nds_core(37);
    STATUS_SW_PSUM_COLLISION: "core.status.execute_sw_psum_collision", "execute_sw_psum_collision", Counter Number, OF_CORE,
        "driver.md §6.5", "PSUM collisions of a program",
        leaf("neuron_core/stats/status/execute_sw_psum_collision"), nds_core(38);
    STATUS_SW_SEQUENCER_FATAL: "core.status.execute_sw_sequencer_fatal", "execute_sw_sequencer_fatal", Counter Number, OF_CORE,
        "driver.md §6.5", "Fatal sequencer errors of a program",
        leaf("neuron_core/stats/status/execute_sw_sequencer_fatal"), nds_core(39);
    STATUS_HW_REPAIRABLE_HBM_UE_ERROR: "core.status.hw_repairable_hbm_ue_error", "hw_repairable_hbm_ue_error", Counter Number, OF_CORE,
        "driver.md §6.5", "Uncorrectable but repairable errors of device memory",
        leaf("neuron_core/stats/status/hw_repairable_hbm_ue_error"), nds_core(40);

    OTHER_MODEL_LOAD_COUNT: "core.other.model_load_count", "model_load_count", Counter Number, OF_CORE,
        "driver.md §6.5", "Models loaded",
        leaf("neuron_core/stats/other_info/model_load_count"), nds_core(27);
    OTHER_INFERENCE_COUNT: "core.other.inference_count", "inference_count", Counter Number, OF_CORE,
        "driver.md §6.5", "Inferences run",
        leaf("neuron_core/stats/other_info/inference_count"), nds_core(28);
    OTHER_FLOP_COUNT: "core.other.flop_count", "flop_count", Counter Flops, OF_CORE,
        "driver.md §6.5", "Floating-point operations, two for each multiply-accumulate that the datastore counts",
        leaf("neuron_core/stats/other_info/flop_count"), nds_core(29);
    OTHER_TIME_IN_USE: "core.other.nc_time_in_use", "nc_time_in_use", Counter Nanoseconds, OF_CORE,
        "driver.md §6.5", "Time during which the core was busy; the unit is not published, nanoseconds are our choice",
        leaf("neuron_core/stats/other_info/nc_time_in_use"), nds_core(0);
    OTHER_RESET_REQ_COUNT: "core.other.reset_req_count", "reset_req_count", Counter Number, OF_CORE,
        "driver.md §6.5", "Resets asked for",
        leaf("neuron_core/stats/other_info/reset_req_count");
    OTHER_RESET_FAIL_COUNT: "core.other.reset_fail_count", "reset_fail_count", Counter Number, OF_CORE,
        "driver.md §6.5", "Resets that failed",
        leaf("neuron_core/stats/other_info/reset_fail_count");

    TENSOR_ENGINE_MM_ACTIVE: "core.tensor_engine.mm_active", "mm_active", Counter Number,
        &["neuron_device_index", "neuroncore", "row_group"],
        "driver.md §6.6", "Tensor Engine activity of a row group: matrix multiply",
        leaf("neuron_core/stats/tensor_engine/pe_cntrs");
    TENSOR_ENGINE_WL_ACTIVE: "core.tensor_engine.wl_active", "wl_active", Counter Number,
        &["neuron_device_index", "neuroncore", "row_group"],
        "driver.md §6.6", "Tensor Engine activity of a row group: loading weights",
        leaf("neuron_core/stats/tensor_engine/pe_cntrs");
    TENSOR_ENGINE_IDLE: "core.tensor_engine.idle", "idle", Counter Number,
        &["neuron_device_index", "neuroncore", "row_group"],
        "driver.md §6.6", "Tensor Engine activity of a row group: idle",
        leaf("neuron_core/stats/tensor_engine/pe_cntrs");

    HARDWARE_SRAM_ECC_UNCORRECTED: "device.hardware.sram_ecc_uncorrected", "sram_ecc_uncorrected", Counter Number, OF_DEVICE,
        "driver.md §6.3", "Uncorrected ECC errors of on-chip SRAM",
        leaf("stats/hardware/sram_ecc_uncorrected"), prometheus("hardware_ecc_events_total");
    HARDWARE_SRAM_ECC_CORRECTED: "device.hardware.sram_ecc_corrected", "sram_ecc_corrected", Counter Number, OF_DEVICE,
        "driver.md §6.3", "Corrected ECC errors of on-chip SRAM, from driver 2.30.2",
        leaf("stats/hardware/sram_ecc_corrected"), prometheus("hardware_ecc_events_total");
    HARDWARE_MEM_ECC_UNCORRECTED: "device.hardware.mem_ecc_uncorrected", "mem_ecc_uncorrected", Counter Number, OF_DEVICE,
        "driver.md §6.3", "Uncorrected ECC errors of device memory",
        leaf("stats/hardware/mem_ecc_uncorrected"), prometheus("hardware_ecc_events_total");
    HARDWARE_MEM_ECC_CORRECTED: "device.hardware.mem_ecc_corrected", "mem_ecc_corrected", Counter Number, OF_DEVICE,
        "driver.md §6.3", "Corrected ECC errors of device memory, from driver 2.30.2",
        leaf("stats/hardware/mem_ecc_corrected"), prometheus("hardware_ecc_events_total");
    HARDWARE_MEM_ECC_REPAIRABLE_UNCORRECTED: "device.hardware.mem_ecc_repairable_uncorrected", "mem_ecc_repairable_uncorrected", Counter Number, OF_DEVICE,
        "driver.md §6.3", "Uncorrected ECC errors of device memory that a repair can mend",
        leaf("stats/hardware/mem_ecc_repairable_uncorrected");
    HARDWARE_UNHEALTHY_COMPONENTS: "device.hardware.unhealthy_components", "unhealthy_components",
        Fact Text, OF_DEVICE,
        "driver.md §6.3", "Components that firmware calls unhealthy, none when healthy",
        leaf("stats/hardware/health_status/unhealthy_components");

    POWER_STATUS: "device.power.status", "power_status", Fact Text, OF_DEVICE,
        "driver.md §6.6", "Whether the power figures of the last full minute hold",
        leaf("stats/power/utilization");
    POWER_EPOCH: "device.power.epoch_seconds", "power_epoch_seconds", Level Number, OF_DEVICE,
        "driver.md §6.6", "End of the minute of the power figures, seconds since the Unix epoch",
        leaf("stats/power/utilization");
    POWER_MIN: "device.power.min", "power_min_percent", Level Percent, OF_DEVICE,
        "driver.md §6.6", "Lowest power within the minute, of the maximum",
        leaf("stats/power/utilization");
    POWER_MAX: "device.power.max", "power_max_percent", Level Percent, OF_DEVICE,
        "driver.md §6.6", "Highest power within the minute, of the maximum",
        leaf("stats/power/utilization");
    POWER_AVG: "device.power.avg", "power_avg_percent", Level Percent, OF_DEVICE,
        "driver.md §6.6", "Mean power of the minute, of the maximum",
        leaf("stats/power/utilization");
}
