//! The messages: structs, and a table of the same fields to walk by.
//!
//! Both are generated from `proto/ntff.proto` by `tests/ntff_generated.rs`,
//! which also checks that they are current.

#[rustfmt::skip]
#[allow(
    clippy::all,
    clippy::pedantic,
    missing_docs,
    unreachable_pub,
    reason = "written by prost-build"
)]
pub mod messages;
#[rustfmt::skip]
#[allow(missing_docs, reason = "one table per message")]
pub mod schema;
pub mod table;
