//! Devices through libnrt (neuron-rtd.md §4.6).
//!
//! One NEFF per node, on the core that the runtime has chosen; tensors of a node
//! are kept from run to run. libnrt tells NaN by a status, and the outputs are
//! there: they are handed on, and the runtime looks for NaN itself.
//!
//! Left out: the asynchronous calls. What a run costs is not known to libnrt.

use std::fmt;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use neuron_core::instance::InstanceType;
use neuron_core::sys::nrt::{Model, Nrt as Library, TensorSet};
use neuron_core::uapi::nrt::{INF1, LIBRARY, Status, instance_name, placement};

use super::{
    Backend, Node, NodeFault, NodeImage, NodeRun, NodeTensor, ProfileOrigin, Profiled, Tensors,
};
use crate::cores::Cores;
use crate::failure::{Code, Failure, Subtype};

mod status;

pub use status::{At, meaning};

const PLACE: &str = "NRT:nrt_init";

/// Devices through libnrt.
#[derive(Debug)]
pub struct Nrt {
    library: Arc<Library>,
    kind: &'static InstanceType,
    placement: u32,
    /// Cores of the machine.
    total: u32,
    /// First core of this process, and how many it has.
    own: (u32, u32),
}

impl Nrt {
    /// Opens the library that is named, else that of the vendor's package, and
    /// initialises it: then it owns the cores that `NEURON_RT_VISIBLE_CORES` or
    /// `NEURON_RT_NUM_CORES` say, or all.
    ///
    /// # Errors
    ///
    /// A file that is not there, no libnrt or of another version; our own library
    /// where it was not named, as it serves simulated instances; no devices.
    pub fn open(named: Option<&Path>) -> Result<Self, Failure> {
        Self::open_at(named.unwrap_or(Path::new(LIBRARY)), named.is_some())
    }

    /// Opens the library of a path, `named` if a user has named it.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub fn open_at(path: &Path, named: bool) -> Result<Self, Failure> {
        let unusable = |reason: &dyn fmt::Display| {
            let text = format!(
                "{reason}; install aws-neuronx-runtime-lib 2.x, name another library with \
                 --libnrt, or use a simulated instance: --source sim:trn1.2xlarge"
            );
            Failure::new(Code::Fail, PLACE, text)
        };
        let mut library = Library::open(path).map_err(|error| unusable(&error))?;
        if library.is_ours() && !named {
            let text = format!(
                "{} is the one of neuron-tools, which serves simulated instances, not devices",
                path.display()
            );
            return Err(unusable(&text));
        }
        let told = |what: &str| {
            let (what, path) = (what.to_owned(), path.display().to_string());
            move |status: Status| {
                let (code, _, _) = meaning(status, At::Other);
                let text = format!("{what} of {path}: {status}, {}", status.meaning());
                Failure::new(code, PLACE, text)
            }
        };
        library.init().map_err(told("nrt_init"))?;
        let info = library.instance().map_err(told("nrt_get_instance_info"))?;
        let (total, visible) = library.cores().map_err(told("nrt_get_total_vnc_count"))?;
        let name = instance_name(info.family, info.size);
        let kind = name.as_deref().and_then(InstanceType::find).ok_or_else(|| {
            let text =
                format!("an unknown instance type: family {}, size {}", info.family, info.size);
            Failure::new(Code::Fail, PLACE, text)
        })?;
        let placement = if info.family == INF1 { placement::VIRTUAL } else { placement::DEVICE };
        let first = std::env::var("NEURON_RT_VISIBLE_CORES").unwrap_or_default();
        let digits = first.trim().split(|c: char| !c.is_ascii_digit()).next();
        let first = digits.and_then(|digits| digits.parse().ok()).unwrap_or(0);
        let library = Arc::new(library);
        Ok(Self { library, kind, placement, total, own: (first, visible) })
    }

    /// The machine.
    pub fn kind(&self) -> &'static InstanceType {
        self.kind
    }

    /// File and version of the library.
    pub fn library(&self) -> String {
        format!("{} {}", self.library.path().display(), self.library.version())
    }

    /// The cores of this process; they must be those of `devices`, if there are
    /// any, because libnrt takes cores and not devices.
    ///
    /// # Errors
    ///
    /// Other devices than those of the cores; the text has the cores to set.
    pub fn cores(&self, devices: &[u32]) -> Result<Cores, Failure> {
        let wrong = |text: String| Failure::new(Code::Invalid, PLACE, text);
        if self.total == 0 {
            return Err(wrong("libnrt has no cores".to_owned()));
        }
        let lnc = (self.kind.total_cores() / self.total).max(1);
        let (first, count) = self.own;
        let cores = Cores::range(self.kind, first, count, Some(lnc))?;
        if devices.is_empty() || devices == cores.devices() {
            return Ok(cores);
        }
        let list =
            |devices: &[u32]| devices.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let per_device = cores.per_device();
        let ascending = devices.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let help = match (devices.first(), devices.last()) {
            (Some(first), Some(last)) if ascending => format!(
                "set NEURON_RT_VISIBLE_CORES={}-{}",
                first * per_device,
                (last + 1) * per_device - 1
            ),
            _ => "libnrt takes neighbouring devices in ascending order only".to_owned(),
        };
        Err(wrong(format!(
            "devices {} were asked for, libnrt has those of its cores, {}; {help}",
            list(devices),
            list(cores.devices())
        )))
    }
}

impl Backend for Nrt {
    fn name(&self) -> &'static str {
        "libnrt"
    }

    fn version(&self) -> Option<String> {
        Some(format!("libnrt {}", self.library.version()))
    }

    fn load(&self, image: &NodeImage<'_>) -> Result<Box<dyn Node>, Failure> {
        const PLACE: &str = "NRT:nrt_load";
        let failed = |call: &str, status: Status| {
            let (code, _, _) = meaning(status, At::Load);
            let text = format!("{call} of node {}: {status}, {}", image.name, status.meaning());
            Failure::new(code, PLACE, text)
        };
        let core = i32::try_from(image.first_core)
            .map_err(|_| Failure::new(Code::Invalid, PLACE, "no such core"))?;
        let model = self.library.load(image.neff, core);
        let model = model.map_err(|status| failed("nrt_load", status))?;
        let cores = model.cores().map_err(|status| failed("nrt_get_model_vnc_count", status))?;
        if cores != image.cores {
            let text = format!(
                "node {} takes {cores} cores by libnrt and {} by its NEFF; a NEFF of several \
                 cores needs collectives",
                image.name, image.cores
            );
            return Err(Failure::new(Code::ResourceNc, PLACE, text));
        }
        let facts =
            model.tensors().map_err(|status| failed("nrt_get_model_tensor_info", status))?;
        let tensors = facts.into_iter().map(|fact| NodeTensor {
            name: fact.name,
            output: fact.output,
            bytes: u64::try_from(fact.bytes).unwrap_or(u64::MAX),
        });
        let last = image.first_core + image.cores.saturating_sub(1);
        Ok(Box::new(Ready {
            slots: Mutex::default(),
            model,
            library: Arc::clone(&self.library),
            placement: self.placement,
            core,
            tensors: tensors.collect(),
            cores: format!("NC {}-{last} of node {}", image.first_core, image.name),
        }))
    }
}

/// Inputs and outputs of one run.
#[derive(Debug)]
struct Slot {
    inputs: TensorSet,
    outputs: TensorSet,
}

#[derive(Debug)]
struct Ready {
    /// Those that no run uses now; dropped before the model.
    slots: Mutex<Vec<Slot>>,
    model: Model,
    library: Arc<Library>,
    placement: u32,
    core: i32,
    tensors: Vec<NodeTensor>,
    cores: String,
}

impl Ready {
    fn fault(&self, call: &str, status: Status) -> NodeFault {
        let (code, subtype, fatal) = meaning(status, At::Execute);
        let text = format!("{}: {call}: {status}, {}", self.cores, status.meaning());
        NodeFault { code, subtype, text, fatal }
    }

    fn slot(&self) -> Result<Slot, Status> {
        let kept = self.slots.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(slot) = kept {
            return Ok(slot);
        }
        let library = &self.library;
        let mut slot = Slot { inputs: TensorSet::new(library)?, outputs: TensorSet::new(library)? };
        for tensor in &self.tensors {
            let set = if tensor.output { &mut slot.outputs } else { &mut slot.inputs };
            let bytes = usize::try_from(tensor.bytes).map_err(|_| Status::RESOURCE)?;
            set.add(&tensor.name, self.placement, self.core, bytes)?;
        }
        Ok(slot)
    }

    /// Runs in a slot. A status is that of the call that it comes with.
    fn run_in(&self, slot: &mut Slot, inputs: &Tensors) -> Result<Tensors, (&'static str, Status)> {
        for tensor in self.tensors.iter().filter(|tensor| !tensor.output) {
            let data = inputs.get(&tensor.name).ok_or(("inputs", Status::INVALID))?;
            let written = slot.inputs.write(&tensor.name, data);
            written.map_err(|status| ("nrt_tensor_write", status))?;
        }
        match self.model.execute(&mut slot.inputs, &mut slot.outputs) {
            Ok(()) | Err(Status::EXEC_COMPLETED_WITH_NUM_ERR) => {}
            Err(status) => return Err(("nrt_execute", status)),
        }
        let mut outputs = Tensors::new();
        for tensor in self.tensors.iter().filter(|tensor| tensor.output) {
            let data = slot.outputs.read(&tensor.name);
            let data = data.map_err(|status| ("nrt_tensor_read", status))?;
            outputs.insert(tensor.name.clone(), data);
        }
        Ok(outputs)
    }
}

impl Node for Ready {
    fn tensors(&self) -> &[NodeTensor] {
        &self.tensors
    }

    fn run(&self, inputs: &Tensors) -> Result<NodeRun, NodeFault> {
        let slot = self.slot();
        let mut slot = slot.map_err(|status| self.fault("nrt_tensor_allocate", status))?;
        let result = self.run_in(&mut slot, inputs);
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).push(slot);
        let outputs = result.map_err(|(call, status)| self.fault(call, status))?;
        Ok(NodeRun { outputs, device_nanos: None })
    }

    /// The origin is libnrt's own.
    fn profile(&self, inputs: &Tensors, _origin: &ProfileOrigin, _cancel: &AtomicBool) -> Profiled {
        match self.run_profiled(inputs) {
            Ok((run, trace)) => Profiled { run: Ok(run), trace: Some(trace) },
            Err(fault) => Profiled::failed(fault),
        }
    }
}

impl Ready {
    fn run_profiled(&self, inputs: &Tensors) -> Result<(NodeRun, Vec<u8>), NodeFault> {
        let broken = |error: std::io::Error| NodeFault {
            code: Code::Fail,
            subtype: Subtype::Runtime,
            text: format!("{}: cannot keep a profile: {error}", self.cores),
            fatal: false,
        };
        let folder = Folder::new().map_err(broken)?;
        let file = folder.0.join("profile.ntff");
        let started = self.model.profile_start(&file);
        started.map_err(|status| self.fault("nrt_profile_start", status))?;
        let run = self.run(inputs);
        let stopped = self.model.profile_stop(&file);
        let run = run?;
        stopped.map_err(|status| self.fault("nrt_profile_stop", status))?;
        Ok((run, std::fs::read(&file).map_err(broken)?))
    }
}

/// A folder of this process alone, removed when it is dropped.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Self> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let (process, number) = (std::process::id(), LAST.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(format!("neuron-nrt-{process}-{number}"));
        // an error where it exists, so that it is nobody else's
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // what stays is a file too many
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
