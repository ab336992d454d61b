//! Documents that the viewer keeps: layouts, and named sets of annotations of a
//! profile. The server does not look into them but that they are JSON.
//!
//! They lie beside the profiles, not in them, so that a profile that is stored
//! anew keeps its annotations: `ROOT/documents/KIND/NAME.json`.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use profile_store::disk::is_id;
use serde_json::{Value, json};

use super::{Shared, blocking};
use crate::serve::answer::Trouble;
use crate::serve::opened::Opened;

/// Documents of one kind at most.
const MOST: usize = 1000;

/// Letters of a name at most.
const LETTERS: usize = 100;

/// Bytes of the name of a file at most, without its ending: file systems allow
/// 255.
const BYTES: usize = 240;

fn trouble(what: &str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Trouble {
    let text = format!("cannot {what} {}", path.display());
    move |error| {
        let status = match error.kind() {
            ErrorKind::NotFound => 404,
            ErrorKind::StorageFull => 507,
            _ => 500,
        };
        Trouble::new(status, format!("{text}: {}", neuron_core::error::io_reason(&error)))
    }
}

/// `layouts`, or the id of a profile: its annotations.
fn folder(opened: &Opened, kind: &str) -> Result<PathBuf, Trouble> {
    if kind != "layouts" && !is_id(kind) {
        let text = "documents are layouts, or those of a profile's id";
        return Err(Trouble::new(404, text));
    }
    Ok(opened.store.root().join("documents").join(kind))
}

/// The file of a document. Names are any text; files are their bytes in hex
/// where a letter is no plain one.
fn file(opened: &Opened, kind: &str, name: &str) -> Result<PathBuf, Trouble> {
    if name.is_empty() || name.chars().count() > LETTERS || name.chars().any(char::is_control) {
        return Err(Trouble::request(format!("a name has 1 to {LETTERS} printable letters")));
    }
    let mut plain = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => plain.push(char::from(byte)),
            _ => plain.push_str(&format!("%{byte:02x}")),
        }
    }
    if plain.len() > BYTES {
        return Err(Trouble::request("the name is too long"));
    }
    Ok(folder(opened, kind)?.join(format!("{plain}.json")))
}

/// The name of a file.
fn name(file: &str) -> Option<String> {
    let mut rest = file.strip_suffix(".json")?.bytes();
    let mut bytes = Vec::new();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

pub(super) async fn list(
    State(shared): State<Shared>,
    Path(kind): Path<String>,
) -> Result<Json<Value>, Trouble> {
    let names = blocking(shared, move |opened| names(opened, &kind)).await?;
    Ok(Json(json!({ "names": names })))
}

fn names(opened: &Opened, kind: &str) -> Result<Vec<String>, Trouble> {
    let folder = folder(opened, kind)?;
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(trouble("read", &folder))?,
    };
    let files = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = files.filter_map(|file| name(&file)).collect();
    names.sort();
    Ok(names)
}

pub(super) async fn read(
    State(shared): State<Shared>,
    Path((kind, name)): Path<(String, String)>,
) -> Result<impl IntoResponse, Trouble> {
    let bytes = blocking(shared, move |opened| {
        let file = file(opened, &kind, &name)?;
        fs::read(&file).map_err(trouble("read", &file))
    });
    Ok(([(axum::http::header::CONTENT_TYPE, "application/json")], bytes.await?))
}

pub(super) async fn write(
    State(shared): State<Shared>,
    Path((kind, name)): Path<(String, String)>,
    body: Bytes,
) -> Result<StatusCode, Trouble> {
    if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&body) {
        return Err(Trouble::request(format!("it is no JSON: {error}")));
    }
    let written = blocking(shared, move |opened| {
        if is_id(&kind) {
            opened.store.entry(&kind)?;
        }
        let file = file(opened, &kind, &name)?;
        let known = names(opened, &kind)?;
        if known.len() >= MOST && !known.contains(&name) {
            return Err(Trouble::new(507, format!("there are {MOST} already; delete some")));
        }
        let folder = folder(opened, &kind)?;
        fs::create_dir_all(&folder).map_err(trouble("make", &folder))?;
        let fresh = tempfile::NamedTempFile::new_in(&folder).map_err(trouble("write in", &folder));
        let mut fresh = fresh?;
        let written = fresh.write_all(&body).and_then(|()| fresh.as_file().sync_all());
        written.map_err(trouble("write", &file))?;
        fresh.persist(&file).map_err(|error| trouble("replace", &file)(error.error))?;
        Ok(())
    });
    written.await.map(|()| StatusCode::NO_CONTENT)
}

pub(super) async fn delete(
    State(shared): State<Shared>,
    Path((kind, name)): Path<(String, String)>,
) -> Result<StatusCode, Trouble> {
    let deleted = blocking(shared, move |opened| {
        let file = file(opened, &kind, &name)?;
        fs::remove_file(&file).map_err(trouble("remove", &file))
    });
    deleted.await.map(|()| StatusCode::NO_CONTENT)
}

/// Removes the documents of a profile that was deleted.
pub(super) fn forget(opened: &Opened, id: &str) -> Result<(), Trouble> {
    let folder = folder(opened, id)?;
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done.map_err(trouble("remove", &folder)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_names_of_documents() {
        let (opened, _) = Opened::new(profile_store::Store::new("/data"), 0);
        for text in ["a", "default", "../x", "ä b", "%41", ".", "CON/\\"] {
            let file = file(&opened, "layouts", text).unwrap();
            assert_eq!(file.parent().unwrap(), std::path::Path::new("/data/documents/layouts"));
            assert_eq!(name(file.file_name().unwrap().to_str().unwrap()).unwrap(), text);
        }
        for text in ["", "a\nb", &"x".repeat(101)] {
            assert!(file(&opened, "layouts", text).is_err());
        }
        assert!(file(&opened, "..", "a").is_err() && file(&opened, "n_12", "a").is_err());
    }
}
