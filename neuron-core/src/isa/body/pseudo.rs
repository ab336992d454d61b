//! Payloads of records that the loader replaces (isa-layouts.md §5.2 to §5.4;
//! neuroncore.md §3.6, §3.7).

use super::control::RegisterPair;
use crate::isa::code::{AluOp, CollectiveKind, Dtype, PseudoKind};
use crate::isa::field::layout;
use crate::isa::value::Name;

layout! {
    /// PSEUDO_DMA_TRIGGER: starts the block of the engine's JSON `dma` list
    /// with this queue and id.
    DmaTrigger {
        /// Queue.
        12 queue: Name<32>,
        /// 0 in real files.
        44 use_raw_count: u32,
        /// Block id.
        48 block_id: u32,
    }
}

layout! {
    /// PSEUDO_TRIGGER_COLLECTIVE.
    Collective {
        /// Reduction.
        12 op: AluOp,
        /// Type of an element.
        13 dtype: Dtype,
        /// Index into the replica groups.
        14 group_id: u16,
        /// Input variable.
        16 input_tensor_id: u32,
        /// Output variable.
        20 output_tensor_id: u32,
        /// Elements.
        24 num_elements: u64,
        /// Kind.
        32 kind: CollectiveKind,
        /// Offset in the input, in bytes.
        48 src_offset: u64,
        /// Offset in the output, in bytes.
        56 dst_offset: u64,
    }
}

layout! {
    /// PSEUDO_LOAD_ACT_FUNC_SET.
    ActFunctionSet {
        /// The set.
        12 name: Name<32>,
    }
}

layout! {
    /// PSEUDO_BRANCH_LABEL; deleted when loaded.
    BranchLabel {}
}

layout! {
    /// PSEUDO_FUNCTION_BEGIN.
    FunctionBegin {
        /// Name of the function.
        12 name: Name<36>,
        /// Whether semaphores are reset.
        48 reset_semaphores: u8,
        /// Registers of the return address.
        49 return_registers: RegisterPair,
    }
}

layout! {
    /// PSEUDO_FUNCTION_CALL.
    FunctionCall {
        /// Name of the function.
        12 name: Name<36>,
        /// Variable with the table of arguments.
        48 args_var_id: u32,
    }
}

layout! {
    /// PSEUDO_EXTENSION: follows a DMA record whose offset is in a register.
    Extension {
        /// Bytes of the tensor that is indexed.
        12 size: u32,
    }
}

layout! {
    /// PSEUDO_INST.
    Pseudo {
        /// What it stands for.
        12 kind: PseudoKind,
    }
}
