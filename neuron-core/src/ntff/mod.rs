//! NTFF: the trace file format of the Neuron profiler.
//!
//! An NTFF is a [`Header`], one protobuf message ([`messages::NtffInfo`]) and
//! an area of raw blobs: captured programs and notification [`Record`]s of 16
//! bytes. An inspect run adds files of framed messages ([`frames`]). A
//! [`Reader`] streams a trace in bounded memory and keeps what is whole of a
//! damaged one; a [`Writer`] streams one out. [`Summary`] counts records as
//! they pass.
//!
//! Facts are from ntff.md; "our choice" marks there are named where they are
//! used. What it leaves out: files and clocks (callers give `Read`, `Write`
//! or bytes), the meaning of instructions (`isa`), and the match with a NEFF.

pub mod clock;
pub mod error;
pub mod event;
pub mod frames;
pub mod fuzz;
pub mod header;
pub mod layout;
pub mod notification;
pub mod orphans;
pub mod pairs;
pub mod program;
mod proto;
pub mod reader;
pub mod record;
pub mod root;
pub mod summary;
pub mod window;
pub mod wire;
pub mod writer;

pub use clock::{Calibration, Clock, DeviceTime, Ticks};
pub use error::{Error, Finding, Result, Rule, Severity};
pub use header::Header;
pub use layout::{Section, SectionKind};
pub use notification::Notification;
pub use proto::messages;
pub use proto::schema;
pub use proto::table;
pub use reader::{Chunk, Mode, Options, Reader};
pub use record::Record;
pub use summary::Summary;
pub use writer::Writer;

/// Limits against hostile input (ntff.md §10, our choice).
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Largest message, in bytes.
    pub message: u64,
    /// Deepest nesting of unknown groups; known messages nest less.
    pub nesting: usize,
    /// Most memory that decoded messages may take, in bytes, before the
    /// doubling of growing lists.
    pub decoded: u64,
    /// Most blobs of a file; real ones have 15 and 32.
    pub sections: usize,
    /// Largest frame of a framed file, in bytes.
    pub frame: u32,
    /// Most findings that are kept; further ones are counted.
    pub findings: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: 1 << 30,
            nesting: 64,
            decoded: 1 << 30,
            sections: 1 << 16,
            frame: 16 << 20,
            findings: 256,
        }
    }
}
