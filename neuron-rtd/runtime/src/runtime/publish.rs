//! Shows counters and models on the machine, and looks whether its devices are
//! still there.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use neuron_core::uapi::nds_ext;

use super::Runtime;
use crate::failure::{Code, Failure};
use crate::host::Published;
use crate::journal::Level;
use crate::model::{Model, ModelState};

/// How often counters are shown while they change, and while they do not.
const BUSY: Duration = Duration::from_millis(100);
const QUIET: Duration = Duration::from_secs(1);

impl Runtime {
    /// Device memory that models hold on a device, by its position.
    pub fn device_memory(&self, position: u32) -> u64 {
        let tables = self.tables();
        let parts = tables.models.values().flat_map(|model| &model.memory);
        let here = parts.filter(|(_, core, _)| {
            self.cores().core(*core).is_some_and(|core| core.position == position)
        });
        here.flat_map(|(_, _, parts)| parts).sum()
    }

    /// Shows the counters now.
    pub fn publish(&self) {
        let _alone = self.inner.publishing.lock().unwrap_or_else(PoisonError::into_inner);
        let models: Vec<Arc<Model>> = self.tables().models.values().cloned().collect();
        for position in 0..self.cores().devices().len() {
            let what = self.published(position, &models);
            if let Err(reason) = self.host().publish(position, &what) {
                self.say(Level::Warning, "TDRV:nds_write", &reason);
            }
        }
    }

    fn published(&self, position: usize, models: &[Arc<Model>]) -> Published {
        let mut out = Published::default();
        let lnc = self.cores().lnc();
        for index in 0..self.cores().count() {
            let Some(core) = self.cores().core(index) else { continue };
            if usize::try_from(core.position) != Ok(position) {
                continue;
            }
            if let Some(snapshot) = self.core_snapshot(index) {
                out.cores.extend((core.within * lnc..).zip(snapshot.by_physical()));
            }
            for model in models {
                let nodes = model.memory.iter().filter(|(_, first, _)| *first == index);
                out.models.extend(nodes.map(
                    |(node, _, [code, constants, scratchpad, tensors])| nds_ext::Model {
                        id: model.id,
                        node: *node,
                        core: core.within * lnc,
                        running: model.state() == ModelState::Started,
                        name: model.name.clone(),
                        uuid: model.uuid,
                        host: nds_ext::ModelMemory::default(),
                        device: nds_ext::ModelMemory {
                            code: *code,
                            tensors: *tensors,
                            constants: *constants,
                            scratchpad: *scratchpad,
                            misc: 0,
                        },
                    },
                ));
            }
        }
        out
    }

    pub(super) fn publish_until_the_end(&self) {
        let (ending, changed) = &self.inner.ending;
        let mut shown = Instant::now();
        let mut lost: BTreeSet<u32> = BTreeSet::new();
        let mut guard = ending.lock().unwrap_or_else(PoisonError::into_inner);
        while !*guard {
            guard = changed.wait_timeout(guard, BUSY).unwrap_or_else(PoisonError::into_inner).0;
            let due = shown.elapsed() >= QUIET;
            if self.shared().stats.take_dirty() || due {
                drop(guard);
                self.publish();
                if due {
                    shown = Instant::now();
                    self.look_for_lost_devices(&mut lost);
                }
                guard = ending.lock().unwrap_or_else(PoisonError::into_inner);
            }
        }
        drop(guard);
        // what was counted since
        self.publish();
    }

    /// Models on a device that is lost have failed.
    fn look_for_lost_devices(&self, known: &mut BTreeSet<u32>) {
        let lost = self.host().lost();
        known.retain(|position| lost.iter().any(|(now, _)| now == position));
        for (position, why) in lost {
            let failure = Failure::new(Code::HwError, "TDRV:device_watch", &why);
            let models: Vec<Arc<Model>> = self.tables().models.values().cloned().collect();
            for model in models {
                let on_it = model.memory.iter().any(|(_, core, _)| {
                    self.cores().core(*core).is_some_and(|core| core.position == position)
                });
                if on_it {
                    model.fail(&failure);
                }
            }
            // What is said has happened.
            if known.insert(position) {
                self.say(Level::Error, "TDRV:device_watch", &why);
            }
        }
    }
}
