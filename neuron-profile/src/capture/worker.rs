//! One worker: the executions of a loaded NEFF, in their order.

use std::collections::VecDeque;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use neuron_core::model::printable;
use rtd_runtime::{Code, Input, ModelState, Outcome, Request, TensorInfo};

use super::ExecMode;
use super::cores::{Cores, DEPTH, told};
use super::inputs::Files;
use super::names::Names;
use super::outputs;
use super::plan::Plan;
use crate::tensorboard::host::{Row, Watch};

/// How often a wait looks whether the user has had enough.
const LOOK: Duration = Duration::from_millis(50);

/// A loaded NEFF and its inputs.
#[derive(Debug)]
pub(super) struct Worker<'a> {
    cores: &'a Cores,
    plan: &'a Plan,
    names: &'a Names,
    watch: &'a Watch,
    interrupted: &'a AtomicBool,
    number: u32,
    model: u32,
    tensors: Vec<TensorInfo>,
    inputs: Vec<(String, Input)>,
}

/// What a worker has done.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// Traces, by execution.
    traces: Vec<(u32, PathBuf)>,
    /// Lines about saved outputs.
    saved: Vec<String>,
    /// Errors that were passed over.
    ignored: Vec<String>,
}

/// The row of a worker.
fn thread(rank: u32) -> Row {
    Row::Thread(format!("worker#{rank}"))
}

impl Report {
    /// Its traces.
    pub(super) fn into_traces(self) -> impl Iterator<Item = PathBuf> {
        self.traces.into_iter().map(|(_, path)| path)
    }

    /// Says it.
    pub(super) fn tell(&self, cores: &Cores, out: &mut dyn Write) -> std::io::Result<()> {
        for (execution, file) in &self.traces {
            let (file, place) = (file.display().to_string(), &cores.place);
            writeln!(out, "{}: execution {execution} on {place}", printable(&file))?;
        }
        for line in &self.saved {
            writeln!(out, "{line}")?;
        }
        crate::output::tell("ignored", self.ignored.iter().cloned());
        Ok(())
    }
}

/// An execution under way, since when.
type Flying = (u32, Receiver<Outcome>, Instant);

/// What workers share.
type Shared<'a> = (&'a Plan, &'a Names, &'a Watch, &'a AtomicBool);

impl<'a> Worker<'a> {
    /// Loads the NEFF and reads the inputs.
    ///
    /// # Errors
    ///
    /// No cores, a bad NEFF, inputs that do not fit.
    pub(super) fn load(
        cores: &'a Cores,
        neff: &[u8],
        number: u32,
        files: &Files,
        (plan, names, watch, interrupted): Shared<'a>,
    ) -> anyhow::Result<Self> {
        let since = Instant::now();
        let model = cores.load(neff, number)?;
        watch.note(thread(plan.rank(number)), "load", since);
        let info = cores.runtime.model_info(model).map_err(|failure| told(&failure))?;
        let inputs = files.inputs(number, &info.tensors)?;
        let tensors = info.tensors;
        Ok(Self { cores, plan, names, watch, interrupted, number, model, tensors, inputs })
    }

    /// Runs all executions.
    ///
    /// # Errors
    ///
    /// One that failed, outputs that cannot be saved or that differ. What was
    /// written before stays.
    pub(super) fn run(&self) -> anyhow::Result<Report> {
        let mut report = Report::default();
        let mut first = None;
        let mut differing = Vec::new();
        let mut flying: VecDeque<Flying> = VecDeque::new();
        let mut land = |(execution, outcome, since): Flying| -> anyhow::Result<()> {
            let outcome = self.wait(&outcome);
            let rank = self.plan.rank(self.number);
            self.watch.note(Row::Execution, format!("execution {execution} of rank {rank}"), since);
            let since = Instant::now();
            self.ended(execution, &outcome, &mut report)?;
            self.watch.note(thread(rank), "keep trace and outputs", since);
            if self.plan.check {
                let sum = outputs::checksum(&outcome.outputs);
                if *first.get_or_insert(sum) != sum {
                    differing.push(execution);
                }
            }
            Ok(())
        };
        for execution in 1..=self.plan.executions {
            if self.interrupted.load(Relaxed) {
                break;
            }
            let traced = self.plan.traced(self.number, execution);
            if traced {
                // A trace takes the first execution that is queued after it was
                // asked for, and there is one at a time.
                flying.drain(..).try_for_each(&mut land)?;
                let file = self.names.trace(self.plan.rank(self.number), execution);
                let begun = self.cores.runtime.profile_into(self.model, file);
                begun.map_err(|failure| told(&failure))?;
            }
            let since = Instant::now();
            let posted = self.post()?;
            self.watch.note(Row::Transfer, "inputs", since);
            flying.push_back((execution, posted, Instant::now()));
            let full = flying.len() >= usize::try_from(DEPTH)?;
            if traced || full || self.plan.mode != ExecMode::Async {
                flying.drain(..).try_for_each(&mut land)?;
            }
        }
        flying.drain(..).try_for_each(&mut land)?;
        if let Some(execution) = differing.first() {
            let (count, rank) = (differing.len(), self.plan.rank(self.number));
            bail!(
                "outputs of {count} executions of rank {rank} differ from those of the first, \
                 execution {execution} among them"
            );
        }
        Ok(report)
    }

    fn post(&self) -> anyhow::Result<Receiver<Outcome>> {
        let (send, receive) = sync_channel(1);
        let request =
            Request { model: self.model, inputs: self.inputs.clone(), outputs: Vec::new() };
        let done = move |outcome| {
            let _ = send.send(outcome);
        };
        let posted = self.cores.runtime.post_with(request, done);
        posted.map_err(|failure| told(&failure))?;
        Ok(receive)
    }

    /// Waits; once the user has had enough, for the end of what is cut short.
    fn wait(&self, outcome: &Receiver<Outcome>) -> Outcome {
        loop {
            match outcome.recv_timeout(LOOK) {
                Ok(outcome) => return outcome,
                Err(RecvTimeoutError::Timeout) if self.interrupted.load(Relaxed) => {
                    self.cores.runtime.give_up(self.model);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let text = "the runtime ended before the execution";
                    let place = "NMGR:exec_wait";
                    return Outcome::failed(rtd_runtime::Failure::new(
                        Code::Cancelled,
                        place,
                        text,
                    ));
                }
            }
        }
    }

    /// Keeps what an execution has left.
    fn ended(&self, execution: u32, outcome: &Outcome, report: &mut Report) -> anyhow::Result<()> {
        let rank = self.plan.rank(self.number);
        let place = || match self.plan.collectives {
            true => format!("execution {execution} of rank {rank}"),
            false => format!("execution {execution}"),
        };
        if self.plan.traced(self.number, execution) {
            match self.cores.runtime.profile_stop(self.model) {
                Ok(files) => {
                    report.traces.extend(files.into_iter().map(|file| (execution, file)));
                }
                // That the execution failed says more.
                Err(_) if outcome.failure.is_some() => {}
                Err(failure) => return Err(told(&failure)).with_context(place),
            }
        }
        if let Some(failure) = &outcome.failure {
            if self.interrupted.load(Relaxed) {
                return Ok(());
            }
            if !self.plan.ignore_errors {
                let error = told(failure).context("--ignore-exec-errors goes on after this");
                return Err(error).with_context(place);
            }
            report.ignored.push(format!("{}: {}", place(), told(failure)));
            if self.state() == Some(ModelState::Failed) {
                let runtime = &self.cores.runtime;
                let again = runtime.stop(self.model).and_then(|()| runtime.start(self.model));
                again.map_err(|failure| told(&failure))?;
            }
        }
        if self.plan.saved(execution) && !outcome.outputs.is_empty() {
            let which = (rank, execution);
            let saved =
                outputs::save(&outcome.outputs, &self.tensors, self.names, which, self.plan.save)?;
            report.saved.extend(saved);
        }
        Ok(())
    }

    fn state(&self) -> Option<ModelState> {
        self.cores.runtime.model_info(self.model).ok().map(|info| info.state)
    }
}
