//! The text of instructions against published text, the assembler's errors,
//! and the opcode table of the module docs.

use std::fmt::Write as _;

use neuron_core::instance::Arch;
use neuron_core::isa::asm::{assemble, disassemble, viewer_operands};
use neuron_core::isa::body::{Body, control, pe, pseudo};
use neuron_core::isa::code::{AluOp, CollectiveKind, Dtype};
use neuron_core::isa::event::{Action, Compare, Moment, Operand, Update, Wait, WaitMode};
use neuron_core::isa::names::SemaphoreNames;
use neuron_core::isa::opcode::Status;
use neuron_core::isa::opcode_table::TABLE;
use neuron_core::isa::value::Name;
use neuron_core::isa::{Engine, Instruction, Opcode, Record, decode_stream};

/// Streams of the public sample and the text beside them (neff.md §10.3).
fn sample() -> [(Vec<u8>, Vec<&'static str>); 2] {
    let mut pe = vec![0; 64];
    pe[..12].copy_from_slice(&[0xc8, 0x10, 0, 0, 4, 0x0a, 0x13, 0x16, 0, 0, 0, 0]);
    pe[12..28].copy_from_slice(&[4, 0x0a, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0x20, 0, 0, 0]);
    pe[32] = 1;
    let mut pool = vec![0; 192];
    pool[..2].copy_from_slice(&[0xc1, 0x10]);
    pool[12..25].copy_from_slice(b"q_gradient_in");
    pool[64..70].copy_from_slice(&[0xc1, 0x10, 0, 0, 4, 0x16]);
    pool[76..90].copy_from_slice(b"q_gradient_out");
    pool[128..134].copy_from_slice(&[0xa0, 0x10, 0, 0, 4, 0x0b]);
    [
        (
            pe,
            vec![
                "PSEUDO_TRIGGER_COLLECTIVE $S[10]>0 $S[22]++@complete ctype=ALL_REDUCE \
                 input_tensor_id=3 output_tensor_id=4 num_elements=32 dtype=fp32 op=ADD \
                 group_id=0;",
            ],
        ),
        (
            pool,
            vec![
                "PSEUDO_DMA_TRIGGER q_gradient_in block_id=0;",
                "PSEUDO_DMA_TRIGGER $S[22]>0 q_gradient_out block_id=0;",
                "EVENT_SEMAPHORE $S[11]>0;",
            ],
        ),
    ]
}

#[test]
fn public_sample_decodes_to_its_published_text() {
    for arch in [Arch::V1, Arch::V2, Arch::V3, Arch::V4] {
        for (bytes, text) in sample() {
            let records = decode_stream(arch, &bytes).unwrap();
            let lines: Vec<String> =
                records.iter().map(|record| disassemble(record, &SemaphoreNames::none())).collect();
            assert_eq!(lines, text);
            let assembled = assemble(arch, &text.join("\n")).unwrap();
            assert_eq!(assembled.iter().flat_map(Record::encode).collect::<Vec<u8>>(), bytes);
        }
    }
}

#[test]
fn public_sample_decodes_to_typed_operands() {
    let [(pe, _), (pool, _)] = sample();
    let [record] = decode_stream(Arch::V2, &pe).unwrap()[..] else { panic!() };
    let instruction = record.instruction().unwrap();
    assert_eq!(
        instruction.body,
        Body::Collective(pseudo::Collective {
            op: AluOp::ADD,
            dtype: Dtype::FP32,
            group_id: 0,
            input_tensor_id: 3,
            output_tensor_id: 4,
            num_elements: 32,
            kind: CollectiveKind::ALL_REDUCE,
            src_offset: 0,
            dst_offset: 0,
        })
    );
    let header = instruction.header;
    assert_eq!(header.wait_mode.meaning(), Some(Wait::Semaphore(Compare::Greater, Operand::Value)));
    assert_eq!((header.wait_index, header.update_index, header.value), (10, 22, 0));
    assert_eq!(
        header.update_mode.meaning(),
        Some(Update { action: Action::Increment, moment: Moment::Complete })
    );
    let Body::DmaTrigger(trigger) =
        decode_stream(Arch::V2, &pool).unwrap()[1].instruction().unwrap().body
    else {
        panic!()
    };
    assert_eq!(trigger.queue, Name::new("q_gradient_out").unwrap());
}

/// The example of the vendor's documentation that isa-layouts.md §3.1 cites
/// for `row_grp`, and records of §7 in hexadecimal.
#[test]
fn records_of_the_sheet_decode_to_their_fields() {
    let hex = |text: &str| -> [u8; 64] {
        let digits: String = text.split_whitespace().collect();
        let mut bytes = [0; 64];
        for (place, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
            *place = u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        }
        bytes
    };
    let line = |arch, text: &str| {
        let record = Record::decode(arch, &hex(text));
        assert!(record.is_understood());
        disassemble(&record, &SemaphoreNames::none())
    };
    assert_eq!(
        line(Arch::V3, "a8100000 00000000 00000000 04090100 3c000000 3c000000 00000100 00000000"),
        "ALU_OP op=ADD dtype=uint32 src0=$R[60] src1=65536 dst=$R[60];"
    );
    assert_eq!(
        line(
            Arch::V3,
            "b8100000 00000000 00000000 000c1000 1f000000 01000028 00040000 01000000 80000100 \
             0004bd00 00400000 20800000 00000400 01000000 80000100 00040606"
        ),
        "DMA_DIRECT2D semaphore=12 sem_increment=16 src_elem_size=1024 dst_elem_size=1024 \
         src_pattern=[1024,1][128,1] dst_pattern=[262144,1][128,1] src_table_offset_reg=$R[31] \
         src_table_index=1 src_shape_reg=0 dst_addr_imm=0x802000004000 dst_shape_reg=0 \
         dtype=bfloat16 compute_op=NONE src_bound=0xbd;"
    );
    assert_eq!(
        line(
            Arch::V2,
            "8c100000 05041306 06000000 28850000 01000100 01000100 00040100 01000100 060a8000 \
             04020000 00000000 28950000 01000100 01000100 01000100 01000100"
        ),
        "TENSOR_REDUCE_ADD_BF16 $S[4]>=6 $S[6]++@complete op=ADD dim=X \
         src=bfloat16@0x8528[1,1,1,1][1024,1,1,1] dst=fp32@0x9528[1,1,1,1][1,1,1,1] channels=128;"
    );
}

#[test]
fn a_program_is_written_by_type_or_as_text() {
    let load =
        pe::LoadWeights { src_type: Dtype::FP16, rows: 128, columns: 64, ..Default::default() };
    let mut typed = Instruction::new(Opcode::LDWEIGHTS, load).unwrap();
    typed.header.wait_mode =
        WaitMode::of(Wait::Semaphore(Compare::GreaterEqual, Operand::Value)).unwrap();
    typed.header.wait_index = 8;
    typed.header.value = 16;
    let text = "
        # the stationary matrix
        0: LDWEIGHTS S[8] (qSyncDynamicHW)>=16 transpose_mode=DISABLED
    ";
    assert!(assemble(Arch::V3, text).is_err());
    let text = "0: LDWEIGHTS S[8] (qSyncDynamicHW)>=16 128*64 transpose_mode=DISABLED \
                src=fp16@0x0[0,0,0][0,0,0]; # the stationary matrix";
    assert_eq!(assemble(Arch::V3, text).unwrap(), [Record::Instruction(typed)]);
    // a payload of another opcode is refused
    assert!(Instruction::new(Opcode::MATMUL, control::Drain::default()).is_none());
}

#[test]
fn errors_name_the_line_and_the_word() {
    for (line, wanted) in [
        ("MATMULT 1*1", "there is no instruction \"MATMULT\""),
        ("MATMUL_SPARSE", "generation 2 has no MATMUL_SPARSE"),
        ("NOP", "cycle= is missing"),
        ("NOP cycle=4294967296", "cycle cannot be \"4294967296\""),
        ("NOP cycle=1 cycle=2", "\"cycle\" stands twice"),
        ("NOP cycle=1 speed=2", "\"speed=2\" does not belong to this instruction"),
        ("NOP cycle=1 fast", "\"fast\" does not belong to this instruction"),
        ("NOP $S[300]>=1 cycle=1", "\"$S[300]>=1\" is no wait and no update"),
        ("NOP $S[3]>=1 $S[3]+=2@complete cycle=1", "share one value"),
        ("NOP $S[3]>=1 $S[4]>=1 cycle=1", "one wait and one update"),
        ("NOP cycle=1 raw[12]=01", "raw[..] names a byte that has a field"),
        ("NOP cycle=1 raw[63]=0101", "raw[63] does not lie in bytes 12 to 63"),
        ("NOP cycle=1; NOP cycle=2;", "one record a line"),
        ("WRITE data=0x1,0x2 size=4 dst=0x0", "differ in length"),
        ("UNKNOWN 00", "the 64 bytes in hexadecimal"),
        ("PSEUDO_DMA_TRIGGER \"q block_id=0", "a quote is not closed"),
    ] {
        let error = assemble(Arch::V2, &format!("NOP cycle=0;\n{line}")).unwrap_err();
        assert_eq!(error.line, 2, "{line}");
        assert!(error.reason.contains(wanted), "{line}: {error}");
        assert_eq!(error.to_string().lines().count(), 1);
    }
    let long = assemble(Arch::V2, &"x".repeat(10_000)).unwrap_err();
    assert!(long.to_string().len() < 300);
    let wide = assemble(Arch::V2, &"a=1 ".repeat(1_000_000)).unwrap_err();
    assert!(wide.reason.contains("more than 256 words"));
    let cut = decode_stream(Arch::V3, &[0; 100]).unwrap_err();
    assert_eq!((cut.offset, cut.bytes), (64, 36));
}

/// Rules of isa-layouts.md §2.2.
#[test]
fn a_semaphore_with_one_source_has_a_name() {
    let mut names = SemaphoreNames::none();
    let program = "
        NOP $S[4]++@complete cycle=0;
        NOP $S[6]++@complete cycle=0;
        EVENT_SEMAPHORE setter=0 $S[7]++@complete;
    ";
    names.add_stream(Engine::Act, &assemble(Arch::V3, program).unwrap());
    names.add_stream(Engine::Dve, &assemble(Arch::V3, "NOP $S[6]++@complete cycle=0;").unwrap());
    names.add_queue(9, "qSPSpillReload0");
    names.add_queue(10, "q)");
    assert_eq!(names.text(4), "S[4] (Scalar)");
    assert_eq!(names.text(6), "$S[6]");
    assert_eq!(names.text(7), "$S[7]");
    assert_eq!(names.text(9), "S[9] (qSyncSpillReload0)");
    assert_eq!(names.text(10), "$S[10]");
    let wait = &assemble(Arch::V3, "NOP $S[9]>=16 cycle=0;").unwrap()[0];
    assert_eq!(viewer_operands(wait, &names), "S[9] (qSyncSpillReload0)>=16 cycle=0 ");
    assert_eq!(assemble(Arch::V3, &disassemble(wait, &names)).unwrap(), [*wait]);
}

/// Operand texts printed in public: a MATMUL in the vendor's user guide of
/// neuron-profile, an ALU_OP and the address part of a DMA record in notes on
/// a Trn3 profile.
#[test]
fn published_operand_texts_print_again() {
    let mut names = SemaphoreNames::none();
    names.add_stream(Engine::Pe, &assemble(Arch::V2, "NOP $S[5]++@complete cycle=0").unwrap());
    for (arch, opcode, text) in [
        (
            Arch::V2,
            "MATMUL",
            "S[5] (Tensor)++@complete acc_flags=3 row_grp=q0 src=fp16@0x5600[1,0,0][3,1,1] \
             dst=0x2000000[1,0,0][3,1,1] 3*128 ",
        ),
        (Arch::V4, "ALU_OP", " op=MULTIPLY dtype=int32 src0=$R[61] src1=786432 dst=$R[60] "),
        (
            Arch::V4,
            "DMA_DIRECT2D",
            " semaphore=8 sem_increment=16  src_elem_size=6144 dst_elem_size=6144 \
             src_pattern=[6144,1][128,1] dst_pattern=[262144,1][128,1] \
             src_table_offset_reg=$R[61] src_table_index=24 src_shape_reg=0 \
             dst_addr_imm=0x802000017220 dst_shape_reg=0 compute_op=NONE ",
        ),
    ] {
        let [record] = assemble(arch, &format!("{opcode} {text}")).unwrap()[..] else { panic!() };
        assert!(record.is_understood());
        assert_eq!(viewer_operands(&record, &names), text);
    }
}

/// Opcodes of each generation in the vendor's headers, without the invalid
/// one (public notes on the headers).
#[test]
fn generations_have_as_many_opcodes_as_the_headers() {
    for (arch, count) in [(Arch::V1, 144), (Arch::V2, 144), (Arch::V3, 149), (Arch::V4, 158)] {
        assert_eq!(TABLE.iter().filter(|row| row.exists_on(arch)).count(), count, "{arch:?}");
    }
}

/// isa-layouts.md §4.2: slot 39 with label 896 goes to slot 53.
#[test]
fn a_branch_leads_to_a_slot() {
    let target = |text: &str, slot| {
        let record = assemble(Arch::V3, text).unwrap()[0];
        let Body::Branch(branch) = record.instruction().unwrap().body else { panic!() };
        branch.target_slot(slot)
    };
    let text = "COMPARE_BRANCH cmp_op=EQ dtype=int32 cmp0=$R[0] cmp1=0 label_id=896";
    assert_eq!(target(text, 39), Some(53));
    let back = "COMPARE_BRANCH cmp_op=ALWAYS label_id=4294964800 debugHint=2";
    assert_eq!(target(back, 39), Some(0));
    assert_eq!(target(back, 38), None);
    assert_eq!(target("COMPARE_BRANCH cmp_op=ALWAYS label_id=65", 0), None);
}

/// The table in the module docs is that of the code.
#[test]
fn table_of_the_docs_is_true() {
    let mut table =
        String::from("| opcode | name | engines | generations | status |\n|---|---|---|---|---|\n");
    for row in TABLE {
        let generations = match (row.since.number(), row.until.number()) {
            (since, until) if since == until => format!("v{since}"),
            (since, until) => format!("v{since} to v{until}"),
        };
        writeln!(
            table,
            "| {:02X} | {} | {} | {generations} | {} |",
            row.opcode.0,
            row.name,
            row.engines,
            row.status.text()
        )
        .unwrap();
    }
    let docs = include_str!("../src/isa/opcodes.md");
    assert_eq!(docs, table, "put this into src/isa/opcodes.md:\n{table}");
    let count = |status| TABLE.iter().filter(|row| row.status == status).count();
    // isa-layouts.md §1.1: 19 executed opcodes and one pseudo record
    assert_eq!(count(Status::SettledByCapture), 20);
    assert_eq!(count(Status::PublicSample), 2);
}
