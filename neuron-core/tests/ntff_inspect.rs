//! Every number of the inspect run: events, run description, host samples.

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
use std::io::Read as _;

use neuron_core::ntff::error::Findings;
use neuron_core::ntff::frames::{FrameReader, Framed, InspectFile, write_frame};
use neuron_core::ntff::messages::{
    CpuUtil, HostMemUsage, NtraceEvent, NtraceEventPhaseType as Phase, NtraceInfo,
};
use neuron_core::ntff::{Limits, Mode, Rule, event, root, schema};
use ntff_support::{bytes, options};
use prost::Message as _;

fn frames<M: Framed>(name: &str) -> Vec<M> {
    let data = bytes(name);
    let mut reader = FrameReader::new(data.as_slice(), options(Mode::Strict));
    let mut messages = Vec::new();
    while let Some(message) = reader.next_message().unwrap() {
        messages.push(message);
    }
    assert_eq!(reader.position(), data.len() as u64, "{name}");
    let (findings, dropped) = reader.findings().list();
    assert!(findings.is_empty() && dropped == 0, "{name}: {findings:?}");
    messages
}

fn run() -> NtraceInfo {
    let data = bytes("inspect/trace_info.pb");
    let mut findings = Findings::new(10);
    let limits = Limits::default();
    let info = root::decode_whole(&data, 0, &schema::NTRACE_INFO, &limits, &mut findings).unwrap();
    assert!(findings.list().0.is_empty(), "{:?}", findings.list().0);
    info
}

#[test]
fn each_file_is_recognised() {
    let kinds = [
        ("ntrace.pb", InspectFile::Events),
        ("cpu_util.pb", InspectFile::Cpu),
        ("host_mem.pb", InspectFile::Memory),
        ("trace_info.pb", InspectFile::Run),
    ];
    for (name, kind) in kinds {
        let data = bytes(&format!("inspect/{name}"));
        assert_eq!(InspectFile::sniff(&data, true), Some(kind), "{name}");
        // The first part alone, cut anywhere, says the same or nothing.
        for end in (0..data.len().min(2000)).chain([data.len().min(65536)]) {
            let found = InspectFile::sniff(&data[..end], false);
            assert!(end < 200 || found == Some(kind), "{name} cut at {end}: {found:?}");
        }
    }
    assert_eq!(InspectFile::sniff(&bytes("moe-dge.ntff")[..65536], false), None);
    assert_eq!(InspectFile::sniff(b"", true), None);
    assert_eq!(InspectFile::sniff(b"{\"events\":[]}", true), None);
}

#[test]
fn system_trace() {
    let events: Vec<NtraceEvent> = frames("inspect/ntrace.pb");
    assert_eq!(events.len(), 1676);
    let times = events.iter().map(|event| event.timestamp);
    assert_eq!(times.clone().min(), Some(1_773_237_645_742_008_195));
    assert_eq!(times.max(), Some(1_773_237_645_758_435_066));

    let (mut cores, mut types) = (BTreeMap::new(), BTreeMap::new());
    for event in &events {
        *cores.entry(event.id >> 50).or_insert(0) += 1;
        *types.entry(event.event_type).or_insert(0) += 1;
    }
    assert_eq!(cores, BTreeMap::from([(0, 488), (1, 396), (2, 396), (3, 396)]));
    let wanted = [
        (1, 8),
        (3, 2),
        (4, 2),
        (7, 4),
        (9, 2),
        (10, 16),
        (17, 2),
        (19, 2),
        (20, 2),
        (22, 2),
        (25, 2),
        (26, 4),
        (27, 18),
        (28, 4),
        (30, 796),
        (31, 2),
        (34, 790),
        (35, 10),
        (38, 4),
        (39, 4),
    ];
    assert_eq!(types, BTreeMap::from(wanted));

    // Pairs: the STOP carries the id of its START.
    let by = |phase: Phase| events.iter().filter(move |event| event.phase() == phase);
    let starts: BTreeMap<u64, &NtraceEvent> =
        by(Phase::Start).map(|event| (event.id, event)).collect();
    assert_eq!(starts.len(), 837);
    assert_eq!(by(Phase::Stop).count(), 837);
    assert_eq!(by(Phase::Instant).count(), 2);
    for (id, start) in &starts {
        assert_eq!(start.tracking_id, *id);
    }
    for stop in by(Phase::Stop) {
        let start = starts[&stop.tracking_id];
        assert_eq!(start.event_type, stop.event_type);
        assert!(start.timestamp <= stop.timestamp);
    }
    for event in &events {
        for key in ["nc_idx", "worker_gid"] {
            assert!(event.attributes.contains_key(key), "{event:?}");
        }
        assert_eq!(event.nrta_seq_id, None);
    }

    // The sync instant of execution 1 on core 0.
    let attribute =
        |event: &NtraceEvent, key: &str| -> u64 { event.attributes[key].parse().unwrap() };
    let sync = events
        .iter()
        .find(|e| e.event_type == 25 && e.id >> 50 == 0 && attribute(e, "exec_id") == 1)
        .unwrap();
    assert_eq!(attribute(sync, "nc_timestamp_ns"), 257_063_241_489_802);
    assert_eq!(attribute(sync, "cpu_timestamp_ns"), 1_773_237_645_757_022_494);

    // The device run on the lead core.
    let mut device: Vec<u64> = events
        .iter()
        .filter(|event| event.event_type == 7 && event.id >> 50 == 0)
        .map(|event| attribute(event, "nc_timestamp_ns"))
        .collect();
    device.sort_unstable();
    assert!(device.contains(&257_063_241_498_730) && device.contains(&257_063_242_481_320));
    assert_eq!(257_063_242_481_320_u64 - 257_063_241_498_730, 982_590);
}

#[test]
fn run_description() {
    let info = run();
    assert_eq!((info.data_version, info.pid, info.event_count), (2, 713_479, 1676));
    assert_eq!(info.instance_type, "trn2.3xlarge");
    assert_eq!(info.instance_id, "i-0af76a70a6d3864dd");
    assert_eq!((info.arch, info.logical_core_size), (2, 2));
    assert_eq!(info.start_time, 1_773_237_643_508_494_611);
    assert_eq!(info.stop_time, 1_773_238_243_677_100_845);
    assert_eq!(info.ultraserver_info.unwrap().id, u32::MAX);
    let host = info.host_stats.unwrap();
    assert_eq!((host.cpu_count, host.memory_bytes), (12, 133_975_228_416));
    assert_eq!((host.cpu_period, host.memory_period), (1.0, 1.0));
    let files = [info.event_file, host.cpu_file, host.memory_file].map(Option::unwrap);
    assert_eq!(
        files.each_ref().map(|file| (file.kind, file.frame_count)),
        [(1, 1676), (2, 600), (3, 600)]
    );
    for (file, name) in files.iter().zip(["ntrace.pb", "cpu_util.pb", "host_mem.pb"]) {
        assert!(file.path.ends_with(&format!("/{name}")), "{}", file.path);
    }
    let sizes: BTreeMap<&str, usize> =
        info.interned_data.iter().map(|db| (db.name.as_str(), db.entries.len())).collect();
    let table = |name: &str| &info.interned_data.iter().find(|db| db.name == name).unwrap().entries;
    assert_eq!(sizes["ntrace_inspect_type"], 40);
    assert_eq!(sizes["nrt_inspect_mem_usage_type"], 22);
    assert_eq!(sizes["nrt_inspect_mem_alloc_errno_type"], 2);
    assert_eq!(table("ntrace_inspect_type")[&25], "timestamp_sync_point");
    assert_eq!(table("nrt_inspect_mem_alloc_errno_type")[&12], "OUT_OF_MEMORY");
    assert!(table("system_trace").contains_key(&171_450_338_541_704));
    assert_eq!(table("system_trace")[&0], "invalid_interned_string");
}

/// Our names of event types are those that the runtime wrote.
#[test]
fn event_names() {
    let info = run();
    let table = info.interned_data.iter().find(|db| db.name == "ntrace_inspect_type").unwrap();
    let theirs: Vec<(u64, &str)> =
        table.entries.iter().map(|(key, name)| (*key, name.as_str())).collect();
    let ours: Vec<(u64, &str)> = (0..).zip(event::NAMES).collect();
    assert_eq!(ours, theirs);
    assert_eq!((event::name(30), event::name(40)), ("dmem_buf_copyin".into(), "event_40".into()));
}

/// A cut run description is recognised, and what is whole of it is read.
#[test]
fn a_cut_run_description() {
    let data = bytes("inspect/trace_info.pb");
    let whole = run();
    let limits = Limits::default();
    for cut in [30, 1000, 1500, 1890] {
        let data = &data[..cut];
        assert_eq!(InspectFile::sniff(data, true), Some(InspectFile::Run), "{cut}");
        let mut findings = Findings::new(10);
        let root = &schema::NTRACE_INFO;
        let info: NtraceInfo =
            root::decode_fields(data, 0, root, &limits, true, &mut findings).unwrap();
        assert_eq!((info.pid, info.instance_id), (713_479, whole.instance_id.clone()), "{cut}");
        assert!(findings.damaged() && findings.list().0.len() == 1, "{cut}");
        if cut >= 1000 {
            assert_eq!(
                (&info.event_file, &info.host_stats),
                (&whole.event_file, &whole.host_stats)
            );
        }
        let tables = info.interned_data.len();
        assert_eq!(info.interned_data, whole.interned_data[..tables]);
        let strict: Result<NtraceInfo, _> =
            root::decode_fields(data, 0, root, &limits, false, &mut findings);
        assert!(strict.is_err());
    }
    for other in [&b"\x08\x02"[..], b"\x0a\x13SyncTensorsGraph.23", b"\x08 is text"] {
        assert_eq!(InspectFile::sniff(other, true), None);
    }
    // One whole frame and a cut one are recognised too.
    let events = bytes("inspect/ntrace.pb");
    assert_eq!(InspectFile::sniff(&events[..100], true), Some(InspectFile::Events));
    assert_eq!(InspectFile::sniff(&events[..60], true), None);
}

#[test]
fn host_samples() {
    let cpu: Vec<CpuUtil> = frames("inspect/cpu_util.pb");
    assert_eq!(cpu.len(), 7200);
    for sample in cpu.chunks(12) {
        let cpus: Vec<u32> = sample.iter().map(|frame| frame.cpu).collect();
        assert_eq!(cpus, (0..12).collect::<Vec<_>>());
        assert!(sample.iter().all(|frame| frame.timestamp == sample[0].timestamp));
        assert!(sample.iter().all(|frame| (0.0..=100.0).contains(&frame.value)));
    }
    assert!(cpu[..12].iter().all(|frame| frame.value == 0.0), "the first sample has no value");
    let memory: Vec<HostMemUsage> = frames("inspect/host_mem.pb");
    assert_eq!(memory.len(), 600);
    assert_eq!(memory[0].bytes_used, 14_472_425_472);
    assert_eq!(memory[599].bytes_used, 15_042_867_200);
    for (cpu, memory) in cpu.chunks(12).zip(&memory) {
        assert_eq!(cpu[0].timestamp, memory.timestamp);
    }
}

/// Frames without a map encode to the same bytes, those with one (whose order
/// the vendor's hash table decides) to the same length and content.
#[test]
fn frames_come_back() {
    fn again<M: Framed>(messages: &[M]) -> Vec<u8> {
        let mut out = Vec::new();
        for message in messages {
            write_frame(&mut out, message, 0).unwrap();
        }
        out
    }
    let cpu: Vec<CpuUtil> = frames("inspect/cpu_util.pb");
    assert!(again(&cpu) == bytes("inspect/cpu_util.pb"));
    let memory: Vec<HostMemUsage> = frames("inspect/host_mem.pb");
    assert!(again(&memory) == bytes("inspect/host_mem.pb"));
    let events: Vec<NtraceEvent> = frames("inspect/ntrace.pb");
    let written = again(&events);
    assert_eq!(written.len(), bytes("inspect/ntrace.pb").len());
    let mut reader = FrameReader::new(written.as_slice(), options(Mode::Strict));
    for event in events {
        assert_eq!(reader.next_message::<NtraceEvent>().unwrap(), Some(event));
    }
    assert_eq!(NtraceInfo::decode(run().encode_to_vec().as_slice()).unwrap(), run());
}

/// ntff.md §12: the first frame is 79 bytes.
#[test]
fn a_cut_file_gives_its_whole_frames() {
    let data = bytes("inspect/ntrace.pb");
    assert_eq!(data[..5], [0x4f, 0, 0, 0, 0x10]);
    let mut ends = vec![0];
    let mut reader = FrameReader::new(&data[..4000], options(Mode::Lenient));
    while reader.next_frame().unwrap().is_some() {
        ends.push(reader.position());
    }
    assert_eq!(ends[1], 83);
    for cut in 0..2000_usize {
        let mut reader = FrameReader::new(&data[..cut], options(Mode::Lenient));
        let mut count = 0;
        while reader.next_message::<NtraceEvent>().unwrap().is_some() {
            count += 1;
        }
        let whole = ends.iter().filter(|end| **end <= cut as u64).count() - 1;
        assert_eq!((reader.taken(), reader.position()), (cut as u64, ends[whole]));
        assert_eq!(count, whole, "cut at {cut}");
        let (findings, _) = reader.findings().list();
        if ends.contains(&(cut as u64)) {
            assert!(findings.is_empty(), "{findings:?}");
        } else {
            assert!(matches!(findings, [f] if matches!(f.rule, Rule::FrameCut { .. })
                && f.offset == ends[whole]));
            let mut strict = FrameReader::new(&data[..cut], options(Mode::Strict));
            while let Ok(Some(_)) = strict.next_frame() {}
            assert!(strict.next_frame().unwrap().is_none(), "nothing follows an error");
        }
    }
}

#[test]
fn wrong_frame_lengths() {
    let data = bytes("inspect/ntrace.pb");
    let read = |length: u32| {
        let mut data = data[..1000].to_vec();
        data[..4].copy_from_slice(&length.to_le_bytes());
        let mut reader = FrameReader::new(data.as_slice(), options(Mode::Lenient));
        while reader.next_message::<NtraceEvent>().unwrap().is_some() {}
        reader.findings().list().0.to_vec()
    };
    for length in [0, 1, 78, 80, 996, 997, 16 << 20, (16 << 20) + 1, u32::MAX] {
        let findings = read(length);
        assert!(!findings.is_empty(), "length {length}");
        let too_long = length > 16 << 20;
        assert_eq!(
            too_long,
            findings[0].offset == 0 && matches!(findings[0].rule, Rule::FrameTooLong { .. }),
            "length {length}: {findings:?}"
        );
    }
}

/// Zeros are empty frames to the framing, and no file of an inspect run.
#[test]
fn empty_frames_are_no_stream() {
    for length in [4, 8, 4096, 65536] {
        let zeros = vec![0; length];
        assert_eq!(InspectFile::sniff(&zeros, true), None, "{length}");
        assert_eq!(InspectFile::sniff(&zeros, false), None, "{length}");
    }
    // One in front is enough; a hole further on ends the walk.
    let real = bytes("inspect/ntrace.pb");
    assert_eq!(InspectFile::sniff(&[&[0; 4], real.as_slice()].concat(), true), None);
    let holed = [real.as_slice(), &[0; 4 * 16], &real].concat();
    let mut reader = FrameReader::new(holed.as_slice(), options(Mode::Strict));
    while reader.next_frame().unwrap().is_some() {}
    assert_eq!(reader.position(), holed.len() as u64);
    let mut endless =
        FrameReader::new(real.as_slice().chain(std::io::repeat(0)), options(Mode::Lenient));
    let mut count = 0;
    while endless.next_frame().unwrap().is_some() {
        count += 1;
    }
    assert_eq!(count, 1676 + 16);
    let (findings, _) = endless.findings().list();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].rule.id(), "empty-frames");
    assert!(endless.findings().damaged());
}
