//! NEFF: the executable file format of the Neuron compiler, read and written.
//!
//! Bytes in, values out: nothing here opens a file or reads a clock.
//! [`Neff::open`] takes a slice (a map, or a vector) and gives the header, the
//! digest and an index of the members; [`Model::read`] reads the JSON members
//! into typed values; [`verify()`] looks at everything; [`Builder`] writes a NEFF
//! whose bytes depend on its content only.
//!
//! Facts are from the NEFF sheet; comments name its sections. What it leaves
//! out: the meaning of instructions (module `isa`), CPU operators (`cpu.so`),
//! and loading.

pub mod archive;
pub mod digest;
pub mod features;
mod file;
mod gzip;
pub mod header;
mod limits;
pub mod path;
mod problem;
mod stream;
pub mod tar;

pub use archive::{Archive, Encoding, Member};
pub use digest::{Digest, DigestForm};
pub use file::Neff;
pub use gzip::{GzipHeader, GzipLayout};
pub use header::Header;
pub use limits::{Limits, Options};
pub use problem::{MOST_WARNINGS, Mode, Place, Problem, Report, Rule, Severity, WriteError, shown};
pub use stream::Body;
