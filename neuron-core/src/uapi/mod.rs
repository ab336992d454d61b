//! The driver's ABI as data: request numbers, argument layouts, enumerations
//! and the layout of the per-process datastore.

pub mod nds;
