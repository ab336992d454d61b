//! Loading a NEFF into a group (neuron-rtd.md §3.1, §3.2, §3.7).

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::attributes;
use crate::cores::Core;
use crate::failure::{Code, Failure};
use crate::host::category;
use crate::inspect::Kind;
use crate::journal::Level;
use crate::model::{Facts, Mode, Model};
use crate::plan::{Outline, Plan, Work, bind};
use crate::runtime::Runtime;
use crate::sessions;
use crate::stats::Metric;

/// How to load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LoadParams {
    /// The group; `None` for one of its own, which is then started.
    pub group: Option<u32>,
    /// The session that owns the model; 0 for none.
    pub session: u64,
    /// Seconds that an inference may take; `None` or 0 for the default.
    pub timeout: Option<u32>,
    /// Inferences in flight; `None` or 0 for the default.
    pub ninfer: Option<u32>,
    /// Whether the first inference after each start is profiled.
    pub profile: bool,
}

/// First handle of a model.
pub(crate) const FIRST_MODEL: u32 = 10_001;

/// Most inferences in flight of one model (neuron-rtd.md §3.8).
const MOST_INFER: u32 = 1024;

const PLACE: &str = "NMGR:dlr_kelf_stage";

/// Where a model goes.
struct Seat {
    group: Option<u32>,
    first_core: u32,
    mode: Mode,
    /// Another model has its cores, too; it is started when its turn comes.
    joined: bool,
}

/// Cores that a NEFF takes, each of `lnc` physical ones; 0 for one that runs on
/// the host alone.
///
/// # Errors
///
/// [`Code::Invalid`] for a bad NEFF, [`Code::UnsupportedVersion`].
pub fn cores_needed(neff: &[u8], lnc: u32) -> Result<u32, Failure> {
    Ok(Outline::read(neff, lnc)?.needs().0)
}

impl Runtime {
    /// Loads a NEFF; the bytes are not needed afterwards.
    ///
    /// # Errors
    ///
    /// [`Code::Invalid`] for a bad NEFF, [`Code::UnsupportedVersion`],
    /// [`Code::ResourceNc`] for too few cores, [`Code::Resource`] for too
    /// little device memory, [`Code::InvalidHandle`] for an unknown group or
    /// session. Nothing stays behind.
    pub fn load(&self, neff: &[u8], params: &LoadParams) -> Result<u32, Failure> {
        self.load_from(neff, None, params)
    }

    /// As [`Self::load`] without a group, on the cores from `first_core` on.
    /// Other models may be placed on the same cores; then it is not started.
    ///
    /// # Errors
    ///
    /// As [`Self::load`]; cores of which another group holds a part.
    pub fn load_at(
        &self,
        neff: &[u8],
        first_core: u32,
        params: &LoadParams,
    ) -> Result<u32, Failure> {
        self.load_from(neff, Some(first_core), &LoadParams { group: None, ..*params })
    }

    fn load_from(
        &self,
        neff: &[u8],
        first_core: Option<u32>,
        params: &LoadParams,
    ) -> Result<u32, Failure> {
        let from = Instant::now();
        self.check_serving()?;
        let recorder = self.recorder();
        let begun = recorder
            .as_ref()
            .and_then(|recorder| recorder.begin(Kind::LOAD, first_core.unwrap_or(0), Vec::new()));
        let loaded = self.load_outlined(neff, first_core, params, from);
        if let Some(recorder) = recorder {
            let told = loaded.as_ref().map(|id| attributes! { "model_id": *id });
            recorder.end(begun, told.unwrap_or_default());
        }
        loaded
    }

    fn load_outlined(
        &self,
        neff: &[u8],
        first_core: Option<u32>,
        params: &LoadParams,
        from: Instant,
    ) -> Result<u32, Failure> {
        let outline = Outline::read(neff, self.cores().lnc())?;
        let (normal, shared) = outline.needs();
        let seat = self.seat(params, first_core, normal, shared)?;
        let seated = self.load_seated(&outline, params, &seat);
        let model = match seated {
            Ok(model) => model,
            Err(failure) => {
                if let Some(group) = seat.group {
                    self.leave_group(group);
                }
                return Err(failure);
            }
        };
        let size = u64::try_from(neff.len()).unwrap_or(u64::MAX);
        self.shared().stats.loaded(model.version, size, u64::from(model.cores));
        let stats = &self.shared().stats;
        stats.measure(Metric::LoadLatency, from.elapsed().as_secs_f64());
        #[allow(clippy::cast_precision_loss, reason = "a size as a metric")]
        stats.measure(Metric::ModelSize, size as f64);
        stats.measure(Metric::ModelCores, f64::from(model.cores));
        if let Some(core) = model.plan.home().and_then(|home| stats.core(home)) {
            core.add(neuron_core::uapi::nds::core_counter::MODEL_LOAD_COUNT, 1);
        }
        let (major, minor) = model.version;
        let text = format!(
            "Loaded model ({}) {:?}, NEFF version {major}.{minor}, {} NCs from {}, {}",
            model.id,
            model.name,
            model.cores,
            model.first_core,
            if model.mode == Mode::SharedNc { "shared NCs" } else { "normal mode" },
        );
        self.say(Level::Info, "NMGR:dlr_kelf_load", &text);
        let id = model.id;
        if let Some(inspection) = self.shared().tracing.inspection()
            && let Some(trace) = inspection.model(id, model.first_core, neff)
        {
            model.begin_capture(trace);
        }
        if params.group.is_none()
            && !seat.joined
            && let Err(failure) = self.start(id)
        {
            let _ = self.unload(id);
            return Err(failure);
        }
        Ok(id)
    }

    /// Finds the cores, and counts the model as a member of its group.
    fn seat(
        &self,
        params: &LoadParams,
        first_core: Option<u32>,
        normal: u32,
        shared: u32,
    ) -> Result<Seat, Failure> {
        let mut tables = self.tables();
        sessions::check(&tables, params.session, PLACE)?;
        let Some(id) = params.group else {
            if normal == 0 {
                let mode = Mode::Normal;
                return Ok(Seat { group: None, first_core: 0, mode, joined: false });
            }
            let total = self.cores().count();
            let (session, groups) = (params.session, &mut tables.groups);
            let id = match first_core {
                None => groups.create(self.cores(), Some(normal), session, true),
                Some(first) => groups.place(self.cores(), first, normal, session),
            };
            let id = id.map_err(|failure| {
                failure.then(PLACE, too_few(total, normal)).then(
                    PLACE,
                    format!("Insufficient number of VNCs: {total}, required: {normal}"),
                )
            })?;
            let group = tables.groups.get_mut(id, PLACE)?;
            let joined = group.members > 0;
            group.members += 1;
            let first_core = group.start;
            if !joined {
                self.shared().stats.own(first_core, normal, true);
            }
            return Ok(Seat { group: Some(id), first_core, mode: Mode::Normal, joined });
        };
        let group = tables.groups.get_mut(id, PLACE)?;
        if group.implicit {
            let text = format!("EG({id}) belongs to one model; no other may join");
            return Err(Failure::new(Code::Invalid, PLACE, text));
        }
        if group.orphan {
            let text = format!("EG({id}) goes with its last model: its session has ended");
            return Err(Failure::new(Code::InvalidHandle, PLACE, text));
        }
        let mode = if group.count >= normal {
            Mode::Normal
        } else if group.count >= shared {
            Mode::SharedNc
        } else {
            let text = format!("Insufficient number of VNCs: {}, required: {shared}", group.count);
            return Err(Failure::new(Code::ResourceNc, PLACE, too_few(group.count, shared))
                .then(PLACE, text));
        };
        group.members += 1;
        Ok(Seat { group: Some(id), first_core: group.start, mode, joined: false })
    }

    fn load_seated(
        &self,
        outline: &Outline<'_>,
        params: &LoadParams,
        seat: &Seat,
    ) -> Result<Arc<Model>, Failure> {
        let shared_nc = seat.mode == Mode::SharedNc;
        let settings = &self.shared().settings;
        let native = |name: &str| settings.native_cpu_nodes.iter().any(|known| known == name);
        let plan = bind(outline, self.backend(), seat.first_core, shared_nc, &native)?;
        let given = |given: Option<u32>, default: u32| given.filter(|n| *n > 0).unwrap_or(default);
        let ninfer = given(params.ninfer, settings.ninfer).min(MOST_INFER);
        let (normal, most) = outline.needs();
        let header = &outline.neff.header;
        let facts = Facts {
            id: 0,
            name: header.name_text(),
            uuid: header.uuid,
            version: outline.version(),
            group: seat.group,
            session: params.session,
            first_core: seat.first_core,
            cores: if shared_nc { most } else { normal },
            mode: seat.mode,
            ninfer,
            timeout: Duration::from_secs(u64::from(given(params.timeout, settings.timeout_sec))),
            profile: params.profile,
            host_bytes: u64::try_from(outline.bytes.len()).unwrap_or(u64::MAX),
            memory: memory(outline, &plan, ninfer),
        };
        let handles = self.allocate(&facts)?;
        let mut tables = self.tables();
        // the session may have ended while the file was read
        let alive = sessions::check(&tables, params.session, PLACE);
        let id = tables.last_model.checked_add(1);
        let (id, facts) = match (alive, id) {
            (Ok(()), Some(id)) => (id, Facts { id, ..facts }),
            (alive, _) => {
                drop(tables);
                self.release(handles);
                alive?;
                let text = "all handles of models have been used";
                return Err(Failure::new(Code::Resource, PLACE, text));
            }
        };
        tables.last_model = id;
        let model = Arc::new(Model::new(facts, plan, Arc::clone(self.shared())));
        *model.handles.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = handles;
        tables.models.insert(id, Arc::clone(&model));
        drop(tables);
        self.models_changed();
        Ok(model)
    }

    /// Takes device memory for every node.
    fn allocate(&self, facts: &Facts) -> Result<Vec<(Core, u64)>, Failure> {
        const PLACE: &str = "TDRV:dmem_alloc";
        let mut handles = Vec::new();
        for (_, first, parts) in &facts.memory {
            let Some(core) = self.cores().core(*first) else { continue };
            for (bytes, category) in parts.iter().zip(category::DEVICE) {
                if *bytes == 0 {
                    continue;
                }
                match self.take_memory(core, *bytes, category) {
                    Ok(handle) => handles.push((core, handle)),
                    Err(reason) => {
                        self.release(handles);
                        let text = format!("Failed to alloc DEVICE memory: {bytes}");
                        return Err(Failure::new(Code::Resource, PLACE, reason).then(PLACE, text));
                    }
                }
            }
        }
        Ok(handles)
    }

    pub(crate) fn release(&self, handles: Vec<(Core, u64)>) {
        for (core, handle) in handles {
            self.give_memory(core, handle);
        }
    }
}

fn too_few(there: u32, required: u32) -> String {
    format!("Requested number of NCs: {required} exceeds the total available number: {there}")
}

/// Device memory by node on cores: node, first core, and in the order of
/// [`category::DEVICE`] code, constants, scratchpad, tensors of all slots.
fn memory(outline: &Outline<'_>, plan: &Plan, ninfer: u32) -> Vec<(u32, u32, [u64; 4])> {
    let mut out = Vec::new();
    for (number, (node, step)) in (0..).zip(outline.nodes.iter().zip(&plan.steps)) {
        if let Work::Neuron { first_core, .. } = step.work {
            let parts = node.memory;
            let tensors = parts.tensors.saturating_mul(u64::from(ninfer));
            let parts = [parts.code, parts.constants, parts.scratchpad, tensors];
            out.push((number, first_core, parts));
        }
    }
    out
}
