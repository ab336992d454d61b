//! Answers of the interface that a page has as they are.

use profile_store::{Profile, Store};
use serde_json::{Map, Value};

use super::archive::Archive;
use crate::serve::Answers;

/// Bytes of sources of a page at most.
const SOURCES: usize = 8 << 20;

/// Adds answers; gives their places by path.
pub(super) fn add(
    store: &Store,
    profile: &Profile,
    archive: &mut Archive<'_>,
    left_out: &mut Vec<String>,
) -> anyhow::Result<Value> {
    let answers = Answers::new(store.clone())?;
    let at = format!("/profiles/{}", profile.manifest().id);
    let mut out = Map::new();
    let mut keep = |archive: &mut Archive<'_>, path: String, bytes: &[u8]| -> anyhow::Result<()> {
        let place = archive.bytes(bytes)?;
        out.insert(path, place);
        Ok(())
    };
    for path in ["", "/tables", "/series", "/sources"] {
        let path = format!("{at}{path}");
        let (_, bytes) = answers.get(&path)?;
        keep(archive, path, &bytes)?;
    }
    // What a profile of this kind has not is not kept.
    for path in ["/summary", "/findings", "/system"] {
        let path = format!("{at}{path}");
        if let Ok((200, bytes)) = answers.get(&path) {
            keep(archive, path, &bytes)?;
        }
    }
    for kind in [profile.manifest().id.as_str(), "layouts"] {
        let path = format!("/documents/{kind}");
        let (_, bytes) = answers.get(&path)?;
        for name in texts(&bytes, "names", None) {
            let path = format!("{path}/{}", escaped(&name));
            let (_, bytes) = answers.get(&path)?;
            keep(archive, path, &bytes)?;
        }
        keep(archive, path, &bytes)?;
    }
    let mut size = 0;
    let (_, list) = answers.get(&format!("{at}/sources"))?;
    for name in texts(&list, "files", Some("name")) {
        let path = format!("{at}/sources/{}", escaped(&name));
        let (status, bytes) = answers.get(&path)?;
        if status != 200 {
            continue;
        }
        size += bytes.len();
        if size > SOURCES {
            left_out.push(format!("Sources beyond {} MiB", SOURCES >> 20));
            break;
        }
        keep(archive, path, &bytes)?;
    }
    Ok(Value::Object(out))
}

/// Texts of a list in an answer; of its objects where a field is named.
fn texts(bytes: &[u8], list: &str, field: Option<&str>) -> Vec<String> {
    let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let all = value.get(list).and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |one: &Value| {
        let one = field.map_or(Some(one), |field| one.get(field));
        one.and_then(Value::as_str).map(str::to_owned)
    };
    all.iter().filter_map(text).collect()
}

/// A text as one segment of a path, as a browser's `encodeURIComponent` has it.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => out.push(char::from(byte)),
            b'-' | b'_' | b'.' | b'!' | b'~' | b'*' | b'\'' | b'(' | b')' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_segments() {
        assert_eq!(escaped("a/b c(1).py"), "a%2Fb%20c(1).py");
        assert_eq!(escaped("ä"), "%C3%A4");
        let list = br#"{"files":[{"name":"a"},{"bytes":1}],"names":["b"]}"#;
        assert_eq!(texts(list, "files", Some("name")), ["a"]);
        assert_eq!(texts(list, "names", None), ["b"]);
        assert!(texts(b"no", "names", None).is_empty());
    }
}
