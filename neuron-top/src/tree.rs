//! The tree of memory: devices, cores, models, categories (sys-tools.md §3.6).
//!
//! A category hangs under a model where a model's load allocated it, else under
//! the core. Every parent is the sum of its children, to the byte.

use std::collections::{BTreeMap, BTreeSet};

use neuron_core::model::{Application, CoreMemory, HostUse};

use crate::frame::{Frame, Status, wide};

/// A kind of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Tensors.
    Tensors,
    /// Constants: weights.
    Constants,
    /// Code.
    ModelCode,
    /// Of the runtime itself, on the device.
    RuntimeMemory,
    /// Scratchpads.
    Scratchpad,
    /// Code and DMA buffers of the host.
    DmaBuffers,
    /// Of the runtime itself, on the host.
    Application,
}

impl Category {
    /// Its name on the screen.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Tensors => "Tensors",
            Self::Constants => "Constants",
            Self::ModelCode => "Model Code",
            Self::RuntimeMemory => "Runtime Memory",
            Self::Scratchpad => "Model Scratchpad",
            Self::DmaBuffers => "DMA Buffers",
            Self::Application => "App. Memory",
        }
    }
}

/// A place in the tree, the same from reading to reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// Index of the device.
    pub device: u32,
    /// Core within the device.
    pub core: Option<u32>,
    /// Process and id of a model.
    pub model: Option<(u32, u32)>,
    /// Category.
    pub leaf: Option<Category>,
}

impl Node {
    /// A device.
    pub const fn device(device: u32) -> Self {
        Self { device, core: None, model: None, leaf: None }
    }

    /// A core of a device.
    pub const fn core(device: u32, core: u32) -> Self {
        Self { device, core: Some(core), model: None, leaf: None }
    }

    /// What it hangs under.
    pub fn parent(self) -> Option<Self> {
        if self.leaf.is_some() {
            return Some(Self { leaf: None, ..self });
        }
        if self.model.is_some() {
            return Some(Self { model: None, ..self });
        }
        self.core.map(|_| Self::device(self.device))
    }

    /// How far from the devices.
    pub fn depth(self) -> usize {
        [self.core.is_some(), self.model.is_some(), self.leaf.is_some()]
            .into_iter()
            .filter(|set| *set)
            .count()
    }
}

/// In which order siblings stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// By index or id.
    #[default]
    Index,
    /// The busiest first.
    Use,
    /// Most device memory first.
    Device,
    /// Most host memory first.
    Host,
}

impl Sort {
    /// The one after this.
    pub const fn next(self) -> Self {
        match self {
            Self::Index => Self::Use,
            Self::Use => Self::Device,
            Self::Device => Self::Host,
            Self::Host => Self::Index,
        }
    }

    /// Its name in the heading.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Use => "use",
            Self::Device => "device memory",
            Self::Host => "host memory",
        }
    }
}

/// Which nodes are expanded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Open {
    all: bool,
    others: BTreeSet<Node>,
}

impl Open {
    /// Whether a node is.
    pub fn is(&self, node: Node) -> bool {
        self.all != self.others.contains(&node)
    }

    /// Expands or collapses a node.
    pub fn set(&mut self, node: Node, open: bool) {
        if self.all == open {
            self.others.remove(&node);
        } else {
            self.others.insert(node);
        }
    }

    /// Expands all, or collapses all when all was expanded.
    pub fn toggle_all(&mut self) {
        self.all = !self.all || !self.others.is_empty();
        self.others.clear();
    }
}

/// A line of the tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Which.
    pub node: Node,
    /// Its name.
    pub label: String,
    /// Whether it is expanded; `None` for one without children.
    pub open: Option<bool>,
    /// Id of a model.
    pub id: Option<u32>,
    /// Device memory, bytes.
    pub device: u64,
    /// Host memory, bytes.
    pub host: u64,
    /// Whether it is a model that is not started, or a device that is lost.
    pub dim: bool,
}

/// What is shown of a frame.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// One process, or all.
    pub pid: Option<u32>,
    /// Text that a process or model must have in it, in small letters.
    pub filter: &'a str,
    /// Order.
    pub sort: Sort,
    /// What is expanded.
    pub open: &'a Open,
}

/// Whether a process has the text in it.
pub fn passes(application: &Application, filter: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(filter);
    filter.is_empty()
        || has(&application.tag)
        || has(&application.command)
        || application.pid.to_string() == filter
}

/// A model's line, before it is one.
#[derive(Debug)]
struct Model {
    pid: u32,
    id: u32,
    name: String,
    running: bool,
    leaves: Leaves,
}

/// Device and host bytes by category.
type Leaves = BTreeMap<Category, (u64, u64)>;

/// Everything on one core.
#[derive(Debug, Default)]
struct OnCore {
    models: Vec<Model>,
    leaves: Leaves,
}

/// The lines that are to be seen, from the top.
pub fn lines(frame: &Frame, view: View<'_>) -> Vec<Line> {
    let mut cores = on_cores(frame, view);
    let mut devices = Vec::new();
    for (at, device) in frame.machine.placed() {
        let node = Node::device(device.index);
        let mut children = Vec::new();
        for within in 0..device.cores {
            let content = cores.remove(&(device.index, within)).unwrap_or_default();
            let empty = content.models.is_empty() && content.leaves.is_empty();
            if empty && !view.filter.is_empty() {
                continue;
            }
            let busy = frame.cores.get(at + wide(within)).map_or(0.0, |core| core.utilization);
            children.push(core_group(Node::core(device.index, within), content, busy, view));
        }
        if children.is_empty() && !view.filter.is_empty() {
            continue;
        }
        let label = match device.status {
            Status::Ready => format!("ND{:>2}", device.index),
            status => format!("ND{:>2} ({})", device.index, status.word()),
        };
        let mut group = Group::over(node, label, children, view);
        group.line.dim = device.status == Status::Lost;
        devices.push(group);
    }
    order(&mut devices, view.sort);
    let mut lines = Vec::new();
    devices.into_iter().for_each(|group| group.flatten(&mut lines));
    lines
}

/// A line with what hangs under it, as far as that is expanded.
struct Group {
    line: Line,
    busy: f64,
    children: Vec<Group>,
}

impl Group {
    /// A parent of groups: the sum of them.
    fn over(node: Node, label: String, mut children: Vec<Self>, view: View<'_>) -> Self {
        let sum = |of: fn(&Line) -> u64| {
            children.iter().fold(0_u64, |sum, child| sum.saturating_add(of(&child.line)))
        };
        let (device, host) = (sum(|line| line.device), sum(|line| line.host));
        let busy = children.iter().map(|child| child.busy).sum();
        let open = (!children.is_empty()).then(|| view.open.is(node));
        if open == Some(true) {
            order(&mut children, view.sort);
        } else {
            children.clear();
        }
        let line = Line { node, label, open, id: None, device, host, dim: false };
        Self { line, busy, children }
    }

    fn leaf(node: Node, label: &str, (device, host): (u64, u64)) -> Self {
        let label = label.to_owned();
        let line = Line { node, label, open: None, id: None, device, host, dim: false };
        Self { line, busy: 0.0, children: Vec::new() }
    }

    fn flatten(self, lines: &mut Vec<Line>) {
        lines.push(self.line);
        self.children.into_iter().for_each(|child| child.flatten(lines));
    }
}

fn core_group(node: Node, content: OnCore, busy: f64, view: View<'_>) -> Group {
    let mut children: Vec<Group> = content
        .models
        .into_iter()
        .map(|model| {
            let own = Node { model: Some((model.pid, model.id)), ..node };
            let mut group = Group::over(own, model.name, leaves(own, model.leaves), view);
            (group.line.id, group.line.dim) = (Some(model.id), !model.running);
            group
        })
        .collect();
    children.extend(leaves(node, content.leaves));
    let label = format!("NC {}", node.core.unwrap_or(0));
    let mut group = Group::over(node, label, children, view);
    group.busy = busy;
    group
}

/// The lines of categories; those of nothing are left out.
fn leaves(node: Node, leaves: Leaves) -> Vec<Group> {
    leaves
        .into_iter()
        .filter(|(_, (device, host))| *device > 0 || *host > 0)
        .map(|(category, bytes)| {
            Group::leaf(Node { leaf: Some(category), ..node }, category.label(), bytes)
        })
        .collect()
}

/// Puts siblings in order; categories stay where they are, behind the models.
fn order(groups: &mut [Group], sort: Sort) {
    let leaf = |group: &Group| group.line.node.leaf.is_some();
    groups.sort_by(|a, b| {
        let by = match sort {
            Sort::Index => std::cmp::Ordering::Equal,
            Sort::Use => b.busy.total_cmp(&a.busy),
            Sort::Device => b.line.device.cmp(&a.line.device),
            Sort::Host => b.line.host.cmp(&a.line.host),
        };
        let by = if leaf(a) && leaf(b) { std::cmp::Ordering::Equal } else { by };
        leaf(a).cmp(&leaf(b)).then(by)
    });
}

/// What the processes in view have on each core, by device and core within it.
fn on_cores(frame: &Frame, view: View<'_>) -> BTreeMap<(u32, u32), OnCore> {
    let mut cores: BTreeMap<(u32, u32), OnCore> = BTreeMap::new();
    for process in &frame.processes {
        let application = &*process.application;
        if view.pid.is_some_and(|pid| pid != application.pid) {
            continue;
        }
        let whole = passes(application, view.filter);
        let mut rest: BTreeMap<(u32, u32), CoreMemory> = BTreeMap::new();
        for device in &frame.machine.devices {
            for within in 0..device.cores {
                let index = device.first_core.saturating_add(within);
                if let Some(memory) = application.memory.cores.get(&index) {
                    rest.insert((device.index, within), *memory);
                }
            }
        }
        for model in &application.memory.models {
            let named = model.name.to_lowercase().contains(view.filter)
                || model.id.to_string() == view.filter;
            for part in model.subgraphs.values() {
                let place = (part.device, part.core);
                if let Some(rest) = rest.get_mut(&place) {
                    take(rest, &part.memory);
                }
                if !whole && !named {
                    continue;
                }
                let models = &mut cores.entry(place).or_default().models;
                let key = (application.pid, model.id);
                // Several subgraphs of one model on one core are one line.
                let at = models.iter().position(|known| (known.pid, known.id) == key);
                let at = at.unwrap_or_else(|| {
                    models.push(Model {
                        pid: application.pid,
                        id: model.id,
                        name: model.name.clone(),
                        running: model.running,
                        leaves: Leaves::new(),
                    });
                    models.len() - 1
                });
                if let Some(known) = models.get_mut(at) {
                    add_device(&mut known.leaves, &part.memory);
                    add_host(&mut known.leaves, &part.host);
                }
            }
        }
        if whole {
            for (place, memory) in rest {
                add_device(&mut cores.entry(place).or_default().leaves, &memory);
            }
        }
    }
    cores
}

/// Takes what a model holds out of what the core holds.
fn take(rest: &mut CoreMemory, model: &CoreMemory) {
    rest.constants = rest.constants.saturating_sub(model.constants);
    rest.model_code = rest.model_code.saturating_sub(model.model_code);
    rest.runtime_memory = rest.runtime_memory.saturating_sub(model.runtime_memory);
    rest.tensors = rest.tensors.saturating_sub(model.tensors);
}

fn add_device(leaves: &mut Leaves, memory: &CoreMemory) {
    for (category, bytes) in [
        (Category::Tensors, memory.tensors),
        (Category::Constants, memory.constants),
        (Category::ModelCode, memory.model_code),
        (Category::RuntimeMemory, memory.runtime_memory),
        (Category::Scratchpad, memory.model_shared_scratchpad),
    ] {
        let sum = &mut leaves.entry(category).or_default().0;
        *sum = sum.saturating_add(bytes);
    }
}

fn add_host(leaves: &mut Leaves, host: &HostUse) {
    for (category, bytes) in [
        (Category::Tensors, host.tensors),
        (Category::Constants, host.constants),
        (Category::DmaBuffers, host.dma_buffers),
        (Category::Application, host.application_memory),
    ] {
        let sum = &mut leaves.entry(category).or_default().1;
        *sum = sum.saturating_add(bytes);
    }
}
