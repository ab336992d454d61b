//! Names of the events of a system trace (ntff.md §9.3).
//!
//! From the table that a real run wrote (runtime 2.30.51). The run description
//! beside a trace has the table of its own runtime.

/// By number, from 0 on.
pub const NAMES: [&str; 40] = [
    "generic",
    "nrt_load",
    "async_post_request",
    "nrt_execute",
    "kmgr_exec_core",
    "nrt_load_collectives",
    "cc_exec_barrier",
    "nc_exec_running",
    "cc_running",
    "nrt_tensor_read",
    "nrt_tensor_write",
    "nrt_tensor_read_batch",
    "nrt_tensor_write_batch",
    "numerical_err",
    "enc_barrier_recv",
    "enc_barrier_send",
    "enc_barrier",
    "kbl_exec_pre",
    "kbl_exec_core",
    "kbl_exec_wait",
    "kbl_exec_post",
    "nrt_model_switch",
    "nrt_model_submit",
    "nrt_async_sema_wait",
    "hw_notify",
    "timestamp_sync_point",
    "nc_model_switch",
    "nrt_tensor_allocate",
    "nrt_tensor_free",
    "tensor_block_while_exec",
    "dmem_buf_copyin",
    "dmem_buf_copyout",
    "dmem_buf_batch_copyin",
    "dmem_buf_batch_copyout",
    "nrt_dma_mem_alloc",
    "nrt_dma_mem_dealloc",
    "exec_consume_nc_status_notifications",
    "exec_consume_cc_core_notifications",
    "notification_consume_errors",
    "exec_consume_gpsimd_stdio",
];

/// The name of an event type; `event_<number>` for those of newer runtimes.
pub fn name(number: u32) -> String {
    let known = usize::try_from(number).ok().and_then(|number| NAMES.get(number));
    known.map_or_else(|| format!("event_{number}"), ToString::to_string)
}
