//! Memories: SBUF and PSUM of a core, and the buffers of HBM.
//!
//! Memory that nothing wrote reads as zero (our choice: what a device holds
//! there is whatever was there before).

mod buffer;
mod onchip;
mod operand;
mod walk;

pub use buffer::Buffer;
pub use onchip::{OnChip, Partitioned, Region};
pub use operand::{MOST_ELEMENTS, Operand};
