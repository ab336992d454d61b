//! A model with a node that the host runs.

use std::collections::BTreeMap;

use super::{Sample, Weights, inputs};
use crate::array::ElementType;
use crate::error::Result;
use crate::graph::{Activation, Graph};
use crate::model::{CpuNode, HostNode, HostTensor, Model, NeuronNode};

/// Rows, and sizes of x, of the scores and of the result.
const ROWS: usize = 32;
const SIZES: [usize; 3] = [64, 16, 48];

/// `scores = tanh(x a)` on a NeuronCore, `shares = softmax(scores)` on the
/// host, `y = shares b` on a NeuronCore.
pub(super) fn cpu_node() -> Result<Sample> {
    let mut weights = Weights::new(5);
    let [size, scores, result] = SIZES;
    let a = weights.array("a", &[size, scores], 0.3)?;
    let b = weights.array("b", &[scores, result], 1.0)?;

    let mut first = Graph::new("scores");
    let x = first.input("x", ElementType::F32, &[ROWS, size])?;
    let a = first.constant("a", a)?;
    let product = first.matmul("scores/matmul", x, a)?;
    let tanh = first.activation("scores/tanh", Activation::Tanh, product)?;
    first.output("scores", tanh)?;

    let softmax = CpuNode {
        name: "softmax".to_owned(),
        function: neuron_core::neff::operator::SOFTMAX.to_owned(),
        attributes: BTreeMap::from([("axis".to_owned(), "-1".to_owned())]),
        inputs: vec!["scores".to_owned()],
        outputs: vec![HostTensor {
            name: "shares".to_owned(),
            element: ElementType::F32,
            shape: vec![ROWS, scores],
        }],
    };

    let mut last = Graph::new("mix");
    let shares = last.input("shares", ElementType::F32, &[ROWS, scores])?;
    let b = last.constant("b", b)?;
    let y = last.matmul("mix/matmul", shares, b)?;
    last.output("y", y)?;

    let neuron = |name: &str, graph| {
        HostNode::Neuron(NeuronNode { name: name.to_owned(), cores: vec![graph] })
    };
    let nodes =
        vec![neuron("sg_coreV10", first), HostNode::Cpu(softmax), neuron("sg_coreV11", last)];
    let model = Model { name: "cpu-node".to_owned(), nodes };
    Sample::new(
        "cpu-node",
        "a product, a softmax on the host, a product",
        &model,
        weights.made,
        inputs(&[("x", &[ROWS, size])])?,
    )
}
