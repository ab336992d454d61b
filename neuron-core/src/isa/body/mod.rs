//! Payloads: bytes 12 to 63, by opcode.
//!
//! A payload is one struct per published layout, not per opcode: records that
//! share a layout share the struct, and the opcode in the header tells them
//! apart.

pub mod act;
pub mod control;
pub mod dma;
pub mod pe;
pub mod pseudo;
pub mod select;
pub mod tensor;

use serde::Serialize;

use super::field::{FieldSpec, Layout, RecordBytes};
use super::opcode::Kind;

macro_rules! bodies {
    ($( $(#[$doc:meta])* $variant:ident($type:ty), )*) => {
        /// The payload of a record with a known opcode.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Body {
            $( $(#[$doc])* $variant($type), )*
            /// The opcode has a name but no published payload; the bytes are
            /// in the rest of the record.
            HeaderOnly,
        }

        impl Body {
            /// The payload with every field zero (array groups: all).
            pub fn empty(kind: Kind) -> Self {
                match kind {
                    $( Kind::$variant => Self::$variant(Default::default()), )*
                    Kind::HeaderOnly => Self::HeaderOnly,
                }
            }

            /// Which payload it is.
            pub const fn kind(&self) -> Kind {
                match self {
                    $( Self::$variant(_) => Kind::$variant, )*
                    Self::HeaderOnly => Kind::HeaderOnly,
                }
            }

            /// Name and place of each field.
            pub const fn fields(kind: Kind) -> &'static [FieldSpec] {
                match kind {
                    $( Kind::$variant => <$type>::FIELDS, )*
                    Kind::HeaderOnly => &[],
                }
            }

            /// One bit per byte that a field names.
            pub(crate) const fn mask(kind: Kind) -> u64 {
                match kind {
                    $( Kind::$variant => <$type as Layout>::MASK, )*
                    Kind::HeaderOnly => 0,
                }
            }

            pub(crate) fn read(kind: Kind, bytes: &RecordBytes) -> Self {
                match kind {
                    $( Kind::$variant => Self::$variant(<$type as Layout>::read(bytes)), )*
                    Kind::HeaderOnly => Self::HeaderOnly,
                }
            }

            pub(crate) fn write(&self, bytes: &mut RecordBytes) {
                match self {
                    $( Self::$variant(body) => body.write(bytes), )*
                    Self::HeaderOnly => {}
                }
            }
        }

        $( impl From<$type> for Body {
            fn from(body: $type) -> Self {
                Self::$variant(body)
            }
        } )*
    };
}

bodies! {
    /// 01.
    LoadWeights(pe::LoadWeights),
    /// 02.
    MatMul(pe::MatMul),
    /// 21.
    Activate(act::Activate),
    /// 22.
    ActivateQuantize(act::ActivateQuantize),
    /// 23.
    TableLoad(act::TableLoad),
    /// 24, 9B.
    ReadAccumulator(act::ReadAccumulator),
    /// 41, 51, 65, 72, 8A, 8B, 8F, 99.
    TensorTensor(tensor::TensorTensor),
    /// 30, 43, 44, 53, 54, 93, 9A, E6.
    TensorScalar(tensor::TensorScalar),
    /// 42, 46, 47, 48, 4E, 52, 5E, 6A, 6B, 83, 84, 8C, 8D.
    Unary(tensor::Unary),
    /// 9D, 9E, E5, EA.
    ScalarTensorTensor(tensor::ScalarTensorTensor),
    /// 60, 61, 62, 6C, 6E, 82.
    Statistics(tensor::Statistics),
    /// 64, 6D, 70, 71.
    ValueLoad(tensor::ValueLoad),
    /// 6F.
    MatchReplace(tensor::MatchReplace),
    /// 7E.
    Iota(tensor::Iota),
    /// 49, 4D, E9.
    Memset(tensor::Memset),
    /// 92.
    AffineSelect(tensor::AffineSelect),
    /// BC.
    RangeSelect(select::RangeSelect),
    /// 98.
    ScalarSelect(select::ScalarSelect),
    /// E8.
    PredicatedScalar(select::PredicatedScalar),
    /// 7C, 7D.
    LaneReduce(select::LaneReduce),
    /// 69.
    MaskLoad(select::MaskLoad),
    /// 67.
    BufferLoad(select::BufferLoad),
    /// 68.
    Gather(select::Gather),
    /// A0.
    EventSemaphore(control::EventSemaphore),
    /// A1.
    Halt(control::Halt),
    /// A2.
    Drain(control::Drain),
    /// A4.
    Nop(control::Nop),
    /// A5.
    Write(control::Write),
    /// A6.
    Notify(control::Notify),
    /// A7.
    Move(control::Move),
    /// A8.
    Alu(control::Alu),
    /// A9.
    Branch(control::Branch),
    /// AA.
    TensorLoad(control::TensorLoad),
    /// AB.
    TensorStore(control::TensorStore),
    /// B0.
    RangeClear(control::RangeClear),
    /// B1.
    SetOrdering(control::SetOrdering),
    /// 95.
    PoolConfig(tensor::PoolConfig),
    /// B3.
    PollSemaphore(control::PollSemaphore),
    /// B8, D4.
    DmaDirect(dma::DmaDirect),
    /// BB.
    DmaIndirect(dma::DmaIndirect),
    /// C1.
    DmaTrigger(pseudo::DmaTrigger),
    /// C8.
    Collective(pseudo::Collective),
    /// C6.
    ActFunctionSet(pseudo::ActFunctionSet),
    /// CC.
    BranchLabel(pseudo::BranchLabel),
    /// CE.
    PseudoTensorLoad(control::PseudoTensorLoad),
    /// D1.
    FunctionBegin(pseudo::FunctionBegin),
    /// D3.
    FunctionCall(pseudo::FunctionCall),
    /// DA.
    Extension(pseudo::Extension),
    /// DF.
    Pseudo(pseudo::Pseudo),
}
