//! The only `unsafe` code outside the C library: ioctl, mmap and dlopen.
//!
//! Everything that is public here is safe to call: a request is only made with
//! an argument of the struct that belongs to it, and arguments that hold
//! addresses are made here, from memory that is borrowed for the call.
#![allow(unsafe_code)]

pub mod file_map;
mod ioctl;
mod library;
mod lists;
mod map;
pub mod nrt;
mod open;

pub use ioctl::{Arg, call, processes, refuse_positive};
pub use lists::{hardware_counters, logical_to_physical, memory_chunks};
pub use map::Mapping;
pub use open::{Attached, FreeAccess};
