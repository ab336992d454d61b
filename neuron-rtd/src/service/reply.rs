//! Failures as `status`, outcomes as responses.

use rtd_api::{InferIo, InferResponse, Status, infer_io};
use rtd_runtime::{Failure, Level, Outcome};

use super::Service;

/// Success.
pub(super) fn ok() -> Option<Status> {
    Some(Status::default())
}

impl Service {
    /// A failure as a client is told it: with the line of the method at the
    /// end, and in the log.
    pub(super) fn told(&self, method: &str, failure: Failure) -> Option<Status> {
        let code = failure.code.number();
        let failure = failure.then(&format!("NRTD:{method}"), format!("error: {code}"));
        // a full queue and an unfinished inference are everyday matters
        let level = match code {
            7 | 1000 => Level::Debug,
            _ => Level::Error,
        };
        for line in failure.lines() {
            self.0.log.body(level, line);
        }
        Some(Status { code, details: failure.details().into_bytes().into() })
    }

    /// The status of a call without result.
    pub(super) fn status(&self, method: &str, result: Result<(), Failure>) -> Option<Status> {
        match result {
            Ok(()) => ok(),
            Err(failure) => self.told(method, failure),
        }
    }

    /// An outcome; outputs that stay in shared memory are not in it.
    pub(super) fn outcome(&self, method: &str, outcome: Outcome) -> InferResponse {
        let status = match outcome.failure {
            None => ok(),
            Some(failure) => self.told(method, failure),
        };
        let output = |(name, bytes): (String, Vec<u8>)| InferIo {
            name,
            data: Some(infer_io::Data::Buf(bytes.into())),
        };
        InferResponse { status, ofmap: outcome.outputs.into_iter().map(output).collect() }
    }
}
