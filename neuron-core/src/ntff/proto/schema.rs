// Generated from proto/ntff.proto by tests/ntff_generated.rs; do not edit.

use super::messages;
use super::table::{Enum, Field, Kind, Message};

/// The enum `BlockType`.
pub static BLOCK_TYPE: Enum = Enum {
    name: "BlockType",
    values: &[
        (0, "NC"),
        (1, "DMA"),
        (2, "TOPSP"),
    ],
};

/// The enum `CollectivesPacketType`.
pub static COLLECTIVES_PACKET_TYPE: Enum = Enum {
    name: "CollectivesPacketType",
    values: &[
        (0, "MEMCPY"),
        (1, "ADD"),
        (2, "SEMA_UPDATE_RECV"),
        (3, "SEMA_UPDATE_SEND"),
        (4, "NET_IDX_UPDATE"),
    ],
};

/// The enum `DmaQueueType`.
pub static DMA_QUEUE_TYPE: Enum = Enum {
    name: "DmaQueueType",
    values: &[
        (0, "UNKNOWN"),
        (1, "INSTRUCTIONS"),
        (2, "WEIGHTS"),
        (3, "INPUT"),
        (4, "OUTPUT"),
        (6, "H2T"),
    ],
};

/// The enum `InstructionPatchType`.
pub static INSTRUCTION_PATCH_TYPE: Enum = Enum {
    name: "InstructionPatchType",
    values: &[
        (0, "INSERT"),
        (1, "MODIFY"),
        (2, "DELETE"),
    ],
};

/// The enum `NcEngineType`.
pub static NC_ENGINE_TYPE: Enum = Enum {
    name: "NcEngineType",
    values: &[
        (0, "PE"),
        (1, "ACT"),
        (2, "POOL"),
        (3, "DVE"),
        (4, "SP"),
    ],
};

/// The enum `NotificationTraceType`.
pub static NOTIFICATION_TRACE_TYPE: Enum = Enum {
    name: "NotificationTraceType",
    values: &[
        (0, "INSTRUCTION"),
        (1, "EVENT"),
        (2, "ERROR"),
        (3, "EXPLICIT"),
        (4, "DMA"),
        (5, "THROTTLE"),
    ],
};

/// The enum `NtraceEventPhaseType`.
pub static NTRACE_EVENT_PHASE_TYPE: Enum = Enum {
    name: "NtraceEventPhaseType",
    values: &[
        (0, "INVALID"),
        (1, "START"),
        (2, "STOP"),
        (3, "INSTANT"),
    ],
};

/// The message `BlockTimestampInfo`.
pub static BLOCK_TIMESTAMP_INFO: Message = Message {
    name: "BlockTimestampInfo",
    memory: size_of::<messages::BlockTimestampInfo>(),
    fields: &[
        Field { number: 1, name: "init_timestamp", repeated: false, kind: Kind::Uint64 },
        Field { number: 2, name: "actual_timestamp_inc", repeated: false, kind: Kind::Uint64 },
        Field { number: 3, name: "expected_timestamp_inc", repeated: false, kind: Kind::Uint64 },
    ],
};

/// The message `CollectivesChannel`.
pub static COLLECTIVES_CHANNEL: Message = Message {
    name: "CollectivesChannel",
    memory: size_of::<messages::CollectivesChannel>(),
    fields: &[
        Field { number: 1, name: "name", repeated: false, kind: Kind::String },
        Field { number: 3, name: "subchannels", repeated: true, kind: Kind::Message(&COLLECTIVES_SUBCHANNEL) },
        Field { number: 4, name: "engine_index", repeated: false, kind: Kind::Uint32 },
    ],
};

/// The message `CollectivesCommInfo`.
pub static COLLECTIVES_COMM_INFO: Message = Message {
    name: "CollectivesCommInfo",
    memory: size_of::<messages::CollectivesCommInfo>(),
    fields: &[
        Field { number: 1, name: "id", repeated: false, kind: Kind::Uint64 },
        Field { number: 2, name: "rank", repeated: false, kind: Kind::Uint64 },
        Field { number: 3, name: "rank_n", repeated: false, kind: Kind::Uint64 },
        Field { number: 4, name: "node_n", repeated: false, kind: Kind::Uint64 },
        Field { number: 5, name: "local_rank_n", repeated: false, kind: Kind::Uint64 },
        Field { number: 6, name: "stream_id", repeated: false, kind: Kind::Uint64 },
    ],
};

/// The message `CollectivesDmaPackets`.
pub static COLLECTIVES_DMA_PACKETS: Message = Message {
    name: "CollectivesDmaPackets",
    memory: size_of::<messages::CollectivesDmaPackets>(),
    fields: &[
        Field { number: 1, name: "type", repeated: false, kind: Kind::Enum(&COLLECTIVES_PACKET_TYPE) },
        Field { number: 2, name: "size", repeated: false, kind: Kind::Uint64 },
        Field { number: 3, name: "neigh", repeated: false, kind: Kind::Uint64 },
        Field { number: 4, name: "sema_update", repeated: false, kind: Kind::Message(&COLLECTIVES_SEMAPHORE_UPDATE) },
        Field { number: 5, name: "net_idx_update", repeated: false, kind: Kind::Message(&COLLECTIVES_NET_IDX_UPDATE) },
        Field { number: 6, name: "op_idx", repeated: false, kind: Kind::Uint64 },
        Field { number: 7, name: "stream_idx", repeated: false, kind: Kind::Uint64 },
    ],
};

/// The message `CollectivesInfo`.
pub static COLLECTIVES_INFO: Message = Message {
    name: "CollectivesInfo",
    memory: size_of::<messages::CollectivesInfo>(),
    fields: &[
        Field { number: 1, name: "channels", repeated: true, kind: Kind::Message(&COLLECTIVES_CHANNEL) },
        Field { number: 2, name: "topsp", repeated: true, kind: Kind::Message(&ENGINE_INSTRUCTION_INFO) },
    ],
};

/// The message `CollectivesNetIdxUpdate`.
pub static COLLECTIVES_NET_IDX_UPDATE: Message = Message {
    name: "CollectivesNetIdxUpdate",
    memory: size_of::<messages::CollectivesNetIdxUpdate>(),
    fields: &[
    ],
};

/// The message `CollectivesOp`.
pub static COLLECTIVES_OP: Message = Message {
    name: "CollectivesOp",
    memory: size_of::<messages::CollectivesOp>(),
    fields: &[
        Field { number: 1, name: "type", repeated: false, kind: Kind::Uint64 },
        Field { number: 2, name: "algorithm", repeated: false, kind: Kind::Uint64 },
        Field { number: 3, name: "num_elements", repeated: false, kind: Kind::Uint64 },
        Field { number: 4, name: "comm_id", repeated: false, kind: Kind::Uint64 },
        Field { number: 5, name: "data_type", repeated: false, kind: Kind::Uint64 },
        Field { number: 6, name: "algorithm_name", repeated: false, kind: Kind::String },
    ],
};

/// The message `CollectivesOpInfo`.
pub static COLLECTIVES_OP_INFO: Message = Message {
    name: "CollectivesOpInfo",
    memory: size_of::<messages::CollectivesOpInfo>(),
    fields: &[
    ],
};

/// The message `CollectivesOpTrace`.
pub static COLLECTIVES_OP_TRACE: Message = Message {
    name: "CollectivesOpTrace",
    memory: size_of::<messages::CollectivesOpTrace>(),
    fields: &[
    ],
};

/// The message `CollectivesSemaphore`.
pub static COLLECTIVES_SEMAPHORE: Message = Message {
    name: "CollectivesSemaphore",
    memory: size_of::<messages::CollectivesSemaphore>(),
    fields: &[
    ],
};

/// The message `CollectivesSemaphoreUpdate`.
pub static COLLECTIVES_SEMAPHORE_UPDATE: Message = Message {
    name: "CollectivesSemaphoreUpdate",
    memory: size_of::<messages::CollectivesSemaphoreUpdate>(),
    fields: &[
    ],
};

/// The message `CollectivesStreamInfo`.
pub static COLLECTIVES_STREAM_INFO: Message = Message {
    name: "CollectivesStreamInfo",
    memory: size_of::<messages::CollectivesStreamInfo>(),
    fields: &[
        Field { number: 1, name: "cc_core_id", repeated: true, kind: Kind::Uint64 },
        Field { number: 2, name: "id", repeated: false, kind: Kind::Bytes },
    ],
};

/// The message `CollectivesSubchannel`.
pub static COLLECTIVES_SUBCHANNEL: Message = Message {
    name: "CollectivesSubchannel",
    memory: size_of::<messages::CollectivesSubchannel>(),
    fields: &[
        Field { number: 1, name: "index", repeated: false, kind: Kind::Uint64 },
        Field { number: 2, name: "dma", repeated: false, kind: Kind::Bytes },
        Field { number: 3, name: "semaphore", repeated: true, kind: Kind::Message(&COLLECTIVES_SEMAPHORE) },
        Field { number: 4, name: "packets", repeated: true, kind: Kind::Message(&COLLECTIVES_DMA_PACKETS) },
    ],
};

/// The message `CpuNodeInfo`.
pub static CPU_NODE_INFO: Message = Message {
    name: "CpuNodeInfo",
    memory: size_of::<messages::CpuNodeInfo>(),
    fields: &[
    ],
};

/// The message `CpuUtil`.
pub static CPU_UTIL: Message = Message {
    name: "CpuUtil",
    memory: size_of::<messages::CpuUtil>(),
    fields: &[
        Field { number: 1, name: "value", repeated: false, kind: Kind::Float },
        Field { number: 2, name: "timestamp", repeated: false, kind: Kind::Uint64 },
        Field { number: 3, name: "cpu", repeated: false, kind: Kind::Uint32 },
    ],
};

/// The message `DescBlockInfo`.
pub static DESC_BLOCK_INFO: Message = Message {
    name: "DescBlockInfo",
    memory: size_of::<messages::DescBlockInfo>(),
    fields: &[
        Field { number: 1, name: "block_id", repeated: false, kind: Kind::Uint64 },
        Field { number: 2, name: "packet_count", repeated: false, kind: Kind::Uint64 },
        Field { number: 3, name: "m2s_desc_count", repeated: false, kind: Kind::Uint64 },
        Field { number: 4, name: "s2m_desc_count", repeated: false, kind: Kind::Uint64 },
        Field { number: 5, name: "function_name", repeated: false, kind: Kind::String },
    ],
};

/// The message `DmaQueueUsageInfo`.
pub static DMA_QUEUE_USAGE_INFO: Message = Message {
    name: "DmaQueueUsageInfo",
    memory: size_of::<messages::DmaQueueUsageInfo>(),
    fields: &[
        Field { number: 1, name: "engine_index", repeated: false, kind: Kind::Uint32 },
        Field { number: 2, name: "queue_index", repeated: false, kind: Kind::Uint32 },
        Field { number: 3, name: "queue_type", repeated: false, kind: Kind::Enum(&DMA_QUEUE_TYPE) },
        Field { number: 4, name: "name", repeated: false, kind: Kind::String },
        Field { number: 5, name: "dma_tracing_event_id", repeated: false, kind: Kind::Int32 },
        Field { number: 6, name: "axi_port", repeated: false, kind: Kind::Uint32 },
        Field { number: 7, name: "dram_channel", repeated: false, kind: Kind::Uint32 },
        Field { number: 8, name: "desc_block_info", repeated: true, kind: Kind::Message(&DESC_BLOCK_INFO) },
    ],
};

/// The message `EngineInstructionInfo`.
pub static ENGINE_INSTRUCTION_INFO: Message = Message {
    name: "EngineInstructionInfo",
    memory: size_of::<messages::EngineInstructionInfo>(),
    fields: &[
        Field { number: 1, name: "nc_engine_type", repeated: false, kind: Kind::Enum(&NC_ENGINE_TYPE) },
        Field { number: 2, name: "start_address", repeated: false, kind: Kind::Uint64 },
        Field { number: 3, name: "instructions", repeated: false, kind: Kind::Bytes },
        Field { number: 4, name: "engine_index", repeated: false, kind: Kind::Uint32 },
        Field { number: 5, name: "block_type", repeated: false, kind: Kind::Enum(&BLOCK_TYPE) },
        Field { number: 6, name: "function_section", repeated: false, kind: Kind::Bool },
        Field { number: 7, name: "instructions_offset", repeated: false, kind: Kind::Uint64 },
        Field { number: 8, name: "instructions_size", repeated: false, kind: Kind::Uint64 },
    ],
};

/// The message `ExecutionInfo`.
pub static EXECUTION_INFO: Message = Message {
    name: "ExecutionInfo",
    memory: size_of::<messages::ExecutionInfo>(),
    fields: &[
        Field { number: 1, name: "neff_uuid", repeated: false, kind: Kind::Bytes },
        Field { number: 2, name: "start", repeated: false, kind: Kind::Uint64 },
        Field { number: 3, name: "end", repeated: false, kind: Kind::Uint64 },
    ],
};

/// The message `HostMemUsage`.
pub static HOST_MEM_USAGE: Message = Message {
    name: "HostMemUsage",
    memory: size_of::<messages::HostMemUsage>(),
    fields: &[
        Field { number: 1, name: "bytes_used", repeated: false, kind: Kind::Uint64 },
        Field { number: 2, name: "timestamp", repeated: false, kind: Kind::Uint64 },
    ],
};

/// The message `HostStats`.
pub static HOST_STATS: Message = Message {
    name: "HostStats",
    memory: size_of::<messages::HostStats>(),
    fields: &[
        Field { number: 1, name: "cpu_count", repeated: false, kind: Kind::Uint32 },
        Field { number: 2, name: "cpu_name", repeated: false, kind: Kind::String },
        Field { number: 3, name: "memory_bytes", repeated: false, kind: Kind::Uint64 },
        Field { number: 4, name: "cpu_period", repeated: false, kind: Kind::Float },
        Field { number: 5, name: "memory_period", repeated: false, kind: Kind::Float },
        Field { number: 6, name: "cpu_file", repeated: false, kind: Kind::Message(&NTRACE_DATA_FILE) },
        Field { number: 7, name: "memory_file", repeated: false, kind: Kind::Message(&NTRACE_DATA_FILE) },
    ],
};

/// The message `InstructionPatchInfo`.
pub static INSTRUCTION_PATCH_INFO: Message = Message {
    name: "InstructionPatchInfo",
    memory: size_of::<messages::InstructionPatchInfo>(),
    fields: &[
        Field { number: 1, name: "engine", repeated: false, kind: Kind::Enum(&NC_ENGINE_TYPE) },
        Field { number: 2, name: "locations", repeated: true, kind: Kind::Message(&INSTRUCTION_PATCH_LOCATION) },
    ],
};

/// The message `InstructionPatchLocation`.
pub static INSTRUCTION_PATCH_LOCATION: Message = Message {
    name: "InstructionPatchLocation",
    memory: size_of::<messages::InstructionPatchLocation>(),
    fields: &[
        Field { number: 1, name: "offset", repeated: false, kind: Kind::Uint64 },
        Field { number: 2, name: "count", repeated: false, kind: Kind::Uint64 },
        Field { number: 3, name: "type", repeated: false, kind: Kind::Enum(&INSTRUCTION_PATCH_TYPE) },
    ],
};

/// The message `InternedDataDb`.
pub static INTERNED_DATA_DB: Message = Message {
    name: "InternedDataDb",
    memory: size_of::<messages::InternedDataDb>(),
    fields: &[
        Field { number: 1, name: "name", repeated: false, kind: Kind::String },
        Field { number: 2, name: "entries", repeated: true, kind: Kind::Message(&INTERNED_DATA_DB_ENTRIES_ENTRY) },
    ],
};

/// The message `InternedDataDb.EntriesEntry`.
pub static INTERNED_DATA_DB_ENTRIES_ENTRY: Message = Message {
    name: "InternedDataDb.EntriesEntry",
    memory: 2 * size_of::<(String, String)>(),
    fields: &[
        Field { number: 1, name: "key", repeated: false, kind: Kind::Uint64 },
        Field { number: 2, name: "value", repeated: false, kind: Kind::String },
    ],
};

/// The message `NcMemoryUsage`.
pub static NC_MEMORY_USAGE: Message = Message {
    name: "NcMemoryUsage",
    memory: size_of::<messages::NcMemoryUsage>(),
    fields: &[
        Field { number: 1, name: "usage_type", repeated: false, kind: Kind::Uint32 },
        Field { number: 2, name: "bytes", repeated: false, kind: Kind::Uint64 },
        Field { number: 3, name: "usage_name", repeated: false, kind: Kind::String },
    ],
};

/// The message `NcTimestampInfo`.
pub static NC_TIMESTAMP_INFO: Message = Message {
    name: "NcTimestampInfo",
    memory: size_of::<messages::NcTimestampInfo>(),
    fields: &[
        Field { number: 1, name: "pe", repeated: false, kind: Kind::Message(&BLOCK_TIMESTAMP_INFO) },
        Field { number: 2, name: "act", repeated: false, kind: Kind::Message(&BLOCK_TIMESTAMP_INFO) },
        Field { number: 3, name: "dve", repeated: false, kind: Kind::Message(&BLOCK_TIMESTAMP_INFO) },
        Field { number: 4, name: "pool", repeated: false, kind: Kind::Message(&BLOCK_TIMESTAMP_INFO) },
        Field { number: 5, name: "sp", repeated: false, kind: Kind::Message(&BLOCK_TIMESTAMP_INFO) },
        Field { number: 6, name: "clock_6", repeated: false, kind: Kind::Message(&BLOCK_TIMESTAMP_INFO) },
        Field { number: 7, name: "throttle", repeated: false, kind: Kind::Message(&BLOCK_TIMESTAMP_INFO) },
        Field { number: 8, name: "dma", repeated: true, kind: Kind::Message(&BLOCK_TIMESTAMP_INFO) },
        Field { number: 9, name: "topsp", repeated: false, kind: Kind::Message(&BLOCK_TIMESTAMP_INFO) },
    ],
};

/// The message `NdNodeInfo`.
pub static ND_NODE_INFO: Message = Message {
    name: "NdNodeInfo",
    memory: size_of::<messages::NdNodeInfo>(),
    fields: &[
        Field { number: 1, name: "graphs", repeated: true, kind: Kind::Message(&SUBGRAPH_INFO) },
    ],
};

/// The message `NeffNodeInfo`.
pub static NEFF_NODE_INFO: Message = Message {
    name: "NeffNodeInfo",
    memory: size_of::<messages::NeffNodeInfo>(),
    fields: &[
        Field { number: 2, name: "runtime_latency", repeated: false, kind: Kind::Double },
        Field { number: 3, name: "cpu_node", repeated: false, kind: Kind::Message(&CPU_NODE_INFO) },
        Field { number: 4, name: "nd_node", repeated: false, kind: Kind::Message(&ND_NODE_INFO) },
        Field { number: 5, name: "uid", repeated: false, kind: Kind::Bytes },
        Field { number: 6, name: "outcc", repeated: false, kind: Kind::Message(&OUTCC_INFO) },
    ],
};

/// The message `NotificationBufferSize`.
pub static NOTIFICATION_BUFFER_SIZE: Message = Message {
    name: "NotificationBufferSize",
    memory: size_of::<messages::NotificationBufferSize>(),
    fields: &[
        Field { number: 1, name: "block_type", repeated: false, kind: Kind::Enum(&BLOCK_TYPE) },
        Field { number: 2, name: "trace_type", repeated: false, kind: Kind::Enum(&NOTIFICATION_TRACE_TYPE) },
        Field { number: 3, name: "buffer_size", repeated: false, kind: Kind::Uint64 },
    ],
};

/// The message `NtffInfo`.
pub static NTFF_INFO: Message = Message {
    name: "NtffInfo",
    memory: size_of::<messages::NtffInfo>(),
    fields: &[
        Field { number: 1, name: "neff_name", repeated: false, kind: Kind::String },
        Field { number: 2, name: "neff_uuid_text", repeated: false, kind: Kind::Bytes },
        Field { number: 3, name: "id", repeated: false, kind: Kind::Uint64 },
        Field { number: 4, name: "neff_nodes", repeated: true, kind: Kind::Message(&NEFF_NODE_INFO) },
        Field { number: 5, name: "arch", repeated: false, kind: Kind::Uint64 },
        Field { number: 7, name: "profile_start_time", repeated: false, kind: Kind::Uint64 },
        Field { number: 8, name: "neuron_runtime_version", repeated: false, kind: Kind::Message(&VERSION_INFO) },
        Field { number: 9, name: "instance_type", repeated: false, kind: Kind::String },
        Field { number: 10, name: "ncfw_notification_version", repeated: false, kind: Kind::Uint64 },
        Field { number: 11, name: "neuron_driver_version", repeated: false, kind: Kind::Message(&VERSION_INFO) },
        Field { number: 12, name: "neuron_collectives_version", repeated: false, kind: Kind::Message(&VERSION_INFO) },
        Field { number: 13, name: "notification_buffer_size", repeated: true, kind: Kind::Message(&NOTIFICATION_BUFFER_SIZE) },
        Field { number: 14, name: "ultraserver_info", repeated: false, kind: Kind::Message(&ULTRASERVER_INFO) },
        Field { number: 15, name: "execution_timeline", repeated: true, kind: Kind::Message(&EXECUTION_INFO) },
        Field { number: 16, name: "session_notifications", repeated: true, kind: Kind::Message(&TRACE_INFO) },
        Field { number: 17, name: "instance_id", repeated: false, kind: Kind::String },
        Field { number: 18, name: "pid", repeated: false, kind: Kind::Uint64 },
    ],
};

/// The message `NtraceDataFile`.
pub static NTRACE_DATA_FILE: Message = Message {
    name: "NtraceDataFile",
    memory: size_of::<messages::NtraceDataFile>(),
    fields: &[
        Field { number: 1, name: "path", repeated: false, kind: Kind::String },
        Field { number: 2, name: "kind", repeated: false, kind: Kind::Uint32 },
        Field { number: 3, name: "frame_count", repeated: false, kind: Kind::Uint64 },
    ],
};

/// The message `NtraceEvent`.
pub static NTRACE_EVENT: Message = Message {
    name: "NtraceEvent",
    memory: size_of::<messages::NtraceEvent>(),
    fields: &[
        Field { number: 2, name: "timestamp", repeated: false, kind: Kind::Uint64 },
        Field { number: 7, name: "event_type", repeated: false, kind: Kind::Uint32 },
        Field { number: 9, name: "thread_id", repeated: false, kind: Kind::Uint64 },
        Field { number: 10, name: "id", repeated: false, kind: Kind::Uint64 },
        Field { number: 12, name: "attributes", repeated: true, kind: Kind::Message(&NTRACE_EVENT_ATTRIBUTES_ENTRY) },
        Field { number: 14, name: "phase", repeated: false, kind: Kind::Enum(&NTRACE_EVENT_PHASE_TYPE) },
        Field { number: 15, name: "tracking_id", repeated: false, kind: Kind::Uint64 },
        Field { number: 16, name: "nrta_seq_id", repeated: false, kind: Kind::Uint64 },
    ],
};

/// The message `NtraceEvent.AttributesEntry`.
pub static NTRACE_EVENT_ATTRIBUTES_ENTRY: Message = Message {
    name: "NtraceEvent.AttributesEntry",
    memory: 2 * size_of::<(String, String)>(),
    fields: &[
        Field { number: 1, name: "key", repeated: false, kind: Kind::String },
        Field { number: 2, name: "value", repeated: false, kind: Kind::String },
    ],
};

/// The message `NtraceInfo`.
pub static NTRACE_INFO: Message = Message {
    name: "NtraceInfo",
    memory: size_of::<messages::NtraceInfo>(),
    fields: &[
        Field { number: 1, name: "data_version", repeated: false, kind: Kind::Uint64 },
        Field { number: 2, name: "pid", repeated: false, kind: Kind::Uint64 },
        Field { number: 4, name: "instance_id", repeated: false, kind: Kind::String },
        Field { number: 6, name: "event_file", repeated: false, kind: Kind::Message(&NTRACE_DATA_FILE) },
        Field { number: 7, name: "host_stats", repeated: false, kind: Kind::Message(&HOST_STATS) },
        Field { number: 9, name: "arch", repeated: false, kind: Kind::Uint64 },
        Field { number: 10, name: "interned_data", repeated: true, kind: Kind::Message(&INTERNED_DATA_DB) },
        Field { number: 11, name: "start_time", repeated: false, kind: Kind::Uint64 },
        Field { number: 12, name: "stop_time", repeated: false, kind: Kind::Uint64 },
        Field { number: 13, name: "host_address", repeated: false, kind: Kind::String },
        Field { number: 14, name: "event_count", repeated: false, kind: Kind::Uint64 },
        Field { number: 15, name: "instance_type", repeated: false, kind: Kind::String },
        Field { number: 16, name: "logical_core_size", repeated: false, kind: Kind::Uint64 },
        Field { number: 17, name: "host_name", repeated: false, kind: Kind::String },
        Field { number: 18, name: "ultraserver_info", repeated: false, kind: Kind::Message(&ULTRASERVER_INFO) },
    ],
};

/// The message `OutccInfo`.
pub static OUTCC_INFO: Message = Message {
    name: "OutccInfo",
    memory: size_of::<messages::OutccInfo>(),
    fields: &[
    ],
};

/// The message `SubgraphInfo`.
pub static SUBGRAPH_INFO: Message = Message {
    name: "SubgraphInfo",
    memory: size_of::<messages::SubgraphInfo>(),
    fields: &[
        Field { number: 1, name: "name", repeated: false, kind: Kind::String },
        Field { number: 2, name: "nd_idx", repeated: false, kind: Kind::Uint32 },
        Field { number: 3, name: "nc_idx", repeated: false, kind: Kind::Uint32 },
        Field { number: 4, name: "instruction_info", repeated: true, kind: Kind::Message(&ENGINE_INSTRUCTION_INFO) },
        Field { number: 5, name: "patch_info", repeated: true, kind: Kind::Message(&INSTRUCTION_PATCH_INFO) },
        Field { number: 6, name: "traces", repeated: true, kind: Kind::Message(&TRACE_INFO) },
        Field { number: 7, name: "dma_queue_usage", repeated: true, kind: Kind::Message(&DMA_QUEUE_USAGE_INFO) },
        Field { number: 8, name: "io_dma_data_host", repeated: false, kind: Kind::Bool },
        Field { number: 9, name: "coll_info", repeated: false, kind: Kind::Message(&COLLECTIVES_INFO) },
        Field { number: 10, name: "timestamp_info", repeated: false, kind: Kind::Message(&NC_TIMESTAMP_INFO) },
        Field { number: 11, name: "memory_usage_breakdown", repeated: true, kind: Kind::Message(&NC_MEMORY_USAGE) },
        Field { number: 12, name: "collectives_dma_info", repeated: true, kind: Kind::Message(&COLLECTIVES_CHANNEL) },
        Field { number: 13, name: "collectives_instruction_info", repeated: true, kind: Kind::Message(&ENGINE_INSTRUCTION_INFO) },
        Field { number: 14, name: "exec_duration", repeated: false, kind: Kind::Uint64 },
        Field { number: 15, name: "cc_op_info", repeated: false, kind: Kind::Message(&COLLECTIVES_OP_INFO) },
        Field { number: 16, name: "comm_info", repeated: true, kind: Kind::Message(&COLLECTIVES_COMM_INFO) },
        Field { number: 17, name: "stream_info", repeated: true, kind: Kind::Message(&COLLECTIVES_STREAM_INFO) },
    ],
};

/// The message `TraceInfo`.
pub static TRACE_INFO: Message = Message {
    name: "TraceInfo",
    memory: size_of::<messages::TraceInfo>(),
    fields: &[
        Field { number: 1, name: "trace_type", repeated: false, kind: Kind::Enum(&NOTIFICATION_TRACE_TYPE) },
        Field { number: 2, name: "inline_records", repeated: false, kind: Kind::Bytes },
        Field { number: 3, name: "block_type", repeated: false, kind: Kind::Enum(&BLOCK_TYPE) },
        Field { number: 4, name: "block_index", repeated: false, kind: Kind::Uint32 },
        Field { number: 5, name: "offset", repeated: false, kind: Kind::Uint64 },
        Field { number: 6, name: "size", repeated: false, kind: Kind::Uint64 },
        Field { number: 7, name: "nc_idx", repeated: false, kind: Kind::Uint32 },
    ],
};

/// The message `UltraserverInfo`.
pub static ULTRASERVER_INFO: Message = Message {
    name: "UltraserverInfo",
    memory: size_of::<messages::UltraserverInfo>(),
    fields: &[
        Field { number: 4, name: "id", repeated: false, kind: Kind::Uint32 },
    ],
};

/// The message `VersionInfo`.
pub static VERSION_INFO: Message = Message {
    name: "VersionInfo",
    memory: size_of::<messages::VersionInfo>(),
    fields: &[
        Field { number: 1, name: "major", repeated: false, kind: Kind::Uint32 },
        Field { number: 2, name: "minor", repeated: false, kind: Kind::Uint32 },
        Field { number: 3, name: "patch", repeated: false, kind: Kind::Uint32 },
        Field { number: 5, name: "git_hash", repeated: false, kind: Kind::String },
    ],
};
