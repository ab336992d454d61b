//! Signals, and what the daemon does at those that do not end it (neuron-rtd.md §2.9).

use rtd_runtime::{Failure, Level, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Plan;
use crate::config::Config;

impl Plan {
    /// SIGHUP: the log level and the way to syslog can change.
    pub(super) fn reload(&self) {
        const PLACE: &str = "NRTD:reload";
        self.log.reopen();
        match Config::read(&self.config_path.0, self.config_path.1) {
            Ok((config, _)) => {
                let level = self.level.unwrap_or(config.log_level);
                self.log.set_level(level);
                self.say(Level::Info, PLACE, &format!("log level {level}"));
            }
            Err(reason) => self.say(Level::Error, PLACE, &reason),
        }
    }

    /// SIGUSR1: the state in the log.
    pub(super) fn dump(&self, runtime: &Result<Runtime, Failure>) {
        const PLACE: &str = "NRTD:dump";
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(failure) => return self.say(Level::Info, PLACE, &failure.to_string()),
        };
        let (flying, waiting) = runtime.in_flight();
        let text = format!(
            "{} sessions, {} mappings, {flying} inferences in flight, {waiting} cookies",
            runtime.sessions().len(),
            runtime.maps()
        );
        self.say(Level::Info, PLACE, &text);
        for group in runtime.groups() {
            let seed = runtime.seed(group.id).map(|seed| format!(", seed {seed}"));
            let text = format!("{group:?}{}", seed.unwrap_or_default());
            self.say(Level::Info, PLACE, &text);
        }
        for model in runtime.models() {
            let text = format!(
                "model {} {:?} {:?}, NC {} x {}, session {}, {} in flight",
                model.id,
                model.name,
                model.state,
                model.first_core,
                model.cores,
                model.session,
                model.in_flight
            );
            self.say(Level::Info, PLACE, &text);
        }
    }
}

/// What a signal asks for.
pub(super) enum Event {
    End,
    Reload,
    Dump,
}

/// The signals that are caught.
pub(super) struct Signals {
    term: Signal,
    int: Signal,
    hup: Signal,
    usr1: Signal,
}

impl Signals {
    pub(super) fn new() -> Result<Self, String> {
        let on = |kind| signal(kind).map_err(|error| format!("cannot catch signals: {error}"));
        Ok(Self {
            term: on(SignalKind::terminate())?,
            int: on(SignalKind::interrupt())?,
            hup: on(SignalKind::hangup())?,
            usr1: on(SignalKind::user_defined1())?,
        })
    }

    pub(super) async fn next(&mut self) -> Event {
        tokio::select! {
            _ = self.term.recv() => Event::End,
            _ = self.int.recv() => Event::End,
            _ = self.hup.recv() => Event::Reload,
            _ = self.usr1.recv() => Event::Dump,
        }
    }
}
