//! The grid of cores (sys-tools.md §3.3): bars where there is room, figures,
//! or one glyph a core where there are many.

use ratatui::style::Style;

use super::canvas::Canvas;
use super::plan::Plan;
use crate::app::{App, Target};
use crate::figures;
use crate::frame::{Core, Device, Frame, Status, wide};
use crate::tree::Node;

/// Columns of `ND10 `.
const LABEL: usize = 5;
/// Least columns of a bar.
const BAR: usize = 6;

/// What a core looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Cell {
    /// `||||||[69.89%]`.
    Bar,
    /// A glyph and `69.89%`.
    Figure,
    /// A glyph and ` 70`.
    Whole,
    /// A glyph; a device has its mean behind them.
    Glyph,
    /// A glyph.
    #[default]
    Bare,
}

/// How the grid is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Form {
    pub(crate) cell: Cell,
    /// Columns of a cell, with the blank behind it.
    pub(crate) pitch: usize,
    /// Devices side by side.
    pub(crate) across: usize,
    /// Columns of a device.
    pub(crate) block: usize,
}

impl Form {
    /// The forms that fit the width, from the clearest to the tightest; never
    /// none.
    pub(crate) fn all(width: usize, devices: usize, cores: usize, flops: bool) -> Vec<Self> {
        let cores = cores.max(1);
        let figure = figure_width(flops);
        let mut forms = Vec::new();
        for cell in [Cell::Bar, Cell::Figure, Cell::Whole, Cell::Glyph, Cell::Bare] {
            let least = match cell {
                Cell::Bar => BAR + figure + 1,
                Cell::Figure => 8,
                Cell::Whole => 5,
                Cell::Glyph | Cell::Bare => 1,
            };
            let behind = match cell {
                Cell::Glyph => 4 + 2,
                Cell::Bare => 1,
                _ => 0,
            };
            let least_block = LABEL + least * cores + behind;
            let most = (width + 1) / least_block;
            for across in 1..=most.min(devices.max(1)) {
                // As many rows with fewer devices side by side are clearer.
                if across > 1 && devices.div_ceil(across) == devices.div_ceil(across - 1) {
                    continue;
                }
                let block = width / across;
                let pitch = match cell {
                    Cell::Bar => (block - LABEL) / cores,
                    Cell::Figure => least.max(((block - LABEL) / cores).min(10)),
                    _ => least,
                };
                let block =
                    if cell == Cell::Bar { block } else { least_block.max(LABEL + pitch * cores) };
                forms.push(Self { cell, pitch, across, block });
            }
        }
        if forms.is_empty() {
            forms.push(Self { cell: Cell::Bare, pitch: 1, across: 1, block: width });
        }
        forms
    }

    /// Lines of so many devices.
    pub(crate) fn rows(&self, devices: usize) -> usize {
        devices.div_ceil(self.across.max(1))
    }

    /// Whether each core has its figure.
    pub(crate) fn has_figures(&self) -> bool {
        !matches!(self.cell, Cell::Glyph | Cell::Bare)
    }

    /// Whether each device has a row of its own.
    pub(crate) fn one_device_a_row(&self) -> bool {
        self.across == 1 && matches!(self.cell, Cell::Bar | Cell::Figure | Cell::Whole)
    }
}

/// Columns of `[69.89%]` or `[   10.004TF]`.
const fn figure_width(flops: bool) -> usize {
    if flops { 13 } else { 8 }
}

/// Heading and grid.
pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, frame: &Frame, plan: &Plan) {
    canvas.section(plan.cores, &heading(app, frame, canvas.width()));
    let mut top = plan.cores + 1;
    let form = plan.form;
    if plan.heads {
        let dim = Style::new();
        for number in 0..frame.machine.widest() {
            let name = format!("NC{number}");
            let cell = bar_width(form, app.flops()).max(name.len());
            let x = LABEL + number * form.pitch + (cell - name.len()) / 2;
            canvas.text(x, top, &name, dim);
        }
        top += 1;
    }
    let past = if app.curves() { app.past(canvas.width()) } else { Vec::new() };
    // Devices stand in columns, so that their order is read downwards.
    let rows = form.rows(frame.machine.devices.len());
    for (number, (first, device)) in frame.machine.placed().enumerate() {
        let (column, row) = (number / rows.max(1), number % rows.max(1));
        let spot = Spot { x: column * form.block, y: top + row, first, device };
        one(canvas, app, frame, form, &spot, &past);
    }
}

/// Where a device stands, and the place of its first core.
struct Spot<'a> {
    x: usize,
    y: usize,
    first: usize,
    device: &'a Device,
}

fn heading(app: &App, frame: &Frame, width: usize) -> String {
    let version = frame.machine.core_version;
    let blank = if version.is_empty() { "" } else { " " };
    // A device that does not tell is in neither the sum nor the mean.
    let all: Vec<Core> = frame
        .machine
        .placed()
        .filter(|(_, device)| device.status == Status::Ready)
        .flat_map(|(first, device)| first..first + wide(device.cores))
        .map(|at| app.core(frame, at))
        .collect();
    let count = all.len();
    let all = all.into_iter();
    let name = format!("NeuronCore{blank}{version}");
    let figures = match frame.span {
        None => String::from("no figures yet"),
        Some(_) if app.flops() => {
            let total: f64 = all.map(|core| core.flops).sum();
            let mean = figures::flops(total / figures_count(count), 8);
            let total = figures::flops(total, 8);
            let text = format!("{name} Utilization (Avg: {mean} | Total: {total})");
            if text.len() > width {
                return format!("{name} (Total: {total})");
            }
            return text;
        }
        Some(_) => {
            let sum: f64 = all.map(|core| core.utilization).sum();
            format!("Avg: {}%", figures::percent(sum / figures_count(count)).trim_start())
        }
    };
    format!("{name} Utilization ({figures})")
}

#[allow(clippy::cast_precision_loss)]
fn figures_count(count: usize) -> f64 {
    count.max(1) as f64
}

fn bar_width(form: Form, flops: bool) -> usize {
    form.pitch.saturating_sub(figure_width(flops) + 1)
}

fn one(
    canvas: &mut Canvas<'_>,
    app: &App,
    frame: &Frame,
    form: Form,
    spot: &Spot<'_>,
    past: &[&std::sync::Arc<Frame>],
) {
    let Spot { x, y, first, device } = *spot;
    let theme = canvas.theme;
    let cursor = app.cursor();
    let whole = cursor == Some(Node::device(device.index));
    let label = format!("ND{}", device.index);
    canvas.put(x, y, &label, LABEL, if whole { theme.selected } else { Style::new() });
    canvas.hit(x, y, LABEL, Target::Grid(Node::device(device.index)));
    let known = frame.span.is_some() && matches!(device.status, Status::Ready);
    for within in 0..device.cores {
        let at = first + wide(within);
        let left = x + LABEL + wide(within) * form.pitch;
        let node = Node::core(device.index, within);
        let below = cursor
            .is_some_and(|cursor| cursor.device == device.index && cursor.core == Some(within));
        let selected = whole || below;
        let core = known.then(|| app.core(frame, at));
        canvas.hit(left, y, form.pitch, Target::Grid(node));
        match form.cell {
            Cell::Bar => {
                let width = bar_width(form, app.flops());
                match core {
                    Some(_) if app.curves() => curve(canvas, app, (left, y), width, at, past),
                    Some(core) => bar(canvas, (left, y), width, core.utilization),
                    None => {}
                }
                if selected {
                    canvas.restyle(left, y, width, theme.selected);
                }
                let text = bracketed(core, device.status, app.flops());
                let style = if core.is_some() { Style::new() } else { theme.dim };
                canvas.text(left + width, y, &text, style);
            }
            cell => {
                let glyph = match (core, device.status) {
                    (None, Status::Ready | Status::Unknown) => ' ',
                    (None, _) if form.has_figures() => ' ',
                    (None, _) => 'x',
                    (core, _) => level(canvas.unicode(), core),
                };
                let style = if core.is_some() { theme.used } else { theme.dim };
                let text = match (cell, core) {
                    (Cell::Figure, Some(core)) if app.flops() => figures::short_flops(core.flops),
                    (Cell::Figure, Some(core)) => {
                        format!("{}%", figures::percent(core.utilization))
                    }
                    (Cell::Figure, None) => format!("{:>6}", device.status_word()),
                    (Cell::Whole, Some(core)) if app.flops() => tera(core.flops),
                    (Cell::Whole, Some(core)) => figures::whole_percent(core.utilization),
                    (Cell::Whole, None) => format!("{:>3}", device.status.letters()),
                    _ => String::new(),
                };
                canvas.run(left, y, glyph, 1, style);
                canvas.text(
                    left + 1,
                    y,
                    &text,
                    if core.is_some() { Style::new() } else { theme.dim },
                );
                if selected {
                    canvas.restyle(left, y, form.pitch.saturating_sub(1).max(1), theme.selected);
                }
            }
        }
    }
    if form.cell == Cell::Glyph {
        let count = wide(device.cores);
        let sum: f64 = (first..first + count).map(|at| app.core(frame, at).utilization).sum();
        let text = match known {
            true => format!("{}%", figures::whole_percent(sum / figures_count(count))),
            false => format!("{:>4.4}", device.status_word()),
        };
        canvas.text(x + LABEL + count + 1, y, &text, Style::new());
    }
}

impl Device {
    /// What stands in the place of a figure.
    fn status_word(&self) -> &'static str {
        match self.status {
            Status::Ready => figures::UNKNOWN,
            status => status.word(),
        }
    }
}

/// `[69.89%]`, `[   10.004TF]`, `[ lost ]`.
fn bracketed(core: Option<Core>, status: Status, flops: bool) -> String {
    match (core, flops) {
        (Some(core), false) => format!("[{}%]", figures::percent(core.utilization)),
        (Some(core), true) => format!("[{}]", figures::flops(core.flops, 9)),
        (None, _) => {
            let word = if status == Status::Ready { figures::UNKNOWN } else { status.word() };
            let width = figure_width(flops) - 2;
            format!("[{word:^width$}]")
        }
    }
}

/// Whole TF in three columns, with a decimal where there is room.
fn tera(flops: f64) -> String {
    let value = flops / 1e12;
    if value < 9.95 { format!("{value:3.1}") } else { format!("{value:3.0}") }
}

/// A bar of `width`, as long as the share says.
pub(crate) fn bar(canvas: &mut Canvas<'_>, (x, y): (usize, usize), width: usize, percent: f64) {
    let used = figures::columns(percent / 100.0, width);
    let theme = canvas.theme;
    canvas.run(x, y, '|', used, theme.used);
    let rest = if theme.draws_rest { '|' } else { ' ' };
    canvas.run(x + used, y, rest, width - used, theme.rest);
}

/// The last readings of a core, the newest to the right.
fn curve(
    canvas: &mut Canvas<'_>,
    app: &App,
    (x, y): (usize, usize),
    width: usize,
    at: usize,
    past: &[&std::sync::Arc<Frame>],
) {
    let seen = past.len().min(width);
    let style = canvas.theme.used;
    canvas.run(x, y, ' ', width, style);
    for (column, frame) in past.iter().skip(past.len() - seen).enumerate() {
        let core = frame.span.map(|_| app.core(frame, at));
        let glyph = level(canvas.unicode(), core);
        canvas.run(x + width - seen + column, y, glyph, 1, style);
    }
}

/// A glyph as high as a core is busy; a dot for one that is not.
fn level(unicode: bool, core: Option<Core>) -> char {
    let Some(core) = core else { return ' ' };
    let ramp: &[char] = match unicode {
        true => &['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
        false => &['.', '_', ':', '-', '=', '+', '*', '%', '#'],
    };
    let steps = ramp.len() - 1;
    let step = match figures::columns(core.utilization / 100.0, steps) {
        // What is busy at all shows.
        0 if core.utilization > 0.0 => 1,
        step => step,
    };
    ramp.get(step).copied().unwrap_or(' ')
}
