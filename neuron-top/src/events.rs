//! What the screen is woken for: keys, the mouse, readings, signals.
//!
//! Each comes from a thread of its own over one channel.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::Builder;
use std::time::Duration;

use neuron_core::Error;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;

use crate::frame::Frame;
use crate::input::{Input, Parser};
use crate::keys::Key;
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

/// How long the rest of a sequence that an escape begins is waited for.
const ESCAPE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

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
        let mut parser = Parser::default();
        while let Some(events) = input(&mut parser) {
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
fn input(parser: &mut Parser) -> Option<Vec<Event>> {
    let stdin = io::stdin();
    let mut asked = [PollFd::new(&stdin, PollFlags::IN)];
    let limit = parser.is_waiting().then_some(&ESCAPE);
    match poll(&mut asked, limit) {
        Ok(0) => return Some(parser.settle().into_iter().map(event).collect()),
        Ok(_) => {}
        Err(Errno::INTR) => return Some(Vec::new()),
        Err(_) => return None,
    }
    let mut bytes = [0; 1024];
    match rustix::io::read(&stdin, &mut bytes) {
        Ok(0) => None,
        Ok(count) => {
            let bytes = bytes.get(..count).unwrap_or_default();
            Some(parser.feed(bytes).into_iter().map(event).collect())
        }
        Err(Errno::INTR | Errno::AGAIN) => Some(Vec::new()),
        Err(_) => None,
    }
}

fn event(input: Input) -> Event {
    match input {
        Input::Key(key) => Event::Key(key),
        Input::Click(column, line) => Event::Click(column, line),
        Input::Wheel(down) => Event::Wheel(if down { WHEEL } else { -WHEEL }),
    }
}
