//! What the views show, derived from samples.
//!
//! Pure: no file is opened and no clock is read here. A model is a function
//! of a sample and, where rates are shown, the previous sample.

mod inventory;
mod problems;

pub use crate::sample::{DeviceState, Origin, Problem};
pub use crate::text::printable;
pub use inventory::{DeviceRow, Inventory, ProcessRow};
