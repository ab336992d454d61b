//! `sgNN/tensor_map.json`: layouts of tensors, or aliases (sheet section 5.5).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The document in one of its two forms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TensorMap {
    /// Aliases of outputs.
    Aliases {
        /// Names of inputs.
        inputs: Vec<Value>,
        /// Which output lies on which input.
        alias_map: Vec<Alias>,
    },
    /// Tensors by name, as in real files.
    Tensors(BTreeMap<String, MappedTensor>),
}

/// One alias.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alias {
    /// The input.
    pub input_name: String,
    /// The output.
    pub output_name: String,
    /// Whether the runtime must follow it.
    pub must_alias: bool,
}

/// A tensor and its layout.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MappedTensor {
    /// Data type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    /// A constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_const: Option<bool>,
    /// `input` or `output`; absent for constants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Name in the framework.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer_name: Option<String>,
    /// Layout word on the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sim_format: Option<String>,
    /// Shape on the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sim_shape: Option<Vec<i64>>,
    /// File name in the compiler's work folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tf_file: Option<String>,
    /// Layout word in the framework; what the packager tool shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tf_format: Option<String>,
    /// Shape in the framework.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tf_shape: Option<Vec<i64>>,
    /// Axis along which a constant is split over cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_axis: Option<i64>,
    /// Where it is split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_indices_or_sections: Option<Value>,
}

impl TensorMap {
    /// The tensor of this name.
    pub fn tensor(&self, name: &str) -> Option<&MappedTensor> {
        match self {
            Self::Tensors(tensors) => tensors.get(name),
            Self::Aliases { .. } => None,
        }
    }
}
