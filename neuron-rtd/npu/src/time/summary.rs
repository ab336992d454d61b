//! What a timed run comes to, with the vendor's definitions of utilisation
//! (neuroncore.md §6.3).

use neuron_core::instance::Arch;
use neuron_core::isa::Engine;
use neuron_core::isa::code::Dtype;

use super::parameters::{Parameters, Ps};
use crate::errors::Errors;
use crate::geometry::ARRAY;

/// Counts of one core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CoreSummary {
    /// Time in which an engine worked, in the order of [`Engine::ALL`]: the
    /// union of its instructions but EVENT_SEMAPHORE, as the vendor's exports
    /// have it.
    pub busy: [Ps; 5],
    /// Instructions, in the same order.
    pub instructions: [u64; 5],
    /// Floating-point operations of every MATMUL record, two for each
    /// multiplication with an addition; both passes of fp32 count.
    pub hardware_flops: u64,
    /// Those of transposes.
    pub transpose_flops: u64,
    /// Weighted by what a data type costs: fp32 counts four times.
    pub adjusted_flops: u64,
    /// Bytes that DMA read from HBM.
    pub hbm_read: u64,
    /// Bytes that DMA wrote to HBM.
    pub hbm_written: u64,
    /// Packets of DMA, writes of semaphores included.
    pub packets: u64,
    /// Numerical errors.
    pub errors: Errors,
}

/// A timed run.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// From the start of the run to its end.
    pub total: Ps,
    /// By physical core.
    pub cores: Vec<CoreSummary>,
    /// Most floating-point operations a second of all cores.
    pub most_flops: f64,
    /// Most bytes a second of one stack of HBM.
    pub most_bytes: f64,
}

impl Summary {
    pub(super) fn new(parameters: &Parameters, total: Ps, cores: Vec<CoreSummary>) -> Self {
        let [pe, ..] = parameters.clocks;
        // 2 x rows x columns x clock (neuroncore.md §6.3)
        let most_flops = 2.0 * (ARRAY * ARRAY) as f64 * pe as f64 * 1e6 * cores.len() as f64;
        Self { total, cores, most_flops, most_bytes: parameters.dma.hbm_stack as f64 }
    }

    fn sum(&self, of: impl Fn(&CoreSummary) -> u64) -> u64 {
        self.cores.iter().map(of).sum()
    }

    fn seconds(&self) -> f64 {
        self.total as f64 * 1e-12
    }

    fn share_of(&self, what: u64, most: f64) -> f64 {
        if self.total == 0 { 0.0 } else { what as f64 / (most * self.seconds()) }
    }

    /// Hardware FLOPs of all cores.
    pub fn hardware_flops(&self) -> u64 {
        self.sum(|core| core.hardware_flops)
    }

    /// FLOPs of transposes of all cores.
    pub fn transpose_flops(&self) -> u64 {
        self.sum(|core| core.transpose_flops)
    }

    /// Bytes that all cores moved from and to HBM.
    pub fn hbm_bytes(&self) -> u64 {
        self.sum(|core| core.hbm_read + core.hbm_written)
    }

    /// Share of the most FLOPs that was reached, transposes included (HFU).
    pub fn hfu(&self) -> f64 {
        self.share_of(self.hardware_flops(), self.most_flops)
    }

    /// The same without transposes (MFU, by instructions).
    pub fn mfu(&self) -> f64 {
        self.share_of(self.hardware_flops() - self.transpose_flops(), self.most_flops)
    }

    /// Share of the most bytes of one stack (MBU).
    pub fn mbu(&self) -> f64 {
        self.share_of(self.hbm_bytes(), self.most_bytes)
    }

    /// Share of the run in which an engine of a core worked.
    pub fn busy_share(&self, core: usize, engine: Engine) -> f64 {
        let busy = self
            .cores
            .get(core)
            .and_then(|core| core.busy.get(usize::from(engine.number())).copied());
        busy.unwrap_or_default() as f64 / self.total.max(1) as f64
    }
}

/// What a FLOP of a record counts in the adjusted sum, in halves (neuroncore.md
/// §6.3): 8-bit floats 0.5 from v3 on, uint8 0.5. Fp32 counts 4, and half of the
/// operations for each of its two passes.
pub(super) fn half_weights(arch: Arch, dtype: Dtype) -> u8 {
    match (dtype, dtype.bytes()) {
        (Dtype::FP32, _) => 4,
        (Dtype::UINT8, _) => 1,
        (_, Some(1)) if matches!(arch, Arch::V3 | Arch::V4) => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_of_fp32_counts_as_the_profiler_shows_it() {
        // profiler.md §2.2: LOW_HIGH of 128 x 128 x 512 has raw 8388608 and adjusted 33554432
        let flops = 2 * 128 * 128 * 512;
        let adjusted = |arch, dtype| flops * u64::from(half_weights(arch, dtype)) / 2;
        assert_eq!(adjusted(Arch::V3, Dtype::FP32), 33_554_432);
        assert_eq!(adjusted(Arch::V2, Dtype::BFLOAT16), flops);
        assert_eq!(adjusted(Arch::V2, Dtype::FP8_E4M3), flops);
        assert_eq!(adjusted(Arch::V3, Dtype::FP8_E4M3), flops / 2);
        assert_eq!(adjusted(Arch::V2, Dtype::UINT8), flops / 2);
    }
}
