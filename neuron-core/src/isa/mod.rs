//! The NeuronCore instruction set: records, assembler, disassembler.

pub mod activation;
pub mod address;
pub mod body;
pub mod code;
pub mod engine;
pub mod event;
pub mod field;
pub mod header;
pub mod opcode;
pub mod opcode_table;
pub mod record;
pub mod value;

pub use engine::Engine;
pub use opcode::Opcode;
pub use record::{Instruction, Record, decode_stream};
