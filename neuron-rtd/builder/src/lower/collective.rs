//! Collectives: one record on POOL, between variables of scratch
//! (neuroncore.md §3.7).

use neuron_core::isa::Opcode;
use neuron_core::isa::body::pseudo::Collective;
use neuron_core::isa::code::{AluOp, CollectiveKind};

use super::{Lower, VariableKind};
use crate::emit::{Queue, Touches};
use crate::error::Result;
use crate::graph::{Reduction, TensorId};

impl Lower<'_> {
    /// The tensors of all cores of the file, folded.
    pub(super) fn all_reduce(
        &mut self,
        fold: Reduction,
        x: TensorId,
        output: TensorId,
    ) -> Result<()> {
        let (element, shape) = (self.value(x).element, self.value(x).shape.clone());
        let count: usize = shape.iter().product();
        let bytes = count * element.bytes();
        let mut from = self.hbm_variable(x)?;
        if !self.is_scratch(from) {
            let copy = self.scratch_variable(element, &shape);
            self.duplicate(from, copy, bytes)?;
            from = copy;
        }
        let to = self.scratch_variable(element, &shape);
        let body = Collective {
            op: match fold {
                Reduction::Sum => AluOp::ADD,
                Reduction::Max => AluOp::MAX,
            },
            dtype: element.dtype(),
            group_id: 0,
            input_tensor_id: from,
            output_tensor_id: to,
            num_elements: count as u64,
            kind: CollectiveKind::ALL_REDUCE,
            src_offset: 0,
            dst_offset: 0,
        };
        let touches = Touches { loads: vec![from], stores: vec![to], ..Touches::default() };
        let opcode = Opcode::PSEUDO_TRIGGER_COLLECTIVE;
        self.emit.queue(Queue::Collective, opcode, |_| body, "all-reduce", &touches)?;
        match self.value(output).hbm {
            // an output
            Some(variable) => self.duplicate(to, variable, bytes),
            None => {
                self.value_mut(output).hbm = Some(to);
                Ok(())
            }
        }
    }

    fn is_scratch(&self, variable: u32) -> bool {
        let index = usize::try_from(variable).ok().and_then(|variable| variable.checked_sub(1));
        let known = index.and_then(|index| self.variables.get(index));
        known.is_some_and(|variable| variable.kind == VariableKind::Scratch)
    }
}
