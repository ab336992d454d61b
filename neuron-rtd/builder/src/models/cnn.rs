//! A convolutional network of the size of LeNet-5.

use super::{Sample, Weights, inputs};
use crate::array::ElementType;
use crate::error::Result;
use crate::graph::{Activation, Graph, Op, PoolKind, TensorId, Window};
use crate::model::Model;

/// Images of a run.
const BATCH: usize = 4;

/// Two times convolution of 5 x 5 with relu and maximum of 2 x 2, the first
/// one with 2 zeros around, then 400-120-84-10 with relu.
pub(super) fn cnn() -> Result<Sample> {
    let mut weights = Weights::new(2);
    let mut graph = Graph::new("cnn");
    let mut x = graph.input("x", ElementType::F32, &[BATCH, 1, 28, 28])?;
    for (name, channels, results, padding) in [("conv1", 1, 6, 2), ("conv2", 6, 16, 0)] {
        x = graph.scope(name, |graph| {
            convolution(graph, &mut weights, (name, channels, results, padding), x)
        })?;
    }
    x = graph.reshape("flatten", x, &[BATCH, 400])?;
    for (name, rows, columns) in [("fc1", 400, 120), ("fc2", 120, 84), ("fc3", 84, 10)] {
        let scale = (3.0 / rows as f32).sqrt();
        let w = weights.array(&format!("{name}.w"), &[rows, columns], scale)?;
        let b = weights.array(&format!("{name}.b"), &[columns], 0.1)?;
        x = graph.scope(name, |graph| {
            let w = graph.constant(&format!("{name}.w"), w)?;
            let b = graph.constant(&format!("{name}.b"), b)?;
            let product = graph.matmul("matmul", x, w)?;
            let sum = graph.bias("bias", product, b)?;
            if name == "fc3" { Ok(sum) } else { graph.activation("relu", Activation::Relu, sum) }
        })?;
    }
    graph.output("y", x)?;
    Sample::new(
        "cnn",
        "LeNet-5 with relu and maximum pooling, batch 4",
        &Model::new("cnn", vec![graph]),
        weights.made,
        inputs(&[("x", &[BATCH, 1, 28, 28])])?,
    )
}

fn convolution(
    graph: &mut Graph,
    weights: &mut Weights,
    (name, channels, results, padding): (&str, usize, usize, usize),
    x: TensorId,
) -> Result<TensorId> {
    let scale = (3.0 / (25 * channels) as f32).sqrt();
    let w = weights.array(&format!("{name}.w"), &[results, channels, 5, 5], scale)?;
    let b = weights.array(&format!("{name}.b"), &[results], 0.1)?;
    let w = graph.constant(&format!("{name}.w"), w)?;
    let b = graph.constant(&format!("{name}.b"), b)?;
    let window = Window { padding: [padding; 2], ..Window::square(5, 1) };
    let y = graph.apply("convolution", Op::Convolution(window), &[x, w, b])?;
    let y = graph.activation("relu", Activation::Relu, y)?;
    graph.apply("pool", Op::Pool(PoolKind::Max, Window::square(2, 2)), &[y])
}
