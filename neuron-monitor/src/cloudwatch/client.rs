//! One signed request over HTTPS.
//!
//! The vendor's signer (aws-sigv4) and the HTTP client that the metadata
//! service is asked with. The whole SDK would do the same with three times the
//! crates and an asynchronous runtime; see REFERENCE.md for what was measured.

use std::io::Read as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials as Key;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use neuron_core::error::io_reason;
use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig};

use super::credentials::{Chain, Credentials};
use super::request::{Answer, KIND, TARGET, answer};

/// Time for one request.
const TIMEOUT: Duration = Duration::from_secs(15);

/// How much of an answer is read.
const LIMIT: u64 = 4096;

/// A client of the service in one region.
#[derive(Debug)]
pub(super) struct Client {
    agent: Agent,
    chain: Chain,
    region: String,
    /// With a slash at the end.
    url: String,
}

impl Client {
    /// `endpoint` is where the service is, when it is not where it is for
    /// everybody in that region; `region` may be told by environment and
    /// shared files.
    ///
    /// # Errors
    ///
    /// No region or one that cannot be; an endpoint that is no address;
    /// certificates that cannot be read.
    pub(super) fn new(region: Option<&str>, endpoint: Option<&str>) -> Result<Self, String> {
        let config = || {
            Agent::config_builder()
                .timeout_global(Some(TIMEOUT))
                .http_status_as_error(false)
                .max_redirects(0)
        };
        let mut tls = TlsConfig::builder();
        // The container's endpoint is behind no proxy.
        let chain = Chain::new(config().proxy(None).build().new_agent());
        let region = region.map(str::to_owned);
        let var = super::variable;
        let region = region
            .or_else(|| var("AWS_REGION"))
            .or_else(|| var("AWS_DEFAULT_REGION"))
            .or_else(|| chain.region());
        let region = region.ok_or("no region: give --region or set AWS_REGION")?;
        if !region.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
            return Err(format!("{region:?} is no region; one is us-west-2"));
        }
        let moved = endpoint.map(str::to_owned);
        let moved = moved.or_else(|| var("AWS_ENDPOINT_URL_CLOUDWATCH"));
        let url = match moved.or_else(|| var("AWS_ENDPOINT_URL")) {
            Some(url) => checked(url)?,
            None => {
                let suffix = if region.starts_with("cn-") { ".cn" } else { "" };
                format!("https://monitoring.{region}.amazonaws.com{suffix}/")
            }
        };
        if url.starts_with("https:") {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            tls = tls.unversioned_rustls_crypto_provider(provider).root_certs(roots()?);
        }
        let agent = config().tls_config(tls.build()).build().new_agent();
        Ok(Self { agent, chain, region, url })
    }

    /// Where requests go.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Sends a body and says what became of it.
    pub(super) fn put(&mut self, body: &str) -> Answer {
        let credentials = match self.chain.get() {
            Ok(credentials) => credentials,
            Err(reason) => return Answer::Again(reason),
        };
        let signed = match self.signed(body, credentials) {
            Ok(signed) => signed,
            Err(reason) => return Answer::Again(reason),
        };
        let mut request = self.agent.post(&self.url);
        for (name, value) in FIXED.into_iter().chain(signed.iter().map(|(n, v)| (&**n, &**v))) {
            request = request.header(name, value);
        }
        let mut said = Vec::new();
        let answer = match request.send(body) {
            Ok(mut response) => {
                let reader = response.body_mut().as_reader();
                // A status is an answer also when the rest of it is cut.
                let _ = reader.take(LIMIT).read_to_end(&mut said);
                answer(response.status().as_u16(), &said)
            }
            Err(ureq::Error::Io(error)) => Answer::Again(io_reason(&error)),
            Err(error) => Answer::Again(error.to_string()),
        };
        if matches!(answer, Answer::Denied(_)) {
            self.chain.forget();
        }
        answer
    }

    /// The headers that a signature adds.
    fn signed(
        &self,
        body: &str,
        Credentials { id, secret, token }: Credentials,
    ) -> Result<Vec<(String, String)>, String> {
        let failed = |error: &dyn std::fmt::Display| format!("cannot sign: {error}");
        let identity = Key::new(id, secret, token, None, "neuron-monitor").into();
        let parameters = SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name("monitoring")
            .time(SystemTime::now())
            .settings(SigningSettings::default())
            .build()
            .map_err(|error| failed(&error))?
            .into();
        let body = SignableBody::Bytes(body.as_bytes());
        let request = SignableRequest::new("POST", &self.url, FIXED.into_iter(), body)
            .map_err(|error| failed(&error))?;
        let (instructions, _) =
            sign(request, &parameters).map_err(|error| failed(&error))?.into_parts();
        Ok(instructions.headers().map(|(n, v)| (n.to_owned(), v.to_owned())).collect())
    }
}

/// Headers of every request.
const FIXED: [(&str, &str); 3] =
    [("content-type", KIND), ("x-amz-target", TARGET), ("x-amzn-query-mode", "true")];

/// An address with the path of its root.
fn checked(url: String) -> Result<String, String> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let rest = rest.map(|rest| rest.trim_end_matches('/'));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.contains(['/', '?', '#', '@', ' ']) => {
            Ok(format!("{}/", url.trim_end_matches('/')))
        }
        _ => Err(format!("{url:?} is no endpoint; one is http://localhost:4566")),
    }
}

/// The certificates that are trusted: those of `AWS_CA_BUNDLE`, else the
/// system's.
fn roots() -> Result<RootCerts, String> {
    let certificates: Vec<Certificate<'static>> = match super::variable("AWS_CA_BUNDLE") {
        Some(path) => {
            let bytes = std::fs::read(&path).map_err(|error| {
                format!("cannot read {path} (AWS_CA_BUNDLE): {}", io_reason(&error))
            })?;
            let items = ureq::tls::parse_pem(&bytes).filter_map(Result::ok);
            items
                .filter_map(|item| match item {
                    PemItem::Certificate(certificate) => Some(certificate),
                    _ => None,
                })
                .collect()
        }
        None => {
            let found = rustls_native_certs::load_native_certs().certs;
            found.iter().map(|der| Certificate::from_der(der).to_owned()).collect()
        }
    };
    if certificates.is_empty() {
        return Err(String::from(
            "no certificates to trust: install ca-certificates, or set AWS_CA_BUNDLE",
        ));
    }
    Ok(certificates.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints() {
        assert_eq!(checked(String::from("http://a:1")).unwrap(), "http://a:1/");
        assert_eq!(checked(String::from("https://a/")).unwrap(), "https://a/");
        for bad in ["a", "ftp://a", "http://", "http://a/b", "https://u@a", "http://a b"] {
            assert!(checked(bad.to_owned()).is_err(), "{bad}");
        }
    }

    #[test]
    fn regions() {
        let of = |region| Client::new(Some(region), Some("http://localhost:1")).map(|_| ());
        assert!(of("us-west-2").is_ok());
        assert!(of("us-west-2.evil").unwrap_err().contains("no region"));
    }
}
