//! Numbers of DMA, HBM and links.

use neuron_core::instance::Arch;
use neuron_core::isa::address::{Addr8, Location};
use neuron_core::isa::body::dma::DmaDirect;
use neuron_core::isa::body::pseudo::DmaTrigger;
use neuron_core::isa::value::Name;
use neuron_core::isa::{Engine, Instruction, Opcode};
use npu::Program;
use npu::time::{Packet, Parameters};

use super::{BANDWIDTH, OVERVIEW, Row, TRN1, TRN2, TRN3, row};
use crate::support::lab::{Seen, V2, V3, V4, program, rows_of, run};
use crate::support::neff::{Small, changed, plain, wait};

/// Loads rows by a block of a ring.
fn ring(target: &str, rows: u16, bytes: u16) -> Seen {
    block(target, rows, bytes, "a", 0, "")
}

/// The same from the input or within SBUF, with further keys of the transfer.
fn block(target: &str, rows: u16, bytes: u16, from: &str, to: u32, keys: &str) -> Seen {
    let mut small = Small { inputs: vec![bytes], output: 64, streams: Default::default() };
    let body = DmaTrigger { queue: Name::new("q").unwrap(), ..DmaTrigger::default() };
    small.on(Engine::Sp).push(plain(Opcode::PSEUDO_DMA_TRIGGER, body));
    small.on(Engine::Sp).push(wait(8, 16));
    let file = changed(&small.build(), "kelf-0.json", |kelf| {
        *kelf = String::from_utf8(kelf.clone()).unwrap().replace(V3, target).into_bytes();
    });
    let step = if from == "SB" { 262_144 } else { u32::from(bytes) };
    let block = format!(
        r#"{{"dma": [{{"id": 0, "queue": "q", "semaphore": 8, "desc": [{{"from": "{from}",
        "to": "SB", "from_off": 0, "to_off": {to}, "from_sizes": [{bytes}, {rows}],
        "from_steps": [1, {step}], "to_sizes": [{bytes}, {rows}], "to_steps": [1, 262144]
        {keys}}}]}}], "instr": "sp.bin",
        "name": "sp"}}"#
    );
    let file = changed(&file, "sg00/sp.json", |json| *json = block.into_bytes());
    run(&Program::from_neff(&file).unwrap()).1
}

fn dynamic(target: &str, engine: Engine, record: Instruction) -> Seen {
    let mut small = Small { inputs: vec![8192], output: 64, streams: Default::default() };
    small.on(engine).push(record);
    small.on(engine).push(wait(8, 16));
    run(&program(target, &small)).1
}

/// From the first packet of data to the end of the last.
fn moved(packets: &[Packet]) -> f64 {
    let data = || packets.iter().filter(|packet| packet.bytes > 4);
    let start = data().map(|packet| packet.start).min().unwrap();
    (data().map(|packet| packet.end).max().unwrap() - start) as f64
}

pub(super) fn dma() -> Vec<Row> {
    let mut rows = Vec::new();
    let hardware = dynamic(V3, Engine::Sp, rows_of(128, 512));
    let record = hardware.of(Engine::Sp)[0];
    let record_length = (record.end - record.start) as f64 / 1000.0;
    rows.push(row("record of a hardware generator, v3", TRN2, "ns", 600.0, record_length));
    let first = hardware.packets[0].start - record.start;
    rows.push(row(
        "from it to the first packet, v3",
        BANDWIDTH,
        "ns",
        1300.0,
        first as f64 / 1000.0,
    ));
    let static_ring = ring(V2, 128, 2048);
    let doorbell = static_ring.of(Engine::Sp)[0].end;
    let first = static_ring.packets[0].start - doorbell;
    rows.push(row(
        "from a doorbell to the first packet, v2",
        BANDWIDTH,
        "ns",
        1300.0,
        first as f64 / 1000.0,
    ));
    let four = dynamic(V3, Engine::Pool, rows_of(4, 8192));
    let mut transfer =
        row("32 KiB in 4 rows, v3", OVERVIEW, "ns", 1416.0, moved(&four.packets) / 1000.0);
    transfer.tolerance = 1e-3;
    rows.push(transfer);
    let engines = |seen: &Seen, data: bool| {
        let mut engines: Vec<_> = seen
            .packets
            .iter()
            .filter(|packet| (packet.bytes > 4) == data)
            .map(|packet| packet.engine)
            .collect();
        engines.sort_unstable();
        engines.dedup();
        engines.len() as f64
    };
    rows.push(row("engines that move 4 rows", OVERVIEW, "engines", 1.0, engines(&four, true)));
    rows.push(row(
        "engines that add 1 to the semaphore",
        OVERVIEW,
        "engines",
        16.0,
        engines(&four, false),
    ));
    rows.push(row(
        "engines that move 128 rows",
        OVERVIEW,
        "engines",
        16.0,
        engines(&hardware, true),
    ));
    let load = moved(&static_ring.packets) / 1000.0;
    let mut sum = row("128x512 fp32 by 16 engines: 16 KiB / 17, v2", BANDWIDTH, "ns", 964.0, load);
    sum.tolerance = 5e-3;
    rows.push(sum);
    for (target, name, rate) in [(V2, "v2", 17.0), (V3, "v3", 23.0), (V4, "v4", 33.0)] {
        let seen = ring(target, 128, 2048);
        let bytes = 128.0 * 2048.0 / 16.0;
        let simulated = bytes / (moved(&seen.packets) / 1000.0);
        let what = format!("rate of an engine, 2 KiB rows, {name}");
        let mut rate = row(what, BANDWIDTH, "B/ns", rate, simulated);
        rate.tolerance = 1e-2;
        rows.push(rate);
    }
    // tiles of fp16, of which a packet takes a row as a generator's does
    let turned = r#", "from_dtype": "float16", "to_dtype": "float16", "transpose_op": "WZXY",
        "transpose_shape": [1, 1, 128, 1024], "transpose_element_size": 2"#;
    let plain_copy = |src: u32, src_step: i32| {
        let body = DmaDirect {
            semaphore: 8,
            increment: 16,
            src: Addr8::of(Location::Variable { id: src, offset: 0 }).unwrap(),
            src_steps: [src_step, 0],
            src_counts: [128, 1],
            src_elem_size: 2048,
            dst: Addr8::of(Location::Variable { id: 0, offset: 0x8000 }).unwrap(),
            dst_steps: [0x4_0000, 0],
            dst_counts: [128, 1],
            dst_elem_size: 2048,
            ..DmaDirect::default()
        };
        moved(&dynamic(V3, Engine::Sp, plain(Opcode::PSEUDO_DMA_DIRECT2D, body)).packets)
    };
    for (what, from, src, step, share) in [
        ("DMA transpose from HBM, of a copy, v3", "a", 1, 2048, 0.9),
        ("DMA transpose within SBUF, of a copy, v3", "SB", 0, 0x4_0000, 0.5),
    ] {
        let turn = moved(&block(V3, 128, 2048, from, 0x8000, turned).packets);
        let mut rate = row(what, TRN2, "times", share, plain_copy(src, step) / turn);
        rate.tolerance = 1e-2;
        rows.push(rate);
    }
    let most = 1e15 / Parameters::of(Arch::V2).dma.fs_per_byte as f64 / f64::from(1 << 30);
    let mut other = row("the same by the architecture guide, v2", TRN1, "GiB/s", 27.0, most);
    // the guide's unit and the overview's do not agree
    other.tolerance = 7e-2;
    for (arch, name, rate) in
        [(Arch::V2, "v2", 27.2), (Arch::V3, "v3", 27.2), (Arch::V4, "v4", 38.4)]
    {
        let simulated = 1e6 / Parameters::of(arch).dma.fs_per_byte as f64;
        rows.push(row(format!("most of an engine, {name}"), OVERVIEW, "B/ns", rate, simulated));
    }
    rows.push(other);
    for (arch, name, source, rate) in
        [(Arch::V2, "v2", TRN1, 0.82), (Arch::V3, "v3", TRN2, 2.9), (Arch::V4, "v4", TRN3, 4.9)]
    {
        let simulated = 1e3 / Parameters::of(arch).dma.hbm_fs_per_byte as f64;
        let mut rate = row(format!("HBM of a chip, {name}"), source, "TB/s", rate, simulated);
        rate.tolerance = 2e-3;
        rows.push(rate);
    }
    for (arch, name, source, rate) in [(Arch::V3, "v3", TRN2, 1.28), (Arch::V4, "v4", TRN3, 2.56)] {
        let simulated = 1e3 / Parameters::of(arch).collective.fs_per_byte as f64;
        let mut rate = row(format!("link of a chip, {name}"), source, "TB/s", rate, simulated);
        rate.tolerance = 2e-3;
        rows.push(rate);
    }
    rows
}
