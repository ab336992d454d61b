//! The memory sections: sums by category (sys-tools.md §3.5), and the tree.

use neuron_core::model::{CoreMemory, HostUse};
use ratatui::style::Style;

use super::canvas::Canvas;
use super::plan::{Plan, Summary};
use crate::app::{App, Target};
use crate::figures;
use crate::frame::Frame;
use crate::tree::Line;

/// Sums over the processes of the current tab.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    /// Of the host.
    pub host: HostUse,
    /// Of the devices.
    pub device: CoreMemory,
}

impl Sums {
    /// Of one process of a frame, or of all.
    pub fn of(frame: &Frame, pid: Option<u32>) -> Self {
        let mut sums = Self::default();
        let chosen = |of: u32| pid.is_none_or(|pid| pid == of);
        for process in frame.processes.iter().filter(|p| chosen(p.application.pid)) {
            let memory = &process.application.memory;
            let host = &mut sums.host;
            host.application_memory =
                host.application_memory.saturating_add(memory.host.application_memory);
            host.constants = host.constants.saturating_add(memory.host.constants);
            host.dma_buffers = host.dma_buffers.saturating_add(memory.host.dma_buffers);
            host.tensors = host.tensors.saturating_add(memory.host.tensors);
            let device = &mut sums.device;
            for core in memory.cores.values() {
                device.constants = device.constants.saturating_add(core.constants);
                device.model_code = device.model_code.saturating_add(core.model_code);
                device.runtime_memory = device.runtime_memory.saturating_add(core.runtime_memory);
                device.tensors = device.tensors.saturating_add(core.tensors);
                device.model_shared_scratchpad =
                    device.model_shared_scratchpad.saturating_add(core.model_shared_scratchpad);
            }
        }
        sums
    }

    fn rows(&self) -> [(&'static str, Vec<(&'static str, u64)>); 2] {
        let (host, device) = (self.host, self.device);
        [
            (
                "Host Used Memory",
                vec![
                    ("Total", host.total()),
                    ("Tensors", host.tensors),
                    ("Constants", host.constants),
                    ("DMA Buffers", host.dma_buffers),
                    ("App. Memory", host.application_memory),
                ],
            ),
            (
                "Device Used Memory",
                vec![
                    ("Total", device.total()),
                    ("Tensors", device.tensors),
                    ("Constants", device.constants),
                    ("Model Code", device.model_code),
                    ("Runtime Memory", device.runtime_memory),
                    ("Model Scratchpad", device.model_shared_scratchpad),
                ],
            ),
        ]
    }
}

/// The summary.
pub(crate) fn summary(canvas: &mut Canvas<'_>, app: &App, frame: &Frame, plan: &Plan) {
    let sums = Sums::of(frame, app.pid());
    let top = plan.memory;
    let value = canvas.theme.value;
    match plan.summary {
        Summary::Lines => {
            canvas.section(top, &heading(frame));
            let pitch = canvas.width() / 7;
            for (line, (name, figures)) in (top + 1..).zip(sums.rows()) {
                canvas.text(0, line, name, Style::new());
                for (column, (label, bytes)) in (1..).zip(figures) {
                    let x = canvas.text(column * pitch, line, &format!("{label}: "), Style::new());
                    canvas.text(x, line, &figures::bytes(bytes), value);
                }
            }
        }
        Summary::Table => {
            canvas.section(top, &heading(frame));
            let heads = ["Total", "Tensors", "Constants", "Code/DMA", "Rt/App.", "Scratch"];
            let pitch = ((canvas.width() - 7) / heads.len()).min(14);
            for (column, head) in heads.iter().enumerate() {
                canvas.text(7 + column * pitch, top + 1, &format!("{head:>pitch$}"), Style::new());
            }
            for (line, (name, figures)) in (top + 2..).zip(sums.rows()) {
                let name = name.split(' ').next().unwrap_or_default();
                canvas.text(0, line, name, Style::new());
                for (column, (_, bytes)) in figures.into_iter().enumerate() {
                    let text = format!("{:>pitch$}", figures::bytes(bytes));
                    canvas.text(7 + column * pitch, line, &text, value);
                }
            }
        }
        Summary::Totals => {
            let (host, device) = capacity(frame);
            let rows = [
                ("Host Memory", sums.host.total(), host),
                ("Device Memory", sums.device.total(), device),
            ];
            for (line, (name, bytes, capacity)) in (top..).zip(rows) {
                canvas.text(0, line, name, Style::new());
                canvas.text(15, line, &format!("{:>8}", figures::bytes(bytes)), value);
                if let Some(capacity) = capacity {
                    let text = format!(" of {:>8}", figures::bytes(capacity));
                    canvas.text(23, line, &text, Style::new());
                }
            }
        }
    }
}

/// Memory of the host and of all devices, where known.
fn capacity(frame: &Frame) -> (Option<u64>, Option<u64>) {
    let machine = &frame.machine;
    let devices = u64::try_from(machine.devices.len()).unwrap_or(u64::MAX);
    let device = machine.device_memory.saturating_mul(devices);
    (frame.ram.map(|ram| ram.total), Some(device).filter(|bytes| *bytes > 0))
}

/// The original has no capacities; they stand where it has nothing.
fn heading(frame: &Frame) -> String {
    let text = |name: &str, bytes: Option<u64>| {
        bytes.map(|bytes| format!("{name} {}", figures::bytes(bytes)))
    };
    let (host, device) = capacity(frame);
    let known: Vec<String> =
        [text("host", host), text("devices", device)].into_iter().flatten().collect();
    match known.is_empty() {
        true => String::from("Memory Usage Summary"),
        false => format!("Memory Usage Summary (of {})", known.join(", ")),
    }
}

/// Columns of the tree.
struct Columns {
    id: Option<usize>,
    device: usize,
    host: usize,
}

impl Columns {
    /// Those of the original where there is room.
    fn of(width: usize) -> Self {
        match width {
            100.. => {
                let pitch = width / 7;
                Self { id: Some(4 * pitch), device: 5 * pitch, host: 6 * pitch }
            }
            64.. => Self { id: Some(width - 36), device: width - 26, host: width - 12 },
            _ => Self { id: None, device: width.saturating_sub(19), host: width.saturating_sub(9) },
        }
    }

    /// Columns of a line's name.
    fn name(&self) -> usize {
        self.id.unwrap_or(self.device).saturating_sub(1)
    }
}

/// The tree. Gives the line of the cursor, within the tree's area.
pub(crate) fn tree(canvas: &mut Canvas<'_>, app: &App, plan: &Plan) -> usize {
    let Some(top) = plan.details else { return 0 };
    let columns = Columns::of(canvas.width());
    canvas.section(top, &details_heading(app));
    let wide = columns.id.is_some();
    let heads = [
        (columns.id, "Model ID"),
        (Some(columns.device), if wide { "Device Memory" } else { "Device" }),
        (Some(columns.host), if wide { "Host Memory" } else { "Host" }),
    ];
    for (x, text) in heads {
        if let Some(x) = x {
            canvas.text(x, top + 1, text, Style::new());
        }
    }
    let lines = app.lines();
    let place = app.place(&lines);
    let first = app.top(&lines, plan.tree_height);
    if lines.is_empty() {
        canvas.text(1, plan.tree, "nothing passes the filter", canvas.theme.dim);
    }
    for (y, (at, line)) in
        (plan.tree..).zip(lines.iter().enumerate().skip(first).take(plan.tree_height))
    {
        draw_line(canvas, line, at == place, y, &columns);
    }
    place.saturating_sub(first)
}

fn details_heading(app: &App) -> String {
    let mut text = String::from("Memory Usage Details");
    let sort = app.sort();
    if sort != crate::tree::Sort::Index {
        text.push_str(&format!(" by {}", sort.name()));
    }
    match app.filter() {
        (filter, true) => text.push_str(&format!(" / {filter}_")),
        ("", false) => {}
        (filter, false) => text.push_str(&format!(" / {filter}")),
    }
    text
}

fn draw_line(canvas: &mut Canvas<'_>, line: &Line, current: bool, y: usize, columns: &Columns) {
    let theme = canvas.theme;
    let narrow = columns.id.is_none();
    let indent = line.node.depth() * if narrow { 2 } else { 4 } + usize::from(!narrow);
    let style = match (current, line.dim) {
        (true, _) => theme.cursor,
        (false, true) => theme.dim,
        (false, false) => Style::new(),
    };
    if current {
        let width = canvas.width() - indent.min(canvas.width());
        canvas.run(indent, y, ' ', width, style);
    }
    let mark = match line.open {
        Some(true) => "[-] ",
        Some(false) => "[+] ",
        None => "",
    };
    let x = canvas.text(indent, y, mark, style);
    canvas.put(x, y, &line.label, columns.name().saturating_sub(x), style);
    if let (Some(x), Some(id)) = (columns.id, line.id) {
        canvas.put(x, y, &id.to_string(), columns.device.saturating_sub(x + 1), style);
    }
    let figure = usize::from(!narrow);
    canvas.text(columns.device + figure, y, &figures::bytes(line.device), style);
    canvas.text(columns.host + figure, y, &figures::bytes(line.host), style);
    canvas.hit(indent, y, canvas.width(), Target::Line(line.node));
    if line.open.is_some() {
        canvas.hit(indent, y, 3, Target::Mark(line.node));
    }
}
