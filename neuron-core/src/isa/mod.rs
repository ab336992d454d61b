//! The NeuronCore instruction set: records, assembler, disassembler.
