//! The error of this crate: what failed, on which path or device, what to do.

use std::path::PathBuf;

/// Result of the functions of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Each message is one line and is also the documentation of its variant.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("cannot {action} {}: {}", path.display(), io_reason(source))]
    Io {
        /// What was tried, as a verb: `read`, `list`, `create`, `lock`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The reason given by the system.
        source: std::io::Error,
    },

    /// A file was read but does not hold what it should.
    #[error("{}: {reason}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },

    /// A request to a device failed.
    #[error("neuron{device}: {request} failed: {}", io_reason(source))]
    Request {
        /// Host index of the device.
        device: u32,
        /// Name of the request.
        request: &'static str,
        /// The errno of the driver.
        source: std::io::Error,
    },

    /// A device did not answer within the deadline.
    #[error("neuron{device}: {what} did not answer within {seconds} s; the device may be in reset")]
    Deadline {
        /// Host index of the device.
        device: u32,
        /// What was asked.
        what: &'static str,
        /// The deadline.
        seconds: u64,
    },

    /// No driver, or a driver without devices.
    #[error("{0}")]
    NoDevices(String),

    /// A place that was named holds no device.
    #[error("no Neuron device below {}: {reason}", place.display())]
    Empty {
        /// Root of the tree.
        place: PathBuf,
        /// What is not there.
        reason: String,
    },

    /// The text of `--source` or `NEURON_SOURCE` is wrong.
    #[error("source {text:?}: {reason}")]
    Source {
        /// The text as given.
        text: String,
        /// What is wrong with it, and what is accepted.
        reason: String,
    },

    /// The simulated instance refused a request.
    #[error("simulated instance {name}: {reason}")]
    Sim {
        /// Name of the instance.
        name: String,
        /// What is wrong, and what to do.
        reason: String,
    },
}

impl Error {
    /// An [`Error::Io`] for a closure-friendly `map_err`.
    pub fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    /// An [`Error::Content`].
    pub fn content(path: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self::Content { path: path.into(), reason: reason.into() }
    }

    /// An [`Error::Sim`].
    pub fn sim(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Sim { name: name.into(), reason: reason.into() }
    }
}

/// The system's text for an error in lower case and without the errno number, as
/// every message of the tools ends.
pub fn io_reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::from("unknown error"),
    }
}
