//! An execution: inputs out of tensors, a run, outputs into tensors.

use std::sync::Arc;

use neuron_core::uapi::nrt::Status;
use rtd_runtime::{Code, Data, Input, Request};

use crate::call::Fault;
use crate::model::Model;
use crate::session::Session;
use crate::set::Set;
use crate::tensor::Tensor;

/// Tensors by the model's names.
type Named = Vec<(String, Arc<Tensor>)>;

/// A model with the tensors that it will read and write. What is in the sets
/// later does not matter.
#[derive(Debug, Clone)]
pub(crate) struct Execution {
    session: Arc<Session>,
    pub(crate) model: Arc<Model>,
    inputs: Named,
    outputs: Named,
}

impl Execution {
    /// Finds the tensors in the sets.
    pub(crate) fn new(
        session: Arc<Session>,
        model: Arc<Model>,
        inputs: &Set,
        outputs: &Set,
    ) -> Result<Self, Fault> {
        let find = |set: &Set, output: bool| {
            let what = if output { "output" } else { "input" };
            let ports = model.ports(output);
            let found =
                ports.map(|port| Ok((port.name.clone(), set.find(what, &port.name, port.bytes)?)));
            found.collect::<Result<Named, Fault>>()
        };
        let (inputs, outputs) = (find(inputs, false)?, find(outputs, true)?);
        Ok(Self { session, model, inputs, outputs })
    }

    /// Runs once and waits for it.
    pub(crate) fn run(&self) -> Result<(), Fault> {
        let session = &self.session;
        let turn = self.model.seat.take(&session.runtime, self.model.id, self.model.slots);
        let turn = turn.map_err(|failure| session.fault(failure))?;
        let mut inputs = Vec::new();
        for (name, tensor) in &self.inputs {
            let data = Data::new(tensor.view()?.bytes());
            inputs.push((name.clone(), Input::Inline(data)));
        }
        let request = Request { model: self.model.id, inputs, outputs: Vec::new() };
        let outcome = session.runtime.infer(request);
        drop(turn);
        // NaN is told, and the outputs are there all the same
        let failure = outcome.failure;
        if let Some(failure) = failure.as_ref().filter(|failure| failure.code != Code::NumErr) {
            return Err(session.fault(failure.clone()));
        }
        for (name, tensor) in &self.outputs {
            let given = outcome.outputs.iter().find(|(given, _)| given == name);
            let (_, bytes) = given.ok_or_else(|| {
                Fault::new(Status::FAILURE, format!("the model gave no output {name:?}"))
            })?;
            tensor.view()?.fill(bytes)?;
            tensor.completed();
        }
        match failure {
            Some(failure) => Err(session.fault(failure)),
            None => Ok(()),
        }
    }

    /// Runs so many times; what one run puts out is what the next takes in.
    pub(crate) fn repeat(&self, count: u32) -> Result<(), Fault> {
        let mut pairs = Vec::new();
        let mut fed = false;
        for (name, output) in &self.outputs {
            let from = output.view()?;
            for (taken, input) in &self.inputs {
                let to = input.view()?;
                if from.overlaps(&to) {
                    fed = true;
                } else if taken == name && from.size == to.size {
                    pairs.push((from.clone(), to));
                }
            }
        }
        if count > 1 && !fed && pairs.is_empty() {
            let text = "no output feeds an input: none has its name and size, none its memory";
            return Err(Fault::invalid(text));
        }
        for round in 0..count {
            if round > 0 {
                for (from, to) in &pairs {
                    to.fill(&from.bytes())?;
                }
            }
            self.run()?;
        }
        Ok(())
    }
}
