//! Instance types as data, and how a machine says which one it is.

mod chip;
mod links;
mod types;

#[cfg(feature = "sources")]
mod identity;
#[cfg(feature = "imds")]
pub mod imds;

pub use chip::{Arch, Chip, Peak};
pub use links::{Links, connected, routing_to_device};
pub use types::{InstanceType, PciFunction, TYPES};

#[cfg(feature = "sources")]
pub use identity::{Identity, identity_of};
