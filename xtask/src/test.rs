//! `cargo xtask test`: what CI runs. Check, build, all tests, doc tests.
//!
//! The closing line adds up what the test runners themselves reported, and
//! counts a test as skipped when the harness noted that it was.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::run::{EVERYTHING, Run, Stream, say, target_dir};
use crate::stages::Stages;
use crate::tensorboard::{self, Which};
use crate::{check, cluster, dist, packages, static_libc, web};

/// Flags of `cargo xtask test`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Also run what takes long: a minute of each fuzz target, a simulated day, the static build,
    /// the packages on a fresh Debian (as root), a Ballista cluster.
    #[arg(long)]
    full: bool,
    /// Install missing system packages with apt-get; as root this is the default.
    #[arg(long)]
    install: bool,
}

/// Runs everything and returns whether all of it succeeded. What failed is
/// named before the closing line, so that the counts come last.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let target = target_dir()?;
    let bin_dir = target.join("debug");
    let skip_log = target.join("xtask").join("skipped.txt");
    std::fs::create_dir_all(target.join("xtask"))?;
    std::fs::write(&skip_log, "").with_context(|| format!("cannot write {skip_log:?}"))?;

    let mut stages = Stages::default();
    let mut counts = Counts::default();
    let missing = packages::missing("tests", options.install);
    // First, since every later build takes the viewer in.
    let viewer = web::can_build() && stages.run("viewer", || web::build(true));
    check::add_stages(&mut stages);
    let has = |tool: &str| !missing.iter().any(|package| package.tool() == tool);
    if has("systemd-analyze") {
        stages.run("units", dist::units_are_sound);
    }
    if has("groff") {
        stages.run("man pages", dist::man_pages_are_clean);
    }
    // With the tests, and as they are built, so that large dependencies are built once.
    let built = stages
        .run("build", || Run::cargo("build").args(EVERYTHING).args(["--bins", "--tests"]).run());
    if built {
        let skip = missing.iter().map(|package| package.tool()).collect::<Vec<_>>().join(" ");
        let with_env = |run: Run| {
            run.env("NEURON_BIN_DIR", &bin_dir)
                .env("NEURON_TESTS_SKIP", &skip)
                .env("NEURON_TESTS_SKIP_LOG", &skip_log)
                .env("CARGO_TERM_COLOR", "never")
        };
        stages.run("tests", || tests(with_env, &mut counts));
        stages.run("doc tests", || {
            let run = Run::cargo("test").arg("--doc").args(EVERYTHING);
            with_env(run).each_line(Stream::Out, |line| counts.add_libtest(line))
        });
        if viewer && has("chromium") {
            stages.run("viewer in a browser", web::test_in_browser);
            if has("python3") && has("nm") {
                stages.run("TensorBoard", || tensorboard::test(Which::Newest));
                if options.full {
                    stages.run("oldest TensorBoard", || tensorboard::test(Which::Oldest));
                }
            }
        }
    }
    if options.full {
        add_long_stages(&mut stages);
    }

    let skipped = skipped(&std::fs::read_to_string(&skip_log).unwrap_or_default());
    for line in &skipped {
        say(&format!("skipped: {line}"));
    }
    say(&stages.table());
    let finish = stages.finish();
    if let Err(error) = &finish {
        say(&format!("{error:#}"));
    }
    say(&counts.line(skipped.len()));
    Ok(finish.is_ok())
}

/// The longer work of `--full`, one line each.
fn add_long_stages(stages: &mut Stages) {
    stages.run("static libc", static_libc::run);
    stages.run("packages", dist::verify_quickly);
    stages.run("cluster", cluster::run);
    let again = |args: &'static [&str]| {
        anyhow::Ok(Run::new(std::env::current_exe()?).args(args.iter().copied()))
    };
    stages.run("a day of neuron-monitor", || again(&["soak", "monitor"])?.run());
    stages.run("fuzz", || again(&["fuzz", "--all", "--for", "60s"])?.run());
}

fn tests(with_env: impl Fn(Run) -> Run, counts: &mut Counts) -> Result<()> {
    let nextest = Run::cargo("nextest").arg("--version").succeeds();
    if nextest {
        with_env(Run::cargo("nextest").arg("run").args(EVERYTHING).arg("--no-fail-fast"))
            .each_line(Stream::Err, |line| counts.add_nextest(line))
    } else {
        // Without doc tests, which have their own stage.
        let kinds = ["--no-fail-fast", "--lib", "--bins", "--tests", "--examples"];
        with_env(Run::cargo("test").args(EVERYTHING).args(kinds))
            .each_line(Stream::Out, |line| counts.add_libtest(line))
    }
}

/// What the harness wrote down, once per test. A test may have asked twice.
fn skipped(log: &str) -> BTreeSet<String> {
    log.lines().map(str::to_owned).collect()
}

/// What the runners reported.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Counts {
    /// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; ...`
    fn add_libtest(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.add(counts);
        }
    }

    /// `     Summary [   0.1s] 3 tests run: 2 passed, 1 failed, 1 timed out, 0 skipped`
    fn add_nextest(&mut self, line: &str) {
        if let Some((_, counts)) = line.split_once("run: ")
            && line.trim_start().starts_with("Summary [")
        {
            self.add(counts);
        }
    }

    fn add(&mut self, counts: &str) {
        // Nextest also writes "exec failed" and "timed out".
        let words: Vec<_> =
            counts.split([' ', ',', ';', '.', '(', ')']).filter(|w| !w.is_empty()).collect();
        for pair in words.windows(2) {
            let Ok(number) = pair[0].parse::<usize>() else { continue };
            match pair[1] {
                "passed" => self.passed += number,
                "failed" | "timed" | "exec" => self.failed += number,
                "ignored" | "skipped" => self.skipped += number,
                _ => {}
            }
        }
    }

    /// The closing line. A test that the harness skipped passed in the eyes of
    /// the runner, so it moves from one number to the other.
    fn line(&self, by_harness: usize) -> String {
        let passed = self.passed.saturating_sub(by_harness);
        let skipped = self.skipped + by_harness;
        format!("{passed} passed, {} failed, {skipped} skipped", self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libtest_results_add_up() {
        let mut counts = Counts::default();
        counts.add_libtest("running 3 tests");
        counts.add_libtest("9 passed; 1 failed");
        counts.add_libtest("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s");
        counts.add_libtest("test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.10s");
        assert_eq!(counts, Counts { passed: 5, failed: 1, skipped: 1 });
    }

    #[test]
    fn nextest_summary_is_read() {
        let mut counts = Counts::default();
        counts.add_nextest("        PASS [   0.004s] xtask run: 5 passed");
        counts.add_nextest(
            "     Summary [   1.5s] 9 tests run: 6 passed (1 slow), 2 failed, 1 timed out, 4 skipped",
        );
        assert_eq!(counts, Counts { passed: 6, failed: 3, skipped: 4 });
    }

    #[test]
    fn a_test_skipped_by_the_harness_has_not_passed() {
        let log = "a::b: needs x\na::b: needs x\nc: needs y\n";
        assert_eq!(skipped(log).len(), 2);
        let counts = Counts { passed: 5, failed: 0, skipped: 1 };
        assert_eq!(counts.line(2), "3 passed, 0 failed, 3 skipped");
    }
}
