//! Single instructions of ACT and DVE on tiles.

use neuron_core::isa::activation::Activation as Function;
use neuron_core::isa::body::act::{Activate, ReadAccumulator, TableLoad};
use neuron_core::isa::body::tensor::{TensorScalar, TensorTensor, Unary};
use neuron_core::isa::code::{AccumulatorCmd, AluOp, BiasSource, ImmSource, ReduceDims};
use neuron_core::isa::{Engine, Opcode};

use super::place::pieces;
use super::tile::{Tile, pattern, touches};
use super::{CHUNK, Lower};
use crate::array::ElementType;
use crate::error::Result;
use crate::graph::{Activation, TwoTensors};

impl TwoTensors {
    pub(super) const fn alu(self) -> AluOp {
        match self {
            Self::Add => AluOp::ADD,
            Self::Subtract => AluOp::SUBTRACT,
            Self::Multiply => AluOp::MULTIPLY,
            Self::Divide => AluOp::DIVIDE,
            Self::Maximum => AluOp::MAX,
        }
    }
}

/// A second operand of an instruction of DVE.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scalar<'t> {
    /// A number.
    Number(f32),
    /// A number for each partition.
    Column(&'t Tile),
}

/// A bias of ACT.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bias<'t> {
    /// A number.
    Number(f32),
    /// A number for each partition.
    Column(&'t Tile),
}

impl Lower<'_> {
    /// A copy, with a change of type if there is one, on ACT and DVE in turn.
    pub(super) fn copy(&mut self, from: &Tile, into: &Tile, what: &'static str) -> Result<()> {
        self.turn = !self.turn;
        let engine = if self.turn { Engine::Dve } else { Engine::Act };
        self.unary(engine, from, into, what)
    }

    /// A copy on an engine.
    fn unary(
        &mut self,
        engine: Engine,
        from: &Tile,
        into: &Tile,
        what: &'static str,
    ) -> Result<()> {
        let opcode = if from.element == into.element { Opcode::COPY } else { Opcode::CAST };
        for piece in pieces(from.free, CHUNK) {
            let (from, into) = (from.part(piece.clone()), into.part(piece));
            let body = Unary {
                src: pattern(&from),
                src_type: from.element.dtype(),
                dst_type: into.element.dtype(),
                channels: self.field(from.parts)?,
                dst: pattern(&into),
                ..Unary::default()
            };
            self.emit.compute(engine, opcode, body, what, &touches(&[&from], &[&into]))?;
        }
        Ok(())
    }

    /// 1 / x.
    pub(super) fn reciprocal(&mut self, from: &Tile, into: &Tile) -> Result<()> {
        let body = Unary {
            src: pattern(from),
            src_type: from.element.dtype(),
            dst_type: into.element.dtype(),
            channels: self.field(from.parts)?,
            dst: pattern(into),
            ..Unary::default()
        };
        let touched = touches(&[from], &[into]);
        self.emit.compute(Engine::Dve, Opcode::RECIPROCAL, body, "reciprocal", &touched)
    }

    /// Folds the elements of each partition to one.
    pub(super) fn fold(&mut self, op: AluOp, from: &Tile, into: &Tile, negate: bool) -> Result<()> {
        let body = Unary {
            src: pattern(from),
            src_type: from.element.dtype(),
            dst_type: into.element.dtype(),
            channels: self.field(from.parts)?,
            negated: u8::from(negate),
            op,
            dims: ReduceDims::X,
            dst: pattern(into),
            ..Unary::default()
        };
        let touched = touches(&[from], &[into]);
        self.emit.compute(Engine::Dve, Opcode::TENSOR_REDUCE, body, "reduce", &touched)
    }

    /// function(x scale + bias), with the bias a column of fp32.
    pub(super) fn function(
        &mut self,
        function: Activation,
        from: &Tile,
        into: &Tile,
        scale: f32,
        bias: Option<&Tile>,
    ) -> Result<()> {
        let bias = bias.map_or(Bias::Number(0.0), Bias::Column);
        let name = function.name();
        for piece in pieces(from.free, CHUNK) {
            let (from, into) = (from.part(piece.clone()), into.part(piece));
            self.activate(name, &from, &into, scale, bias, AccumulatorCmd::IDLE)?;
        }
        Ok(())
    }

    /// One ACTIVATE.
    pub(super) fn activate(
        &mut self,
        name: &str,
        from: &Tile,
        into: &Tile,
        scale: f32,
        bias: Bias<'_>,
        accumulator: AccumulatorCmd,
    ) -> Result<()> {
        if !self.tables {
            self.tables = true;
            let load = TableLoad { table: 0 };
            let none = touches(&[], &[]);
            self.emit.compute(Engine::Act, Opcode::ACT_TABLE_LOAD, load, "tables", &none)?;
        }
        let function = Function::from_name(name);
        let function = function.ok_or_else(|| self.refuse(format!("no function {name}")))?;
        // both selectors say the same in real code (isa-layouts.md §3.6)
        let (imm_source, bias_source, bits) = match bias {
            Bias::Number(number) => (ImmSource::PTR, BiasSource::INSTRUCTION, number.to_bits()),
            Bias::Column(tile) => (ImmSource::INSTRUCTION, BiasSource::PTR, Self::pointer(tile)),
        };
        let body = Activate {
            imm_source,
            scale_source: ImmSource::INSTRUCTION,
            accumulator,
            bias_source,
            src: pattern(from),
            types: self.types(from.element, ElementType::F32)?,
            dst_type: into.element.dtype(),
            channels: self.field(from.parts)?,
            function,
            scale: scale.to_bits(),
            bias: bits,
            imm: 0,
            dst: pattern(into),
        };
        let touched = match bias {
            Bias::Number(_) => touches(&[from], &[into]),
            Bias::Column(column) => touches(&[from, column], &[into]),
        };
        self.emit.compute(Engine::Act, Opcode::ACTIVATE, body, "activate", &touched)
    }

    /// The running sums of ACT.
    pub(super) fn sums(&mut self, into: &Tile) -> Result<()> {
        let body = ReadAccumulator {
            count: 1,
            dst_type: into.element.dtype(),
            negated: 0,
            channels: self.field(into.parts)?,
            dst: pattern(into),
        };
        let opcode = Opcode::ACTIVATION_READ_ACCUMULATOR;
        self.emit.compute(Engine::Act, opcode, body, "sums", &touches(&[], &[into]))
    }

    /// a op b, element by element.
    pub(super) fn two_tiles(
        &mut self,
        op: TwoTensors,
        a: &Tile,
        b: &Tile,
        into: &Tile,
    ) -> Result<()> {
        for piece in pieces(a.free, CHUNK) {
            let [a, b, into] = [a, b, into].map(|tile| tile.part(piece.clone()));
            let body = TensorTensor {
                src_types: self.types(a.element, b.element)?,
                dst_type: into.element.dtype(),
                op: op.alu(),
                channels: self.field(a.parts)?,
                src0: pattern(&a),
                src1: pattern(&b),
                dst: pattern(&into),
            };
            let touched = touches(&[&a, &b], &[&into]);
            self.emit.compute(Engine::Dve, Opcode::TENSOR_TENSOR, body, "elementwise", &touched)?;
        }
        Ok(())
    }

    /// (x op0 first) op1 second.
    pub(super) fn scalars(
        &mut self,
        from: &Tile,
        into: &Tile,
        (op0, first): (AluOp, Scalar<'_>),
        second: Option<(AluOp, Scalar<'_>)>,
    ) -> Result<()> {
        let (op1, second) = second.unwrap_or((AluOp::BYPASS, Scalar::Number(0.0)));
        let bits = |scalar: Scalar<'_>| match scalar {
            Scalar::Number(number) => (ImmSource::INSTRUCTION, number.to_bits()),
            Scalar::Column(tile) => (ImmSource::PTR, Self::pointer(tile)),
        };
        let ((imm0_source, imm0), (imm1_source, imm1)) = (bits(first), bits(second));
        for piece in pieces(from.free, CHUNK) {
            let (from, into) = (from.part(piece.clone()), into.part(piece));
            let body = TensorScalar {
                src: pattern(&from),
                src_type: from.element.dtype(),
                dst_type: into.element.dtype(),
                channels: self.field(from.parts)?,
                imm0_source,
                op0,
                op1,
                imm1_source,
                imm0,
                imm1,
                dst: pattern(&into),
                ..TensorScalar::default()
            };
            let mut reads = vec![&from];
            for scalar in [first, second] {
                if let Scalar::Column(tile) = scalar {
                    reads.push(tile);
                }
            }
            let touched = touches(&reads, &[&into]);
            self.emit.compute(Engine::Dve, Opcode::TENSOR_SCALAR, body, "scalar", &touched)?;
        }
        Ok(())
    }
}
