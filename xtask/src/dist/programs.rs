//! Builds what is shipped.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::crates::SHIPPED;
use crate::run::{EVERYTHING, Run, root, target_dir};

/// How the programs are built.
#[derive(Debug, Clone)]
pub(super) struct Build {
    /// Cargo's profile: `release`, or `dev` while the packages themselves are
    /// worked on.
    pub(super) profile: String,
    /// The target triple.
    pub(super) triple: String,
    /// Whether that is the machine's own.
    pub(super) native: bool,
    /// Seconds since 1970 that count as now.
    pub(super) time: u64,
}

impl Build {
    /// For a target, or for this machine.
    pub(super) fn new(profile: &str, target: Option<&str>) -> Result<Self> {
        let host = Run::new("rustc").args(["--print", "host-tuple"]).output()?.trim().to_owned();
        let triple = target.unwrap_or(&host).to_owned();
        let native = triple == host;
        Ok(Self { profile: profile.to_owned(), triple, native, time: commit_time()? })
    }

    /// Builds all programs and the library; returns the folder that has them.
    pub(super) fn run(&self) -> Result<PathBuf> {
        if !self.native {
            self.target_is_there()?;
        }
        let release = self.profile != "dev";
        // Release code is built with other flags than by cargo alone, so apart.
        let target = if release { target_dir()?.join("dist/build") } else { target_dir()? };
        let mut run = Run::cargo("build").args(["--locked", "--profile", &self.profile]);
        if release {
            run = SHIPPED.iter().fold(run, |run, name| run.args(["-p", name]));
            run = run.arg("--all-features");
        } else {
            // What the tests build too: the example makes cargo choose features as
            // it does for tests.
            run = run.args(EVERYTHING).args(["--example", "trouble"]);
        }
        run = run.args(["--bins", "--lib", "--target-dir"]).arg(&target);
        if !self.native {
            run = run.args(["--target", &self.triple]);
        }
        if release {
            run = self.without_paths_of(run, root())?;
        }
        run.run()?;
        let folder = if self.native { target } else { target.join(&self.triple) };
        Ok(folder.join(if release { &self.profile } else { "debug" }))
    }

    /// No path of this machine gets into the programs, so that a build in
    /// another place gives the same bytes.
    pub(super) fn without_paths_of(&self, run: Run, workspace: &Path) -> Result<Run> {
        let home = std::env::var_os("CARGO_HOME").map_or_else(
            || std::env::home_dir().context("no home").map(|home| home.join(".cargo")),
            |home| Ok(PathBuf::from(home)),
        )?;
        let (here, home) = (workspace.display().to_string(), home.display().to_string());
        let maps = [format!("{here}=/neuron-tools"), format!("{home}=/cargo")];
        let flags: Vec<String> =
            maps.iter().map(|map| format!("'--remap-path-prefix={map}'")).collect();
        let c_flags: Vec<String> =
            maps.iter().map(|map| format!("-ffile-prefix-map={map}")).collect();
        Ok(run
            .arg("--config")
            .arg(format!("target.{}.rustflags=[{}]", self.triple, flags.join(", ")))
            .env("CFLAGS", c_flags.join(" "))
            .env("CXXFLAGS", c_flags.join(" "))
            .env("SOURCE_DATE_EPOCH", self.time.to_string()))
    }

    fn target_is_there(&self) -> Result<()> {
        let lib = Run::new("rustc")
            .args(["--print", "target-libdir", "--target", &self.triple])
            .output()?;
        if !Path::new(lib.trim()).is_dir() {
            let triple = &self.triple;
            bail!("the toolchain has no {triple}; add it with rustup target add {triple}");
        }
        Ok(())
    }

    /// The compiler's version.
    pub(super) fn compiler(&self) -> Result<String> {
        let text = Run::new("rustc").arg("--version").output()?;
        Ok(text.split(' ').nth(1).unwrap_or_default().to_owned())
    }

    /// The first part of the triple, as rpm calls the machine.
    pub(super) fn machine(&self) -> &str {
        self.triple.split('-').next().unwrap_or_default()
    }
}

/// When the commit was made that is built: a build of the same commit has the
/// same times in it. `SOURCE_DATE_EPOCH` wins.
fn commit_time() -> Result<u64> {
    let text = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text,
        Err(_) => Run::new("git")
            .args(["-c", "safe.directory=*", "log", "-1", "--format=%ct"])
            .output()
            .context("the time of the commit is not known; set SOURCE_DATE_EPOCH")?,
    };
    text.trim().parse().with_context(|| format!("{:?} is no time in seconds", text.trim()))
}
