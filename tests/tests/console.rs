//! Every console block of the README and of `cmd/` is run and compared.

use neuron_tests::bin;

#[test]
fn console_blocks_are_true() {
    // Paths in the README are those of somebody who stands in the clone.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap();
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
        .register_bin("neuron-profile", bin("neuron-profile"))
        .case("README.md")
        .case("tests/tests/cmd/*.trycmd");
    if std::path::Path::new("/sys/module/neuron").exists() {
        println!("skipped: tests/no-driver needs a machine without the neuron driver");
    } else {
        cases.case("tests/tests/no-driver/*.trycmd");
    }
    cases.run();
}
