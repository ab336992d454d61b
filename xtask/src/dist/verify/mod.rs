//! `cargo xtask dist --verify`: the packages on a system, as a user meets them.
//!
//! A fresh Debian is made by debootstrap, once, below `target/verify`; each run
//! works on a copy. There the packages are installed over an older version,
//! tried, started by systemd and purged; what is left is compared with what was
//! there before. lintian, rpm and rpmlint read the files themselves. It takes
//! root, as debootstrap does.

mod containers;
mod debian;
mod files;
mod pages;
mod redhat;
mod units;

use anyhow::{Result, bail};

use super::Made;
use crate::packages;
use crate::run::say;

pub(crate) use pages::man_pages_are_clean;
pub(crate) use units::units_are_sound;

/// Checks everything; a check that fails does not keep the next from running.
pub(super) fn run(made: &Made) -> Result<()> {
    let missing = packages::missing("dist", false);
    let has = |tool: &str| !missing.iter().any(|package| package.tool() == tool);
    let mut failed = Vec::new();
    let mut check = |name: &str, tools: &[&str], check: &dyn Fn() -> Result<()>| {
        if let Some(tool) = tools.iter().find(|tool| !has(tool)) {
            say(&format!("-- {name}: skipped, {tool} is missing"));
            return;
        }
        say(&format!("-- {name}"));
        if let Err(error) = check() {
            say(&format!("-- {name}: FAILED: {error:#}"));
            failed.push(name.to_owned());
        }
    };
    check("lintian", &["lintian"], &|| files::lintian(&made.debs));
    check("rpmlint", &["rpmlint"], &|| files::rpmlint(&made.rpms));
    check("bill of materials and manifests", &["python3"], &|| files::documents(made));
    let debian = ["debootstrap", "systemd-nspawn"];
    check("Debian", &debian, &|| debian::run(made));
    check("rpm", &["rpm", "debootstrap"], &|| redhat::run(made));
    check("containers", &["debootstrap"], &|| containers::run(made));
    if !failed.is_empty() {
        bail!("the packages are not as they should be: {}", failed.join(", "));
    }
    Ok(())
}
