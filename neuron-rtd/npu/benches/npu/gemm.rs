//! An fp32 product of square matrices as a program: transfers, LDWEIGHTS and
//! MATMUL records in both fp32 passes, copies out of PSUM.
//!
//! `at` \[k, m\] and `b` \[k, n\] are loaded once; each tile of 128 rows of the
//! result takes two banks of PSUM and one pass over k.

use neuron_core::isa::address::{Addr4, Addr8, Location, PSUM_BASE, Pattern};
use neuron_core::isa::body::dma::DmaDirect;
use neuron_core::isa::body::pe::{AccumulateFlags, ArrayGroup, LoadWeights, MatMul};
use neuron_core::isa::body::tensor::Unary;
use neuron_core::isa::code::{Dtype, Fp32Mode};
use neuron_core::isa::{Instruction, Opcode};

use crate::support::neff::{after, file, plain, raising, wait};

/// Rows and columns of each matrix.
pub(crate) const SIZE: u16 = 1024;

/// Operations of one product.
pub(crate) const FLOPS: u64 = 2 * (SIZE as u64).pow(3);

const TILE: u16 = 128;
const TILES: u16 = SIZE / TILE;
/// Columns of one MATMUL: a bank of PSUM.
const MOVING: u16 = 512;
/// Bytes of one row of a matrix.
const ROW: u16 = 4 * SIZE;
/// Bytes of a matrix in each partition.
const MATRIX: u32 = ROW as u32 * TILES as u32;

/// Semaphores.
const LOADED: u8 = 8;
const STORED: u8 = 9;
const SUMMED: u8 = 10;
const COPIED: u8 = 11;

/// The NEFF: inputs `at` and `b`, output `out`.
pub(crate) fn neff() -> Vec<u8> {
    let [mut pe, act, pool, mut dve, mut sp]: [Vec<Instruction>; 5] = Default::default();
    sp.push(transfer(1, 0, LOADED));
    sp.push(transfer(2, MATRIX, LOADED));
    pe.push(wait(LOADED, 32));
    for tile in 0..TILES {
        if tile >= 4 {
            pe.push(wait(COPIED, u32::from(tile) - 3));
        }
        for inner in 0..TILES {
            for mode in [Fp32Mode::LOW, Fp32Mode::HIGH] {
                pe.push(load(inner, tile, mode));
                let first = inner == 0 && mode == Fp32Mode::LOW;
                pe.extend([0, 1].map(|half| multiply(inner, tile, half, first)));
            }
        }
        let last = pe.pop().map(|last| raising(last, SUMMED));
        pe.extend(last);
        dve.push(raising(after(copy(tile), SUMMED, u32::from(tile) + 1), COPIED));
    }
    sp.push(after(transfer(3, 2 * MATRIX, STORED), COPIED, u32::from(TILES)));
    sp.push(wait(STORED, 16));
    let streams = [pe, act, pool, dve, sp];
    let bytes = u32::from(SIZE) * u32::from(ROW);
    file(&[("at", "input", bytes), ("b", "input", bytes), ("out", "output", bytes)], &streams)
}

/// Between a variable and byte `at` of each partition: row 128 i + p of the
/// matrix is row i of partition p.
fn transfer(id: u32, at: u32, semaphore: u8) -> Instruction {
    let hbm = Addr8::of(Location::Variable { id, offset: 0 }).unwrap();
    let sbuf = Addr8::of(Location::Variable { id: 0, offset: at }).unwrap();
    let mut body = DmaDirect {
        semaphore,
        increment: 16,
        src: hbm,
        src_steps: [i32::from(ROW), i32::from(TILE) * i32::from(ROW)],
        src_counts: [TILE, TILES],
        src_elem_size: ROW,
        dst: sbuf,
        dst_steps: [0x4_0000, i32::from(ROW)],
        dst_counts: [TILE, TILES],
        dst_elem_size: ROW,
        ..DmaDirect::default()
    };
    if semaphore == STORED {
        std::mem::swap(&mut body.src, &mut body.dst);
        std::mem::swap(&mut body.src_steps, &mut body.dst_steps);
    }
    plain(Opcode::PSEUDO_DMA_DIRECT2D, body)
}

fn load(inner: u16, tile: u16, mode: Fp32Mode) -> Instruction {
    let last = u32::from(inner) * u32::from(ROW) + 4 * (u32::from(tile) * 128 + 127);
    let body = LoadWeights {
        src: Pattern { start: Addr4(last), steps: [-1, 0, 0], counts: [TILE, 1, 1] },
        src_type: Dtype::FP32,
        fp32_mode: mode,
        rows: 128,
        columns: 128,
        row_group: ArrayGroup(15),
        ..LoadWeights::default()
    };
    plain(Opcode::LDWEIGHTS, body)
}

fn bank(tile: u16, half: u32) -> Addr4 {
    Addr4(PSUM_BASE + (u32::from(tile) % 4 * 2 + half) * 2048)
}

fn multiply(inner: u16, tile: u16, half: u32, first: bool) -> Instruction {
    let start = Addr4(MATRIX + u32::from(inner) * u32::from(ROW) + half * 2048);
    let body = MatMul {
        src: Pattern { start, steps: [1; 3], counts: [MOVING, 1, 1] },
        src_type: Dtype::FP32,
        fp32_mode: Fp32Mode::LOW_HIGH,
        rows: 128,
        columns: 128,
        accumulate: AccumulateFlags(u8::from(first)),
        row_group: ArrayGroup(15),
        dst: Pattern { start: bank(tile, half), steps: [1; 3], counts: [MOVING, 1, 1] },
        ..MatMul::default()
    };
    plain(Opcode::MATMUL, body)
}

/// Both banks of a tile to SBUF.
fn copy(tile: u16) -> Instruction {
    let to = Addr4(2 * MATRIX + u32::from(tile) * u32::from(ROW));
    let body = Unary {
        src: Pattern { start: bank(tile, 0), steps: [1; 4], counts: [SIZE, 1, 1, 1] },
        src_type: Dtype::FP32,
        dst_type: Dtype::FP32,
        channels: 128,
        dst: Pattern { start: to, steps: [1; 4], counts: [SIZE, 1, 1, 1] },
        ..Unary::default()
    };
    plain(Opcode::COPY, body)
}
