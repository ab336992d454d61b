//! `ucode_lib.json`: libraries of custom operators (sheet sections 5.5 and 9.2,
//! gates 15 and 16).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;

/// One library.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct UcodeLibrary {
    /// Member with the library.
    pub library: String,
    /// Version, major 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ulib_to_ucode_version: Option<String>,
    /// Opcode of all its functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opcode: Option<Value>,
    /// 0.
    #[serde(default)]
    pub cpu_id: u64,
    /// 0, 1 or 8.
    #[serde(default)]
    pub total_cpus: u64,
    /// The functions.
    #[serde(default)]
    pub functions: Vec<UcodeFunction>,
}

/// One function.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct UcodeFunction {
    /// Shorter than 64 bytes.
    pub name: String,
    /// Opcode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opcode: Option<Value>,
    /// Second opcode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_opcode: Option<Value>,
}

impl UcodeLibrary {
    /// What the loader would refuse of these libraries: index of the library
    /// and the value, one line each.
    pub fn faults(libraries: &[Self]) -> Vec<(usize, String)> {
        let mut faults = Vec::new();
        let mut total = 0;
        let mut seen = HashSet::new();
        for (index, library) in libraries.iter().enumerate() {
            let version = library.ulib_to_ucode_version.as_deref().unwrap_or_default();
            if version.split('.').next() != Some("1") {
                faults.push((index, format!("the version is {version:?}")));
            }
            if library.cpu_id != 0 {
                faults.push((index, format!("cpu_id is {}", library.cpu_id)));
            }
            if ![0, 1, 8].contains(&library.total_cpus) {
                faults.push((index, format!("total_cpus is {}", library.total_cpus)));
            }
            if !seen.insert(&library.library) {
                faults.push((index, format!("{} is named twice", library.library)));
            }
            for function in library.functions.iter().filter(|f| f.name.len() >= 64) {
                faults.push((index, format!("the name {} is too long", function.name)));
            }
            // 28 a core; a core has one list here, so the list is the core's.
            if library.functions.len() > 28 {
                faults.push((index, format!("it has {} functions", library.functions.len())));
            }
            total += library.functions.len();
        }
        if total > 97 {
            faults.push((0, format!("there are {total} functions")));
        }
        faults
    }
}
