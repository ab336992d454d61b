//! `neff.json`: the host graph, a TVM graph-runtime document (sheet section 5.1).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// `func_name` of a node that runs on NeuronCores.
pub const KELF_FUNCTION: &str = "__kelf";

/// The host graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Graph {
    /// Nodes; other lists refer to them by index.
    pub nodes: Vec<Node>,
    /// Indices of the graph's inputs.
    pub arg_nodes: Vec<u64>,
    /// Outputs: node, output of the node, version.
    pub heads: Vec<Vec<u64>>,
    /// Attributes for each entry id.
    pub attrs: GraphAttrs,
    /// First entry id of each node, and the count of entries at the end.
    pub node_row_ptr: Vec<u64>,
    /// Signatures; repeats the inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// One node.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Node {
    /// `null` for an input, `tvm_op` for what is executed.
    pub op: String,
    /// Name of the input tensor or of the node.
    pub name: String,
    /// Strings for the most part: `func_name`, `kelf`, `num_inputs` and others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attrs: Option<BTreeMap<String, Value>>,
    /// Node, output of the node, version.
    #[serde(default)]
    pub inputs: Vec<Vec<u64>>,
    /// Names of the node's outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_names: Option<Names>,
    /// Name of the output, older producers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Names>,
    /// `"0"` for an input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_param: Option<Value>,
}

/// One name or several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Names {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Names {
    /// The name at `index`.
    pub fn get(&self, index: usize) -> Option<&str> {
        match self {
            Self::One(name) => (index == 0).then_some(name.as_str()),
            Self::Many(names) => names.get(index).map(String::as_str),
        }
    }
}

/// Lists with one element for each entry id; each list comes with its type's name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct GraphAttrs {
    /// Shapes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<(String, Vec<Vec<i64>>)>,
    /// Storage ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_id: Option<(String, Vec<i64>)>,
    /// Data types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dltype: Option<(String, Vec<String>)>,
    /// Names of the graph's outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_names: Option<Vec<String>>,
}

/// What runs a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executor {
    /// An input; nothing runs.
    Input,
    /// NeuronCores.
    NeuronCore,
    /// The host: an operator of `cpu.so`.
    Cpu,
}

impl Node {
    /// An attribute that is a string.
    pub fn attr(&self, key: &str) -> Option<&str> {
        self.attrs.as_ref()?.get(key)?.as_str()
    }

    /// What runs this node.
    pub fn executor(&self) -> Executor {
        if self.op == "null" {
            Executor::Input
        } else if self.attr("func_name") == Some(KELF_FUNCTION) {
            Executor::NeuronCore
        } else {
            Executor::Cpu
        }
    }
}

impl Graph {
    /// Nodes that something runs, with their index.
    pub fn executable(&self) -> impl Iterator<Item = (usize, &Node)> {
        self.nodes.iter().enumerate().filter(|(_, node)| node.executor() != Executor::Input)
    }

    /// Entry id of output `output` of node `node`.
    pub fn entry(&self, node: u64, output: u64) -> Option<usize> {
        let first = self.node_row_ptr.get(usize::try_from(node).ok()?)?;
        usize::try_from(first.checked_add(output)?).ok()
    }
}
