//! Documents of the whole file: the host graph, the lists of subgraphs, the
//! build (neff.md §5.1, §5.2, §5.5).

use std::collections::BTreeMap;

use neuron_core::neff::Header;
use neuron_core::neff::doc::{
    Graph, GraphAttrs, Info, KELF_FUNCTION, Kelf, KelfGraph, Names, Node,
};
use serde_json::{Value, json};

use super::{PRODUCER, folder, json};
use crate::error::Result;
use crate::model::{HostNode, HostTensor, Model};

/// Member that lists the subgraphs of a Neuron node.
pub(super) fn kelf_name(node: usize) -> String {
    format!("kelf-{node}.json")
}

/// The list of subgraphs of a Neuron node.
pub(super) fn kelf(first: usize, count: usize) -> Result<Vec<u8>> {
    let graph = |number| {
        let name = folder(number);
        KelfGraph { definition: format!("{name}/def.json"), name }
    };
    json(&Kelf {
        graphs: (first..first + count).map(graph).collect(),
        version: "0.5".to_owned(),
        target: Some("npu-sim".to_owned()),
    })
}

/// The build, with the numbers of the header.
pub(super) fn info(model: &Model, header: &Header) -> Result<Vec<u8>> {
    json(&Info {
        tool_version: Some(PRODUCER.to_owned()),
        kelp_version: Some("Dynamic".to_owned()),
        nki_version: None,
        name: Some(model.name.clone()),
        num_tpb: Some(header.num_tpb.into()),
        num_tpb_requested: Some(header.requested_tpb.into()),
        num_tpb_per_node: Some(header.tpb_per_node.iter().map(|n| u64::from(*n)).collect()),
    })
}

/// Collects nodes and their entries.
#[derive(Default)]
struct Hosts {
    nodes: Vec<Node>,
    rows: Vec<u64>,
    entries: Vec<HostTensor>,
    /// Node and output of each tensor.
    made: BTreeMap<String, (u64, u64)>,
}

impl Hosts {
    fn add(&mut self, node: Node, outputs: &[HostTensor]) -> u64 {
        let index = self.nodes.len() as u64;
        self.rows.push(self.entries.len() as u64);
        for (output, tensor) in (0..).zip(outputs) {
            self.made.insert(tensor.name.clone(), (index, output));
        }
        self.entries.extend_from_slice(outputs);
        self.nodes.push(node);
        index
    }
}

/// The host graph.
pub(super) fn document(model: &Model) -> Result<Vec<u8>> {
    let ports = model.ports()?;
    let mut hosts = Hosts::default();
    let made: Vec<&str> =
        ports.iter().flat_map(|ports| &ports.outputs).map(|t| t.name.as_str()).collect();
    let mut arguments = Vec::new();
    for tensor in ports.iter().flat_map(|ports| &ports.inputs) {
        if made.contains(&tensor.name.as_str()) || hosts.made.contains_key(&tensor.name) {
            continue;
        }
        let node = Node {
            op: "null".to_owned(),
            name: tensor.name.clone(),
            output_names: Some(Names::Many(vec![tensor.name.clone()])),
            is_param: Some(Value::from("0")),
            ..Node::default()
        };
        arguments.push(hosts.add(node, std::slice::from_ref(tensor)));
    }
    let mut neuron = 0;
    for (node, ports) in model.nodes.iter().zip(&ports) {
        let names = ports.outputs.iter().map(|tensor| tensor.name.clone()).collect();
        let mut attrs: BTreeMap<String, Value> = BTreeMap::from([
            ("flatten_data".to_owned(), Value::from("0")),
            ("num_inputs".to_owned(), Value::from(ports.inputs.len().to_string())),
            ("num_outputs".to_owned(), Value::from(ports.outputs.len().to_string())),
        ]);
        let (name, function) = match node {
            HostNode::Neuron(node) => {
                attrs.insert("kelf".to_owned(), Value::from(kelf_name(neuron)));
                neuron += 1;
                (&node.name, KELF_FUNCTION)
            }
            HostNode::Cpu(node) => {
                let given = node.attributes.iter();
                attrs.extend(given.map(|(key, value)| (key.clone(), Value::from(value.clone()))));
                (&node.name, node.function.as_str())
            }
        };
        attrs.insert("func_name".to_owned(), Value::from(function));
        let input = |tensor: &HostTensor| {
            let (node, output) = hosts.made.get(&tensor.name).copied().unwrap_or_default();
            vec![node, output, 0]
        };
        let node = Node {
            op: "tvm_op".to_owned(),
            name: name.clone(),
            attrs: Some(attrs),
            inputs: ports.inputs.iter().map(input).collect(),
            output_names: Some(Names::Many(names)),
            ..Node::default()
        };
        hosts.add(node, &ports.outputs);
    }
    let Hosts { nodes, mut rows, entries, made } = hosts;
    rows.push(entries.len() as u64);
    // results of the model: what no node takes
    let taken: Vec<&str> =
        ports.iter().flat_map(|ports| &ports.inputs).map(|t| t.name.as_str()).collect();
    let results = ports.iter().flat_map(|ports| &ports.outputs);
    let results = results.filter(|tensor| !taken.contains(&tensor.name.as_str()));
    let heads = results.filter_map(|tensor| made.get(&tensor.name));
    let heads = heads.map(|(node, output)| vec![*node, *output, 0]).collect();
    let shape = |tensor: &HostTensor| tensor.shape.iter().map(|size| *size as i64).collect();
    let word = |tensor: &HostTensor| tensor.element.word().to_owned();
    let inputs: serde_json::Map<String, Value> = (0..)
        .zip(&arguments)
        .filter_map(|(id, node): (u64, &u64)| {
            let tensor = entries.get(usize::try_from(*node).ok()?)?;
            let value = json!({ "id": id, "dtype": word(tensor), "shape": tensor.shape });
            Some((tensor.name.clone(), value))
        })
        .collect();
    json(&Graph {
        nodes,
        arg_nodes: arguments,
        heads,
        attrs: GraphAttrs {
            shape: Some(("list_shape".to_owned(), entries.iter().map(shape).collect())),
            storage_id: Some(("list_int".to_owned(), (0..entries.len() as i64).collect())),
            dltype: Some(("list_str".to_owned(), entries.iter().map(word).collect())),
            output_names: None,
        },
        node_row_ptr: rows,
        metadata: Some(json!({"signatures": {"default": {"inputs": inputs, "outputs": {}}}})),
    })
}
