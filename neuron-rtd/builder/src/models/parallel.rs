//! Models on four cores.

use super::transformer::{
    Block, HEAD, HIDDEN, INNER, SEQUENCE, add_norm, attention, constant, linear, weights,
};
use super::{Sample, Weights, inputs, part};
use crate::array::{Array, ElementType};
use crate::error::Result;
use crate::graph::{Activation, Graph, Op, Reduction, TensorId, TwoTensors};
use crate::model::Model;

/// Cores of these models.
const CORES: usize = 4;

/// The block of the `transformer` model, with the same weights.
///
/// Core r has head r / 2 and the half r % 2 of its queries, and a quarter of
/// the feed-forward part; the sums of both parts are all-reduced. The biases
/// after the sums are added by each core.
pub(super) fn transformer() -> Result<Sample> {
    let (block, weights) = weights()?;
    let cores: Result<Vec<Graph>> = (0..CORES).map(|rank| transformer_core(&block, rank)).collect();
    Sample::new(
        "transformer-4-cores",
        "the transformer block, its heads and its feed-forward part over 4 cores",
        &Model::new("transformer-4-cores", cores?),
        weights,
        inputs(&[("x", &[SEQUENCE, HIDDEN])])?,
    )
}

/// The weights that a core has.
fn share(block: &Block, rank: usize) -> Block {
    let (head, inner) = (rank / 2 * HEAD, rank * (INNER / CORES));
    let (head, inner) = (head..head + HEAD, inner..inner + INNER / CORES);
    let take = |(name, array): (&String, &Array)| {
        let rows = 0..array.shape()[0];
        let columns = 0..array.shape().last().copied().unwrap_or(1);
        let array = match name.as_str() {
            "q.w" | "k.w" | "v.w" => part(array, rows, head.clone()),
            "q.b" | "k.b" | "v.b" => part(array, 0..1, head.clone()),
            "o.w" => part(array, head.clone(), columns),
            "up.w" => part(array, rows, inner.clone()),
            "up.b" => part(array, 0..1, inner.clone()),
            "down.w" => part(array, inner.clone(), columns),
            _ => array.clone(),
        };
        (name.clone(), array)
    };
    block.iter().map(take).collect()
}

/// A product of this core, summed over the cores, plus its bias.
fn reduced(graph: &mut Graph, block: &Block, name: &str, sum: TensorId) -> Result<TensorId> {
    let sum = graph.apply("all-reduce", Op::AllReduce(Reduction::Sum), &[sum])?;
    let b = constant(graph, block, &format!("{name}.b"))?;
    graph.bias("bias", sum, b)
}

/// The graph of one core of the `transformer-4-cores` model.
fn transformer_core(block: &Block, rank: usize) -> Result<Graph> {
    let block = share(block, rank);
    let mut graph = Graph::new(&format!("transformer.{rank}"));
    let x = graph.input("x", ElementType::F32, &[SEQUENCE, HIDDEN])?;
    let half = SEQUENCE / 2;
    let none = Array::from_f32(ElementType::F32, &[half, HIDDEN], &[0.0; SEQUENCE / 2 * HIDDEN])?;
    let y = graph.scope("encoder", |graph| {
        let h = graph.scope("attention", |graph| {
            let halves = graph.split("rows", x, 0, &[half, half])?;
            let q = linear(graph, &block, "q", halves[rank % 2])?;
            let k = linear(graph, &block, "k", x)?;
            let v = linear(graph, &block, "v", x)?;
            let seen = graph.apply("head", attention(1), &[q, k, v])?;
            let o = graph.scope("o", |graph| {
                let w = constant(graph, &block, "o.w")?;
                let some = graph.matmul("matmul", seen, w)?;
                // the other half of the rows is another core's
                let none = graph.constant("none", none)?;
                let rows = if rank.is_multiple_of(2) { [some, none] } else { [none, some] };
                let sum = graph.apply("rows", Op::Concat { axis: 0 }, &rows)?;
                reduced(graph, &block, "o", sum)
            })?;
            add_norm(graph, &block, "norm1", x, o)
        })?;
        graph.scope("feed-forward", |graph| {
            let up = linear(graph, &block, "up", h)?;
            let up = graph.activation("gelu", Activation::Gelu, up)?;
            let down = graph.scope("down", |graph| {
                let w = constant(graph, &block, "down.w")?;
                let sum = graph.matmul("matmul", up, w)?;
                reduced(graph, &block, "down", sum)
            })?;
            add_norm(graph, &block, "norm2", h, down)
        })
    })?;
    graph.output("y", y)?;
    Ok(graph)
}

/// Rows of the data of the step.
const ROWS: usize = 128;
/// Sizes of a row of the data and of the targets.
const FEATURES: [usize; 2] = [64, 8];
/// Factor of the gradient: 2 / rows x step size 0.05.
const RATE: f32 = 0.05 * 2.0 / ROWS as f32;

/// A step of linear regression, each core with a quarter of the rows:
/// `w_new = w - rate x^T (x w - t)`, the gradient summed over the cores.
pub(super) fn step() -> Result<Sample> {
    let mut weights = Weights::new(4);
    let [size, targets] = FEATURES;
    let w = weights.array("w", &[size, targets], 0.5)?;
    let rate = Array::from_f32(ElementType::F32, &[targets], &[RATE; FEATURES[1]])?;
    weights.made.push(("rate".to_owned(), rate.clone()));
    let cores: Result<Vec<Graph>> = (0..CORES).map(|rank| step_core(&w, &rate, rank)).collect();
    Sample::new(
        "data-parallel-step",
        "a step of linear regression, 128 rows over 4 cores, gradient all-reduced",
        &Model::new("data-parallel-step", cores?),
        weights.made,
        inputs(&[("x", &[ROWS, size]), ("t", &[ROWS, targets])])?,
    )
}

fn step_core(w: &Array, rate: &Array, rank: usize) -> Result<Graph> {
    let [size, targets] = FEATURES;
    let mut graph = Graph::new(&format!("step.{rank}"));
    let x = graph.input("x", ElementType::F32, &[ROWS, size])?;
    let t = graph.input("t", ElementType::F32, &[ROWS, targets])?;
    let w = graph.constant("w", w.clone())?;
    let rate = graph.constant("rate", rate.clone())?;
    let (start, rows) = (rank * ROWS / CORES, ROWS / CORES);
    let own = Op::Slice { axis: 0, start, size: rows };
    let x = graph.apply("data/x", own.clone(), &[x])?;
    let t = graph.apply("data/t", own, &[t])?;
    let guess = graph.matmul("forward", x, w)?;
    let error = graph.two("loss", TwoTensors::Subtract, guess, t)?;
    let product = Op::MatMul { transpose_a: true, transpose_b: false };
    let gradient = graph.apply("backward", product, &[x, error])?;
    let gradient = graph.apply("all-reduce", Op::AllReduce(Reduction::Sum), &[gradient])?;
    let step = graph.two("update/rate", TwoTensors::Multiply, gradient, rate)?;
    let new = graph.two("update", TwoTensors::Subtract, w, step)?;
    graph.output("w_new", new)?;
    Ok(graph)
}
