//! Rows of layers, and the warnings of a profile.

use neuron_core::engine::Engine;
use profile_engine::about;
use profile_engine::layer::LayerNode;
use profile_engine::{Capture, ReadAt};
use serde_json::{Value, json};

use super::{Row, ns, row, single};
use crate::export::Profile;

pub(super) fn layer<S: ReadAt + ?Sized>(
    capture: &Capture<'_, S>,
    core: &str,
    node: &LayerNode,
) -> Row {
    let peak = capture.chip.peak() * count_real(u64::try_from(capture.cores.len()).unwrap_or(1));
    let span = count_real(node.tensor_span()) / 1e12;
    let rate = |flops: u64| {
        if flops == 0 || span == 0.0 { json!(0) } else { json!(count_real(flops) / span / peak) }
    };
    let useful = node.flops - node.transpose_flops;
    let mut out = row(json!({
        "name": node.name,
        "fully_qualified_subgraph": format!("/{core}"),
        "start": ns(node.start),
        "end": ns(node.end),
        "duration": ns(node.end - node.start),
        "tensor_engine_flop_count": node.flops,
        "tensor_engine_model_flop_count": useful,
        "tensor_engine_hfu": rate(node.flops),
        "tensor_engine_mfu": rate(useful),
    }));
    for engine in Engine::ALL {
        let name = format!("{}_engine", engine.display_name().to_lowercase());
        let active = node.active(engine);
        out.insert(format!("{name}_instruction_count"), json!(node.count(engine)));
        out.insert(format!("{name}_instruction_time"), json!(ns(node.time(engine))));
        out.insert(format!("{name}_active_time"), json!(ns(active)));
        out.insert(format!("{name}_active_percent"), share(active, node.end - node.start));
    }
    out
}

#[allow(clippy::cast_precision_loss, reason = "the viewer's precision is meant")]
const fn count_real(count: u64) -> f64 {
    count as f64
}

/// A quotient of single-precision numbers.
#[allow(clippy::cast_precision_loss, reason = "the viewer's precision is meant")]
fn share(part: u64, whole: u64) -> Value {
    if whole == 0 { json!(0) } else { single(part as f32 / whole as f32) }
}

/// What makes numbers of the profile incomplete, as the vendor's tool tells it.
pub(super) fn warnings<S: ReadAt + ?Sized>(profile: &Profile<'_, S>) -> Vec<Row> {
    let Profile { capture, outcome, .. } = profile;
    about::warnings(capture, &outcome.totals)
        .into_iter()
        .map(|about::Warning { category, message }| {
            row(json!({ "category": category, "message": message }))
        })
        .collect()
}
