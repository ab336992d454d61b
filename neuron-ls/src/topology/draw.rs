//! Shapes as text. A cell is five columns wide and repeats every nine; dashes
//! are EN DASHes, and lines of the torus keep their trailing blanks, as
//! published.

use neuron_core::model::DeviceRow;

use super::graph::{Graph, Shape};
use crate::facts;

/// A link between two cells of a row.
const LINK: &str = "◄––►";
/// The left end of a row that wraps around.
const WRAP_LEFT: &str = "*––►";
/// The right end of a row that wraps around.
const WRAP_RIGHT: &str = "◄––*";
/// Cells of a row before a line is continued below: 80 columns.
const CELLS_OF_ROW: usize = 8;

pub(super) fn shape(shape: &Shape, graph: &Graph, out: &mut String) {
    match shape {
        Shape::Chain(order) => line(order, graph, ["  ", "  ", ""], out),
        Shape::Ring(order) => line(order, graph, [WRAP_LEFT, "    ", WRAP_RIGHT], out),
        Shape::Torus { cells, columns } => torus(cells, *columns, graph, out),
    }
}

fn cells(row: &[usize], graph: &Graph) -> String {
    let cells: Vec<String> =
        row.iter().filter_map(|&at| graph.labels.get(at)).copied().map(cell).collect();
    cells.join(LINK)
}

fn cell(label: u32) -> String {
    format!("[{label:>2} ]")
}

/// A line of devices, in rows of equal length when it is long. A row that goes
/// on ends with a link.
fn line(order: &[usize], graph: &Graph, [first, next, last]: [&str; 3], out: &mut String) {
    let rows = order.len().div_ceil(CELLS_OF_ROW).max(1);
    let length = order.len().div_ceil(rows).max(1);
    out.push('\n');
    let mut chunks = order.chunks(length).peekable();
    let mut lead = first;
    while let Some(chunk) = chunks.next() {
        let end = if chunks.peek().is_some() { LINK } else { last };
        out.push_str(&format!("{lead}{}{end}\n", cells(chunk, graph)));
        lead = next;
    }
}

/// Rows of cells with three lines between them; the outermost lines wrap
/// around.
fn torus(all: &[usize], columns: usize, graph: &Graph, out: &mut String) {
    let vertical = |mark: &str| {
        let marks = vec![mark; columns].join("        ");
        format!("      {marks}      \n")
    };
    let last = all.chunks(columns).count().saturating_sub(1);
    for (place, row) in all.chunks(columns).enumerate() {
        if place == 0 {
            out.extend([vertical("*"), vertical("│"), vertical("▼")]);
        }
        out.push_str(&format!("{WRAP_LEFT}{}{WRAP_RIGHT}\n", cells(row, graph)));
        let below = if place == last { "*" } else { "▼" };
        out.extend([vertical("▲"), vertical("│"), vertical(below)]);
    }
}

/// One line for each device with what it is linked to, and a line about
/// indices that mean something else than the reader may think.
pub(super) fn listing(devices: &[DeviceRow], graph: &Graph, out: &mut String) {
    out.push('\n');
    let renumbered = devices.iter().any(|device| device.index != device.host_index);
    for device in devices {
        let links = match &device.connected {
            None => String::from("not known"),
            Some(list) if list.is_empty() => String::from("no links"),
            Some(list) => facts::joined(list, ", "),
        };
        let host =
            if renumbered { format!(" (host {})", device.host_index) } else { String::new() };
        out.push_str(&format!("{}{host} ── {links}\n", cell(device.index)));
    }
    let unseen: Vec<u32> = graph.unseen.iter().copied().collect();
    if !unseen.is_empty() {
        let unseen = facts::joined(&unseen, ", ");
        out.push_str(&format!(
            "\nLinks name devices by their index on the host; not visible here: {unseen}\n"
        ));
    } else if renumbered {
        out.push_str("\nLinks name devices by their index on the host\n");
    }
}
