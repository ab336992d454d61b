//! The software NeuronCore.
//!
//! It runs a program of any generation, whatever device the instance has (our
//! choice): what a program computes does not depend on it.

use neuron_core::neff::Usage;
use npu::{LoadError, Program, Stop};

use super::{Backend, Node, NodeFault, NodeImage, NodeRun, NodeTensor, Tensors};
use crate::failure::{Code, Failure, Subtype};

/// The software NeuronCore.
#[derive(Debug, Clone, Copy, Default)]
pub struct Software {
    /// Bounds of one run.
    pub limits: npu::Limits,
}

#[derive(Debug)]
struct Ready {
    program: Program,
    tensors: Vec<NodeTensor>,
    limits: npu::Limits,
    cores: String,
}

impl Backend for Software {
    fn name(&self) -> &'static str {
        "software NeuronCore"
    }

    fn load(&self, image: &NodeImage<'_>) -> Result<Box<dyn Node>, Failure> {
        let program = Program::from_neff(image.neff).map_err(|error| {
            let code = match error {
                LoadError::Target => Code::UnsupportedVersion,
                _ => Code::Invalid,
            };
            Failure::new(code, "TDRV:kbl_model_add", format!("{}: {error}", image.name))
        })?;
        let tensors = program.tensors().iter().map(|tensor| NodeTensor {
            name: tensor.name.clone(),
            output: tensor.usage == Usage::Output,
            bytes: tensor.bytes,
        });
        let tensors = tensors.collect();
        let last = image.first_core + image.cores.saturating_sub(1);
        let cores = format!("NC {}-{last} of node {}", image.first_core, image.name);
        Ok(Box::new(Ready { program, tensors, limits: self.limits, cores }))
    }
}

impl Node for Ready {
    fn tensors(&self) -> &[NodeTensor] {
        &self.tensors
    }

    fn run(&self, inputs: &Tensors) -> Result<NodeRun, NodeFault> {
        match self.program.run_with(inputs, &self.limits, &mut ()) {
            Ok(outputs) => Ok(NodeRun { outputs, device_nanos: None }),
            Err(stop) => Err(self.fault(&stop)),
        }
    }
}

impl Ready {
    fn fault(&self, stop: &Stop) -> NodeFault {
        let (code, subtype, fatal) = match stop {
            Stop::Input { .. } => (Code::BadInput, Subtype::None, false),
            // on a device nothing would come back until the time is over
            Stop::Deadlock(_) | Stop::Instructions(_) => (Code::Timeout, Subtype::Model, true),
            Stop::Output { .. } => (Code::WithErr, Subtype::Runtime, false),
            _ => (Code::WithErr, Subtype::Model, false),
        };
        NodeFault { code, subtype, text: format!("{}: {stop}", self.cores), fatal }
    }
}
