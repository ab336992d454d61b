//! What the views show, derived from samples.
//!
//! Pure: no file is opened and no clock is read here. A model is a function
//! of a sample and, where rates are shown, the previous sample.

mod inventory;
mod printable;
mod problems;

pub use crate::sample::{DeviceState, Origin, Problem};
pub use inventory::{DeviceRow, Inventory, ProcessRow};
pub use printable::printable;
