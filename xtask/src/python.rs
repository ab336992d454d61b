//! A Python with pinned packages in a folder of its own below `target/`.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::run::{Run, say, target_dir};

/// The Python that has these packages, made when it is missing; `None` with a
/// line that says so when it cannot be had. `imports` is what must work.
pub(crate) fn with(folder: &str, packages: &[&str], imports: &str) -> Result<Option<PathBuf>> {
    let folder = target_dir()?.join(folder).join(packages.join("-").replace("==", "-"));
    let python = folder.join("bin/python");
    let works = |python: &Path| Run::new(python).args(["-c", imports]).succeeds();
    if !works(&python) {
        let made = Run::new("python3").args(["-m", "venv", "--clear"]).arg(&folder).run();
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        let installed =
            made.and_then(|()| Run::new(&python).args(install).args(packages.iter()).run());
        if installed.is_err() || !works(&python) {
            say("the peers are skipped: python3 with venv and pip cannot install them");
            return Ok(None);
        }
    }
    Ok(Some(python))
}
