//! The loop: reads what is due and hands each record on.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use neuron_core::model::Origin;

use crate::config::{Config, OfSystem};
use crate::document;
use crate::events::Event;
use crate::kubernetes::Kubelet;
use crate::log::{Level, Log};
use crate::metadata::Metadata;
use crate::own::Own;
use crate::plan::{Item, Plan};
use crate::reading::Reading;
use crate::wire::Record;

/// How long a file that was touched is left alone: it may be written in
/// several steps.
const SETTLE: Duration = Duration::from_millis(100);

/// Reads at its periods.
#[derive(Debug)]
pub(crate) struct Monitor {
    reading: Reading,
    config: Config,
    plan: Plan,
    file: Option<ConfigFile>,
    /// When to look at the file, after it was touched.
    touched: Option<Instant>,
    metadata: Option<Metadata>,
    kubelet: Option<Kubelet>,
    kubelet_socket: Option<PathBuf>,
    pub(crate) own: Own,
    /// Whether every record carries [`Own`], asked for or not.
    pub(crate) always_own: bool,
    log: Log,
}

/// The file that the configuration came from.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The period of groups for which it says nothing.
    pub(crate) period: Duration,
    /// What stood in it.
    text: Option<Vec<u8>>,
}

impl ConfigFile {
    pub(crate) fn new(path: PathBuf, period: Duration) -> Self {
        let text = std::fs::read(&path).ok();
        Self { path, period, text }
    }
}

/// How many records are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Until something ends it; the first at once.
    None,
    /// One with every group, after the longest period.
    Once,
    /// So many, the first after a period.
    Count(u64),
}

/// How the loop ended.
#[derive(Debug)]
pub(crate) enum End {
    /// As it was meant to: the limit, a signal, a reader that went away.
    Done,
    /// The output failed.
    Output(std::io::Error),
}

impl End {
    /// This end, or that the output failed after it.
    pub(crate) fn or(self, failed: Option<std::io::Error>) -> Self {
        failed.map_or(self, Self::Output)
    }
}

impl Monitor {
    pub(crate) fn new(
        reading: Reading,
        config: Config,
        file: Option<ConfigFile>,
        log: Log,
    ) -> Self {
        let plan = Plan::of(&config, Instant::now());
        Self {
            reading,
            config,
            plan,
            file,
            touched: None,
            metadata: None,
            kubelet: None,
            kubelet_socket: None,
            own: Own::new(),
            always_own: false,
            log,
        }
    }

    /// Asks the kubelet from now on if the configuration says so.
    ///
    /// # Errors
    ///
    /// When it cannot be asked by this build, or now.
    pub(crate) fn ask_kubelet(&mut self, socket: Option<&Path>) -> Result<(), String> {
        self.kubelet_socket = socket.map(Path::to_owned);
        self.kubelet = self.config.k8s.map(|every| Kubelet::ask(socket, every)).transpose()?;
        Ok(())
    }

    /// Runs until the end. `sink` takes each record and says whether to go on.
    pub(crate) fn run(
        &mut self,
        limit: Limit,
        events: &Receiver<Event>,
        mut sink: impl FnMut(Record) -> ControlFlow<()>,
    ) -> End {
        let mut left = match limit {
            Limit::None => u64::MAX,
            Limit::Once => 1,
            Limit::Count(count) => count,
        };
        if limit != Limit::None {
            // What rates are held against.
            let all = self.plan.all();
            self.reading.collect(&all);
            let now = Instant::now();
            self.plan.restart(now);
            if limit == Limit::Once {
                self.plan.hold_all_until_the_last();
            }
        }
        while left > 0 {
            match self.wait(events) {
                ControlFlow::Break(end) => return end,
                ControlFlow::Continue(()) => {}
            }
            let due = self.plan.due(Instant::now());
            if due.is_empty() {
                continue;
            }
            let record = self.record(&due);
            left -= 1;
            if sink(record).is_break() {
                return End::Done;
            }
        }
        End::Done
    }

    /// Sleeps until something is due, and does what events ask for.
    fn wait(&mut self, events: &Receiver<Event>) -> ControlFlow<End> {
        loop {
            let next = self.plan.next();
            let until = match self.touched {
                Some(at) => Some(next.map_or(at, |next| next.min(at))),
                None => next,
            };
            let now = Instant::now();
            let event = match until.map(|until| until.saturating_duration_since(now)) {
                Some(left) if left.is_zero() => match events.try_recv() {
                    Ok(event) => Ok(event),
                    Err(_) => Err(RecvTimeoutError::Timeout),
                },
                Some(left) => events.recv_timeout(left),
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(Event::Stop | Event::ReaderGone) => return ControlFlow::Break(End::Done),
                Ok(Event::OutputFailed(error)) => return ControlFlow::Break(End::Output(error)),
                Ok(Event::HangUp) if self.file.is_none() => return ControlFlow::Break(End::Done),
                Ok(Event::HangUp) => self.touched = Some(Instant::now()),
                // Only where nothing is read here.
                Ok(Event::Record(_)) => {}
                Ok(Event::ConfigTouched) => self.touched = Some(Instant::now() + SETTLE),
                Err(RecvTimeoutError::Timeout) => {
                    if self.touched.is_some_and(|at| at <= Instant::now()) {
                        self.reload();
                        self.touched = None;
                        continue;
                    }
                    return ControlFlow::Continue(());
                }
                // Nobody can wake the loop any more; time still does.
                Err(RecvTimeoutError::Disconnected) => match until {
                    Some(until) => {
                        std::thread::sleep(until.saturating_duration_since(Instant::now()));
                        return ControlFlow::Continue(());
                    }
                    None => return ControlFlow::Break(End::Done),
                },
            }
        }
    }

    /// Reads the configuration again if it is another. One that is wrong
    /// changes nothing.
    fn reload(&mut self) {
        let Some(file) = &mut self.file else { return };
        let text = std::fs::read(&file.path).ok();
        if text == file.text {
            return;
        }
        file.text = text;
        match Config::read(&file.path, file.period) {
            Ok(config) => {
                self.log.say(Level::Steps, &format!("{}: read again", file.path.display()));
                self.plan = Plan::of(&config, Instant::now());
                let asks_as_before = self.config.k8s == config.k8s;
                self.config = config;
                let socket = self.kubelet_socket.clone();
                if !asks_as_before && let Err(reason) = self.ask_kubelet(socket.as_deref()) {
                    self.log.say(Level::Always, &reason);
                }
                self.reading.forget();
            }
            Err(reason) => {
                self.log.say(Level::Always, &format!("{reason}; the old one stays in force"));
            }
        }
    }

    fn record(&mut self, due: &[Item]) -> Record {
        let collected = self.reading.collect(due);
        self.log.problems(collected.facts.problems.iter().chain(&collected.no_devices));
        let mut record = document::record(&collected, &self.config);
        if collected.facts.origin == Origin::Kernel {
            self.metadata.get_or_insert_with(Metadata::ask).complete(&mut record.instance_info);
        }
        let per_device = record.neuron_hardware_info.neuroncore_per_device_count;
        record.neuron_k8s_info = self.kubelet.as_ref().and_then(|kubelet| kubelet.news(per_device));
        let number = self.own.made(due, collected.took, self.plan.late());
        if let Some(monitor) = &mut record.neuron_monitor {
            monitor.record = number;
        }
        if self.always_own || due.contains(&Item::System(OfSystem::SelfStats)) {
            record.system_data.self_stats = Some(self.own.stats());
        }
        if number.is_multiple_of(1000) || number == 1 {
            self.log.say(Level::Records, &format!("record {number}: {:?}", collected.took));
        }
        record
    }
}
