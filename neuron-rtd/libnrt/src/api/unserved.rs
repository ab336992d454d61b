//! What a simulated instance cannot serve. Each call says so in the log and
//! returns what its header has for an interface that is not there, else
//! `NRT_FAILURE`; no argument is read or written. Types of arguments do not
//! matter then, but the number of them is that of the header.

use std::ffi::{c_char, c_int, c_void};

use neuron_core::uapi::nrt::Status;

use crate::call::unserved;

const PROCESSES: &str = "it has no other process to talk to";
const PEERS: &str = "it has no memory that other devices reach";
const TRACES: &str = "traces of the older interface; nrt_sys_trace_start is served";
const CONTINUOUS: &str = "continuous profiles; nrt_profile_start is served";
const FIRMWARE: &str = "its cores have no firmware";
const DEBUG: &str = "its cores have no debug stream";

macro_rules! unserved {
    ($($name:ident($($argument:ident: $type:ty),*) $status:ident $why:ident;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($($argument: $type),*) -> Status {
            $(let _ = $argument;)*
            unserved(stringify!($name), Status::$status, $why)
        }
    )*};
}

unserved! {
    // nrt.h
    nrt_build_global_comm(vnc: i32, device: u32, devices: u32) FAILURE PROCESSES;
    nrt_cc_global_comm_init(vnc: u32, device: u32, devices: u32) FAILURE PROCESSES;
    nrt_get_dmabuf_fd(address: u64, size: u64, fd: *mut c_int) FAILURE PEERS;
    nrt_get_hbm_mmap_va(
        device: c_int, hbm: c_int, address: *mut *mut c_void, size: *mut usize
    ) INVALID PEERS;
    nrt_get_attached_efa_bdf(address: *const c_void, bdf: *mut c_char, length: *mut usize)
        FAILURE PEERS;
    // nrt_experimental.h
    nrt_set_pool_eng_ucode(info: *const c_void) FAILURE FIRMWARE;
    nrt_trace_start(memory: bool) FAILURE TRACES;
    nrt_trace_stop(file: *const c_char) FAILURE TRACES;
    nrt_memcpy_to_device(to: *mut c_void, from: *const c_void, size: usize) FAILURE PEERS;
    nrt_barrier(vnc: i32, device: u32, devices: u32) FAILURE PROCESSES;
    nrt_all_gather(
        vnc: i32, device: u32, devices: u32, size: u32, input: *mut c_void, output: *mut c_void
    ) FAILURE PROCESSES;
    // nrt_async.h
    nrta_cc_prepare(
        comm: *mut c_void, input: *mut c_void, output: *mut c_void, dtype: u32, op: u32,
        collective: u32, context: *mut *mut c_void
    ) FAILURE PROCESSES;
    nrta_cc_schedule(
        context: *mut *mut c_void, queue: c_int, tracker: *mut c_void, sequence: *mut u64
    ) FAILURE PROCESSES;
    // nrt_async_sendrecv.h
    nrt_async_sendrecv_get_max_num_communicators_per_lnc(count: *mut c_int) FAILURE PROCESSES;
    nrt_async_sendrecv_get_max_num_pending_request(count: *mut c_int) FAILURE PROCESSES;
    nrt_async_sendrecv_init(core: c_int) FAILURE PROCESSES;
    nrt_async_sendrecv_close(core: c_int) FAILURE PROCESSES;
    nrt_async_sendrecv_connect(
        peer: *const c_char, peer_core: c_int, core: c_int, comm: *mut *mut c_void
    ) FAILURE PROCESSES;
    nrt_async_sendrecv_accept(
        peer: *const c_char, peer_core: c_int, core: c_int, comm: *mut *mut c_void
    ) FAILURE PROCESSES;
    nrt_async_sendrecv_test_comm(comm: *mut c_void, done: *mut bool) INVALID_HANDLE PROCESSES;
    nrt_async_sendrecv_send_tensor(
        tensor: *mut c_void, offset: usize, length: usize, comm: *mut c_void,
        request: *mut *mut c_void
    ) INVALID_HANDLE PROCESSES;
    nrt_async_sendrecv_recv_tensor(
        tensor: *mut c_void, offset: usize, length: usize, comm: *mut c_void,
        request: *mut *mut c_void
    ) INVALID_HANDLE PROCESSES;
    nrt_async_sendrecv_test_request(request: *mut c_void, done: *mut bool, size: *mut usize)
        INVALID_HANDLE PROCESSES;
    nrt_async_sendrecv_flush(core: c_int) FAILURE PROCESSES;
    // nrt_profile.h
    nrt_profile_continuous_start(options: *mut c_void) FAILURE CONTINUOUS;
    nrt_profile_continuous_save(vnc: u32, options: *mut c_void) FAILURE CONTINUOUS;
    nrt_profile_continuous_stop() FAILURE CONTINUOUS;
    // ndebug_stream.h
    nrt_debug_client_connect(core: c_int, stream: *mut c_int) FAILURE DEBUG;
    nrt_debug_client_read_one_event(
        stream: c_int, header: *mut c_void, payload: *mut *mut c_void
    ) FAILURE DEBUG;
}

/// There is no stream that could be open.
#[unsafe(no_mangle)]
extern "C" fn nrt_debug_client_connect_close(_stream: c_int) {}
