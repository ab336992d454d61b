//! Who may read: the rules of a server on loopback, and those of one that is
//! open to others.
//!
//! On loopback any program of this machine, and any page in the user's browser,
//! can reach the port. So the name that the browser was told must be one of
//! loopback (else a foreign name that resolves here would read everything), a
//! page of another origin is refused, and the peer must be the user who started
//! the server, or root. Open to others, the token of the printed link is asked
//! for, and kept as a cookie.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName, Method, header};

use super::peer;

/// The cookie that keeps the token. Browsers do not tell ports apart.
pub(super) const COOKIE: &str = "neuron_profile_token";

/// What browsers tell of the page that asks (Fetch Metadata).
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// The rules of a server.
#[derive(Debug, Clone)]
pub(super) enum Access {
    /// On loopback, for this user.
    Loopback { user: u32 },
    /// For everybody who has the token.
    Token(String),
    /// On a Unix socket, for this user; nothing but documents can be changed.
    Socket { user: u32 },
}

/// Why a request is refused: status and what to do.
pub(super) type Refusal = (u16, &'static str);

const HOST: Refusal = (403, "this server answers on loopback only; --host opens it to others");
const ORIGIN: Refusal = (403, "pages of other origins cannot read from this server");
const USER: Refusal =
    (403, "this server answers the user who started it; --host opens it to others");
const READ_ONLY: Refusal =
    (403, "only layouts and annotations can be changed here; neuron-profile view changes the rest");
const NO_TOKEN: Refusal = (401, "open the link that neuron-profile printed: it has the token");

impl Access {
    /// The rules of loopback, for the user of this process.
    pub(super) fn loopback() -> Self {
        Self::Loopback { user: rustix::process::geteuid().as_raw() }
    }

    /// The rules of a Unix socket, for the user of this process.
    pub(super) fn socket() -> Self {
        Self::Socket { user: rustix::process::geteuid().as_raw() }
    }

    /// A token of 128 random bits.
    ///
    /// # Errors
    ///
    /// When the system has no random numbers.
    pub(super) fn with_token() -> io::Result<Self> {
        let mut bytes = [0; 16];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        let mut token = String::new();
        for byte in bytes {
            // Writing to a string does not fail.
            let _ = write!(token, "{byte:02x}");
        }
        Ok(Self::Token(token))
    }

    /// What a link needs behind its path.
    pub(super) fn query(&self) -> String {
        match self {
            Self::Loopback { .. } | Self::Socket { .. } => String::new(),
            Self::Token(token) => format!("?token={token}"),
        }
    }

    /// Whether a new connection is answered at all.
    pub(super) fn admits(&self, peer: SocketAddr, local: SocketAddr) -> Result<(), Refusal> {
        let Self::Loopback { .. } = self else { return Ok(()) };
        self.admits_user(peer::user(peer, local).ok().flatten())
    }

    /// As [`admits`](Self::admits), where the user of the peer is known, if at all.
    pub(super) fn admits_user(&self, found: Option<u32>) -> Result<(), Refusal> {
        match (self, found) {
            (Self::Token(_), _) => Ok(()),
            (Self::Loopback { user } | Self::Socket { user }, Some(found))
                if found == *user || found == 0 =>
            {
                Ok(())
            }
            _ => Err(USER),
        }
    }

    /// Whether a request of this method may be made at all.
    pub(super) fn permits(&self, method: &Method, path: &str) -> Result<(), Refusal> {
        let reads = matches!(*method, Method::GET | Method::HEAD);
        match self {
            Self::Socket { .. } if !reads && !path.starts_with("/api/v1/documents/") => {
                Err(READ_ONLY)
            }
            _ => Ok(()),
        }
    }

    /// Whether a request is answered. `given` is the token of its query.
    pub(super) fn allows(&self, headers: &HeaderMap, given: Option<&str>) -> Result<(), Refusal> {
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST);
        let foreign = text(header::ORIGIN).is_some_and(|origin| {
            let place = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            place.is_none() || place != host
        });
        // Where no origin is told: an image or a script of a page elsewhere. A
        // link from there is followed.
        let elsewhere =
            text(FETCH_SITE) == Some("cross-site") && text(FETCH_MODE) != Some("navigate");
        if foreign || elsewhere {
            return Err(ORIGIN);
        }
        match self {
            Self::Socket { .. } => Ok(()),
            Self::Loopback { .. } if host.is_some_and(is_loopback) => Ok(()),
            Self::Loopback { .. } => Err(HOST),
            Self::Token(token) => {
                let bearer = text(header::AUTHORIZATION).and_then(|t| t.strip_prefix("Bearer "));
                let cookies = text(header::COOKIE).into_iter().flat_map(|all| all.split(';'));
                let cookie = cookies
                    .filter_map(|one| one.trim().split_once('='))
                    .find_map(|(name, value)| (name == COOKIE).then_some(value));
                let known = [given, bearer, cookie].into_iter().flatten();
                let right = known.fold(false, |right, one| right | same(one, token));
                if right { Ok(()) } else { Err(NO_TOKEN) }
            }
        }
    }
}

/// Compares without telling by its time where texts differ.
fn same(one: &str, other: &str) -> bool {
    let differing = one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && differing == 0
}

/// Whether a `Host` header names loopback, at any port: a tunnel may have
/// another one.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(name, _)| name),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(header::HeaderName, &str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn loopback_is_for_loopback() {
        let access = Access::loopback();
        let ask = |host: &str| access.allows(&headers(&[(header::HOST, host)]), None);
        for host in ["localhost", "localhost:3001", "LOCALHOST:1", "127.0.0.1:8080", "[::1]:3001"] {
            assert_eq!(ask(host), Ok(()), "{host}");
        }
        // A name that somebody let resolve to 127.0.0.1.
        for host in ["evil.example", "localhost.evil.example:3001", "0.0.0.0:3001", "", "[::1"] {
            assert_eq!(ask(host), Err(HOST), "{host}");
        }
        assert_eq!(access.allows(&HeaderMap::new(), None), Err(HOST));
        let from = |origin: &str| {
            let host = (header::HOST, "localhost:3001");
            access.allows(&headers(&[host, (header::ORIGIN, origin)]), None)
        };
        assert_eq!(from("http://localhost:3001"), Ok(()));
        for origin in ["http://localhost:3002", "http://evil.example", "null", "file://"] {
            assert_eq!(from(origin), Err(ORIGIN), "{origin}");
        }
        let fetched = |site: &str, mode: &str| {
            let host = (header::HOST, "localhost:3001");
            access.allows(&headers(&[host, (FETCH_SITE, site), (FETCH_MODE, mode)]), None)
        };
        assert_eq!(fetched("cross-site", "no-cors"), Err(ORIGIN));
        assert_eq!(fetched("cross-site", "navigate"), Ok(()));
        assert_eq!(fetched("same-origin", "cors"), Ok(()));
    }

    #[test]
    fn others_need_the_token() {
        let access = Access::with_token().unwrap();
        let Access::Token(token) = &access else { panic!() };
        assert_eq!(token.len(), 32);
        assert_ne!(access.query(), Access::with_token().unwrap().query());
        let host = (header::HOST, "host.example:3001");
        assert_eq!(access.allows(&headers(std::slice::from_ref(&host)), None), Err(NO_TOKEN));
        assert_eq!(access.allows(&headers(std::slice::from_ref(&host)), Some(token)), Ok(()));
        assert_eq!(
            access.allows(&headers(std::slice::from_ref(&host)), Some(&token[1..])),
            Err(NO_TOKEN)
        );
        let bearer = format!("Bearer {token}");
        let cookie = format!("a=b; {COOKIE}={token}");
        for (name, value) in [(header::AUTHORIZATION, &bearer), (header::COOKIE, &cookie)] {
            assert_eq!(access.allows(&headers(&[host.clone(), (name, value)]), None), Ok(()));
        }
        let other = [host, (header::ORIGIN, "http://evil.example")];
        assert_eq!(access.allows(&headers(&other), Some(token)), Err(ORIGIN));
    }
}
