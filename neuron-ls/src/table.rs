//! The lines above the table and the table itself.
//!
//! Columns, their order and the rules by which they appear are the original's
//! (sys-tools.md §2.2 to §2.4). A terminal that is too narrow for it gets the
//! same facts in another arrangement; see `layout`.

use neuron_core::catalog::{self, Metric};
use neuron_core::cli::Paint;
use neuron_core::model::{DeviceRow, DeviceState, Inventory, ProcessRow};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::facts::{self, UNKNOWN};
use crate::grid::{Block, Grid};
use crate::layout::{Layout, break_at, fold};
use crate::topology;

/// A command is not folded to less than this.
const NARROWEST_COMMAND: usize = 10;

/// How the table is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Look {
    /// 80 columns of a command instead of 40.
    pub wide: bool,
    /// Also processes without a runtime.
    pub all_processes: bool,
    /// Also the drawing of the links.
    pub topology: bool,
    /// Columns of the terminal; `None` for anything else, which gets the
    /// original's layout whatever its width.
    pub width: Option<usize>,
    /// Whether to colour.
    pub color: bool,
}

/// Header lines, table and, where asked for, the drawing.
pub fn render(inventory: &Inventory, look: &Look) -> String {
    let mut out = header(inventory);
    let grids = Layout::ALL
        .iter()
        .map(|layout| arranged(inventory, look, layout))
        .find(|grids| look.width.is_none_or(|width| grids.iter().all(|g| g.width() <= width)))
        .unwrap_or_else(|| arranged(inventory, look, &Layout::NARROWEST));
    for grid in &grids {
        grid.draw(look.color, &mut out);
    }
    if look.topology {
        out.push_str("\n\n");
        topology::draw(&inventory.devices, &mut out);
    }
    out
}

/// The lines above the table. A value that is not known stays empty, as in
/// the original.
fn header(inventory: &Inventory) -> String {
    let instance_type = inventory.instance_type.as_deref().unwrap_or_default();
    let instance_id = inventory.instance_id.as_deref().unwrap_or_default();
    let mut out = format!("instance-type: {instance_type}\ninstance-id: {instance_id}\n");
    if let Some(config) = inventory.logical_nc_config {
        out.push_str(&format!("logical-neuroncore-config: {config}\n"));
    }
    if let Some(source) = facts::unusual_source(&inventory.origin) {
        out.push_str(&format!("source: {source}\n"));
    }
    out
}

/// Colour of a device that cannot be used; why is said on stderr.
fn paint(device: &DeviceRow) -> Option<Paint> {
    match device.state? {
        DeviceState::Ready => None,
        DeviceState::Reset => Some(Paint::Yellow),
        DeviceState::Invalid | DeviceState::Unresponsive => Some(Paint::Red),
    }
}

/// A column of processes: its metric and the lines of one process. Only the
/// command, the one text of any length, is folded where a width is given.
type ProcessColumn = (&'static Metric, fn(&ProcessRow, &Look, Option<usize>) -> Vec<String>);

const PID: ProcessColumn = (&catalog::PROCESS_PID, |process, _, _| vec![process.pid.to_string()]);
const COMMAND: ProcessColumn = (&catalog::PROCESS_COMMAND, |process, look, folded| {
    let text = cut(&process.command, command_width(look));
    match folded {
        Some(width) => fold(&text, width),
        None => vec![text],
    }
});
const RUNTIME_VERSION: ProcessColumn = (&catalog::PROCESS_RUNTIME_VERSION, |process, _, _| {
    vec![facts::runtime_version(process).to_owned()]
});

fn command_width(look: &Look) -> usize {
    if look.wide { 80 } else { 40 }
}

/// The tables of one arrangement: one, or devices and processes apart.
fn arranged(inventory: &Inventory, look: &Look, layout: &Layout) -> Vec<Grid> {
    let processes: Vec<Option<Vec<&ProcessRow>>> =
        inventory.devices.iter().map(|d| facts::shown(d, look.all_processes)).collect();
    let any = || processes.iter().flatten().flatten();
    let has_process = any().next().is_some();
    let has_command = any().any(|process| !process.command.is_empty());
    let linked =
        inventory.devices.iter().any(|d| d.connected.as_ref().is_some_and(|list| !list.is_empty()));

    let mut table = Columns::default();
    let devices = &inventory.devices;
    table.of_devices(&catalog::DEVICE_INDEX, devices, |d| vec![d.index.to_string()]);
    table.of_devices(&catalog::DEVICE_CORES, devices, |d| vec![number(d.core_count)]);
    table.of_devices(&catalog::DEVICE_CORE_IDS, devices, |d| match d.core_count {
        Some(_) => layout.list(facts::range_or_list(&d.core_ids), &catalog::DEVICE_CORE_IDS),
        None => vec![UNKNOWN.to_owned()],
    });
    table.of_devices(&catalog::DEVICE_MEMORY, devices, |d| vec![number(d.memory)]);
    if linked {
        table.of_devices(&catalog::DEVICE_CONNECTED, devices, |d| match &d.connected {
            Some(list) => layout.list(facts::joined(list, ", "), &catalog::DEVICE_CONNECTED),
            None => vec![UNKNOWN.to_owned()],
        });
    }
    let one_domain = devices.iter().flat_map(|d| d.bdf).all(|bdf| bdf.domain == 0);
    table.of_devices(&catalog::DEVICE_BDF, devices, |d| match d.bdf {
        None => vec![UNKNOWN.to_owned()],
        Some(bdf) if layout.short_bdf && one_domain => vec![bdf.short()],
        Some(bdf) if layout.wrap => break_at(&bdf.to_string(), ':', 7),
        Some(bdf) => vec![bdf.to_string()],
    });
    let in_one = has_process && !layout.split;
    if in_one {
        table.of_processes(PID, &processes, look, None);
    }
    table.of_devices(&catalog::DEVICE_CPU_AFFINITY, devices, |d| match &d.cpu_affinity {
        Some(list) => layout.list(list.clone(), &catalog::DEVICE_CPU_AFFINITY),
        None => vec![UNKNOWN.to_owned()],
    });
    table.of_devices(&catalog::DEVICE_NUMA_NODE, devices, |d| vec![number(d.numa_node)]);
    if in_one && has_command {
        table.of_processes(COMMAND, &processes, look, None);
    }
    if in_one {
        table.of_processes(RUNTIME_VERSION, &processes, look, None);
    }
    let mut grids = vec![table.into_grid(devices.iter().map(paint))];

    if has_process && layout.split {
        // A device without a process has no line here.
        let owners: Vec<&DeviceRow> = devices
            .iter()
            .zip(&processes)
            .filter(|(_, list)| list.as_ref().is_none_or(|list| !list.is_empty()))
            .map(|(device, _)| device)
            .collect();
        let lists: Vec<Option<Vec<&ProcessRow>>> = processes
            .iter()
            .filter(|list| list.as_ref().is_none_or(|list| !list.is_empty()))
            .cloned()
            .collect();
        let build = |folded: Option<usize>| {
            let mut table = Columns::default();
            table.of_devices(&catalog::DEVICE_INDEX, &owners, |d| vec![d.index.to_string()]);
            table.of_processes(PID, &lists, look, folded);
            if has_command {
                table.of_processes(COMMAND, &lists, look, folded);
            }
            table.of_processes(RUNTIME_VERSION, &lists, look, folded);
            table.into_grid(owners.iter().map(|device| paint(device)))
        };
        let mut grid = build(None);
        let excess = look.width.map_or(0, |width| grid.width().saturating_sub(width));
        if excess > 0 {
            grid = build(Some(command_width(look).saturating_sub(excess).max(NARROWEST_COMMAND)));
        }
        grids.push(grid);
    }
    grids
}

/// Columns as they are collected: heading and, for each block, its cells.
#[derive(Default)]
struct Columns {
    headings: Vec<[&'static str; 2]>,
    cells: Vec<Vec<Vec<String>>>,
}

impl Columns {
    fn of_devices<D: std::borrow::Borrow<DeviceRow>>(
        &mut self,
        metric: &'static Metric,
        devices: &[D],
        text: impl Fn(&DeviceRow) -> Vec<String>,
    ) {
        self.headings.push(metric.heading);
        self.cells.push(devices.iter().map(|device| text(device.borrow())).collect());
    }

    /// One line for each process, or as many as its command takes when that is
    /// folded; a device that could not be asked shows so.
    fn of_processes(
        &mut self,
        (metric, text): ProcessColumn,
        processes: &[Option<Vec<&ProcessRow>>],
        look: &Look,
        folded: Option<usize>,
    ) {
        self.headings.push(metric.heading);
        let of_process = |process: &&ProcessRow| {
            let mut lines = text(process, look, folded);
            // The other columns stay beside the first line of the command.
            let (_, command) = COMMAND;
            lines.resize(command(process, look, folded).len(), String::new());
            lines
        };
        let cells = processes.iter().map(|list| match list {
            None => vec![UNKNOWN.to_owned()],
            Some(list) => list.iter().flat_map(of_process).collect(),
        });
        self.cells.push(cells.collect());
    }

    fn into_grid(self, paints: impl Iterator<Item = Option<Paint>>) -> Grid {
        let blocks = paints.enumerate().map(|(row, paint)| Block {
            columns: self
                .cells
                .iter()
                .map(|column| column.get(row).cloned().unwrap_or_default())
                .collect(),
            paint,
        });
        let blocks = blocks.collect();
        Grid { headings: self.headings, blocks }
    }
}

fn number(value: Option<impl std::fmt::Display>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), |value| value.to_string())
}

/// Cuts a text that is wider than `width` columns, three of them for `...`.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 3;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(c);
    }
    kept + "..."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_cut_to_37_and_three_dots() {
        let forty = "a".repeat(40);
        assert_eq!(cut(&forty, 40), forty);
        assert_eq!(cut(&format!("{forty}b"), 40), format!("{}...", "a".repeat(37)));
        assert_eq!(cut(&"模".repeat(41), 80), format!("{}...", "模".repeat(38)));
    }
}
