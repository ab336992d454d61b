//! What of a program cannot run, for runs that do not compute: the checks that
//! each instruction makes before it computes, of all those that no state of a
//! run decides, once per program. A fault stops a run where it comes to the
//! instruction, as it does in a run that computes.
//!
//! Left out are faults of numbers, which only arithmetic can find: an integer
//! divided by zero, an index of a gather by DMA beyond its bound.

use std::collections::BTreeMap;

use neuron_core::isa::Engine;

use super::operands::Operands;
use crate::exec::{self, Site, State};
use crate::fault::Fault;
use crate::hbm::Hbm;
use crate::program::Program;
use crate::run;

/// By engine and slot, why an instruction of a core cannot run.
pub(crate) type Faults = [BTreeMap<usize, Fault>; 5];

impl Program {
    /// What cannot run, by core. The first call looks at every record.
    pub(super) fn faults(&self) -> &[Faults] {
        self.faults.get_or_init(|| self.find_faults())
    }

    fn find_faults(&self) -> Vec<Faults> {
        let mut state = State { computes: false, ..State::new(self.arch) };
        // nothing that is looked at here touches it
        let mut hbm = Hbm::default();
        let cores = self.cores.len();
        let mut all = Vec::with_capacity(cores);
        for (core, program) in self.cores.iter().enumerate() {
            let mut faults = Faults::default();
            for (engine, faults) in Engine::ALL.into_iter().zip(&mut faults) {
                for (slot, record) in program.stream(engine).iter().enumerate() {
                    // what is not understood stops the run anyhow
                    let Ok(instruction) = run::understood(record) else { continue };
                    let computes = Operands::of(instruction).all().next().is_some();
                    if !computes || exec::checked_late(instruction) {
                        continue;
                    }
                    let site = Site { core, cores, engine, slot, next: None, program };
                    if let Err(fault) = exec::execute(&mut state, &mut hbm, site, instruction) {
                        faults.insert(slot, fault);
                    }
                }
            }
            all.push(faults);
        }
        all
    }
}
