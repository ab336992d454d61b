//! The software NeuronCore: memories, engines, DMA, and what they compute.
//!
//! Bytes in, bytes out: nothing here opens a file or reads a clock.
//! [`Program::from_neff`] makes a NEFF ready, [`Program::run`] takes the bytes
//! of its inputs and gives the bytes of its outputs. Files of the real compiler
//! and of our own builder go the same way.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (file, q, k, v): (Vec<u8>, Vec<u8>, Vec<u8>, Vec<u8>) = Default::default();
//! let program = npu::Program::from_neff(&file)?;
//! let inputs = [("q_ref", q), ("k_ref", k), ("v_ref", v)];
//! let inputs = inputs.map(|(name, bytes)| (name.to_owned(), bytes)).into();
//! let outputs = program.run(&inputs)?;
//! # Ok(()) }
//! ```
//!
//! A file is checked as a loader checks it, digest and all, before any of it is
//! used; there is no way around it. Of a file with several Neuron nodes
//! [`Program::from_node`] takes one. [`Limits`] bound what a run may do, and
//! [`Cancel`] ends one from another thread.
//!
//! # Function, and time
//!
//! [`Program::run`] computes numbers and nothing else: instructions and
//! transfers act at once, in an order that the semaphores of the program allow
//! and that is the same on every host. An [`Observer`] sees each of them, and
//! the numerical errors that it produced ([`errors`]).
//! [`Program::run_timed`] runs the same program as a device would in [`time`],
//! with or without its numbers, and tells of it in the records of a device.
//!
//! # What is understood
//!
//! A record is run only if a field explains every byte of it; else the run
//! stops with a [`Stop`] that has the core, the engine, the slot, the name and
//! the bytes. So does a value of a field that no sheet explains. Where sheets
//! and the public notes on the vendor's headers do not agree, the notes win;
//! where the notes and the public documentation of NKI do not agree about what
//! an operation computes, the documentation wins.
//!
//! Choices of our own, where all of them are silent:
//!
//! * memory is zero at the start ([`memory`]), and so are accumulators and keys;
//! * rounding to integers and the form of 8-bit floats ([`number`]);
//! * fp32 products are computed whole in the LOW pass; sums run over the
//!   partitions in order, each step one fused multiply-add, and are added to
//!   PSUM instruction by instruction;
//! * functions of the activation engine are exact instead of tables, and a
//!   result outside the range of the device's table is not refused;
//! * NaN in MAX and MIN; semaphores that leave 32 bits are a fault;
//! * an offset beyond its bound stops the run;
//! * what counts as a numerical error, and the class of each fault
//!   ([`errors`]);
//! * groups, pairs and sums of collectives ([`collective`]);
//! * the address of a core in its own eyes, 0x802000000000 for each, and the
//!   order of indices of DMA_INDIRECT.
//!
//! Choices between sources:
//!
//! * MAX8 writes the smallest of the eight first, as the notes have it; records
//!   of the vendor's compiler walk its result from the end, so that `nki.isa.max8`
//!   gives the largest first;
//! * a search marks what one instruction found, and the next one starts anew;
//! * TENSOR_SCALAR_CACHE_REDUCE writes every result and folds it with the new
//!   one as first operand, as `nki.isa.tensor_scalar_cumulative` is documented;
//!   the notes have it second, which shows in differences only;
//! * SELECT_REDUCE writes its number where the predicate is false, the
//!   `on_false` of `nki.isa.select_reduce`;
//! * ACT takes TENSOR_SCALAR as multiply and add on Trn2, and whole from Trn3 on.
//!
//! # Speed on the host
//!
//! Products, conversions and the exponential functions run in the vectors that
//! the host has (SSE2, SSE4.2, AVX2 with FMA, AVX-512 of Ice Lake and Zen 4 on,
//! NEON), and the columns of a large product on the threads of the rayon pool
//! that the caller is a thread of ([`on_all_threads`]); a run from any other thread
//! keeps to that thread, as the cores of a busy runtime should. Neither changes a bit of a result: lanes and threads
//! share results out, never the steps of one sum, and no step depends on what
//! the host has. A host without fused multiply-add computes the same numbers
//! slowly. Only which NaN comes out of NaN and infinities is the host's.
//!
//! `cargo bench -p npu --bench npu` measures whole programs, `cargo xtask bench
//! npu` compares them with NumPy and onnxruntime in one run.
//!
//! # What is left out
//!
//! * numbers of the device that no public source has: RNG and RAND (an LFSR or
//!   XORWOW, whose taps, seeding and order of lanes are not told), CRC32 (neither
//!   polynomial nor order of bits), the place of the factor of the leaky
//!   activation functions, MOD of negative integers;
//! * the second register of COMPARE_BRANCH, other targets than a distance;
//! * STREAM_TRANSPOSE with byte 38 set: the notes call it the mask of
//!   LOAD_MASK_SELECT in one place and a transpose of channels in another;
//! * sums in blocks of DMA, and by record all operations but ADD: what a product,
//!   maximum or minimum leaves is not told; permutes that reduce, as no record of
//!   one is public; collectives of several programs;
//! * BATCH_NORM_BACK_PROP and what loads its parameters, whose arithmetic is not
//!   public; TENSOR_SCALAR_IMM_LD, which no compiler emits by its headers and
//!   whose only reader has no layout here; MODIFY_POOL_CONFIG, whose fields have
//!   names only; functions (PSEUDO_FUNCTION_*) and sets of functions by name
//!   (PSEUDO_LOAD_ACT_FUNC_SET), of which no file is public;
//! * a loader's image and semaphores of other cores.
//!
//! # Programs of the real compiler
//!
//! On random inputs, against fp64; the error is the largest difference as a
//! part of the largest expected number. The tests hold the bounds.
//!
//! | program | computes | error |
//! |---|---|---|
//! | attn-fused-bf16-512, attn-base-bf16-512 | softmax(Q^T K) V^T | 2.8e-3 |
//! | attn-fused-fp32-512 | the same | 1.5e-6 |
//! | attn-fused-fp32-1024 | the same | 9.2e-7 |
//! | matmul-small, two cores | x y, fp16 | 3.0e-4 |
//! | moe-dge, inspect | 8 of 128 experts, chosen by an input, bf16 | 2.8e-3 |
//! | xla-cache-a | row maximum of causal scores with keys 0 to 511, bf16 | 3.3e-3 |
//! | xla-cache-b | causal attention without its division, scores of keys 0 to 511, bf16 | 7.9e-3 |
//! | attn-tkg | one token with a cache of 640, each tile of weights and caches turned, bf16 | 2.9e-3 |
//!
//! # Activation functions
//!
//! Formula in NumPy, on fp32; distance from the same in fp64 rounded to fp32, in
//! units in the last place, which the tests hold; and the range beyond which the
//! device gives something else. The device itself takes tables, so that its last
//! bits are others.
//!
#![doc = include_str!("activations.md")]
//!
//! # Opcodes
//!
//! `runs`: as its sheet says, where the fields have values that a sheet
//! explains. `decodes only`: the layout is public, nothing here runs it.
//! `unknown layout` and `unknown`: the run stops there.
//!
#![doc = include_str!("opcodes.md")]

mod activation;
mod alu;
pub mod collective;
mod device;
pub mod dma;
pub mod errors;
mod exec;
pub mod fault;
pub mod fuzz;
pub mod geometry;
mod hbm;
pub mod memory;
pub mod number;
mod observer;
mod program;
mod run;
mod stop;
mod sync;
pub mod time;

pub use fault::Fault;
pub use hbm::Place;
pub use observer::{At, Cancel, Observer};
pub use program::{CoreProgram, LoadError, Program, TensorInfo};
pub use run::{Limits, Source, Sources, Tensors};
pub use stop::{Blocked, Stop};
pub use sync::{Registers, Sync, Unmet};

/// Does something on a thread of the host's pool, so that large products of the
/// programs that it runs are shared with the other threads.
pub fn on_all_threads<T: Send>(act: impl FnOnce() -> T + Send) -> T {
    rayon::scope(|_| act())
}
