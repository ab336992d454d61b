//! Names of files (profiler.md §1.2): `profile.ntff`, `profile_exec_2.ntff`,
//! `profile_rank_0_exec_2.ntff`; `out`, `out.2`, `output_worker_0/out`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use neuron_core::neff::path;

/// How the files of a capture are called.
#[derive(Debug)]
pub(super) struct Names {
    session: PathBuf,
    /// Whether names tell the rank.
    ranks: bool,
}

impl Names {
    pub(super) fn new(session: &Path, ranks: bool) -> Self {
        Self { session: session.to_owned(), ranks }
    }

    /// The trace of an execution, counted from 1.
    pub(super) fn trace(&self, rank: u32, execution: u32) -> PathBuf {
        let mut stem: OsString = self.session.file_stem().unwrap_or_default().to_owned();
        if self.ranks {
            stem.push(format!("_rank_{rank}"));
        }
        if execution > 1 {
            stem.push(format!("_exec_{execution}"));
        }
        if let Some(ending) = self.session.extension() {
            stem.push(".");
            stem.push(ending);
        }
        self.session.with_file_name(stem)
    }

    /// The file of an output; one whose name is no plain file name goes by its
    /// number. The folder is not made.
    pub(super) fn output(&self, rank: u32, execution: u32, name: &str, number: usize) -> PathBuf {
        let plain = path::is_safe(name) && !name.contains('/');
        let mut file = if plain { name.to_owned() } else { format!("output-{number}") };
        if execution > 1 {
            file.push_str(&format!(".{execution}"));
        }
        if self.ranks {
            Path::new(&format!("output_worker_{rank}")).join(file)
        } else {
            file.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_scripts_know() {
        let alone = Names::new(Path::new("d/profile.ntff"), false);
        assert_eq!(alone.trace(0, 1), Path::new("d/profile.ntff"));
        assert_eq!(alone.trace(0, 2), Path::new("d/profile_exec_2.ntff"));
        assert_eq!(alone.output(0, 1, "out", 0), Path::new("out"));
        assert_eq!(alone.output(0, 2, "out", 0), Path::new("out.2"));
        assert_eq!(alone.output(0, 1, "../x", 3), Path::new("output-3"));
        let ranks = Names::new(Path::new("profile.ntff"), true);
        assert_eq!(ranks.trace(3, 1), Path::new("profile_rank_3.ntff"));
        assert_eq!(ranks.trace(0, 2), Path::new("profile_rank_0_exec_2.ntff"));
        assert_eq!(ranks.output(1, 1, "out", 0), Path::new("output_worker_1/out"));
        assert_eq!(Names::new(Path::new("x"), false).trace(0, 3), Path::new("x_exec_3"));
    }
}
