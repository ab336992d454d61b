//! The EC2 instance metadata service, version 2 (driver.md §8.1).
//!
//! In a container the default hop limit makes the token request time out, so
//! the time is short, there is one retry, and every failure is just "not
//! known". `AWS_EC2_METADATA_DISABLED=true` switches it off and
//! `AWS_EC2_METADATA_SERVICE_ENDPOINT` moves it, as for the AWS SDKs.

use std::time::Duration;

use ureq::Agent;

/// Where the service answers on every instance.
const ENDPOINT: &str = "http://169.254.169.254";

/// Time for one request.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Longest answer that is read.
const LIMIT: u64 = 4096;

/// Longest document that is read.
const LONG: u64 = 65_536;

/// What the service says of this instance (driver.md §8.1).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Details {
    /// The Name tag, where tags are let into the metadata.
    pub instance_name: Option<String>,
    /// Instance id.
    pub instance_id: Option<String>,
    /// Instance type.
    pub instance_type: Option<String>,
    /// Availability zone.
    pub availability_zone: Option<String>,
    /// Id of the availability zone.
    pub availability_zone_id: Option<String>,
    /// Region.
    pub region: Option<String>,
    /// Machine image.
    pub ami_id: Option<String>,
    /// Subnet of the first network interface.
    pub subnet_id: Option<String>,
}

/// Asks for everything. Takes seconds where nobody answers.
///
/// # Errors
///
/// Why nothing is known, one line: the service is switched off, this machine
/// is not EC2's, or nobody answers.
pub fn details() -> Result<Details, String> {
    let files = crate::driver::HostFiles::open(std::path::Path::new("/"));
    if files.is_ok_and(|files| super::identity_of(&files).on_ec2 == Some(false)) {
        return Err(String::from("this machine is not an EC2 instance"));
    }
    let off = || String::from("instance metadata is switched off (AWS_EC2_METADATA_DISABLED)");
    Imds::from_env().ok_or_else(off)?.details()
}

/// A session with the service.
#[derive(Debug)]
pub struct Imds {
    agent: Agent,
    endpoint: String,
    token: Option<String>,
}

impl Imds {
    /// As the environment says; `None` when it is switched off.
    pub fn from_env() -> Option<Self> {
        let off = std::env::var("AWS_EC2_METADATA_DISABLED").unwrap_or_default();
        if off.eq_ignore_ascii_case("true") {
            return None;
        }
        let endpoint = std::env::var("AWS_EC2_METADATA_SERVICE_ENDPOINT");
        let endpoint = endpoint.ok().filter(|e| !e.is_empty());
        Some(Self::at(endpoint.as_deref().unwrap_or(ENDPOINT)))
    }

    /// The service at an address.
    pub fn at(endpoint: &str) -> Self {
        // The address is link-local: a proxy could not reach it.
        let config =
            Agent::config_builder().timeout_global(Some(TIMEOUT)).proxy(None).max_redirects(0);
        Self {
            agent: config.build().new_agent(),
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            token: None,
        }
    }

    /// The value of a path below `meta-data`; `None` for any failure.
    pub fn get(&mut self, path: &str) -> Option<String> {
        text(self.answer(path)?)
    }

    /// A document below `meta-data`, many lines long; `None` for any failure.
    pub fn document(&mut self, path: &str) -> Option<String> {
        let mut answer = self.answer(path)?;
        answer.body_mut().with_config().limit(LONG).read_to_string().ok()
    }

    fn answer(&mut self, path: &str) -> Option<ureq::http::Response<ureq::Body>> {
        if self.token.is_none() {
            self.token = Some(self.fetch_token().or_else(|| self.fetch_token())?);
        }
        let url = format!("{}/latest/meta-data/{path}", self.endpoint);
        let token = self.token.as_deref()?;
        self.agent.get(&url).header("X-aws-ec2-metadata-token", token).call().ok()
    }

    /// Asks for everything.
    ///
    /// # Errors
    ///
    /// When not even the instance id is told.
    pub fn details(&mut self) -> Result<Details, String> {
        let Some(instance_id) = self.get("instance-id") else {
            return Err(format!(
                "no answer from the instance metadata service at {}; in a container raise its hop \
                 limit or use the host's network",
                self.endpoint
            ));
        };
        let mac = self.get("mac");
        let subnet = mac.map(|mac| format!("network/interfaces/macs/{mac}/subnet-id"));
        Ok(Details {
            instance_name: self.get("tags/instance/Name"),
            instance_id: Some(instance_id),
            instance_type: self.get("instance-type"),
            availability_zone: self.get("placement/availability-zone"),
            availability_zone_id: self.get("placement/availability-zone-id"),
            region: self.get("placement/region"),
            ami_id: self.get("ami-id"),
            subnet_id: subnet.and_then(|path| self.get(&path)),
        })
    }

    fn fetch_token(&self) -> Option<String> {
        let url = format!("{}/latest/api/token", self.endpoint);
        let request = self.agent.put(&url).header("X-aws-ec2-metadata-token-ttl-seconds", "60");
        text(request.send_empty().ok()?)
    }
}

/// The body as one line of printable text: it goes to terminals and scripts.
fn text(mut answer: ureq::http::Response<ureq::Body>) -> Option<String> {
    let body = answer.body_mut().with_config().limit(LIMIT).read_to_string().ok()?;
    let body = body.trim();
    let plain = !body.is_empty() && body.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    plain.then(|| body.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    /// A service that checks what it is asked and answers from `answers`.
    fn serve(answers: Vec<(&'static str, &'static str)>) -> (String, std::thread::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            for (request, answer) in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                assert_eq!(lines.next().unwrap().unwrap(), format!("{request} HTTP/1.1"));
                let head: Vec<String> = lines
                    .map_while(|line| line.ok().filter(|line| !line.is_empty()))
                    .map(|line| line.to_ascii_lowercase())
                    .collect();
                let wanted = if request.starts_with("PUT") {
                    "x-aws-ec2-metadata-token-ttl-seconds: 60"
                } else {
                    "x-aws-ec2-metadata-token: secret"
                };
                assert!(head.iter().any(|line| line == wanted), "{head:?}");
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        (address, server)
    }

    const TOKEN: (&str, &str) = (
        "PUT /latest/api/token",
        "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecret",
    );

    #[test]
    fn a_token_is_fetched_first_and_used() {
        let (address, server) = serve(vec![
            TOKEN,
            (
                "GET /latest/meta-data/instance-type",
                "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nConnection: close\r\n\r\ntrn1.2xlarge",
            ),
        ]);
        assert_eq!(Imds::at(&address).get("instance-type").as_deref(), Some("trn1.2xlarge"));
        server.join().unwrap();
    }

    #[test]
    fn everything_is_asked_for() {
        let ok = |text: &str| -> &'static str {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", text.len());
            format!("{head}Connection: close\r\n\r\n{text}").leak()
        };
        let none = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let (address, server) = serve(vec![
            TOKEN,
            ("GET /latest/meta-data/instance-id", ok("i-0123456789abcdef0")),
            ("GET /latest/meta-data/mac", ok("02:aa:bb:cc:dd:ee")),
            ("GET /latest/meta-data/tags/instance/Name", ok("my trainer")),
            ("GET /latest/meta-data/instance-type", ok("trn1.2xlarge")),
            ("GET /latest/meta-data/placement/availability-zone", ok("us-west-2b")),
            ("GET /latest/meta-data/placement/availability-zone-id", none),
            ("GET /latest/meta-data/placement/region", ok("us-west-2")),
            ("GET /latest/meta-data/ami-id", ok("ami-1")),
            (
                "GET /latest/meta-data/network/interfaces/macs/02:aa:bb:cc:dd:ee/subnet-id",
                ok("subnet-1"),
            ),
        ]);
        let details = Imds::at(&address).details().unwrap();
        server.join().unwrap();
        assert_eq!(details.instance_name.as_deref(), Some("my trainer"));
        assert_eq!(details.subnet_id.as_deref(), Some("subnet-1"));
        assert_eq!(details.region.as_deref(), Some("us-west-2"));
        assert_eq!(details.availability_zone_id, None);
        assert!(Imds::at("http://127.0.0.1:1").details().unwrap_err().contains("hop limit"));
    }

    #[test]
    fn refusals_and_strange_answers_are_not_known() {
        for answer in [
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\na\n\x1b[",
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
            "garbage\r\n\r\n",
        ] {
            let (address, server) =
                serve(vec![TOKEN, ("GET /latest/meta-data/instance-id", answer)]);
            assert_eq!(Imds::at(&address).get("instance-id"), None, "{answer:?}");
            server.join().unwrap();
        }
        assert_eq!(Imds::at("http://127.0.0.1:1").get("instance-id"), None);
    }
}
