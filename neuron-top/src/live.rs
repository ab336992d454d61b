//! The live screen: one loop that takes what happens, asks the state what it
//! means and draws.

use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use neuron_core::Error;

use crate::app::{App, Effect};
use crate::collect;
use crate::draw::{self, Drawn};
use crate::events::{self, Event};
use crate::keys::Keymap;
use crate::reading::{Reading, Watch};
use crate::terminal::{self, Screen};
use crate::theme::Theme;

/// What the screen begins with.
#[derive(Debug)]
pub struct Setting {
    /// Time between two readings.
    pub period: Duration,
    /// Keys.
    pub keymap: Keymap,
    /// Colours.
    pub theme: Theme,
    /// Whether the mouse is used.
    pub mouse: bool,
    /// Begin with TFLOPS.
    pub flops: bool,
    /// Begin with curves.
    pub curves: bool,
}

/// Why the screen ended otherwise than it was asked to.
#[derive(Debug)]
pub enum Failure {
    /// The first reading failed.
    Source(Error),
    /// The terminal failed, or there is none.
    Terminal(io::Error),
    /// The thread that reads has panicked.
    Collector,
}

/// Readings are late when the newest is this old, or three periods.
const LATE: Duration = Duration::from_secs(3);

/// How long the first reading is waited for before the terminal is taken over.
const FIRST: Duration = Duration::from_millis(300);

/// Shows a source until it is asked to end.
///
/// # Errors
///
/// What [`Failure`] lists. The terminal is given back before this returns.
pub fn show(reading: Reading, setting: Setting) -> Result<(), Failure> {
    run(reading, None, setting)
}

/// The same with a second source, for health.
pub(crate) fn run(reading: Reading, watch: Option<Watch>, setting: Setting) -> Result<(), Failure> {
    if !io::stdin().is_terminal() {
        let reason = "stdin is no terminal, keys cannot be read; --once and --batch need none";
        return Err(Failure::Terminal(io::Error::other(reason)));
    }
    let (sender, events) = channel();
    events::watch_signals(sender.clone()).map_err(Failure::Terminal)?;
    let _collector = collect::start(reading, watch, setting.period, sender.clone())
        .map_err(Failure::Terminal)?;
    let mut app = App::new(setting.keymap, setting.flops, setting.curves);
    // A source that fails at once is told on the terminal as it was; one that
    // is slow is waited for on the screen.
    match events.recv_timeout(FIRST) {
        Ok(Event::Frame(frame)) => {
            app.on_frame(frame);
        }
        Ok(Event::Failed(error)) => return Err(Failure::Source(error)),
        Ok(Event::CollectorDied) => return Err(Failure::Collector),
        Ok(Event::Stop | Event::Lost) => return Ok(()),
        Ok(_) | Err(_) => {}
    }
    let mut screen = Screen::take(setting.mouse).map_err(Failure::Terminal)?;
    events::watch_terminal(sender).map_err(Failure::Terminal)?;
    let ended = pump(&mut app, &mut screen, &events, &setting.theme, setting.period);
    drop(screen);
    ended
}

/// Takes events until the end.
fn pump(
    app: &mut App,
    screen: &mut Screen,
    events: &Receiver<Event>,
    theme: &Theme,
    period: Duration,
) -> Result<(), Failure> {
    let late = LATE.max(period * 3);
    let mut newest = Instant::now();
    let mut drawn = paint(app, screen, theme)?;
    loop {
        let age = newest.elapsed();
        let wait = match late.checked_sub(age) {
            Some(left) if !left.is_zero() => left,
            _ => Duration::from_secs(1),
        };
        let first = match events.recv_timeout(wait) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => {
                app.on_late(newest.elapsed().as_secs());
                drawn = paint(app, screen, theme)?;
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::Collector),
        };
        let mut effect = Effect::None;
        // All that waits is taken before one drawing.
        for event in std::iter::once(first).chain(events.try_iter()) {
            let next = match event {
                Event::Stop | Event::Lost => return Ok(()),
                Event::Failed(error) => return Err(Failure::Source(error)),
                Event::CollectorDied => return Err(Failure::Collector),
                Event::Frame(frame) => {
                    newest = Instant::now();
                    app.on_frame(frame)
                }
                Event::Key(key) => app.on_key(key),
                Event::Click(column, row) => match drawn.target(column, row) {
                    Some(target) => app.on_click(target),
                    None => Effect::None,
                },
                Event::Wheel(lines) => app.on_wheel(lines),
                Event::Resize => Effect::Draw,
                Event::Continue => {
                    screen.enter().map_err(Failure::Terminal)?;
                    Effect::Redraw
                }
            };
            match next {
                Effect::Quit => return Ok(()),
                Effect::Suspend => {
                    terminal::restore();
                    // Goes on with SIGCONT, which takes the terminal again.
                    let _ = signal_hook::low_level::emulate_default_handler(
                        signal_hook::consts::SIGTSTP,
                    );
                }
                Effect::Redraw => effect = Effect::Redraw,
                Effect::Draw if effect == Effect::None => effect = Effect::Draw,
                Effect::Draw | Effect::None => {}
            }
        }
        match effect {
            Effect::Redraw => {
                screen.wipe().map_err(Failure::Terminal)?;
                drawn = paint(app, screen, theme)?;
            }
            Effect::Draw => drawn = paint(app, screen, theme)?,
            _ => {}
        }
    }
}

fn paint(app: &mut App, screen: &mut Screen, theme: &Theme) -> Result<Drawn, Failure> {
    let mut drawn = Drawn::default();
    let done = screen.terminal().draw(|frame| {
        let area = frame.area();
        drawn = draw::draw(frame.buffer_mut(), area, app, theme);
    });
    done.map_err(Failure::Terminal)?;
    app.on_drawn(drawn.page, drawn.row);
    Ok(drawn)
}
