//! The gRPC methods over the runtime.
//!
//! Every failure of a call travels as gRPC OK with `status.code` and details
//! (neuron-rtd.md §1.5); gRPC's own codes are left to the transport. What may
//! take long runs on a thread for blocking work; inferences do not: they are
//! posted, and their outcome wakes the call.

mod counters;
mod ext;
mod infer;
mod load;
mod nmgr;
mod reply;
mod session;
mod stream;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use neuron_core::sim::Sim;
use rtd_runtime::{Code, Failure, Runtime};
use tokio::sync::watch;

use crate::config::Config;
use crate::log::Log;

/// What all methods share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The runtime, or why there is none: then every call is answered with
    /// that (neuron-rtd.md §2.8).
    pub(crate) runtime: Result<Runtime, Failure>,
    pub(crate) config: Config,
    pub(crate) log: Arc<Log>,
    /// The simulated instance, for what the hardware counts.
    pub(crate) sim: Option<Sim>,
    /// Becomes true when the daemon ends.
    pub(crate) ending: watch::Receiver<bool>,
    /// Last session without a runtime.
    pub(crate) sessions: AtomicU64,
    /// Asks the daemon to drain.
    pub(crate) drain: tokio::sync::mpsc::Sender<()>,
}

/// The services; clones share everything.
#[derive(Debug, Clone)]
pub(crate) struct Service(pub(crate) Arc<Shared>);

impl Service {
    fn runtime(&self) -> Result<&Runtime, Failure> {
        self.0.runtime.as_ref().map_err(Clone::clone)
    }

    /// Runs what may take long.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Runtime) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let runtime = self.runtime()?.clone();
        let done = tokio::task::spawn_blocking(move || work(&runtime)).await;
        done.unwrap_or_else(|error| {
            Err(Failure::new(Code::Fail, "NRTD:RunServer", format!("a call broke off: {error}")))
        })
    }
}

/// Version of this program, with that of the library below it (neuron-rtd.md
/// §4.6).
fn version(runtime: Option<&Runtime>) -> rtd_api::Version {
    let part = |text: &str| text.parse().unwrap_or(0);
    let mut full_version = env!("CARGO_PKG_VERSION").to_owned();
    if let Some(library) = runtime.and_then(Runtime::backend_version) {
        full_version += &format!(" ({library})");
    }
    rtd_api::Version {
        full_version,
        major_num: part(env!("CARGO_PKG_VERSION_MAJOR")),
        minor_num: part(env!("CARGO_PKG_VERSION_MINOR")),
    }
}
