//! Memory levels that sysfs reports, in use now; each leaf also keeps the size
//! of its last change and the highest value seen.
//!
//! sysfs sums over all processes. What one process uses is in
//! [`super::datastore`], in coarser categories.

use super::row::{Kind, Metric, OF_CORE, OF_DEVICE, Unit, rows};

rows! {
    HOST_MEMORY_APPLICATION_MEMORY: "device.host_memory.application_memory", "application_memory", Level Bytes, OF_DEVICE,
        "driver.md §6.3", "Host memory used for the device by the runtime itself",
        leaf("stats/memory_usage/host_mem/application_memory");
    HOST_MEMORY_CONSTANTS: "device.host_memory.constants", "constants", Level Bytes, OF_DEVICE,
        "driver.md §6.3", "Host memory used for the device by constants",
        leaf("stats/memory_usage/host_mem/constants");
    HOST_MEMORY_DMA_BUFFERS: "device.host_memory.dma_buffers", "dma_buffers", Level Bytes, OF_DEVICE,
        "driver.md §6.3", "Host memory used for the device by code and DMA buffers",
        leaf("stats/memory_usage/host_mem/dma_buffers");
    HOST_MEMORY_DMA_RINGS: "device.host_memory.dma_rings", "dma_rings", Level Bytes, OF_DEVICE,
        "driver.md §6.3", "Host memory used for the device by DMA rings",
        leaf("stats/memory_usage/host_mem/dma_rings");
    HOST_MEMORY_DRIVER_MEMORY: "device.host_memory.driver_memory", "driver_memory", Level Bytes, OF_DEVICE,
        "driver.md §6.3", "Host memory used for the device by the driver, never zero",
        leaf("stats/memory_usage/host_mem/driver_memory");
    HOST_MEMORY_NOTIFICATIONS: "device.host_memory.notifications", "notifications", Level Bytes, OF_DEVICE,
        "driver.md §6.3", "Host memory used for the device by notification queues",
        leaf("stats/memory_usage/host_mem/notifications");
    HOST_MEMORY_TENSORS: "device.host_memory.tensors", "tensors", Level Bytes, OF_DEVICE,
        "driver.md §6.3", "Host memory used for the device by tensors",
        leaf("stats/memory_usage/host_mem/tensors");
    HOST_MEMORY_UNCATEGORIZED: "device.host_memory.uncategorized", "uncategorized", Level Bytes, OF_DEVICE,
        "driver.md §6.3", "Host memory used for the device by nothing of a known category",
        leaf("stats/memory_usage/host_mem/uncategorized");

    CORE_HOST_MEMORY: "core.host_memory", "host_mem", Level Bytes, OF_CORE,
        "driver.md §6.5", "Host memory used for the core, all categories",
        leaf("neuron_core/stats/memory_usage/host_mem");
    CORE_DEVICE_MEMORY: "core.device_memory", "device_mem", Level Bytes, OF_CORE,
        "driver.md §6.5", "Device memory used for the core, all categories",
        leaf("neuron_core/stats/memory_usage/device_mem");
    CORE_MEMORY_MODEL_CODE: "core.device_memory.model_code", "model_code", Level Bytes, OF_CORE,
        "driver.md §6.5", "Device memory used for the core by instructions",
        leaf("neuron_core/stats/memory_usage/device_mem/model_code"), prometheus("neuroncore_memory_usage_model_code");
    CORE_MEMORY_TENSORS: "core.device_memory.tensors", "tensors", Level Bytes, OF_CORE,
        "driver.md §6.5", "Device memory used for the core by tensors",
        leaf("neuron_core/stats/memory_usage/device_mem/tensors"), prometheus("neuroncore_memory_usage_tensors");
    CORE_MEMORY_CONSTANTS: "core.device_memory.constants", "constants", Level Bytes, OF_CORE,
        "driver.md §6.5", "Device memory used for the core by constants",
        leaf("neuron_core/stats/memory_usage/device_mem/constants"), prometheus("neuroncore_memory_usage_constants");
    CORE_MEMORY_MODEL_SHARED_SCRATCHPAD: "core.device_memory.model_shared_scratchpad", "model_shared_scratchpad", Level Bytes, OF_CORE,
        "driver.md §6.5", "Device memory used for the core by scratchpads that models share",
        leaf("neuron_core/stats/memory_usage/device_mem/model_shared_scratchpad"), prometheus("neuroncore_memory_usage_model_shared_scratchpad");
    CORE_MEMORY_RUNTIME_MEMORY: "core.device_memory.runtime_memory", "runtime_memory", Level Bytes, OF_CORE,
        "driver.md §6.5", "Device memory used for the core by the runtime itself",
        leaf("neuron_core/stats/memory_usage/device_mem/runtime_memory"), prometheus("neuroncore_memory_usage_runtime_memory");
    CORE_MEMORY_DRIVER_MEMORY: "core.device_memory.driver_memory", "driver_memory", Level Bytes, OF_CORE,
        "driver.md §6.5", "Device memory used for the core by the driver",
        leaf("neuron_core/stats/memory_usage/device_mem/driver_memory");
    CORE_MEMORY_COLLECTIVES: "core.device_memory.collectives", "collectives", Level Bytes, OF_CORE,
        "driver.md §6.5", "Device memory used for the core by collectives",
        leaf("neuron_core/stats/memory_usage/device_mem/collectives");
    CORE_MEMORY_NONSHARED_SCRATCHPAD: "core.device_memory.nonshared_scratchpad", "nonshared_scratchpad", Level Bytes, OF_CORE,
        "driver.md §6.5", "Device memory used for the core by scratchpads of one model",
        leaf("neuron_core/stats/memory_usage/device_mem/nonshared_scratchpad");
    CORE_MEMORY_NOTIFICATIONS: "core.device_memory.notifications", "notifications", Level Bytes, OF_CORE,
        "driver.md §6.5", "Device memory used for the core by notification queues",
        leaf("neuron_core/stats/memory_usage/device_mem/notifications");
    CORE_MEMORY_DMA_RINGS: "core.device_memory.dma_rings", "dma_rings", Level Bytes, OF_CORE,
        "driver.md §6.5", "Device memory used for the core by DMA rings",
        leaf("neuron_core/stats/memory_usage/device_mem/dma_rings");
    CORE_MEMORY_UNCATEGORIZED: "core.device_memory.uncategorized", "uncategorized", Level Bytes, OF_CORE,
        "driver.md §6.5", "Device memory used for the core by nothing of a known category",
        leaf("neuron_core/stats/memory_usage/device_mem/uncategorized");
}
