//! Files of the viewer: those that were built into the program, or those of a
//! directory while it is worked on.
//!
//! Files in the program are kept compressed and are sent as they are; a client
//! that takes neither Brotli nor gzip gets them unpacked. Names of scripts and
//! styles carry a hash of their content, so a browser asks for each once.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha256};

use super::answer::Trouble;

/// Names a directory to serve the viewer from, while it is worked on; `plain`
/// for the plain pages.
pub(crate) const VARIABLE: &str = "NEURON_PROFILE_WEB";

/// A file of the viewer, twice compressed.
struct Asset {
    name: &'static str,
    br: &'static [u8],
    gz: &'static [u8],
}

/// The files that were there when the program was built.
const BUILT: &[Asset] = include!(concat!(env!("OUT_DIR"), "/viewer.rs"));

/// What a page of the viewer may do: its own files, pictures that it draws
/// itself, itself in frames (to show several profiles at once).
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
     font-src 'self'; connect-src 'self'; worker-src 'self'; frame-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'self'",
);

/// The largest file that is read of a directory.
const MOST: u64 = 32 << 20;

/// Where the viewer comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Viewer {
    /// There is none: plain pages.
    Plain,
    /// The files in the program.
    Built,
    /// A directory.
    Directory(PathBuf),
}

impl Viewer {
    /// What the environment says, else what the program has.
    pub(super) fn chosen(variable: Option<std::ffi::OsString>) -> Self {
        match variable {
            Some(text) if text == "plain" => Self::Plain,
            Some(text) if !text.is_empty() => Self::Directory(PathBuf::from(text)),
            _ if BUILT.is_empty() => Self::Plain,
            _ => Self::Built,
        }
    }

    /// Answers for a file, by its name below the root. `headers` are the request's.
    pub(super) fn answer(&self, name: &str, headers: &HeaderMap) -> Response {
        match self {
            Self::Plain => missing(name),
            Self::Built => match BUILT.iter().find(|asset| asset.name == name) {
                Some(asset) => packed(asset, headers),
                None => missing(name),
            },
            Self::Directory(root) => match read(root, name) {
                Ok(bytes) => whole(name, bytes, headers),
                Err(error) => error.into_response(),
            },
        }
    }
}

fn missing(name: &str) -> Response {
    Trouble::new(404, format!("the viewer has no file {name:?}")).into_response()
}

/// A file below a directory. The name cannot leave it.
fn read(root: &Path, name: &str) -> Result<Vec<u8>, Trouble> {
    let inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let path = root.join(name);
    let gone = || {
        Trouble::new(404, format!("{} cannot be read; build it: cargo xtask web", path.display()))
    };
    if !inside {
        return Err(Trouble::new(404, "the viewer has no such file"));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(&path).map_err(|_| gone())?;
    file.take(MOST).read_to_end(&mut bytes).map_err(|_| gone())?;
    Ok(bytes)
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, kind)| kind) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "json" | "map" => "application/json",
        "woff2" => "font/woff2",
        "png" => "image/png",
        _ => "application/octet-stream",
    }
}

/// Whether a client takes an encoding: it is named, and not with `q=0`.
fn takes(headers: &HeaderMap, encoding: &str) -> bool {
    let all = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|one| one.to_str().ok());
    all.flat_map(|text| text.split(',')).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(encoding));
        let weight = parts.find_map(|part| part.strip_prefix("q="));
        named && weight.is_none_or(|weight| weight.parse::<f64>().is_ok_and(|weight| weight > 0.0))
    })
}

/// A file of the program.
fn packed(asset: &'static Asset, headers: &HeaderMap) -> Response {
    let tag = tag(asset.br);
    if let Some(unchanged) = unchanged(asset.name, headers, &tag) {
        return unchanged;
    }
    let (body, encoding) = if takes(headers, "br") {
        (Body::from(asset.br), Some("br"))
    } else if takes(headers, "gzip") {
        (Body::from(asset.gz), Some("gzip"))
    } else {
        let mut bytes = Vec::new();
        if GzDecoder::new(asset.gz).read_to_end(&mut bytes).is_err() {
            return Trouble::new(500, "a file of the viewer is damaged").into_response();
        }
        (Body::from(bytes), None)
    };
    let mut response = response(asset.name, body, &tag);
    if let Some(encoding) = encoding {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

/// A file of a directory.
fn whole(name: &str, bytes: Vec<u8>, headers: &HeaderMap) -> Response {
    let tag = tag(&bytes);
    unchanged(name, headers, &tag).unwrap_or_else(|| response(name, Body::from(bytes), &tag))
}

/// A strong tag of the content, whatever its encoding.
fn tag(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let text: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    format!("\"{text}\"")
}

/// 304 where the browser has this content.
fn unchanged(name: &str, headers: &HeaderMap, tag: &str) -> Option<Response> {
    let known = headers.get(header::IF_NONE_MATCH)?.to_str().ok()?;
    let same = known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag);
    same.then(|| {
        let mut response = response(name, Body::empty(), tag);
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    })
}

fn response(name: &str, body: Body, tag: &str) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type(name)));
    // Private: with a token, what is between must not keep it for others.
    let hashed = name.starts_with("assets/");
    let keep = if hashed { "private, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(header::ETAG, tag);
    }
    if name.ends_with(".html") {
        headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(header::HeaderName, &str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn encodings_are_those_that_are_taken() {
        let of = |text: &str| {
            let headers = headers(&[(header::ACCEPT_ENCODING, text)]);
            (takes(&headers, "br"), takes(&headers, "gzip"))
        };
        assert_eq!(of("gzip, deflate, br, zstd"), (true, true));
        assert_eq!(of("br;q=0, gzip;q=0.5"), (false, true));
        assert_eq!(of("identity"), (false, false));
        assert!(!takes(&HeaderMap::new(), "br"));
    }

    #[test]
    fn a_name_cannot_leave_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("site");
        std::fs::create_dir_all(root.join("assets")).unwrap();
        std::fs::write(dir.path().join("secret"), "no").unwrap();
        std::fs::write(root.join("assets/a.js"), "yes").unwrap();
        assert_eq!(read(&root, "assets/a.js").unwrap(), b"yes");
        for name in ["../secret", "assets/../../secret", "/etc/hostname", "assets/b.js", ""] {
            assert!(read(&root, name).is_err(), "{name}");
        }
    }

    #[test]
    fn what_the_browser_has_is_not_sent_again() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("index.html"), "page").unwrap();
        let viewer = Viewer::Directory(dir.path().to_owned());
        let first = viewer.answer("index.html", &HeaderMap::new());
        assert_eq!(first.status(), 200);
        assert_eq!(first.headers()[header::CACHE_CONTROL], "no-cache");
        assert_eq!(first.headers()[header::CONTENT_SECURITY_POLICY], POLICY);
        let tag = first.headers()[header::ETAG].to_str().unwrap();
        let again = viewer.answer("index.html", &headers(&[(header::IF_NONE_MATCH, tag)]));
        assert_eq!(again.status(), 304);
        std::fs::write(dir.path().join("index.html"), "another page").unwrap();
        let changed = viewer.answer("index.html", &headers(&[(header::IF_NONE_MATCH, tag)]));
        assert_eq!(changed.status(), 200);
        assert_eq!(viewer.answer("assets/gone.js", &HeaderMap::new()).status(), 404);
    }

    #[test]
    fn what_was_built_is_whole() {
        for asset in BUILT {
            let mut bytes = Vec::new();
            GzDecoder::new(asset.gz).read_to_end(&mut bytes).unwrap();
            assert!(!bytes.is_empty() && !asset.br.is_empty(), "{}", asset.name);
            assert_ne!(content_type(asset.name), "application/octet-stream", "{}", asset.name);
        }
    }

    #[test]
    fn the_environment_chooses() {
        assert_eq!(Viewer::chosen(Some("plain".into())), Viewer::Plain);
        assert_eq!(Viewer::chosen(Some("/x".into())), Viewer::Directory("/x".into()));
        let usual = if BUILT.is_empty() { Viewer::Plain } else { Viewer::Built };
        assert_eq!(Viewer::chosen(None), usual);
    }
}
