//! The NeuronCore instruction set: records, assembler, disassembler.

pub mod activation;
pub mod address;
pub mod asm;
pub mod body;
pub mod code;
pub mod engine;
pub mod event;
pub mod field;
pub mod fuzz;
pub mod header;
pub mod names;
pub mod opcode;
pub mod opcode_table;
pub mod record;
mod text;
pub mod value;

pub use engine::Engine;
pub use opcode::Opcode;
pub use record::{Instruction, Record, decode_stream};
