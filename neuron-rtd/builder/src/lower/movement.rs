//! Concatenation, slices, and further outputs: transfers within HBM.

use super::place::pieces;
use super::transfer::Walk;
use super::{Lower, PARTITIONS};
use crate::array::ElementType;
use crate::emit::{Queue, Touches};
use crate::error::Result;
use crate::graph::TensorId;

/// Most bytes of a run within HBM (our choice).
const RUN: usize = 32 << 10;
/// Most runs of a transfer (our choice).
const RUNS: usize = 64 * PARTITIONS;

/// Runs of bytes in a variable.
#[derive(Debug, Clone, Copy)]
struct Runs {
    variable: u32,
    offset: usize,
    /// Bytes from a run to the next.
    step: usize,
}

/// The sizes around an axis: those before it, and bytes of one index of it.
fn around(shape: &[usize], axis: usize, element: ElementType) -> (usize, usize) {
    let (outer, rest) = shape.split_at_checked(axis).unwrap_or((shape, &[]));
    let inner: usize = rest.iter().skip(1).product();
    (outer.iter().product(), inner * element.bytes())
}

impl Lower<'_> {
    /// Copies runs of bytes within HBM.
    fn move_runs(&mut self, from: Runs, to: Runs, count: usize, run: usize) -> Result<()> {
        let variable = from.variable.checked_sub(1).and_then(|index| usize::try_from(index).ok());
        let known = variable.and_then(|index| self.variables.get(index));
        let element = known.map_or(ElementType::F32, |variable| variable.element);
        for piece in pieces(run, RUN) {
            for some in pieces(count, RUNS) {
                let walk = |runs: Runs| Walk {
                    variable: runs.variable,
                    offset: runs.offset + some.start * runs.step + piece.start,
                    steps: [runs.step, 0],
                    counts: [some.len(), 1],
                    run: piece.len(),
                    element,
                };
                let touches = Touches {
                    loads: vec![from.variable],
                    stores: vec![to.variable],
                    ..Touches::default()
                };
                self.transfer(Queue::Store, walk(from), walk(to), "move", &touches)?;
            }
        }
        Ok(())
    }

    /// The variable of a tensor that is made in HBM.
    pub(super) fn made_in_hbm(&mut self, id: TensorId) -> u32 {
        if let Some(variable) = self.value(id).hbm {
            return variable;
        }
        let (element, shape) = (self.value(id).element, self.value(id).shape.clone());
        let variable = self.scratch_variable(element, &shape);
        self.value_mut(id).hbm = Some(variable);
        variable
    }

    pub(super) fn concat(
        &mut self,
        axis: usize,
        inputs: &[TensorId],
        output: TensorId,
    ) -> Result<()> {
        let shape = self.shape(output);
        let (outer, inner) = around(&shape, axis, self.value(output).element);
        let row = inner * shape.get(axis).copied().unwrap_or(1);
        let to = self.made_in_hbm(output);
        let mut offset = 0;
        for input in inputs {
            let run = inner * self.shape(*input).get(axis).copied().unwrap_or(1);
            let from = Runs { variable: self.hbm_variable(*input)?, offset: 0, step: run };
            self.move_runs(from, Runs { variable: to, offset, step: row }, outer, run)?;
            offset += run;
        }
        Ok(())
    }

    pub(super) fn slice(
        &mut self,
        axis: usize,
        start: usize,
        x: TensorId,
        output: TensorId,
    ) -> Result<()> {
        let (shape, whole) = (self.shape(output), self.shape(x));
        let (outer, inner) = around(&shape, axis, self.value(output).element);
        let run = inner * shape.get(axis).copied().unwrap_or(1);
        let step = inner * whole.get(axis).copied().unwrap_or(1);
        let from = Runs { variable: self.hbm_variable(x)?, offset: inner * start, step };
        let to = Runs { variable: self.made_in_hbm(output), offset: 0, step: run };
        self.move_runs(from, to, outer, run)
    }

    /// Copies a whole variable.
    pub(super) fn duplicate(&mut self, from: u32, to: u32, bytes: usize) -> Result<()> {
        let run = bytes.min(RUN);
        let runs = |variable, offset| Runs { variable, offset, step: run };
        let whole = bytes / run * run;
        self.move_runs(runs(from, 0), runs(to, 0), bytes / run, run)?;
        if whole < bytes {
            self.move_runs(runs(from, whole), runs(to, whole), 1, bytes - whole)?;
        }
        Ok(())
    }

    /// Outputs that are inputs, constants, or another output too.
    pub(super) fn outputs(&mut self) -> Result<()> {
        for (_, id) in &self.graph.outputs {
            let bytes =
                self.value(*id).shape.iter().product::<usize>() * self.value(*id).element.bytes();
            for copy in std::mem::take(&mut self.value_mut(*id).copies) {
                let from = self.hbm_variable(*id)?;
                self.duplicate(from, copy, bytes)?;
            }
        }
        Ok(())
    }
}
