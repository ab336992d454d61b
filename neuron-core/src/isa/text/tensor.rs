//! Items of the payloads of PE, ACT, DVE and POOL (isa-layouts.md §3).

use super::immediate::{Immediate, RawImmediate, TypedImmediate};
use super::register::Register;
use super::value::{Both, Hex};
use super::walk::{ArraySize, Typed, Walk};
use super::{Outcome, Text};
use crate::isa::address::{Addr4, Pattern};
use crate::isa::body::act::{Activate, ActivateQuantize, ReadAccumulator};
use crate::isa::body::pe::{ArrayGroup, LoadWeights, MatMul};
use crate::isa::body::tensor::{
    AffineSelect, Iota, MatchReplace, Memset, Ramp, ScalarTensorTensor, Statistics, TensorScalar,
    TensorTensor, Unary, ValueLoad,
};
use crate::isa::code::{
    AccumulatorCmd, AluOp, BiasSource, Dtype, DtypePair, Fp32Mode, ImmSource, ReduceDims, Reverse,
    TransposeMode,
};
use crate::isa::opcode::Opcode;
use crate::isa::value::Fp32;

/// Two operands whose types share a byte.
pub(super) fn pair<T: Text>(
    t: &mut T,
    types: &mut DtypePair,
    visit: impl FnOnce(&mut T, &mut Dtype, &mut Dtype) -> Outcome,
) -> Outcome {
    let (mut low, mut high) = (types.low(), types.high());
    visit(t, &mut low, &mut high)?;
    *types = DtypePair::new(low, high)
        .ok_or_else(|| String::from("this instruction has no room for a type above 0x0f"))?;
    Ok(())
}

fn array_size<T: Text>(t: &mut T, rows: &mut u8, columns: &mut u8) -> Outcome {
    let mut size = ArraySize { rows: *rows, columns: *columns };
    t.bare("ROWS*COLUMNS", &mut size)?;
    (*rows, *columns) = (size.rows, size.columns);
    Ok(())
}

fn array_groups<T: Text>(t: &mut T, row: &mut ArrayGroup, column: &mut ArrayGroup) -> Outcome {
    t.optional("row_grp", row, ArrayGroup::default())?;
    t.optional("col_grp", column, ArrayGroup::default())
}

pub(crate) fn load_weights<T: Text>(b: &mut LoadWeights, t: &mut T) -> Outcome {
    array_groups(t, &mut b.row_group, &mut b.column_group)?;
    t.optional("fp32_mode", &mut b.fp32_mode, Fp32Mode::NONE)?;
    t.item("transpose_mode", &mut b.transpose_mode)?;
    t.typed("src", &mut b.src_type, &mut b.src)?;
    array_size(t, &mut b.rows, &mut b.columns)?;
    t.hidden("perf_opt", &mut b.perf_opt, 0)?;
    t.hidden("bus_select", &mut b.bus_select, 0)
}

pub(crate) fn matmul<T: Text>(b: &mut MatMul, t: &mut T) -> Outcome {
    t.item("acc_flags", &mut b.accumulate)?;
    // the place that the vendor's documentation shows
    array_groups(t, &mut b.row_group, &mut b.column_group)?;
    t.optional("fp32_mode", &mut b.fp32_mode, Fp32Mode::NONE)?;
    // viewer 2.28.23 leaves it out, newer ones do not
    t.hidden("transpose_mode", &mut b.transpose_mode, TransposeMode::DISABLED)?;
    t.typed("src", &mut b.src_type, &mut b.src)?;
    t.item("dst", &mut b.dst)?;
    array_size(t, &mut b.rows, &mut b.columns)?;
    t.hidden("bus_select", &mut b.bus_select, 0)?;
    t.hidden("zero_region", &mut b.zero_region, 0)
}

pub(crate) fn activate<T: Text>(b: &mut Activate, t: &mut T) -> Outcome {
    t.bare("the function", &mut b.function)?;
    pair(t, &mut b.types, |t, src_type, bias_type| {
        let form = match b.bias_source {
            BiasSource::PTR => 0,
            BiasSource::INSTRUCTION => 1,
            _ => 2,
        };
        match t.choose(&["bias_ptr", "bias", "bias_raw"], form) {
            0 => {
                b.bias_source = BiasSource::PTR;
                let mut bias = Typed { dtype: *bias_type, value: Addr4(b.bias) };
                t.item("bias_ptr", &mut bias)?;
                (*bias_type, b.bias) = (bias.dtype, bias.value.0);
            }
            1 => {
                b.bias_source = BiasSource::INSTRUCTION;
                t.item_as("bias", &mut b.bias, |bits| Fp32(*bits), |number| number.0)?;
                t.hidden("bias_dtype", bias_type, Dtype::FP32)?;
            }
            _ => {
                let mut raw = RawImmediate { source: b.bias_source.0, bits: b.bias };
                t.item("bias_raw", &mut raw)?;
                (b.bias_source, b.bias) = (BiasSource(raw.source), raw.bits);
                t.hidden("bias_dtype", bias_type, Dtype::FP32)?;
            }
        }
        t.typed("src", src_type, &mut b.src)
    })?;
    t.typed("dst", &mut b.dst_type, &mut b.dst)?;
    t.item("channels", &mut b.channels)?;
    let form = match b.scale_source {
        ImmSource::INSTRUCTION => 0,
        ImmSource::PTR => 1,
        _ => 2,
    };
    match t.choose(&["scale", "scale_ptr", "scale_raw"], form) {
        0 => {
            b.scale_source = ImmSource::INSTRUCTION;
            t.item_as("scale", &mut b.scale, |bits| Fp32(*bits), |number| number.0)?;
        }
        1 => {
            b.scale_source = ImmSource::PTR;
            t.item_as("scale_ptr", &mut b.scale, |bits| Addr4(*bits), |address| address.0)?;
        }
        _ => {
            let mut raw = RawImmediate { source: b.scale_source.0, bits: b.scale };
            t.item("scale_raw", &mut raw)?;
            (b.scale_source, b.scale) = (ImmSource(raw.source), raw.bits);
        }
    }
    t.item_as("imm", &mut b.imm, |bits| Fp32(*bits), |number| number.0)?;
    t.item("accumulator_cmd", &mut b.accumulator)?;
    t.close();
    t.hidden("imm_src", &mut b.imm_source, ImmSource::INSTRUCTION)
}

pub(crate) fn activate_quantize<T: Text>(b: &mut ActivateQuantize, t: &mut T) -> Outcome {
    t.bare("the function", &mut b.function)?;
    pair(t, &mut b.types, |t, src_type, bias_type| {
        t.typed("bias_ptr", bias_type, &mut b.bias)?;
        t.typed("src", src_type, &mut b.src)
    })?;
    t.typed("dst", &mut b.dst_type, &mut b.dst)?;
    t.item("channels", &mut b.channels)?;
    t.item("dequant_scale", &mut b.dequant_scale)?;
    t.item("quant_scale", &mut b.quant_scale)?;
    t.item_as("zero_point", &mut b.zero_point, |v| Hex(*v), |v| v.0)
}

pub(crate) fn read_accumulator<T: Text>(b: &mut ReadAccumulator, t: &mut T) -> Outcome {
    t.optional("negated", &mut b.negated, 0)?;
    t.typed("dst", &mut b.dst_type, &mut b.dst)?;
    t.item("channels", &mut b.channels)?;
    t.hidden("count", &mut b.count, 1)
}

pub(crate) fn tensor_tensor<T: Text>(b: &mut TensorTensor, t: &mut T) -> Outcome {
    t.item("op", &mut b.op)?;
    pair(t, &mut b.src_types, |t, low, high| {
        t.typed("src0", low, &mut b.src0)?;
        t.typed("src1", high, &mut b.src1)
    })?;
    t.typed("dst", &mut b.dst_type, &mut b.dst)?;
    t.item("channels", &mut b.channels)
}

/// An immediate is an address when it comes through a pointer, and raw bits
/// in a bitwise record.
pub(super) fn immediate(bits: u32, source: ImmSource, bitwise: bool) -> Immediate {
    Immediate { bits, as_hex: bitwise || source != ImmSource::INSTRUCTION }
}

pub(crate) fn tensor_scalar<T: Text>(opcode: Opcode, b: &mut TensorScalar, t: &mut T) -> Outcome {
    let bitwise = matches!(opcode, Opcode::TENSOR_SCALAR_BITVEC | Opcode::TENSOR_SCALAR_PTR_BITVEC);
    let mut ops = Both(b.op0, b.op1);
    t.item("ops", &mut ops)?;
    let mut imm =
        Both(immediate(b.imm0, b.imm0_source, bitwise), immediate(b.imm1, b.imm1_source, bitwise));
    t.item("imm", &mut imm)?;
    let mut sources = Both(b.imm0_source, b.imm1_source);
    t.item("imm_src", &mut sources)?;
    (b.op0, b.op1) = (ops.0, ops.1);
    (b.imm0, b.imm1) = (imm.0.bits, imm.1.bits);
    (b.imm0_source, b.imm1_source) = (sources.0, sources.1);
    t.typed("src", &mut b.src_type, &mut b.src)?;
    t.typed("dst", &mut b.dst_type, &mut b.dst)?;
    t.item("channels", &mut b.channels)?;
    t.hidden("reverse", &mut b.reverse, Reverse::NONE)?;
    t.hidden("accumulator_cmd", &mut b.accumulator, AccumulatorCmd::IDLE)
}

pub(crate) fn unary<T: Text>(b: &mut Unary, t: &mut T) -> Outcome {
    t.optional("op", &mut b.op, AluOp::BYPASS)?;
    t.optional("dim", &mut b.dims, ReduceDims::NONE)?;
    t.optional("negated", &mut b.negated, 0)?;
    t.typed("src", &mut b.src_type, &mut b.src)?;
    t.typed("dst", &mut b.dst_type, &mut b.dst)?;
    t.item("channels", &mut b.channels)?;
    t.hidden("mask_enable", &mut b.mask_enable, 0)
}

pub(crate) fn scalar_tensor_tensor<T: Text>(b: &mut ScalarTensorTensor, t: &mut T) -> Outcome {
    let mut ops = Both(b.op0, b.op1);
    t.item("ops", &mut ops)?;
    (b.op0, b.op1) = (ops.0, ops.1);
    let mut imm = TypedImmediate { dtype: b.imm0_type, source: b.imm0_source, bits: b.imm0 };
    t.item("imm", &mut imm)?;
    (b.imm0_type, b.imm0_source, b.imm0) = (imm.dtype, imm.source, imm.bits);
    pair(t, &mut b.src_types, |t, low, high| {
        t.typed("src0", low, &mut b.src0)?;
        t.typed("src1", high, &mut b.src1)
    })?;
    t.typed("dst", &mut b.dst_type, &mut b.dst)?;
    t.item("channels", &mut b.channels)?;
    t.hidden("reverse", &mut b.reverse, Reverse::NONE)?;
    t.hidden("accumulator_cmd", &mut b.accumulator, AccumulatorCmd::IDLE)
}

pub(crate) fn statistics<T: Text>(b: &mut Statistics, t: &mut T) -> Outcome {
    t.typed("src", &mut b.src_type, &mut b.src)?;
    t.typed("dst", &mut b.dst_type, &mut b.dst)?;
    t.item("channels", &mut b.channels)?;
    t.optional("even_count", &mut b.even_count, Fp32(0))?;
    t.optional("odd_count", &mut b.odd_count, Fp32(0))
}

pub(crate) fn value_load<T: Text>(b: &mut ValueLoad, t: &mut T) -> Outcome {
    t.typed("src", &mut b.src_type, &mut b.src)?;
    t.item("channels", &mut b.channels)?;
    let mut imm0 = immediate(b.imm0, b.imm0_source, false);
    t.hidden("imm0", &mut imm0, Immediate::default())?;
    let mut imm1 = immediate(b.imm1, ImmSource::INSTRUCTION, false);
    t.hidden("imm1", &mut imm1, Immediate::default())?;
    (b.imm0, b.imm1) = (imm0.bits, imm1.bits);
    t.hidden("imm0_src", &mut b.imm0_source, ImmSource::INSTRUCTION)
}

pub(crate) fn match_replace<T: Text>(b: &mut MatchReplace, t: &mut T) -> Outcome {
    t.item("imm", &mut b.replacement)?;
    t.typed("src", &mut b.src_type, &mut b.src)?;
    t.typed("dst", &mut b.dst_type, &mut b.dst)?;
    t.item("channels", &mut b.channels)
}

/// `KEY_base=` and `KEY_pattern=[steps][counts]`.
fn ramp<T: Text>(t: &mut T, base: &str, pattern: &str, ramp: &mut Ramp) -> Outcome {
    t.item(base, &mut ramp.base)?;
    let mut walk = Walk { steps: ramp.steps, counts: ramp.counts };
    t.item(pattern, &mut walk)?;
    (ramp.steps, ramp.counts) = (walk.steps, walk.counts);
    Ok(())
}

pub(crate) fn iota<T: Text>(b: &mut Iota, t: &mut T) -> Outcome {
    ramp(t, "base", "pattern", &mut b.ramp)?;
    t.item("channel_multiplier", &mut b.channel_multiplier)?;
    t.typed("dst", &mut b.dst_type, &mut b.dst)?;
    t.item("channels", &mut b.channels)
}

/// Elements of a pattern as a record counts them; 0 when they do not fit.
fn count<const N: usize>(pattern: &Pattern<N>) -> u32 {
    u32::try_from(pattern.elements()).unwrap_or(0)
}

pub(crate) fn memset<T: Text>(b: &mut Memset, t: &mut T) -> Outcome {
    t.item_as("value", &mut b.value, |v| Hex(*v), |v| v.0)?;
    t.typed("dst", &mut b.dst_type, &mut b.dst)?;
    t.item("channels", &mut b.channels)?;
    let usual = count(&b.dst);
    t.hidden("count", &mut b.count, usual)?;
    t.hidden("serial_mode", &mut b.serial_mode, 0)
}

pub(crate) fn affine_select<T: Text>(b: &mut AffineSelect, t: &mut T) -> Outcome {
    t.item("cmp_op", &mut b.compare)?;
    t.item_as("fill_reg", &mut b.fill_register, |v| Register(*v), |v| v.0)?;
    ramp(t, "mask_base", "mask_pattern", &mut b.ramp)?;
    t.item("channel_multiplier", &mut b.channel_multiplier)?;
    pair(t, &mut b.types, |t, src_type, dst_type| {
        t.typed("src", src_type, &mut b.src)?;
        t.typed("dst", dst_type, &mut b.dst)
    })?;
    t.item("channels", &mut b.channels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::text::Style;
    use crate::isa::text::value::Value as _;

    #[test]
    fn floats_of_a_line_read_back() {
        for (bits, text) in [
            (0x3f80_0000, "1.000000"),
            (0x3db5_04f3, "0.088388346"),
            (0x8000_0000, "-0.000000"),
            (0xff80_0000, "-inf"),
            (0x7fc0_0001, "0x7fc00001"),
            (0x0000_0001, "1e-45"),
        ] {
            let mut shown = String::new();
            Fp32(bits).show(Style::Line, &mut shown);
            assert_eq!(shown, text);
            assert_eq!(Fp32::parse(text), Some(Fp32(bits)));
        }
    }
}
