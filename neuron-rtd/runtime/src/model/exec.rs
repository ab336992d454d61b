//! A step of an inference, on the thread of that step.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use neuron_core::neff::dtype;

use super::Model;
use super::watch::Watch;
use crate::attributes;
use crate::backend::{Inputs, NodeFault, ProfileOrigin};
use crate::failure::{Code, Failure, Subtype};
use crate::inspect::{Inspection, Kind};
use crate::job::{Job, Value};
use crate::plan::{Port, Step, Work};
use crate::request::Outcome;
use crate::run::Run;
use crate::stats::nanos;

const PLACE: &str = "TDRV:kbl_exec_wait";

/// Outputs of a step in their order, and its time on the device.
type Ran = (Vec<Arc<Vec<u8>>>, Option<u64>);

impl Model {
    /// Does one step of an inference and hands it on.
    pub(super) fn step(self: &Arc<Self>, run: &Arc<Run>, number: usize, job: &Arc<Job>) {
        let Some(step) = self.plan.steps.get(number) else { return };
        if !job.begin() {
            return;
        }
        let now = Instant::now();
        let end = now.checked_add(self.timeout).unwrap_or(now);
        if job.deadline.set(end).is_ok() {
            self.shared.deadlines.add(end, job.cookie, job);
        }
        let watch = Watch::of(self, step);
        let pre = watch.begin(Kind::PRE);
        let inputs = self.inputs(step, job);
        watch.end(pre);
        let result = inputs.and_then(|inputs| self.work(run, step, job, inputs, &watch));
        self.last_nanos.store(nanos(now.elapsed()), Relaxed);
        let (outputs, device_nanos) = match result {
            Ok(done) => done,
            Err(fault) => {
                watch.done();
                return self.broken(job, fault);
            }
        };
        let post = watch.begin(Kind::POST);
        if !job.is_pending() {
            watch.end(post);
            watch.done();
            return;
        }
        let mut values = job.values.lock().unwrap_or_else(PoisonError::into_inner);
        let from = step.takes.iter().map(|(_, value, _)| values.time(*value)).max();
        let end = self.clock.ran(number, from.unwrap_or(0), device_nanos.unwrap_or(0));
        if let Some(nanos) = device_nanos {
            let sum = values.device_nanos.unwrap_or(0).saturating_add(nanos);
            values.device_nanos = Some(sum);
        }
        let mut ready = Vec::new();
        for (bytes, (_, value)) in outputs.into_iter().zip(&step.gives) {
            ready.extend(values.put(&self.plan, *value, Value::Own(bytes), end));
        }
        values.steps_left = values.steps_left.saturating_sub(1);
        let last = values.steps_left == 0;
        drop(values);
        watch.end(post);
        watch.done();
        for next in ready {
            run.push(next, Arc::clone(job));
        }
        if last {
            self.complete(job);
        }
    }

    fn inputs<'s>(&self, step: &'s Step, job: &Job) -> Result<Inputs<'s>, NodeFault> {
        let mut values = job.values.lock().unwrap_or_else(PoisonError::into_inner);
        let take = |(name, value, _): &'s (String, usize, u64)| match values.take(*value) {
            Some(value) => Ok((name.as_str(), value)),
            None => Err(NodeFault::input(format!("input {name}: has no value"))),
        };
        Ok(Inputs(step.takes.iter().map(take).collect::<Result<_, _>>()?))
    }

    /// Runs the node; its outputs are in the order of the step's.
    fn work(
        &self,
        run: &Run,
        step: &Step,
        job: &Job,
        inputs: Inputs<'_>,
        watch: &Watch,
    ) -> Result<Ran, NodeFault> {
        match &step.work {
            Work::Cpu(op) => {
                // in the order of the step's: one may be taken twice by one name
                let read = |(name, value): (&str, Value)| {
                    let told = |reason| NodeFault::input(format!("input {name}: {reason}"));
                    value.into_bytes().map_err(told)
                };
                let inputs = inputs.0.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
                let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
                Ok((vec![Arc::new(op.run(&inputs))], None))
            }
            Work::Neuron { node, first_core, cores, physical } => {
                let from = Instant::now();
                let wait = watch.begin(Kind::WAIT);
                let session = self.shared.tracing.inspection().filter(Inspection::is_session);
                let captured = self.is_captured(job.cookie);
                let result = if captured || session.is_some() {
                    let inputs = inputs.into_tensors()?;
                    let before = session.as_ref().map_or(watch.before(), |session| {
                        session.arrive((*first_core, *cores), watch.before())
                    });
                    let profile = node.profile(&inputs, &self.origin(before), run.given_up());
                    if let Some(session) = session {
                        let device = profile.run.as_ref().ok().and_then(|done| done.device_nanos);
                        let device = device.unwrap_or_else(|| nanos(from.elapsed()));
                        let on = (*first_core, *cores, *physical);
                        session.executed(on, device, profile.trace.as_deref());
                    }
                    if let Some(trace) = profile.trace.filter(|_| captured) {
                        self.add_trace(job.cookie, trace);
                    }
                    profile.run
                } else {
                    node.run_from(inputs, run.given_up())
                };
                let nanos = result.as_ref().ok().and_then(|done| done.device_nanos);
                watch.ran((*first_core, *cores, *physical), self.id, nanos, from.elapsed());
                watch.end(wait);
                let stats = &self.shared.stats;
                stats.busy(*first_core, *cores, *physical, from.elapsed());
                let done = result?;
                if let Some(costs) = node.costs() {
                    stats.spent(*first_core, &costs.cores);
                }
                let outputs: std::collections::BTreeMap<String, Arc<Vec<u8>>> =
                    done.outputs.into_iter().map(|(name, data)| (name, Arc::new(data))).collect();
                let output = |(name, _): &(String, usize)| {
                    outputs.get(name).map(Arc::clone).ok_or_else(|| NodeFault {
                        code: Code::WithErr,
                        subtype: Subtype::Runtime,
                        text: format!("node {} gave no output {name}", step.name),
                        fatal: false,
                    })
                };
                let outputs = step.gives.iter().map(output).collect::<Result<_, _>>()?;
                Ok((outputs, done.device_nanos))
            }
        }
    }

    /// What a profile says about its origin.
    fn origin(&self, before: u64) -> ProfileOrigin {
        let instance = self.shared.instance.to_owned();
        ProfileOrigin { name: self.name.clone(), uuid: self.uuid, instance, before }
    }

    /// A step failed.
    fn broken(&self, job: &Arc<Job>, fault: NodeFault) {
        let text = match fault.code {
            Code::BadInput => fault.text,
            _ => format!("Error notifications found on {}: {}", fault.text, fault.subtype.name()),
        };
        let number = fault.code.number();
        let sync =
            format!(" Sync Infer Completion failed for cookie: {:#x}, err: {number}", job.cookie);
        let failure = Failure::new(fault.code, PLACE, text)
            .then(PLACE, sync)
            .then("NMGR:exec_wait", format!("Inference completed with err: {number}"));
        let subtype = (fault.code != Code::BadInput).then_some(fault.subtype);
        self.finish_capture(job.cookie);
        self.finish(job, Outcome::failed(failure.clone()), subtype, false);
        if fault.fatal {
            self.fail(&failure);
        }
    }

    /// All steps are done: outputs go where they should.
    fn complete(&self, job: &Arc<Job>) {
        let taken: Vec<Option<Value>> = {
            let mut values = job.values.lock().unwrap_or_else(PoisonError::into_inner);
            let ends = self.plan.outputs.iter().map(|port| values.time(port.value));
            let ended = ends.max().unwrap_or(0);
            values.ended = ended;
            self.clock.done(ended);
            self.plan.outputs.iter().map(|port| values.take(port.value)).collect()
        };
        self.finish_capture(job.cookie);
        let mut outcome = Outcome {
            failure: None,
            outputs: Vec::new(),
            written: Vec::new(),
            latency: std::time::Duration::ZERO,
        };
        let mut nan = Vec::new();
        for (value, port) in taken.into_iter().zip(&self.plan.outputs) {
            let name = &port.info.name;
            let bytes =
                value.ok_or_else(|| String::from("has no value")).and_then(Value::into_bytes);
            let bytes = match bytes {
                Ok(bytes) => bytes,
                Err(reason) => {
                    return self.broken(job, NodeFault::input(format!("output {name}: {reason}")));
                }
            };
            if self.shared.settings.numerical_errors && has_nan(port, &bytes) {
                nan.push(name.clone());
            }
            match job.sinks.iter().rev().find(|(sink, _)| sink == name) {
                Some((_, buffer)) => {
                    if let Err(reason) = buffer.write(&bytes) {
                        return self
                            .broken(job, NodeFault::input(format!("output {name}: {reason}")));
                    }
                    outcome.written.push((name.clone(), Arc::clone(buffer), port.info.bytes));
                }
                None => outcome.outputs.push((name.clone(), bytes)),
            }
        }
        let mut subtype = None;
        if !nan.is_empty() {
            if let Some(recorder) = self.shared.tracing.recorder() {
                let attributes = attributes! { "model_id": self.id };
                recorder.instant(Kind::NUMERICAL, self.first_core, attributes);
            }
            let core =
                self.plan.home().map_or_else(|| "the host".to_owned(), |nc| format!("NC {nc}"));
            let text = format!(
                "Error notifications found on {core}: {}: NaN in output {}",
                Subtype::Numerical.name(),
                nan.join(", ")
            );
            subtype = Some(Subtype::Numerical);
            outcome.failure = Some(
                Failure::new(Code::NumErr, PLACE, text)
                    .then("NMGR:exec_wait", "Inference completed with err: 1003"),
            );
        }
        self.finish(job, outcome, subtype, false);
    }
}

/// Whether a tensor of a floating-point type holds a NaN.
fn has_nan(port: &Port, bytes: &[u8]) -> bool {
    let word = port.info.dtype.as_deref().unwrap_or_default();
    let halves = |infinity: u16| {
        let mut halves = bytes.as_chunks().0.iter().map(|half| u16::from_le_bytes(*half));
        halves.any(|half| half & 0x7fff > infinity)
    };
    match (word, dtype(word).1) {
        ("float32" | "float32r", 4) => {
            bytes.as_chunks().0.iter().any(|word| f32::from_le_bytes(*word).is_nan())
        }
        ("bfloat16", 2) => halves(0x7f80),
        ("float16", 2) => halves(0x7c00),
        _ => false,
    }
}
