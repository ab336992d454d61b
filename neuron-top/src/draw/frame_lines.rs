//! The lines round the figures: title, health, CPU, tabs, keys.

use ratatui::style::Style;
use unicode_width::UnicodeWidthStr as _;

use super::canvas::Canvas;
use super::plan::Plan;
use crate::app::{App, Target};
use crate::figures;
use crate::frame::{Frame, Share};
use crate::health::Level;
use crate::keys::Action;

/// The title; at its right end what is not as usual: pause, late readings.
pub(super) fn title(canvas: &mut Canvas<'_>, app: &App, frame: &Frame, line: usize) {
    let style = canvas.theme.title;
    canvas.band(line, style);
    let machine = &*frame.machine;
    let kind = machine.instance_type.as_deref().unwrap_or("unknown instance type");
    let simulated = match &machine.simulated {
        Some(name) if name != kind => format!(", simulated {name}"),
        Some(_) => String::from(", simulated"),
        None => String::new(),
    };
    let id = machine.instance_id.as_deref().unwrap_or("this machine");
    let version = env!("CARGO_PKG_VERSION");
    let status = status(app);
    let room =
        canvas.width().saturating_sub(if status.is_empty() { 0 } else { status.width() + 2 });
    let long = format!("neuron-top {version} running on {id} ({kind}{simulated})");
    let short = format!("neuron-top {id} ({kind}{simulated})");
    let shortest = format!("neuron-top {kind}{simulated}");
    let fits = [long, short, shortest.clone()].into_iter().find(|text| text.width() <= room);
    let text = fits.unwrap_or(shortest);
    let x =
        (canvas.width().saturating_sub(text.width()) / 2).min(room.saturating_sub(text.width()));
    canvas.put(x, line, &text, room, style);
    let style = if app.late().is_some() { canvas.theme.bad } else { canvas.theme.look };
    canvas.text(canvas.width().saturating_sub(status.width()), line, &status, style);
}

fn status(app: &App) -> String {
    if let Some((0, _)) = app.behind() {
        return String::from(" paused ");
    }
    if let Some((readings, seconds)) = app.behind() {
        return format!(" paused -{readings} ({seconds:.1} s) ");
    }
    match app.late() {
        Some(seconds) => format!(" no answer for {seconds} s "),
        None => String::new(),
    }
}

/// What is wrong, the worst first, on one line.
pub(super) fn notes(canvas: &mut Canvas<'_>, frame: &Frame, line: usize) {
    let worst = frame.notes.first().map(|note| note.level);
    let bad = frame.failure.is_some() || worst == Some(Level::Bad);
    let style = if bad { canvas.theme.bad } else { canvas.theme.look };
    canvas.band(line, style);
    let failure = frame.failure.iter().map(|reason| format!("nothing can be read: {reason}"));
    let texts: Vec<String> =
        failure.chain(frame.notes.iter().map(|note| note.text.clone())).collect();
    let more = texts.len().saturating_sub(1);
    let behind = match more {
        0 => String::new(),
        more if canvas.width() < 60 => format!(" +{more}"),
        more => format!(" +{more}, n lists all"),
    };
    let room = canvas.width().saturating_sub(behind.width());
    let first = texts.first().map(String::as_str).unwrap_or_default();
    let x = canvas.put(0, line, first, room, style);
    canvas.text(x, line, &behind, style);
    canvas.hit(0, line, canvas.width(), Target::Notes);
}

/// The two bars of CPU time (sys-tools.md §3.4).
pub(super) fn cpu(canvas: &mut Canvas<'_>, app: &App, frame: &Frame, plan: &Plan) {
    let mut line = plan.cpu;
    if plan.cpu_heading() {
        canvas.section(line, "vCPU Utilization");
        line += 1;
    }
    let wide = canvas.width() >= 60;
    let names =
        if wide { ["System vCPU Usage", "Runtime vCPU Usage"] } else { ["System", "Runtime"] };
    let x = if wide { 19 } else { 8 };
    let runtime = app.runtime_cpu();
    for (line, (name, share)) in (line..).zip(names.into_iter().zip([frame.cpu.clone(), runtime])) {
        canvas.text(0, line, name, Style::new());
        match share {
            Some(Ok(share)) => shares(canvas, x, line, share),
            Some(Err(reason)) => {
                let dim = canvas.theme.dim;
                canvas.text(x, line, &reason, dim);
            }
            None => {
                let dim = canvas.theme.dim;
                let at = canvas.width().saturating_sub(15);
                canvas.text(at, line, "[   - %,   - %]", dim);
            }
        }
    }
}

fn shares(canvas: &mut Canvas<'_>, x: usize, line: usize, share: Share) {
    let width = canvas.width().saturating_sub(x + 15);
    let user = figures::columns(share.user / 100.0, width);
    let both = figures::columns((share.user + share.system) / 100.0, width).max(user);
    let theme = canvas.theme;
    // Without colour another glyph tells the two apart.
    let second = if theme.draws_rest { '|' } else { '#' };
    canvas.run(x, line, '|', user, theme.user);
    canvas.run(x + user, line, second, both - user, theme.system);
    let rest = if theme.draws_rest { '|' } else { ' ' };
    canvas.run(x + both, line, rest, width - both, theme.rest);
    let text = format!("[{}%,{}%]", figures::percent(share.user), figures::percent(share.system));
    canvas.text(x + width, line, &text, Style::new());
}

/// The tabs (sys-tools.md §3.2): those round the current one where there are
/// more than there is room for.
pub(super) fn tabs(canvas: &mut Canvas<'_>, app: &App, line: usize) {
    let theme = canvas.theme;
    canvas.band(line, theme.tabs);
    let width = canvas.width();
    let tabs = app.tabs();
    let names: Vec<(usize, String, bool)> = std::iter::once((0, String::from("[1]:all"), false))
        .chain((1..).zip(tabs.slots()).map(|(tab, slot)| {
            let ended = if slot.gone { " ended" } else { "" };
            (tab, format!("[{}]:{}{ended}", tab + 1, slot.tag), slot.gone)
        }))
        .filter(|(tab, ..)| tabs.is_shown(*tab))
        .collect();
    let label = if width >= 60 { "Neuron Apps" } else { "" };
    canvas.text(0, line, label, theme.apps);
    let longest = names.iter().map(|(_, name, _)| name.width()).max().unwrap_or(0).min(32) + 3;
    // The spacing of the original where all of them fit so.
    let (start, pitch) = match width / 6 {
        sixth if names.len() <= 5 && longest <= sixth => (sixth, sixth),
        _ => (label.len() + usize::from(!label.is_empty()), longest),
    };
    let room = (width.saturating_sub(start + 1) / pitch).max(1);
    let current = names.iter().position(|(tab, ..)| *tab == tabs.current()).unwrap_or(0);
    let first = current / room * room;
    let mark = if canvas.unicode() { "…" } else { "~" };
    for (place, (tab, name, gone)) in names.iter().skip(first).take(room).enumerate() {
        let x = start + place * pitch;
        let own = *tab == tabs.current();
        let style = match (own, gone) {
            (true, _) => theme.current,
            (false, true) => theme.dim,
            (false, false) => theme.tabs,
        };
        let name = figures::cut(name, pitch.saturating_sub(3), canvas.unicode());
        let text = if own { format!(">{name}<") } else { name };
        canvas.text(x, line, &text, style);
        canvas.hit(x, line, text.width(), Target::Tab(*tab));
    }
    if first + room < names.len() {
        canvas.text(width.saturating_sub(1), line, mark, theme.tabs);
    }
}

/// The keys, as many as there is room for.
pub(super) fn help(canvas: &mut Canvas<'_>, app: &App, line: usize) {
    let style = canvas.theme.tabs;
    canvas.band(line, style);
    let width = canvas.width();
    if let (filter, true) = app.filter() {
        let text = format!("filter: {filter}_   enter: keep   escape: clear");
        canvas.text(0, line, &text, style);
        return;
    }
    let key = |action| app.keymap().keys(action).first().map(ToString::to_string);
    let one = |action, text: &str| key(action).map(|key| format!("{key}: {text}"));
    let two = |a, b, text: &str| Some(format!("{}/{}: {text}", key(a)?, key(b)?));
    let long: Vec<String> = [
        one(Action::Quit, "quit"),
        Some(String::from("arrows: move tree selection")),
        one(Action::Toggle, "expand/collapse tree"),
        one(Action::ToggleAll, "expand/collapse entire tree"),
        two(Action::PreviousTab, Action::NextTab, "previous/next tab"),
        one(Action::Flops, "FLOPS on/off"),
        Some(String::from("1-9: select tab")),
        one(Action::Help, "help"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let short: Vec<String> = [
        one(Action::Quit, "quit"),
        one(Action::Help, "help"),
        two(Action::PreviousTab, Action::NextTab, "tab"),
        one(Action::Flops, "FLOPS"),
        one(Action::ToggleAll, "tree"),
        one(Action::Pause, "pause"),
        one(Action::Filter, "filter"),
        one(Action::Sort, "sort"),
        one(Action::Curves, "history"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let taken = |items: &[String]| items.iter().map(|item| item.width() + 2).sum::<usize>();
    if taken(&long) <= width {
        let gap = (width - taken(&long)) / (long.len() + 1) + 2;
        let mut x = gap / 2;
        for item in &long {
            x = canvas.text(x, line, item, style) + gap;
        }
        return;
    }
    let mut x = 0;
    for item in &short {
        if x + item.width() > width {
            break;
        }
        x = canvas.text(x, line, item, style) + 2;
    }
}
