//! Sample models, with weights and inputs that are the same on every host.
//!
//! `cargo xtask models` writes them. Each says how it can be computed again:
//! its weights and inputs are arrays, and its docs have the formula.

mod basic;
mod cnn;
mod cpu;
mod faults;
mod mlp;
mod parallel;
mod transformer;

use crate::array::{Array, ElementType};
use crate::error::Result;
use crate::graph::Graph;
use crate::model::{HostNode, Model};
use crate::package::Built;

/// A sample model.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Its name, which is that of its file.
    pub name: &'static str,
    /// What it computes.
    pub about: &'static str,
    /// The file.
    pub built: Built,
    /// Graphs of its cores, of all nodes one after the other.
    pub graphs: Vec<Graph>,
    /// Its weights by name, whole where cores have parts of them.
    pub weights: Vec<(String, Array)>,
    /// Inputs to try it with.
    pub inputs: Vec<(String, Array)>,
}

impl Sample {
    fn new(
        name: &'static str,
        about: &'static str,
        model: &Model,
        weights: Vec<(String, Array)>,
        inputs: Vec<(String, Array)>,
    ) -> Result<Self> {
        let graphs = |node: &HostNode| match node {
            HostNode::Neuron(node) => node.cores.clone(),
            HostNode::Cpu(_) => Vec::new(),
        };
        let graphs = model.nodes.iter().flat_map(graphs).collect();
        Ok(Self { name, about, built: model.build()?, graphs, weights, inputs })
    }
}

/// Makes a sample.
pub type Maker = fn() -> Result<Sample>;

/// Every sample model.
pub const SAMPLES: &[(&str, Maker)] = &[
    ("null", basic::null),
    ("mlp", mlp::mlp),
    ("cnn", cnn::cnn),
    ("transformer", transformer::transformer),
    ("transformer-4-cores", parallel::transformer),
    ("data-parallel-step", parallel::step),
    ("cpu-node", cpu::cpu_node),
    ("deadlock", faults::deadlock),
    ("divide-by-zero", faults::divide_by_zero),
];

/// Random numbers of sample models: splitmix64.
///
/// The state starts at a seed. For each number the state grows by
/// 0x9e3779b97f4a7c15; then `z = state; z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
/// z = (z ^ z >> 27) * 0x94d049bb133111eb; z ^= z >> 31`, all modulo 2^64. The
/// number is `((z >> 40) / 2^23 - 1) * scale`, in fp32: evenly spread between
/// minus and plus `scale`. Arrays take numbers in the order of their elements.
#[derive(Debug, Clone)]
struct Weights {
    state: u64,
    made: Vec<(String, Array)>,
}

impl Weights {
    fn new(seed: u64) -> Self {
        Self { state: seed, made: Vec::new() }
    }

    fn next(&mut self) -> f32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }

    /// An array of numbers around `middle`.
    fn around(&mut self, name: &str, shape: &[usize], middle: f32, scale: f32) -> Result<Array> {
        let count = shape.iter().product();
        let values: Vec<f32> = (0..count).map(|_| self.next() * scale + middle).collect();
        let array = Array::from_f32(ElementType::F32, shape, &values)?;
        self.made.push((name.to_owned(), array.clone()));
        Ok(array)
    }

    /// An array of numbers around zero.
    fn array(&mut self, name: &str, shape: &[usize], scale: f32) -> Result<Array> {
        self.around(name, shape, 0.0, scale)
    }
}

/// Inputs of a sample, from a seed of their own.
fn inputs(list: &[(&str, &[usize])]) -> Result<Vec<(String, Array)>> {
    let mut random = Weights::new(0x1234_5678);
    for (name, shape) in list {
        random.array(name, shape, 1.0)?;
    }
    Ok(random.made)
}

/// A part of a matrix: some of its rows and columns.
fn part(array: &Array, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> Array {
    let width = array.shape().last().copied().unwrap_or(1);
    let shape: Vec<usize> = match array.shape().len() {
        1 => vec![columns.len()],
        _ => vec![rows.len(), columns.len()],
    };
    let count = rows.len() * columns.len();
    let source = |index: usize| {
        (rows.start + index / columns.len()) * width + columns.start + index % columns.len()
    };
    array.part(&shape, count, source)
}
