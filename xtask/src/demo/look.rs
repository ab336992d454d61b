//! What of the tools' output is shown.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::children::{Child, Interrupt};

/// How long a page may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The first characters of a line, and how many more there are.
pub(super) fn beginning(line: &str, most: usize) -> String {
    let count = line.chars().count();
    if count <= most {
        return line.to_owned();
    }
    let start: String = line.chars().take(most).collect();
    format!("{start}... ({} characters more)", count - most)
}

/// The number that ends a line.
pub(super) fn last_number(line: &str) -> Result<u16> {
    let word = line.trim().rsplit([' ', ':']).next().unwrap_or_default();
    word.parse().with_context(|| format!("no port in {line:?}"))
}

/// Samples whose line starts so.
pub(super) fn samples<'p>(page: &'p str, start: &'p str) -> impl Iterator<Item = &'p str> {
    page.lines().filter(move |line| line.starts_with(start))
}

/// Metrics that a first look is for.
pub(super) fn matters(line: &str) -> bool {
    let names = [
        "total_time",
        "total_active_time",
        "mfu_estimated_percent",
        "mbu_estimated_percent",
        "hbm_read_bytes",
        "model_flops",
        "tensor_engine_active_time_percent",
        "vector_engine_active_time_percent",
        "scalar_engine_active_time_percent",
        "dma_active_time_percent",
    ];
    line.split([' ', '\t', ':', '=']).next().is_some_and(|name| names.contains(&name))
}

/// The first link that a server prints.
pub(super) fn link(server: &mut Child) -> Result<String> {
    for _ in 0..20 {
        let line = server.line()?;
        if let Some(link) = line.split_whitespace().find(|word| word.starts_with("http://")) {
            return Ok(link.to_owned());
        }
    }
    bail!("the server names no link")
}

/// Port and path of a link.
pub(super) fn parts(link: &str) -> Result<(u16, &str)> {
    let rest = link.strip_prefix("http://").context("not http")?;
    let slash = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(slash);
    Ok((last_number(host)?, if path.is_empty() { "/" } else { path }))
}

/// A page that holds `wanted`, asked for until it does.
pub(super) fn page(port: u16, path: &str, interrupt: &Interrupt, wanted: &str) -> Result<String> {
    let until = std::time::Instant::now() + PATIENCE;
    loop {
        let answer = get(port, path).unwrap_or_default();
        if let Some((head, body)) = answer.split_once("\r\n\r\n")
            && head.starts_with("HTTP/1.1 200")
            && body.contains(wanted)
        {
            return Ok(body.to_owned());
        }
        if std::time::Instant::now() > until {
            bail!("no page with {wanted:?} at {path} of port {port}: {answer:.200}");
        }
        interrupt.wait(Duration::from_millis(100))?;
    }
}

fn get(port: u16, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_and_counted() {
        assert_eq!(beginning("short", 5), "short");
        assert_eq!(beginning("longer", 4), "long... (2 characters more)");
    }

    #[test]
    fn links_have_a_port_and_a_path() {
        assert_eq!(last_number("Running HTTP prometheus server at port 8000\n").unwrap(), 8000);
        assert_eq!(parts("http://localhost:3001/profile/n_1").unwrap(), (3001, "/profile/n_1"));
        assert_eq!(parts("http://localhost:3001").unwrap(), (3001, "/"));
        assert!(parts("http://localhost/").is_err());
    }
}
