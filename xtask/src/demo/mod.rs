//! `cargo xtask demo`: the whole system at work, without a device.
//!
//! A simulated instance, the daemon with two models, traffic, every tool
//! looking at it, a profile. Everything lies in a folder of its own, which goes
//! at the end, as do all processes, also after Ctrl-C.

mod children;
mod look;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;

use crate::run::{EVERYTHING, Run, say, target_dir};
use crate::{models, web};
use children::{Child, Interrupt};

/// The simulated instance.
const SOURCE: &str = "sim:trn1.2xlarge,name=demo";

/// The models that the daemon serves, each with one input, `x`.
const MODELS: [&str; 2] = ["mlp", "transformer"];

/// Flags of `cargo xtask demo`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Keep everything up, the viewer and the metrics too, until Ctrl-C.
    #[arg(long)]
    serve: bool,
    /// Take the programs of this folder instead of building them.
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
}

/// Builds and shows.
pub(crate) fn run(options: &Options) -> Result<()> {
    let programs = match &options.programs {
        Some(programs) => std::path::absolute(programs)?,
        None => build()?,
    };
    let interrupt = Interrupt::watch()?;
    // Short, since a socket's path may have 107 bytes.
    let folder = tempfile::Builder::new().prefix("neuron-demo").tempdir()?;
    let demo = Demo { programs, folder: folder.path().to_owned(), interrupt };
    let start = std::time::Instant::now();
    let shown = demo.show(options.serve);
    if demo.interrupt.came() {
        say("\ninterrupted; everything is stopped and removed");
        return Ok(());
    }
    shown?;
    say(&format!(
        "\nThat took {:.0} s; everything is stopped and removed.",
        start.elapsed().as_secs_f64()
    ));
    Ok(())
}

/// What the tests use too, so that a later `cargo xtask test` has it: the example
/// makes cargo choose features as it does for tests.
fn build() -> Result<PathBuf> {
    if web::can_build() {
        web::build(false)?;
    } else {
        say("npm is missing: the viewer will be a plain page");
    }
    Run::cargo("build").args(EVERYTHING).args(["--bins", "--example", "trouble"]).run()?;
    Ok(target_dir()?.join("debug"))
}

/// Where everything is.
struct Demo {
    programs: PathBuf,
    folder: PathBuf,
    interrupt: Interrupt,
}

impl Demo {
    /// All of it, one part after the other.
    fn show(&self, serve: bool) -> Result<()> {
        for name in MODELS {
            models::write_sample(&self.folder, name)?;
        }
        self.title("A simulated trn1.2xlarge, and the runtime daemon on it");
        let daemon = self
            .start("neuron-rtd", &["-x", "-l", "4", "--source", SOURCE, "-g", &self.address()])?;
        self.ready(&daemon)?;
        self.title("Two models");
        let mut traffic = Vec::new();
        for name in MODELS {
            let neff = self.path(&format!("{name}.neff"));
            let id = self.ask("neuron-cli", &["load", &neff])?.trim().to_owned();
            say(&format!("{name}: loaded as {id}"));
            traffic.push((id, format!("x={}", self.path(&format!("{name}/input.x.npy")))));
        }
        say(self.ask("neuron-cli", &["list-model"])?.trim_end());
        self.title("Traffic: an inference of each model, again and again");
        let traffic: Vec<_> = traffic
            .iter()
            .map(|(id, input)| children::repeat(self, &["infer", id, "-i", input]))
            .collect();
        self.interrupt.wait(Duration::from_secs(1))?;

        self.title("neuron-ls: which devices, and who uses them");
        say(self.ask("neuron-ls", &["--source", SOURCE])?.trim_end());
        self.title("neuron-top: a frame of the live screen");
        let frame = ["--source", SOURCE, "--once", "--period", "1s"];
        say(self.ask("neuron-top", &frame)?.trim_end());
        self.title("neuron-monitor: three records, their beginnings");
        let records = ["--source", SOURCE, "--count", "3", "--period", "1s"];
        for line in self.ask("neuron-monitor", &records)?.lines() {
            say(&look::beginning(line, 240));
        }
        self.title("The same for Prometheus");
        let exporter = ["prometheus", "--port", "0", "--period", "1s", "--source", SOURCE];
        let mut exporter = self.start("neuron-monitor", &exporter)?;
        let port = look::last_number(&exporter.line()?)?;
        let page = look::page(port, "/metrics", &self.interrupt, "neuroncore_utilization_ratio{")?;
        for line in look::samples(&page, "neuroncore_utilization_ratio{")
            .chain(look::samples(&page, "execution_status_total{").take(3))
        {
            say(line);
        }
        say(&format!(
            "... and {} lines more at http://127.0.0.1:{port}/metrics",
            page.lines().count()
        ));

        let inferences: u64 = traffic.iter().map(children::Traffic::done).sum();
        say(&format!("{inferences} inferences so far"));
        self.profile(serve)?;
        traffic.into_iter().try_for_each(children::Traffic::stop)?;
        drop(exporter);
        drop(daemon);
        Ok(())
    }

    /// A capture on an instance of its own, since the daemon has all cores of
    /// the first; its metrics, and the server of the viewer.
    fn profile(&self, serve: bool) -> Result<()> {
        self.title("neuron-profile: a capture of the transformer, its metrics");
        let name = MODELS[1];
        let (neff, trace) = (self.path(&format!("{name}.neff")), self.path("profile.ntff"));
        let input = self.path(&format!("{name}/input.x.npy"));
        let alone = "sim:trn1.2xlarge,name=capture";
        self.ask(
            "neuron-profile",
            &["capture", "-n", &neff, "-s", &trace, "--source", alone, "x", &input],
        )?;
        let both = ["-n", &neff, "-s", &trace];
        let summary = [&["view"][..], &both, &["--output-format", "summary-text"]].concat();
        let summary = self.ask("neuron-profile", &summary)?;
        for line in summary.lines().filter(|line| look::matters(line)) {
            say(line);
        }
        self.title("The viewer");
        let data = self.path("profiles");
        let view = [&["view"][..], &both, &["--port", "0", "--data-path", &data]].concat();
        let mut viewer = self.start("neuron-profile", &view)?;
        let link = look::link(&mut viewer)?;
        let (port, path) = look::parts(&link)?;
        let page = look::page(port, path, &self.interrupt, "<html")?;
        say(&format!("{link} answers with a page of {} bytes", page.len()));
        if serve {
            say("\nAll of it stays up. Ctrl-C ends it.");
            while self.interrupt.wait(Duration::from_secs(3600)).is_ok() {}
        }
        Ok(())
    }

    fn title(&self, text: &str) {
        say(&format!("\n=== {text}\n"));
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn address(&self) -> String {
        format!("unix:{}", self.path("neuron.sock"))
    }

    /// A program with nothing of the machine in its environment.
    fn command(&self, program: &str, args: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(self.programs.join(program));
        command.args(args).current_dir(&self.folder);
        for name in ["NEURON_SOURCE", "NOTIFY_SOCKET", "JOURNAL_STREAM", "NEURON_LOGICAL_NC_CONFIG"]
        {
            command.env_remove(name);
        }
        command
            .env("NEURON_SIM_DIR", self.folder.join("sim"))
            .env("NEURON_RTD_ROOT", &self.folder)
            .env("NEURON_RTD_ADDRESS", self.address())
            .env("NEURON_PROCESS_TAG", program);
        command
    }

    fn start(&self, program: &str, args: &[&str]) -> Result<Child> {
        say(&format!("$ {program} {}", self.shown(args)));
        Child::start(self.command(program, args))
    }

    /// Runs a program to its end; what it says.
    fn ask(&self, program: &str, args: &[&str]) -> Result<String> {
        say(&format!("$ {program} {}", self.shown(args)));
        let output = Child::start(self.command(program, args))?.output(&self.interrupt)?;
        Ok(output)
    }

    /// Arguments without the folder of the demo.
    fn shown(&self, args: &[&str]) -> String {
        args.join(" ").replace(&format!("{}/", self.folder.display()), "")
    }

    /// Waits until the daemon answers.
    fn ready(&self, daemon: &Child) -> Result<()> {
        let socket = self.folder.join("neuron.sock");
        for _ in 0..600 {
            if socket.exists() {
                return Ok(());
            }
            if daemon.has_ended() {
                bail!("neuron-rtd has ended");
            }
            self.interrupt.wait(Duration::from_millis(50))?;
        }
        bail!("neuron-rtd does not listen after 30 s")
    }
}
