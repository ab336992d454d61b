//! `cargo xtask bench top`: what the live screen costs beside htop and bottom,
//! all at one period in terminals of one size, at the same time, so that a busy
//! machine hits all of them; and how soon it answers a key.
//!
//! bottom is not in Debian: it is measured where `btm` is there, which
//! `--install-bottom` builds with cargo.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::bar::{Good::AtMost, judge};
use super::stats::{median, percentile};
use crate::packages;
use crate::run::{Run, say, target_dir};

/// Flags of `cargo xtask bench top`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Seconds that are measured.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(5..))]
    seconds: u64,
    /// Keys whose answers are timed.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(10..))]
    keys: u32,
    /// Measure development builds: for figures of time alone.
    #[arg(long)]
    debug: bool,
    /// Build bottom with cargo first, where there is no btm.
    #[arg(long)]
    install_bottom: bool,
}

const INSTANCE: &str = "trn2.48xlarge";
const PROCESSES: u32 = 8;
const SIZE: Winsize = Winsize { ws_row: 60, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 };
/// Targets: share of one core, resident MiB, milliseconds of an answer.
const SHARE: f64 = 1.0;
const RESIDENT_MIB: f64 = 15.0;
const ANSWER_MS: f64 = 16.0;

/// A program in a terminal of its own.
struct Shown {
    child: Child,
    terminal: Arc<File>,
    bytes: Arc<AtomicU64>,
}

impl Drop for Shown {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Shown {
    fn start(program: &Path, args: &[&str], env: &[(&str, &str)]) -> Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        tcsetwinsize(&master, SIZE)?;
        let name = ptsname(&master, Vec::new())?.into_string()?;
        let slave = File::options().read(true).write(true).open(&name)?;
        let mut command = Command::new("setsid");
        command.args(["--ctty"]).arg(program).args(args);
        command.env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8").envs(env.iter().copied());
        command.stdin(slave.try_clone()?).stdout(slave.try_clone()?).stderr(slave);
        let child =
            command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let terminal = Arc::new(File::from(master));
        let bytes = Arc::new(AtomicU64::new(0));
        let (reader, count) = (Arc::clone(&terminal), Arc::clone(&bytes));
        std::thread::spawn(move || {
            let mut chunk = [0; 65_536];
            while let Ok(got @ 1..) = (&*reader).read(&mut chunk) {
                count.fetch_add(got as u64, Ordering::SeqCst);
            }
        });
        Ok(Self { child, terminal, bytes })
    }

    /// Processor seconds so far, by the scheduler's own clock.
    fn cpu(&self) -> Result<f64> {
        let mut nanos = 0_u64;
        for thread in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let text = std::fs::read_to_string(thread?.path().join("schedstat"))?;
            nanos += text.split(' ').next().unwrap_or_default().parse::<u64>()?;
        }
        Ok(Duration::from_nanos(nanos).as_secs_f64())
    }

    fn resident_mib(&self) -> Result<f64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = text.lines().find(|line| line.starts_with("VmRSS:")).context("no VmRSS")?;
        Ok(line.split_whitespace().nth(1).context("no VmRSS")?.parse::<f64>()? / 1024.0)
    }

    /// Presses a key; milliseconds until something is drawn.
    fn answer(&self, key: &[u8]) -> Result<f64> {
        let before = self.bytes.load(Ordering::SeqCst);
        let begin = Instant::now();
        (&*self.terminal).write_all(key)?;
        while self.bytes.load(Ordering::SeqCst) == before {
            ensure!(begin.elapsed() < Duration::from_secs(5), "no answer to a key");
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(begin.elapsed().as_secs_f64() * 1e3)
    }
}

/// A process on the instance, until its stdin is closed.
struct Worker(Child);

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Measures and prints; misses of a target are said, not failed: the machine
/// may be busy.
pub(crate) fn run(options: &Options) -> Result<()> {
    let (top, trouble) = build(options)?;
    let dir = target_dir()?.join("bench-top");
    if dir.exists() {
        std::fs::remove_dir_all(&dir)?;
    }
    std::fs::create_dir_all(&dir)?;
    let place = dir.to_str().context("a path that is no text")?;
    let source = format!("sim:{INSTANCE}");
    let env = [("NEURON_SIM_DIR", place), ("NEURON_SOURCE", source.as_str()), ("HOME", place)];
    let made = Command::new(&top).args(["--once", "--period", "100ms"]).envs(env).output()?;
    ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let workers: Result<Vec<Worker>> = (0..PROCESSES).map(|n| start_worker(&dir, 2 * n)).collect();
    let workers = workers?;
    cost(options, &top, &env)?;
    say("\nmilliseconds from a key to the first byte drawn");
    let quick = Shown::start(&top, &[], &env)?;
    answers("neuron-top", &quick, options.keys)?;
    drop(quick);
    let slow = Shown::start(&trouble, &["sleep", "3600", &source], &env)?;
    answers("the same, each reading takes an hour", &slow, options.keys)?;
    drop(workers);
    Ok(())
}

/// neuron-top and its example with a slow source.
fn build(options: &Options) -> Result<(PathBuf, PathBuf)> {
    Run::cargo("build").args(["-p", "neuron-tests", "--bin", "sim-worker"]).run()?;
    let target = ["-p", "neuron-top", "--bin", "neuron-top", "--example", "trouble"];
    let (flags, dir): (&[&str], _) =
        if options.debug { (&[], "debug") } else { (&["--profile", "bench"], "release") };
    Run::cargo("build").args(flags.iter().copied()).args(target).run()?;
    let dir = target_dir()?.join(dir);
    Ok((dir.join("neuron-top"), dir.join("examples/trouble")))
}

fn start_worker(dir: &Path, device: u32) -> Result<Worker> {
    let mut child = Command::new(target_dir()?.join("debug/sim-worker"))
        .arg(dir)
        .args([INSTANCE, &device.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start sim-worker")?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("no pipe")?).read_line(&mut line)?;
    ensure!(line == "ready\n", "the worker says {line:?}");
    Ok(Worker(child))
}

/// Ours and its peers, side by side.
fn cost(options: &Options, top: &Path, env: &[(&str, &str)]) -> Result<()> {
    let mut shown = vec![("neuron-top", Shown::start(top, &["--period", "1s"], env)?)];
    if packages::missing("bench top", false).is_empty() {
        shown.push(("htop", Shown::start(Path::new("htop"), &["-d", "10"], env)?));
    }
    if let Some(bottom) = bottom(options)? {
        shown.push(("bottom", Shown::start(&bottom, &["--rate", "1000"], env)?));
    }
    std::thread::sleep(Duration::from_secs(3));
    let before: Result<Vec<f64>> = shown.iter().map(|(_, shown)| shown.cpu()).collect();
    let begin = Instant::now();
    std::thread::sleep(Duration::from_secs(options.seconds));
    say(&format!(
        "\n{INSTANCE}, {PROCESSES} processes, {} x {}, a reading a second, {} s\n{:12} {:>10} {:>10}",
        SIZE.ws_col, SIZE.ws_row, options.seconds, "program", "% of core", "MiB"
    ));
    let mut shares = Vec::new();
    let mut resident = 0.0;
    for ((name, shown), before) in shown.iter().zip(before?) {
        let share = (shown.cpu()? - before) / begin.elapsed().as_secs_f64() * 100.0;
        let mib = shown.resident_mib()?;
        say(&format!("{name:12} {share:10.3} {mib:10.2}"));
        shares.push(share);
        if *name == "neuron-top" {
            resident = mib;
        }
    }
    let Some((ours, peers)) = shares.split_first() else { bail!("nothing was measured") };
    judge("% of one core", *ours, AtMost, SHARE);
    if let Some(htop) = peers.first() {
        judge("processor time, share of htop's", ours / htop, AtMost, 1.0);
    }
    judge("resident, MiB", resident, AtMost, RESIDENT_MIB);
    Ok(())
}

/// Where bottom is, if it is.
fn bottom(options: &Options) -> Result<Option<PathBuf>> {
    let built = target_dir()?.join("tools/bin/btm");
    if Run::new("btm").arg("--version").succeeds() {
        return Ok(Some(PathBuf::from("btm")));
    }
    if !built.exists() && options.install_bottom {
        let root = target_dir()?.join("tools");
        Run::cargo("install")
            .args(["bottom", "--locked", "--no-default-features", "--root"])
            .arg(root)
            .run()?;
    }
    if !built.exists() {
        say("btm (bottom) is missing; --install-bottom builds it");
        return Ok(None);
    }
    Ok(Some(built))
}

fn answers(name: &str, shown: &Shown, keys: u32) -> Result<()> {
    // The first readings, and a slow one begun.
    std::thread::sleep(Duration::from_secs(2));
    let mut times = Vec::new();
    for number in 0..keys {
        // Not in step with the readings.
        std::thread::sleep(Duration::from_millis(40 + u64::from(number) % 7));
        times.push(shown.answer(b"f")?);
    }
    let (middle, most) = (median(&times), percentile(&times, 0.99));
    say(&format!("{name}: median {middle:.2}, p99 {most:.2}"));
    judge(&format!("{name}: answer to a key, p99, ms"), most, AtMost, ANSWER_MS);
    Ok(())
}
