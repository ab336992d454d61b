//! The viewer with a profile inside as one file, to save.

use std::io::{self, Write};

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;

use super::{Shared, blocking};
use crate::export::page::{self, Wanted};
use crate::serve::answer::Trouble;

/// Bytes that are sent at once, about.
const PART: usize = 1 << 16;

/// Letters of the state of a view at most.
const VIEW: usize = 4096;

/// What the page has.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    events: Option<u64>,
    from: Option<u64>,
    to: Option<u64>,
    /// What is seen first, as it stands behind `#` in a link.
    #[serde(default)]
    view: String,
}

/// Sends what is written; fails when nobody takes it any more.
struct Parts {
    to: Sender<io::Result<Vec<u8>>>,
    part: Vec<u8>,
}

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.part.extend_from_slice(bytes);
        if self.part.len() >= PART {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let part = std::mem::take(&mut self.part);
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        self.to.blocking_send(Ok(part)).map_err(gone)
    }
}

pub(super) async fn page(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Trouble> {
    if !page::possible() {
        return Err(Trouble::new(501, "this build has no viewer to put into a page"));
    }
    if asked.view.len() > VIEW {
        return Err(Trouble::request(format!("a view has at most {VIEW} bytes")));
    }
    let wanted = Wanted {
        events: asked.events.unwrap_or(page::EVENTS),
        from: asked.from,
        to: asked.to,
        view: asked.view,
    };
    let (profile, store) = blocking(shared, move |opened| {
        let profile = opened.profile(&id)?;
        Ok((profile, opened.store.clone()))
    })
    .await?;
    page::check(&wanted, profile.manifest().total_ns)
        .map_err(|error| Trouble::request(error.to_string()))?;
    let (to, parts) = channel(4);
    let name: String = profile.labels().display_name.chars().take(80).collect();
    tokio::task::spawn_blocking(move || {
        let mut out = Parts { to, part: Vec::new() };
        let done = page::write(&store, &profile, &wanted, &mut out).and_then(|()| Ok(out.flush()?));
        if let Err(error) = done {
            // The answer breaks off, so that no browser keeps half a page.
            let _ = out.to.blocking_send(Err(io::Error::other(error.to_string())));
        }
    });
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let file: String = name.chars().map(plain).collect();
    let headers = [
        (header::CONTENT_TYPE, String::from("text/html; charset=utf-8")),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{file}.html\"")),
    ];
    Ok((headers, Body::from_stream(ReceiverStream::new(parts))).into_response())
}
