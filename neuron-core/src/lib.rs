//! The shared crate of the Neuron system tools.
//!
//! Data flows one way. A source ([`driver`], [`sim`], [`replay`]) produces a
//! [`sample`]: plain data, as read. [`model`] derives from samples what the
//! views show, without opening a file or reading a clock. The formats
//! ([`neff`], [`ntff`], [`isa`]) turn bytes into values and back and know no
//! paths.
//!
//! What it leaves out: async, gRPC, the web and every view. All `unsafe` code
//! of the workspace but the C library is in [`sys`].

#![deny(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]

pub mod catalog;
pub mod error;
pub mod instance;
pub mod text;
pub mod uapi;
pub mod units;

#[cfg(feature = "sources")]
pub mod driver;
#[cfg(feature = "sources")]
pub mod model;
#[cfg(feature = "sources")]
pub mod record;
#[cfg(feature = "sources")]
pub mod replay;
#[cfg(feature = "sources")]
pub mod sample;
#[cfg(feature = "sources")]
pub mod sim;
#[cfg(feature = "sources")]
pub mod source;
#[cfg(feature = "sources")]
pub mod sys;

#[cfg(feature = "cli")]
pub mod cli;

#[cfg(any(feature = "isa", feature = "neff", feature = "ntff"))]
pub mod engine;
#[cfg(feature = "isa")]
pub mod isa;
#[cfg(feature = "neff")]
pub mod neff;
#[cfg(feature = "ntff")]
pub mod ntff;

pub use error::{Error, Result};
