//! Products on the array, and what happens to a result on its way from PSUM to
//! SBUF (neuroncore.md §5.3).
//!
//! The stationary matrix has up to 128 columns, the moving one up to 512, and
//! the sum over more than 128 rows runs in one bank. With the left matrix
//! stationary the result has its rows on partitions, with the right one its
//! columns; the latter is what a following product takes as its left matrix,
//! so chains of layers need no transposes. fp32 takes two passes.

use std::ops::Range;

use neuron_core::isa::address::Pattern;
use neuron_core::isa::body::pe::{AccumulateFlags, LoadWeights, MatMul};
use neuron_core::isa::code::{Fp32Mode, TransposeMode};
use neuron_core::isa::{Engine, Opcode};

use super::place::{Form, Layout, View, pieces};
use super::tile::{Tile, parameter, stream, touches};
use super::{Lower, MOVING, PARTITIONS};
use crate::array::ElementType;
use crate::error::Result;
use crate::graph::{Activation, Attention, Node, Op, TensorId, TwoTensors};

/// Blocks of a result that are summed side by side, in a bank each: what a
/// transfer brings is used in all of them at once, and the other half of the
/// banks is free for the blocks that follow.
const BLOCKS: usize = 4;

/// What a pass of the array does with the bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    /// A term of a sum: whether it is the first, and the last.
    Term { first: bool, last: bool },
    /// An exact transpose.
    Transpose,
}

/// What follows a product at once.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Epilogue {
    /// A bias along the columns of the result.
    pub(super) bias: Option<TensorId>,
    /// A function.
    pub(super) function: Option<Activation>,
    /// The last operator that it does.
    node: usize,
}

/// A part of a matrix: batch, and first partition.
type Corner = (usize, usize);

impl Lower<'_> {
    pub(super) fn matmul(
        &mut self,
        index: usize,
        (a, transpose_a): (TensorId, bool),
        (b, transpose_b): (TensorId, bool),
        output: TensorId,
    ) -> Result<()> {
        let (left, right) = (self.shape(a), self.shape(b));
        let lead = right.len() - 2;
        let (av, bv) = (View::batched(&left, lead), View::batched(&right, lead));
        let (epilogue, output) = self.epilogue(index, output, true);
        // the sum runs over partitions: columns of the left, rows of the right
        let left = if transpose_a { Form::rows(av) } else { Form::columns(av) };
        let right = if transpose_b { Form::columns(bv) } else { Form::rows(bv) };
        let (sum, rows) = left.extent();
        let view = View { batch: av.batch, rows, columns: right.extent().1 };
        let by_columns = self.wanted_by_columns(output, view);
        let form = if by_columns { Form::columns(view) } else { Form::rows(view) };
        let (left, right) = ((a, left), (b, right));
        let (stationary, moving) = if by_columns { (right, left) } else { (left, right) };
        self.begin(output, form)?;
        let (parts, free) = form.extent();
        let rows = pieces(parts, PARTITIONS);
        let blocks: Vec<_> =
            rows.flat_map(|p| pieces(free, MOVING).map(move |f| (p.clone(), f))).collect();
        for batch in 0..view.batch {
            for blocks in blocks.chunks(BLOCKS) {
                let banks = blocks.iter().map(|(p, f)| {
                    let bank = self.bank(ElementType::F32, p.len(), f.len())?;
                    Ok((p.clone(), f.clone(), bank))
                });
                let banks: Vec<_> = banks.collect::<Result<_>>()?;
                for k in pieces(sum, PARTITIONS) {
                    let pass = Pass::Term { first: k.start == 0, last: k.end == sum };
                    for (p, f, bank) in &banks {
                        let (corner, block) = ((batch, k.start), (p.clone(), f.clone()));
                        self.term(stationary, moving, corner, block, bank, pass)?;
                    }
                }
                for (p, f, bank) in banks {
                    let tile = self.result(output, form, batch, p.start, f.clone())?;
                    self.finish_bank(&bank, &tile, epilogue, form.layout, p.start, f.clone())?;
                    self.drop_tile(&bank);
                    self.finish(output, form, &tile, batch, p.start, f.start)?;
                }
            }
        }
        Ok(())
    }

    /// One product of two tiles.
    fn term(
        &mut self,
        (s, s_form): (TensorId, Form),
        (m, m_form): (TensorId, Form),
        (batch, k): Corner,
        (p, f): (Range<usize>, Range<usize>),
        bank: &Tile,
        pass: Pass,
    ) -> Result<()> {
        let stationary = self.tile(s, s_form, batch, k, p)?;
        let moving = self.tile(m, m_form, batch, k, f)?;
        self.multiply(&stationary, &moving, bank, pass)?;
        self.drop_tile(&stationary);
        self.drop_tile(&moving);
        Ok(())
    }

    /// bank (+)= stationary^T moving.
    pub(super) fn multiply(
        &mut self,
        stationary: &Tile,
        moving: &Tile,
        bank: &Tile,
        pass: Pass,
    ) -> Result<()> {
        let [source, result] = [stream(moving), stream(bank)];
        self.multiply_walk(stationary, moving, source, bank, result, pass)
    }

    /// The same with a walk of its own through the moving data.
    pub(super) fn multiply_walk(
        &mut self,
        stationary: &Tile,
        moving: &Tile,
        source: Pattern<3>,
        bank: &Tile,
        result: Pattern<3>,
        pass: Pass,
    ) -> Result<()> {
        self.weights(stationary, false, false)?;
        if stationary.element != ElementType::F32 {
            return self.product(moving, source, bank, result, pass);
        }
        // the low part of the weights, then the high part, of the same tile
        let Pass::Term { first, last } = pass else {
            return Err(self.refuse("a transpose is one pass"));
        };
        self.product(moving, source, bank, result, Pass::Term { first, last: false })?;
        self.weights(stationary, false, true)?;
        self.product(moving, source, bank, result, Pass::Term { first: false, last })
    }

    /// LDWEIGHTS of a tile, the last column first.
    pub(super) fn weights(&mut self, tile: &Tile, transpose: bool, high: bool) -> Result<()> {
        let mut source = stream(tile);
        let last = (tile.free - 1) * tile.element.bytes();
        source.start.0 += self.field::<u32>(last)?;
        source.steps = [-1, 0, 0];
        let body = LoadWeights {
            src: source,
            src_type: tile.element.dtype(),
            fp32_mode: match (tile.element, high) {
                (ElementType::F32, false) => Fp32Mode::LOW,
                (ElementType::F32, true) => Fp32Mode::HIGH,
                _ => Fp32Mode::NONE,
            },
            transpose_mode: TransposeMode(u8::from(transpose)),
            rows: self.field(tile.parts)?,
            row_group: tile.rows(),
            columns: self.field(tile.free)?,
            ..LoadWeights::default()
        };
        let what = if transpose { "transpose" } else { "weights" };
        self.emit.compute(Engine::Pe, Opcode::LDWEIGHTS, body, what, &touches(&[tile], &[]))
    }

    /// MATMUL with the weights that are loaded.
    pub(super) fn product(
        &mut self,
        moving: &Tile,
        source: Pattern<3>,
        bank: &Tile,
        result: Pattern<3>,
        pass: Pass,
    ) -> Result<()> {
        // bit 0 overwrites, bit 1 ends the sum (isa-layouts.md §3.2)
        let (flags, what) = match pass {
            Pass::Term { first, last } => (u8::from(first) | u8::from(last) << 1, "product"),
            Pass::Transpose => (3, "transpose"),
        };
        let fp32 = moving.element == ElementType::F32;
        let body = MatMul {
            src: source,
            src_type: moving.element.dtype(),
            fp32_mode: if fp32 { Fp32Mode::LOW_HIGH } else { Fp32Mode::NONE },
            transpose_mode: TransposeMode(u8::from(pass == Pass::Transpose)),
            rows: self.field(moving.parts)?,
            row_group: moving.rows(),
            columns: self.field(bank.parts)?,
            accumulate: AccumulateFlags(flags),
            dst: result,
            ..MatMul::default()
        };
        let reads: &[&Tile] = if flags & 1 == 0 { &[moving, bank] } else { &[moving] };
        self.emit.compute(Engine::Pe, Opcode::MATMUL, body, what, &touches(reads, &[bank]))
    }

    /// The bias and the function that follow an operator and can be done with
    /// it, and the tensor that they make.
    pub(super) fn epilogue(
        &mut self,
        index: usize,
        output: TensorId,
        bias: bool,
    ) -> (Epilogue, TensorId) {
        let mut epilogue = Epilogue { node: index, ..Epilogue::default() };
        let mut output = output;
        while let Some((next, node)) = self.only_user(output) {
            let is_row = |b: &TensorId| self.shape(*b).len() == 1 && self.shape(output).len() > 1;
            match (&node.op, node.inputs.as_slice()) {
                (Op::Two(TwoTensors::Add), [_, b])
                    if bias
                        && epilogue.bias.is_none()
                        && epilogue.function.is_none()
                        && is_row(b)
                        && self.is_ready(*b, index) =>
                {
                    epilogue.bias = Some(*b);
                }
                (Op::Activation(function), [_]) if epilogue.function.is_none() => {
                    epilogue.function = Some(*function);
                }
                _ => break,
            }
            self.fuse(next);
            output = node.output;
            epilogue.node = next;
        }
        (epilogue, output)
    }

    /// Whether a tensor exists before an operator runs.
    fn is_ready(&self, id: TensorId, index: usize) -> bool {
        let made = self.graph.nodes.iter().position(|node| node.output == id);
        made.is_none_or(|made| made < index)
    }

    /// Whether every user of a tensor takes it with its columns on partitions.
    fn wanted_by_columns(&self, id: TensorId, view: View) -> bool {
        let element = self.value(id).element;
        let users: Vec<_> =
            self.graph.nodes.iter().filter(|node| node.inputs.contains(&id)).collect();
        let as_head = |attention: Attention, node: &Node| {
            let [q, k, v] = node.inputs.as_slice() else { return false };
            let shape = self.shape(id);
            let same = View::batched(&shape, shape.len().saturating_sub(2)) == view;
            (*q == id || *k == id) && *v != id && same && attention.by_columns(view.columns)
        };
        let as_left = |node: &Node| {
            let right = node.inputs.get(1).map(|b| self.shape(*b).len());
            matches!(node.op, Op::MatMul { transpose_a: false, .. })
                && node.inputs.first() == Some(&id)
                && node.inputs.get(1) != Some(&id)
                && right == Some(2)
        };
        view.batch == 1
            && self.value(id).hbm.is_none()
            && self.value(id).uses == users.len()
            && !users.is_empty()
            && self.may_stay(element, Form::columns(view))
            && users.iter().all(|node| match node.op {
                Op::Attention(attention) => as_head(attention, node),
                _ => as_left(node),
            })
    }

    /// A bank to its place in the result, with bias and function. `first` is
    /// the first number on the partitions, `range` the others.
    pub(super) fn finish_bank(
        &mut self,
        bank: &Tile,
        into: &Tile,
        epilogue: Epilogue,
        layout: Layout,
        first: usize,
        range: Range<usize>,
    ) -> Result<()> {
        let node = std::mem::replace(&mut self.emit.node, epilogue.node);
        match (epilogue.bias, epilogue.function) {
            (Some(bias), function) => {
                self.biased_bank(bank, into, (bias, function), layout, first, range)?;
            }
            (None, Some(function)) => self.function(function, bank, into, 1.0, None)?,
            (None, None) => self.copy(bank, into, "result")?,
        }
        self.emit.node = node;
        Ok(())
    }

    /// A bank to its place with a bias, and a function if there is one.
    fn biased_bank(
        &mut self,
        bank: &Tile,
        into: &Tile,
        (bias, function): (TensorId, Option<Activation>),
        layout: Layout,
        first: usize,
        range: Range<usize>,
    ) -> Result<()> {
        let length = self.value(bias).shape.iter().product();
        if layout == Layout::Columns {
            let column = self.tile(bias, parameter(Layout::Column, length), 0, first, 0..1)?;
            let function = function.unwrap_or(Activation::Identity);
            self.function(function, bank, into, 1.0, Some(&column))?;
            self.drop_tile(&column);
            return Ok(());
        }
        let row = self.tile(bias, parameter(Layout::Spread, length), 0, 0, range)?;
        let row_here = row.top(bank.parts);
        match function {
            None => self.two_tiles(TwoTensors::Add, bank, &row_here, into)?,
            Some(function) => {
                self.two_tiles(TwoTensors::Add, bank, &row_here, bank)?;
                self.function(function, bank, into, 1.0, None)?;
            }
        }
        self.drop_tile(&row);
        Ok(())
    }
}
