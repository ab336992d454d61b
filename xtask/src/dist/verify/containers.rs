//! Dockerfiles without a container engine: their few instructions are done by
//! hand in a root of the same system, and what they start is asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use super::super::Made;
use super::debian::System;
use crate::run::{Run, root, say};

/// How long a service may take until it answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// Builds both by hand and asks them.
pub(super) fn run(made: &Made) -> Result<()> {
    let context = made.work.join("root/neuron-tools/opt/aws/neuron");
    let image = Image::build("Dockerfile.monitor", &context)?;
    let mut exporter = image.start("sim:trn1.2xlarge", &["--port", "0"])?;
    let port = exporter.port()?;
    // The first document comes after a period.
    answers(port, "/metrics", "neuron_hardware_info")?;
    answers(port, "/health", "\"status\":\"ok\"")?;
    drop(exporter);
    image.system.remove()?;
    say("ok: what Dockerfile.monitor starts serves metrics");

    let image = Image::build("Dockerfile.rtd", &context)?;
    std::fs::create_dir_all(image.system.root.join("sock"))?;
    let daemon = image.start("sim:inf1.6xlarge", &[])?;
    let until = Instant::now() + PATIENCE;
    let health = || image.inside(&image.health, &[]).command().output();
    while !health()?.status.success() {
        ensure!(Instant::now() < until, "the check of health does not succeed");
        std::thread::sleep(Duration::from_millis(200));
    }
    drop(daemon);
    image.system.remove()?;
    say("ok: what Dockerfile.rtd starts is healthy");
    Ok(())
}

/// A root with the instructions of a Dockerfile done.
struct Image {
    system: System,
    start: Vec<String>,
    health: Vec<String>,
    environment: Vec<String>,
}

impl Image {
    fn build(name: &str, context: &Path) -> Result<Self> {
        let path = root().join("xtask/dist/container").join(name);
        let text = std::fs::read_to_string(&path)?;
        let system = System::fresh(&name.to_lowercase().replace('.', "-"))?;
        let mut image =
            Self { system, start: Vec::new(), health: Vec::new(), environment: Vec::new() };
        let (mut entry, mut command) = (Vec::new(), Vec::new());
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let (word, rest) = line.split_once(' ').context("an instruction without argument")?;
            match word {
                "FROM" => ensure!(rest == "debian:12-slim", "{name}: another system: {rest}"),
                "COPY" => image.copy(context, rest)?,
                "ENV" => image.environment.push(rest.to_owned()),
                "ENTRYPOINT" => entry = serde_json::from_str(rest)?,
                "CMD" => command = serde_json::from_str(rest)?,
                "HEALTHCHECK" => {
                    let rest = rest.strip_prefix("CMD ").context("HEALTHCHECK without CMD")?;
                    image.health = serde_json::from_str(rest)?;
                }
                "EXPOSE" | "VOLUME" => {}
                other => bail!("{name}: cannot do {other}"),
            }
        }
        image.start = entry.into_iter().chain(command).collect();
        Ok(image)
    }

    /// `COPY FILE... PLACE`, where a place with `/` at its end is a folder.
    fn copy(&self, context: &Path, args: &str) -> Result<()> {
        let words: Vec<_> = args.split(' ').collect();
        let (place, files) = words.split_last().context("COPY without a place")?;
        for file in files {
            let place = self.system.root.join(place.trim_start_matches('/'));
            let to: PathBuf = match args.ends_with('/') {
                true => place.join(file.rsplit('/').next().unwrap_or(file)),
                false => place,
            };
            std::fs::create_dir_all(to.parent().context("no folder")?)?;
            std::fs::copy(context.join(file), &to).with_context(|| format!("COPY {file}"))?;
        }
        Ok(())
    }

    fn inside(&self, command: &[String], more: &[&str]) -> Run {
        let words: Vec<&str> = std::iter::once("env")
            .chain(self.environment.iter().map(String::as_str))
            .chain(command.iter().map(String::as_str))
            .chain(more.iter().copied())
            .collect();
        self.system.inside(&words)
    }

    fn start(&self, source: &'static str, more: &[&str]) -> Result<Started> {
        // Not on every address of this machine.
        let here = |word: &String| word.replace("0.0.0.0", "127.0.0.1");
        let start: Vec<String> = self.start.iter().map(here).collect();
        let run = self.inside(&start, more).env("NEURON_SOURCE", source);
        let child = run.command().stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        Ok(Started(child))
    }
}

/// A service that ends with this value.
struct Started(Child);

impl Started {
    /// The port in the first line that it prints.
    fn port(&mut self) -> Result<u16> {
        let out = self.0.stdout.take().context("no pipe")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let word = line.trim().rsplit(' ').next().unwrap_or_default();
        word.parse().with_context(|| format!("no port in {line:?}"))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Asks until the answer is a good one that has this text.
fn answers(port: u16, path: &str, text: &str) -> Result<()> {
    let until = Instant::now() + PATIENCE;
    loop {
        let mut answer = String::new();
        let asked = TcpStream::connect(("127.0.0.1", port)).and_then(|mut stream| {
            stream.set_read_timeout(Some(PATIENCE))?;
            let request =
                format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            stream.write_all(request.as_bytes())?;
            stream.read_to_string(&mut answer)
        });
        if asked.is_ok() && answer.starts_with("HTTP/1.1 200") && answer.contains(text) {
            return Ok(());
        }
        ensure!(Instant::now() < until, "no {text} at {path} of port {port}: {answer:.300}");
        std::thread::sleep(Duration::from_millis(200));
    }
}
