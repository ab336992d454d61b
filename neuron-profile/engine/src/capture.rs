//! A NEFF and a trace of it, joined: everything that does not depend on the
//! records.
//!
//! The execution window is that of the trace (form 6), else it follows from the
//! records by the rule of ntff.md §7.4; then the instruction records are read
//! once more than otherwise.

use neuron_core::engine::Engine;
use neuron_core::instance::Arch;
use neuron_core::neff::{Model, Neff, Report, StackFrames};
use neuron_core::ntff::error::Findings;
use neuron_core::ntff::messages::{ExecutionInfo, NtffInfo, VersionInfo};
use neuron_core::ntff::window::Windows;
use neuron_core::ntff::{
    self, DeviceTime, Header, Notification, Reader, Section, SectionKind, layout,
};

use crate::chip::{self, Chip};
use crate::cores::Core;
use crate::debug;
use crate::error::Error;
use crate::kernels::Kernels;
use crate::source::{FromStart, ReadAt};
use crate::stream::{Span, Stream};
use crate::tensors::{self, TensorBytes, TensorInfo};

/// Slots that a program counter can tell.
const MOST_SLOTS: u64 = 1 << 20;

/// Bytes that are read of a program at a time.
const STEP: u64 = 1 << 20;

/// How a capture is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Which execution of the trace, from 0.
    pub execution: usize,
    /// How the trace is read.
    pub ntff: ntff::Options,
    /// Read the call stacks too, which have tables of their own.
    pub call_stacks: bool,
}

/// See the module.
#[derive(Debug)]
pub struct Capture<'s, S: ?Sized> {
    source: &'s S,
    header: Header,
    sections: Vec<Section>,
    findings: Findings,
    /// Device times between which no other execution lies.
    span: Span,
    /// The message of the trace; of the nodes that the execution is of, where it has several.
    pub info: NtffInfo,
    /// Header of the NEFF.
    pub neff: neuron_core::neff::Header,
    /// Version of the compiler, empty when not told.
    pub compiler_version: String,
    /// Place of the node in the NEFF's graph that the cores run.
    pub node: Option<usize>,
    /// Generation.
    pub arch: Arch,
    /// Constants of it.
    pub chip: Chip,
    /// Start of the execution, device time in ps.
    pub start: u64,
    /// End of it.
    pub end: u64,
    /// The cores, in the order of the sub-graphs.
    pub cores: Vec<Core>,
    /// Tensors of the model.
    pub tensors: Vec<TensorInfo>,
    /// Sums of their bytes.
    pub tensor_bytes: TensorBytes,
    /// Multiply-adds of the model's HLO; `None` without statistics.
    pub hlo_macs: Option<u64>,
    /// The NEFF has the metrics of its compiler.
    pub has_compiler_metrics: bool,
    /// Call stacks of its kernels, where they were asked for.
    pub kernels: Kernels,
    /// Call stacks of the framework, where they were asked for.
    pub frames: StackFrames,
}

impl<'s, S: ReadAt + ?Sized> Capture<'s, S> {
    /// Joins the two files. Warnings about the NEFF go to `report`.
    ///
    /// # Errors
    ///
    /// Files that cannot be read, or that do not belong together.
    pub fn open(
        neff: &Neff<'_>,
        source: &'s S,
        options: Options,
        report: &mut Report,
    ) -> Result<Self, Error> {
        let reader = Reader::new(FromStart::new(source), options.ntff)?;
        let (header, mut info) = (reader.header(), reader.info().clone());
        let findings = reader.findings().clone();
        same_neff(&info, options.execution, neff)?;
        let others = executed_alone(&mut info, options.execution);
        let sections = if others { layout::sections(&info) } else { reader.sections().to_vec() };
        let model = Model::read(neff, report)?;
        let arch = chip::generation(info.arch).ok_or(Error::Generation(info.arch))?;
        let tensors = tensors::tensors(&model);
        let mut capture = Self {
            source,
            header,
            sections,
            findings,
            neff: neff.header.clone(),
            compiler_version: model
                .info
                .as_ref()
                .and_then(|info| info.tool_version.clone())
                .unwrap_or_default(),
            node: model
                .graph
                .as_ref()
                .and_then(|graph| graph.executable().next())
                .map(|(at, _)| at),
            arch,
            chip: Chip::of(arch),
            start: 0,
            end: 0,
            span: span(&info.execution_timeline, options.execution),
            cores: Vec::new(),
            tensor_bytes: tensors::bytes(&tensors),
            tensors,
            hlo_macs: tensors::hlo_mac_count(neff),
            has_compiler_metrics: model.metrics.is_some(),
            kernels: Kernels::default(),
            frames: StackFrames::default(),
            info,
        };
        if options.call_stacks {
            capture.kernels = Kernels::read(neff);
            match debug::call_stacks(neff) {
                Ok(frames) => capture.frames = frames,
                Err(error) => capture.kernels.left_out.push(error),
            }
        }
        let info = capture.info.clone();
        for graph in layout::subgraphs(&info) {
            let mut core = Core::new(graph, arch);
            for program in &graph.instruction_info {
                let Some(engine) = Engine::from_number(program.nc_engine_type) else { continue };
                if !program.function_section && !program.instructions.is_empty() {
                    core.load(engine, program.start_address, &program.instructions);
                }
            }
            for section in &capture.sections {
                if let SectionKind::Program { engine: Ok(engine), start_address } = section.kind
                    && section.core == core.number
                {
                    core.load(engine, start_address, &capture.image(section)?);
                }
            }
            let subgraph = model.subgraphs.iter().find(|subgraph| subgraph.name == core.name);
            core.join(graph, neff, subgraph, &capture.kernels, report)?;
            capture.cores.push(core);
        }
        if capture.cores.is_empty() {
            return Err(Error::NoCore);
        }
        (capture.start, capture.end) = capture.window(options.execution)?;
        Ok(capture)
    }

    /// What the trace's container has.
    pub const fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Form of the trace, which the viewer shows as its version.
    pub const fn form(&self) -> u8 {
        self.header.form
    }

    /// Length of the execution in ps.
    pub const fn total_ps(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    pub(crate) fn stream(&self) -> Result<Stream<'s, S>, Error> {
        Stream::new(
            self.source,
            &self.sections,
            self.header.blobs_start(),
            self.info.arch,
            self.span,
            |number| {
                let index = self.cores.iter().position(|core| core.number == number)?;
                Some((index, self.cores.get(index)?.calibration.clone()))
            },
        )
    }

    /// Bytes of a program, as far as the file goes.
    fn image(&self, section: &Section) -> Result<Vec<u8>, Error> {
        let start = self.header.blobs_start().saturating_add(section.offset);
        let size = section.size.min(MOST_SLOTS * layout::SLOT);
        let mut image = Vec::new();
        let mut at = 0;
        while at < size {
            let step = (size - at).min(STEP);
            let before = image.len();
            image.resize(before.saturating_add(usize::try_from(step).unwrap_or(0)), 0);
            let offset = start.saturating_add(at);
            let have = self
                .source
                .fill_at(offset, image.get_mut(before..).unwrap_or_default())
                .map_err(|source| Error::Read { offset, source })?;
            image.truncate(before.saturating_add(have));
            at = at.saturating_add(step);
            if u64::try_from(have).unwrap_or(0) < step {
                break;
            }
        }
        Ok(image)
    }

    fn window(&self, execution: usize) -> Result<(u64, u64), Error> {
        let timeline = &self.info.execution_timeline;
        if !timeline.is_empty() {
            let have = timeline.len();
            let found = timeline.get(execution).filter(|window| window.end >= window.start);
            let found = found.ok_or(Error::NoExecution { asked: execution, have })?;
            return Ok((found.start, found.end));
        }
        if execution > 0 {
            return Err(Error::NoExecution { asked: execution, have: 1 });
        }
        let mut windows = Windows::new(&self.info);
        for section in &self.sections {
            if matches!(section.kind, SectionKind::Program { .. }) {
                windows.program(section, 0, &self.image(section)?);
            }
        }
        let mut stream = self.stream()?;
        while let Some(event) = stream.next()? {
            if let (Notification::End(end), Some(core)) = (event.what, self.cores.get(event.core)) {
                windows.end(core.number, end, DeviceTime::from_ps(event.time));
            }
        }
        let found = self.cores.iter().find_map(|core| windows.window(&self.info, core.number));
        let (start, end) = found.ok_or(Error::NoWindow)?;
        Ok((start.ps(), end.ps()))
    }
}

/// The id of the NEFF that an execution of a trace is of, or the beginning of it:
/// it is cut at the first zero byte (ntff.md §3.1). At most 16 bytes.
pub fn traced_neff(info: &NtffInfo, execution: usize) -> &[u8] {
    let whole = info.execution_timeline.get(execution).or(info.execution_timeline.first());
    let whole = whole.map(|window| window.neff_uuid.as_slice());
    let traced = whole.filter(|uuid| uuid.len() == 16).unwrap_or(&info.neff_uuid_text);
    traced.get(..16).unwrap_or(traced)
}

/// Compares as many bytes of the id as the trace has.
fn same_neff(info: &NtffInfo, execution: usize, neff: &Neff<'_>) -> Result<(), Error> {
    let traced = traced_neff(info, execution);
    let uuid = &neff.header.uuid;
    if uuid.iter().zip(traced).all(|(ours, theirs)| ours == theirs) {
        return Ok(());
    }
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    Err(Error::OtherNeff { trace: hex(traced), neff: hex(uuid) })
}

/// Leaves the nodes of the NEFF that was executed, where a trace has those of
/// several (session mode: whatever a core executed is in one file). Whether there
/// were others.
fn executed_alone(info: &mut NtffInfo, execution: usize) -> bool {
    let Some(window) = info.execution_timeline.get(execution) else { return false };
    let its = |uid: &[u8]| !uid.is_empty() && uid == window.neff_uuid;
    let count = info.neff_nodes.iter().filter(|node| its(&node.uid)).count();
    if count == 0 || count == info.neff_nodes.len() {
        return false;
    }
    let uuid = window.neff_uuid.clone();
    info.neff_nodes.retain(|node| node.uid == uuid);
    true
}

/// Where the execution before ends and the next one begins. One alone has
/// everything: what lies before its window is the runtime's.
fn span(timeline: &[ExecutionInfo], execution: usize) -> Span {
    let Some(own) = timeline.get(execution) else { return Span::default() };
    let others = || (0..).zip(timeline).filter(|(at, _)| *at != execution).map(|(_, other)| other);
    Span {
        own: Some((own.start, own.end)),
        after: others().map(|other| other.end).filter(|end| *end <= own.start).max(),
        before: others().map(|other| other.start).filter(|start| *start >= own.end).min(),
    }
}

/// `2.30.51 (faafe)`: the first five digits of the hash, empty brackets when
/// there is none (ntff.md §3.1). Empty for no version.
pub fn version_text(version: Option<&VersionInfo>) -> String {
    version.map_or_else(String::new, |v| {
        let hash: String = v.git_hash.chars().take(5).collect();
        format!("{}.{}.{} ({hash})", v.major, v.minor, v.patch)
    })
}
