//! Engines that want the same port or the same bank of PSUM
//! (neuroncore.md §1.1, §5.5).

use neuron_core::isa::Engine;

use super::lane::{Lane, Port};
use super::parameters::{Parameters, Ps};
use super::plan::{Kind, Plan};

/// When no other engine holds what a plan needs; `now` if none does.
pub(super) fn free(
    parameters: &Parameters,
    lanes: &[Lane; 5],
    engine: Engine,
    plan: &Plan<'_>,
    now: Ps,
) -> Ps {
    if !matches!(plan.kind, Kind::MatMul { .. } | Kind::Pipe { .. }) {
        return now;
    }
    let others = lanes.iter().filter(|lane| lane.engine != engine && lane.port.until > now);
    let held = others.filter(|lane| conflict(parameters, engine, plan, lane.engine, &lane.port));
    held.map(|lane| lane.port.until).fold(now, Ps::max)
}

fn conflict(
    parameters: &Parameters,
    engine: Engine,
    plan: &Plan<'_>,
    other: Engine,
    port: &Port,
) -> bool {
    let pair = |a, b| (engine, other) == (a, b) || (engine, other) == (b, a);
    if parameters.shared_ports {
        let sbuf = pair(Engine::Dve, Engine::Pool) && plan.touches_sbuf && port.sbuf;
        let psum = pair(Engine::Dve, Engine::Act) && plan.banks != 0 && port.banks != 0;
        return sbuf || psum;
    }
    plan.banks & port.banks != 0
}
