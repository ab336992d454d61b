//! Forms 4 and 5 as Trn1 writes them: traces in the sub-graphs, programs in
//! the message, a clock of its own for every source (ntff.md §3.7).
//!
//! No such file is among the fixtures; the numbers are those of the sheet.

#![cfg(feature = "ntff")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod ntff_support;

use neuron_core::ntff::messages::{
    BlockTimestampInfo, BlockType, EngineInstructionInfo, NcTimestampInfo, NdNodeInfo,
    NeffNodeInfo, NotificationTraceType as TraceType, NtffInfo, SubgraphInfo, TraceInfo,
    neff_node_info::Node,
};
use neuron_core::ntff::notification::{Direction, Dma, DmaStep, Engine, Start, Update};
use neuron_core::ntff::{Mode, Notification, Record, Ticks, Writer};
use ntff_support::Whole;

fn clock(init: u64, actual: u64, expected: u64) -> Option<BlockTimestampInfo> {
    let (init_timestamp, actual_timestamp_inc, expected_timestamp_inc) = (init, actual, expected);
    Some(BlockTimestampInfo { init_timestamp, actual_timestamp_inc, expected_timestamp_inc })
}

fn start(engine: Engine, ticks: u64) -> Record {
    let start = Start { engine, pc: 0x4_1600, hint: 0, soft_reset: 0, wait_cycles: 0 };
    Notification::Start(start).encode(Ticks(ticks))
}

#[test]
fn each_source_has_its_clock() {
    let trace = |trace_type: TraceType, block: BlockType, records: u64| TraceInfo {
        trace_type: trace_type.into(),
        block_type: block.into(),
        size: records * 16,
        ..TraceInfo::default()
    };
    // Clock 5 serves SP and the updates of every engine.
    let timestamps = NcTimestampInfo {
        pe: clock(1000, 731_428, 731_408),
        act: clock(2000, 731_428, 731_408),
        dve: clock(9_000_000, 914_286, 914_260),
        pool: clock(4000, 731_428, 731_408),
        sp: clock(5000, 731_428, 731_408),
        clock_6: clock(55_000, 731_428, 731_408),
        throttle: clock(700, 1024, 731_408),
        dma: (0..16).map(|engine| clock(engine * 10, 1024, 1_204_672).unwrap()).collect(),
        topsp: clock(90, 1024, 1_204_672),
    };
    let program = EngineInstructionInfo {
        start_address: 0x105_8000,
        instructions: vec![1; 128],
        ..EngineInstructionInfo::default()
    };
    let graph = SubgraphInfo {
        name: "sg00".into(),
        instruction_info: vec![program],
        traces: vec![
            trace(TraceType::Instruction, BlockType::Nc, 2),
            trace(TraceType::Event, BlockType::Nc, 1),
            trace(TraceType::Error, BlockType::Nc, 0),
            trace(TraceType::Dma, BlockType::Dma, 1),
            trace(TraceType::Throttle, BlockType::Nc, 1),
            trace(TraceType::Instruction, BlockType::Topsp, 1),
        ],
        timestamp_info: Some(timestamps),
        ..SubgraphInfo::default()
    };
    let node = Node::NdNode(NdNodeInfo { graphs: vec![graph] });
    let info = NtffInfo {
        neff_name: "file.neff".into(),
        arch: 1,
        neff_nodes: vec![NeffNodeInfo { node: Some(node), ..NeffNodeInfo::default() }],
        ..NtffInfo::default()
    };
    let update = Update {
        engine: Some(Engine::Pe),
        id: 3,
        is_semaphore: true,
        double_set_or_clear: false,
        mode: 0xf3,
        value: 1,
    };
    let step = DmaStep::Start { direction: Direction::Read, queue: 1, metadata: 0 };
    let mut writer = Writer::new(Vec::new(), 4, info).unwrap();
    for record in [
        start(Engine::Pe, 1000 + 731_428),
        start(Engine::Dve, 9_000_000 + 914_286),
        Notification::Update(update).encode(Ticks(5000 + 731_428)),
        Notification::Dma(Dma { engine: 3, step }).encode(Ticks(30 + 1024)),
        // The one Trn1 throttle record of the sheet: A = 0, B = 0x40.
        Record { word: (0x40 << 32) | (0x9e << 24), time: Ticks(700 + 1024) },
        start(Engine::Sp, 90 + 1024),
    ] {
        writer.record(record).unwrap();
    }
    let data = writer.finish().unwrap();
    let whole = Whole::read(&data, Mode::Strict);
    assert_eq!(whole.header.form, 4);
    assert_eq!(whole.sections.len(), 6, "the program is in the message");
    let times: Vec<u64> = whole.events().map(|event| event.time.ps()).collect();
    assert_eq!(times, [731_408, 914_260, 731_408, 1_204_672, 731_408, 1_204_672]);
    let core = &whole.summary.cores()[&0];
    assert_eq!((core.first.unwrap().ps(), core.last.unwrap().ps()), (731_408, 1_204_672));
    // A layout that nobody knows is no damage.
    assert_eq!((core.throttles, core.unknown), (0, 1));
    assert!(!whole.findings.damaged(), "{:?}", whole.findings.list());
}
