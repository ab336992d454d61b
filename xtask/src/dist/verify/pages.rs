//! Manual pages: groff has nothing to say about any of them.

use anyhow::{Result, ensure};

use crate::run::{Run, root, say};

/// Folders of the pages.
const FOLDERS: &[&str] =
    &["neuron-ls", "neuron-top", "neuron-monitor", "neuron-profile", "neuron-rtd"];

/// Renders every page with all warnings.
pub(crate) fn man_pages_are_clean() -> Result<()> {
    let mut count = 0;
    let mut findings = Vec::new();
    for folder in FOLDERS {
        for entry in std::fs::read_dir(root().join(folder).join("assets"))? {
            let path = entry?.path();
            if path.extension().is_none_or(|kind| kind != "1") {
                continue;
            }
            let groff = Run::new("groff").args(["-man", "-Tutf8", "-K", "utf8", "-ww", "-z"]);
            let said = groff.arg(&path).command().output()?;
            let said = String::from_utf8_lossy(&said.stderr).into_owned();
            count += 1;
            if !said.trim().is_empty() {
                findings.push(said.trim().to_owned());
            }
        }
    }
    ensure!(count > 0, "there are no man pages");
    ensure!(findings.is_empty(), "man pages: {}", findings.join("\n"));
    say(&format!("{count} man pages without a warning"));
    Ok(())
}
