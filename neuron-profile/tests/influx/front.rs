//! A small server with the documented answers of InfluxDB 2.x: organisations,
//! buckets, writes, the one form of question that is asked. Points are kept in
//! memory, or handed to a server that is there, whose own interface is older.
//! Answers to writes can be scripted.

use std::collections::{BTreeMap, VecDeque};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value as Json, json};

use crate::http::{self, Request};
use crate::lines::{self, Points};

pub(crate) const TOKEN: &str = "my-token==";
pub(crate) const ORG: &str = "my org";

/// What a write is answered with instead.
#[derive(Debug, Clone)]
pub(crate) enum Trouble {
    /// Status, `Retry-After`, code and message; nothing is written.
    Refused(u16, Option<u32>, &'static str, &'static str),
    /// Written, but the connection breaks before the answer.
    Dropped,
    /// The connection breaks while lines come.
    Cut,
}

/// Where points are kept.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keeper {
    Memory,
    /// InfluxDB 1.x at a port.
    Influx1(u16),
    /// VictoriaMetrics at a port.
    Victoria(u16),
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) buckets: BTreeMap<String, Json>,
    pub(crate) points: BTreeMap<String, Points>,
    pub(crate) troubles: VecDeque<Trouble>,
    /// Lines of each write that was taken.
    pub(crate) writes: Vec<usize>,
    pub(crate) orgs: Vec<String>,
    made: usize,
}

/// The server; it ends with the process.
#[derive(Debug, Clone)]
pub(crate) struct Front {
    pub(crate) port: u16,
    state: Arc<Mutex<State>>,
    keeper: Keeper,
}

impl Front {
    pub(crate) fn start(keeper: Keeper) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = State { orgs: vec![ORG.to_owned()], ..State::default() };
        let front = Self { port, state: Arc::new(Mutex::new(state)), keeper };
        let own = front.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let own = own.clone();
                std::thread::spawn(move || own.serve(&stream.unwrap()));
            }
        });
        front
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn serve(&self, stream: &TcpStream) {
        let Some(request) = http::read(stream) else { return };
        let plain = |status: u16, body: &Json| {
            http::answer(
                stream,
                status,
                &[("Content-Type", "application/json")],
                body.to_string().as_bytes(),
            );
        };
        let error = |status: u16, code: &str, message: &str| {
            plain(status, &json!({ "code": code, "message": message }));
        };
        if request.header("authorization") != Some(&format!("Token {TOKEN}")) {
            return error(401, "unauthorized", "unauthorized access");
        }
        match (request.method.as_str(), request.path()) {
            ("GET", "/api/v2/orgs") => {
                let all = self.state().orgs.clone();
                let wanted = request.query("org");
                let found: Vec<Json> = all
                    .iter()
                    .filter(|name| wanted.as_ref().is_none_or(|wanted| wanted == *name))
                    .map(|name| json!({ "id": format!("0{}", name.len()), "name": name }))
                    .collect();
                if let (true, Some(wanted)) = (found.is_empty(), &wanted) {
                    let text = format!("organization name \"{wanted}\" not found");
                    return error(404, "not found", &text);
                }
                plain(200, &json!({ "orgs": found }));
            }
            ("GET", "/api/v2/buckets") => {
                let name = request.query("name");
                let skip = request.query("offset").map_or(0, |text| text.parse().unwrap());
                let most = request.query("limit").map_or(20, |text| text.parse().unwrap());
                let state = self.state();
                let all = state.buckets.values();
                let found: Vec<&Json> = all
                    .filter(|bucket| name.as_ref().is_none_or(|name| bucket["name"] == **name))
                    .skip(skip)
                    .take(most)
                    .collect();
                plain(200, &json!({ "buckets": found }));
            }
            ("POST", "/api/v2/buckets") => {
                let mut bucket: Json = serde_json::from_str(&request.text()).unwrap();
                assert_eq!(bucket["orgID"], format!("0{}", ORG.len()));
                assert_eq!(bucket["retentionRules"], json!([]), "kept for ever");
                let name = bucket["name"].as_str().unwrap().to_owned();
                let mut state = self.state();
                if state.buckets.contains_key(&name) {
                    drop(state);
                    return error(422, "conflict", "bucket with that name already exists");
                }
                state.made += 1;
                bucket["id"] = json!(format!("b{}", state.made));
                state.buckets.insert(name.clone(), bucket.clone());
                state.points.insert(name.clone(), Points::new());
                drop(state);
                self.statement(&format!("CREATE DATABASE \"{name}\""));
                plain(201, &bucket);
            }
            ("DELETE", path) if path.starts_with("/api/v2/buckets/") => {
                let id = path.rsplit('/').next().unwrap();
                let mut state = self.state();
                let name = state.buckets.iter().find(|(_, bucket)| bucket["id"] == id);
                let Some(name) = name.map(|(name, _)| name.clone()) else {
                    drop(state);
                    return error(404, "not found", "bucket not found");
                };
                state.buckets.remove(&name);
                state.points.remove(&name);
                drop(state);
                self.statement(&format!("DROP DATABASE \"{name}\""));
                http::answer(stream, 204, &[], b"");
            }
            ("POST", "/api/v2/write") => self.write(stream, &request),
            ("POST", "/api/v2/query") => {
                assert_eq!(request.query("org").as_deref(), Some(ORG));
                let document: Json = serde_json::from_str(&request.text()).unwrap();
                assert_eq!(document["type"], "flux");
                assert_eq!(
                    document["dialect"]["annotations"],
                    json!(["datatype", "group", "default"])
                );
                let flux = document["query"].as_str().unwrap();
                assert!(
                    flux.contains("|> pivot(rowKey: [\"_time\"], columnKey: [\"_field\"]"),
                    "{flux}"
                );
                let after = |word: &str| {
                    let rest = flux.split_once(word)?.1;
                    Some(rest.split('"').next().unwrap().to_owned())
                };
                let bucket = after("from(bucket: \"").unwrap();
                let measurement = after("r._measurement == \"").unwrap();
                let part = after("r.part == \"");
                let csv = |points: &Points| lines::csv(points, &measurement, part.as_deref());
                let body = match self.keeper {
                    Keeper::Influx1(port) => {
                        let part = part.as_deref();
                        csv(&crate::influx1::points(port, &bucket, &measurement, part))
                    }
                    _ => match self.state().points.get(&bucket).map(csv) {
                        Some(body) => body,
                        None => {
                            let text = format!("could not find bucket \"{bucket}\"");
                            return error(404, "not found", &text);
                        }
                    },
                };
                http::answer(stream, 200, &[("Content-Type", "text/csv")], body.as_bytes());
            }
            (method, path) => panic!("{method} {path} is not asked for"),
        }
    }

    /// Tells InfluxDB 1.x.
    fn statement(&self, statement: &str) {
        if let Keeper::Influx1(port) = self.keeper {
            crate::influx1::statement(port, statement);
        }
    }

    fn write(&self, stream: &TcpStream, request: &Request) {
        assert_eq!(request.query("org").as_deref(), Some(ORG));
        assert_eq!(request.query("precision").as_deref(), Some("ns"));
        assert_eq!(request.header("content-encoding"), Some("gzip"));
        let bucket = request.query("bucket").unwrap();
        let text = request.text();
        let trouble = self.state().troubles.pop_front();
        if let Some(Trouble::Refused(status, after, code, message)) = &trouble {
            let body = json!({ "code": code, "message": message }).to_string();
            let after = after.map(|seconds| seconds.to_string());
            let headers: Vec<(&str, &str)> =
                after.iter().map(|seconds| ("Retry-After", seconds.as_str())).collect();
            return http::answer(stream, *status, &headers, body.as_bytes());
        }
        if let Some(Trouble::Cut) = trouble {
            return;
        }
        match self.keeper {
            Keeper::Memory => {}
            Keeper::Influx1(port) => {
                let target = format!("/write?db={bucket}&precision=ns");
                let (status, body) = http::ask(port, "POST", &target, text.as_bytes()).unwrap();
                assert_eq!(status, 204, "{body}");
            }
            Keeper::Victoria(port) => {
                // its own path of 2.x, the same bytes
                let target = format!("/api/v2/write?db={bucket}&precision=ns");
                let (status, body) = http::ask(port, "POST", &target, text.as_bytes()).unwrap();
                assert_eq!(status, 204, "{body}");
            }
        }
        let mut state = self.state();
        let points = state.points.get_mut(&bucket).expect("the bucket is there");
        let count = lines::read(&text, points);
        state.writes.push(count);
        drop(state);
        if trouble.is_none() {
            http::answer(stream, 204, &[], b"");
        }
    }
}
