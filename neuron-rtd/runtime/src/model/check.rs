//! Inputs and outputs of a request against those of the model.

use std::sync::Arc;

use super::Model;
use crate::failure::{Code, Failure};
use crate::job::{Value, Values};
use crate::request::{Input, Request};
use crate::shared::SharedBuffer;

/// Values of the inputs, and where outputs go.
type Checked = (Values, Vec<(String, Arc<SharedBuffer>)>);

impl Model {
    /// Inputs and outputs of a request against those of the model.
    pub(super) fn check(&self, request: Request) -> Result<Checked, Failure> {
        const PLACE: &str = "TDRV:io_queue_prepare_input";
        let bad = |text: String| Failure::new(Code::BadInput, PLACE, text);
        let mut inputs = Vec::new();
        for port in self.plan.inputs.iter().filter(|port| port.used) {
            let name = &port.info.name;
            let given = request.inputs.iter().rev().find(|(given, _)| given == name);
            let Some((_, input)) = given else {
                let expected = self.plan.inputs.iter().filter(|port| port.used).count();
                let received = request.inputs.len();
                let count =
                    format!("Wrong number of ifmaps, expected: {expected}, received: {received}");
                return Err(bad(count).then(PLACE, format!("input {name} is missing")));
            };
            let expected = port.info.bytes;
            let value = match input {
                Input::Inline(data) => {
                    let received = u64::try_from(data.bytes().len()).unwrap_or(u64::MAX);
                    if received != expected {
                        return Err(bad(format!(
                            "Invalid data length for [{name}], received {received}, expected {expected}"
                        )));
                    }
                    Value::Inline(data.clone())
                }
                Input::Shared(buffer) => {
                    buffer.check(name, expected, false).map_err(bad)?;
                    Value::Shared(Arc::clone(buffer), expected)
                }
            };
            inputs.push((port.value, value));
        }
        // inputs that the compiler found a way without are known by name
        for (name, _) in &request.inputs {
            if !self.plan.inputs.iter().any(|port| port.info.name == *name) {
                return Err(bad(format!("the model has no input {name:?}")));
            }
        }
        for (name, buffer) in &request.outputs {
            let port = self.plan.outputs.iter().find(|port| port.info.name == *name);
            let port = port.ok_or_else(|| bad(format!("the model has no output {name:?}")))?;
            buffer.check(name, port.info.bytes, true).map_err(bad)?;
        }
        Ok((Values::new(&self.plan, inputs, self.clock.arrival()), request.outputs))
    }
}
