//! A multilayer perceptron.

use super::{Sample, Weights, inputs};
use crate::array::ElementType;
use crate::error::Result;
use crate::graph::{Activation, Graph};
use crate::model::Model;

/// Sizes of the layers.
const SIZES: [usize; 4] = [784, 512, 512, 10];
/// Images of a run.
const BATCH: usize = 64;

/// `y = relu(relu(x fc1.w + fc1.b) fc2.w + fc2.b) fc3.w + fc3.b`.
pub(super) fn mlp() -> Result<Sample> {
    let mut weights = Weights::new(1);
    let mut graph = Graph::new("mlp");
    let mut x = graph.input("x", ElementType::F32, &[BATCH, SIZES[0]])?;
    let layers = SIZES.len() - 1;
    for (layer, pair) in (1..).zip(SIZES.windows(2)) {
        let [rows, columns] = [pair[0], pair[1]];
        let scale = (3.0 / rows as f32).sqrt();
        let name = format!("fc{layer}");
        let w = weights.array(&format!("{name}.w"), &[rows, columns], scale)?;
        let b = weights.array(&format!("{name}.b"), &[columns], 0.1)?;
        x = graph.scope(&name, |graph| {
            let w = graph.constant(&format!("{name}.w"), w)?;
            let b = graph.constant(&format!("{name}.b"), b)?;
            let product = graph.matmul("matmul", x, w)?;
            let sum = graph.bias("bias", product, b)?;
            if layer < layers { graph.activation("relu", Activation::Relu, sum) } else { Ok(sum) }
        })?;
    }
    graph.output("y", x)?;
    Sample::new(
        "mlp",
        "784-512-512-10 with relu, batch 64",
        &Model::new("mlp", vec![graph]),
        weights.made,
        inputs(&[("x", &[BATCH, SIZES[0]])])?,
    )
}
