//! Inputs that are made up: the same for the same seed on every host.

use anyhow::Context as _;
use neuron_core::neff::shown;
use npu::TensorInfo;
use npu::number::Element;

/// How inputs are made up.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum Fill {
    /// 0
    Zeros,
    /// Floats from -1 to 1; integers, which are often indices, are 0
    Random,
}

impl Fill {
    /// The bytes of the input at `index` in the program's list.
    pub(super) fn bytes(
        self,
        tensor: &TensorInfo,
        seed: u64,
        index: usize,
    ) -> anyhow::Result<Vec<u8>> {
        let size = usize::try_from(tensor.bytes)?;
        let mut bytes = Vec::new();
        let room = bytes.try_reserve_exact(size);
        room.with_context(|| format!("input {} has {size} bytes", shown(&tensor.name)))?;
        bytes.resize(size, 0);
        let element = tensor.dtype.as_deref().and_then(|word| Element::of_word(word).ok());
        if let (Self::Random, Some(element)) = (self, element)
            && matches!(element, Element::Bf16 | Element::Fp16 | Element::Fp32)
        {
            let mut random = Random(seed ^ u64::try_from(index)?.wrapping_mul(STEP));
            for place in bytes.chunks_exact_mut(element.bytes()) {
                element.store(element.encode(random.next()), place);
            }
        }
        Ok(bytes)
    }
}

/// 2^64 divided by the golden ratio, odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    /// From -1 up to, not including, 1; a multiple of 2^-23.
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(STEP);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        // 24 bits are exact in f32.
        (bits >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// The first numbers of the published reference code for seed 1234567.
    #[test]
    fn the_sequence_is_the_published_one() {
        let mut random = Random(1_234_567);
        for expected in [6_457_827_717_110_365_317_u64, 3_203_168_211_198_807_973] {
            let wanted = (expected >> 40) as f32 / (1 << 23) as f32 - 1.0;
            assert_eq!(random.next(), wanted);
        }
    }

    #[test]
    fn numbers_fill_the_range_evenly() {
        let mut random = Random(7);
        let numbers: Vec<f32> = (0..10_000).map(|_| random.next()).collect();
        assert!(numbers.iter().all(|number| (-1.0..1.0).contains(number)));
        let mean: f32 = numbers.iter().sum::<f32>() / 10_000.0;
        assert!(mean.abs() < 0.02, "{mean}");
        assert!(numbers.iter().any(|n| *n < -0.99) && numbers.iter().any(|n| *n > 0.99));
    }
}
