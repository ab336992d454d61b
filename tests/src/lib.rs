//! Helpers of the end-to-end tests: the built binaries, the fixtures, and what
//! to do when a tool of the system is missing.
//!
//! Leaves out assertions: each test file has its own.

mod binary;
mod fixture;
mod require;

pub use binary::bin;
pub use fixture::{fixture, unpack_tree, unpack_tree_into};
pub use require::{require, skipped};
