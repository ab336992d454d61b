//! The drawing of the links, from the links themselves.
//!
//! The torus and the chain are drawn as published (sys-tools.md §2.7, guide of
//! 2022 for the chain); the ring follows the sheet's suggestion. Whatever has
//! no such form, or leads to devices that are not visible here, is listed.

mod draw;
mod graph;

use neuron_core::model::DeviceRow;

use graph::{Graph, Shape};

/// Heading, drawing and what has to be said about it.
pub(crate) fn draw(devices: &[DeviceRow], out: &mut String) {
    out.push_str("Neuron Device Topology\n");
    let graph = Graph::of(devices);
    let parts = graph.parts();
    let shapes: Option<Vec<Shape>> = parts.iter().map(|part| graph.shape(part)).collect();
    let alone = |shape: &Shape| matches!(shape, Shape::Chain(order) if order.len() == 1);
    match shapes {
        // Several devices, one of them without links: nothing to draw.
        Some(shapes) if shapes.len() == 1 || !shapes.iter().any(alone) => {
            for (place, shape) in shapes.iter().enumerate() {
                if place > 0 {
                    out.push('\n');
                }
                draw::shape(shape, &graph, out);
            }
            if shapes.iter().any(Shape::wraps_around) {
                out.push_str("\nLegend:\n\n        *––► = Wrap-around link\n");
            }
        }
        _ => draw::listing(devices, &graph, out),
    }
}
