//! Which pod has which core and device, as the kubelet tells it
//! (sys-tools.md §7).
//!
//! The kubelet is asked by a thread of its own: no record waits for it. Where
//! there is no kubelet there is nothing to tell.

mod kubelet;
mod pods;

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use neuron_core::error::io_reason;

use crate::wire::K8sInfo;
use pods::Pods;

/// Where the kubelet answers.
const SOCKET: &str = "/var/lib/kubelet/pod-resources/kubelet.sock";

/// An answer.
#[derive(Debug)]
struct Asked {
    /// Seconds since the kubelet was asked before.
    period: f64,
    pods: Result<Pods, String>,
}

/// The kubelet, asked in the background for as long as this value is kept.
#[derive(Debug)]
pub(crate) struct Kubelet {
    newest: Arc<Mutex<Option<Asked>>>,
    /// Ends the thread when it is dropped.
    _keep: Sender<()>,
}

impl Kubelet {
    /// Begins to ask, at `socket` or where the kubelet is everywhere.
    ///
    /// # Errors
    ///
    /// When there is no thread to be had.
    pub(crate) fn ask(socket: Option<&Path>, every: Duration) -> Result<Self, String> {
        let newest: Arc<Mutex<Option<Asked>>> = Arc::default();
        let (keep, end) = channel();
        let shared = Arc::clone(&newest);
        let socket = socket.unwrap_or(Path::new(SOCKET)).to_owned();
        Builder::new()
            .name(String::from("kubelet"))
            .spawn(move || keep_asking(&socket, every, &shared, &end))
            .map_err(|error| format!("cannot ask the kubelet: {}", io_reason(&error)))?;
        Ok(Self { newest, _keep: keep })
    }

    /// What was heard since this was called last; `None` when nothing was.
    pub(crate) fn news(&self, cores_per_device: u32) -> Option<K8sInfo> {
        let asked = self.newest.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let period = asked.period;
        Some(match asked.pods {
            Ok(pods) => K8sInfo { period, ..pods.info(cores_per_device) },
            Err(error) => K8sInfo { period, error, ..K8sInfo::default() },
        })
    }
}

fn keep_asking(socket: &Path, every: Duration, newest: &Mutex<Option<Asked>>, end: &Receiver<()>) {
    let mut before = Instant::now();
    loop {
        // Absent where no kubelet runs, and for a moment when it restarts.
        if socket.exists() {
            let pods = kubelet::list(socket);
            let period = before.elapsed().as_secs_f64();
            before = Instant::now();
            let asked = Asked { period, pods };
            *newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(asked);
        }
        match end.recv_timeout(every) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => return,
        }
    }
}
