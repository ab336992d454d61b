//! Units of systemd, as they lie in the workspace: `systemd-analyze` knows
//! every setting, and how much a service could do if it were taken over.

use anyhow::{Context as _, Result, ensure};

use crate::run::{Run, root, say, target_dir};

/// The units, and what each may be exposed at most, in tenths.
const UNITS: &[(&str, u32)] = &[
    ("neuron-rtd/assets/neuron-rtd.service", 25),
    ("neuron-rtd/assets/neuron-rtd@.service", 25),
    ("neuron-monitor/assets/neuron-monitor-prometheus.service", 25),
];

/// Checks all units. The programs are not installed here, so a program that is
/// on every system stands for them.
pub(crate) fn units_are_sound() -> Result<()> {
    let folder = target_dir()?.join("xtask/units");
    std::fs::create_dir_all(&folder)?;
    for (path, most) in UNITS {
        let text = std::fs::read_to_string(root().join(path))
            .with_context(|| format!("cannot read {path}"))?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let mut stand_in = String::new();
        for line in text.lines() {
            let line = match line.strip_prefix("ExecStart=/opt/aws/neuron/bin/") {
                Some(rest) => {
                    let args = rest.split_once(' ').map_or("", |(_, args)| args);
                    format!("ExecStart=/bin/true {args}")
                }
                None => line.to_owned(),
            };
            stand_in += &(line + "\n");
        }
        let file = folder.join(name);
        std::fs::write(&file, stand_in)?;
        let verify = Run::new("systemd-analyze").args(["verify", "--man=no"]).arg(&file);
        let said = verify.command().output()?;
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        ensure!(said.trim().is_empty(), "{path}: {}", said.trim());
        let security = Run::new("systemd-analyze")
            .args(["security", "--offline=true", "--no-pager", &format!("--threshold={most}")])
            .arg(&file);
        let said = security.command().output()?;
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        let level = text.lines().find_map(|line| line.split_once("exposure level for "));
        say(&format!("exposure of {}", level.map_or("?", |(_, rest)| rest)));
        ensure!(said.status.success(), "{path}: more exposed than {most} tenths");
    }
    Ok(())
}
