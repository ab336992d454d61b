//! C programs, compiled against the header and run with the library.
#![allow(dead_code, reason = "each test program uses a part")]
#![allow(unreachable_pub, reason = "a module of tests")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use neuron_builder::models::{SAMPLES, Sample};

/// The package.
pub fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The library that cargo built for this test.
pub fn library() -> PathBuf {
    // the rlib is a dependency of the test, the shared object its twin
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap().join("libnrt.so");
    assert!(library.is_file(), "{} is not there", library.display());
    library
}

pub fn sample(name: &str) -> Sample {
    let (_, make) = SAMPLES.iter().find(|(known, _)| *known == name).unwrap();
    make().unwrap()
}

/// A folder with the library under its name, an instance, and room for files.
pub struct Lab {
    pub dir: tempfile::TempDir,
}

impl Lab {
    /// `None` where there is no C compiler.
    pub fn new() -> Option<Self> {
        if !neuron_tests::require("gcc") {
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        for name in ["libnrt.so", "libnrt.so.1"] {
            std::os::unix::fs::symlink(library(), dir.path().join(name)).unwrap();
        }
        std::fs::create_dir(dir.path().join("sim")).unwrap();
        Some(Self { dir })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes the file of a sample model.
    pub fn model(&self, name: &str) -> PathBuf {
        let path = self.path(&format!("{name}.neff"));
        std::fs::write(&path, sample(name).built.bytes).unwrap();
        path
    }

    /// Compiles a program of `tests/c`.
    pub fn compile(&self, name: &str) -> PathBuf {
        let program = self.path(name);
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", "-g"]);
        // what programs share, not each of them uses
        gcc.arg("-Wno-unused-function");
        gcc.arg("-I").arg(here().join("include")).arg("-o").arg(&program);
        gcc.arg(here().join(format!("tests/c/{name}.c")));
        gcc.arg("-L").arg(self.dir.path()).args(["-lnrt", "-pthread"]);
        let output = gcc.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        program
    }

    /// A command with the library and a simulated instance.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("NEURON_RT_") {
                command.env_remove(name);
            }
        }
        command.env("LD_LIBRARY_PATH", self.dir.path());
        command.env("NEURON_SIM_DIR", self.path("sim"));
        command.env("NEURON_SOURCE", "sim:trn1.2xlarge,name=libnrt-test");
        command
    }
}

/// The output of a program that must have done all it wanted.
#[track_caller]
pub fn done(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.ends_with("done\n"), "{}: {said}{told}", output.status);
    said
}

/// A file must be a profile with records of something.
#[track_caller]
pub fn is_profile(file: &Path) {
    use neuron_core::ntff::{Mode, Options, Reader};
    let bytes = std::fs::read(file).unwrap();
    let options = Options { mode: Mode::Strict, ..Options::default() };
    let mut reader = Reader::new(bytes.as_slice(), options).unwrap();
    assert!(!reader.sections().is_empty());
    let mut records = 0;
    while let Some(chunk) = reader.next_chunk().unwrap() {
        records += chunk.bytes.len();
    }
    assert!(records > 0, "{} has no records", file.display());
}
