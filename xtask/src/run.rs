//! Runs commands at the root of the workspace and prints what it runs.
//!
//! One line is printed before a command, one line says why it failed. What a
//! command itself prints goes to the terminal untouched.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail};

/// The root of the workspace. Cargo names it anew to each program that it runs: two clones that share a target
/// directory share this program too, and what it was built with names the other one.
pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let told = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        // A program of the workspace that runs xtask by hand has the variable of another package.
        let ours = told.filter(|dir| dir.file_name() == Some(OsStr::new("xtask")));
        let here = ours.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
        here.parent().map_or_else(|| here.clone(), Path::to_path_buf)
    });
    &ROOT
}

/// Cargo's target directory, which a variable or a configuration may have moved.
pub(crate) fn target_dir() -> Result<PathBuf> {
    let metadata = metadata(&["--no-deps"])?;
    let dir = metadata["target_directory"].as_str().context("cargo metadata names no target")?;
    Ok(PathBuf::from(dir))
}

/// What `cargo metadata` says.
pub(crate) fn metadata(args: &[&str]) -> Result<serde_json::Value> {
    let text = Run::cargo("metadata").args(["--format-version", "1"]).args(args).output()?;
    serde_json::from_str(&text).context("cargo metadata wrote no JSON")
}

/// Every feature but `cluster`, as cargo takes them.
pub(crate) const FEATURES: &str = "neuron-core/cli,neuron-core/imds,neuron-core/isa,neuron-core/neff,\
     neuron-core/ntff,neuron-core/sources,neuron-monitor/cloudwatch,neuron-monitor/k8s,\
     neuron-monitor/tls,neuron-profile/s3,profile-query/s3";

/// The feature that switches on all of DataFusion's, which take longer to build
/// than all else: it has a stage of `cargo xtask test --full`.
#[cfg(test)]
const APART: &str = "cluster";

/// Whether cargo tells a program of its package by this variable.
fn of_package(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b"CARGO_PKG_") || name.starts_with(b"CARGO_MANIFEST_")
}

/// All packages with [`FEATURES`]: builds, tests, lints and docs ask for the same
/// ones, so that nothing large is built twice.
pub(crate) const EVERYTHING: [&str; 3] = ["--workspace", "--features", FEATURES];

/// Prints one line, but not among the lines of our own tests. A closed pipe is
/// no error: nobody is reading.
pub(crate) fn say(line: &str) {
    if !cfg!(test) {
        let _ = writeln!(std::io::stdout(), "{line}");
    }
}

/// Prints one line to stderr.
pub(crate) fn complain(line: &str) {
    if !cfg!(test) {
        let _ = writeln!(std::io::stderr(), "{line}");
    }
}

/// The cargo that runs this task.
fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Which of the child's streams [`Run::each_line`] reads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stream {
    Out,
    Err,
}

/// A command about to run at the root of the workspace.
#[derive(Debug)]
pub(crate) struct Run {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(&'static str, OsString)>,
}

impl Run {
    pub(crate) fn new(program: impl Into<OsString>) -> Self {
        Self { program: program.into(), args: Vec::new(), env: Vec::new() }
    }

    /// The cargo that runs this task, with its subcommand.
    pub(crate) fn cargo(subcommand: &str) -> Self {
        Self::new(cargo()).arg(subcommand)
    }

    pub(crate) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub(crate) fn args<I: IntoIterator<Item: Into<OsString>>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    pub(crate) fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    /// As one would type it, with the variables set for it and relative to the root.
    pub(crate) fn line(&self) -> String {
        let prefix = format!("{}/", root().display());
        let word = |text: &OsStr| {
            let text = text.to_string_lossy().replace(&prefix, "");
            let plain = !text.is_empty() && !text.contains([' ', '"', '\'', '$', '*', ';', '[']);
            if plain { text } else { format!("'{text}'") }
        };
        let program = Path::new(&self.program).file_name().unwrap_or(&self.program);
        let program = if self.program.to_string_lossy().starts_with(&prefix) {
            word(&self.program)
        } else {
            word(program)
        };
        self.env
            .iter()
            .map(|(name, value)| format!("{name}={}", word(value)))
            .chain(std::iter::once(program))
            .chain(self.args.iter().map(|arg| word(arg)))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The command as the standard library knows it.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).envs(self.env.iter().map(|(n, v)| (n, v))).current_dir(root());
        if self.program == cargo() {
            // They name our own package, and build scripts that look at them would run anew, and
            // all that depends on them, whenever cargo is run by hand in between.
            for name in std::env::vars_os().map(|(name, _)| name).filter(|name| of_package(name)) {
                command.env_remove(name);
            }
        }
        command
    }

    fn judge(&self, status: ExitStatus) -> Result<()> {
        if !status.success() {
            bail!("`{}` failed: {status}", self.line());
        }
        Ok(())
    }

    /// Prints the command line and runs it.
    pub(crate) fn run(&self) -> Result<()> {
        say(&format!("$ {}", self.line()));
        self.judge(self.command().status().with_context(|| self.cannot_start())?)
    }

    /// Runs quietly and returns what it wrote to stdout.
    pub(crate) fn output(&self) -> Result<String> {
        let output = self
            .command()
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| self.cannot_start())?;
        self.judge(output.status)?;
        String::from_utf8(output.stdout).with_context(|| format!("`{}`: not UTF-8", self.line()))
    }

    /// Runs quietly and says whether it could be started and succeeded.
    pub(crate) fn succeeds(&self) -> bool {
        let quiet = self.command().stdin(Stdio::null()).output();
        quiet.is_ok_and(|output| output.status.success())
    }

    /// Prints the command line, runs it, and passes every line of one stream
    /// on to the terminal and to `seen`.
    pub(crate) fn each_line(&self, stream: Stream, mut seen: impl FnMut(&str)) -> Result<()> {
        say(&format!("$ {}", self.line()));
        let mut command = self.command();
        match stream {
            Stream::Out => command.stdout(Stdio::piped()),
            Stream::Err => command.stderr(Stdio::piped()),
        };
        let mut child = command.spawn().with_context(|| self.cannot_start())?;
        let pipe: Option<Box<dyn std::io::Read>> = match stream {
            Stream::Out => child.stdout.take().map(|p| Box::new(p) as _),
            Stream::Err => child.stderr.take().map(|p| Box::new(p) as _),
        };
        let mut reader = BufReader::new(pipe.context("no pipe to the child")?);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches('\n');
            match stream {
                Stream::Out => say(text),
                Stream::Err => complain(text),
            }
            seen(text);
            line.clear();
        }
        self.judge(child.wait()?)
    }

    fn cannot_start(&self) -> String {
        format!("cannot start `{}`", self.line())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_is_asked_for_but_the_one_apart() {
        let metadata = metadata(&["--no-deps"]).unwrap();
        let mut all = Vec::new();
        for package in metadata["packages"].as_array().unwrap() {
            let features = package["features"].as_object().unwrap().keys();
            let own = features.filter(|name| *name != "default" && *name != APART);
            all.extend(own.map(|name| format!("{}/{name}", package["name"].as_str().unwrap())));
        }
        all.sort();
        let asked: Vec<&str> = FEATURES.split(',').collect();
        assert_eq!(asked, all);
    }

    #[test]
    fn a_failure_is_one_line_that_names_the_command() {
        let error = Run::new("false").arg("two words").run().unwrap_err();
        assert_eq!(format!("{error:#}"), "`false 'two words'` failed: exit status: 1");
        let error = Run::new("no-such-program-here").run().unwrap_err();
        assert!(format!("{error:#}").starts_with("cannot start `no-such-program-here`: "));
    }

    #[test]
    fn cargo_by_us_builds_what_cargo_by_hand_builds() {
        let hidden = |run: Run, what: &str| {
            run.command().get_envs().any(|(name, value)| name == what && value.is_none())
        };
        for name in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_PKG_VERSION_MAJOR"] {
            let told = std::env::var_os(name).is_some();
            assert!(of_package(OsStr::new(name)), "{name}");
            assert_eq!(hidden(Run::cargo("build"), name), told, "{name}");
        }
        assert!(!of_package(OsStr::new("CARGO_HOME")));
        let root = "CARGO_MANIFEST_DIR";
        assert!(!hidden(Run::new("true"), root), "another xtask finds its root by it");
    }

    #[test]
    fn lines_of_one_stream_are_seen() {
        let mut seen = Vec::new();
        let script = "echo out; echo one >&2; printf two >&2";
        Run::new("sh")
            .args(["-c", script])
            .each_line(Stream::Err, |line| seen.push(line.to_owned()))
            .unwrap();
        assert_eq!(seen, ["one", "two"]);
    }

    #[test]
    fn output_is_what_the_command_wrote() {
        let run = Run::new("sh").args(["-c", "printf %s \"$COLOUR\""]).env("COLOUR", "blue");
        assert_eq!(run.output().unwrap(), "blue");
        assert_eq!(run.line(), "COLOUR=blue sh -c 'printf %s \"$COLOUR\"'");
    }
}
