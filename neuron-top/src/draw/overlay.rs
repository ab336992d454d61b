//! What lies over the screen: the help, and everything that is wrong.

use ratatui::style::Style;

use super::canvas::Canvas;
use crate::app::{App, Overlay};
use crate::frame::Frame;
use crate::health::Level;
use crate::keys::ACTIONS;

/// Draws what lies over the screen, if anything does.
pub(super) fn draw(canvas: &mut Canvas<'_>, app: &App, frame: &Frame) {
    let Some((overlay, scroll)) = app.overlay() else { return };
    let theme = canvas.theme;
    let (title, lines) = match overlay {
        Overlay::Help => ("Keys (any other key closes this)", help(app)),
        Overlay::Notes => ("Health of the devices (any other key closes this)", notes(frame)),
    };
    let width = canvas.width();
    let height = (lines.len() + 1).min(canvas.height());
    let top = (canvas.height() - height) / 2;
    let room = height - 1;
    let first = scroll.min(lines.len().saturating_sub(room));
    canvas.hits.clear();
    for y in top..top + height {
        canvas.run(0, y, ' ', width, Style::reset());
    }
    canvas.band(top, theme.section);
    let more = if first + room < lines.len() { ", down for more" } else { "" };
    canvas.text(1, top, &format!("{title}{more}"), theme.section);
    for (y, (text, bad)) in (top + 1..).zip(lines.iter().skip(first).take(room)) {
        canvas.text(1, y, text, if *bad { theme.bad } else { Style::new() });
    }
}

fn help(app: &App) -> Vec<(String, bool)> {
    let of = |row: &crate::keys::Row| {
        let keys: Vec<String> =
            app.keymap().keys(row.action).iter().map(ToString::to_string).collect();
        (format!("{:14} {}", keys.join(" "), row.help), false)
    };
    let mut lines: Vec<(String, bool)> = ACTIONS.iter().map(of).collect();
    lines.insert(12.min(lines.len()), (format!("{:14} {}", "1-9", "select a tab"), false));
    lines
}

fn notes(frame: &Frame) -> Vec<(String, bool)> {
    let failure =
        frame.failure.iter().map(|reason| (format!("nothing can be read: {reason}"), true));
    let notes = frame.notes.iter().map(|note| (note.text.clone(), note.level == Level::Bad));
    let lines: Vec<(String, bool)> = failure.chain(notes).collect();
    match lines.is_empty() {
        true => vec![(String::from("nothing is wrong"), false)],
        false => lines,
    }
}
