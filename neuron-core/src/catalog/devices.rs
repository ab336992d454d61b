//! Facts of the instance, its devices and their users: what neuron-ls shows.

use super::row::{Kind, Metric, OF_DEVICE, OF_INSTANCE, OF_PROCESS, Unit, rows};

rows! {
    INSTANCE_TYPE: "instance.type", "instance_type", Fact Text, OF_INSTANCE,
        "sys-tools.md §2.6", "EC2 instance type";
    INSTANCE_ID: "instance.id", "instance_id", Fact Text, OF_INSTANCE,
        "sys-tools.md §2.6", "EC2 instance id";
    DRIVER_VERSION: "instance.driver_version", "driver_version", Fact Text, OF_INSTANCE,
        "driver.md §8.2", "Version of the loaded kernel driver";
    SOURCE: "instance.source", "source", Fact Text, OF_INSTANCE,
        "sys-tools.md §12 (ours)", "What was read: the kernel driver, files below a root, or a simulated instance";
    LOGICAL_NC_CONFIG: "instance.logical_nc_config", "logical_neuroncore_config", Fact Number,
        OF_INSTANCE, "sys-tools.md §2.6",
        "Physical cores of one logical NeuronCore, where that can be configured";

    DEVICE_INDEX: "device.index", "neuron_device", Fact Number, OF_DEVICE,
        "sys-tools.md §2.3", "Index of the device as this process sees it",
        heading("NEURON", "DEVICE");
    DEVICE_CORES: "device.cores", "nc_count", Fact Number, OF_DEVICE,
        "sys-tools.md §2.3", "Logical NeuronCores of the device",
        heading("NEURON", "CORES");
    DEVICE_CORE_IDS: "device.core_ids", "neuroncore_ids", Fact Number, OF_DEVICE,
        "sys-tools.md §2.3", "Ids of the logical NeuronCores, counted over all visible devices",
        heading("NEURON", "CORE IDS");
    DEVICE_MEMORY: "device.memory", "memory_size", Fact Bytes, OF_DEVICE,
        "sys-tools.md §2.3", "Memory of the device",
        heading("NEURON", "MEMORY");
    DEVICE_CONNECTED: "device.connected", "connected_to", Fact Number, OF_DEVICE,
        "sys-tools.md §2.3", "Directly connected devices by their index on the host",
        heading("CONNECTED", "DEVICES");
    DEVICE_BDF: "device.bdf", "bdf", Fact Text, OF_DEVICE,
        "sys-tools.md §2.5", "PCI address of the device",
        heading("PCI", "BDF");
    DEVICE_CPU_AFFINITY: "device.cpu_affinity", "cpu_affinity", Fact Text, OF_DEVICE,
        "sys-tools.md §2.3", "CPUs near the device in the kernel's list format",
        heading("CPU", "AFFINITY");
    DEVICE_NUMA_NODE: "device.numa_node", "numa_node", Fact Text, OF_DEVICE,
        "sys-tools.md §2.3", "NUMA node of the device, -1 where the platform has none",
        heading("NUMA", "NODE");
    DEVICE_PROCESSES: "device.processes", "neuron_processes", Level Number, OF_DEVICE,
        "sys-tools.md §2.6", "Processes that are attached to the device";
    DEVICE_TYPE: "device.type", "device_type", Fact Text, OF_DEVICE,
        "sys-tools.md §4.13", "Product: inferentia, trainium, inferentia2, trainium2 or trainium3";
    DEVICE_ARCH: "device.arch", "arch", Fact Text, OF_DEVICE,
        "driver.md §1.2", "Generation as the driver numbers it, v1 to v4";
    DEVICE_HOST_INDEX: "device.host_index", "host_device", Fact Number, OF_DEVICE,
        "driver.md §7.6", "Index of the device on the host; differs from its index in a container";
    DEVICE_STATE: "device.state", "state", Level Text, OF_DEVICE,
        "driver.md §2.3", "State of the device: reset, ready, invalid or unresponsive";
    DEVICE_SERIAL_NUMBER: "device.serial_number", "serial_number", Fact Text, OF_DEVICE,
        "driver.md §6.2", "Serial number, 16 hexadecimal digits",
        leaf("info/serial_number");

    PROCESS_PID: "process.pid", "pid", Fact Number, OF_PROCESS,
        "sys-tools.md §2.3", "Process id in the host's pid namespace",
        heading("PID", "");
    PROCESS_COMMAND: "process.command", "command", Fact Text, OF_PROCESS,
        "sys-tools.md §2.4", "Arguments of the process joined by single spaces",
        heading("COMMAND", "");
    PROCESS_RUNTIME_VERSION: "process.runtime_version", "neuron_runtime_version", Fact Version,
        OF_PROCESS, "sys-tools.md §2.4",
        "Version of the Neuron runtime in the process, NA for a process without one",
        heading("RUNTIME", "VERSION"), nds_device(0);
    PROCESS_HOST_MEMORY: "process.host_memory", "host_memory", Level Bytes, OF_PROCESS,
        "driver.md §3.4", "Host memory that the driver charges to the process on this device";
    PROCESS_DEVICE_MEMORY: "process.device_memory", "device_memory", Level Bytes, OF_PROCESS,
        "driver.md §3.4", "Device memory that the driver charges to the process on this device";
    PROCESS_TAG: "process.tag", "tag", Fact Text, OF_PROCESS,
        "sys-tools.md §4.3", "Application tag, where the runtime shows it";
}
