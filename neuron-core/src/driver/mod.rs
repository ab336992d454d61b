//! The kernel source: devices, sysfs, processes and datastores over movable
//! roots.
//!
//! [`Machine`] turns files ([`Files`]) and device nodes ([`Nodes`]) into a
//! sample. It prefers what disturbs least: sysfs, then free-access requests,
//! then tables of the generation; it attaches to a device only for what
//! nothing else tells, and never where that could hang the tool.

mod aside;
mod counters;
mod device;
mod discover;
mod files;
mod firmware;
mod kernel;
mod leaf;
mod machine;
mod nodes;
mod process;
mod recorded;
mod system;
mod users;

pub use files::{Files, HostFiles};
pub use kernel::KernelSource;
pub use machine::{Deadlines, Machine, Setting};
pub use nodes::{AttachedNode, FreeNode, Nodes};
pub use recorded::{Answer, RecordedNodes, Recording};
pub(crate) use recorded::{open_file, read_entry};
