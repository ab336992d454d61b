//! What the views show, derived from samples.
//!
//! Pure: no file is opened and no clock is read here. A model is a function
//! of a sample and, where rates are shown, the previous sample. Each group of
//! figures has a function of its own, because each may be read at its own
//! period.

mod applications;
mod core_use;
mod executions;
mod hardware;
mod inventory;
mod latency;
mod layout;
mod problems;
mod processors;
mod span;
#[cfg(test)]
pub(crate) mod tests;

pub use crate::sample::{DeviceState, Origin, Problem};
pub use crate::text::printable;
pub use applications::{
    Application, CoreMemory, HostUse, LONGEST_TAG, MemoryUse, ModelUse, Subgraph, applications,
};
pub use core_use::{CoreUse, core_use};
pub use executions::{Errors, Executions, Outcomes, executions};
pub use hardware::{DeviceHardware, EccEvents, MachineFacts, Power, hardware};
pub use inventory::{DeviceRow, Inventory, ProcessRow};
pub use latency::Percentiles;
pub use layout::{Layout, LogicalCore};
pub use processors::{
    CpuShares, CpuUse, HostMemory, ProcessorShare, cpu_use, host_memory, processor_shares,
};
pub use span::seconds_between;
