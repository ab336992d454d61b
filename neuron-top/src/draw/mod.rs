//! Drawing: a pure function of the state and the theme. It reads; what it finds
//! out (what can be clicked, how long the tree's area is) it returns.

mod canvas;
mod frame_lines;
mod grid;
mod memory;
mod overlay;
mod plan;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

pub use memory::Sums;

use crate::app::{App, Target};
use crate::frame::Frame;
use crate::theme::Theme;
use canvas::Canvas;
use plan::{Content, Plan};

/// Least columns and lines of a terminal.
pub const LEAST: (u16, u16) = (40, 12);

/// What a drawing found out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drawn {
    hits: Vec<(Rect, Target)>,
    /// Lines of the tree's area.
    pub page: usize,
    /// The line of it that the cursor is on.
    pub row: usize,
}

impl Drawn {
    /// What was drawn at a place: the last thing, which lies on top.
    pub fn target(&self, column: u16, row: u16) -> Option<Target> {
        let place = Position::new(column, row);
        let mut hits = self.hits.iter().rev();
        hits.find(|(area, _)| area.contains(place)).map(|(_, target)| *target)
    }
}

/// Draws the screen.
pub fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) -> Drawn {
    buffer.set_style(area, ratatui::style::Style::reset());
    let mut canvas = Canvas::new(buffer, area, theme);
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let text = format!("needs {} x {}", LEAST.0, LEAST.1);
        canvas.text(0, 0, &text, theme.bad);
        return Drawn::default();
    }
    let Some(frame) = app.frame() else {
        canvas.text(0, 0, "neuron-top: reading", theme.title);
        return Drawn::default();
    };
    let plan = plan(area, app, frame);
    frame_lines::title(&mut canvas, app, frame, plan.title);
    if let Some(line) = plan.notes {
        frame_lines::notes(&mut canvas, frame, line);
    }
    grid::draw(&mut canvas, app, frame, &plan);
    frame_lines::cpu(&mut canvas, app, frame, &plan);
    memory::summary(&mut canvas, app, frame, &plan);
    let row = memory::tree(&mut canvas, app, &plan);
    frame_lines::tabs(&mut canvas, app, plan.tabs);
    if let Some(line) = plan.help {
        frame_lines::help(&mut canvas, app, line);
    }
    overlay::draw(&mut canvas, app, frame);
    Drawn { hits: canvas.hits, page: plan.tree_height, row }
}

fn plan(area: Rect, app: &App, frame: &Frame) -> Plan {
    Plan::of(Content {
        width: usize::from(area.width),
        height: usize::from(area.height),
        devices: frame.machine.devices.len(),
        cores: frame.machine.widest(),
        flops: app.flops(),
        notes: !frame.notes.is_empty() || frame.failure.is_some(),
    })
}

/// The screen as text of so many columns and as many lines as it takes, the
/// whole tree with it; blanks at the ends of lines are left out.
pub fn text(app: &App, width: u16, ascii: bool) -> String {
    let theme = Theme { ascii, ..Theme::plain() };
    let devices = app.frame().map_or(0, |frame| frame.machine.devices.len());
    // More lines than the sections with all their headings and blanks take.
    let lines = 30 + devices + app.lines().len();
    let height = u16::try_from(lines).unwrap_or(u16::MAX).min(u16::MAX / width.max(1));
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    draw(&mut buffer, area, app, &theme);
    let mut out = String::new();
    // Without the help line, which helps nobody there.
    for y in 0..height.saturating_sub(1) {
        let line = line_of(&buffer, y);
        let blank = line.is_empty();
        if !(blank && (out.is_empty() || out.ends_with("\n\n"))) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

/// A line of a buffer as text, without the blanks at its end.
pub fn line_of(buffer: &Buffer, y: u16) -> String {
    use unicode_width::UnicodeWidthStr as _;
    let mut line = String::new();
    let mut skip = 0;
    for x in 0..buffer.area.width {
        if skip > 0 {
            skip -= 1;
            continue;
        }
        let symbol = buffer.cell((x, y)).map_or(" ", ratatui::buffer::Cell::symbol);
        skip = symbol.width().saturating_sub(1);
        line.push_str(symbol);
    }
    line.truncate(line.trim_end().len());
    line
}
