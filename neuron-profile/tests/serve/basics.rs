//! Links, pages, tiles, rows, names and documents, access.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use serde_json::{Value, json};

use super::server::{Server, stored, tool};
use super::support::path;

#[test]
fn links_and_pages_are_those_that_scripts_know() {
    let data = tempfile::tempdir().unwrap();
    let empty = Server::start(data.path(), &[]);
    let link = format!("View a list of profiles at http://localhost:{}/", empty.port);
    assert_eq!(empty.said, link);
    assert!(empty.get("/").text().contains("No profile is stored yet"));
    // Another process stores one while this one serves.
    let id = stored(data.path(), "attn-fused-bf16-512");
    assert_eq!(empty.json("/api/v1/profiles")["profiles"][0]["id"], id.as_str());
    assert!(empty.get("/").text().contains(&format!("<a href=\"/profile/{id}\">")));
    let page = empty.get(&format!("/profile/{id}"));
    assert!(page.text().contains("<td>hardware_flops</td>"), "{}", page.text());
    for gone in ["/profile/n_0000000000000000000000000000000000000000", "/x", "/api/v1/x"] {
        assert_eq!(empty.get(gone).status, 404, "{gone}");
    }
    assert_eq!(empty.ask("POST", "/api/v1/health", &[]).status, 405);

    let (neff, ntff) = (path("attn-fused-bf16-512.neff"), path("attn-fused-bf16-512.ntff"));
    let mut one = Server::start(data.path(), &["-n", &neff, "-s", &ntff]);
    assert_eq!(one.said, format!("View profile at http://localhost:{}/profile/{id}", one.port));
    let pid = rustix::process::Pid::from_child(&one.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert!(one.child.wait().unwrap().success());
    // The port of a server that runs is taken.
    let port = empty.port.to_string();
    let output = tool(data.path(), &["view", "--port", &port]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(told.contains("choose another --port: address already in use"), "{told}");
    assert_eq!(told.lines().count(), 1);
}

/// The arrays of a lane in a viewport: row, busy, column, count, name.
pub(crate) type Columns = Vec<(u64, u64, u32, u32, u32)>;

/// Start, width of a column, lanes.
pub(crate) fn decoded(bytes: &[u8]) -> (u64, u64, Vec<(u32, Columns)>) {
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!(&bytes[..4], b"NVT1");
    let mut at = 32;
    let mut lanes = Vec::new();
    for _ in 0..u32_at(4) {
        let (lane, count) = (u32_at(at), u32_at(at + 4) as usize);
        at += 8;
        let column = |n: usize| {
            let (wide, small) = (at + 8 * n, at + 16 * count + 4 * n);
            let parts = (u32_at(small), u32_at(small + 4 * count), u32_at(small + 8 * count));
            (u64_at(wide), u64_at(wide + 8 * count), parts.0, parts.1, parts.2)
        };
        lanes.push((lane, (0..count).map(column).collect()));
        at += 28 * count + 4 * (count % 2);
    }
    assert_eq!(at, bytes.len());
    (u64_at(16), u64_at(24), lanes)
}

#[test]
fn what_a_timeline_shows_is_what_the_tables_hold() {
    let data = tempfile::tempdir().unwrap();
    let id = stored(data.path(), "attn-fused-bf16-512");
    let server = Server::start(data.path(), &[]);
    let at = format!("/api/v1/profiles/{id}");
    let profile = server.json(&at);
    let total = profile["total_ns"].as_u64().unwrap();
    let lanes = profile["lanes"].as_array().unwrap();
    assert!(lanes.len() > 10 && !profile["simulated"].as_bool().unwrap());
    let mut rows = Vec::new();
    for table in ["Instruction", "DmaPacket"] {
        let mut next = json!(0);
        let mut all = Vec::new();
        while let Some(from) = next.as_u64() {
            let page = server.json(&format!("{at}/tables/{table}?from={from}&limit=500"));
            all.extend(page["rows"].as_array().unwrap().clone());
            next = page["next"].clone();
        }
        assert_eq!(all.len() as u64, profile["tables"][table]["rows"].as_u64().unwrap());
        rows.push((table, all));
    }
    for (from, to, width) in [(0, total, 300), (total / 3, total / 2, 1000), (5000, 9000, 50)] {
        let answer = server.get(&format!("{at}/viewport?from={from}&to={to}&width={width}"));
        let (start, column_ns, views) = decoded(&answer.body);
        assert!(start <= from && column_ns.is_power_of_two());
        assert_eq!(views.len(), lanes.len());
        for (number, columns) in views {
            let lane = &lanes[number as usize];
            let (_, table) = rows.iter().find(|(table, _)| *table == lane["table"]).unwrap();
            let first = lane["first_row"].as_u64().unwrap() as usize;
            let own = &table[first..first + lane["rows"].as_u64().unwrap() as usize];
            let own: Vec<(u64, u64, u64)> = own
                .iter()
                .map(|row| ["start_ts", "end_ts", "row"].map(|key| row[key].as_u64().unwrap()))
                .map(|[start, end, row]| (start, end, row))
                .collect();
            for (row, busy, column, count, _) in columns {
                let begin = start + u64::from(column) * column_ns;
                let end = begin + column_ns;
                let inside: Vec<_> =
                    own.iter().filter(|(start, ..)| (begin..end).contains(start)).collect();
                assert_eq!(count as usize, inside.len(), "{lane} {begin}");
                if let Some((.., first)) = inside.first() {
                    assert_eq!(*first, row);
                }
                // Nanoseconds with an event under way, one by one.
                let mut covered = vec![false; column_ns.min(4096) as usize];
                if column_ns <= 4096 {
                    for (from, to, _) in &own {
                        let (from, to) = (*from, *to);
                        for ns in from.max(begin)..to.min(end) {
                            covered[(ns - begin) as usize] = true;
                        }
                    }
                    assert_eq!(busy, covered.iter().filter(|c| **c).count() as u64);
                }
            }
        }
        let sums = server.json(&format!("{at}/selection?from={from}&to={to}"));
        for sum in sums["lanes"].as_array().unwrap() {
            let lane = &lanes[sum["lane"].as_u64().unwrap() as usize];
            let (_, table) = rows.iter().find(|(table, _)| *table == lane["table"]).unwrap();
            let first = lane["first_row"].as_u64().unwrap() as usize;
            let own = &table[first..first + lane["rows"].as_u64().unwrap() as usize];
            let begins = |row: &&Value| (from..to).contains(&row["start_ts"].as_u64().unwrap());
            assert_eq!(sum["count"], own.iter().filter(begins).count());
        }
    }
}

#[test]
fn events_have_their_fields_and_dependences() {
    let data = tempfile::tempdir().unwrap();
    let id = stored(data.path(), "attn-fused-bf16-512");
    let server = Server::start(data.path(), &[]);
    let at = format!("/api/v1/profiles/{id}");
    let found = server.json(&format!("{at}/search/Instruction?opcode=MATMUL&limit=3"));
    let rows = found["rows"].as_array().unwrap();
    assert!(rows.len() == 3 && rows.iter().all(|row| row["opcode"] == "MATMUL"));
    assert!(found["next"].is_u64());
    let row = rows[0]["row"].as_u64().unwrap();
    let event = server.json(&format!("{at}/events/Instruction/{row}"));
    assert_eq!(event["fields"]["pc"], rows[0]["pc"]);
    let unit = event["columns"].as_array().unwrap().iter().find(|c| c["name"] == "duration_ns");
    assert_eq!(unit.unwrap()["unit"], "ns");
    // A flow is seen from both of its ends.
    let flow = &server.json(&format!("{at}/tables/Flow?limit=1"))["rows"][0];
    let end = |column: &str, table: &str| {
        let (number, table) = (&flow[column], flow[table].as_str().unwrap());
        let found = server.json(&format!("{at}/search/{table}?id={number}"));
        let row = found["rows"][0]["row"].as_u64().unwrap();
        server.json(&format!("{at}/events/{table}/{row}"))
    };
    let (needed, needing) = (end("in_id", "in_table"), end("out_id", "out_table"));
    let ids = |list: &Value| -> Vec<i64> {
        list.as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect()
    };
    assert!(ids(&needed["successors"]).contains(&flow["out_id"].as_i64().unwrap()));
    assert!(ids(&needing["predecessors"]).contains(&flow["in_id"].as_i64().unwrap()));

    let range = server.json(&format!("{at}/search/Instruction?duration_ns=100..200&limit=5"));
    for row in range["rows"].as_array().unwrap() {
        assert!((100..=200).contains(&row["duration_ns"].as_i64().unwrap()));
    }
    let parts = server.json(&format!("{at}/search/Instruction?opcode~=SEMA&limit=5"));
    assert!(parts["rows"][0]["opcode"].as_str().unwrap().contains("SEMA"));
    for (bad, status) in [
        ("tables/Nothing", 404),
        ("tables/..%2Fmanifest", 404),
        ("events/Instruction/999999999", 404),
        ("events/Instruction/-1", 400),
        ("search/Instruction", 400),
        ("search/Instruction?nothing=1", 400),
        ("viewport?from=5&to=5", 400),
        ("viewport?from=0&to=5&width=0", 400),
        ("viewport?from=0&to=5&width=1000000", 400),
        ("viewport?from=0&to=5&lanes=99999", 400),
        ("viewport?from=0", 400),
        ("selection?from=x&to=5", 400),
    ] {
        let answer = server.get(&format!("{at}/{bad}"));
        assert_eq!(answer.status, status, "{bad}: {}", answer.text());
    }
}

#[test]
fn names_tags_and_documents_are_kept() {
    let data = tempfile::tempdir().unwrap();
    let id = stored(data.path(), "attn-fused-bf16-512");
    let server = Server::start(data.path(), &[]);
    let at = format!("/api/v1/profiles/{id}");
    let name = "<img src=x onerror=alert(1)>";
    let change = json!({ "display_name": name, "tags": ["b", "a", "b"] }).to_string();
    let changed = server.ask("PATCH", &at, change.as_bytes());
    assert_eq!((changed.status, changed.json()["tags"].clone()), (200, json!(["a", "b"])));
    let page = server.get("/").text();
    assert!(!page.contains("<img") && page.contains("&lt;img src=x onerror"), "{page}");
    for bad in ["{}x", "{\"display_name\": \"\"}", "{\"x\": 1}", "{\"tags\": [\"a\\nb\"]}"] {
        let status = server.ask("PATCH", &at, bad.as_bytes()).status;
        assert!((400..500).contains(&status), "{bad}: {status}");
    }
    let large = vec![b' '; 100 << 10];
    assert_eq!(server.ask("PATCH", &at, &large).status, 413);

    let marks = format!("/api/v1/documents/{id}/my%20marks");
    let text = json!([{ "at": 5, "name": name }]).to_string();
    assert_eq!(server.get(&marks).status, 404);
    assert_eq!(server.ask("PUT", &marks, text.as_bytes()).status, 204);
    assert_eq!(server.get(&marks).text(), text);
    assert_eq!(server.json(&format!("/api/v1/documents/{id}"))["names"], json!(["my marks"]));
    assert_eq!(server.ask("PUT", &marks, b"{").status, 400);
    assert_eq!(server.ask("PUT", "/api/v1/documents/..%2F..%2Fetc/x", b"{}").status, 404);
    // Stored anew, it keeps its marks; deleted, it does not.
    let (neff, ntff) = (path("attn-fused-bf16-512.neff"), path("attn-fused-bf16-512.ntff"));
    let again = ["view", "-n", &neff, "-s", &ntff, "--ingest-only", "--force"];
    assert!(tool(data.path(), &again).output().unwrap().status.success());
    assert_eq!(server.get(&marks).text(), text);
    assert_eq!(server.ask("DELETE", &at, &[]).status, 204);
    assert_eq!((server.get(&at).status, server.get(&marks).status), (404, 404));
}

#[test]
fn only_the_user_and_his_pages_may_read() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]);
    let with = |headers: &str| {
        let request =
            format!("GET /api/v1/profiles HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
        server.raw(&request, &[]).status
    };
    let port = server.port;
    assert_eq!(with(&format!("Host: localhost:{port}\r\n")), 200);
    assert_eq!(with("Host: 127.0.0.1:8080\r\n"), 200);
    assert_eq!(with("Host: evil.example\r\n"), 403);
    let origin = |origin: &str| with(&format!("Host: localhost:{port}\r\nOrigin: {origin}\r\n"));
    assert_eq!(origin(&format!("http://localhost:{port}")), 200);
    assert_eq!(origin("http://evil.example"), 403);
    let head = server.get("/").head.to_lowercase();
    assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
    assert!(!head.contains("access-control-allow-origin"));
    // Another user of this machine. Only root can become one.
    if rustix::process::geteuid().is_root() {
        let script = format!(
            "exec 3<>/dev/tcp/127.0.0.1/{port}; printf 'GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\
             Connection: close\\r\\n\\r\\n' >&3; cat <&3"
        );
        let other = Command::new("bash").args(["-c", &script]).uid(65534).output().unwrap();
        let text = String::from_utf8_lossy(&other.stdout).into_owned();
        assert!(text.starts_with("HTTP/1.1 403"), "{text}");
        assert!(text.contains("the user who started it"));
    }
}

#[test]
fn opened_to_others_it_asks_for_the_token() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &["--host", "0.0.0.0"]);
    let token = server.said.split("?token=").nth(1).unwrap().to_owned();
    assert_eq!(token.len(), 32);
    let with = |path: &str, headers: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nHost: some.host:3001\r\n");
        server.raw(&format!("{head}{headers}Connection: close\r\n\r\n"), &[])
    };
    let refused = with("/", "");
    assert_eq!(refused.status, 401);
    assert!(refused.text().contains("open the link that neuron-profile printed"));
    let let_in = with(&format!("/?token={token}"), "");
    assert_eq!(let_in.status, 200);
    let cookie = let_in.head.lines().find(|line| line.to_lowercase().starts_with("set-cookie"));
    let cookie = cookie.unwrap().split(": ").nth(1).unwrap().split(';').next().unwrap().to_owned();
    assert_eq!(with("/", &format!("Cookie: {cookie}\r\n")).status, 200);
    assert_eq!(with("/", "Authorization: Bearer 0\r\n").status, 401);
}
