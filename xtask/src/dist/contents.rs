//! What the packages hold: one list, from which the .deb and the .rpm are made.
//!
//! The tools lie where the originals' do, `/opt/aws/neuron` (sys-tools.md §1,
//! neuron-rtd.md §2.6). Our libnrt has a package and a folder of its own, never
//! the place of the vendor's.

/// Where the originals are.
pub(super) const HOME: &str = "opt/aws/neuron";

/// One file, or all files that a pattern names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Entry {
    /// A program that cargo builds, by its name; also linked into `/usr/bin`.
    Program(&'static str),
    /// The library of a crate, and the names that loader and linker ask for.
    Library(&'static str),
    /// Files of the workspace, with at most one `*` in the last part of the
    /// path, and the folder or the path (no `/` at its end) that they get.
    Files(&'static str, &'static str),
    /// A file that the user may edit: an upgrade keeps what it finds.
    Config(&'static str, &'static str),
    /// A link: its path, and what it points to.
    Link(&'static str, &'static str),
    /// The same as `Files`, compressed.
    Packed(&'static str, &'static str),
    /// Manual pages, compressed.
    Pages(&'static str),
    /// A file that was made for the packages, below `target/dist/made`.
    Made(&'static str, &'static str),
}

use Entry::{Config, Files, Library, Link, Made, Packed, Pages, Program};

/// One package.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
    /// What must not be there beside it.
    pub(super) conflicts: &'static [&'static str],
    pub(super) entries: &'static [Entry],
    /// Whether it has units, users and the like, for which scripts run.
    pub(super) scripts: bool,
}

/// Every package.
pub(super) const PACKAGES: &[Package] = &[
    Package {
        name: "neuron-tools",
        summary: "Open system tools for AWS Inferentia and Trainium",
        description: "Lists Neuron devices, watches them live, streams and exports their metrics, \
                      captures and shows profiles, and serves models by the runtime daemon of \
                      Neuron 1.x. Without a device everything runs on a simulated instance.",
        // Programs and daemon of the vendor under the same paths. Its runtime
        // library, aws-neuronx-runtime-lib, is a friend: the daemon uses it.
        conflicts: &["aws-neuronx-tools", "aws-neuron-tools", "aws-neuron-runtime"],
        entries: TOOLS,
        scripts: true,
    },
    Package {
        name: "neuron-tools-libnrt-sim",
        summary: "C API of the Neuron runtime over a simulated instance",
        description: "A libnrt.so.1 on which programs written for the vendor's library run \
                      without a device. It is found only by programs that are pointed to it \
                      with LD_LIBRARY_PATH.",
        conflicts: &[],
        entries: LIBNRT,
        scripts: false,
    },
];

const TOOLS: &[Entry] = &[
    Program("neuron-ls"),
    Program("neuron-top"),
    Program("neuron-monitor"),
    Program("neuron-profile"),
    Program("neuron-rtd"),
    Program("neuron-cli"),
    // The original's scripts: the program knows by which name it was called.
    Link("opt/aws/neuron/bin/neuron-monitor-prometheus.py", "neuron-monitor"),
    Link("opt/aws/neuron/bin/neuron-monitor-cloudwatch.py", "neuron-monitor"),
    Link(
        "usr/bin/neuron-monitor-prometheus.py",
        "/opt/aws/neuron/bin/neuron-monitor-prometheus.py",
    ),
    Link(
        "usr/bin/neuron-monitor-cloudwatch.py",
        "/opt/aws/neuron/bin/neuron-monitor-cloudwatch.py",
    ),
    Config("neuron-rtd/assets/neuron-rtd.config", "opt/aws/neuron/config/neuron-rtd.config"),
    Config(
        "neuron-monitor/assets/neuron-monitor.conf",
        "opt/aws/neuron/config/neuron-monitor.conf",
    ),
    Config("neuron-rtd/assets/neuron-rtd.default", "etc/default/neuron-rtd"),
    Config("neuron-monitor/assets/neuron-monitor.default", "etc/default/neuron-monitor"),
    Files("neuron-rtd/assets/*.service", "usr/lib/systemd/system/"),
    Files("neuron-monitor/assets/*.service", "usr/lib/systemd/system/"),
    Files("neuron-rtd/assets/simulated.conf", "opt/aws/neuron/share/systemd/"),
    Files("xtask/dist/neuron-tools.sysusers", "usr/lib/sysusers.d/neuron-tools.conf"),
    Files("xtask/dist/neuron-tools.tmpfiles", "usr/lib/tmpfiles.d/neuron-tools.conf"),
    Files("xtask/dist/60-neuron-tools.rules", "usr/lib/udev/rules.d/"),
    Files("neuron-rtd/assets/nrtd0.json", "opt/aws/neuron/share/examples/"),
    Files("neuron-top/assets/neuron-top.json", "opt/aws/neuron/share/examples/"),
    Files(
        "neuron-monitor/assets/grafana-dashboard.json",
        "opt/aws/neuron/share/grafana/neuron-monitor.json",
    ),
    Files("neuron-monitor/assets/neuron-monitor.schema.json", "opt/aws/neuron/share/"),
    Files("xtask/dist/container/*", "opt/aws/neuron/share/container/"),
    Made("models/*.neff", "opt/aws/neuron/share/models/"),
    Made("THIRD-PARTY-LICENSES.txt", "opt/aws/neuron/share/licenses/"),
    Files("xtask/dist/deb/neuron-tools.overrides", "usr/share/lintian/overrides/neuron-tools"),
    Made("copyright", "usr/share/doc/neuron-tools/"),
    Files("README.md", "usr/share/doc/neuron-tools/"),
    Packed("CHANGELOG.md", "usr/share/doc/neuron-tools/changelog.gz"),
    Files("neuron-core/METRICS.md", "usr/share/doc/neuron-tools/"),
    Files("neuron-ls/REFERENCE.md", "usr/share/doc/neuron-tools/neuron-ls.md"),
    Files("neuron-profile/REFERENCE.md", "usr/share/doc/neuron-tools/neuron-profile.md"),
    Files("neuron-monitor/REFERENCE.md", "usr/share/doc/neuron-tools/neuron-monitor.md"),
    Files("neuron-top/REFERENCE.md", "usr/share/doc/neuron-tools/neuron-top.md"),
    Files("neuron-rtd/REFERENCE.md", "usr/share/doc/neuron-tools/neuron-rtd.md"),
    Files("neuron-rtd/OPERATION.md", "usr/share/doc/neuron-tools/neuron-rtd-operation.md"),
    Files("neuron-profile/HTTP.md", "usr/share/doc/neuron-tools/neuron-profile-http.md"),
    Files("neuron-core/SOURCES.md", "usr/share/doc/neuron-tools/"),
    Files("neuron-core/FORMATS.md", "usr/share/doc/neuron-tools/"),
    Files("neuron-core/DIFFERENCES.md", "usr/share/doc/neuron-tools/"),
    Files("SECURITY.md", "usr/share/doc/neuron-tools/"),
    Pages("neuron-ls/assets/*.1"),
    Pages("neuron-top/assets/*.1"),
    Pages("neuron-monitor/assets/*.1"),
    Pages("neuron-profile/assets/*.1"),
    Pages("neuron-rtd/assets/*.1"),
    Link("usr/share/man/man1/neuron-monitor-prometheus.py.1.gz", "neuron-monitor-prometheus.1.gz"),
    Link("usr/share/man/man1/neuron-monitor-cloudwatch.py.1.gz", "neuron-monitor-cloudwatch.1.gz"),
    Files("neuron-ls/assets/neuron-ls.bash", "usr/share/bash-completion/completions/neuron-ls"),
    Files("neuron-top/assets/neuron-top.bash", "usr/share/bash-completion/completions/neuron-top"),
    Files(
        "neuron-monitor/assets/neuron-monitor.bash",
        "usr/share/bash-completion/completions/neuron-monitor",
    ),
    Files(
        "neuron-profile/assets/neuron-profile.bash",
        "usr/share/bash-completion/completions/neuron-profile",
    ),
    Files("neuron-rtd/assets/neuron-rtd.bash", "usr/share/bash-completion/completions/neuron-rtd"),
    Files("neuron-rtd/assets/neuron-cli.bash", "usr/share/bash-completion/completions/neuron-cli"),
    Files("neuron-ls/assets/_*", ZSH),
    Files("neuron-top/assets/_*", ZSH),
    Files("neuron-monitor/assets/_*", ZSH),
    Files("neuron-profile/assets/_*", ZSH),
    Files("neuron-rtd/assets/_*", ZSH),
    Files("neuron-ls/assets/*.fish", FISH),
    Files("neuron-top/assets/*.fish", FISH),
    Files("neuron-monitor/assets/*.fish", FISH),
    Files("neuron-profile/assets/*.fish", FISH),
    Files("neuron-rtd/assets/*.fish", FISH),
];

const ZSH: &str = "usr/share/zsh/vendor-completions/";
const FISH: &str = "usr/share/fish/vendor_completions.d/";

const LIBNRT: &[Entry] = &[
    Library("libnrt"),
    Files("neuron-rtd/libnrt/include/nrt/*", "opt/aws/neuron/lib/neuron-sim/include/nrt/"),
    Files("neuron-rtd/libnrt/include/ndl/*", "opt/aws/neuron/lib/neuron-sim/include/ndl/"),
    Made("THIRD-PARTY-LICENSES.txt", "opt/aws/neuron/lib/neuron-sim/"),
    Files(
        "xtask/dist/deb/neuron-tools-libnrt-sim.overrides",
        "usr/share/lintian/overrides/neuron-tools-libnrt-sim",
    ),
    Made("copyright", "usr/share/doc/neuron-tools-libnrt-sim/"),
    Packed("CHANGELOG.md", "usr/share/doc/neuron-tools-libnrt-sim/changelog.gz"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_lies_where_the_vendor_s_runtime_does() {
        for package in PACKAGES {
            for entry in package.entries {
                let (Files(_, to) | Config(_, to) | Link(to, _) | Made(_, to)) = entry else {
                    continue;
                };
                let vendor = ["opt/aws/neuron/lib/", "opt/aws/neuron/include/"];
                let ours = to.starts_with("opt/aws/neuron/lib/neuron-sim/");
                assert!(ours || !vendor.iter().any(|place| to.starts_with(place)), "{to}");
            }
            assert!(!package.conflicts.contains(&"aws-neuronx-runtime-lib"));
        }
    }

    #[test]
    fn every_program_has_its_page_and_completions() {
        let root = crate::run::root();
        let of = |name: &str| if name == "neuron-cli" { "neuron-rtd" } else { name }.to_owned();
        for entry in TOOLS {
            let Program(name) = entry else { continue };
            for file in [format!("{name}.1"), format!("{name}.bash"), format!("_{name}")] {
                let path = root.join(of(name)).join("assets").join(&file);
                assert!(path.is_file(), "{}", path.display());
            }
        }
    }
}
