//! `cargo xtask bench monitor`: what the exporter and the stream cost, beside
//! prometheus-node-exporter.
//!
//! Cost is processor time of the whole process, so that a loaded machine does
//! not change the figures much. Every scrape of ours finds new figures: the
//! exporter collects at the pace of the scrapes, which is more than it would
//! do in use.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;

use super::bar::{Good::AtMost, judge};
use super::stats::{median, percentile};
use crate::packages;
use crate::run::{Run, say, target_dir};

/// Flags of `cargo xtask bench monitor`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Scrapes of each exporter per row.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(20..=100_000))]
    scrapes: u32,
    /// Seconds of the stream at 10 ms.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// A neuron-monitor that is built already, instead of the release build.
    #[arg(long)]
    binary: Option<std::path::PathBuf>,
}

/// Processes on the instance.
const PROCESSES: u32 = 8;
/// Time between two scrapes, and the exporter's period.
const PACE: Duration = Duration::from_millis(50);
/// Until a simulated instance on which processes have just begun counts as at
/// rest: before, its state is read anew each time.
const SETTLED: Duration = Duration::from_millis(2500);
/// Targets: processor time per series as a share of the peer's, milliseconds
/// of a scrape of one device, resident MiB, share of one core at 10 ms.
const SHARE: f64 = 0.2;
const SCRAPE_MS: f64 = 0.7;
const RESIDENT_MIB: f64 = 12.0;
const STREAM_SHARE: f64 = 0.02;

/// A child that ends with this value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Ended {
    /// Processor seconds so far.
    fn cpu(&self) -> Result<f64> {
        let path = format!("/proc/{}/stat", self.0.id());
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        let fields: Vec<&str> =
            text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
        // Fields 14 and 15, counted from the third.
        Ok((ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / 100.0)
    }

    /// Resident MiB.
    fn resident(&self) -> Result<f64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = text.lines().find(|line| line.starts_with("VmRSS:")).context("no VmRSS")?;
        let kib: f64 = line.split_whitespace().nth(1).context("no VmRSS")?.parse()?;
        Ok(kib / 1024.0)
    }
}

/// Measures and prints; misses of a target are said, not failed: the machine
/// may be busy.
pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => {
            Run::cargo("build").args(["--release", "-p", "neuron-monitor"]).run()?;
            target_dir()?.join("release/neuron-monitor")
        }
    };
    Run::cargo("build").args(["-p", "neuron-tests", "--bin", "sim-worker"]).run()?;
    let worker = target_dir()?.join("debug/sim-worker");
    let peer = packages::missing("bench monitor", false).is_empty();
    for instance in ["trn1.2xlarge", "trn1.32xlarge"] {
        let dir = target_dir()?.join("bench-monitor").join(instance);
        if dir.exists() {
            std::fs::remove_dir_all(&dir)?;
        }
        std::fs::create_dir_all(&dir)?;
        once(&binary, instance, &dir)?;
        let devices = if instance.ends_with(".2xlarge") { 1 } else { 16 };
        let workers: Result<Vec<Ended>> = (0..PROCESSES)
            .map(|number| start_worker(&worker, &dir, instance, number % devices))
            .collect();
        let workers = workers?;
        std::thread::sleep(SETTLED);
        scrapes(options, &binary, instance, &dir, peer)?;
        drop(workers);
        if devices == 1 {
            let _one = start_worker(&worker, &dir, instance, 0)?;
            std::thread::sleep(SETTLED);
            stream(options, &binary, instance, &dir)?;
        }
    }
    Ok(())
}

fn monitor(binary: &Path, instance: &str, dir: &Path) -> Command {
    let mut command = Command::new(binary);
    command
        .env("NEURON_SIM_DIR", dir)
        .env("NEURON_SOURCE", format!("sim:{instance}"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// Makes the instance.
fn once(binary: &Path, instance: &str, dir: &Path) -> Result<()> {
    let output = monitor(binary, instance, dir).args(["--once", "--period", "10ms"]).output()?;
    ensure!(output.status.success(), "{} failed: {}", binary.display(), output.status);
    Ok(())
}

fn start_worker(worker: &Path, dir: &Path, instance: &str, device: u32) -> Result<Ended> {
    let mut child = Command::new(worker)
        .arg(dir)
        .args([instance, &device.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", worker.display()))?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("no pipe")?).read_line(&mut line)?;
    ensure!(line == "ready\n", "the worker says {line:?}");
    Ok(Ended(child))
}

fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// A scrape over a connection that stays: seconds and series.
fn scrape(stream: &mut TcpStream) -> Result<(f64, usize)> {
    let begin = Instant::now();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    let mut bytes = Vec::new();
    let mut chunk = [0; 65_536];
    loop {
        let got = stream.read(&mut chunk)?;
        ensure!(got > 0, "the exporter closed the connection");
        bytes.extend_from_slice(chunk.get(..got).unwrap_or_default());
        let Some(head) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let text = String::from_utf8_lossy(bytes.get(..head).unwrap_or_default()).to_lowercase();
        let whole = match text.split("content-length: ").nth(1) {
            Some(rest) => {
                let length: usize = rest.lines().next().unwrap_or_default().trim().parse()?;
                bytes.len() >= head + 4 + length
            }
            None => bytes.ends_with(b"0\r\n\r\n"),
        };
        if whole {
            break;
        }
    }
    let took = begin.elapsed().as_secs_f64();
    let series = bytes.split(|byte| *byte == b'\n').filter(|line| is_series(line)).count();
    Ok((took, series))
}

/// A line of a sample: letters first and a value behind.
fn is_series(line: &[u8]) -> bool {
    line.first().is_some_and(u8::is_ascii_lowercase)
        && line.contains(&b' ')
        && !line.contains(&b':')
        || line.contains(&b'{')
}

/// An exporter that is scraped, and what was measured of it.
struct Exporter {
    child: Ended,
    stream: TcpStream,
    cpu: f64,
    times: Vec<f64>,
    series: usize,
}

impl Exporter {
    fn of(child: Ended, port: u16) -> Result<Self> {
        let begin = Instant::now();
        let stream = loop {
            match TcpStream::connect(("127.0.0.1", port)) {
                Ok(stream) => break stream,
                Err(error) if begin.elapsed() > Duration::from_secs(10) => bail!("{error}"),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        stream.set_nodelay(true)?;
        let mut exporter = Self { child, stream, cpu: 0.0, times: Vec::new(), series: 0 };
        for _ in 0..10 {
            scrape(&mut exporter.stream)?;
            std::thread::sleep(PACE);
        }
        exporter.cpu = exporter.child.cpu()?;
        Ok(exporter)
    }

    fn scrape(&mut self) -> Result<()> {
        let (seconds, series) = scrape(&mut self.stream)?;
        self.times.push(seconds * 1e3);
        self.series = series;
        Ok(())
    }

    /// Prints a row; gives microseconds of processor time per series.
    fn row(&self, name: &str) -> Result<f64> {
        let cpu = (self.child.cpu()? - self.cpu) / self.times.len() as f64;
        let per_series = cpu * 1e6 / self.series.max(1) as f64;
        say(&format!(
            "{name:32} {:6} {:9.3} {:9.3} {per_series:9.3} {:9.3} {:9.3}",
            self.series,
            cpu * 1e3,
            self.child.resident()?,
            median(&self.times),
            percentile(&self.times, 0.9),
        ));
        Ok(per_series)
    }
}

fn scrapes(options: &Options, binary: &Path, instance: &str, dir: &Path, peer: bool) -> Result<()> {
    let port = free_port()?;
    let period = format!("{}ms", PACE.as_millis());
    let child = monitor(binary, instance, dir)
        .args(["prometheus", "--each-vcpu", "--period", &period, "--port", &port.to_string()])
        .spawn()?;
    let mut ours = Exporter::of(Ended(child), port)?;
    let mut theirs = match peer {
        false => None,
        true => {
            let port = free_port()?;
            let child = Command::new("prometheus-node-exporter")
                .arg(format!("--web.listen-address=127.0.0.1:{port}"))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?;
            Some(Exporter::of(Ended(child), port)?)
        }
    };
    for _ in 0..options.scrapes {
        ours.scrape()?;
        if let Some(theirs) = &mut theirs {
            theirs.scrape()?;
        }
        std::thread::sleep(PACE);
    }
    say(&format!(
        "\n{instance}, {PROCESSES} processes, {} scrapes, collected for each\n{:32} {:>6} {:>9} {:>9} \
         {:>9} {:>9} {:>9}",
        options.scrapes, "exporter", "series", "ms CPU", "MiB", "us/series", "ms median", "ms p90"
    ));
    let of = |what: &str| format!("{instance}, {what}");
    let our_cost = ours.row("neuron-monitor")?;
    if let Some(theirs) = &theirs {
        let ratio = our_cost / theirs.row("prometheus-node-exporter")?;
        judge(&of("CPU per series, share of the peer's"), ratio, AtMost, SHARE);
    }
    let resident = ours.child.resident()?;
    judge(&of("resident, MiB"), resident, AtMost, RESIDENT_MIB);
    if instance == "trn1.2xlarge" {
        let took = median(&ours.times);
        judge(&of("scrape, ms"), took, AtMost, SCRAPE_MS);
    }
    Ok(())
}

/// The stream at 10 ms on one device with one process.
fn stream(options: &Options, binary: &Path, instance: &str, dir: &Path) -> Result<()> {
    let mut child = monitor(binary, instance, dir).args(["--period", "10ms"]).spawn()?;
    let lines = BufReader::new(child.stdout.take().context("no pipe")?).lines();
    let child = Ended(child);
    let reader = std::thread::spawn(move || lines.map_while(Result::ok).count());
    std::thread::sleep(Duration::from_millis(500));
    let (begin, cpu) = (Instant::now(), child.cpu()?);
    std::thread::sleep(Duration::from_secs(options.seconds));
    let share = (child.cpu()? - cpu) / begin.elapsed().as_secs_f64();
    let seconds = begin.elapsed().as_secs_f64() + 0.5;
    drop(child);
    let records = reader.join().unwrap_or(0);
    say(&format!("\nstream at 10 ms: {:.1} records a second", records as f64 / seconds));
    judge("stream at 10 ms, % of one core", share * 100.0, AtMost, STREAM_SHARE * 100.0);
    Ok(())
}

/// A day in simulated time, as a test that watches memory and descriptors.
pub(super) fn soak() -> Result<()> {
    let test = ["--quiet", "-p", "neuron-monitor", "--lib", "hours_of_operation"];
    Run::cargo("test").args(test).env("NEURON_TESTS_HOURS", "24").run()
}
