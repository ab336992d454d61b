//! Which member names may become paths below a folder.

use super::problem::{Place, Problem, Rule};
use std::collections::HashSet;
use std::path::PathBuf;

/// Longest part of a path on common file systems, in bytes.
const PART: usize = 255;

/// Most folders in a name (our choice): it bounds the work of [`plan`].
const PARTS: usize = 64;

/// Whether a name is relative and stays below the folder it is joined to, on
/// any system: no empty part, `.`, `..`, root, backslash, NUL or drive letter.
pub fn is_safe(name: &str) -> bool {
    !name.contains(['\\', '\0'])
        && name.get(1..2).is_none_or(|c| c != ":")
        && name.split('/').count() <= PARTS
        && name.split('/').all(|part| !matches!(part, "" | "." | "..") && part.len() <= PART)
}

/// The paths of all names, relative, in the same order. Refuses the whole if
/// one name is not safe, or if one is a folder of another.
pub fn plan<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Vec<PathBuf>, Problem> {
    let names: Vec<&str> = names.into_iter().collect();
    let refuse = |rule, name: &str, value: String| Problem::new(rule, Place::key(name, ""), value);
    let mut files = HashSet::new();
    for name in &names {
        if !is_safe(name) {
            return Err(refuse(Rule::NameUnsafe, name, format!("the name is {name:?}")));
        }
        if !files.insert(*name) {
            return Err(refuse(Rule::Duplicate, name, format!("{name} occurs twice")));
        }
    }
    for name in &names {
        for (at, _) in name.match_indices('/') {
            let folder = name.get(..at).unwrap_or_default();
            if files.contains(folder) {
                let value = format!("{folder} is a file and a folder");
                return Err(refuse(Rule::NameUnsafe, name, value));
            }
        }
    }
    Ok(names.into_iter().map(PathBuf::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_leave_the_folder_are_refused() {
        for name in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "a/../../b",
            "a//b",
            "./a",
            "a/.",
            "a/",
            "a\\b",
            "C:a",
            "a\0b",
        ] {
            assert!(!is_safe(name), "{name:?}");
        }
        assert!(!is_safe(&"n".repeat(256)));
        assert!(!is_safe(&["a"; 65].join("/")));
        assert!(is_safe(&["a"; 64].join("/")));
        for name in ["a", "sg00/def.json", "a..b", "...", "größe", "ab:c", "ab:"] {
            assert!(is_safe(name), "{name:?}");
        }
    }

    #[test]
    fn a_file_is_no_folder() {
        let error = plan(["a/b/c", "a/b"]).unwrap_err();
        assert_eq!(error.rule, Rule::NameUnsafe);
        assert_eq!(plan(["a", "a"]).unwrap_err().rule, Rule::Duplicate);
        assert_eq!(plan(["a/b", "a/c"]).unwrap().len(), 2);
    }
}
