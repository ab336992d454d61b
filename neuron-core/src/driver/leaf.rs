//! Reading one leaf of sysfs.

use std::io;
use std::str::FromStr;

use super::files::Files;
use crate::sample::Problem;

/// Directory of the devices.
pub(crate) const DEVICES: &str = "sys/devices/virtual/neuron_device";

/// Why a leaf has no value.
#[derive(Debug)]
pub(crate) enum Missing {
    /// This driver or chip has no such leaf, or this user may not read it.
    Quiet,
    /// Something is wrong: one line, naming the file.
    Wrong(String),
}

/// The text of a leaf without its newline.
pub(crate) fn text(files: &dyn Files, path: &str) -> Result<String, Missing> {
    match files.read(path) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(text.trim_end_matches('\n').to_owned()),
            Err(_) => Err(garbled(files, path, "is not text")),
        },
        Err(error) => Err(missing(files, path, &error)),
    }
}

/// A value that the leaf's text parses to.
pub(crate) fn value<T: FromStr>(files: &dyn Files, path: &str) -> Result<T, Missing> {
    let text = text(files, path)?;
    text.trim().parse().map_err(|_| garbled(files, path, &format!("holds {:?}", shorten(&text))))
}

/// A leaf whose content makes no sense.
pub(crate) fn garbled(files: &dyn Files, path: &str, what: &str) -> Missing {
    let path = files.display(path);
    Missing::Wrong(format!("{} {what}, which is not what the driver writes there", path.display()))
}

fn missing(files: &dyn Files, path: &str, error: &io::Error) -> Missing {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => Missing::Quiet,
        _ => Missing::Wrong(format!("cannot read {}: {error}", files.display(path).display())),
    }
}

/// Keeps a value, or notes why there is none.
pub(crate) fn keep<T>(
    problems: &mut Vec<Problem>,
    device: u32,
    result: Result<T, Missing>,
) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Missing::Quiet) => None,
        Err(Missing::Wrong(text)) => {
            problems.push(Problem { device: Some(device), text });
            None
        }
    }
}

/// The start of a text, for an error message.
pub(crate) fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}
