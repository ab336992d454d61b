//! Which engine runs a query.

use std::fmt;
use std::str::FromStr;

/// What answers queries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// This process.
    #[default]
    Local,
    /// A Ballista cluster, by its scheduler.
    Ballista(Scheduler),
}

/// The scheduler of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scheduler {
    /// Name or address; that of IPv6 in brackets.
    pub host: String,
    /// Port of its gRPC service.
    pub port: u16,
}

/// Where a scheduler listens if nothing else is said.
const PORT: u16 = 50050;

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "local" {
            return Ok(Self::Local);
        }
        let wrong = || String::from("local or ballista://HOST:PORT");
        let url = url::Url::parse(text).map_err(|_| wrong())?;
        let plain = ["", "/"].contains(&url.path()) && url.query().is_none();
        let known = url.username().is_empty() && url.password().is_none();
        let host = url.host_str().filter(|host| !host.is_empty());
        match (url.scheme(), host) {
            ("ballista", Some(host)) if plain && known && url.fragment().is_none() => {
                let (host, port) = (host.to_owned(), url.port().unwrap_or(PORT));
                Ok(Self::Ballista(Scheduler { host, port }))
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("local"),
            Self::Ballista(scheduler) => write!(f, "ballista://{scheduler}"),
        }
    }
}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_told_apart() {
        for (text, shown) in [
            ("local", "local"),
            ("ballista://a.example:1", "ballista://a.example:1"),
            ("ballista://10.0.0.1/", "ballista://10.0.0.1:50050"),
            ("ballista://[::1]:7", "ballista://[::1]:7"),
        ] {
            assert_eq!(text.parse::<Engine>().unwrap().to_string(), shown);
        }
        for text in
            ["", "ballista", "ballista://", "df://a:1", "ballista://a:1/x", "ballista://u@a:1"]
        {
            assert!(text.parse::<Engine>().is_err(), "{text}");
        }
    }
}
