//! System packages that some tests and benches need, as one table.
//!
//! They are installed only as root or when asked for; what is still missing
//! then is skipped by name.

use anyhow::Result;

use crate::run::{Run, say};

/// One package.
#[derive(Debug)]
pub(crate) struct Package {
    /// Its name for apt-get.
    pub name: &'static str,
    /// The command that proves it is there, also the tool that
    /// `neuron_tests::require` is asked for.
    pub proof: &'static [&'static str],
    /// Who needs it: `tests` or the name of a bench.
    pub wanted_by: &'static str,
    /// The tests or rows that are skipped without it.
    pub users: &'static [&'static str],
}

pub(crate) const PACKAGES: &[Package] = &[
    Package {
        name: "tar",
        proof: &["tar", "--version"],
        wanted_by: "tests",
        users: &["an_unpacked_tree_is_what_tar_lists"],
    },
    Package {
        name: "python3-venv",
        proof: &["python3", "-c", "import venv, ensurepip"],
        wanted_by: "tests",
        users: &["python_reads_what_we_write", "the plug-in in TensorBoard"],
    },
    Package {
        name: "gcc",
        proof: &["gcc", "--version"],
        wanted_by: "tests",
        users: &["C programs on libnrt.so.1, stubs of other libraries, layouts of its structs"],
    },
    Package {
        name: "g++",
        proof: &["g++", "--version"],
        wanted_by: "tests",
        users: &["structs_have_the_same_layout_in_c (its part in C++)"],
    },
    Package {
        name: "binutils",
        proof: &["nm", "--version"],
        wanted_by: "tests",
        users: &["exactly_the_functions_of_the_headers_are_exported", "the plug-in in TensorBoard"],
    },
    Package {
        name: "prometheus",
        proof: &["promtool", "--version"],
        wanted_by: "tests",
        users: &["promtool_accepts_the_page"],
    },
    Package {
        name: "prometheus",
        proof: &["prometheus", "--version"],
        wanted_by: "tests",
        users: &["a_prometheus_server_answers_both_dashboards"],
    },
    Package {
        name: "openssl",
        proof: &["openssl", "version"],
        wanted_by: "tests",
        users: &["https_with_a_certificate_that_changes", "https_with_a_bundle_of_certificates"],
    },
    Package {
        name: "curl",
        proof: &["curl", "--version"],
        wanted_by: "tests",
        users: &["https_with_a_certificate_that_changes"],
    },
    Package {
        name: "influxdb",
        proof: &["influxd", "version"],
        wanted_by: "tests",
        users: &["an_influxdb_keeps_every_row"],
    },
    Package {
        name: "victoria-metrics",
        proof: &["victoria-metrics", "-version"],
        wanted_by: "tests",
        users: &["victoria_metrics_takes_the_write_path"],
    },
    Package {
        name: "tmux",
        proof: &["tmux", "-V"],
        wanted_by: "tests",
        users: &["neuron-top in a terminal: keys, tabs, sizes, every end"],
    },
    Package {
        name: "npm",
        proof: &["npm", "--version"],
        wanted_by: "tests",
        users: &["the Device Viewer: its build and all its tests"],
    },
    Package {
        name: "chromium",
        proof: &["chromium", "--version"],
        wanted_by: "tests",
        users: &["the Device Viewer in a browser"],
    },
    Package {
        name: "firefox-esr",
        proof: &["firefox-esr", "--version"],
        wanted_by: "tests",
        users: &["the Device Viewer in Firefox"],
    },
    Package {
        name: "webkit2gtk-driver",
        proof: &["WebKitWebDriver", "--help"],
        wanted_by: "tests",
        users: &["the Device Viewer in WebKit"],
    },
    Package {
        name: "xvfb",
        proof: &["Xvfb", "-help"],
        wanted_by: "tests",
        users: &["the Device Viewer in Firefox and in WebKit"],
    },
    Package {
        name: "systemd",
        proof: &["systemd-analyze", "--version"],
        wanted_by: "tests",
        users: &["the units of systemd"],
    },
    Package {
        name: "groff",
        proof: &["groff", "--version"],
        wanted_by: "tests",
        users: &["warnings of man pages"],
    },
    Package {
        name: "debootstrap",
        proof: &["debootstrap", "--version"],
        wanted_by: "dist",
        users: &["the packages on a fresh Debian"],
    },
    Package {
        name: "systemd-container",
        proof: &["systemd-nspawn", "--version"],
        wanted_by: "dist",
        users: &["the services on a fresh Debian"],
    },
    Package {
        name: "lintian",
        proof: &["lintian", "--version"],
        wanted_by: "dist",
        users: &["lintian"],
    },
    Package {
        name: "rpm",
        proof: &["rpm", "--version"],
        wanted_by: "dist",
        users: &["the rpm on a system"],
    },
    Package {
        name: "rpmlint",
        proof: &["rpmlint", "--version"],
        wanted_by: "dist",
        users: &["rpmlint"],
    },
    Package {
        name: "python3-venv",
        proof: &["python3", "-c", "import venv, ensurepip"],
        wanted_by: "dist",
        users: &["schemas of the bill of materials and of Kubernetes"],
    },
    Package {
        name: "python3-venv",
        proof: &["python3", "-c", "import venv, ensurepip"],
        wanted_by: "bench tensorboard",
        users: &["TensorBoard and xprof"],
    },
    Package {
        name: "htop",
        proof: &["htop", "--version"],
        wanted_by: "bench top",
        users: &["htop"],
    },
    Package {
        name: "prometheus-node-exporter",
        proof: &["prometheus-node-exporter", "--version"],
        wanted_by: "bench monitor",
        users: &["prometheus-node-exporter"],
    },
    Package {
        name: "util-linux",
        proof: &["lsblk", "--version"],
        wanted_by: "bench ls",
        users: &["lsblk", "lsblk -J -O"],
    },
    Package {
        name: "pciutils",
        proof: &["lspci", "--version"],
        wanted_by: "bench ls",
        users: &["lspci -n"],
    },
];

impl Package {
    /// The tool by which the package is known.
    pub(crate) fn tool(&self) -> &'static str {
        self.proof.first().copied().unwrap_or(self.name)
    }

    fn is_there(&self) -> bool {
        Run::new(self.tool()).args(self.proof.iter().skip(1).copied()).succeeds()
    }
}

/// Installs what `wanted_by` lacks, if it may, and returns what is missing
/// after that, having named what is skipped for it.
pub(crate) fn missing(wanted_by: &str, install: bool) -> Vec<&'static Package> {
    let mut missing: Vec<_> =
        PACKAGES.iter().filter(|p| p.wanted_by == wanted_by && !p.is_there()).collect();
    if !missing.is_empty() && (install || is_root()) {
        if let Err(error) = apt_get(&missing) {
            say(&format!("packages could not be installed: {error:#}"));
        }
        missing.retain(|package| !package.is_there());
    }
    for package in &missing {
        let (name, tool) = (package.name, package.tool());
        say(&format!("{tool} (package {name}) is missing; skipped: {}", package.users.join(", ")));
    }
    missing
}

fn apt_get(packages: &[&Package]) -> Result<()> {
    let install = Run::new("apt-get")
        .args(["install", "-y", "--no-install-recommends"])
        .args(packages.iter().map(|package| package.name))
        .env("DEBIAN_FRONTEND", "noninteractive");
    // A fresh image has no package lists, and then the first try fails.
    install.run().or_else(|_| {
        Run::new("apt-get").arg("update").run()?;
        install.run()
    })
}

fn is_root() -> bool {
    Run::new("id").arg("-u").output().is_ok_and(|uid| uid.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_complete() {
        for package in PACKAGES {
            assert!(!package.proof.is_empty(), "{package:?}");
            assert!(!package.users.is_empty(), "{package:?}");
            assert!(
                ["tests", "dist", "bench ls", "bench monitor", "bench tensorboard", "bench top"]
                    .contains(&package.wanted_by),
                "{package:?}"
            );
        }
    }

    #[test]
    fn presence_is_what_the_proof_says() {
        let package = |proof| Package { name: "x", proof, wanted_by: "tests", users: &["t"] };
        assert!(package(&["true", "--version"]).is_there());
        assert!(!package(&["false"]).is_there());
        assert!(!package(&["no-such-tool-anywhere"]).is_there());
    }
}
