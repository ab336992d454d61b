//! The rpm on a system: rpm itself installs, verifies and erases it in a root
//! of its own. That root is a Debian with an empty database of rpm, so what the
//! rpm asks of other packages is looked at but not resolved.

use anyhow::{Context as _, Result, ensure};

use super::super::Made;
use super::debian::System;
use crate::run::{Run, say};

/// Installs with its scripts, tries, upgrades by itself, erases.
pub(super) fn run(made: &Made) -> Result<()> {
    let system = System::fresh("rpm")?;
    let rpm = || Run::new("rpm").arg("--root").arg(&system.root);
    rpm().arg("--initdb").run()?;
    for file in &made.rpms {
        rpm().args(["-i", "--nodeps"]).arg(file).run()?;
    }
    let config = system.root.join("opt/aws/neuron/config/neuron-rtd.config");
    let text = std::fs::read_to_string(&config).context("no configuration was installed")?;
    let edited = text.replace("\"drain_sec\": 30", "\"drain_sec\": 31");
    std::fs::write(&config, &edited)?;
    let first = made.rpms.first().context("there is no rpm")?;
    rpm().args(["-U", "--nodeps", "--replacepkgs"]).arg(first).run()?;
    ensure!(std::fs::read_to_string(&config)? == edited, "an upgrade changed the configuration");
    say("ok: an upgrade keeps an edited configuration");
    // A configuration that was edited is told (c), and nothing else.
    let told = rpm().args(["-V", "--nodeps", "neuron-tools", "neuron-tools-libnrt-sim"]);
    let told = told.command().output()?;
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let other: Vec<_> = told.lines().filter(|line| !line.contains(" c ")).collect();
    ensure!(other.is_empty(), "rpm -V finds {other:?}");
    say("ok: every file is as the rpm says");
    let shown = system.chroot(&["neuron-ls", "--source", "sim:trn1.2xlarge"])?;
    ensure!(shown.contains("simulated instance trn1.2xlarge"), "neuron-ls says {shown:?}");
    say("ok: neuron-ls on a simulated instance");
    let wants = "etc/systemd/system/multi-user.target.wants/neuron-rtd.service";
    ensure!(
        system.root.join(wants).symlink_metadata().is_ok(),
        "neuron-rtd is not enabled at boot"
    );
    say("ok: neuron-rtd is enabled at boot");
    for relation in ["--requires", "--conflicts"] {
        let list = Run::new("rpm").args(["-qp", relation]).arg(first).output()?;
        say(&format!("    {relation}: {}", list.split_whitespace().collect::<Vec<_>>().join(" ")));
        ensure!(!list.contains("aws-neuronx-runtime-lib"), "the vendor's library is refused");
    }
    // As it came, for rpm would keep it under another name.
    std::fs::write(&config, &text)?;
    rpm().args(["-e", "neuron-tools", "neuron-tools-libnrt-sim"]).run()?;
    let left: Vec<String> = ["opt/aws", "usr", "etc", "run"]
        .iter()
        .map(|folder| {
            Run::new("find")
                .arg(system.root.join(folder))
                .args(["-name", "*neuron*", "-print"])
                .output()
                .unwrap_or_default()
        })
        .filter(|found| !found.is_empty())
        .collect();
    ensure!(left.is_empty(), "erasing leaves {left:?}");
    say("ok: erasing leaves nothing");
    system.remove()
}
