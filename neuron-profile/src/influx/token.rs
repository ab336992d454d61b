//! The token, and what to do without one, in the words of the originals
//! (profiler.md §1.3).

use std::io::ErrorKind;
use std::process::{Command, Stdio};

use serde::Deserialize;

/// Why there is none.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum NoToken {
    /// The client of the database is not there to be asked.
    #[error(
        "influxdb not setup correctly: exec: \"influx\": executable file not found in $PATH; \
         to install influxdb, go to https://portal.influxdata.com/downloads/, or give a token in \
         INFLUX_TOKEN"
    )]
    NoClient,
    /// It cannot be run.
    #[error("influxdb not setup correctly: exec: \"influx\": {0}; or give a token in INFLUX_TOKEN")]
    Broken(String),
    /// It has none to give.
    #[error(
        "influxdb token not setup correctly: {0}; try executing \"systemctl start influxdb\" and \
         \"influx setup\", or give a token in INFLUX_TOKEN"
    )]
    None(String),
}

/// One line of `influx auth list --json`.
#[derive(Debug, Deserialize)]
struct Authorization {
    #[serde(default)]
    token: String,
    #[serde(default)]
    status: String,
}

/// The token of the environment, else the first active one that the database's
/// own client knows.
pub(super) fn find(variable: &dyn Fn(&str) -> Option<String>) -> Result<String, NoToken> {
    if let Some(token) = variable("INFLUX_TOKEN") {
        return Ok(token);
    }
    let mut command = Command::new("influx");
    command.args(["auth", "list", "--json"]).stdin(Stdio::null()).stderr(Stdio::null());
    let output = match command.output() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(NoToken::NoClient),
        Err(error) => return Err(NoToken::Broken(plain(&error))),
        Ok(output) => output,
    };
    if !output.status.success() {
        let end = match output.status.code() {
            Some(code) => format!("exit status {code}"),
            None => String::from("the influx client was killed"),
        };
        return Err(NoToken::None(end));
    }
    of_list(&output.stdout)
}

/// The token in what the client says.
fn of_list(json: &[u8]) -> Result<String, NoToken> {
    let list: Result<Vec<Authorization>, _> = serde_json::from_slice(json);
    let list = list.map_err(|_| NoToken::None("influx auth list gives no list".to_owned()))?;
    let active = |of: &Authorization| !of.token.is_empty() && of.status != "inactive";
    let found = list.into_iter().find(active);
    found.map(|of| of.token).ok_or_else(|| NoToken::None("there is no active token".to_owned()))
}

fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ").next().unwrap_or_default().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_active_one_is_taken() {
        let list = br#"[{"id":"1","token":"old","status":"inactive"},
            {"id":"2","token":"good==","status":"active","permissions":["read:/buckets"]}]"#;
        assert_eq!(of_list(list).as_deref(), Ok("good=="));
        for bad in [&b"[]"[..], b"[{\"id\":\"1\"}]", b"Error: no such host", b"{}"] {
            let told = of_list(bad).unwrap_err().to_string();
            assert!(told.starts_with("influxdb token not setup correctly: "), "{told}");
        }
        let given = |name: &str| (name == "INFLUX_TOKEN").then(|| String::from("mine"));
        assert_eq!(find(&given).as_deref(), Ok("mine"));
    }
}
