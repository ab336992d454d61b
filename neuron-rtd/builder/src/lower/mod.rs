//! From a graph to the program of a core.
//!
//! Operators become instructions one after the other; the [`Emitter`] finds
//! what must wait for what, so that engines and queues run ahead as far as the
//! memories allow.
//!
//! A tensor is a batch of matrices, rows x columns; how its sizes are split
//! into batch, rows and columns is a [`View`], which the operator chooses. On
//! chip a matrix lies in tiles of 128 partitions, either its rows or its
//! columns on the partitions. A tensor that takes no more than a quarter of
//! SBUF stays there; a larger one goes through SBUF tile by tile. Where room is
//! short, tensors that the operator does not need move to HBM.

mod attention;
mod collective;
mod convolution;
mod elementwise;
mod embedding;
mod matmul;
mod movement;
mod normal;
mod operand;
mod place;
mod tile;
mod transfer;
mod transpose;

use std::collections::BTreeMap;

use neuron_core::isa::address::Addr4;

use crate::array::{Array, ElementType};
use crate::emit::{Emitter, PSUM, Streams};
use crate::error::{BuildError, Result};
use crate::graph::{Graph, Node, Op, Origin, TensorId};
use crate::space::Space;

use place::View;

/// Partitions of both memories; also rows and columns of the array.
pub(crate) const PARTITIONS: usize = 128;
/// Most moving columns of a product: a bank of fp32 (neuroncore.md §2.1).
pub(crate) const MOVING: usize = 512;
/// Elements of one instruction of ACT, DVE or POOL in a partition (our choice;
/// they take 65536 from SBUF, shorter ones overlap better).
pub(crate) const CHUNK: usize = 2048;

/// Bytes of an SBUF partition that programs may use on v3: the first 16 KiB
/// are scratch of POOL's queue, and the runtime has the end (as in def.json of
/// real files).
const SBUF: std::ops::Range<u32> = 16 << 10..229_368;
/// Bytes of scratch of POOL's queue.
pub(crate) const POOL_SCRATCH: u32 = SBUF.start;
/// Most bytes of a partition that one tensor may keep.
const RESIDENT: u32 = (SBUF.end - SBUF.start) / 4;

/// What a variable is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableKind {
    /// Given to each run.
    Input,
    /// Result of a run.
    Output,
    /// In the file.
    Constant(Array),
    /// Room for what does not stay in SBUF.
    Scratch,
}

/// A variable in HBM. Its id is its index plus 1; 0 is SBUF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: VariableKind,
    /// Type of its elements.
    pub element: ElementType,
    /// Its shape.
    pub shape: Vec<usize>,
}

/// The program of a core.
#[derive(Debug, Clone)]
pub struct CoreProgram {
    /// The five streams.
    pub streams: Streams,
    /// Variables in HBM.
    pub variables: Vec<Variable>,
    /// Operators that instructions are part of.
    pub nodes: Vec<Node>,
    /// Whether there is a collective.
    pub collective: bool,
    /// Whether ACT needs its tables.
    pub tables: bool,
}

/// A tensor while the graph is lowered.
#[derive(Debug, Clone)]
struct Value {
    element: ElementType,
    shape: Vec<usize>,
    /// Uses that are still to come.
    uses: usize,
    /// Variable in HBM that has it, or will have it once it is made.
    hbm: Option<u32>,
    /// Whether it is in the file. Its variable is made when it is first needed.
    constant: bool,
    /// Further outputs of the program with this tensor.
    copies: Vec<u32>,
    chips: Vec<place::Chip>,
}

/// A graph on its way.
#[derive(Debug)]
struct Lower<'g> {
    graph: &'g Graph,
    emit: Emitter,
    sbuf: Space,
    psum: Space,
    values: Vec<Value>,
    /// Tensor whose value a tensor shares.
    roots: Vec<usize>,
    variables: Vec<Variable>,
    /// Constants made of constants.
    prepared: BTreeMap<usize, Array>,
    /// The identity by type, where it was needed.
    identities: BTreeMap<u8, u32>,
    /// Operators done so far; marks what the current one uses.
    now: usize,
    /// Operators that another one did with its own.
    fused: Vec<bool>,
    /// Alternates ACT and DVE where both can do the work.
    turn: bool,
    tables: bool,
}

/// Lowers a graph.
///
/// # Errors
///
/// When a layer does not fit the memories of a core.
pub fn lower(graph: &Graph) -> Result<CoreProgram> {
    let mut lower = Lower::new(graph);
    for (index, node) in graph.nodes.iter().enumerate() {
        lower.now = index + 1;
        lower.emit.node = index;
        if lower.fused.get(index) != Some(&true) {
            lower.node(index, node)?;
        }
        for input in &node.inputs {
            lower.used(*input);
        }
        // nobody wants it
        if lower.value(node.output).uses == 0 {
            lower.used(node.output);
        }
    }
    lower.outputs()?;
    let collective = graph.nodes.iter().any(|node| matches!(node.op, Op::AllReduce(_)));
    Ok(CoreProgram {
        streams: lower.emit.finish()?,
        variables: lower.variables,
        nodes: graph.nodes.clone(),
        collective,
        tables: lower.tables,
    })
}

impl<'g> Lower<'g> {
    fn new(graph: &'g Graph) -> Self {
        let mut lower = Self {
            graph,
            emit: Emitter::default(),
            sbuf: Space::new(SBUF, 64),
            psum: Space::new(0..16 << 10, 2 << 10),
            values: Vec::new(),
            roots: (0..graph.tensors.len()).collect(),
            variables: Vec::new(),
            prepared: BTreeMap::new(),
            identities: BTreeMap::new(),
            now: 0,
            fused: vec![false; graph.nodes.len()],
            turn: false,
            tables: false,
        };
        for tensor in &graph.tensors {
            let (element, shape) = (tensor.element, tensor.shape.clone());
            let hbm = (tensor.origin == Origin::Input)
                .then(|| lower.variable(&tensor.name, VariableKind::Input, element, &shape));
            let constant = matches!(tensor.origin, Origin::Constant(_));
            let (copies, chips) = Default::default();
            lower.values.push(Value { element, shape, uses: 0, hbm, constant, copies, chips });
        }
        // a reshaped tensor is the same bytes
        for node in &graph.nodes {
            if let (Op::Reshape(_), [input]) = (&node.op, node.inputs.as_slice()) {
                let root = lower.root(*input);
                if let Some(slot) = lower.roots.get_mut(node.output.0) {
                    *slot = root;
                }
            }
        }
        for input in graph.nodes.iter().flat_map(|node| &node.inputs) {
            lower.value_mut(*input).uses += 1;
        }
        for (name, id) in &graph.outputs {
            let (element, shape) = (lower.value(*id).element, lower.shape(*id));
            let variable = lower.variable(name, VariableKind::Output, element, &shape);
            let value = lower.value_mut(*id);
            value.uses += 1;
            if value.hbm.is_none() && !value.constant {
                value.hbm = Some(variable);
            } else {
                value.copies.push(variable);
            }
        }
        lower
    }

    fn variable(
        &mut self,
        name: &str,
        kind: VariableKind,
        element: ElementType,
        shape: &[usize],
    ) -> u32 {
        let (name, shape) = (name.to_owned(), shape.to_vec());
        self.variables.push(Variable { name, kind, element, shape });
        self.variables.len() as u32
    }

    fn root(&self, id: TensorId) -> usize {
        self.roots.get(id.0).copied().unwrap_or(id.0)
    }

    /// The value of a tensor. A graph's ids are those of its own tensors.
    fn value(&self, id: TensorId) -> &Value {
        let root = self.root(id);
        &self.values[root]
    }

    fn value_mut(&mut self, id: TensorId) -> &mut Value {
        let root = self.root(id);
        &mut self.values[root]
    }

    /// Shape of a tensor itself, not of what it shares its value with.
    fn shape(&self, id: TensorId) -> Vec<usize> {
        self.graph.tensors.get(id.0).map(|tensor| tensor.shape.clone()).unwrap_or_else(|| {
            // constants made here
            self.value(id).shape.clone()
        })
    }

    fn layer(&self) -> String {
        let node = self.graph.nodes.get(self.emit.node);
        node.map_or_else(|| "end".to_owned(), |node| node.layer.clone())
    }

    fn refuse(&self, reason: impl Into<String>) -> BuildError {
        BuildError::Operator { layer: self.layer(), reason: reason.into() }
    }

    /// A number in the field of a record.
    fn field<N: TryFrom<usize>>(&self, number: usize) -> Result<N> {
        N::try_from(number).map_err(|_| self.refuse(format!("{number} does not fit a record")))
    }

    /// Counts a use of a tensor; after the last one its room is free.
    fn used(&mut self, id: TensorId) {
        let value = self.value_mut(id);
        value.uses = value.uses.saturating_sub(1);
        if value.uses == 0 {
            for chip in std::mem::take(&mut value.chips) {
                self.sbuf.release(chip.base);
            }
        }
    }

    fn node(&mut self, index: usize, node: &Node) -> Result<()> {
        match (&node.op, node.inputs.as_slice()) {
            (Op::MatMul { transpose_a, transpose_b }, [a, b]) => {
                self.matmul(index, (*a, *transpose_a), (*b, *transpose_b), node.output)
            }
            (Op::Activation(f), [x]) => self.activation(*f, *x, node.output),
            (Op::Two(op), [a, b]) => self.two(*op, *a, *b, node.output),
            (Op::Softmax, [x]) => self.softmax(*x, node.output),
            (Op::LayerNorm { eps }, [x, gamma, beta]) => {
                self.layer_norm(*eps, *x, *gamma, *beta, node.output)
            }
            (Op::RmsNorm { eps }, [x, gamma]) => self.rms_norm(*eps, *x, *gamma, node.output),
            (Op::Convolution(window), [x, weights, bias @ ..]) => {
                self.convolution(index, *window, *x, *weights, bias.first().copied(), node.output)
            }
            (Op::Pool(kind, window), [x]) => self.pool(*kind, *window, *x, node.output),
            (Op::Attention(attention), [q, k, v]) => {
                self.attention(*attention, [*q, *k, *v], node.output)
            }
            (Op::Embedding, [table, ids]) => self.embedding(*table, *ids, node.output),
            (Op::Concat { axis }, inputs) => self.concat(*axis, inputs, node.output),
            (Op::Slice { axis, start, .. }, [x]) => self.slice(*axis, *start, *x, node.output),
            (Op::Reshape(_), [_]) => Ok(()),
            (Op::AllReduce(fold), [x]) => self.all_reduce(*fold, *x, node.output),
            (op, inputs) => Err(self.refuse(format!("{} of {} tensors", op.word(), inputs.len()))),
        }
    }

    /// The operator that alone uses a tensor, if it can be done with the one
    /// that makes it.
    fn only_user(&self, id: TensorId) -> Option<(usize, &'g Node)> {
        let graph = self.graph;
        if self.value(id).uses != 1 {
            return None;
        }
        let mut nodes = graph.nodes.iter().enumerate();
        nodes.find(|(_, node)| node.inputs.first() == Some(&id))
    }

    fn fuse(&mut self, index: usize) {
        if let Some(fused) = self.fused.get_mut(index) {
            *fused = true;
        }
    }
}

/// Address of a position in a partition: SBUF, or PSUM from [`PSUM`] on.
fn address(position: u32, partition: usize) -> Addr4 {
    // tiles have at most 128 partitions
    let partition = partition as u8;
    let address = match position.checked_sub(PSUM) {
        Some(byte) => Addr4::psum(partition, byte),
        None => Addr4::sbuf(partition, position),
    };
    address.unwrap_or_default()
}
