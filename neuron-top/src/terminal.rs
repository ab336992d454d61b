//! The terminal: taken over, and given back whatever happens.

use std::io::{self, Stdout, Write as _};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{execute, queue};
use ratatui::layout::{Position, Rect};

/// Presses and the wheel, not every move, in the form that knows any column.
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1000l";

/// Whether the terminal is taken over: signals and panics come from any thread.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal, taken over for as long as this lives.
#[derive(Debug)]
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    mouse: bool,
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    ///
    /// Those of the terminal.
    pub(crate) fn take(mouse: bool) -> io::Result<Self> {
        restore_on_panic();
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let mut screen = Self { terminal, mouse };
        screen.enter()?;
        Ok(screen)
    }

    /// Takes it over again, after it was given back.
    ///
    /// # Errors
    ///
    /// Those of the terminal.
    pub(crate) fn enter(&mut self) -> io::Result<()> {
        TAKEN.store(true, Ordering::SeqCst);
        enable_raw_mode()?;
        let mut out = io::stdout();
        queue!(out, EnterAlternateScreen, Hide)?;
        if self.mouse {
            out.write_all(MOUSE_ON)?;
        }
        out.flush()?;
        self.wipe()
    }

    /// Clears it, so that the next drawing draws all. `Terminal::clear` would
    /// ask the terminal where its cursor is, and not all of them answer.
    ///
    /// # Errors
    ///
    /// Those of the terminal.
    pub(crate) fn wipe(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }

    /// What to draw on.
    pub(crate) fn terminal(&mut self) -> &mut Terminal<CrosstermBackend<Stdout>> {
        &mut self.terminal
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back, if it is taken. What fails is of no more use: the
/// terminal may be gone.
pub(crate) fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let mut out = io::stdout();
        let _ = out.write_all(MOUSE_OFF);
        let _ = execute!(out, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// Gives back what needs no output: for a terminal that takes none.
pub(crate) fn restore_mode() {
    let _ = disable_raw_mode();
}

fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore();
            usual(info);
        }));
    });
}
