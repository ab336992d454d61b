//! The NeuronCore instruction set: records, assembler, disassembler.
//!
//! A stream is a run of 64-byte records, one stream per [`Engine`]. A record
//! decodes to a [`Record`]: an [`Instruction`] of typed fields, or
//! [`Record::Unknown`] with the bytes when the generation does not have the
//! opcode. Every byte of an instruction is in its [`header`](header::Header),
//! in a named field of its [`body`](body::Body), or kept in its
//! [`rest`](field::Rest), so `encode(decode(x)) == x` for any bytes on any
//! generation. [`asm`] has the text form. Nothing here opens a file or reads
//! a clock, and nothing is guessed: fields are numbers with names where a
//! source gives one, and open numbers elsewhere.
//!
//! # What is public, what is the simulator's own
//!
//! The status of each opcode, from the strongest source down:
//!
//! * *settled by capture*: the operand text of the vendor's viewer follows
//!   from the bytes in every row of its exports;
//! * *settled by real files*: each byte of the records of real files is
//!   explained and programs with them behave as predicted, but no operand
//!   text is published; item names in the text are then ours or from public
//!   test code;
//! * *public sample*: in the one published program that has its text beside
//!   it;
//! * *public layout*: offsets are published, no record was seen;
//! * *decodes header only*: the name is published, the payload is not. The
//!   software NeuronCore stops at such a record;
//! * an opcode that is not in the table is *unknown*.
//!
//! No record layout is the simulator's own. Its own are only the function
//! numbers marked [`Origin::Simulator`](activation::Origin::Simulator), and the
//! rule that a v1 core runs v2 records ([`Opcode::info_on`]).
//!
//! # Open points
//!
//! * The text of operands that no export and no public note shows (bias as a
//!   number and scale as an address in ACTIVATE, nonzero immediates of
//!   TENSOR_SCALAR, register targets of branches); ours stands there.
//! * Which byte gives `trace=START` in NOTIFY.
//! * Fields that v4 adds to LDWEIGHTS and MATMUL; their bytes are in the rest.
//! * Layouts that byte 15 of PSEUDO_DMA_DIRECT2D selects, but for DIRECT2D.
//!
//! # Opcodes
#![doc = include_str!("opcodes.md")]

pub mod activation;
pub mod address;
pub mod asm;
pub mod body;
pub mod code;
pub mod dma_ring;
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

pub use crate::engine::Engine;
pub use opcode::Opcode;
pub use record::{Instruction, Record, decode_stream};
