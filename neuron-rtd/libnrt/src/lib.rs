//! `libnrt.so.1`: the public C API of the Neuron runtime (neuron-rtd.md §4), over
//! [`rtd_runtime`] and a simulated instance, so that C programs written for
//! libnrt run where there is no device:
//!
//! ```sh
//! NEURON_SOURCE=sim:trn1.2xlarge LD_LIBRARY_PATH=... ./program
//! ```
//!
//! The headers are in `include/`. Exported are the functions that they declare
//! and one variable that tells this library from the vendor's. Symbols have no
//! versions.
//!
//! # What holds for every call
//!
//! * A null pointer is `NRT_INVALID`, and so is a size or index that does not fit.
//! * A handle (model, tensor, set, options) is a number that was never given
//!   before, not an address. It is looked up, never followed, so that a handle
//!   that is stale, freed twice or of another kind is `NRT_INVALID_HANDLE`.
//! * Memory of the caller is only touched within the size that the caller gave.
//!   That it is there is the caller's word, as in C; nothing can check it.
//! * Every function may be called by several threads at once.
//! * No panic crosses the boundary: it ends as `NRT_FAILURE`. A build with
//!   `panic = "abort"`, as the workspace's release profile, ends the process at
//!   the panic instead; either way no C frame is unwound.
//! * What is not served says so in the log and returns `NRT_FAILURE`, or what
//!   the header names for an interface that is not there. Nothing pretends.
//!
//! # Choices of our own, where the sheet is silent
//!
//! * `nrt_init` while open is `NRT_INVALID`, after `nrt_close` `NRT_CLOSED` (one
//!   init per process); a failed one may be tried again. In a child of `fork`
//!   everything is `NRT_UNINITIALIZED`.
//! * Models on the same cores take turns: the one that executes is started
//!   after the other has ended what it does. A model may have as many
//!   executions at once as `nrt_get_model_instance_count` says, others wait.
//! * Tensors of an execution must have the model's sizes exactly.
//! * `nrt_execute_repeat` feeds an output to the input of the same name and
//!   size. A model without such a pair, and without a tensor that is in both
//!   sets, is refused for more than one repetition.
//! * 64 requests of an asynchronous unit may wait.
//! * A tensor in virtual memory, which has no core, uses the units of core 0.
//!
//! # Left out
//!
//! Collectives between processes, peer memory, continuous profiling, the older
//! traces (`nrt_trace_start`) and the debug stream; the vendor's driver. An
//! inspection writes the first execution of each model for itself, no trace of
//! all executions of a core.

#![allow(unsafe_code, reason = "a C API; each block says why it is sound")]

mod api;
mod asynchronous;
mod call;
mod environment;
mod execute;
mod handle;
mod info;
mod log;
mod model;
mod pointer;
mod profile;
mod seat;
mod session;
mod set;
mod tensor;
mod told;

/// Tells this library from the vendor's ([`neuron_core::uapi::nrt::MARKER`]).
#[unsafe(no_mangle)]
#[used]
static neuron_tools_libnrt: u32 = 1;
