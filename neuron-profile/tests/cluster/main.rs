//! `query` and `report` with `--engine ballista://...`, on a stock scheduler and
//! two stock executors, against the same statements in one process.
#![cfg(feature = "cluster")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod answers;
#[path = "../support/ballista.rs"]
mod ballista;
mod failures;
#[path = "../support/python.rs"]
mod python;
#[cfg(feature = "s3")]
#[path = "../support/s3.rs"]
mod s3;
#[path = "../support/stored.rs"]
mod stored;
