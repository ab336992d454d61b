//! Constants of the hardware that the formulas of the metrics use.
//!
//! Trn2 is settled: the `metadata` table of the vendor's exports holds every
//! number. Trn1 follows from identities between published metrics
//! (profiler.md §2.6): 91.7504e12 operations and 410e9 bytes per second. What
//! no source gives for a generation is inferred and marked so.

use neuron_core::instance::Arch;

/// Bytes of SBUF per partition by which a fullness is a share: 224 KiB in the
/// exports of Trn2 (2,048 bytes show as 1/112).
const SBUF_V3: u32 = 229_376;

/// Bytes of SBUF per partition before Trn2 (neuroncore.md §1.2).
const SBUF_V2: u32 = 196_608;

/// What the viewer knows of a generation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chip {
    /// Rows of the matrix unit.
    pub rows: u32,
    /// Columns of the matrix unit.
    pub columns: u32,
    /// Clock of the matrix unit in Hz.
    pub matrix_clock: f64,
    /// Clock of everything else, and of the cycle counts, in Hz.
    pub clock: f64,
    /// Bandwidth of one stack of device memory, in bytes per second.
    pub memory_bandwidth: f64,
    /// Bandwidth of the DMA engines of a core, in bytes per second.
    pub dma_bandwidth: f64,
    /// Bytes of SBUF in a partition.
    pub sbuf_bytes: u32,
}

impl Chip {
    /// Of a generation.
    pub const fn of(arch: Arch) -> Self {
        let (matrix_clock, clock, memory_bandwidth, dma_bandwidth, sbuf_bytes) = match arch {
            // Inf1 runs v2 records with its own clock in the simulator.
            Arch::V1 => (1.0e9, 1.0e9, 25.0e9, 25.0e9, SBUF_V2),
            // The DMA bandwidth of Trn1 is not published: that of its memory.
            Arch::V2 => (2.8e9, 1.4e9, 410.0e9, 410.0e9, SBUF_V2),
            Arch::V3 => (2.4e9, 1.2e9, 716.0e9, 435.0e9, SBUF_V3),
            // Trn3: no export was seen; the clocks of Trn2, 4.9e12 bytes per
            // second over four stacks (inferred).
            Arch::V4 => (2.4e9, 1.2e9, 1_225.0e9, 435.0e9, SBUF_V3),
        };
        Self {
            rows: 128,
            columns: 128,
            matrix_clock,
            clock,
            memory_bandwidth,
            dma_bandwidth,
            sbuf_bytes,
        }
    }

    /// Operations per second of one matrix unit, two for a multiply-add.
    pub fn peak(&self) -> f64 {
        f64::from(self.rows) * f64::from(self.columns) * 2.0 * self.matrix_clock
    }

    /// Whole nanoseconds of a wait counted in cycles.
    ///
    /// The viewer divides in single precision, in picoseconds. That is where
    /// every value of its exports comes from (2,187 rows), the 85 that are one
    /// below the exact quotient too.
    pub fn wait_ns(&self, cycles: u16) -> u64 {
        #[allow(clippy::cast_possible_truncation, reason = "the viewer's precision is meant")]
        let clock = (self.clock / 1e9) as f32;
        let ps = (f32::from(cycles) * 1000.0) / clock;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most 65,535,000 divided by a clock, not negative"
        )]
        let ps = ps as u64;
        ps / 1000
    }
}

/// The generation of an NTFF's `arch` number (ntff.md §3.1: 1 is Trn1, 2 is
/// Trn2; the others continue the row).
pub const fn generation(arch: u64) -> Option<Arch> {
    match arch {
        0 => Some(Arch::V1),
        1 => Some(Arch::V2),
        2 => Some(Arch::V3),
        3 => Some(Arch::V4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the exports: 546 cycles are exactly 455 ns and show as 454.
    #[test]
    fn waits_round_as_the_viewer_does() {
        let chip = Chip::of(Arch::V3);
        let shown = [(0, 0), (546, 454), (696, 580), (59_256, 49_380), (35_834, 29_861)];
        for (cycles, ns) in shown {
            assert_eq!(chip.wait_ns(cycles), ns, "{cycles}");
        }
    }

    #[test]
    fn peaks_of_the_sheet() {
        assert_eq!(Chip::of(Arch::V2).peak(), 91.750_4e12);
        let trn2 = Chip::of(Arch::V3);
        assert_eq!(trn2.peak() / trn2.memory_bandwidth, 109.836_871_508_379_89);
    }
}
