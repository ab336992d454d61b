//! The software NeuronCore.
//!
//! It runs a program of any generation, whatever device the instance has (our
//! choice): what a program computes does not depend on it. What a run costs a
//! device is found once, at load, with inputs of zeros; for a program whose
//! control flow needs others it stays unknown.

use std::sync::atomic::AtomicBool;

use neuron_core::neff::Usage;
use neuron_core::ntff::Record;
use neuron_core::ntff::messages::NotificationTraceType;
use npu::time::{FileInfo, Sink, Timed, Timing, Trace, write_ntff};
use npu::{Cancel, LoadError, Program, Source, Stop};

use super::{
    Backend, CoreCosts, Inputs, Node, NodeCosts, NodeFault, NodeImage, NodeRun, NodeTensor,
    ProfileOrigin, Profiled, Tensors,
};
use crate::failure::{Code, Failure, Subtype};
use crate::job::Value;

/// The software NeuronCore.
#[derive(Debug, Clone, Copy, Default)]
pub struct Software {
    /// Bounds of one run.
    pub limits: npu::Limits,
}

#[derive(Debug)]
struct Ready {
    program: Program,
    tensors: Vec<NodeTensor>,
    limits: npu::Limits,
    cores: String,
    costs: Option<NodeCosts>,
}

/// Most instructions and packets of the run that finds the costs.
const MOST_TIMED: u64 = 4 << 20;

fn costs(program: &Program) -> Option<NodeCosts> {
    let limits =
        npu::Limits { instructions: MOST_TIMED, packets: MOST_TIMED, ..npu::Limits::default() };
    let timing = Timing { limits, ..Timing::only(program) };
    let timed = program.run_timed(&Tensors::new(), &timing, &mut ()).ok()?;
    let core = |core: &npu::time::CoreSummary| CoreCosts {
        macs: core.hardware_flops / 2,
        instructions: core.instructions,
    };
    let cores = timed.summary.cores.iter().map(core).collect();
    Some(NodeCosts { nanos: timed.summary.total.div_ceil(1000), cores })
}

/// Keeps what a timed run tells, and ends it early.
struct Recorder<'a> {
    trace: Trace,
    cancel: Cancel<'a>,
    /// What a run that stopped came to.
    stopped: Option<Timed>,
}

impl Sink for Recorder<'_> {
    fn cancelled(&self) -> bool {
        Sink::cancelled(&self.cancel)
    }

    fn wants_records(&self) -> bool {
        true
    }

    fn record(&mut self, core: usize, ring: NotificationTraceType, record: Record) {
        self.trace.record(core, ring, record);
    }

    fn stopped(&mut self, timed: &Timed) {
        self.stopped = Some(timed.clone());
    }
}

/// Shared memory is read straight into the memory of the device.
impl Source for Value {
    fn size(&self) -> u64 {
        match self {
            Self::Inline(data) => data.bytes().size(),
            Self::Shared(_, bytes) => *bytes,
            Self::Own(bytes) => bytes.size(),
        }
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), String> {
        match self {
            Self::Inline(data) => data.bytes().read(at, into),
            Self::Shared(buffer, _) => buffer.read_at(at, into),
            Self::Own(bytes) => bytes.read(at, into),
        }
    }
}

impl Backend for Software {
    fn name(&self) -> &'static str {
        "software NeuronCore"
    }

    fn load(&self, image: &NodeImage<'_>) -> Result<Box<dyn Node>, Failure> {
        let program = Program::from_neff(image.neff).map_err(|error| {
            let code = match error {
                LoadError::Target => Code::UnsupportedVersion,
                _ => Code::Invalid,
            };
            Failure::new(code, "TDRV:kbl_model_add", format!("{}: {error}", image.name))
        })?;
        let tensors = program.tensors().iter().map(|tensor| NodeTensor {
            name: tensor.name.clone(),
            output: tensor.usage == Usage::Output,
            bytes: tensor.bytes,
        });
        let tensors = tensors.collect();
        let last = image.first_core + image.cores.saturating_sub(1);
        let cores = format!("NC {}-{last} of node {}", image.first_core, image.name);
        let costs = costs(&program);
        Ok(Box::new(Ready { program, tensors, limits: self.limits, cores, costs }))
    }
}

impl Node for Ready {
    fn tensors(&self) -> &[NodeTensor] {
        &self.tensors
    }

    fn run(&self, inputs: &Tensors) -> Result<NodeRun, NodeFault> {
        self.run_until(inputs, &AtomicBool::new(false))
    }

    fn run_until(&self, inputs: &Tensors, cancel: &AtomicBool) -> Result<NodeRun, NodeFault> {
        match self.program.run_with(inputs, &self.limits, &mut Cancel(cancel)) {
            Ok(outputs) => Ok(self.ran(outputs)),
            Err(stop) => Err(self.fault(&stop)),
        }
    }

    fn run_from(&self, inputs: Inputs<'_>, cancel: &AtomicBool) -> Result<NodeRun, NodeFault> {
        let sources = inputs.0.iter().map(|(name, value)| (*name, value as &dyn Source)).collect();
        match self.program.run_from(&sources, &self.limits, &mut Cancel(cancel)) {
            Ok(outputs) => Ok(self.ran(outputs)),
            Err(stop) => Err(self.fault(&stop)),
        }
    }

    fn costs(&self) -> Option<&NodeCosts> {
        self.costs.as_ref()
    }

    fn profile(&self, inputs: &Tensors, origin: &ProfileOrigin, cancel: &AtomicBool) -> Profiled {
        let timing = Timing { limits: self.limits, ..Timing::of(&self.program) };
        let mut sink = Recorder { trace: Trace::new(), cancel: Cancel(cancel), stopped: None };
        match self.program.run_timed(inputs, &timing, &mut sink) {
            Ok(timed) => match self.trace_file(&timed, &sink.trace, origin) {
                Ok(file) => {
                    let mut run = self.ran(timed.outputs);
                    run.device_nanos = Some(timed.summary.total.div_ceil(1000));
                    Profiled { run: Ok(run), trace: Some(file) }
                }
                Err(fault) => Profiled::failed(fault),
            },
            Err(stop) => {
                let until = sink.stopped.filter(|_| !sink.trace.is_empty());
                let file = until.map(|timed| self.trace_file(&timed, &sink.trace, origin));
                // Why it stopped says more than that it cannot be shown.
                let trace = file.and_then(Result::ok);
                Profiled { run: Err(self.fault(&stop)), trace }
            }
        }
    }
}

impl Ready {
    fn trace_file(
        &self,
        timed: &Timed,
        trace: &Trace,
        origin: &ProfileOrigin,
    ) -> Result<Vec<u8>, NodeFault> {
        let part = |text: &str| text.parse().unwrap_or(0);
        let info = FileInfo {
            neff_name: origin.name.clone(),
            neff_uuid: origin.uuid,
            instance_type: origin.instance.clone(),
            before: origin.before.saturating_mul(1000),
            version: [
                part(env!("CARGO_PKG_VERSION_MAJOR")),
                part(env!("CARGO_PKG_VERSION_MINOR")),
                part(env!("CARGO_PKG_VERSION_PATCH")),
            ],
        };
        let file = write_ntff(&self.program, timed, trace, &info, Vec::new());
        file.map_err(|error| NodeFault {
            code: Code::WithErr,
            subtype: Subtype::Runtime,
            text: format!("{}: {error}", self.cores),
            fatal: false,
        })
    }

    fn ran(&self, outputs: Tensors) -> NodeRun {
        NodeRun { outputs, device_nanos: self.costs.as_ref().map(|costs| costs.nanos) }
    }

    fn fault(&self, stop: &Stop) -> NodeFault {
        let (code, subtype, fatal) = match stop {
            Stop::Input { .. } => (Code::BadInput, Subtype::None, false),
            // on a device nothing would come back until the time is over
            Stop::Deadlock(_) | Stop::Instructions(_) | Stop::Cancelled => {
                (Code::Timeout, Subtype::Model, true)
            }
            Stop::Output { .. } => (Code::WithErr, Subtype::Runtime, false),
            _ => (Code::WithErr, Subtype::Model, false),
        };
        NodeFault { code, subtype, text: format!("{}: {stop}", self.cores), fatal }
    }
}
