//! Small documents about the build (sheet section 5.5). The loader reads none.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `info.json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Info {
    /// Version of the compiler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_version: Option<String>,
    /// `Dynamic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kelp_version: Option<String>,
    /// Version of NKI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nki_version: Option<String>,
    /// Name of the model, as in the header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// As in the header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_tpb: Option<u64>,
    /// As in the header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_tpb_requested: Option<u64>,
    /// As in the header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_tpb_per_node: Option<Vec<u64>>,
}

/// One element of `metrics.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Such as `EstimatedLowerBoundLatency`.
    #[serde(rename = "MetricName")]
    pub name: String,
    /// A number.
    #[serde(rename = "Value")]
    pub value: Value,
    /// Such as `Milliseconds`.
    #[serde(rename = "Unit")]
    pub unit: String,
}

/// `kernel_debug_info.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelDebugInfo {
    /// One for each kernel.
    pub debug_info_files: Vec<KernelDebugFile>,
}

/// Where the source lines of a kernel are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelDebugFile {
    /// Top-level member.
    pub file_name: String,
    /// Name of the kernel.
    pub kernel_name: String,
    /// Id in the penguin layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_tensorizer_id: Option<u64>,
}
