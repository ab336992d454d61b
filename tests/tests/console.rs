//! Every console block of the README and of `cmd/` is run and compared.

use neuron_tests::bin;

#[test]
fn console_blocks_are_true() {
    let dir = tempfile::tempdir().unwrap();
    let cases = trycmd::TestCases::new();
    cases
        .env("NEURON_SIM_DIR", dir.path().display().to_string())
        .env("NEURON_SOURCE", "")
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .register_bin("neuron-ls", bin("neuron-ls"))
        .register_bin("neuron-top", bin("neuron-top"))
        .case("../README.md")
        .case("tests/cmd/*.trycmd");
    if std::path::Path::new("/sys/module/neuron").exists() {
        println!("skipped: tests/no-driver needs a machine without the neuron driver");
    } else {
        cases.case("tests/no-driver/*.trycmd");
    }
    cases.run();
}
