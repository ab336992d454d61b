//! Engines and their JSON members: DMA blocks and tables (sheet sections 4.2
//! and 5.4).

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The JSON member of one engine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct EngineJson {
    /// Such as `pe_array_json` or the member's own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Stream member; a definition's `*_instr` comes first. Not always a string.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instr: Option<Value>,
    /// Descriptor blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dma: Option<Vec<DmaBlock>>,
    /// Activation metadata member (act only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act_info: Option<String>,
    /// Semaphore of activation table loads (act only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act_semaphore: Option<i64>,
    /// Function sets used (act only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activation_function_sets: Option<Vec<String>>,
    /// Activation profiles (act only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_meta_data: Option<Value>,
    /// Table members (dve only): an object or a list of objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dve_tables: Option<Value>,
}

impl EngineJson {
    /// The stream member, where `instr` names one.
    pub fn stream(&self) -> Option<&str> {
        self.instr.as_ref()?.as_str()
    }

    /// Table members of the vector engine.
    pub fn table_members(&self) -> Vec<&str> {
        let tables = match &self.dve_tables {
            Some(Value::Array(tables)) => tables.as_slice(),
            Some(table) => std::slice::from_ref(table),
            None => &[],
        };
        let objects = tables.iter().filter_map(Value::as_object);
        objects.flat_map(|table| table.values()).filter_map(Value::as_str).collect()
    }
}

/// A descriptor block, started by a trigger in a stream.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DmaBlock {
    /// Number that triggers name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// Queue set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Ring instance; wins over the queue set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_name: Option<String>,
    /// Function that triggers from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function_start: Option<String>,
    /// Place on the first queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section_start_desc: Option<bool>,
    /// Event set when done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<i64>,
    /// Semaphore raised when done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semaphore: Option<i64>,
    /// Semaphores of other cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_semaphores: Option<Value>,
    /// Priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_class: Option<Value>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Instruction id of the trigger, in compiler output.
    #[serde(default, rename = "#comment", skip_serializing_if = "Option::is_none")]
    pub hash_comment: Option<String>,
    /// The transfers.
    #[serde(default)]
    pub desc: Vec<Transfer>,
}

/// One transfer. Sizes: the first in bytes, the others counts; steps in bytes,
/// innermost first; offsets in bytes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Transfer {
    /// `copy` if absent; `fma`, `add`, `min`, `max`, `transpose`, `cast`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// Source variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Several sources, at most 16, for fma, add, min and max.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_arr: Option<Value>,
    /// Type of the source, `uint8` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_dtype: Option<String>,
    /// Offset in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_off: Option<i64>,
    /// Sizes of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_sizes: Option<Vec<u64>>,
    /// Strides of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_steps: Option<Vec<i64>>,
    /// Destination variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Type of the destination, `uint8` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_dtype: Option<String>,
    /// Offset in the destination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_off: Option<i64>,
    /// Sizes of the destination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_sizes: Option<Vec<u64>>,
    /// Strides of the destination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_steps: Option<Vec<i64>>,
    /// Tiling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_tiling_dimensions: Option<u64>,
    /// Factor of fma.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Type of the factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_dtype: Option<String>,
    /// Constant of min and max.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant: Option<Value>,
    /// Type of the constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant_dtype: Option<String>,
    /// Order of the dimensions after a transpose; real files have `WZXY`
    /// (isa-layouts.md §5.3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transpose_op: Option<String>,
    /// Four sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transpose_shape: Option<Vec<u64>>,
    /// Bytes of an element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transpose_element_size: Option<u64>,
}

impl Transfer {
    /// Bytes read from the source: the product of its sizes; `None` if it has
    /// none or the product is beyond 64 bits.
    pub fn from_bytes(&self) -> Option<u64> {
        product(self.from_sizes.as_deref()?)
    }

    /// Bytes written to the destination.
    pub fn to_bytes(&self) -> Option<u64> {
        product(self.to_sizes.as_deref()?)
    }
}

fn product(sizes: &[u64]) -> Option<u64> {
    sizes.iter().try_fold(1_u64, |product, size| product.checked_mul(*size))
}
