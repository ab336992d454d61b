//! Credentials, found as the AWS tools find them: environment, shared files,
//! the container's endpoint, the instance's role.
//!
//! Left out: what needs other services or programs (SSO, assumed roles, web
//! identities, `credential_process`). Those that come from an endpoint are
//! asked for again every few minutes, and when the service denies them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use neuron_core::instance::imds::Imds;
use serde_json::Value;
use ureq::Agent;

/// How long credentials are used before they are looked for again. They are
/// renewed minutes before they expire.
const FRESH: Duration = Duration::from_secs(240);

/// Where the container service answers for a relative address.
const CONTAINER: &str = "http://169.254.170.2";

/// Hosts to which a token may be sent without encryption: those of the
/// container services, beside loopback.
const CONTAINER_HOSTS: [&str; 5] =
    ["127.0.0.1", "localhost", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"];

/// Longest document of the container's endpoint.
const LIMIT: u64 = 65_536;

/// A key.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) id: String,
    pub(super) secret: String,
    pub(super) token: Option<String>,
}

/// Secrets are not for logs.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("id", &self.id).finish_non_exhaustive()
    }
}

/// What finding credentials depends on.
#[derive(Debug)]
pub(super) struct Chain {
    /// A variable of the environment that is set and not empty.
    variable: fn(&str) -> Option<String>,
    agent: Agent,
    known: Option<(Instant, Credentials)>,
}

impl Chain {
    /// Of this process.
    pub(super) fn new(agent: Agent) -> Self {
        Self { variable: super::variable, agent, known: None }
    }

    /// The credentials, looked for when they are not fresh.
    ///
    /// # Errors
    ///
    /// Where there are none, and why a place that should have them has not.
    pub(super) fn get(&mut self) -> Result<Credentials, String> {
        if let Some((since, known)) = &self.known
            && since.elapsed() < FRESH
        {
            return Ok(known.clone());
        }
        let found = self.find();
        if let Ok(found) = &found {
            self.known = Some((Instant::now(), found.clone()));
        }
        found
    }

    /// To be looked for again: the service does not accept them.
    pub(super) fn forget(&mut self) {
        self.known = None;
    }

    fn find(&self) -> Result<Credentials, String> {
        let var = |name| (self.variable)(name);
        if let (Some(id), Some(secret)) = (var("AWS_ACCESS_KEY_ID"), var("AWS_SECRET_ACCESS_KEY")) {
            return Ok(Credentials { id, secret, token: var("AWS_SESSION_TOKEN") });
        }
        if let Some(found) = self.of_files()? {
            return Ok(found);
        }
        if let Some(url) = self.container_url()? {
            return self.of_container(&url);
        }
        of_instance().ok_or_else(|| {
            String::from(
                "no AWS credentials: neither AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, nor \
                 ~/.aws/credentials, nor a container's or an instance's role has any",
            )
        })
    }

    /// The key of the profile in the shared files.
    fn of_files(&self) -> Result<Option<Credentials>, String> {
        let profile = (self.variable)("AWS_PROFILE");
        let name = profile.as_deref().unwrap_or("default");
        let mut settings = BTreeMap::new();
        for (path, prefix) in [(self.file("config"), "profile "), (self.file("credentials"), "")] {
            let Some(text) = path.and_then(|path| std::fs::read_to_string(path).ok()) else {
                continue;
            };
            settings.extend(section(&text, name, prefix));
        }
        let get = |key: &str| settings.get(key).filter(|value| !value.is_empty()).cloned();
        match (get("aws_access_key_id"), get("aws_secret_access_key"), profile) {
            (Some(id), Some(secret), _) => {
                Ok(Some(Credentials { id, secret, token: get("aws_session_token") }))
            }
            (_, _, Some(profile)) => Err(format!(
                "the profile {profile:?} (AWS_PROFILE) has no aws_access_key_id and \
                 aws_secret_access_key in ~/.aws/credentials"
            )),
            _ => Ok(None),
        }
    }

    /// A shared file, `config` or `credentials`.
    fn file(&self, name: &str) -> Option<PathBuf> {
        let moved = match name {
            "config" => "AWS_CONFIG_FILE",
            _ => "AWS_SHARED_CREDENTIALS_FILE",
        };
        let home = || Some(PathBuf::from((self.variable)("HOME")?).join(".aws").join(name));
        (self.variable)(moved).map(PathBuf::from).or_else(home)
    }

    /// The region of the profile in the shared files.
    pub(super) fn region(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.file("config")?).ok()?;
        let profile = (self.variable)("AWS_PROFILE");
        section(&text, profile.as_deref().unwrap_or("default"), "profile ").remove("region")
    }

    fn container_url(&self) -> Result<Option<String>, String> {
        if let Some(path) = (self.variable)("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            return Ok(Some(format!("{CONTAINER}{path}")));
        }
        let Some(url) = (self.variable)("AWS_CONTAINER_CREDENTIALS_FULL_URI") else {
            return Ok(None);
        };
        if url.starts_with("https://") || url.strip_prefix("http://").is_some_and(is_near) {
            return Ok(Some(url));
        }
        Err(format!(
            "AWS_CONTAINER_CREDENTIALS_FULL_URI is {url:?}: only https, loopback and the \
             addresses of the container services are asked for credentials"
        ))
    }

    fn of_container(&self, url: &str) -> Result<Credentials, String> {
        let mut token = (self.variable)("AWS_CONTAINER_AUTHORIZATION_TOKEN");
        if let Some(path) = (self.variable)("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
            let text = std::fs::read_to_string(&path)
                .map_err(|error| format!("cannot read {path}: {error}"))?;
            token = Some(text.trim().to_owned());
        }
        let mut request = self.agent.get(url);
        if let Some(token) = token {
            request = request.header("Authorization", token);
        }
        let failed = |reason: String| format!("no credentials from {url}: {reason}");
        let mut answer = request.call().map_err(|error| failed(error.to_string()))?;
        let status = answer.status().as_u16();
        let text = answer.body_mut().with_config().limit(LIMIT).read_to_string();
        let text = text.map_err(|error| failed(error.to_string()))?;
        let found = (status == 200).then(|| of_document(&text)).flatten();
        found.ok_or_else(|| failed(format!("status {status}")))
    }
}

/// Whether the rest of an address behind `http://` names a host of the machine
/// itself or of a container service.
fn is_near(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    CONTAINER_HOSTS.iter().any(|host| {
        let port = authority.strip_prefix(host).map(|rest| rest.strip_prefix(':').unwrap_or(rest));
        port.is_some_and(|port| {
            authority.len() == host.len() + port.len() + usize::from(!port.is_empty())
                && port.bytes().all(|b| b.is_ascii_digit())
        })
    })
}

/// The role of the instance.
fn of_instance() -> Option<Credentials> {
    let mut imds = Imds::from_env()?;
    let role = imds.get("iam/security-credentials/")?;
    of_document(&imds.document(&format!("iam/security-credentials/{role}"))?)
}

/// `{"AccessKeyId":…, "SecretAccessKey":…, "Token":…}`.
fn of_document(text: &str) -> Option<Credentials> {
    let document: Value = serde_json::from_str(text).ok()?;
    let field = |name: &str| document[name].as_str().filter(|text| !text.is_empty());
    Some(Credentials {
        id: field("AccessKeyId")?.to_owned(),
        secret: field("SecretAccessKey")?.to_owned(),
        token: field("Token").map(str::to_owned),
    })
}

/// The settings of a section of a shared file: `[name]`, or `[profile name]`
/// with the prefix.
fn section(text: &str, name: &str, prefix: &str) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        if let Some(title) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let title = title.0.trim();
            inside = title == name && (prefix.is_empty() || name == "default")
                || title.strip_prefix(prefix).is_some_and(|title| title.trim() == name);
        } else if inside
            && !line.starts_with(['#', ';'])
            && let Some((key, value)) = line.split_once('=')
        {
            settings.insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_shared_files() {
        let text = "[default]\n aws_access_key_id = A\n# x = 1\n\n[ other ]\nAWS_Access_Key_Id=B\n\
                    aws_secret_access_key = a=b\n[profile far]\nregion = eu-north-1\nno setting\n";
        assert_eq!(section(text, "default", "")["aws_access_key_id"], "A");
        assert_eq!(section(text, "default", "profile ")["aws_access_key_id"], "A");
        assert_eq!(section(text, "other", "")["aws_secret_access_key"], "a=b");
        assert_eq!(section(text, "other", "")["aws_access_key_id"], "B");
        assert_eq!(section(text, "far", "profile ")["region"], "eu-north-1");
        assert!(section(text, "far", "").is_empty());
        assert!(section(text, "other", "profile ").is_empty());
    }

    #[test]
    fn a_token_is_sent_to_near_hosts_only() {
        for near in ["localhost/x", "127.0.0.1:80", "169.254.170.23/v1", "[fd00:ec2::23]:1/a"] {
            assert!(is_near(near), "{near}");
        }
        for far in
            ["localhost.example/x", "127.0.0.1@example", "example", "", "127.0.0.1:", "127.0.0.12"]
        {
            assert!(!is_near(far), "{far}");
        }
    }

    #[test]
    fn documents() {
        let text = "{\n \"Code\": \"Success\",\n \"AccessKeyId\": \"A\", \"SecretAccessKey\": \"s\",\
                    \n \"Token\": \"t\"}";
        let found = of_document(text).unwrap();
        assert_eq!((found.id.as_str(), found.secret.as_str()), ("A", "s"));
        assert_eq!(found.token.as_deref(), Some("t"));
        assert!(!format!("{found:?}").contains("\"s\""), "{found:?}");
        assert_eq!(of_document("{}"), None);
        assert_eq!(of_document("<html>"), None);
    }
}
