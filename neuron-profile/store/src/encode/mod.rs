//! Parquet files from columns, at the speed of an ingest.
//!
//! The writer of the parquet crate looks each value up in a hash table. Here
//! most columns of a row are known once for each slot of a program, so that a
//! value is looked up once for each slot of a row group, and columns that tell
//! the same slots apart have the same bytes behind their dictionaries. Whole
//! numbers are DELTA_BINARY_PACKED, reals BYTE_STREAM_SPLIT. The footer is
//! written by the parquet crate.

pub mod bits;
mod chunk;
pub(crate) mod frames;
mod output;
mod page;
pub mod table;
pub mod values;

pub use table::{Chunk, Pages, TableWriter};
pub use values::{Cells, Dictionary, Stream, Values};
