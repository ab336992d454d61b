//! Requests and what answers mean.

use std::io::Read;
use std::net::Ipv4Addr;
use std::time::Duration;

use serde::Deserialize;
use ureq::Agent;
use ureq::http::{Response, header};
use ureq::tls::TlsConfig;

use super::tls;

/// Longest answer that is kept of anything but a query.
const LIMIT: u64 = 16 << 20;

/// Time to get a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Time for one write: the database may have to sort what it was given before.
const WRITE: Duration = Duration::from_secs(120);

/// An organisation.
#[derive(Debug, Clone, Deserialize)]
struct Org {
    id: String,
    name: String,
}

#[derive(Debug, Deserialize)]
struct Orgs {
    #[serde(default)]
    orgs: Vec<Org>,
}

/// What an error says of itself: the body of every error of the API.
#[derive(Debug, Default, Deserialize)]
struct Said {
    #[serde(default)]
    message: String,
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    /// Not an address that is served.
    #[error("--db-endpoint {0:?}: give http://HOST:PORT or https://HOST:PORT")]
    Address(String),
    /// There is nobody to vouch for anybody.
    #[error(
        "no certificates to trust for https: {0}; install ca-certificates, or name a file of them \
         in SSL_CERT_FILE"
    )]
    Authorities(String),
    /// Nobody vouches for the one who answers.
    #[error(
        "cannot trust InfluxDB at {url}: {reason}; name the file of its authority in SSL_CERT_FILE"
    )]
    Untrusted {
        /// Whom was asked.
        url: String,
        /// What is wrong with the certificate.
        reason: String,
    },
    /// Nobody answers, or the connection broke.
    #[error(
        "cannot reach InfluxDB at {url}: {reason}; try executing \"systemctl start influxdb\", or \
         name another with --db-endpoint"
    )]
    Unreachable {
        /// Whom was asked.
        url: String,
        /// What happened.
        reason: String,
    },
    /// The token is not good.
    #[error(
        "influxdb token not setup correctly: {status} {message}; give one that may read and write \
         buckets in INFLUX_TOKEN, \"influx auth create --all-access\" makes one"
    )]
    Token {
        /// 401 or 403.
        status: u16,
        /// What was said.
        message: String,
    },
    /// The database cannot open more files: there are hundreds of buckets.
    #[error(
        "{message}; raise the limits of the database: nofile to 1048576 (systemctl edit influxdb, \
         LimitNOFILE=1048576), and with sysctl fs.file-max and vm.max_map_count; or delete \
         profiles with neuron-profile delete --db-endpoint URL PROFILE"
    )]
    Files {
        /// What was said.
        message: String,
    },
    /// The organisation is not there, or not told.
    #[error("{0}")]
    Org(String),
    /// Any other answer that is not what was asked for.
    #[error("{what}: {status} {message}")]
    Answer {
        /// What was asked.
        what: &'static str,
        /// HTTP status.
        status: u16,
        /// What was said.
        message: String,
        /// When to come again.
        retry_after: Option<Duration>,
    },
    /// An answer that is no answer.
    #[error("{what}: the answer is not that of InfluxDB 2.x: {reason}")]
    Strange {
        /// What was asked.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
}

/// A database with an organisation.
#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    endpoint: String,
    token: String,
    org: Org,
}

/// A part of a URL's query.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// What kind of address it is, and the rest of it.
fn parts(endpoint: &str) -> Option<(&'static str, &str)> {
    ["http://", "https://"].into_iter().find_map(|kind| Some((kind, endpoint.strip_prefix(kind)?)))
}

fn checked(endpoint: &str) -> Result<String, Trouble> {
    let plain = |rest: &str| !rest.is_empty() && !rest.contains(['?', '#', '@', ' ']);
    match parts(endpoint).map(|(kind, rest)| (kind, rest.trim_end_matches('/'))) {
        Some((kind, rest)) if plain(rest) => Ok(format!("{kind}{rest}")),
        // What stands before an @ may be a password.
        _ => Err(Trouble::Address(match endpoint.rsplit_once('@') {
            Some((_, host)) => format!("...@{host}"),
            None => endpoint.to_owned(),
        })),
    }
}

impl Client {
    /// Finds the organisation, which shows that the token is good.
    ///
    /// # Errors
    ///
    /// See [`Trouble`].
    pub(super) fn open(endpoint: &str, token: String, org: Option<&str>) -> Result<Self, Trouble> {
        let endpoint = checked(endpoint)?;
        // no proxy reaches what is on this machine
        let host = parts(&endpoint).map_or("", |(_, rest)| rest);
        let name = host.split([':', '/']).next().unwrap_or_default();
        let loopback = name.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback());
        let local = name == "localhost" || loopback || host.starts_with("[::1]");
        let tls =
            if endpoint.starts_with("https:") { tls::trusted()? } else { TlsConfig::default() };
        let config = Agent::config_builder()
            .tls_config(tls)
            .proxy(if local { None } else { ureq::Proxy::try_from_env() })
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(WRITE))
            .http_status_as_error(false)
            .max_redirects(0);
        let nobody = Org { id: String::new(), name: String::new() };
        let agent = config.build().new_agent();
        let mut client = Self { agent, endpoint, token, org: nobody };
        let path = match org {
            Some(name) => format!("/api/v2/orgs?org={}", encoded(name)),
            None => String::from("/api/v2/orgs"),
        };
        let missing = |org: &str| {
            Trouble::Org(format!(
                "organisation {org:?} is not in the database, name one with --db-org"
            ))
        };
        let found: Orgs = match (client.get("organisations", &path), org) {
            (Err(Trouble::Answer { status: 404, .. }), Some(name)) => return Err(missing(name)),
            (found, _) => found?,
        };
        client.org = match (found.orgs.as_slice(), org) {
            (all, Some(name)) => {
                all.iter().find(|org| org.name == name).cloned().ok_or_else(|| missing(name))?
            }
            ([only], None) => only.clone(),
            ([], None) => {
                let text = "the token sees no organisation; name one with --db-org";
                return Err(Trouble::Org(text.to_owned()));
            }
            (all, None) => {
                let names: Vec<&str> = all.iter().map(|org| org.name.as_str()).collect();
                let names = names.join(", ");
                let text = format!("there are the organisations {names}; name one with --db-org");
                return Err(Trouble::Org(text));
            }
        };
        Ok(client)
    }

    /// Its URL.
    pub(crate) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Id of the organisation.
    pub(super) fn org(&self) -> &str {
        &self.org.id
    }

    fn broken(&self, error: &ureq::Error) -> Trouble {
        let url = self.endpoint.clone();
        if let Some(reason) = tls::distrust(error) {
            return Trouble::Untrusted { url, reason };
        }
        let reason = match error {
            ureq::Error::Io(error) => {
                let text = error.to_string();
                text.split(" (os error ").next().unwrap_or_default().to_lowercase()
            }
            other => other.to_string(),
        };
        Trouble::Unreachable { url, reason }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.endpoint)
    }

    fn bearer(&self) -> String {
        format!("Token {}", self.token)
    }

    /// Asks for a document.
    pub(super) fn get<T: serde::de::DeserializeOwned>(
        &self,
        what: &'static str,
        path: &str,
    ) -> Result<T, Trouble> {
        let request = self.agent.get(self.url(path)).header(header::AUTHORIZATION, self.bearer());
        let answer = request.call().map_err(|error| self.broken(&error))?;
        json(what, accepted(what, answer)?)
    }

    /// Sends a document and takes one.
    pub(super) fn post<T: serde::de::DeserializeOwned>(
        &self,
        what: &'static str,
        path: &str,
        document: &serde_json::Value,
    ) -> Result<T, Trouble> {
        let request = self.agent.post(self.url(path));
        let request = request.header(header::AUTHORIZATION, self.bearer());
        let request = request.header(header::CONTENT_TYPE, "application/json");
        let answer = request.send(document.to_string()).map_err(|error| self.broken(&error))?;
        json(what, accepted(what, answer)?)
    }

    /// Takes something away.
    pub(super) fn remove(&self, what: &'static str, path: &str) -> Result<(), Trouble> {
        let request = self.agent.delete(self.url(path));
        let request = request.header(header::AUTHORIZATION, self.bearer());
        accepted(what, request.call().map_err(|error| self.broken(&error))?).map(drop)
    }

    /// Writes lines, packed with gzip, once.
    pub(super) fn write(&self, bucket: &str, lines: &[u8]) -> Result<(), Trouble> {
        let (org, bucket) = (encoded(&self.org.name), encoded(bucket));
        let path = format!("/api/v2/write?org={org}&bucket={bucket}&precision=ns");
        let request = self.agent.post(self.url(&path));
        let request = request
            .header(header::AUTHORIZATION, self.bearer())
            .header(header::CONTENT_TYPE, "text/plain; charset=utf-8")
            .header(header::CONTENT_ENCODING, "gzip");
        accepted("write", request.send(lines).map_err(|error| self.broken(&error))?).map(drop)
    }

    /// Asks a question in Flux; gives the tables as they come.
    pub(super) fn query(&self, flux: &str) -> Result<impl Read + 'static, Trouble> {
        let path = format!("/api/v2/query?org={}", encoded(&self.org.name));
        let document = serde_json::json!({
            "query": flux,
            "type": "flux",
            "dialect": {
                "header": true, "delimiter": ",", "annotations": ["datatype", "group", "default"],
            },
        });
        let request = self.agent.post(self.url(&path));
        let request = request
            // reading may take as long as it needs, but not starting to
            .config()
            .timeout_global(None)
            .timeout_recv_response(Some(WRITE))
            .build()
            .header(header::AUTHORIZATION, self.bearer())
            .header(header::ACCEPT, "application/csv")
            .header(header::CONTENT_TYPE, "application/json");
        let answer = request.send(document.to_string()).map_err(|error| self.broken(&error))?;
        Ok(accepted("query", answer)?.into_body().into_reader())
    }
}

/// The answer if it is a good one.
fn accepted(
    what: &'static str,
    mut answer: Response<ureq::Body>,
) -> Result<Response<ureq::Body>, Trouble> {
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let seconds = answer.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = seconds.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
    let mut bytes = Vec::new();
    // a status is an answer also when the rest of it is cut
    let _ = answer.body_mut().as_reader().take(LIMIT).read_to_end(&mut bytes);
    let said: Said = serde_json::from_slice(&bytes).unwrap_or_default();
    let text = match said.message {
        message if message.is_empty() => String::from_utf8_lossy(&bytes).into_owned(),
        message => message,
    };
    let text: String = text.trim().chars().take(500).collect();
    let message = match text {
        text if text.is_empty() => status.canonical_reason().unwrap_or("no reason").to_owned(),
        text => text,
    };
    Err(meaning(what, status.as_u16(), message, retry_after))
}

/// What an error of the API means.
fn meaning(
    what: &'static str,
    status: u16,
    message: String,
    retry_after: Option<Duration>,
) -> Trouble {
    match status {
        401 | 403 => Trouble::Token { status, message },
        500.. if message.contains("too many open files") => Trouble::Files { message },
        _ => Trouble::Answer { what, status, message, retry_after },
    }
}

fn json<T: serde::de::DeserializeOwned>(
    what: &'static str,
    answer: Response<ureq::Body>,
) -> Result<T, Trouble> {
    let strange = |reason: String| Trouble::Strange { what, reason };
    let mut bytes = Vec::new();
    let read = answer.into_body().into_reader().take(LIMIT).read_to_end(&mut bytes);
    read.map_err(|error| strange(error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| strange(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        assert_eq!(checked("http://localhost:8086/").unwrap(), "http://localhost:8086");
        assert_eq!(checked("http://h:1/influx").unwrap(), "http://h:1/influx");
        assert_eq!(checked("https://h:8086//").unwrap(), "https://h:8086");
        for bad in ["localhost:8086", "ftp://h:8086", "https://", "http://a b", "http://u@h"] {
            let told = checked(bad).unwrap_err().to_string();
            assert!(told.contains("give http://HOST:PORT or https://HOST:PORT"), "{told}");
        }
        let told = checked("http://bob:secret@h:1").unwrap_err().to_string();
        assert!(told.contains("...@h:1") && !told.contains("secret"), "{told}");
        assert_eq!(encoded("a b&c/é_-.~"), "a%20b%26c%2F%C3%A9_-.~");
    }

    #[test]
    fn errors_have_a_way_out() {
        let of = |status, text: &str| meaning("write", status, text.to_owned(), None).to_string();
        assert!(of(401, "unauthorized access").contains("INFLUX_TOKEN"));
        let files = of(500, "open /x/MANIFEST: too many open files");
        assert!(files.contains("1048576") && files.contains("vm.max_map_count"), "{files}");
        assert_eq!(of(500, "other"), "write: 500 other");
    }
}
