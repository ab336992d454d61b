//! An encoder block of the size of BERT-tiny.

use std::collections::BTreeMap;

use super::{Sample, Weights, inputs};
use crate::array::{Array, ElementType};
use crate::error::{BuildError, Result};
use crate::graph::{Activation, Attention, Graph, Op, TensorId, TwoTensors};
use crate::model::Model;

/// Rows of a sequence.
pub(super) const SEQUENCE: usize = 128;
/// Size of a row.
pub(super) const HIDDEN: usize = 128;
/// Heads of the attention.
pub(super) const HEADS: usize = 2;
/// Size of a head.
pub(super) const HEAD: usize = HIDDEN / HEADS;
/// Size of the rows within the feed-forward part.
pub(super) const INNER: usize = 512;
/// Added to variances.
pub(super) const EPS: f32 = 1e-5;

/// Weights of a block by name.
pub(super) type Block = BTreeMap<String, Array>;

/// The weights of the block.
pub(super) fn weights() -> Result<(Block, Vec<(String, Array)>)> {
    let mut weights = Weights::new(3);
    let narrow = (3.0 / HIDDEN as f32).sqrt();
    for name in ["q", "k", "v", "o"] {
        weights.array(&format!("{name}.w"), &[HIDDEN, HIDDEN], narrow)?;
        weights.array(&format!("{name}.b"), &[HIDDEN], 0.1)?;
    }
    weights.array("up.w", &[HIDDEN, INNER], narrow)?;
    weights.array("up.b", &[INNER], 0.1)?;
    weights.array("down.w", &[INNER, HIDDEN], (3.0 / INNER as f32).sqrt())?;
    weights.array("down.b", &[HIDDEN], 0.1)?;
    for name in ["norm1", "norm2"] {
        weights.around(&format!("{name}.gamma"), &[HIDDEN], 1.0, 0.1)?;
        weights.array(&format!("{name}.beta"), &[HIDDEN], 0.1)?;
    }
    Ok((weights.made.iter().cloned().collect(), weights.made))
}

/// A weight of the block as a constant.
pub(super) fn constant(graph: &mut Graph, block: &Block, name: &str) -> Result<TensorId> {
    let missing = || BuildError::Model {
        model: "transformer".to_owned(),
        reason: format!("no weight {name}"),
    };
    graph.constant(name, block.get(name).ok_or_else(missing)?.clone())
}

/// x w + b.
pub(super) fn linear(
    graph: &mut Graph,
    block: &Block,
    name: &str,
    x: TensorId,
) -> Result<TensorId> {
    graph.scope(name, |graph| {
        let w = constant(graph, block, &format!("{name}.w"))?;
        let b = constant(graph, block, &format!("{name}.b"))?;
        let product = graph.matmul("matmul", x, w)?;
        graph.bias("bias", product, b)
    })
}

/// The layer norm of a sum.
pub(super) fn add_norm(
    graph: &mut Graph,
    block: &Block,
    name: &str,
    x: TensorId,
    more: TensorId,
) -> Result<TensorId> {
    graph.scope(name, |graph| {
        let gamma = constant(graph, block, &format!("{name}.gamma"))?;
        let beta = constant(graph, block, &format!("{name}.beta"))?;
        let sum = graph.two("add", TwoTensors::Add, x, more)?;
        graph.apply("layernorm", Op::LayerNorm { eps: EPS }, &[sum, gamma, beta])
    })
}

/// Attention of so many heads of this block's size.
pub(super) fn attention(heads: usize) -> Op {
    Op::Attention(Attention { heads, scale: 1.0 / (HEAD as f32).sqrt(), causal: None })
}

/// `h = norm1(x + attention(x q, x k, x v) o)`, `y = norm2(h + gelu(h up)
/// down)`, each product with its bias, gelu in its form with tanh.
pub(super) fn transformer() -> Result<Sample> {
    let (block, weights) = weights()?;
    let mut graph = Graph::new("transformer");
    let x = graph.input("x", ElementType::F32, &[SEQUENCE, HIDDEN])?;
    let y = graph.scope("encoder", |graph| {
        let h = graph.scope("attention", |graph| {
            let q = linear(graph, &block, "q", x)?;
            let k = linear(graph, &block, "k", x)?;
            let v = linear(graph, &block, "v", x)?;
            let seen = graph.apply("heads", attention(HEADS), &[q, k, v])?;
            let o = linear(graph, &block, "o", seen)?;
            add_norm(graph, &block, "norm1", x, o)
        })?;
        graph.scope("feed-forward", |graph| {
            let up = linear(graph, &block, "up", h)?;
            let up = graph.activation("gelu", Activation::Gelu, up)?;
            let down = linear(graph, &block, "down", up)?;
            add_norm(graph, &block, "norm2", h, down)
        })
    })?;
    graph.output("y", y)?;
    Sample::new(
        "transformer",
        "encoder block: 128 rows of 128, 2 heads, feed-forward 512",
        &Model::new("transformer", vec![graph]),
        weights,
        inputs(&[("x", &[SEQUENCE, HIDDEN])])?,
    )
}
