//! NumPy and ml_dtypes as an oracle: pinned versions in a folder of their own
//! under `target/`, run by the system's `python3`.
#![allow(dead_code, reason = "each test program uses a part")]
#![allow(unreachable_pub, reason = "a module of tests")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

pub(crate) mod lab;
pub(crate) mod neff;
pub(crate) mod oracle;
pub(crate) mod ranks;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PACKAGES: [&str; 2] = ["numpy==2.4.6", "ml_dtypes==0.6.0"];

/// NumPy, ready to run scripts; `None` when it cannot be had here, with a line
/// that says which test was skipped.
pub(crate) fn numpy() -> Option<Numpy> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("numpy-2.4.6-ml_dtypes-0.6.0");
    if !folder.exists() {
        let part = folder.with_extension(std::process::id().to_string());
        let mut install = Command::new("python3");
        install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]).arg(&part);
        install.args(PACKAGES).stdout(Stdio::null()).stderr(Stdio::null());
        let done = install.status().is_ok_and(|status| status.success());
        // another test program may have been faster; then its copy is as good
        if !done || fs::rename(&part, &folder).is_err() {
            let _ = fs::remove_dir_all(&part);
        }
    }
    let numpy = Numpy { folder };
    let works = numpy.command("import numpy, ml_dtypes").output();
    if works.is_ok_and(|output| output.status.success()) {
        return Some(numpy);
    }
    let thread = std::thread::current();
    let line = format!("{}: needs NumPy and ml_dtypes", thread.name().unwrap_or("a test"));
    // straight to stderr: the test runner hides what macros print
    let _ = writeln!(std::io::stderr(), "skipped: {line}");
    if let Some(path) = std::env::var_os("NEURON_TESTS_SKIP_LOG") {
        let log = fs::OpenOptions::new().append(true).create(true).open(path);
        let _ = log.and_then(|mut log| log.write_all(format!("{line}\n").as_bytes()));
    }
    None
}

/// A `python3` that has NumPy and ml_dtypes.
pub(crate) struct Numpy {
    folder: PathBuf,
}

impl Numpy {
    fn command(&self, script: &str) -> Command {
        let mut command = Command::new("python3");
        command.env("PYTHONPATH", &self.folder).args(["-c", script]);
        command
    }

    /// Runs a script with these arguments and `input` on its standard input;
    /// gives what it writes to its standard output.
    pub(crate) fn run(&self, script: &str, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut child = self
            .command(script)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
        writer.join().unwrap().unwrap();
        output.stdout
    }
}

/// Numbers that look random and are the same on every host (splitmix64).
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// From -1 to 1.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }

    /// About normal, variance 1.
    pub(crate) fn normal(&mut self) -> f32 {
        (0..3).map(|_| self.unit()).sum()
    }
}

/// Little-endian fp32 from bytes.
pub(crate) fn fp32(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// Little-endian fp64 from bytes.
pub(crate) fn fp64(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
}
