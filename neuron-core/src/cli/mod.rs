//! What every tool shares on the command line: flags, exit codes, error
//! text, colour, terminal width and output that a closed pipe does not upset.
//!
//! It leaves out logging of long-running services and anything that knows
//! what a tool shows.

mod args;
mod color;
mod duration;
mod exit;
mod output;
mod report;
mod service_manager;
mod terminal;
mod time;

pub use args::{CommonArgs, DEFAULT_SOURCE, VersionFlag, parse};
pub use color::{ColorChoice, Paint};
pub use duration::{DURATION_HELP, parse_duration};
pub use exit::Exit;
pub use output::{Output, reader_gone};
pub use report::{complain, no_devices};
pub use service_manager::{notify_service_manager, watchdog_period};
pub use terminal::width_of;
pub use time::rfc3339;
