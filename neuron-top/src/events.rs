//! What the screen is woken for: keys, the mouse, readings, signals.
//!
//! Each comes from a thread of its own over one channel.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::Builder;
use std::time::Duration;

use neuron_core::Error;
use ratatui::crossterm::event::{
    self, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind,
};
use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;

use crate::frame::Frame;
use crate::keys::{Code, Key};
use crate::terminal;

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// A key was pressed.
    Key(Key),
    /// The mouse was pressed at a column and line.
    Click(u16, u16),
    /// The wheel was turned by so many lines, down where positive.
    Wheel(isize),
    /// A reading.
    Frame(Arc<Frame>),
    /// The first reading failed.
    Failed(Error),
    /// The thread that reads has panicked.
    CollectorDied,
    /// The terminal has another size.
    Resize,
    /// The program goes on after it was stopped.
    Continue,
    /// A signal asks to end.
    Stop,
    /// The terminal is gone.
    Lost,
}

/// How long the screen has to end by itself after a signal.
const GRACE: Duration = Duration::from_secs(1);

/// Lines that one turn of the wheel moves.
const WHEEL: isize = 3;

/// Catches signals.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn watch_signals(sender: Sender<Event>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT])?;
    Builder::new().name(String::from("signals")).spawn(move || {
        for signal in signals.forever() {
            let event = match signal {
                SIGWINCH => Event::Resize,
                SIGCONT => Event::Continue,
                SIGHUP => Event::Lost,
                _ => Event::Stop,
            };
            let ends = matches!(event, Event::Stop | Event::Lost);
            let _ = sender.send(event);
            if ends {
                // A terminal that takes no more output holds the screen up.
                std::thread::sleep(GRACE);
                terminal::restore_mode();
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        }
    })?;
    Ok(())
}

/// Reads the terminal.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn watch_terminal(sender: Sender<Event>) -> io::Result<()> {
    Builder::new().name(String::from("keys")).spawn(move || {
        while let Some(events) = input() {
            for event in events {
                if sender.send(event).is_err() {
                    return;
                }
            }
        }
        let _ = sender.send(Event::Lost);
    })?;
    Ok(())
}

/// Waits for input; `None` when the terminal is gone.
fn input() -> Option<Vec<Event>> {
    let stdin = io::stdin();
    let mut asked = [PollFd::new(&stdin, PollFlags::IN)];
    match poll(&mut asked, None) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Some(Vec::new()),
        Err(_) => return None,
    }
    let seen = asked[0].revents();
    // The event reader would read the end of the input for ever.
    let empty = || rustix::io::ioctl_fionread(&stdin).map_or(true, |count| count == 0);
    if seen.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) || empty() {
        return None;
    }
    let mut events = Vec::new();
    while event::poll(Duration::ZERO).ok()? {
        events.extend(translate(&event::read().ok()?));
    }
    Some(events)
}

fn translate(event: &event::Event) -> Option<Event> {
    match event {
        event::Event::Key(key) if key.kind != KeyEventKind::Release => key_of(key).map(Event::Key),
        event::Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => Some(Event::Click(mouse.column, mouse.row)),
            MouseEventKind::ScrollDown => Some(Event::Wheel(WHEEL)),
            MouseEventKind::ScrollUp => Some(Event::Wheel(-WHEEL)),
            _ => None,
        },
        _ => None,
    }
}

fn key_of(key: &KeyEvent) -> Option<Key> {
    let code = match key.code {
        KeyCode::Char(c) => Code::Char(c),
        KeyCode::Enter => Code::Enter,
        KeyCode::Esc => Code::Escape,
        KeyCode::Tab => Code::Tab,
        KeyCode::BackTab => Code::BackTab,
        KeyCode::Backspace => Code::Backspace,
        KeyCode::Delete => Code::Delete,
        KeyCode::Up => Code::Up,
        KeyCode::Down => Code::Down,
        KeyCode::Left => Code::Left,
        KeyCode::Right => Code::Right,
        KeyCode::PageUp => Code::PageUp,
        KeyCode::PageDown => Code::PageDown,
        KeyCode::Home => Code::Home,
        KeyCode::End => Code::End,
        KeyCode::F(number) => Code::F(number),
        _ => return None,
    };
    Some(Key { code, ctrl: key.modifiers.contains(KeyModifiers::CONTROL) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_terminal_are_those_of_the_table() {
        let key = |code, modifiers| key_of(&KeyEvent::new(code, modifiers));
        let plain = KeyModifiers::NONE;
        for (code, modifiers, name) in [
            (KeyCode::Char('q'), plain, "q"),
            (KeyCode::Char('G'), KeyModifiers::SHIFT, "G"),
            (KeyCode::Char('c'), KeyModifiers::CONTROL, "ctrl-c"),
            (KeyCode::PageUp, plain, "pageup"),
            (KeyCode::F(1), plain, "f1"),
            (KeyCode::Char(' '), plain, "space"),
        ] {
            assert_eq!(key(code, modifiers), Some(Key::parse(name).unwrap()), "{name}");
        }
        assert_eq!(key(KeyCode::CapsLock, plain), None);
    }
}
