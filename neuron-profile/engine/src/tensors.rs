//! Tensors of the model and what its HLO counted.
//!
//! Settled on the table `neff_node` and the sizes of the exports: inputs and
//! outputs are the variables of those types, weights those of type `file`;
//! layout and shape are those that `tensor_map.json` gives for the device, found
//! by name or, for a constant, by its file.

use std::collections::BTreeMap;

use neuron_core::neff::doc::{TensorMap, VarKind};
use neuron_core::neff::{Model, Neff};

/// What a tensor is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TensorKind {
    /// An input.
    Input,
    /// An output.
    Output,
    /// A constant that is part of the NEFF.
    Weight,
}

impl TensorKind {
    /// The viewer's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Input => "IN",
            Self::Output => "OUT",
            Self::Weight => "WEIGHT",
        }
    }
}

/// A tensor of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    /// Variable.
    pub name: String,
    /// What for.
    pub kind: TensorKind,
    /// Layout word, empty when not told.
    pub format: String,
    /// Shape on the device, empty when not told.
    pub shape: Vec<i64>,
    /// Bytes.
    pub bytes: u64,
}

/// Bytes of the model's tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TensorBytes {
    /// Inputs.
    pub inputs: u64,
    /// Outputs.
    pub outputs: u64,
    /// Weights.
    pub weights: u64,
}

/// Tensors of all subgraphs, each name once.
pub(crate) fn tensors(model: &Model) -> Vec<TensorInfo> {
    let mut found: BTreeMap<(TensorKind, &str), TensorInfo> = BTreeMap::new();
    for subgraph in &model.subgraphs {
        for (name, variable) in &subgraph.definition.var {
            let kind = match variable.kind() {
                Some(VarKind::Input) => TensorKind::Input,
                Some(VarKind::Output) => TensorKind::Output,
                Some(VarKind::File) => TensorKind::Weight,
                _ => continue,
            };
            let file = variable.file_name.as_deref().or(variable.file.as_deref());
            let mapped = match subgraph.tensor_map.as_deref() {
                Some(TensorMap::Tensors(all)) => all.get(name).or_else(|| {
                    let file = file?;
                    all.values().find(|tensor| tensor.tf_file.as_deref() == Some(file))
                }),
                _ => None,
            };
            let shape = mapped.and_then(|m| m.sim_shape.clone()).or_else(|| variable.shape.clone());
            found.entry((kind, name)).or_insert_with(|| TensorInfo {
                name: name.clone(),
                kind,
                format: mapped.and_then(|m| m.sim_format.clone()).unwrap_or_default(),
                shape: shape.unwrap_or_default(),
                bytes: variable.size.unwrap_or(0),
            });
        }
    }
    found.into_values().collect()
}

/// Sums over tensors.
pub(crate) fn bytes(tensors: &[TensorInfo]) -> TensorBytes {
    let mut sum = TensorBytes::default();
    for tensor in tensors {
        let place = match tensor.kind {
            TensorKind::Input => &mut sum.inputs,
            TensorKind::Output => &mut sum.outputs,
            TensorKind::Weight => &mut sum.weights,
        };
        *place = place.saturating_add(tensor.bytes);
    }
    sum
}

/// Multiply-adds that the HLO of the model counts; `None` without statistics.
pub(crate) fn hlo_mac_count(neff: &Neff<'_>) -> Option<u64> {
    let body = neff.body("hlo_stats.json")?.ok()?;
    let stats: serde_json::Value = serde_json::from_slice(&body).ok()?;
    let count = stats.get("HloMacCount")?;
    count.as_u64().or_else(|| count.as_f64().and_then(whole))
}

/// A count that the compiler wrote with a decimal point.
fn whole(number: f64) -> Option<u64> {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be a number that fits"
    )]
    (0.0..1e19).contains(&number).then_some(number as u64)
}
