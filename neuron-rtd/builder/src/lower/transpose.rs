//! Tiles turned by the array: the tile is the stationary matrix, the identity
//! streams through (isa-layouts.md §3.2), and PSUM has the tile with rows and
//! columns exchanged, in its own type.

use neuron_core::isa::address::Addr4;
use neuron_core::isa::body::control::Move;
use neuron_core::isa::body::tensor::{AffineSelect, Memset, Ramp};
use neuron_core::isa::code::{AffineCompare, Dtype, DtypePair, OperandSource};
use neuron_core::isa::{Engine, Opcode};

use super::tile::{Tile, pattern, stream, touches};
use super::{Lower, PARTITIONS};
use crate::array::ElementType;
use crate::error::Result;

/// Register of POOL with what a select fills in; compilers use it too.
const FILL: u8 = 61;

impl Lower<'_> {
    /// Turns a tile: `into` has its columns on the partitions.
    pub(super) fn transpose(&mut self, source: &Tile, into: &Tile) -> Result<()> {
        let element = source.element;
        let identity = self.identity(element)?;
        let source = source.part(0..into.parts).top(into.free);
        let bank = self.bank(element, source.free, source.parts)?;
        self.weights(&source, true, false)?;
        let moving = identity.part(0..source.parts).top(source.parts);
        let [walk, result] = [stream(&moving), stream(&bank)];
        self.product(&moving, walk, &bank, result, super::matmul::Pass::Transpose)?;
        self.copy(&bank, into, "transpose")?;
        self.drop_tile(&bank);
        Ok(())
    }

    /// The identity of a type, made on first use as compilers make it: zeros,
    /// and a one where row and column differ by nothing.
    fn identity(&mut self, element: ElementType) -> Result<Tile> {
        let key = element.dtype().0;
        let (free, parts) = (PARTITIONS, PARTITIONS);
        if let Some(at) = self.identities.get(&key) {
            let tile = Tile::at(*at, element, parts, free);
            return Ok(tile);
        }
        let at = self.room(free * element.bytes())?;
        self.identities.insert(key, at);
        let tile = Tile::at(at, element, parts, free);
        self.memset(&tile)?;
        self.fill_register(1.0)?;
        let pattern = super::tile::pattern::<2>(&tile);
        let body = AffineSelect {
            channels: PARTITIONS as u8,
            types: self.types(element, element)?,
            compare: AffineCompare::NE,
            fill_register: FILL,
            ramp: Ramp { base: 0, steps: [1; 4], counts: [PARTITIONS as u16, 1, 1, 1] },
            src: pattern,
            dst: pattern,
            channel_multiplier: -1,
        };
        let opcode = Opcode::TENSOR_SCALAR_AFFINE_SELECT;
        self.emit.compute(Engine::Pool, opcode, body, "identity", &touches(&[&tile], &[&tile]))?;
        Ok(tile)
    }

    /// Zeros, on POOL.
    pub(super) fn memset(&mut self, tile: &Tile) -> Result<()> {
        for piece in super::place::pieces(tile.free, super::CHUNK) {
            let tile = tile.part(piece);
            let body = Memset {
                count: tile.free as u32,
                dst_type: tile.element.dtype(),
                channels: self.field(tile.parts)?,
                serial_mode: 0,
                value: 0,
                dst: pattern(&tile),
            };
            let touched = touches(&[], &[&tile]);
            self.emit.compute(Engine::Pool, Opcode::MEMSET, body, "memset", &touched)?;
        }
        Ok(())
    }

    /// The number that selects of POOL fill in from here on.
    pub(super) fn fill_register(&mut self, number: f32) -> Result<()> {
        let body = Move {
            count: 1,
            dtype: Dtype::UINT32,
            source: OperandSource::IMMEDIATE,
            register: FILL,
            value: number.to_bits(),
        };
        self.emit.compute(Engine::Pool, Opcode::MOVE, body, "fill", &touches(&[], &[]))
    }

    /// Row p keeps its elements j with `first + p - j >= 0`, counted from
    /// `column`; the others become the number of the fill register.
    pub(super) fn keep_below(&mut self, tile: &Tile, first: i32, column: i32) -> Result<()> {
        let pattern = super::tile::pattern::<2>(tile);
        let body = AffineSelect {
            channels: self.field(tile.parts)?,
            types: self.types(tile.element, tile.element)?,
            compare: AffineCompare::GTE,
            fill_register: FILL,
            ramp: Ramp {
                base: first - column,
                steps: [-1, 1, 1, 1],
                counts: [self.field(tile.free)?, 1, 1, 1],
            },
            src: pattern,
            dst: pattern,
            channel_multiplier: 1,
        };
        let opcode = Opcode::TENSOR_SCALAR_AFFINE_SELECT;
        self.emit.compute(Engine::Pool, opcode, body, "mask", &touches(&[tile], &[tile]))
    }

    pub(super) fn types(&self, low: ElementType, high: ElementType) -> Result<DtypePair> {
        let pair = DtypePair::new(low.dtype(), high.dtype());
        pair.ok_or_else(|| self.refuse("types that no record names"))
    }

    /// The address of a column of scalars, as immediates hold it.
    pub(super) fn pointer(tile: &Tile) -> u32 {
        let Addr4(address) = super::address(tile.at, tile.first);
        address
    }
}
