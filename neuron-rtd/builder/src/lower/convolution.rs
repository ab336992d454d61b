//! Convolution and pooling: channels on partitions, one image at a time.
//!
//! A convolution is a product for each position of its window: the stationary
//! matrix has the weights of the position, \[channels in, channels out\], and
//! the moving data is the image seen with the steps of the window
//! (neuroncore.md §5.3). All positions and channels sum up in one bank. With
//! padding the image is first copied into zeros.

use neuron_core::isa::address::Pattern;
use neuron_core::isa::body::tensor::Unary;
use neuron_core::isa::code::{AluOp, ReduceDims};
use neuron_core::isa::{Engine, Opcode};

use super::matmul::{Epilogue, Pass};
use super::place::{Form, Layout, View, pieces, tiles};
use super::tile::{Tile, pattern, stream, touches};
use super::{Lower, MOVING, PARTITIONS};
use crate::array::{Array, ElementType};
use crate::error::Result;
use crate::graph::{Activation, Origin, PoolKind, TensorId, Window};

/// Height and width.
type Size = [usize; 2];

/// A walk over a part of an image: innermost first.
fn walk<const N: usize>(tile: &Tile, start: usize, dims: &[(usize, usize)]) -> Pattern<N> {
    let mut walk: Pattern<N> = pattern(tile);
    walk.start.0 += (start * tile.element.bytes()) as u32;
    walk.counts = [1; N];
    for ((step, count), (by, many)) in walk.steps.iter_mut().zip(&mut walk.counts).zip(dims) {
        // images that fit SBUF have steps and counts of 16 bits
        (*step, *count) = (*by as i16, *many as u16);
    }
    walk
}

fn image_form(shape: &[usize]) -> (Form, Size) {
    let size = |axis: usize| shape.get(axis).copied().unwrap_or(1);
    let view = View { batch: size(0), rows: size(1), columns: size(2) * size(3) };
    (Form::rows(view), [size(2), size(3)])
}

impl Lower<'_> {
    pub(super) fn convolution(
        &mut self,
        index: usize,
        window: Window,
        x: TensorId,
        weights: TensorId,
        bias: Option<TensorId>,
        output: TensorId,
    ) -> Result<()> {
        let weights = self.weights_by_position(weights)?;
        let (mut epilogue, output) = self.epilogue(index, output, false);
        epilogue.bias = bias;
        let (x_form, size) = image_form(&self.shape(x));
        let (form, positions) = image_form(&self.shape(output));
        self.check_width(size, window)?;
        self.begin(output, form)?;
        for image in 0..form.view.batch {
            let mut channels = Vec::new();
            for p in pieces(x_form.view.rows, PARTITIONS) {
                let tile = self.tile(x, x_form, image, p.start, 0..x_form.view.columns)?;
                channels.push(self.padded(tile, size, window)?);
            }
            for p in pieces(form.view.rows, PARTITIONS) {
                let block = [(MOVING / positions[1]).max(1), MOVING];
                for down in pieces(positions[0], block[0]) {
                    for right in pieces(positions[1], block[1]) {
                        let part = (down.clone(), right);
                        let at = (image, p.clone(), part);
                        self.convolution_block(
                            (weights, &channels),
                            (size, window, positions),
                            at,
                            (output, form, epilogue),
                        )?;
                    }
                }
            }
            for tile in &channels {
                self.drop_tile(tile);
            }
        }
        self.used(weights);
        Ok(())
    }

    /// The results of some channels at some positions.
    fn convolution_block(
        &mut self,
        (weights, channels): (TensorId, &[Tile]),
        (size, window, positions): (Size, Window, Size),
        (image, p, (down, right)): (
            usize,
            std::ops::Range<usize>,
            (std::ops::Range<usize>, std::ops::Range<usize>),
        ),
        (output, form, epilogue): (TensorId, Form, Epilogue),
    ) -> Result<()> {
        let [_, width] = padded_size(size, window);
        let [down_step, right_step] = window.stride;
        let bank = self.bank(ElementType::F32, p.len(), down.len() * right.len())?;
        let shape = self.value(weights).shape.clone();
        let rows = shape.get(1).copied().unwrap_or(1);
        let view = View { batch: shape.iter().take(1).product(), rows, columns: form.view.rows };
        let terms = view.batch * channels.len();
        let mut term = 0;
        for position in 0..view.batch {
            let [i, j] = [position / window.size[1], position % window.size[1]];
            for (k, tile) in channels.iter().enumerate() {
                let first = k * PARTITIONS;
                let w = self.tile(weights, Form::rows(view), position, first, p.clone())?;
                let start = (down.start * down_step + i) * width + right.start * right_step + j;
                let dims = [(right_step, right.len()), (down_step * width, down.len())];
                let moving = walk(tile, start, &dims);
                let pass = Pass::Term { first: term == 0, last: term + 1 == terms };
                self.multiply_walk(&w, tile, moving, &bank, stream(&bank), pass)?;
                self.drop_tile(&w);
                term += 1;
            }
        }
        let start = down.start * positions[1] + right.start;
        let range = start..start + down.len() * right.len();
        let into = self.result(output, form, image, p.start, range.clone())?;
        // the channels of the bias are on partitions here
        self.finish_bank(&bank, &into, epilogue, Layout::Columns, p.start, range)?;
        self.drop_tile(&bank);
        self.finish(output, form, &into, image, p.start, start)
    }

    /// Steps and counts of a walk have 16 bits.
    fn check_width(&self, size: Size, window: Window) -> Result<()> {
        let [height, width] = padded_size(size, window);
        if height.checked_mul(width).is_none_or(|pixels| pixels > u16::MAX as usize) {
            return Err(self.refuse(format!("images of {height} x {width}, the most is 65535")));
        }
        let step = width.checked_mul(window.stride[0]);
        if step.is_none_or(|step| step > i16::MAX as usize) {
            return Err(self.refuse(format!("rows of {width} are too far apart")));
        }
        Ok(())
    }

    /// The weights as \[positions of the window, channels in, channels out\].
    fn weights_by_position(&mut self, weights: TensorId) -> Result<TensorId> {
        let root = self.root(weights);
        let tensor = self.graph.tensors.get(root);
        let Some(Origin::Constant(array)) = tensor.map(|tensor| &tensor.origin) else {
            return Err(self.refuse("weights that are no constant"));
        };
        let &[o, c, kh, kw] = array.shape() else {
            return Err(self.refuse("weights without four sizes"));
        };
        let source = |index: usize| {
            let (out, rest) = (index % o, index / o);
            let (channel, position) = (rest % c, rest / c);
            (out * c + channel) * kh * kw + position
        };
        let ordered: Array = array.part(&[kh * kw, c, o], o * c * kh * kw, source);
        Ok(self.prepare(ordered))
    }

    /// An image with the zeros around it.
    fn padded(&mut self, tile: Tile, size: Size, window: Window) -> Result<Tile> {
        let [above, left] = window.padding;
        if window.padding == [0; 2] {
            return Ok(tile);
        }
        let [height, width] = padded_size(size, window);
        let padded = self.scratch(tile.element, tile.parts, height * width)?;
        self.memset(&padded)?;
        let rows = [(1, size[1]), (size[1], size[0])];
        let places = [(1, size[1]), (width, size[0])];
        let body = Unary {
            src: walk(&tile, 0, &rows),
            src_type: tile.element.dtype(),
            dst_type: tile.element.dtype(),
            channels: self.field(tile.parts)?,
            dst: walk(&padded, above * width + left, &places),
            ..Unary::default()
        };
        let touched = touches(&[&tile], &[&padded]);
        self.emit.compute(Engine::Dve, Opcode::COPY, body, "pad", &touched)?;
        self.drop_tile(&tile);
        Ok(padded)
    }

    pub(super) fn pool(
        &mut self,
        kind: PoolKind,
        window: Window,
        x: TensorId,
        output: TensorId,
    ) -> Result<()> {
        let (x_form, size) = image_form(&self.shape(x));
        let (form, [down, right]) = image_form(&self.shape(output));
        self.check_width(size, window)?;
        self.begin(output, form)?;
        for (image, p, parts) in tiles(form) {
            let from = self.tile(x, x_form, image, p, 0..x_form.view.columns)?;
            let into = self.result(output, form, image, p, 0..down * right)?;
            let [kh, kw] = window.size;
            let [down_step, right_step] = window.stride;
            let dims = [(1, kw), (size[1], kh), (right_step, right), (down_step * size[1], down)];
            let sums = match kind {
                PoolKind::Max => into.clone(),
                PoolKind::Average => self.scratch(ElementType::F32, parts, down * right)?,
            };
            let body = Unary {
                src: walk(&from, 0, &dims),
                src_type: from.element.dtype(),
                dst_type: sums.element.dtype(),
                channels: self.field(parts)?,
                op: if kind == PoolKind::Max { AluOp::MAX } else { AluOp::ADD },
                dims: ReduceDims::XY,
                dst: pattern(&sums),
                ..Unary::default()
            };
            let touched = touches(&[&from], &[&sums]);
            self.emit.compute(Engine::Dve, Opcode::TENSOR_REDUCE, body, "reduce", &touched)?;
            if kind == PoolKind::Average {
                let scale = 1.0 / (kh * kw) as f32;
                self.function(Activation::Identity, &sums, &into, scale, None)?;
                self.drop_tile(&sums);
            }
            self.drop_tile(&from);
            self.finish(output, form, &into, image, p, 0)?;
        }
        Ok(())
    }
}

fn padded_size(size: Size, window: Window) -> Size {
    let [height, width] = size;
    let [above, left] = window.padding;
    [height + 2 * above, width + 2 * left]
}
