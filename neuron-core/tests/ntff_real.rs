//! Every real trace decodes completely: each number that its origin table
//! gives, no byte unexplained, no unexpected finding.

#![cfg(feature = "ntff")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

mod ntff_support;

use std::collections::BTreeMap;

use neuron_core::ntff::layout::{self, name};
use neuron_core::ntff::messages::BlockType;
use neuron_core::ntff::notification::{DmaStep, Engine, ExplicitBody};
use neuron_core::ntff::program::PatchMap;
use neuron_core::ntff::window::Windows;
use neuron_core::ntff::{Mode, Notification, Reader, Rule, SectionKind, Writer, program};
use ntff_support::{TRACES, Whole, bytes, options};
use prost::Message as _;

/// file | form | runtime | instance | message bytes | blob bytes | core | START | END | EXPL |
/// updates (bus, loss) | DMA packets, moved | throttle | first | last | exec_duration ps.
/// START and END are per engine: PE, ACT, POOL, DVE, SP.
const TABLE: &str = "
attn-fused-fp32-512.ntff | 6 | 2.30.51 | trn2.3xlarge | 3160 | 107200 | 4 | 164/40/36/48/27 | 163/40/36/48/27 | 0 | 456 (84, 1) | 480, 1249668 | 2 | 2525035287929531 | 2525035335144457 | 38091607
attn-fused-fp32-512.ntff | 6 | 2.30.51 | trn2.3xlarge | 3160 | 107200 | 5 | 41/30/30/30/25 | 40/30/30/30/25 | 0 | 305 (4, 2) | 11, 131132 | 0 | 2525035288710363 | 2525035312135326 | 13776645
attn-fused-bf16-512.ntff | 6 | 2.30.51 | trn2.3xlarge | 3160 | 130656 | 4 | 157/40/36/48/28 | 156/40/36/48/28 | 0 | 470 (100, 2) | 976, 758212 | 2 | 2575444946877649 | 2575444992649244 | 36351609
attn-fused-bf16-512.ntff | 6 | 2.30.51 | trn2.3xlarge | 3160 | 130656 | 5 | 41/30/30/30/25 | 40/30/30/30/25 | 0 | 305 (4, 2) | 11, 131132 | 0 | 2575444947645148 | 2575444971857610 | 14228311
attn-base-bf16-512.ntff | 6 | 2.30.51 | trn2.3xlarge | 3745 | 216032 | 4 | 157/52/37/49/32 | 156/52/37/49/32 | 0 | 608 (228, 1) | 2672, 4953028 | 2 | 2566277901304513 | 2566277964907747 | 54276582
attn-base-bf16-512.ntff | 6 | 2.30.51 | trn2.3xlarge | 3745 | 216032 | 5 | 41/30/30/30/25 | 40/30/30/30/25 | 0 | 307 (4, 2) | 11, 131132 | 0 | 2566277902082012 | 2566277925993641 | 14152477
attn-fused-fp32-1024.ntff | 6 | 2.30.51 | trn2.3xlarge | 3166 | 161888 | 4 | 510/65/36/89/27 | 509/65/36/89/27 | 0 | 632 (84, 1) | 736, 2298244 | 4 | 2783642718545622 | 2783642800923827 | 73289052
attn-fused-fp32-1024.ntff | 6 | 2.30.51 | trn2.3xlarge | 3166 | 161888 | 5 | 41/30/30/30/25 | 40/30/30/30/25 | 0 | 305 (4, 1) | 11, 131132 | 0 | 2783642719323955 | 2783642742860584 | 13340812
moe-dge.ntff | 6 | 2.30.51 | trn2.3xlarge | 10374 | 906528 | 4 | 1514/496/977/415/45 | 1513/496/977/415/45 | 160 | 4621 (2833, 40) | 9393, 25534164 | 0 | 341377197818428300 | 341377198111972155 | 275780403
moe-dge.ntff | 6 | 2.30.51 | trn2.3xlarge | 10374 | 906528 | 5 | 41/30/30/30/25 | 40/30/30/30/25 | 0 | 305 (4, 2) | 11, 131132 | 0 | 341377197819190799 | 341377197841454931 | 11936648
attn-tkg.ntff | 6 | 2.30.51 | trn2.3xlarge | 7259 | 946496 | 4 | 821/178/367/719/50 | 820/178/367/719/50 | 344 | 2254 (1102, 286) | 13592, 10016740 | 0 | 371297009789972381 | 371297010165944539 | 359874021
attn-tkg.ntff | 6 | 2.30.51 | trn2.3xlarge | 7259 | 946496 | 5 | 41/30/30/30/25 | 40/30/30/30/25 | 0 | 305 (4, 1) | 11, 131132 | 0 | 371297009790751547 | 371297009814763176 | 13904145
inspect/profile_exec_2.ntff | 6 | 2.30.51 | trn2.3xlarge | 21626 | 2238592 | 4 | 1683/564/4795/417/45 | 1682/564/4795/417/45 | 784 | 14487 (12575, 131) | 25535, 25803476 | 0 | 258452847985696532 | 258452849005555968 | 1003215099
inspect/profile_exec_2.ntff | 6 | 2.30.51 | trn2.3xlarge | 21626 | 2238592 | 5 | 41/30/30/30/25 | 40/30/30/30/25 | 0 | 301 (4, 4) | 11, 131132 | 0 | 258452847986478198 | 258452848008777330 | 12354148
";

/// Start and end of the execution window in picoseconds.
const WINDOWS: [(&str, u64, u64); 7] = [
    ("attn-fused-fp32-512.ntff", 2_525_035_296_379_518, 2_525_035_334_471_125),
    ("attn-fused-bf16-512.ntff", 2_575_444_955_688_469, 2_575_444_992_040_078),
    ("attn-base-bf16-512.ntff", 2_566_277_910_022_000, 2_566_277_964_298_582),
    ("attn-fused-fp32-1024.ntff", 2_783_642_727_025_609, 2_783_642_800_314_661),
    ("moe-dge.ntff", 341_377_197_827_663_285, 341_377_198_103_443_688),
    ("attn-tkg.ntff", 371_297_009_799_126_533, 371_297_010_159_000_554),
    ("inspect/profile_exec_2.ntff", 258_452_847_994_680_685, 258_452_848_997_895_784),
];

fn list(counts: [u64; 5]) -> String {
    counts.map(|count| count.to_string()).join("/")
}

/// The rows of a file, in the form of [`TABLE`].
fn rows(file: &str) -> Vec<String> {
    let data = bytes(file);
    let whole = Whole::read(&data, Mode::Strict);
    let version = whole.info.neuron_runtime_version.clone().unwrap();
    let durations: BTreeMap<u32, u64> =
        layout::subgraphs(&whole.info).map(|graph| (graph.nc_idx, graph.exec_duration)).collect();
    let blobs = data.len() as u64 - whole.header.blobs_start();
    let row = |(number, core): (&u32, &neuron_core::ntff::summary::Core)| {
        assert_eq!(core.dma_starts, core.dma_ends, "{file}");
        assert_eq!(core.dma_starts, core.dma_completions, "{file}");
        let others = [core.dma_others, core.faults, core.errors, core.unknown];
        assert_eq!(others, [0; 4], "{file}");
        format!(
            "{file} | {} | {}.{}.{} | {} | {} | {blobs} | {number} | {} | {} | {} | {} ({}, {}) | \
             {}, {} | {} | {} | {} | {}",
            whole.header.form,
            version.major,
            version.minor,
            version.patch,
            whole.info.instance_type,
            whole.header.message_size,
            list(core.starts),
            list(core.ends),
            core.explicits.iter().sum::<u64>(),
            core.updates,
            core.bus_updates,
            core.lossy_updates,
            core.dma_starts,
            core.dma_bytes,
            core.throttles,
            core.first.unwrap().ps(),
            core.last.unwrap().ps(),
            durations[number],
        )
    };
    whole.summary.cores().iter().map(row).collect()
}

#[test]
fn every_number_of_the_table() {
    let found: Vec<String> = TRACES.iter().flat_map(|file| rows(file)).collect();
    let wanted: Vec<&str> = TABLE.trim().lines().collect();
    assert_eq!(found, wanted);
}

#[test]
fn windows_of_form_6() {
    for (file, start, end) in WINDOWS {
        let whole = Whole::read(&bytes(file), Mode::Strict);
        let [window] = whole.info.execution_timeline.as_slice() else { panic!("{file}") };
        assert_eq!((window.start, window.end), (start, end), "{file}");
        assert_eq!(window.neff_uuid.len(), 16);
        assert_eq!(whole.info.neff_nodes[0].uid, window.neff_uuid);
        // The lead core's duration is the window (§3.3).
        let lead = layout::subgraphs(&whole.info).next().unwrap();
        assert_eq!(lead.exec_duration, end - start, "{file}");
    }
}

/// Nothing but loss marks of EVENT traces is found, in as many records as the
/// table says; the whole file was read and every record is explained bit by bit.
#[test]
fn no_byte_is_unexplained() {
    for file in TRACES {
        let data = bytes(file);
        let whole = Whole::read(&data, Mode::Strict);
        assert_eq!(whole.position, data.len() as u64, "{file}");
        let sum: usize = whole.blobs.iter().map(Vec::len).sum();
        assert_eq!(sum as u64 + whole.header.blobs_start(), data.len() as u64, "{file}");
        let (findings, dropped) = whole.findings.list();
        assert_eq!(dropped, 0);
        let mut losses = 0;
        for finding in findings {
            let Rule::HardwareLoss { section, count } = &finding.rule else {
                panic!("{file}: {finding}")
            };
            assert!(section.ends_with("NC EVENT trace"), "{file}: {finding}");
            losses += count;
        }
        let wanted: u64 = whole.summary.cores().values().map(|core| core.lossy_updates).sum();
        assert_eq!(losses, wanted, "{file}");
        for event in whole.events() {
            assert!(event.record.phase(), "{file}: {event:?}");
            assert!(event.notification.explains(event.record), "{file}: {event:?}");
        }
    }
}

/// Field by field nothing of a message is lost: it encodes to the same bytes.
#[test]
fn messages_come_back() {
    for file in TRACES {
        let data = bytes(file);
        let reader = Reader::new(data.as_slice(), options(Mode::Strict)).unwrap();
        let end = usize::try_from(reader.header().blobs_start()).unwrap();
        assert!(reader.info().encode_to_vec() == data[128..end], "{file}");
    }
}

/// Written again with offsets of our own, a file is the same but for the bytes
/// of the header that mean nothing.
#[test]
fn files_come_back() {
    for file in TRACES {
        let data = bytes(file);
        let whole = Whole::read(&data, Mode::Strict);
        let mut writer = Writer::new(Vec::new(), whole.header.form, whole.info.clone()).unwrap();
        assert_eq!(writer.sections(), whole.sections);
        for blob in &whole.blobs {
            writer.bytes(blob).unwrap();
        }
        let again = writer.finish().unwrap();
        assert!(again[..9] == data[..9] && again[9..128] == [0; 119], "{file}");
        assert!(again[128..] == data[128..], "{file}");
        // Record by record as well.
        let mut writer = Writer::new(Vec::new(), whole.header.form, whole.info.clone()).unwrap();
        for (section, blob) in whole.sections.iter().zip(&whole.blobs) {
            match section.kind {
                SectionKind::Program { .. } => writer.bytes(blob).unwrap(),
                SectionKind::Trace { .. } => {}
            }
        }
        for event in whole.events() {
            let record = event.notification.encode(event.record.time);
            let marks = (event.record.software_loss(), event.record.hardware_loss());
            writer.record(record.with_marks(marks.0, marks.1)).unwrap();
        }
        assert!(writer.finish().unwrap() == again, "{file}");
    }
}

/// ntff.md §5: the traces of form 6, in order, even when empty.
#[test]
fn traces_are_in_the_published_order() {
    let core = |number: u32| {
        ["INSTRUCTION", "EVENT", "ERROR"]
            .map(|trace| format!("core {number} NC {trace} trace"))
            .into_iter()
            .chain([
                format!("core {number} DMA DMA trace"),
                format!("core {number} NC THROTTLE trace"),
            ])
    };
    let topsp = (8..12).flat_map(|index| {
        ["INSTRUCTION", "ERROR", "EVENT"]
            .map(move |trace| format!("core 4 TOPSP {index} {trace} trace"))
    });
    let wanted: Vec<String> = core(4).chain(topsp).chain(core(5)).collect();
    for file in TRACES {
        let whole = Whole::read(&bytes(file), Mode::Strict);
        let is_trace = |s: &&_| {
            matches!(s, neuron_core::ntff::Section { kind: SectionKind::Trace { .. }, .. })
        };
        let found: Vec<String> =
            whole.sections.iter().filter(is_trace).map(ToString::to_string).collect();
        assert_eq!(found, wanted, "{file}");
        assert_eq!(whole.info.id, 10001);
        assert_eq!(whole.info.ncfw_notification_version, 2);
        assert_eq!(whole.info.arch, 2);
        assert_eq!(whole.info.ultraserver_info.unwrap().id, u32::MAX);
        assert_eq!(whole.info.notification_buffer_size.len(), 8);
        let rings: Vec<(i32, &str, u64)> = whole
            .info
            .notification_buffer_size
            .iter()
            .map(|ring| (ring.block_type, name(ring.trace_type()), ring.buffer_size >> 20))
            .collect();
        let (nc, dma, topsp) =
            (BlockType::Nc.into(), BlockType::Dma.into(), BlockType::Topsp.into());
        assert_eq!(
            rings.iter().copied().collect::<std::collections::BTreeSet<_>>(),
            std::collections::BTreeSet::from([
                (nc, "INSTRUCTION", 128),
                (nc, "EVENT", 64),
                (nc, "ERROR", 16),
                (dma, "DMA", 128),
                (nc, "THROTTLE", 64),
                (topsp, "INSTRUCTION", 64),
                (topsp, "EVENT", 2),
                (topsp, "ERROR", 16),
            ])
        );
    }
}

/// ntff.md §6.3: the packets that descriptor-generation records announce are
/// the packets of the dynamic rings of their engine.
#[test]
fn generated_descriptors_are_the_packets_of_the_dynamic_rings() {
    let mut sums = BTreeMap::new();
    for file in ["moe-dge.ntff", "attn-tkg.ntff", "inspect/profile_exec_2.ntff"] {
        let whole = Whole::read(&bytes(file), Mode::Strict);
        let mut announced: BTreeMap<Engine, u64> = BTreeMap::new();
        let mut packets: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for event in whole.events() {
            match event.notification {
                Notification::Explicit(explicit) => {
                    assert!(matches!(explicit.body, ExplicitBody::DescriptorsDone { .. }));
                    *announced.entry(explicit.engine).or_default() +=
                        u64::from(explicit.packets().unwrap());
                }
                Notification::Dma(dma) => {
                    if let DmaStep::Start { queue, .. } = dma.step {
                        let engine = dma.device_engine(event.core);
                        *packets.entry((engine, queue.into())).or_default() += 1;
                    }
                }
                _ => {}
            }
        }
        let graph = layout::subgraphs(&whole.info).next().unwrap();
        for (engine, ring) in [(Engine::Pool, "qPoolDynamic"), (Engine::Sp, "qSPDynamicHW")] {
            let mut found = 0;
            for queue in graph.dma_queue_usage.iter().filter(|queue| queue.name == ring) {
                found += packets.get(&(queue.engine_index, queue.queue_index)).unwrap_or(&0);
            }
            let wanted = announced.get(&engine).copied().unwrap_or(0);
            if wanted > 0 {
                assert_eq!(found, wanted, "{file} {engine}");
                sums.insert((file, engine), wanted);
            }
        }
    }
    assert!(sums.len() >= 3, "{sums:?}");
    let known = [8960, 10368, 9536, 25088, 2880];
    assert!(sums.values().all(|sum| known.contains(sum)), "{sums:?}");
}

/// ntff.md §7.1, §7.2: every start lies in the captured program of its engine
/// (runtime 2.30 has no resident code), and every list of patches can be walked.
#[test]
fn program_counters_lead_into_the_captured_programs() {
    for file in TRACES {
        let whole = Whole::read(&bytes(file), Mode::Strict);
        let mut programs = BTreeMap::new();
        for section in &whole.sections {
            if let SectionKind::Program { engine: Ok(engine), start_address } = section.kind {
                assert_eq!(start_address % 0x8000, 0);
                programs.insert((section.core, engine), (start_address, section.size / 64));
            }
        }
        assert_eq!(programs.len(), 10, "{file}");
        let mut count = 0;
        for event in whole.events() {
            let Notification::Start(start) = event.notification else { continue };
            let (address, slots) = programs[&(event.core, start.engine)];
            let slot = program::slot(start.pc, address, slots);
            assert!(slot.is_some(), "{file}: {event:?}");
            count += 1;
        }
        let starts: u64 = whole.summary.cores().values().flat_map(|core| core.starts).sum();
        assert_eq!(count, starts);
        for graph in layout::subgraphs(&whole.info) {
            assert_eq!(graph.patch_info.len(), 5);
            for patch in &graph.patch_info {
                let map = PatchMap::new(patch).unwrap();
                assert_eq!(map.neff_slot(0), None, "every program has a prologue");
            }
        }
    }
}

/// ntff.md §7.4: the stored window of form 6 starts and ends five cycles before
/// a NOTIFY of PE on the lead core ends (the end of attn-tkg does not, it lies
/// 18.75 ns before the last NOTIFY of any engine), and the rule for older forms,
/// applied here, starts within 25 ns of a NOTIFY on every core.
#[test]
fn windows_by_the_rule_of_older_forms() {
    for file in TRACES {
        let whole = Whole::read(&bytes(file), Mode::Strict);
        let mut windows = Windows::new(&whole.info);
        for (section, blob) in whole.sections.iter().zip(&whole.blobs) {
            // In pieces, as a reader gives them.
            for (at, piece) in (0_u64..).step_by(128).zip(blob.chunks(128)) {
                windows.program(section, at, piece);
            }
        }
        let mut notifies: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        let mut pe: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for event in whole.events() {
            let Notification::End(end) = event.notification else { continue };
            windows.end(event.core, end, event.time);
            if windows.is_notify(event.core, end.engine, end.pc) {
                notifies.entry(event.core).or_default().push(event.time.ps());
                if end.engine == Engine::Pe {
                    pe.entry(event.core).or_default().push(event.time.ps());
                }
            }
        }
        let lead = layout::subgraphs(&whole.info).next().unwrap().nc_idx;
        // Five cycles of 1.2 GHz are 4166.67 ps.
        // Five cycles of 1.2 GHz are 4166.67 ps.
        let window = &whole.info.execution_timeline[0];
        let marks =
            |time: u64| pe[&lead].iter().any(|pe| (4166..=4167).contains(&pe.wrapping_sub(time)));
        assert!(marks(window.start), "{file}");
        assert_eq!(marks(window.end), file != "attn-tkg.ntff", "{file}");
        for graph in layout::subgraphs(&whole.info) {
            let (start, end) = windows.window(&whole.info, graph.nc_idx).unwrap();
            assert_eq!(end.ps() - start.ps(), graph.exec_duration);
            let near = notifies[&graph.nc_idx].iter().map(|n| n.abs_diff(start.ps())).min();
            assert!(near.unwrap() <= 25_000, "{file} core {}: {near:?} ps", graph.nc_idx);
        }
    }
}
