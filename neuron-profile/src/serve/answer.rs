//! Answers: JSON, bytes, and what went wrong as one line with a status.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use profile_store::Error;
use serde_json::json;

/// What every answer says to the browser: nothing from elsewhere, no frames of
/// others, no guesses.
pub(super) const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; \
             img-src 'self' data: blob:; worker-src 'self' blob:; font-src 'self'; \
             connect-src 'self'; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'",
        ),
    ),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
];

/// What answers of the interface may do when somebody opens them as a page:
/// nothing. Sources of others come back from there.
pub(super) const DATA: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox");

/// A request that cannot be answered.
#[derive(Debug)]
pub(super) struct Trouble {
    status: StatusCode,
    reason: String,
}

impl Trouble {
    /// Something in the request.
    pub(super) fn request(reason: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, reason: reason.into() }
    }

    /// A status and its reason.
    pub(super) fn new(status: u16, reason: impl Into<String>) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, reason: reason.into() }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::Missing { .. } | Error::NoTable(_) | Error::NoRow { .. } => 404,
            Error::BadId(_) | Error::BadRange { .. } | Error::NoColumn { .. } | Error::Query(_) => {
                400
            }
            Error::Exists(_) | Error::Ambiguous { .. } => 409,
            Error::Full { .. } => 507,
            // The client closed the connection; nobody reads this.
            Error::Stopped => 499,
            _ => 500,
        };
        Self::new(status, error.to_string())
    }
}

impl IntoResponse for Trouble {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.reason }))).into_response()
    }
}
