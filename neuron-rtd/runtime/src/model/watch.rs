//! What an inspection is told of a step.

use std::sync::Arc;
use std::time::Duration;

use super::Model;
use crate::attributes;
use crate::inspect::{Begun, Kind, Recorder};
use crate::plan::{Step, Work};
use crate::stats::nanos;

/// A step on cores that is under way, where events are recorded.
#[derive(Debug, Default)]
pub(super) struct Watch(std::sync::Mutex<Option<Begun>>, Option<Watched>);

#[derive(Debug)]
struct Watched {
    recorder: Arc<Recorder>,
    core: u32,
    model: u32,
    execution: u64,
    before: u64,
}

impl Watch {
    /// Begins to watch a step; nothing for one on the host.
    pub(super) fn of(model: &Model, step: &Step) -> Self {
        let Work::Neuron { first_core, cores, .. } = &step.work else { return Self::default() };
        let Some(recorder) = model.shared.tracing.recorder() else { return Self::default() };
        let (core, execution) = (*first_core, recorder.execution());
        let attributes = attributes! { "model_id": model.id, "exec_id": execution };
        let begun = recorder.begin(Kind::STEP, core, attributes);
        let before = recorder.arrive(core, *cores);
        let watched = Watched { recorder, core, model: model.id, execution, before };
        Self(std::sync::Mutex::new(begun), Some(watched))
    }

    /// A part of it begins.
    pub(super) fn begin(&self, kind: Kind) -> Option<Begun> {
        let of = self.1.as_ref()?;
        let attributes = attributes! { "model_id": of.model, "exec_id": of.execution };
        of.recorder.begin(kind, of.core, attributes)
    }

    /// The part has ended.
    pub(super) fn end(&self, begun: Option<Begun>) {
        if let Some(of) = &self.1 {
            of.recorder.end(begun, Vec::new());
        }
    }

    /// Time of the device before it, ns.
    pub(super) fn before(&self) -> u64 {
        self.1.as_ref().map_or(0, |of| of.before)
    }

    /// The device has run; where nothing is known of its time, that of the host
    /// stands in.
    pub(super) fn ran(
        &self,
        cores: (u32, u32, u32),
        model: u32,
        device: Option<u64>,
        host: Duration,
    ) {
        if let Some(of) = &self.1 {
            of.recorder.ran(cores, of.execution, model, device.unwrap_or_else(|| nanos(host)));
        }
    }

    /// The step has ended.
    pub(super) fn done(&self) {
        let begun = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        self.end(begun);
    }
}
