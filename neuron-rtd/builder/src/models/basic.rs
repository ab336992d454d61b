//! The null model: what a run costs when it does nothing.

use super::{Sample, inputs};
use crate::array::ElementType;
use crate::error::Result;
use crate::graph::Graph;
use crate::model::Model;

/// `y = x`, 64 bytes, one transfer.
pub(super) fn null() -> Result<Sample> {
    let mut graph = Graph::new("null");
    let x = graph.input("x", ElementType::F32, &[16])?;
    graph.output("y", x)?;
    Sample::new(
        "null",
        "copies 64 bytes from its input to its output",
        &Model::new("null", vec![graph]),
        Vec::new(),
        inputs(&[("x", &[16])])?,
    )
}
