//! The runtime daemon's gRPC services: messages, client and server.
//!
//! The proto files in `proto/` are written from the published tables
//! (neuron-rtd.md sections 1.2 to 1.4): package `nrt`, names and numbers exact.
//! `ext.proto` alone is ours. Rust names are those of the generators
//! (`h_nn` is [`HNn`], `nmgr_v1` is [`nmgr_v1_server::NmgrV1`]); on the wire the
//! names are the published ones. Fields of type `bytes` are
//! [`prost::bytes::Bytes`], so that a received buffer is not copied.
//!
//! What it leaves out: transport. Who uses the client or the server brings a
//! channel or a listener.

#[rustfmt::skip]
#[allow(
    clippy::all,
    clippy::pedantic,
    missing_docs,
    missing_debug_implementations,
    non_camel_case_types,
    unreachable_pub,
    rust_2018_idioms,
    reason = "written by prost-build and tonic-build"
)]
mod nrt;

pub use nrt::*;

/// The proto files as a `FileDescriptorSet`, for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!("nrt.descriptors");
