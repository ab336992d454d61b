//! The software NeuronCore: memories, engines, DMA, and what they compute.
//!
//! Bytes in, bytes out: nothing here opens a file or reads a clock.

pub mod fault;
pub mod geometry;
pub mod memory;
pub mod number;

pub use fault::Fault;
