//! Events of lanes one by one, against the rows of their tables.

use serde_json::Value;

use super::server::{Server, stored};
use super::wire::{self, Span};

/// Rows of a lane as the tables tell them.
fn rows(server: &Server, at: &str, lane: &Value) -> Vec<Value> {
    let (table, first) = (lane["table"].as_str().unwrap(), lane["first_row"].as_u64().unwrap());
    let (mut from, end) = (first, first + lane["rows"].as_u64().unwrap());
    let mut out = Vec::new();
    while from < end {
        let limit = (end - from).min(10_000);
        let path = format!("{at}/tables/{table}?from={from}&limit={limit}");
        let answer = server.get(&path).json();
        let part = answer["rows"].as_array().unwrap();
        assert!(!part.is_empty(), "{path}");
        from += part.len() as u64;
        out.extend(part.iter().cloned());
    }
    out
}

#[test]
fn spans_are_the_rows_of_the_tables() {
    let dir = tempfile::tempdir().unwrap();
    let id = stored(dir.path(), "attn-tkg");
    let server = Server::start(dir.path(), &[]);
    let at = format!("/api/v1/profiles/{id}");
    let profile = server.get(&at).json();
    let total = profile["total_ns"].as_u64().unwrap();
    let lanes = profile["lanes"].as_array().unwrap();
    let rows: Vec<Vec<Value>> = lanes.iter().map(|lane| rows(&server, &at, lane)).collect();
    let ranges = [(0, total), (total / 3, total / 3 + 9_000), (total / 2, total / 2 + 1)];
    let mut seen = 0;
    for ((from, to), limit) in ranges.into_iter().flat_map(|range| [(range, 64), (range, 16_384)]) {
        let path = format!("{at}/spans?from={from}&to={to}&limit={limit}");
        let answer = server.get(&path);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let mut told = wire::spans(&answer.body).into_iter().peekable();
        for (number, rows) in rows.iter().enumerate() {
            let long = |row: &Value, column: &str| row[column].as_u64().unwrap();
            let wanted: Vec<Span> = rows
                .iter()
                .map(|row| (long(row, "row"), long(row, "start_ts"), long(row, "end_ts")))
                .filter(|(_, start, end)| *start < to && (*end > from || *start >= from))
                .collect();
            if wanted.len() > limit {
                // Left out: the next that is told is another lane.
                assert_ne!(told.peek().map(|lane| lane.0 as usize), Some(number), "{path}");
                continue;
            }
            let (lane, spans, kinds) = told.next().unwrap();
            assert_eq!((lane as usize, &spans), (number, &wanted), "{path}");
            // The kind has the name that the row has.
            let kinds = kinds.iter().map(|kind| profile["names"][*kind as usize].as_str().unwrap());
            for (kind, span) in kinds.zip(&spans).take(20) {
                let row = &rows[(span.0 - long(&rows[0], "row")) as usize];
                let column =
                    if lanes[number]["kind"] == "engine" { "opcode" } else { "queue_name" };
                assert_eq!(Some(kind), row[column].as_str(), "{path}");
            }
            seen += spans.len();
        }
        assert_eq!(told.next(), None, "{path}");
    }
    assert!(seen > 15_000, "{seen}");

    // Behind the columns of a viewport, of lanes in which something happens.
    let mut seen = 0;
    for ((from, to), limit) in ranges.into_iter().flat_map(|range| [(range, 64), (range, 16_384)]) {
        let range = format!("from={from}&to={to}");
        let both = server.get(&format!("{at}/viewport?{range}&width=5&events={limit}"));
        assert_eq!(both.status, 200, "{}", both.text());
        let (lanes, behind) = wire::viewport(&both.body);
        let alone = server.get(&format!("{at}/spans?{range}&limit={limit}"));
        let mut alone = wire::spans(&alone.body);
        alone.retain(|(lane, ..)| lanes.contains(lane));
        assert_eq!(behind, alone, "{range} {limit}");
        seen += behind.iter().map(|(_, spans, _)| spans.len()).sum::<usize>();
    }
    assert!(seen > 15_000, "{seen}");

    let one = server.get(&format!("{at}/spans?from=0&to={total}&lanes=3,1,3&limit=16384"));
    let told: Vec<u32> = wire::spans(&one.body).iter().map(|lane| lane.0).collect();
    assert_eq!(told, [1, 3]);
    // Behind the end there is nothing.
    let none = server.get(&format!("{at}/spans?from={}&to={}", total + 5, total + 9));
    assert!(wire::spans(&none.body).iter().all(|(_, spans, _)| spans.is_empty()));
    for (bad, status) in [
        ("spans?from=5&to=5", 400),
        ("spans?from=0&to=5&limit=0", 400),
        ("spans?from=0&to=5&limit=16385", 400),
        ("spans?from=0&to=5&lanes=99999", 400),
        ("spans?from=0&to=5&lanes=x", 400),
        ("spans?from=0&to=5&width=3", 400),
        ("spans?to=5", 400),
        ("viewport?from=0&to=5&events=0", 400),
        ("viewport?from=0&to=5&events=16385", 400),
        ("selection?from=0&to=5&events=5", 400),
    ] {
        assert_eq!(server.get(&format!("{at}/{bad}")).status, status, "{bad}");
    }
    let missing = format!("/api/v1/profiles/n_{}/spans?from=0&to=5", "0".repeat(40));
    assert_eq!(server.get(&missing).status, 404);
}
