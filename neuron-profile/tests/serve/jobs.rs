//! Uploads, jobs, and what a listener is told of them.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::{Server, stored, tool};
use super::support::{fixture, path};

/// How long anything may take here.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for something to be so.
fn wait<T>(what: &str, mut so: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = so() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "no {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn upload(server: &Server, file: &str) -> String {
    let bytes = std::fs::read(fixture(file)).unwrap();
    let answer = server.ask("POST", &format!("/api/v1/uploads?name={file}"), &bytes);
    assert_eq!(answer.status, 201, "{}", answer.text());
    let told = answer.json();
    assert_eq!((&told["name"], &told["bytes"]), (&json!(file), &json!(bytes.len())));
    told["upload"].as_str().unwrap().to_owned()
}

fn start(server: &Server, capture: &str, more: Value) -> Value {
    let (neff, ntff) =
        (upload(server, &format!("{capture}.neff")), upload(server, &format!("{capture}.ntff")));
    let mut wanted = json!({ "neff": neff, "ntff": ntff });
    wanted.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = server.ask("POST", "/api/v1/jobs", wanted.to_string().as_bytes());
    assert_eq!(answer.status, 202, "{}", answer.text());
    answer.json()
}

/// Waits for the end of a job.
fn over(server: &Server, job: &Value) -> Value {
    wait("end of the job", || {
        let now = server.json(&format!("/api/v1/jobs/{}", job["job"]));
        let state = now["state"].as_str().unwrap().to_owned();
        (!["queued", "running"].contains(&state.as_str())).then_some(now)
    })
}

fn files(dir: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut out = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(files(&path));
        } else if path.extension().is_none() {
            out.push(path.display().to_string());
        }
    }
    out
}

/// A listener: name and data of each event.
struct Listener(BufReader<TcpStream>);

impl Listener {
    fn new(server: &Server) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let host = format!("Host: localhost:{}", server.port);
        write!(stream, "GET /api/v1/events HTTP/1.1\r\n{host}\r\n\r\n").unwrap();
        let mut out = Self(BufReader::new(stream));
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            out.0.read_line(&mut head).unwrap();
        }
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(head.to_lowercase().contains("content-type: text/event-stream"), "{head}");
        out
    }

    fn next(&mut self) -> (String, Value) {
        let mut name = String::new();
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            if let Some(text) = line.strip_prefix("event: ") {
                name = text.trim().to_owned();
            } else if let Some(text) = line.strip_prefix("data: ") {
                return (name, serde_json::from_str(text).unwrap());
            }
        }
    }

    /// The next event for which `is` holds.
    fn until(&mut self, is: impl Fn(&str, &Value) -> bool) -> Value {
        loop {
            let (name, data) = self.next();
            if is(&name, &data) {
                return data;
            }
        }
    }
}

#[test]
fn uploads_become_profiles_and_listeners_know() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]);
    let mut listener = Listener::new(&server);
    assert_eq!(listener.next().0, "hello");
    let more = json!({ "display_name": "<b>mine</b>", "tags": ["x", "a"] });
    let job = start(&server, "attn-fused-bf16-512", more);
    assert_eq!((&job["display_name"], &job["error"]), (&json!("<b>mine</b>"), &Value::Null));
    let done = over(&server, &job);
    assert_eq!((&done["state"], &done["progress"]), (&json!("done"), &json!(1.0)), "{done}");
    let id = done["profile"].as_str().unwrap();
    // It is the profile that the command line makes of the same files.
    let other = tempfile::tempdir().unwrap();
    assert_eq!(id, stored(other.path(), "attn-fused-bf16-512"));
    let profile = server.json(&format!("/api/v1/profiles/{id}"));
    assert_eq!(
        (&profile["tags"], &profile["neff"]),
        (&json!(["a", "x"]), &json!("attn-fused-bf16-512.neff"))
    );
    assert_eq!(server.json("/api/v1/jobs")["jobs"][0], done);
    assert_eq!(files(&data.path().join("uploads")), Vec::<String>::new());

    let told = listener.until(|name, job| name == "job" && job["state"] == "done");
    assert_eq!(told["profile"], id);
    let told = listener.until(|name, _| name == "profiles");
    assert_eq!(told, json!({ "added": [id], "changed": [], "removed": [] }));
    let change = json!({ "display_name": "other" }).to_string();
    server.ask("PATCH", &format!("/api/v1/profiles/{id}"), change.as_bytes());
    let told = listener.until(|name, _| name == "profiles");
    assert_eq!(told["changed"], json!([id]));
    // Another process removes it.
    assert!(tool(data.path(), &["delete", id]).output().unwrap().status.success());
    let told = listener.until(|name, _| name == "profiles");
    assert_eq!(told["removed"], json!([id]));
    assert_eq!(server.ask("DELETE", &format!("/api/v1/jobs/{}", job["job"]), &[]).status, 204);
    assert_eq!(server.get(&format!("/api/v1/jobs/{}", job["job"])).status, 404);

    // A server that ends closes its streams and takes its uploads with it.
    upload(&server, "attn-fused-bf16-512.neff");
    let mut server = server;
    let begun = Instant::now();
    let pid = rustix::process::Pid::from_child(&server.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert!(server.child.wait().unwrap().success());
    assert!(begun.elapsed() < Duration::from_secs(2), "the stream held the server up");
    let mut rest = Vec::new();
    let _ = listener.0.read_to_end(&mut rest);
    assert_eq!(std::fs::read_dir(data.path().join("uploads")).unwrap().count(), 0);
}

#[test]
fn jobs_are_cancelled_and_fail_in_one_line() {
    let data = tempfile::tempdir().unwrap();
    let id = stored(data.path(), "attn-fused-bf16-512");
    let server = Server::start(data.path(), &[]);
    // Whoever holds the lock of a profile holds up its job.
    let lock = File::options().append(true).open(data.path().join("locks").join(&id)).unwrap();
    lock.lock().unwrap();
    let first = start(&server, "attn-fused-bf16-512", json!({ "force": true }));
    let at = |job: &Value| format!("/api/v1/jobs/{}", job["job"]);
    wait("running job", || (server.json(&at(&first))["state"] == "running").then_some(()));
    let second = start(&server, "attn-fused-fp32-512", json!({}));
    assert_eq!(server.json(&at(&second))["state"], "queued");
    let cancelled = server.ask("DELETE", &at(&second), &[]);
    assert_eq!((cancelled.status, &cancelled.json()["state"]), (202, &json!("cancelled")));
    assert_eq!(server.ask("DELETE", &at(&first), &[]).status, 202);
    lock.unlock().unwrap();
    assert_eq!(over(&server, &first)["state"], "cancelled");
    assert_eq!(over(&server, &second)["state"], "cancelled");
    // What was stored before is as it was; nothing is left of the rest.
    let list = server.json("/api/v1/profiles");
    assert_eq!(list["profiles"].as_array().unwrap().len(), 1);
    assert_eq!(std::fs::read_dir(data.path().join("profiles")).unwrap().count(), 1);
    assert_eq!(files(&data.path().join("uploads")), Vec::<String>::new());

    // The trace of another NEFF, and bytes that are none.
    let (neff, ntff) =
        (upload(&server, "attn-fused-fp32-512.neff"), upload(&server, "moe-dge.ntff"));
    let wanted = json!({ "neff": neff, "ntff": ntff }).to_string();
    let job = server.ask("POST", "/api/v1/jobs", wanted.as_bytes()).json();
    let other = over(&server, &job);
    let junk = server.ask("POST", "/api/v1/uploads?name=a.neff", &[7; 5000]).json();
    let trace = upload(&server, "attn-fused-fp32-512.ntff");
    let wanted = json!({ "neff": junk["upload"], "ntff": trace }).to_string();
    let job = server.ask("POST", "/api/v1/jobs", wanted.as_bytes()).json();
    for failed in [other, over(&server, &job)] {
        let error = failed["error"].as_str().unwrap_or_else(|| panic!("{failed}"));
        assert!(failed["state"] == "failed" && !error.contains('\n'), "{failed}");
        assert!(!error.contains("uploads"), "names for people: {error}");
    }
}

#[test]
fn uploads_that_are_refused() {
    let data = tempfile::tempdir().unwrap();
    let left = data.path().join("uploads/uleft");
    std::fs::create_dir_all(&left).unwrap();
    std::fs::write(left.join("part"), b"x").unwrap();
    std::fs::write(left.with_extension("lock"), b"").unwrap();
    let server = Server::start(data.path(), &["--upload-limit", "1"]);
    assert!(!left.exists(), "what a killed server left");
    let at = "/api/v1/uploads";
    assert_eq!(server.ask("POST", at, b"x").status, 400);
    assert_eq!(server.ask("POST", &format!("{at}?name="), b"x").status, 400);
    assert_eq!(server.ask("POST", &format!("{at}?name=a%0Ab"), b"x").status, 400);
    let large = vec![7; (1 << 20) + 1];
    let answer = server.ask("POST", &format!("{at}?name=a"), &large);
    assert_eq!(answer.status, 413);
    assert!(answer.text().contains("--upload-limit"), "{}", answer.text());
    assert_eq!(server.ask("POST", &format!("{at}?name=a"), &large[1..]).status, 201);
    // A client that dies on the way.
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let host = format!("Host: localhost:{}", server.port);
    write!(stream, "POST {at}?name=b HTTP/1.1\r\n{host}\r\nContent-Length: 999\r\n\r\nabc")
        .unwrap();
    stream.shutdown(Shutdown::Both).unwrap();
    drop(stream);
    wait("clean directory", || (files(&data.path().join("uploads")).len() == 1).then_some(()));
    // A page of another origin.
    let request = format!(
        "POST {at}?name=c HTTP/1.1\r\n{host}\r\nOrigin: http://evil.example\r\n\
         Connection: close\r\nContent-Length: 1\r\n\r\n"
    );
    assert_eq!(server.raw(&request, b"x").status, 403);

    assert_eq!(server.ask("DELETE", &format!("{at}/nothing"), &[]).status, 404);
    for (body, status) in [
        ("{}", 422),
        ("x", 400),
        (r#"{"neff": "a", "ntff": "b"}"#, 404),
        (r#"{"neff": "a", "ntff": "a"}"#, 400),
        (r#"{"neff": "a", "ntff": "b", "execution": 0}"#, 400),
        (r#"{"neff": "a", "ntff": "b", "tags": [""]}"#, 400),
        (r#"{"neff": "../../etc/passwd", "ntff": "b"}"#, 404),
        (r#"{"neff": "a", "ntff": "b", "more": 1}"#, 422),
    ] {
        let answer = server.ask("POST", "/api/v1/jobs", body.as_bytes());
        assert_eq!(answer.status, status, "{body}: {}", answer.text());
    }
    assert_eq!(server.get("/api/v1/jobs/7").status, 404);
    assert_eq!(server.get("/api/v1/jobs/x").status, 400);
    assert_eq!(server.ask("DELETE", "/api/v1/jobs/7", &[]).status, 404);
    assert_eq!(server.json("/api/v1/jobs")["jobs"], json!([]));
    let (neff, ntff) = (path("attn-tkg.neff"), path("attn-tkg.ntff"));
    assert!(Path::new(&neff).exists() && Path::new(&ntff).exists());
}
