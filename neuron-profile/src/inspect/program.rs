//! A program that is waited for, and that gets the signals which are meant for
//! it.

use std::io::{self, IsTerminal as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Runs a program to its end; gives why it failed, if it did. Ctrl-C ends the
/// program, not us: what it leaves is still to be told.
///
/// # Errors
///
/// A program that is not there, or may not be run.
pub(super) fn run(command: &mut Command) -> io::Result<Option<String>> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let mut child = command.spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // A terminal gives its Ctrl-C to the program as well.
    let terminal = io::stdin().is_terminal();
    let handle = signals.handle();
    let forward = move || {
        for signal in &mut signals {
            let to = match signal {
                SIGINT if terminal => continue,
                SIGINT => Signal::INT,
                _ => Signal::TERM,
            };
            if let Some(pid) = pid {
                // one that has just ended needs none
                let _ = kill_process(pid, to);
            }
        }
    };
    let thread = std::thread::spawn(forward);
    let ended = child.wait();
    handle.close();
    let _ = thread.join();
    Ok(failure(ended?))
}

fn failure(status: ExitStatus) -> Option<String> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("exit status {code}")),
        (None, Some(SIGINT)) => Some(String::from("interrupted")),
        (None, signal) => Some(format!("ended by signal {}", signal.unwrap_or(0))),
    }
}
