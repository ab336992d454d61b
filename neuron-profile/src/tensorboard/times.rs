//! The operator tables of a trace straight from a pass over it: a store of all
//! that is in the trace takes several times as long to make.

use std::collections::HashMap;
use std::convert::Infallible;

use neuron_core::engine::Engine;
use profile_engine::row::{Edge, InstructionRow};
use profile_engine::{Core, Sink};

use super::ops::{Of, Ops, Ran, Tables};

/// Time of each slot of each engine of each core, ns; those outside every
/// program are one.
#[derive(Debug, Default)]
pub(crate) struct Times(HashMap<(usize, Engine, Option<u32>), u64>);

impl Sink for Times {
    type Error = Infallible;

    fn instruction(&mut self, row: &InstructionRow, _edges: &[Edge]) -> Result<(), Infallible> {
        // Whole ns of each end, as the tiles of the store have them.
        let time = (row.end / 1000).saturating_sub(row.start / 1000);
        let sum = self.0.entry((row.core, row.engine, row.slot)).or_default();
        *sum = sum.saturating_add(time);
        Ok(())
    }
}

impl Times {
    /// The tables of the profile of this name.
    pub(crate) fn tables(&self, name: String, cores: &[Core]) -> Tables {
        let rows = || {
            self.0.iter().filter_map(|((at, engine, slot), time)| {
                let core = cores.get(*at)?;
                let slot = slot.and_then(|slot| core.slot(*engine, slot));
                if slot.is_some_and(|slot| slot.role.waits) {
                    return None;
                }
                let origin = slot.and_then(|slot| core.origin(slot));
                Some(Ran {
                    core: u32::try_from(*at).ok()?,
                    layer: origin.map(|origin| origin.layer.as_str()),
                    hlo: origin
                        .map(|origin| origin.hlo_name.as_str())
                        .filter(|hlo| !hlo.is_empty()),
                    time: *time,
                })
            })
        };
        let device = cores.first().map_or(0, |core| u64::from(core.device));
        let of = |of| Ops::summed(rows(), of, device);
        Tables { name, framework: of(Of::Framework), hlo: of(Of::Hlo) }
    }
}
