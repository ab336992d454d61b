//! Which member names may become paths below a folder.

use super::problem::{Place, Problem, Rule};
use std::collections::HashSet;
use std::path::PathBuf;

/// Longest part of a path on common file systems, in bytes.
const PART: usize = 255;

/// Most folders in a name (our choice): it bounds the work of [`plan`].
const PARTS: usize = 64;

/// Why a name is no relative path that stays below the folder it is joined to,
/// on any system; `None` for a safe one.
pub fn fault(name: &str) -> Option<String> {
    let parts = || name.split('/');
    let because = |text: &str| Some(text.to_owned());
    if name.contains(char::is_control) {
        because("it has a control character")
    } else if name.contains('\\') {
        because("it has a backslash")
    } else if name.get(1..2) == Some(":") {
        because("it starts with a drive letter")
    } else if name.starts_with('/') {
        because("it starts at the root")
    } else if parts().any(|part| part.is_empty()) {
        because("a part of it is empty")
    } else if parts().any(|part| matches!(part, "." | "..")) {
        because("a part of it is '.' or '..'")
    } else if parts().count() > PARTS {
        Some(format!("it has {} parts, the limit is {PARTS}", parts().count()))
    } else {
        let long = parts().map(str::len).find(|length| *length > PART)?;
        Some(format!("a part of it has {long} bytes, the limit is {PART}"))
    }
}

/// Whether a name may become a path below a folder.
pub fn is_safe(name: &str) -> bool {
    fault(name).is_none()
}

/// The paths of all names, relative, in the same order. Refuses the whole if
/// one name is not safe, or if one is a folder of another.
pub fn plan<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Vec<PathBuf>, Problem> {
    let names: Vec<&str> = names.into_iter().collect();
    let refuse =
        |rule, name: &str, value: String| Problem::new(rule, Place::member(name, 0), value);
    let mut files = HashSet::new();
    for name in &names {
        if let Some(fault) = fault(name) {
            return Err(refuse(Rule::NameUnsafe, name, fault));
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
            "a\u{1b}[2Jb",
            "a\nb",
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
    fn the_cause_is_told() {
        for (name, cause) in [
            ("/a", "it starts at the root"),
            ("e//f", "a part of it is empty"),
            ("c/./d", "a part of it is '.' or '..'"),
            (&"n".repeat(256), "a part of it has 256 bytes, the limit is 255"),
            (&["a"; 65].join("/"), "it has 65 parts, the limit is 64"),
        ] {
            assert_eq!(fault(name).as_deref(), Some(cause), "{name}");
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
