//! Sizes of one physical core by generation (neuroncore.md §1.2).

use neuron_core::instance::Arch;

/// Partitions of SBUF and of PSUM.
pub const PARTITIONS: usize = 128;
/// Live bytes of a PSUM partition: 8 banks of 2 KiB. The address space has
/// room for twice as much.
pub const PSUM_PARTITION_BYTES: usize = 16 << 10;
/// Semaphores of a core, and events of a core (neuroncore.md §0.4).
pub const SEMAPHORES: usize = 256;
/// Rows and columns of the systolic array.
pub const ARRAY: usize = 128;

/// Live bytes of an SBUF partition. The address space has 256 KiB for each.
/// v1 takes the size of v2 (our choice: the sheet has none for it).
pub const fn sbuf_partition_bytes(arch: Arch) -> usize {
    match arch {
        Arch::V1 | Arch::V2 => 192 << 10,
        Arch::V3 => 224 << 10,
        Arch::V4 => 256 << 10,
    }
}
