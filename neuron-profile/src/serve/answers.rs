//! Answers of the interface without a connection: what a page with a profile
//! inside has recorded is what the server says.

use anyhow::Context as _;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use profile_store::Store;
use tokio::runtime::Runtime;
use tower_service::Service as _;

use super::api;
use super::opened::Opened;

/// Bytes of an answer at most.
const MOST: usize = 256 << 20;

/// The interface of a store.
pub(crate) struct Answers {
    router: Router,
    runtime: Runtime,
}

impl Answers {
    /// Begins; nothing is uploaded through it.
    ///
    /// # Errors
    ///
    /// No threads can be made.
    pub(crate) fn new(store: Store) -> anyhow::Result<Self> {
        let (opened, _) = Opened::new(store, 0);
        let router = api::router().with_state(std::sync::Arc::new(opened));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Ok(Self { router, runtime: runtime.context("cannot make threads")? })
    }

    /// Status and bytes for a path behind `/api/v1`.
    ///
    /// # Errors
    ///
    /// A path that is none, an answer that is too large.
    pub(crate) fn get(&self, path: &str) -> anyhow::Result<(u16, Vec<u8>)> {
        let request = Request::get(path).body(Body::empty())?;
        let mut router = self.router.clone();
        self.runtime.block_on(async {
            let response = match router.call(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            };
            let status = response.status().as_u16();
            let bytes = to_bytes(response.into_body(), MOST).await;
            Ok((status, bytes.with_context(|| path.to_owned())?.to_vec()))
        })
    }
}
