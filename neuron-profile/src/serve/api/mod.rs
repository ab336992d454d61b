//! The HTTP interface, version 1 (HTTP.md). Reading a profile is work for
//! threads that may wait; answers are made there.

mod documents;
mod events;
mod findings;
mod jobs;
mod kinds;
mod profiles;
mod runs;
mod search;
mod series;
mod sources;
mod spans;
mod timeline;
mod trees;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{delete, get, patch, post};
use profile_store::Profile;

use super::answer::Trouble;
use super::opened::Opened;

/// Bytes of a request's body at most, but for documents.
const BODY: usize = 64 << 10;

/// Bytes of a document at most.
const DOCUMENT: usize = 8 << 20;

/// What handlers share.
pub(super) type Shared = Arc<Opened>;

pub(super) fn router() -> Router<Shared> {
    let profile = Router::new()
        .route("/", patch(profiles::rename).get(profiles::one).delete(profiles::delete))
        .route("/summary", get(profiles::summary))
        .route("/findings", get(findings::list))
        .route("/query", get(findings::query))
        .route("/viewport", get(timeline::viewport))
        .route("/spans", get(spans::spans))
        .route("/selection", get(timeline::selection))
        .route("/kinds", get(kinds::list))
        .route("/kinds/{place}", get(kinds::one))
        .route("/operators", get(trees::operators))
        .route("/layers", get(trees::layers))
        .route("/series", get(series::list))
        .route("/series/data", get(series::data))
        .route("/tables", get(events::tables))
        .route("/tables/{table}", get(events::rows))
        .route("/events/{table}/{row}", get(events::one))
        .route("/events/{table}/{row}/chain", get(events::way_back))
        .route("/search/{table}", get(events::search))
        .route("/search", get(search::search))
        .route("/matches", get(search::matches));
    let sources = Router::new()
        .route("/", get(sources::list))
        .route("/{file}", get(sources::read).put(sources::write).delete(sources::delete))
        .route("/{file}/lines", get(sources::lines))
        .layer(DefaultBodyLimit::max(crate::sources::BYTES));
    let documents = Router::new()
        .route("/", get(documents::list))
        .route("/{name}", get(documents::read).put(documents::write).delete(documents::delete))
        .layer(DefaultBodyLimit::max(DOCUMENT));
    Router::new()
        .route("/health", get(profiles::health))
        .route("/uploads", post(jobs::upload))
        .route("/uploads/{upload}", delete(jobs::forget))
        .route("/jobs", get(jobs::list).post(jobs::start))
        .route("/jobs/{job}", get(jobs::one).delete(jobs::cancel))
        .route("/events", get(jobs::events))
        .route("/runs", get(runs::list))
        .route("/runs/{run}", get(runs::one))
        .route("/runs/{run}/operators", get(runs::operators))
        .route("/profiles", get(profiles::list))
        .nest("/profiles/{id}", profile)
        .nest("/profiles/{id}/sources", sources)
        .nest("/documents/{kind}", documents)
        .layer(DefaultBodyLimit::max(BODY))
}

/// Does something that may wait for the disk.
async fn blocking<T: Send + 'static>(
    shared: Shared,
    work: impl FnOnce(&Opened) -> Result<T, Trouble> + Send + 'static,
) -> Result<T, Trouble> {
    let done = tokio::task::spawn_blocking(move || work(&shared)).await;
    done.unwrap_or_else(|_| Err(Trouble::new(500, "a bug of this program; please report it")))
}

/// As [`blocking`], with a profile.
async fn with_profile<T: Send + 'static>(
    shared: Shared,
    id: String,
    work: impl FnOnce(&Profile) -> Result<T, Trouble> + Send + 'static,
) -> Result<T, Trouble> {
    blocking(shared, move |opened| work(&*opened.profile(&id)?)).await
}
