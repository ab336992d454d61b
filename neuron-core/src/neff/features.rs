//! Feature bits of a major 2 file (sheet section 9.1).

/// Bits that runtime 2.31 knows: 0 to 26.
pub const KNOWN: u64 = 0x07ff_ffff;

/// Bits whose presence makes runtime 2.31 refuse a major 2 file: 27 to 62. Bit
/// 63 is never tested.
pub const REFUSED: u64 = 0x7fff_ffff_f800_0000;

/// One feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// Position of the bit.
    pub bit: u32,
    /// Name in definitions, where one is published.
    pub name: &'static str,
    /// Name that the viewer and the packager show, where one is published.
    pub short: &'static str,
}

const fn feature(bit: u32, name: &'static str, short: &'static str) -> Feature {
    Feature { bit, name, short }
}

/// Every bit with a known meaning. Bits 18, 19, 23 and 26 are accepted by the
/// runtime and their meaning is unknown.
pub static FEATURES: &[Feature] = &[
    feature(0, "", "bin-weights"),
    feature(1, "collective_has_offset", "collectives-offset"),
    feature(2, "neff_feature_custom_ops", "custom-ops"),
    feature(3, "neff_coalesced_ccops", "coalesced-cc"),
    feature(4, "neff_queue_set_instances", "queue-set-instances"),
    feature(5, "neff_has_functions", "on-chip-functions"),
    feature(6, "neff_feature_dynamic_pwp", ""),
    feature(7, "neff_feature_indirect_memcpy_32b_sem_wait", ""),
    feature(8, "neff_feature_indirect_memcpy_bound_check", ""),
    feature(9, "neff_feature_DMA_desc_higher_dim", ""),
    feature(10, "neff_feature_vnc", "virtual-core"),
    feature(11, "", "v3-2x-4x-dve-perf-mode"),
    feature(12, "neff_feature_DGE", ""),
    feature(13, "neff_feature_POOL_RSQRT", ""),
    feature(14, "neff_feature_remote_sem", ""),
    feature(15, "neff_feature_DGE_cast", ""),
    feature(16, "neff_feature_vector_DGE", ""),
    feature(17, "neff_feature_embedding_stride32", ""),
    feature(20, "neff_feature_SQI_no_rearm", ""),
    feature(21, "neff_feature_hardware_DGE", ""),
    feature(22, "neff_feature_partial_sb2sb_ccop", ""),
    feature(24, "", "newest-architecture"),
    feature(25, "neff_feature_large_tensor_support", ""),
];

impl Feature {
    /// The name to show: the published short name, else the long one without
    /// its common beginning.
    pub fn label(&self) -> &'static str {
        if self.short.is_empty() {
            self.name.strip_prefix("neff_feature_").unwrap_or(self.name)
        } else {
            self.short
        }
    }
}

/// The bits that make the loader refuse a file of this major version.
pub fn refused(major: u64, bits: u64) -> u64 {
    if major == 2 { bits & REFUSED } else { 0 }
}

/// Names of the bits that are set, lowest first; `bit N` where unknown.
pub fn labels(bits: u64) -> Vec<String> {
    (0..u64::BITS)
        .filter(|bit| bits >> bit & 1 == 1)
        .map(|bit| match FEATURES.iter().find(|feature| feature.bit == bit) {
            Some(feature) => feature.label().to_owned(),
            None => format!("bit {bit}"),
        })
        .collect()
}

/// Names of all features that are known.
// Not inlined, as `parse`: with the table at hand the optimiser unrolls every
// comparison of every name and then spends minutes on the conditions.
#[inline(never)]
pub fn known() -> Vec<&'static str> {
    FEATURES.iter().map(Feature::label).collect()
}

/// The mask of a name as shown or as in definitions, or of `bit N`.
#[inline(never)]
pub fn parse(name: &str) -> Option<u64> {
    let by_name = FEATURES
        .iter()
        .find(|f| f.label() == name || f.name == name && !name.is_empty())
        .map(|f| f.bit);
    let bit = by_name.or_else(|| name.strip_prefix("bit ")?.parse().ok())?;
    1_u64.checked_shl(bit)
}
