//! Items of dynamic DMA (isa-layouts.md §5.1).

use super::register::Register;
use super::value::Hex;
use super::walk::Walk;
use super::{Outcome, Text};
use crate::isa::address::{Addr8, Location};
use crate::isa::body::dma::{DmaDirect, DmaIndirect};
use crate::isa::code::{DgeKind, DmaCompute, Dtype};
use crate::isa::opcode::Opcode;

/// One side of a transfer. The pseudo record writes offsets in decimal, the
/// loaded one in hexadecimal. No export here holds an offset in a register;
/// that form is from public notes on a profile.
fn address<T: Text>(t: &mut T, side: &str, pseudo: bool, place: &mut Addr8) -> Outcome {
    let key = |name: &str| format!("{side}_{name}");
    let keys = [
        key("addr_imm"),
        key("table_offset_imm"),
        key("table_offset_reg"),
        key("var_id"),
        key("addr_raw"),
    ];
    let form = match place.location() {
        Location::Device(_) => 0,
        Location::Table { .. } => 1,
        Location::TableRegister { .. } => 2,
        Location::Variable { .. } => 3,
        Location::Other(_) => 4,
    };
    let chosen = t.choose(&keys.each_ref().map(String::as_str), form);
    let mut number = place.0;
    // the parts of the address; each form uses those it has
    let [b0, b1, b2, b3, b4, b5, b6, _] = number.to_le_bytes();
    let mut low = u32::from_le_bytes([b0, b1, b2, b3]);
    let mut high = u32::from_le_bytes([b4, b5, b6, 0]);
    let location = match chosen {
        0 => {
            t.item_as(&key("addr_imm"), &mut number, |v| Hex(*v), |v| v.0)?;
            Location::Device(number)
        }
        1 if pseudo => {
            t.item(&key("table_offset_imm"), &mut low)?;
            t.item(&key("table_index"), &mut high)?;
            Location::Table { index: high, offset: low }
        }
        1 => {
            t.item_as(&key("table_offset_imm"), &mut low, |v| Hex(*v), |v| v.0)?;
            t.item(&key("table_index"), &mut high)?;
            Location::Table { index: high, offset: low }
        }
        2 => {
            let mut register = Register(b0);
            t.item(&key("table_offset_reg"), &mut register)?;
            t.item(&key("table_index"), &mut high)?;
            Location::TableRegister { index: high, register: register.0 }
        }
        3 => {
            t.item(&key("var_id"), &mut high)?;
            t.item(&key("var_offset"), &mut low)?;
            Location::Variable { id: high, offset: low }
        }
        _ => {
            t.item_as(&key("addr_raw"), &mut number, |v| Hex(*v), |v| v.0)?;
            *place = Addr8(number);
            return Ok(());
        }
    };
    t.constant(&key("shape_reg"), "0", true)?;
    *place = Addr8::of(location).ok_or_else(|| format!("the {side} address does not fit"))?;
    Ok(())
}

fn walk<T: Text>(t: &mut T, key: &str, steps: &mut [i32; 2], counts: &mut [u16; 2]) -> Outcome {
    let mut walk = Walk { steps: *steps, counts: *counts };
    t.item(key, &mut walk)?;
    (*steps, *counts) = (walk.steps, walk.counts);
    Ok(())
}

/// Types are shown when they differ; in a line one type for both otherwise.
fn types<T: Text>(t: &mut T, src: &mut Dtype, dst: &mut Dtype) -> Outcome {
    if t.choose(&["in_dtype", "dtype"], usize::from(src == dst)) == 0 {
        t.item("in_dtype", src)?;
        t.item("out_dtype", dst)
    } else {
        t.hidden("dtype", src, Dtype::INVALID)?;
        *dst = *src;
        Ok(())
    }
}

pub(crate) fn direct<T: Text>(opcode: Opcode, b: &mut DmaDirect, t: &mut T) -> Outcome {
    let pseudo = opcode == Opcode::PSEUDO_DMA_DIRECT2D;
    if pseudo {
        t.item_as("dge_op", &mut b.operation, |v| DgeKind(*v), |v| v.0)?;
    }
    t.item("semaphore", &mut b.semaphore)?;
    t.item("sem_increment", &mut b.increment)?;
    t.gap();
    t.item("src_elem_size", &mut b.src_elem_size)?;
    t.item("dst_elem_size", &mut b.dst_elem_size)?;
    walk(t, "src_pattern", &mut b.src_steps, &mut b.src_counts)?;
    walk(t, "dst_pattern", &mut b.dst_steps, &mut b.dst_counts)?;
    address(t, "src", pseudo, &mut b.src)?;
    address(t, "dst", pseudo, &mut b.dst)?;
    types(t, &mut b.src_type, &mut b.dst_type)?;
    if pseudo {
        t.gap();
        t.gap();
    } else {
        t.item_as("compute_op", &mut b.operation, |v| DmaCompute(*v), |v| v.0)?;
    }
    hidden_hex(t, "src_bound", &mut b.src_bound)?;
    hidden_hex(t, "dst_bound", &mut b.dst_bound)?;
    t.hidden("config", &mut b.config, 0)
}

fn hidden_hex<T: Text>(t: &mut T, key: &str, place: &mut u8) -> Outcome {
    let mut value = Hex(*place);
    t.hidden(key, &mut value, Hex(0))?;
    *place = value.0;
    Ok(())
}

pub(crate) fn indirect<T: Text>(b: &mut DmaIndirect, t: &mut T) -> Outcome {
    t.item("semaphore", &mut b.semaphore)?;
    t.item("sem_increment", &mut b.increment)?;
    t.item_as("flags", &mut b.flags, |v| Hex(*v), |v| v.0)?;
    t.item("index_channels", &mut b.index_channels)?;
    t.item("src_elem_size", &mut b.src_elem_size)?;
    t.item("dst_elem_size", &mut b.dst_elem_size)?;
    line_walk(t, "src_pattern", &mut b.src_step, &mut b.src_count)?;
    line_walk(t, "dst_pattern", &mut b.dst_step, &mut b.dst_count)?;
    address(t, "src", false, &mut b.src)?;
    address(t, "dst", false, &mut b.dst)?;
    t.item("src_index", &mut b.src_index)?;
    t.item("dst_index", &mut b.dst_index)?;
    types(t, &mut b.src_type, &mut b.dst_type)?;
    t.item("compute_op", &mut b.compute)?;
    hidden_hex(t, "src_bound", &mut b.src_bound)?;
    hidden_hex(t, "dst_bound", &mut b.dst_bound)?;
    t.hidden("config", &mut b.config, 0)
}

fn line_walk<T: Text>(t: &mut T, key: &str, step: &mut i32, count: &mut u16) -> Outcome {
    let mut walk = Walk { steps: [*step], counts: [*count] };
    t.item(key, &mut walk)?;
    ([*step], [*count]) = (walk.steps, walk.counts);
    Ok(())
}
