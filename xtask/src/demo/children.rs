//! Processes of the demo: each ends with the value that stands for it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::Demo;

/// How long a process may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(10);

/// How often a process that is waited for is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Whether somebody wants the end: Ctrl-C, or a signal.
#[derive(Debug, Clone)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Signals do no more than be remembered from here on.
    pub(super) fn watch() -> Result<Self> {
        let came = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&came)).context("no signals")?;
        }
        Ok(Self(came))
    }

    pub(super) fn came(&self) -> bool {
        self.0.load(Relaxed)
    }

    /// Lets time go by.
    ///
    /// # Errors
    ///
    /// The end is wanted.
    pub(super) fn wait(&self, time: Duration) -> Result<()> {
        let until = Instant::now() + time;
        while Instant::now() < until {
            if self.came() {
                bail!("interrupted");
            }
            std::thread::sleep(until.saturating_duration_since(Instant::now()).min(LOOK));
        }
        Ok(())
    }
}

/// A process.
#[derive(Debug)]
pub(super) struct Child {
    process: Mutex<std::process::Child>,
    out: Option<BufReader<std::process::ChildStdout>>,
    name: String,
}

impl Child {
    pub(super) fn start(mut command: Command) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let mut process = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let out = process.stdout.take().map(BufReader::new);
        Ok(Self { process: Mutex::new(process), out, name })
    }

    /// The next line of its output.
    pub(super) fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        let read = self.out.as_mut().context("no pipe")?.read_line(&mut line)?;
        if read == 0 {
            bail!("{} ended without a word", self.name);
        }
        Ok(line)
    }

    /// Everything it says until it ends, which must be a good end.
    pub(super) fn output(mut self, interrupt: &Interrupt) -> Result<String> {
        let mut out = self.out.take().context("no pipe")?;
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            out.read_to_string(&mut text).map(|_| text)
        });
        let status = loop {
            if let Some(status) = self.process().try_wait()? {
                break status;
            }
            interrupt.wait(LOOK)?;
        };
        let text = reader.join().ok().context("a reader broke")??;
        if !status.success() {
            bail!("{} failed: {status}", self.name);
        }
        Ok(text)
    }

    pub(super) fn has_ended(&self) -> bool {
        !matches!(self.process().try_wait(), Ok(None))
    }

    /// Asks it to end and waits for that.
    pub(super) fn stop(self) {}

    fn process(&self) -> std::sync::MutexGuard<'_, std::process::Child> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let process = self.process.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !matches!(process.try_wait(), Ok(None)) {
            return;
        }
        let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
        let asked = pid.is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok());
        let until = Instant::now() + GRACE;
        while asked && Instant::now() < until {
            if !matches!(process.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(LOOK);
        }
        let _ = process.kill();
        let _ = process.wait();
    }
}

/// Inferences, one after the other.
#[derive(Debug)]
pub(super) struct Traffic {
    end: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
    thread: Option<JoinHandle<Result<()>>>,
}

/// Runs neuron-cli with these arguments until the value is dropped.
pub(super) fn repeat(demo: &Demo, args: &[&str]) -> Traffic {
    let (end, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let (over, count) = (Arc::clone(&end), Arc::clone(&done));
    let interrupt = demo.interrupt.clone();
    let (programs, folder) = (demo.programs.clone(), demo.folder.clone());
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let thread = std::thread::spawn(move || {
        let demo = Demo { programs, folder, interrupt };
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        while !over.load(Relaxed) && !demo.interrupt.came() {
            Child::start(demo.command("neuron-cli", &args))?.output(&demo.interrupt)?;
            count.fetch_add(1, Relaxed);
        }
        Ok(())
    });
    Traffic { end, done, thread: Some(thread) }
}

impl Traffic {
    /// Inferences so far.
    pub(super) fn done(&self) -> u64 {
        self.done.load(Relaxed)
    }

    /// Ends it.
    ///
    /// # Errors
    ///
    /// That of the inference that failed.
    pub(super) fn stop(mut self) -> Result<()> {
        self.end.store(true, Relaxed);
        self.thread.take().map_or(Ok(()), |thread| {
            thread.join().unwrap_or_else(|_| bail!("a thread broke")).context("an inference")
        })
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.end.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet() -> Interrupt {
        Interrupt(Arc::new(AtomicBool::new(false)))
    }

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_is_whole_and_a_bad_end_is_an_error() {
        let text = Child::start(sh("seq 20000")).unwrap().output(&quiet()).unwrap();
        assert!(text.ends_with("19999\n20000\n"));
        assert!(Child::start(sh("exit 3")).unwrap().output(&quiet()).is_err());
    }

    #[test]
    fn a_process_ends_with_its_value() {
        let mut child = Child::start(sh("echo $$; exec sleep 600")).unwrap();
        let pid: i32 = child.line().unwrap().trim().parse().unwrap();
        let pid = Pid::from_raw(pid).unwrap();
        assert!(rustix::process::test_kill_process(pid).is_ok());
        drop(child);
        assert!(rustix::process::test_kill_process(pid).is_err());
    }

    #[test]
    fn an_interrupt_ends_what_is_waited_for() {
        let interrupt = quiet();
        let child = Child::start(sh("exec sleep 600")).unwrap();
        interrupt.0.store(true, Relaxed);
        assert_eq!(child.output(&interrupt).unwrap_err().to_string(), "interrupted");
    }
}
