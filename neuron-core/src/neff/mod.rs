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
mod build;
mod check;
mod debug;
pub mod digest;
pub mod doc;
mod documents;
pub mod features;
mod file;
pub mod fuzz;
mod gzip;
pub mod header;
mod limits;
mod metaneff;
mod model;
mod npy;
pub mod operator;
pub mod path;
mod problem;
mod role;
mod stream;
pub mod tar;
mod tensor;
mod verify;
mod wire;

pub use archive::{Archive, Encoding, Member};
pub use build::{Builder, Packing};
pub use debug::{DebugLayer, DebugRecord, SourceLine, StackFrames, SubgraphDebug};
pub use digest::{Digest, DigestForm};
pub use file::Neff;
pub use gzip::{GzipHeader, GzipLayout};
pub use header::Header;
pub use limits::{Limits, Options};
pub use metaneff::{MetaNeff, MetaTensor, ModelConfig};
pub use model::{Model, Program, SLOT, Subgraph};
pub use npy::Npy;
pub use problem::{MOST_WARNINGS, Mode, Place, Problem, Report, Rule, Severity, WriteError, shown};
pub use role::{Role, roles};
pub use stream::Body;
pub use tensor::{Tensor, Usage, dtype, node_tensors};
pub use verify::{Verification, verify};
