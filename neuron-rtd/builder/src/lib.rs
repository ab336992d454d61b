//! Lowers small operator graphs to NEFFs for the software NeuronCore.
//!
//! A [`Graph`] is built operator by operator, lowered to five instruction
//! streams and transfers, and packed into a NEFF. Records have the layouts that
//! are public; the file says `npu-sim` as its target and who made it, so that
//! no real loader takes it. The bytes depend on the graph only.
//!
//! ```
//! use neuron_builder::{Activation, Array, ElementType, Graph, Model};
//!
//! # fn main() -> neuron_builder::Result<()> {
//! let mut graph = Graph::new("layer");
//! let x = graph.input("x", ElementType::F32, &[4, 8])?;
//! let w = Array::from_f32(ElementType::F32, &[8, 2], &[0.5; 16])?;
//! let w = graph.constant("w", w)?;
//! let y = graph.matmul("fc", x, w)?;
//! let y = graph.activation("fc", Activation::Relu, y)?;
//! graph.output("y", y)?;
//! let file = Model::new("layer", vec![graph]).build()?.bytes;
//! # assert!(file.len() > 1024);
//! # Ok(()) }
//! ```
//!
//! # Operators
//!
//! Types are fp32, fp16 and bfloat16; within an operator numbers are fp32.
//!
//! | operator | how | limits |
//! |---|---|---|
//! | matmul | stationary tiles of 128 x 128, moving ones of 128 x 512, the sum in one bank; fp32 in two passes; a bias and a function that follow are done on the way out of PSUM | |
//! | functions | one ACTIVATE | gelu in its form with tanh |
//! | add, subtract, multiply, divide, maximum | TENSOR_TENSOR; along the last index also TENSOR_SCALAR | |
//! | softmax | maximum, exponential with running sum, reciprocal, product | rows up to 16384 |
//! | layernorm, rmsnorm | sums by TENSOR_REDUCE and ACT's running sum | rows up to 16384 |
//! | convolution | a product for each position of the window, all in one bank | constant weights; images up to 65535 pixels whose channels fit SBUF; rows x step up to 32767 |
//! | pooling | TENSOR_REDUCE over two dimensions | no padding; images as above |
//! | attention | head by head, 128 queries at a time | heads up to 128; a block of scores fits SBUF |
//! | embedding | a product with ones and zeros | tables below 2^24 rows |
//! | concat, slice, split | transfers within HBM | |
//! | reshape | nothing: the same bytes | |
//! | all-reduce | PSEUDO_TRIGGER_COLLECTIVE between scratch variables | |
//!
//! # What is left out
//!
//! Loops and branches: programs are straight lines. Gather by index records and
//! statistics records. Groups and dilation of convolutions. Any search for a better order or placement: operators run in the
//! order in which they were added.
//!
//! Nothing here opens a file or reads a clock.

mod array;
mod emit;
mod error;
mod graph;
mod lower;
mod model;
pub mod models;
mod package;
mod space;

pub use array::{Array, ElementType};
pub use emit::{Edge, Line, Part, Queue, Step, Streams};
pub use error::{BuildError, Result};
pub use graph::*;
pub use lower::{CoreProgram, Variable, VariableKind, lower};
pub use model::{CpuNode, HostNode, HostTensor, Model, NeuronNode, Ports};
pub use package::{Built, PRODUCER};
pub use space::Space;
