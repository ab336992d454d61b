//! InfluxDB 1.x of Debian: a real engine under the line protocol. It has no
//! interface of 2.x; questions go to it in its own language.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::http;
use crate::lines::{Points, Value};

/// A process that ends with the test.
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a program and waits until it answers a path.
pub(crate) fn start(mut command: Command, port: u16, path: &str) -> Server {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let server = Server { child: quiet.spawn().unwrap(), port };
    let end = Instant::now() + Duration::from_secs(120);
    while http::ask(port, "GET", path, b"").is_none_or(|(status, _)| status >= 300) {
        assert!(Instant::now() < end, "{command:?} does not answer");
        std::thread::sleep(Duration::from_millis(100));
    }
    server
}

pub(crate) fn server(dir: &Path) -> Server {
    let (port, backup) = (http::free_port(), http::free_port());
    let place = |name: &str| dir.join(name).display().to_string();
    let config = format!(
        "reporting-disabled = true\nbind-address = \"127.0.0.1:{backup}\"\n\
         [meta]\ndir = {:?}\n[data]\ndir = {:?}\nwal-dir = {:?}\nindex-version = \"inmem\"\n\
         [http]\nbind-address = \"127.0.0.1:{port}\"\nlog-enabled = false\n\
         [monitor]\nstore-enabled = false\n",
        place("meta"),
        place("data"),
        place("wal"),
    );
    let path = dir.join("influxdb.conf");
    std::fs::write(&path, config).unwrap();
    let mut command = Command::new("influxd");
    command.arg("-config").arg(&path);
    start(command, port, "/ping")
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Runs a statement; gives its series.
pub(crate) fn statement(port: u16, statement: &str) -> Vec<Json> {
    let body = format!("epoch=ns&q={}", encoded(statement));
    let (status, body) = http::ask(port, "POST", "/query", body.as_bytes()).unwrap();
    let answer: Json = serde_json::from_str(&body).unwrap();
    let result = &answer["results"][0];
    assert!(status == 200 && result.get("error").is_none(), "{statement}: {body}");
    result["series"].as_array().cloned().unwrap_or_default()
}

/// The points of a measurement, and of a part.
pub(crate) fn points(port: u16, bucket: &str, measurement: &str, part: Option<&str>) -> Points {
    let place = format!("\"{bucket}\"..\"{measurement}\"");
    let mut kinds = BTreeMap::new();
    for series in
        statement(port, &format!("SHOW FIELD KEYS ON \"{bucket}\" FROM \"{measurement}\""))
    {
        for pair in series["values"].as_array().unwrap() {
            kinds
                .insert(pair[0].as_str().unwrap().to_owned(), pair[1].as_str().unwrap().to_owned());
        }
    }
    let of = part.map_or_else(String::new, |part| format!(" WHERE \"part\" = '{part}'"));
    let mut all = Points::new();
    for series in statement(port, &format!("SELECT * FROM {place}{of} GROUP BY *")) {
        let tags: BTreeMap<String, String> = series["tags"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.clone(), value.as_str().unwrap().to_owned()))
            .filter(|(_, value)| !value.is_empty())
            .collect();
        let columns = series["columns"].as_array().unwrap();
        for row in series["values"].as_array().unwrap() {
            let mut fields = BTreeMap::new();
            let mut time = 0;
            for (column, cell) in columns.iter().zip(row.as_array().unwrap()) {
                let column = column.as_str().unwrap();
                if column == "time" {
                    time = cell.as_i64().unwrap();
                } else if !cell.is_null() {
                    let value = match kinds[column].as_str() {
                        "integer" => Value::Long(cell.as_i64().unwrap()),
                        "float" => Value::Real(cell.as_f64().unwrap()),
                        "boolean" => Value::Flag(cell.as_bool().unwrap()),
                        _ => Value::Text(cell.as_str().unwrap().to_owned()),
                    };
                    fields.insert(column.to_owned(), value);
                }
            }
            all.insert((measurement.to_owned(), tags.clone(), time), fields);
        }
    }
    all
}
