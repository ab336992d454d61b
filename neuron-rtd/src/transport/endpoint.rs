//! An address as `-g` and `NEURON_RTD_ADDRESS` have it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Default of daemon and clients (neuron-rtd.md §1.1).
pub(crate) const DEFAULT: &str = "unix:/run/neuron.sock";

/// Where a daemon listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A Unix socket.
    Unix(PathBuf),
    /// `host:port`.
    Tcp(String),
}

impl FromStr for Endpoint {
    type Err = String;

    /// `unix:PATH`, `unix://PATH`, `/PATH`, or `HOST:PORT`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("address {text:?}: {why}"));
        let path = match text.strip_prefix("unix:") {
            Some(rest) => Some(rest.strip_prefix("//").unwrap_or(rest)),
            None => text.starts_with('/').then_some(text),
        };
        if let Some(path) = path {
            // the kernel's limit for the name of a socket, with its zero
            return match path.len() {
                0 => wrong("the path is empty"),
                1..108 if !path.contains('\0') => Ok(Self::Unix(PathBuf::from(path))),
                _ => wrong("a socket's path has at most 107 bytes"),
            };
        }
        match text.rsplit_once(':') {
            Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => {
                Ok(Self::Tcp(text.to_owned()))
            }
            _ => wrong("use unix:PATH or HOST:PORT"),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp(address) => f.write_str(address),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let read = |text: &str| text.parse::<Endpoint>().map(|endpoint| endpoint.to_string());
        for text in ["unix:/run/neuron.sock", "/run/neuron.sock", "unix:///run/neuron.sock"] {
            assert_eq!(read(text).as_deref(), Ok(DEFAULT), "{text}");
        }
        assert_eq!(read("0.0.0.0:5555").as_deref(), Ok("0.0.0.0:5555"));
        assert_eq!(read("[::1]:5555").as_deref(), Ok("[::1]:5555"));
        for bad in ["", "unix:", "localhost", ":80", "a:70000", &format!("/{}", "x".repeat(107))] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
