//! Another process of this program, which reads the files of a directory:
//! whatever is in them, the server goes on.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, bail};

/// Bytes of what a child says of itself that are kept.
pub(super) const SAID: u64 = 1 << 20;

/// At most one child at a time, and none once it is over.
#[derive(Debug, Default)]
pub(super) struct Reading(Mutex<Slot>);

#[derive(Debug, Default)]
struct Slot {
    child: Option<Child>,
    over: bool,
}

impl Reading {
    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the child that runs; no other is started.
    pub(super) fn finish(&self) {
        let mut slot = self.slot();
        slot.over = true;
        if let Some(child) = &mut slot.child {
            // One that has ended already is as good.
            let _ = child.kill();
        }
    }

    /// Whether [`Reading::finish`] was called.
    pub(super) fn is_over(&self) -> bool {
        self.slot().over
    }

    /// Runs this program on a directory. What it said, at most so many bytes; or,
    /// where it said nothing, why.
    ///
    /// # Errors
    ///
    /// No child could be started, or the server ends.
    pub(super) fn run(
        &self,
        dir: &Path,
        most: u64,
        args: impl FnOnce(&mut Command),
    ) -> anyhow::Result<Result<String, String>> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut command = Command::new(program);
        args(&mut command);
        command.arg("-d").arg(dir).env_remove("NEURON_PROFILE_DATA");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (out, err) = {
            // Held while it starts, so that none starts unseen by `finish`.
            let mut slot = self.slot();
            if slot.over {
                bail!("the server ends");
            }
            let mut child = command.spawn().context("cannot start the reading of traces")?;
            let pipes = (child.stdout.take(), child.stderr.take());
            slot.child = Some(child);
            pipes
        };
        let (said, told) = std::thread::scope(|scope| {
            let told = scope.spawn(|| text(err, SAID));
            let said = text(out, most);
            (said, told.join().unwrap_or_default())
        });
        let ended = self.slot().child.take();
        let status = ended.context("the reading of traces was taken away")?.wait()?;
        if said.is_empty() {
            let last = told.lines().last().unwrap_or("the reading of its traces said nothing");
            return Ok(Err(format!("{} ({status})", last.trim_start_matches("neuron-profile: "))));
        }
        Ok(Ok(said))
    }
}

/// What comes of a pipe, to its end; so many bytes are kept.
fn text(pipe: Option<impl Read>, most: u64) -> String {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // What could be read is used; the rest must not fill the pipe.
        let _ = (&mut pipe).take(most).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut pipe, &mut std::io::sink());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_starts_once_it_is_over() {
        let reading = Reading::default();
        assert!(!reading.is_over());
        reading.finish();
        assert!(reading.is_over());
        let error = reading.run(Path::new("/"), SAID, |_| {}).unwrap_err();
        assert_eq!(error.to_string(), "the server ends");
    }

    #[test]
    fn what_is_too_long_is_read_to_its_end() {
        let long = vec![b'a'; 1 << 17];
        let mut pipe = &long[..];
        assert_eq!(text(Some(&mut pipe), 3), "aaa");
        assert!(pipe.is_empty());
    }
}
