//! A simulated instance, shared by all processes that name it.
//!
//! It is a small directory: one locked state file (devices, attached
//! processes, memory, totals, injected faults) and one datastore file per
//! process and device in the real layout. The sysfs tree is generated from the
//! state and read through the same [`Files`](crate::driver::Files) trait as
//! the kernel's, so the reading code is one. Nothing is shown that no program
//! did: an idle instance shows idle cores.
//!
//! No daemon keeps it alive. When a process dies, the next one that looks at
//! the instance moves its counters into the totals, as the kernel would.

mod export;
mod faults;
mod instance;
mod life;
mod place;
mod process;
mod reap;
mod source;
mod stamp;
mod state;
mod tree;
mod usage;
mod view;

pub use export::export;
pub use faults::Fault;
pub use instance::Sim;
pub use place::{Places, check_name};
pub use process::{Attachment, DatastoreWriter, PROCESS_SLOTS};
pub use source::{SimSource, SimSpec};
pub use state::{DRIVER_VERSION, Ecc, ProcessId, State};
pub use tree::Entry;
pub use view::View;
