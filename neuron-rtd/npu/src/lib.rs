//! The software NeuronCore: memories, engines, DMA, and what they compute.
//!
//! Bytes in, bytes out: nothing here opens a file or reads a clock.

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

pub use fault::Fault;
pub use hbm::Place;
pub use observer::{At, Observer};
pub use program::{CoreProgram, LoadError, Program, TensorInfo};
pub use run::{Limits, Tensors};
pub use stop::{Blocked, Stop};
pub use sync::{Registers, Sync, Unmet};
