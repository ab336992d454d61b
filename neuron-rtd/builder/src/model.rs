//! Models: nodes that NeuronCores run and nodes that the host runs, joined by
//! the names of their tensors.
//!
//! A Neuron node has a graph for each of its cores; cores name an input or
//! output alike where they share it. A CPU node is a function that the runtime
//! must know by its name (our choice: there is no `cpu.so` in the file, for the
//! forms of its functions are not published).

use std::collections::{BTreeMap, BTreeSet};

use crate::array::ElementType;
use crate::error::{BuildError, Result};
use crate::graph::Graph;

/// A tensor between nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostTensor {
    /// Its name.
    pub name: String,
    /// Type of its elements.
    pub element: ElementType,
    /// Its shape.
    pub shape: Vec<usize>,
}

/// A node that the host runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuNode {
    /// Its name.
    pub name: String,
    /// The function.
    pub function: String,
    /// Parameters of the function.
    pub attributes: BTreeMap<String, String>,
    /// Names of what it takes.
    pub inputs: Vec<String>,
    /// What it makes.
    pub outputs: Vec<HostTensor>,
}

/// A node that NeuronCores run.
#[derive(Debug, Clone)]
pub struct NeuronNode {
    /// Its name.
    pub name: String,
    /// One graph for each core.
    pub cores: Vec<Graph>,
}

/// A node of the host graph.
#[derive(Debug, Clone)]
pub enum HostNode {
    /// On NeuronCores.
    Neuron(NeuronNode),
    /// On the host.
    Cpu(CpuNode),
}

/// A model.
#[derive(Debug, Clone)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// Nodes; what one takes, an earlier one makes, or the caller gives.
    pub nodes: Vec<HostNode>,
}

/// Inputs and outputs of a node, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ports {
    /// What it takes.
    pub inputs: Vec<HostTensor>,
    /// What it makes.
    pub outputs: Vec<HostTensor>,
}

impl Model {
    /// A model of one Neuron node.
    pub fn new(name: &str, cores: Vec<Graph>) -> Self {
        // the name that compilers give the first node (neff.md §5.1)
        let node = NeuronNode { name: "sg_coreV10".to_owned(), cores };
        Self { name: name.to_owned(), nodes: vec![HostNode::Neuron(node)] }
    }

    fn refuse(&self, reason: String) -> BuildError {
        BuildError::Model { model: self.name.clone(), reason }
    }

    /// What each node takes and makes.
    ///
    /// # Errors
    ///
    /// When cores or nodes give one name to different tensors, a CPU node takes
    /// what nothing makes, or a node makes nothing.
    pub fn ports(&self) -> Result<Vec<Ports>> {
        let mut known: BTreeMap<String, HostTensor> = BTreeMap::new();
        let mut made = BTreeSet::new();
        let mut all = Vec::new();
        for node in &self.nodes {
            let mut ports = Ports::default();
            let name = match node {
                HostNode::Cpu(node) => {
                    for name in &node.inputs {
                        let tensor = known.get(name).cloned();
                        let missing = || self.refuse(format!("{}: no tensor {name}", node.name));
                        ports.inputs.push(tensor.ok_or_else(missing)?);
                    }
                    ports.outputs.clone_from(&node.outputs);
                    &node.name
                }
                HostNode::Neuron(node) => {
                    for graph in &node.cores {
                        for tensor in graph_inputs(graph) {
                            self.join(&mut ports.inputs, tensor)?;
                        }
                        for tensor in graph_outputs(graph) {
                            self.join(&mut ports.outputs, tensor)?;
                        }
                    }
                    &node.name
                }
            };
            if ports.outputs.is_empty() {
                return Err(self.refuse(format!("node {name} makes nothing")));
            }
            for tensor in &ports.inputs {
                let other = known.entry(tensor.name.clone()).or_insert_with(|| tensor.clone());
                if other != tensor {
                    return Err(self.refuse(format!("two tensors are named {}", tensor.name)));
                }
            }
            for tensor in &ports.outputs {
                let fresh = known.insert(tensor.name.clone(), tensor.clone()).is_none();
                if !fresh || !made.insert(tensor.name.clone()) {
                    return Err(self.refuse(format!("two tensors are named {}", tensor.name)));
                }
            }
            all.push(ports);
        }
        if all.is_empty() {
            return Err(self.refuse("it has no nodes".to_owned()));
        }
        Ok(all)
    }

    /// Adds a tensor of a core to those of its node.
    fn join(&self, tensors: &mut Vec<HostTensor>, tensor: HostTensor) -> Result<()> {
        match tensors.iter().find(|known| known.name == tensor.name) {
            Some(known) if *known == tensor => Ok(()),
            Some(_) => Err(self.refuse(format!("cores differ in {}", tensor.name))),
            None => {
                tensors.push(tensor);
                Ok(())
            }
        }
    }
}

fn graph_inputs(graph: &Graph) -> impl Iterator<Item = HostTensor> + '_ {
    graph.inputs().map(|tensor| HostTensor {
        name: tensor.name.clone(),
        element: tensor.element,
        shape: tensor.shape.clone(),
    })
}

fn graph_outputs(graph: &Graph) -> impl Iterator<Item = HostTensor> + '_ {
    graph.outputs().iter().filter_map(|(name, id)| {
        let tensor = graph.tensor(*id)?;
        let (element, shape) = (tensor.element, tensor.shape.clone());
        Some(HostTensor { name: name.clone(), element, shape })
    })
}
