//! The line protocol as its documentation says, read independently of what
//! writes it; and tables of answers as annotated CSV.

use std::collections::BTreeMap;

/// A value of a field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Long(i64),
    Real(f64),
    Flag(bool),
    Text(String),
}

/// Measurement, tags and time.
pub(crate) type Key = (String, BTreeMap<String, String>, i64);

/// Points by key.
pub(crate) type Points = BTreeMap<Key, BTreeMap<String, Value>>;

/// Text up to one of `ends`, without the escapes before commas, blanks and
/// equals signs.
fn name(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, ends: &[char]) -> String {
    let mut out = String::new();
    while let Some(c) = chars.peek().copied() {
        if ends.contains(&c) {
            break;
        }
        chars.next();
        match chars.peek().copied() {
            Some(next @ (',' | ' ' | '=')) if c == '\\' => {
                out.push(next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

fn value(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Value {
    if chars.next_if_eq(&'"').is_some() {
        let mut out = String::new();
        loop {
            match chars.next().expect("a text ends") {
                '"' => return Value::Text(out),
                '\\' => out.push(chars.next().expect("an escape ends")),
                c => out.push(c),
            }
        }
    }
    let word = name(chars, &[',', ' ', '\n']);
    match word.as_str() {
        "true" => Value::Flag(true),
        "false" => Value::Flag(false),
        _ => match word.strip_suffix('i') {
            Some(digits) => Value::Long(digits.parse().expect(&word)),
            None => Value::Real(word.parse().expect(&word)),
        },
    }
}

/// Takes lines.
pub(crate) fn read(text: &str, into: &mut Points) -> usize {
    let mut chars = text.chars().peekable();
    let mut count = 0;
    while chars.peek().is_some() {
        let measurement = name(&mut chars, &[',', ' ']);
        let mut tags = BTreeMap::new();
        while chars.next_if_eq(&',').is_some() {
            let key = name(&mut chars, &['=']);
            assert_eq!(chars.next(), Some('='));
            let value = name(&mut chars, &[',', ' ']);
            assert!(!value.is_empty() && !key.is_empty(), "{measurement}: an empty tag");
            tags.insert(key, value);
        }
        assert_eq!(chars.next(), Some(' '), "{measurement}");
        let mut fields = BTreeMap::new();
        loop {
            let key = name(&mut chars, &['=']);
            assert_eq!(chars.next(), Some('='), "{measurement} {key}");
            fields.insert(key, value(&mut chars));
            if chars.next_if_eq(&',').is_none() {
                break;
            }
        }
        assert_eq!(chars.next(), Some(' '), "{measurement}");
        let time = name(&mut chars, &['\n']).parse().expect("a time");
        assert_eq!(chars.next(), Some('\n'));
        into.entry((measurement, tags, time)).or_default().extend(fields);
        count += 1;
    }
    count
}

/// Nanoseconds since 1970 as a date.
fn date(ns: i64) -> String {
    assert!(ns >= 0);
    let (days, rest) = (ns / 86_400_000_000_000, ns % 86_400_000_000_000);
    // civil date of a count of days
    let z = days + 719_468;
    let era = z / 146_097;
    let doe = z - era * 146_097;
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (day, month) = (doy - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
    let year = yoe + era * 400 + i64::from(month <= 2);
    let (seconds, nanos) = (rest / 1_000_000_000, rest % 1_000_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = format!("{nanos:09}");
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{dot}{fraction}Z")
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

type Fields = BTreeMap<String, Value>;

/// Points of a measurement, and of a part, as a pivoted answer.
pub(crate) fn csv(points: &Points, measurement: &str, part: Option<&str>) -> String {
    let mut tables: BTreeMap<&BTreeMap<String, String>, Vec<(i64, &Fields)>> = BTreeMap::new();
    let first = (measurement.to_owned(), BTreeMap::new(), i64::MIN);
    for ((own, tags, time), fields) in points.range(first..) {
        if own != measurement {
            break;
        }
        if part.is_none_or(|part| tags.get("part").map(String::as_str) == Some(part)) {
            tables.entry(tags).or_default().push((*time, fields));
        }
    }
    let mut out = String::new();
    for (number, (tags, rows)) in tables.into_iter().enumerate() {
        let mut columns: BTreeMap<&str, &str> = BTreeMap::new();
        for (_, fields) in &rows {
            for (key, value) in *fields {
                let kind = match value {
                    Value::Long(_) => "long",
                    Value::Real(_) => "double",
                    Value::Flag(_) => "boolean",
                    Value::Text(_) => "string",
                };
                let before = columns.insert(key, kind);
                assert!(before.is_none_or(|before| before == kind), "{measurement} {key}");
            }
        }
        let mut lines = [
            String::from("#datatype,string,long,dateTime:RFC3339,string"),
            String::from("#group,false,false,false,true"),
            String::from("#default,_result,,,"),
            String::from(",result,table,_time,_measurement"),
        ];
        for key in tags.keys() {
            for (line, text) in lines.iter_mut().zip(["string", "true", "", key.as_str()]) {
                line.push_str(&format!(",{}", quoted(text)));
            }
        }
        for (key, kind) in &columns {
            for (line, text) in lines.iter_mut().zip([*kind, "false", "", *key]) {
                line.push_str(&format!(",{}", quoted(text)));
            }
        }
        for line in lines {
            out.push_str(&format!("{line}\r\n"));
        }
        for (time, fields) in rows {
            out.push_str(&format!(",,{number},{},{measurement}", date(time)));
            for value in tags.values() {
                out.push_str(&format!(",{}", quoted(value)));
            }
            for key in columns.keys() {
                let cell = match fields.get(*key) {
                    None => String::new(),
                    Some(Value::Long(number)) => number.to_string(),
                    Some(Value::Real(number)) => number.to_string(),
                    Some(Value::Flag(flag)) => flag.to_string(),
                    Some(Value::Text(text)) => quoted(text),
                };
                out.push_str(&format!(",{cell}"));
            }
            out.push_str("\r\n");
        }
        out.push_str("\r\n");
    }
    out
}

#[test]
fn dates_are_right() {
    assert_eq!(date(0), "1970-01-01T00:00:00Z");
    assert_eq!(date(12), "1970-01-01T00:00:00.000000012Z");
    assert_eq!(date(1_773_237_643_000_000_000), "2026-03-11T14:00:43Z");
}
