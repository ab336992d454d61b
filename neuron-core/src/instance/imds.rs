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
        if self.token.is_none() {
            self.token = Some(self.fetch_token().or_else(|| self.fetch_token())?);
        }
        let url = format!("{}/latest/meta-data/{path}", self.endpoint);
        let token = self.token.as_deref()?;
        let answer = self.agent.get(&url).header("X-aws-ec2-metadata-token", token).call().ok()?;
        text(answer)
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
    let plain = !body.is_empty() && body.chars().all(|c| c.is_ascii_graphic());
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
