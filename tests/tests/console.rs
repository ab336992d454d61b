//! Every console block of the README, of the references and of `cmd/` is run and
//! compared.

use neuron_tests::bin;

/// Pages that use simulated instances, each in a place of its own, since the
/// blocks of several files run at the same time.
const PAGES: &[&str] = &[
    "README.md",
    "neuron-ls/REFERENCE.md",
    "neuron-monitor/REFERENCE.md",
    "neuron-profile/REFERENCE.md",
    "neuron-top/REFERENCE.md",
];

#[test]
fn console_blocks_are_true() {
    // Paths in the pages are those of somebody who stands in the clone.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap();
    for page in PAGES {
        run(&[page]);
    }
    let mut others = vec!["tests/tests/cmd/*.trycmd"];
    if std::path::Path::new("/sys/module/neuron").exists() {
        println!("skipped: tests/no-driver needs a machine without the neuron driver");
    } else {
        others.push("tests/tests/no-driver/*.trycmd");
    }
    run(&others);
}

/// Runs the blocks of files that a pattern names.
fn run(patterns: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let cases = trycmd::TestCases::new();
    cases
        .env("NEURON_SIM_DIR", dir.path().display().to_string())
        .env("NEURON_SOURCE", "")
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .register_bin("neuron-ls", bin("neuron-ls"))
        .register_bin("neuron-monitor", bin("neuron-monitor"))
        .register_bin("neuron-top", bin("neuron-top"))
        .register_bin("neuron-profile", bin("neuron-profile"));
    for pattern in patterns {
        cases.case(pattern);
    }
    cases.run();
}
