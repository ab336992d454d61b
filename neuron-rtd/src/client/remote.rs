//! A connection to a daemon, and its answers as results.

use rtd_api::nmgr_ext_v1_client::NmgrExtV1Client;
use rtd_api::nmgr_v1_client::NmgrV1Client;
use rtd_api::{Nerr, Status};
use tonic::transport::Channel;

use crate::transport::Endpoint;

/// A daemon.
#[derive(Debug)]
pub(super) struct Remote {
    pub(super) nmgr: NmgrV1Client<Channel>,
    pub(super) ext: NmgrExtV1Client<Channel>,
}

impl Remote {
    pub(super) async fn connect(address: &str) -> Result<Self, String> {
        let endpoint: Endpoint = address.parse()?;
        let uri = match &endpoint {
            Endpoint::Unix(path) => format!("unix:{}", path.display()),
            Endpoint::Tcp(address) => format!("http://{address}"),
        };
        let failed = |error: &dyn std::error::Error| {
            let mut reason = error.to_string();
            let mut source = error.source();
            while let Some(inner) = source {
                reason = inner.to_string();
                source = inner.source();
            }
            format!("no daemon at {endpoint}: {reason}; is neuron-rtd running, and is this its -g?")
        };
        let channel = tonic::transport::Endpoint::try_from(uri).map_err(|error| failed(&error))?;
        let channel = channel.connect().await.map_err(|error| failed(&error))?;
        Ok(Self {
            nmgr: NmgrV1Client::new(channel.clone())
                .max_decoding_message_size(usize::MAX)
                .max_encoding_message_size(usize::MAX),
            ext: NmgrExtV1Client::new(channel).max_decoding_message_size(usize::MAX),
        })
    }
}

/// The message of a call that went through.
pub(super) fn answer<T>(
    method: &str,
    answer: Result<tonic::Response<T>, tonic::Status>,
) -> Result<T, String> {
    let told =
        |status: tonic::Status| format!("{method}: {} ({:?})", status.message(), status.code());
    answer.map(tonic::Response::into_inner).map_err(told)
}

/// The status of an answer.
pub(super) fn check(method: &str, status: Option<Status>) -> Result<(), String> {
    let status = status.ok_or_else(|| format!("{method}: the daemon gave no status"))?;
    if status.code == 0 {
        return Ok(());
    }
    let name = Nerr::try_from(status.code).map_or("unknown code", |code| code.as_str_name());
    let details = String::from_utf8_lossy(&status.details).trim_end().replace('\n', "; ");
    Err(format!("{method}: {name} ({}): {details}", status.code))
}
