//! The server of `neuron-profile view`, driven over HTTP.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod basics;
mod jobs;
mod memory;
mod odd;
mod search;
mod series;
mod server;
mod sources;
mod spans;
mod trees;
mod viewer;
mod wire;

#[path = "../support/neff.rs"]
mod support;
