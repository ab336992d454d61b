//! Loaded models.

use std::sync::Arc;

use rtd_runtime::{LoadParams, ModelState, TensorInfo};

use crate::call::Fault;
use crate::environment;
use crate::handle::Table;
use crate::seat::Seat;
use crate::session::Session;

pub(crate) static MODELS: Table<Model> = Table::new("model", 1);

/// A loaded model.
#[derive(Debug)]
pub(crate) struct Model {
    /// Its number in the runtime.
    pub(crate) id: u32,
    pub(crate) first_core: u32,
    pub(crate) cores: u32,
    /// Executions at once.
    pub(crate) slots: u32,
    /// Inputs and outputs.
    pub(crate) tensors: Vec<TensorInfo>,
    pub(crate) seat: Arc<Seat>,
}

impl Model {
    /// Loads a NEFF on the cores from `vnc` on, or on the first that are free.
    pub(crate) fn load(session: &Session, neff: &[u8], vnc: i32) -> Result<Arc<Self>, Fault> {
        let timeout = environment::timeout(session.is_inf1())?;
        let params = LoadParams { timeout: Some(timeout), ..LoadParams::default() };
        let runtime = &session.runtime;
        let loaded = match vnc {
            -1 => runtime.load(neff, &params),
            vnc => runtime.load_at(neff, session.core(vnc.into())?, &params),
        };
        let id = loaded.map_err(|failure| session.fault(failure))?;
        let info = runtime.model_info(id).map_err(|failure| session.fault(failure))?;
        let seat = session.seats.of(info.group);
        if info.state == ModelState::Started {
            seat.begin(id);
        }
        Ok(Arc::new(Self {
            id,
            first_core: info.first_core,
            cores: info.cores,
            slots: info.depth,
            tensors: info.tensors,
            seat,
        }))
    }

    /// Unloads it; what it executes ends first.
    pub(crate) fn unload(&self, session: &Session) -> Result<(), Fault> {
        let unloaded = session.runtime.unload(self.id);
        self.seat.leave(self.id);
        unloaded.map_err(|failure| session.fault(failure))
    }

    /// Inputs or outputs.
    pub(crate) fn ports(&self, output: bool) -> impl Iterator<Item = &TensorInfo> {
        self.tensors.iter().filter(move |tensor| tensor.output == output)
    }
}
