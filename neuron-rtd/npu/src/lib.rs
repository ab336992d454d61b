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
//! # Function, and time
//!
//! [`Program::run`] computes numbers and nothing else: instructions and
//! transfers act at once, in an order that the semaphores of the program allow
//! and that is the same on every host. An [`Observer`] sees each of them.
//! [`Program::run_timed`] runs the same program as a device would in [`time`],
//! with or without its numbers, and tells of it in the records of a device.
//!
//! # What is understood
//!
//! A record is run only if a field explains every byte of it; else the run
//! stops with a [`Stop`] that has the core, the engine, the slot, the name and
//! the bytes. So does a value of a field that no sheet explains. Choices of our
//! own, where the sheets are silent:
//!
//! * memory is zero at the start ([`memory`]);
//! * rounding to integers and the form of 8-bit floats ([`number`]);
//! * fp32 products are computed whole in the LOW pass; sums run over the
//!   partitions in order;
//! * functions of the activation engine are exact instead of tables;
//! * NaN in MAX and MIN; semaphores that leave 32 bits are a fault;
//! * an offset beyond its bound stops the run.
//!
//! # What is left out
//!
//! Collectives and semaphores of other cores, device addresses (WRITE,
//! TENSOR_LOAD, TENSOR_STORE and the address forms of loaded images; a loader's
//! image is not built), gather and scatter, integer and bitwise ALU operations,
//! random numbers, counting of numerical errors.
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
//! | attn-tkg | runs to its end; what it should compute is an open point | not compared |
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
pub mod dma;
mod exec;
pub mod fault;
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
pub use observer::{At, Observer};
pub use program::{CoreProgram, LoadError, Program, TensorInfo};
pub use run::{Limits, Tensors};
pub use stop::{Blocked, Stop};
pub use sync::{Registers, Sync, Unmet};
