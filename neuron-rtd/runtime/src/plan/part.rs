//! One node of a NEFF as a NEFF of its own, as backends want it: the program, and
//! a host graph with this node alone, so that a loader knows its tensors.

use std::collections::HashMap;

use neuron_core::neff::doc::{Graph, GraphAttrs, Names, Node};
use neuron_core::neff::{Builder, Packing, Subgraph, Tensor, Usage, node_tensors};
use serde_json::Value;

use super::outline::{NodeOutline, Outline, refused};
use crate::failure::{Code, Failure};

/// Name of the only program of the file.
const KELF: &str = "kelf-0.json";

impl Outline<'_> {
    /// A NEFF with one node only; `None` where the file is that.
    pub(crate) fn part(&self, node: &NodeOutline) -> Result<Option<Vec<u8>>, Failure> {
        let Some(kelf) = &node.kelf else { return Ok(None) };
        if self.nodes.len() == 1 {
            return Ok(None);
        }
        let failed = |reason: String| {
            Failure::new(Code::Invalid, "NMGR:dlr_kelf_stage", format!("{}: {reason}", node.name))
        };
        let own: Vec<&Subgraph> =
            self.model.subgraphs.iter().filter(|sub| sub.kelf_member == *kelf).collect();
        let mut builder = Builder::with_header(self.neff.header.clone());
        builder.packing = Packing::Bare;
        if let (Some(graph), Some(index)) = (self.graph(), node.index) {
            let text = serde_json::to_vec(
                &alone(graph, index)
                    .ok_or_else(|| failed("the graph has no such node".to_owned()))?,
            );
            let text = text.map_err(|error| failed(error.to_string()))?;
            builder.add("neff.json", text).map_err(|problem| failed(problem.to_string()))?;
        }
        for member in self.neff.members() {
            let name = member.name();
            let wanted = own.iter().any(|subgraph| {
                name == subgraph.definition_member
                    || (!subgraph.folder.is_empty() && name.starts_with(&subgraph.folder))
            });
            let name = if name == kelf { KELF } else { name };
            if (wanted || member.name() == kelf) && !name.ends_with('/') {
                let body = self.neff.archive.body(member).map_err(refused)?;
                builder.add(name, body).map_err(|problem| failed(problem.to_string()))?;
            }
        }
        let mut out = std::io::Cursor::new(Vec::new());
        builder.write(&mut out).map_err(|error| failed(error.to_string()))?;
        Ok(Some(out.into_inner()))
    }
}

/// The graph of one node: what it takes are the inputs, what it gives the outputs.
fn alone(graph: &Graph, index: usize) -> Option<Graph> {
    let node = graph.nodes.get(index)?;
    let (inputs, outputs): (Vec<Tensor>, Vec<Tensor>) =
        node_tensors(graph, index).into_iter().partition(|tensor| tensor.usage == Usage::Input);
    let mut own = Graph {
        nodes: Vec::new(),
        arg_nodes: Vec::new(),
        heads: Vec::new(),
        attrs: GraphAttrs::default(),
        node_row_ptr: vec![0],
        metadata: None,
    };
    let mut entries: Vec<&Tensor> = Vec::new();
    let mut known: HashMap<&str, u64> = HashMap::new();
    let mut taken = Vec::new();
    for tensor in &inputs {
        let next = u64::try_from(own.nodes.len()).ok()?;
        let from = *known.entry(tensor.name.as_str()).or_insert(next);
        if from == next {
            let (op, name) = ("null".to_owned(), tensor.name.clone());
            own.nodes.push(Node { op, name, is_param: Some(Value::from("0")), ..Node::default() });
            own.arg_nodes.push(next);
            entries.push(tensor);
            own.node_row_ptr.push(u64::try_from(entries.len()).ok()?);
        }
        taken.push(vec![from, 0, 0]);
    }
    let place = u64::try_from(own.nodes.len()).ok()?;
    let mut node = Node { inputs: taken, ..node.clone() };
    if let Some(attrs) = &mut node.attrs {
        attrs.insert("kelf".to_owned(), Value::from(KELF));
    }
    let names = outputs.iter().map(|tensor| tensor.name.clone()).collect();
    node.output_names = Some(Names::Many(names));
    own.nodes.push(node);
    own.heads = (0..).zip(&outputs).map(|(output, _)| vec![place, output, 0]).collect();
    entries.extend(&outputs);
    let count = u64::try_from(entries.len()).ok()?;
    own.node_row_ptr.push(count);
    let shapes: Option<Vec<Vec<i64>>> = entries.iter().map(|entry| entry.shape.clone()).collect();
    own.attrs.shape = shapes.map(|shapes| ("list_shape".to_owned(), shapes));
    let words: Option<Vec<String>> = entries.iter().map(|entry| entry.dtype.clone()).collect();
    own.attrs.dltype = words.map(|words| ("list_str".to_owned(), words));
    let storage = (0..i64::try_from(count).ok()?).collect();
    own.attrs.storage_id = Some(("list_int".to_owned(), storage));
    Some(own)
}
