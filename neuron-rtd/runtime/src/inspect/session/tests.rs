//! Executions that come to a session's file, against what a reader finds in it.

use neuron_core::ntff::messages::{EngineInstructionInfo, NdNodeInfo};
use neuron_core::ntff::{Mode, SectionKind};

use super::*;

/// A trace file of an execution on two cores: programs and records of a byte
/// that tells the NEFF, the core and the execution.
fn trace(neff: u8, execution: u8, records: usize) -> Vec<u8> {
    let graph = |core: u32| SubgraphInfo {
        name: format!("sg0{core}"),
        nc_idx: core,
        instruction_info: vec![EngineInstructionInfo {
            start_address: 4096,
            instructions_size: 64,
            ..EngineInstructionInfo::default()
        }],
        ..SubgraphInfo::default()
    };
    let node = NeffNodeInfo {
        uid: vec![neff; 16],
        node: Some(Node::NdNode(NdNodeInfo { graphs: vec![graph(0), graph(1)] })),
        ..NeffNodeInfo::default()
    };
    let ring = |core: u32, trace_type: i32, size: usize| TraceInfo {
        trace_type,
        nc_idx: core,
        size: wide(size * 16),
        ..TraceInfo::default()
    };
    let info = NtffInfo {
        neff_name: format!("neff{neff}"),
        neff_uuid_text: vec![neff; 16],
        arch: 2,
        neff_nodes: vec![node],
        execution_timeline: vec![ExecutionInfo {
            neff_uuid: vec![neff; 16],
            start: u64::from(execution) * 10 + 1,
            end: u64::from(execution) * 10 + 9,
        }],
        session_notifications: (0..2)
            .flat_map(|core| [ring(core, 0, records), ring(core, 1, 0), ring(core, 4, 1)])
            .collect(),
        ..NtffInfo::default()
    };
    let mut writer = Writer::new(Vec::new(), FORM, info).unwrap();
    for core in [0, 1] {
        writer.bytes(&[neff * 16 + core; 64]).unwrap();
    }
    for core in [0, 1] {
        writer.bytes(&vec![execution * 16 + core; records * 16 + 16]).unwrap();
    }
    writer.finish().unwrap()
}

/// What a file has: times, and of each program and ring the bytes.
type Had = (NtffInfo, BTreeMap<(u32, i32), Vec<u8>>, Vec<Vec<u8>>);

fn read(path: &Path) -> Had {
    let options = Options { mode: Mode::Strict, ..Options::default() };
    let mut reader = Reader::new(File::open(path).unwrap(), options).unwrap();
    let sections = reader.sections().to_vec();
    let mut found: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    while let Some(chunk) = reader.next_chunk().unwrap() {
        found.entry(chunk.index).or_default().extend_from_slice(chunk.bytes);
    }
    assert!(reader.findings().list().0.is_empty(), "{:?}", reader.findings());
    let (mut rings, mut programs) = (BTreeMap::new(), Vec::new());
    for (index, bytes) in found {
        match sections[index].kind {
            SectionKind::Program { .. } => programs.push(bytes),
            SectionKind::Trace { trace_type, .. } => {
                let key = (sections[index].core, trace_type.map_or(-1, i32::from));
                let ring: &mut Vec<u8> = rings.entry(key).or_default();
                ring.extend(bytes);
            }
        }
    }
    (reader.info().clone(), rings, programs)
}

#[test]
fn executions_of_several_models_are_in_order_at_each_moment() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("profile_nc_3_session_0.ntff");
    let sessions = Sessions::default();
    let mut wanted: Vec<u8> = Vec::new();
    for (at, neff) in (0..9).zip([1, 1, 2, 1, 2, 2, 3, 1, 3]) {
        let trace = trace(neff, at, usize::from(at));
        sessions.add(dir.path(), 3, &trace, 1..2).unwrap();
        wanted.extend(vec![at * 16 + 1; usize::from(at) * 16]);
        assert_eq!(sessions.until(3), Some(0), "long before the device's epoch");
        if at % 4 == 3 {
            let session = Arc::clone(&locked(&sessions.cores)[&3]);
            locked(&session).put_together(100).unwrap();
        }
        let (info, rings, programs) = read(&path);
        let starts: Vec<u64> = info.execution_timeline.iter().map(|w| w.start).collect();
        assert_eq!(starts, (0..=u64::from(at)).map(|at| at * 10 + 1).collect::<Vec<_>>());
        assert_eq!(rings.get(&(1, 0)).cloned().unwrap_or_default(), wanted);
        assert_eq!(rings[&(1, 4)].len(), 16 * (usize::from(at) + 1));
        assert!(rings.keys().all(|(core, _)| *core == 1));
        let of: Vec<u8> = programs.iter().map(|program| program[0]).collect();
        assert_eq!(of, [17, 33, 49][..info.neff_nodes.len()]);
    }
    let growing = read(&path);
    let ended = sessions.end();
    assert!(ended[0].result.is_ok() && ended[0].left_out.is_none());
    let (info, rings, programs) = read(&path);
    assert_eq!((&rings, &programs), (&growing.1, &growing.2));
    assert_eq!(info.execution_timeline, growing.0.execution_timeline);
    assert_eq!(info.neff_name, "neff1");
    // one trace for each ring, in the order of a real file, without gaps
    assert_eq!(info.session_notifications.len(), 3);
    assert_eq!(info.session_notifications[0].offset, 3 * 64);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    // nothing comes after the end
    sessions.add(dir.path(), 3, &trace(1, 9, 1), 1..2).unwrap();
    assert_eq!(read(&path).0, info);
}

#[test]
fn what_a_file_cannot_hold_is_left_out_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("profile_nc_0_session_0.ntff");
    let sessions = Sessions::default();
    sessions.add(dir.path(), 0, &trace(1, 0, 2), 0..2).unwrap();
    // another program of the same UUID: one core of it
    sessions.add(dir.path(), 0, &trace(1, 1, 2), 0..1).unwrap();
    let held = Arc::clone(&locked(&sessions.cores)[&0]);
    locked(&held).pieces.extend(vec![Piece { ring: 0, offset: 0, size: 0 }; MOST_TRACES]);
    // too many traces are put together first
    sessions.add(dir.path(), 0, &trace(2, 2, 2), 0..2).unwrap();
    assert!(locked(&held).pieces.len() < 20);
    assert_eq!(read(&path).0.execution_timeline.len(), 2);
    let ended = sessions.end();
    let (count, why) = ended[0].left_out.clone().unwrap();
    assert!(count == 1 && why.contains("another program of the same NEFF UUID"), "{why}");
    // a folder that is gone is told once, with the path
    let gone = dir.path().join("gone");
    let sessions = Sessions::default();
    let (path, _) = sessions.add(&gone, 0, &trace(1, 0, 2), 0..2).unwrap_err();
    assert_eq!(path, gone.join("profile_nc_0_session_0.ntff"));
    sessions.add(&gone, 0, &trace(1, 1, 2), 0..2).unwrap();
}
