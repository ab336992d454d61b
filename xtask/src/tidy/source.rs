//! Checks of Rust source: what may stand where.

use super::code::{code_only, lines_with, names_under, without_tests};
use super::{File, Finding};

/// The only places with unsafe code.
const UNSAFE: &[&str] = &["neuron-core/src/sys/", "neuron-core/src/sys.rs", "neuron-rtd/libnrt/"];

/// Modules that open no file and read no clock.
const PURE: &[&str] = &[
    "neuron-core/src/model/",
    "neuron-core/src/neff/",
    "neuron-core/src/ntff/",
    "neuron-core/src/isa/",
    "neuron-rtd/npu/src/",
];

/// Crates that show a model.
const VIEWS: &[&str] = &["neuron-ls/src/", "neuron-top/src/", "neuron-monitor/src/"];

/// The files of a view crate that open a source and hand its samples to the model.
const OPENERS: &[&str] = &["main.rs", "reading.rs", "sim.rs"];

/// What the views know nothing of.
const BELOW_THE_MODEL: &[&str] = &["sample", "driver", "sim"];

/// From here on a file is listed, and from there on it fails.
const LONG: usize = 500;
const TOO_LONG: usize = 800;

/// Files that may be too long, each with its reason.
const MAY_BE_LONG: &[(&str, &str)] = &[];

fn rust(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| file.path.ends_with(".rs") && !is_generated(file))
}

/// Generated code says so in its first lines.
fn is_generated(file: &File) -> bool {
    let head: String = file.text.lines().take(3).collect::<Vec<_>>().join(" ").to_lowercase();
    head.contains("@generated") || (head.contains("generated") && head.contains("do not edit"))
}

fn below(file: &File, places: &[&str]) -> bool {
    places.iter().any(|place| file.path.starts_with(place))
}

/// Code that runs outside tests. A file of tests alone has none.
fn live_code(file: &File) -> String {
    if file.path.ends_with("/tests.rs") || file.path.contains("/tests/") {
        return String::new();
    }
    without_tests(&code_only(&file.text))
}

pub(super) fn unsafe_stays_in_its_place(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in rust(files).filter(|file| !below(file, UNSAFE)) {
        let code = code_only(&file.text);
        for line in lines_with(&code, "unsafe") {
            findings.push(Finding::on_line(file, line, "unsafe code; only sys and libnrt have it"));
        }
        for line in lines_with(&code, "unsafe_code") {
            let text = code.lines().nth(line - 1).unwrap_or_default();
            if !text.contains("forbid(") && !text.contains("deny(") {
                findings.push(Finding::on_line(file, line, "unsafe code is allowed here"));
            }
        }
    }
    findings
}

pub(super) fn pure_modules_touch_no_system(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in rust(files).filter(|file| below(file, PURE)) {
        let code = live_code(file);
        for (line, name) in names_under(&code, "std") {
            if ["fs", "env", "net", "process"].contains(&name.as_str()) {
                findings.push(Finding::on_line(
                    file,
                    line,
                    format!("std::{name} in a pure module"),
                ));
            }
        }
        for name in ["Instant::now", "SystemTime::now", "File::open", "rustix", "tokio"] {
            for line in lines_with(&code, name) {
                findings.push(Finding::on_line(file, line, format!("{name} in a pure module")));
            }
        }
    }
    findings
}

pub(super) fn views_import_models_only(files: &[File]) -> Vec<Finding> {
    let opens = |file: &File| {
        VIEWS
            .iter()
            .any(|view| file.path.strip_prefix(view).is_some_and(|rest| OPENERS.contains(&rest)))
    };
    let mut findings = Vec::new();
    for file in rust(files).filter(|file| below(file, VIEWS) && !opens(file)) {
        for (line, name) in names_under(&live_code(file), "neuron_core") {
            if BELOW_THE_MODEL.contains(&name.as_str()) {
                let what =
                    format!("a view imports neuron_core::{name}; it may know the model only");
                findings.push(Finding::on_line(file, line, what));
            }
        }
    }
    findings
}

pub(super) fn modules_say_what_they_are(files: &[File]) -> Vec<Finding> {
    rust(files)
        .filter(|file| !file.path.ends_with("build.rs") && !file.text.starts_with("//!"))
        .map(|file| Finding::new(&file.path, "opens without a //! line that says what it is for"))
        .collect()
}

pub(super) fn files_are_short(files: &[File]) -> Vec<Finding> {
    too_long(files, MAY_BE_LONG)
}

fn too_long(files: &[File], may_be_long: &[(&str, &str)]) -> Vec<Finding> {
    let allowed = |file: &File| may_be_long.iter().any(|(path, _)| *path == file.path);
    let long = |file: &&File| file.text.lines().count() > TOO_LONG;
    let mut findings: Vec<_> = rust(files)
        .filter(long)
        .filter(|file| !allowed(file))
        .map(|file| Finding::new(&file.path, format!("more than {TOO_LONG} lines; split it")))
        .collect();
    for (path, reason) in may_be_long {
        if !rust(files).filter(long).any(|file| file.path == *path) {
            let what = format!("no longer needs its leave to be long ({reason})");
            findings.push(Finding::new(*path, what));
        }
    }
    findings
}

/// Files that are long, as notes: they are not findings.
pub(super) fn long_files(files: &[File]) -> Vec<Finding> {
    rust(files)
        .map(|file| (file, file.text.lines().count()))
        .filter(|(_, lines)| *lines > LONG)
        .map(|(file, lines)| Finding::new(&file.path, format!("{lines} lines")))
        .collect()
}

pub(super) fn nothing_is_left_unfinished(files: &[File]) -> Vec<Finding> {
    // Put together here, so that this file does not find itself.
    let marks = [["TO", "DO"].concat(), ["FIX", "ME"].concat()];
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| !file.path.contains("/fixtures/")) {
        for mark in &marks {
            for line in lines_with(&file.text, mark) {
                findings.push(Finding::on_line(file, line, format!("{mark} left behind")));
            }
        }
    }
    for file in rust(files) {
        let code = code_only(&file.text);
        for (word, what) in [
            ("todo!", "todo! left behind"),
            ("ignore", "an ignored test; assert what happens today"),
            ("should_panic", "should_panic; assert the error"),
        ] {
            for line in lines_with(&code, word.trim_end_matches('!')) {
                let text = code.lines().nth(line - 1).unwrap_or_default();
                let attribute = text.trim_start().starts_with("#[");
                if (word.ends_with('!') && text.contains(word)) || attribute {
                    findings.push(Finding::on_line(file, line, what));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::{file, found};
    use super::*;

    #[test]
    fn unsafe_is_found_outside_sys() {
        let check = unsafe_stays_in_its_place;
        let source = "fn a() {\n    unsafe { b() }\n}";
        assert_eq!(found(check, "neuron-ls/src/a.rs", source), ["neuron-ls/src/a.rs:2"]);
        assert!(found(check, "neuron-core/src/sys/a.rs", source).is_empty());
        let allow = "#![allow(unsafe_code)]";
        assert_eq!(found(check, "neuron-ls/src/a.rs", allow), ["neuron-ls/src/a.rs:1"]);
        let harmless = "#![forbid(unsafe_code)]\n// unsafe\nconst A: &str = \"unsafe\";";
        assert!(found(check, "neuron-ls/src/a.rs", harmless).is_empty());
    }

    #[test]
    fn files_and_clocks_are_found_in_pure_modules() {
        let check = pure_modules_touch_no_system;
        let path = "neuron-core/src/neff/a.rs";
        for bad in [
            "use std::fs::File;",
            "use std::{collections::BTreeMap, env};",
            "let a = std::time::Instant::now();",
            "SystemTime::now()",
            "use rustix::fs::open;",
        ] {
            assert_eq!(found(check, path, bad), [format!("{path}:1")], "{bad}");
        }
        assert!(found(check, "neuron-core/src/driver/a.rs", "use std::fs;").is_empty());
        let tested = "use std::io::Read;\n#[cfg(test)]\nmod tests { use std::fs; }";
        assert!(found(check, path, tested).is_empty());
    }

    #[test]
    fn a_view_that_reads_samples_is_found() {
        let check = views_import_models_only;
        let source = "use neuron_core::{model, sample::Sample};";
        assert_eq!(found(check, "neuron-ls/src/table.rs", source), ["neuron-ls/src/table.rs:1"]);
        assert!(found(check, "neuron-ls/src/reading.rs", source).is_empty());
        assert!(found(check, "neuron-core/src/model/a.rs", source).is_empty());
        let harmless = "use neuron_core::{catalog, model};";
        assert!(found(check, "neuron-ls/src/table.rs", harmless).is_empty());
    }

    #[test]
    fn a_module_without_doc_is_found() {
        let check = modules_say_what_they_are;
        assert_eq!(found(check, "a/src/b.rs", "use std::fs;"), ["a/src/b.rs"]);
        assert!(found(check, "a/src/b.rs", "//! What.\n").is_empty());
        assert!(found(check, "a/build.rs", "fn main() {}").is_empty());
        assert!(found(check, "a/src/b.rs", "// @generated\n").is_empty());
        assert!(found(check, "a/src/b.rs", "// Generated from c; do not edit.\n").is_empty());
        assert_eq!(found(check, "a/src/b.rs", "// Not generated.\n"), ["a/src/b.rs"]);
    }

    #[test]
    fn long_files_are_notes_and_longer_ones_findings() {
        let files = [file("a.rs", &"x\n".repeat(501)), file("b.rs", &"x\n".repeat(801))];
        assert_eq!(long_files(&files).len(), 2);
        assert_eq!(files_are_short(&files)[0].at, "b.rs");
        assert!(too_long(&files, &[("b.rs", "a table")]).is_empty());
        let stale = too_long(&files[..1], &[("a.rs", "a table")]);
        assert_eq!(stale[0].at, "a.rs");
    }

    #[test]
    fn unfinished_work_is_found() {
        let check = nothing_is_left_unfinished;
        let mark = ["TO", "DO"].concat();
        assert_eq!(found(check, "a.md", &format!("x\n{mark}: y")), ["a.md:2"]);
        assert!(found(check, "tests/fixtures/a.txt", &mark).is_empty());
        for bad in ["fn a() { todo!() }", "#[ignore]", "#[ignore = \"x\"]", "#[should_panic]"] {
            assert_eq!(found(check, "a.rs", bad), ["a.rs:1"], "{bad}");
        }
        assert!(found(check, "a.rs", "/// #[ignore]\nlet ignore = 1;").is_empty());
    }
}
