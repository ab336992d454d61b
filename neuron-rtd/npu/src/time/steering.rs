//! Whether bytes steer a program: whether what a record loads into registers
//! may be something that the run itself moved. If not, a run without
//! arithmetic need not move bytes at all.
//!
//! Looked at once, before the run, on the variables that records name; a place
//! that cannot be told beforehand counts as steering.

use std::collections::BTreeSet;

use neuron_core::isa::address::{Addr8, Location};
use neuron_core::isa::body::Body;
use neuron_core::isa::{Engine, Record};

use super::machine::Core;
use crate::device;
use crate::dma;
use crate::exec::Site;
use crate::hbm::Place;

/// Buffers of HBM; `None` for SBUF and for what cannot be told.
type Buffers = Option<Vec<usize>>;

fn buffer(place: Place) -> Option<usize> {
    match place {
        Place::Hbm { buffer, .. } => Some(buffer),
        Place::Sbuf => None,
    }
}

fn at(core: &Core<'_>, site: Site<'_>, address: Addr8) -> Option<usize> {
    device::place(&core.state, site, address).ok().and_then(|(place, _)| buffer(place))
}

/// What a record loads registers or descriptors from.
fn loads(core: &Core<'_>, site: Site<'_>, body: &Body) -> Buffers {
    let from = match body {
        Body::PseudoTensorLoad(body) => {
            let location = Location::Variable { id: body.var_id, offset: 0 };
            at(core, site, Addr8::of(location)?)
        }
        Body::TensorLoad(body) => at(core, site, body.address),
        Body::PollSemaphore(body) => at(core, site, Addr8(body.address)),
        // its indices lie in SBUF
        Body::DmaIndirect(_) => None,
        _ => return Some(Vec::new()),
    };
    Some(vec![from?])
}

/// What a record moves bytes to. SBUF does not count, as nothing is loaded
/// from there.
fn moves(core: &Core<'_>, site: Site<'_>, body: &Body) -> Buffers {
    let place = |place| buffer(place).into_iter().collect();
    match body {
        Body::DmaDirect(body) => {
            device::place(&core.state, site, body.dst).ok().map(|(to, _)| place(to))
        }
        Body::DmaTrigger(body) => {
            let job = dma::triggered(site, body).ok()?;
            Some(job.transfers.iter().filter_map(|transfer| buffer(transfer.to.place)).collect())
        }
        Body::Collective(body) => {
            site.program.variable(u64::from(body.output_tensor_id)).ok().map(place)
        }
        _ => Some(Vec::new()),
    }
}

/// What all records of a program have of a kind.
fn all(
    cores: &[Core<'_>],
    of: impl Fn(&Core<'_>, Site<'_>, &Body) -> Buffers,
) -> Option<BTreeSet<usize>> {
    let mut found = BTreeSet::new();
    for (index, core) in cores.iter().enumerate() {
        for engine in Engine::ALL {
            let stream = core.program.stream(engine);
            for (slot, instruction) in stream.iter().map(Record::instruction).enumerate() {
                let Some(instruction) = instruction else { continue };
                let next = stream.get(slot + 1);
                let (cores, program) = (cores.len(), core.program);
                let site = Site { core: index, cores, engine, slot, next, program };
                found.extend(of(core, site, &instruction.body)?);
            }
        }
    }
    Some(found)
}

/// Whether bytes steer the program that these cores run.
pub(super) fn steer(cores: &[Core<'_>]) -> bool {
    let Some(loaded) = all(cores, loads) else { return true };
    if loaded.is_empty() {
        return false;
    }
    all(cores, moves).is_none_or(|moved| !loaded.is_disjoint(&moved))
}
