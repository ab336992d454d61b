//! A Debian of our own: made once, copied for each run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};

use super::super::Made;
use crate::run::{Run, say, target_dir};

/// The release, that of `FROM` in the Dockerfiles.
const SUITE: &str = "bookworm";

/// What the units need and a minimal system has not.
const INCLUDE: &str = "dbus,man-db,systemd,systemd-sysv,udev";

/// What changes by any installation, and what is no file of a system at rest.
const UNSTEADY: &[&str] = &[
    "/proc",
    "/sys",
    "/dev",
    "/run",
    "/tmp",
    "/packages",
    "/check",
    "/var/cache",
    "/var/log",
    "/var/tmp",
    "/var/lib/apt",
    "/var/lib/dpkg",
    "/var/lib/systemd/random-seed",
    "/var/lib/systemd/timers",
    "/var/lib/systemd/catalog",
    "/var/lib/private",
    "/var/lib/systemd/linger",
    "/etc/machine-id",
    "/etc/ld.so.cache",
    "/etc/passwd-",
    "/etc/group-",
    "/etc/shadow-",
    "/etc/gshadow-",
    "/etc/.pwd.lock",
    "/etc/resolv.conf",
    "/root",
];

/// Installs, looks, starts and purges.
pub(super) fn run(made: &Made) -> Result<()> {
    let system = System::fresh("installed")?;
    let packages = system.root.join("packages");
    std::fs::create_dir_all(&packages)?;
    std::fs::copy(&made.previous, packages.join("previous.deb"))?;
    for (deb, name) in made.debs.iter().zip(["neuron-tools.deb", "neuron-tools-libnrt-sim.deb"]) {
        std::fs::copy(deb, packages.join(name))?;
    }
    let before = system.files()?;
    let mut outcome = system.script("installed", include_str!("../../../dist/verify/installed.sh"));
    if outcome.is_ok() {
        outcome = system.boot(include_str!("../../../dist/verify/booted.sh"));
    }
    let purge = "apt-get purge -y neuron-tools neuron-tools-libnrt-sim";
    system.chroot(&["sh", "-c", &format!("DEBIAN_FRONTEND=noninteractive {purge}")])?;
    let after = system.files()?;
    let left: Vec<_> = after.difference(&before).collect();
    // dpkg takes an empty folder with the last package in it, also this one,
    // which every system has and no package owns.
    let gone: Vec<_> = before.difference(&after).filter(|path| *path != "/opt").collect();
    ensure!(left.is_empty(), "purge leaves {left:?}");
    ensure!(gone.is_empty(), "purge takes {gone:?}");
    for file in ["etc/passwd", "etc/group"] {
        let text = std::fs::read_to_string(system.root.join(file))?;
        ensure!(!text.contains("neuron"), "purge leaves users or groups in {file}");
    }
    say(&format!("ok: purge leaves nothing ({} files before and after)", before.len()));
    outcome?;
    system.remove()
}

/// A root of its own.
#[derive(Debug)]
pub(super) struct System {
    pub(super) root: PathBuf,
}

impl System {
    /// A copy of the base, which is made first if it is not there.
    pub(super) fn fresh(name: &str) -> Result<Self> {
        let home = target_dir()?.join("verify");
        std::fs::create_dir_all(&home)?;
        let base = home.join(SUITE);
        if !base.is_dir() {
            let part = home.join(format!("{SUITE}.part"));
            if part.exists() {
                std::fs::remove_dir_all(&part)?;
            }
            Run::new("debootstrap")
                .args(["--variant=minbase", &format!("--include={INCLUDE}"), SUITE])
                .arg(&part)
                .run()?;
            std::fs::rename(&part, &base)?;
        }
        let system = Self { root: home.join(name) };
        system.remove()?;
        Run::new("cp").args(["-a", "--reflink=auto"]).arg(&base).arg(&system.root).run()?;
        Ok(system)
    }

    /// Removes it.
    pub(super) fn remove(&self) -> Result<()> {
        if self.root.exists() {
            std::fs::remove_dir_all(&self.root)
                .with_context(|| format!("cannot remove {}", self.root.display()))?;
        }
        Ok(())
    }

    /// A command inside, with a /proc of its own; `unshare` takes the mounts
    /// away again however it ends.
    pub(super) fn inside(&self, command: &[&str]) -> Run {
        let mount = "mount -t proc proc \"$1/proc\" && mount -t devpts devpts \"$1/dev/pts\" || exit 1; \
                     root=$1; shift; exec chroot \"$root\" \"$@\"";
        Run::new("unshare")
            .args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", mount, "sh"])
            .arg(&self.root)
            .args(command.iter().copied())
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOME", "/tmp")
    }

    /// Runs a command inside.
    pub(super) fn chroot(&self, command: &[&str]) -> Result<String> {
        self.inside(command).output()
    }

    /// Runs a script of checks inside and prints what it says.
    fn script(&self, name: &str, text: &str) -> Result<()> {
        let path = self.root.join("check");
        std::fs::write(&path, text)?;
        let run = self.inside(&["sh", "/check"]);
        let status = run.command().stdin(Stdio::null()).status()?;
        std::fs::remove_file(&path)?;
        ensure!(status.success(), "{name}: something above does not hold");
        Ok(())
    }

    /// Starts systemd in it, which runs a script of checks and powers off.
    fn boot(&self, text: &str) -> Result<()> {
        let unit = "[Unit]\nAfter=basic.target dbus.service\nRequires=dbus.service\n\
                    [Service]\nType=oneshot\nTimeoutStartSec=300\n\
                    ExecStart=/bin/bash -c 'exec bash /check.sh >/check.out 2>&1'\n\
                    ExecStopPost=/bin/systemctl --no-block poweroff\n";
        let place = self.root.join("etc/systemd/system/check.service");
        std::fs::write(&place, unit)?;
        std::fs::write(self.root.join("check.sh"), text)?;
        // The unified tree of control groups, which a host may have elsewhere.
        let start = "mount --make-rprivate / && \
             { test -f /sys/fs/cgroup/cgroup.controllers || \
               { umount -R /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup; }; } && \
             exec systemd-nspawn --register=no --keep-unit --private-network --quiet \
               --console=pipe -D \"$1\" -b systemd.unit=check.service";
        let run = Run::new("timeout")
            .args(["--kill-after=10", "400", "unshare", "--mount", "sh", "-c", start, "sh"])
            .arg(&self.root);
        let status = run.command().stdin(Stdio::null()).stdout(Stdio::null()).status()?;
        let said = std::fs::read_to_string(self.root.join("check.out")).unwrap_or_default();
        for line in said.lines() {
            say(line);
        }
        for file in ["etc/systemd/system/check.service", "check.sh", "check.out"] {
            let _ = std::fs::remove_file(self.root.join(file));
        }
        ensure!(!said.is_empty(), "the system did not start: {status}");
        ensure!(said.ends_with("ended: 0\n"), "started: something above does not hold");
        Ok(())
    }

    /// Every path of the system that lasts.
    fn files(&self) -> Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        let mut open = vec![self.root.clone()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(&folder)
                .with_context(|| format!("cannot read {}", folder.display()))?
            {
                let entry = entry?;
                let path = entry.path();
                let name = inside(&self.root, &path);
                // What is ours must go from everywhere.
                let steady = !UNSTEADY.iter().any(|start| {
                    name == *start || name.strip_prefix(start).is_some_and(|r| r.starts_with('/'))
                });
                // But what man keeps of pages that were read is man's.
                let other = ["/var/log", "/var/cache/man"];
                let ours = name.contains("neuron") && !other.iter().any(|o| name.starts_with(o));
                if entry.file_type()?.is_dir() && !name.starts_with("/packages") {
                    open.push(path);
                }
                if steady || (ours && !name.starts_with("/packages")) {
                    found.insert(name);
                }
            }
        }
        Ok(found)
    }
}

fn inside(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).map_or_else(|_| String::new(), |path| format!("/{}", path.display()))
}
