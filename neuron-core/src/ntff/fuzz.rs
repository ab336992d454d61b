//! One function per fuzz target. Each takes any bytes, calls the functions
//! that users call, and panics only where one of their promises is broken.
//! Property tests and the fuzz package call the same functions.

use prost::Message as _;

use super::error::{Findings, Severity};
use super::frames::{FrameReader, Framed, InspectFile, write_frame};
use super::messages::{
    CpuUtil, HostMemUsage, NotificationTraceType as TraceType, NtraceEvent, NtraceInfo,
};
use super::notification::{Completion, Decoder, Notification};
use super::orphans::Orphans;
use super::program::PatchMap;
use super::reader::{Mode, Options, Reader};
use super::record::{self, Record};
use super::summary::Summary;
use super::window::Windows;
use super::writer::Writer;
use super::{Header, Limits, layout, root, schema};

/// Limits small enough that a fuzzer notices what grows past them.
const LIMITS: Limits = Limits {
    message: 1 << 20,
    nesting: 64,
    decoded: 32 << 20,
    sections: 1 << 10,
    frame: 1 << 16,
    findings: 64,
};

fn options(mode: Mode) -> Options {
    Options { mode, limits: LIMITS }
}

/// The header, and that it comes back.
pub fn header(data: &[u8]) {
    if let Ok(header) = Header::parse(data, &LIMITS) {
        let again = header.to_bytes();
        assert!(again.get(..9) == data.get(..9), "the header does not come back");
    }
}

/// The root message, strict and lenient; what was decoded encodes and decodes
/// to the same.
pub fn message(data: &[u8]) {
    let mut findings = Findings::new(LIMITS.findings);
    let strict = root::decode(data, 128, &LIMITS, false, &mut findings);
    let mut findings = Findings::new(LIMITS.findings);
    let Ok(lenient) = root::decode(data, 128, &LIMITS, true, &mut findings) else {
        unreachable!("lenient decoding gives what is whole")
    };
    if let Ok(strict) = strict {
        assert!(
            strict.encode_to_vec() == lenient.encode_to_vec(),
            "an unbroken message reads the same in both modes"
        );
        assert!(!findings.damaged(), "damage without an error");
    }
    let bytes = lenient.encode_to_vec();
    let mut findings = Findings::new(LIMITS.findings);
    let wide = Limits { decoded: u64::MAX, ..LIMITS };
    let again = root::decode(&bytes, 128, &wide, false, &mut findings);
    assert!(again.is_ok_and(|again| again.encode_to_vec() == bytes), "written, read, written");
    assert!(findings.list().0.is_empty(), "we wrote what we do not know");
    for graph in layout::subgraphs(&lenient) {
        for patch in &graph.patch_info {
            if let Some(map) = PatchMap::new(patch) {
                for step in &patch.locations {
                    let _ = map.neff_slot(step.offset / layout::SLOT);
                }
            }
        }
    }
}

/// A whole file in both modes; a file without damage is written again and
/// reads the same.
pub fn container(data: &[u8]) {
    let strict = read(data, Mode::Strict);
    if let Some(lenient) = read(data, Mode::Lenient) {
        assert!(lenient.bytes <= data.len().saturating_mul(8), "bytes out of nothing");
        assert!(strict.is_none() == lenient.damaged, "the modes disagree about damage");
    }
}

struct Seen {
    bytes: usize,
    damaged: bool,
}

fn read(data: &[u8], mode: Mode) -> Option<Seen> {
    let mut reader = Reader::new(data, options(mode)).ok()?;
    let (info, sections) = (reader.info().clone(), reader.sections().to_vec());
    let mut summary = Summary::new(&info, &sections, reader.header().blobs_start());
    let mut blobs = vec![Vec::new(); sections.len()];
    let (mut bytes, mut orphans) = (0, Orphans::default());
    let mut windows = Windows::new(&info);
    while let Some(chunk) = reader.next_chunk().ok()? {
        assert!(!chunk.bytes.is_empty(), "an empty chunk");
        bytes += chunk.bytes.len();
        summary.count(chunk.index, chunk.bytes);
        let Some(section) = sections.get(chunk.index) else { continue };
        windows.program(section, chunk.offset, chunk.bytes);
        if let Some(decoder) = summary.decoder(chunk.index) {
            for record in record::records(chunk.bytes) {
                let notification = decoder.decode(record);
                orphans.see(notification);
                if let Notification::End(end) = notification {
                    windows.end(section.core, end, decoder.time(record, notification));
                }
            }
        }
        if let Some(blob) = blobs.get_mut(chunk.index) {
            assert!(
                u64::try_from(blob.len()) == Ok(chunk.offset),
                "chunks of a section come in order"
            );
            blob.extend_from_slice(chunk.bytes);
        }
    }
    for core in summary.cores().keys() {
        if let Some((start, end)) = windows.window(&info, *core) {
            assert!(start < end, "a window ends before it starts");
        }
    }
    let mut findings = reader.findings().clone();
    let damaged = findings.damaged();
    summary.report(&info, &mut findings);
    for finding in findings.list().0 {
        assert!(!finding.to_string().contains('\n'), "a finding is one line");
        assert!(finding.rule.severity() < Severity::Fatal, "a fatal rule is an error");
    }
    if !damaged {
        rewrite(reader.header().form, info, &blobs);
    }
    Some(Seen { bytes, damaged })
}

/// Writes what was read; the second writing gives the same bytes.
fn rewrite(form: u8, info: super::messages::NtffInfo, blobs: &[Vec<u8>]) {
    let write = |info| {
        let mut writer = Writer::new(Vec::new(), form, info).ok()?;
        for blob in blobs {
            writer.bytes(blob).ok()?;
        }
        writer.finish().ok()
    };
    let Some(first) = write(info) else { return };
    let Ok(reader) = Reader::new(first.as_slice(), options(Mode::Strict)) else {
        // The written message may be over the small limits here.
        return;
    };
    let second = write(reader.info().clone());
    assert!(second.is_some_and(|second| second == first), "written, read, written");
}

/// Records of every kind of trace: what was decoded decodes to the same again.
pub fn records(data: &[u8]) {
    for record in record::records(data) {
        assert!(Record::from_bytes(record.to_bytes()) == record, "the record does not come back");
        let _ = Completion::decode(record);
        for trace in [TraceType::Instruction, TraceType::Dma] {
            for arch in [1, 2] {
                let decoder = Decoder::new(trace, arch);
                let first = decoder.decode(record);
                let again = first.encode(record.time);
                let second = decoder.decode(again);
                assert!(second.encode(record.time) == again, "decoding is not stable");
                assert!(first.explains(again), "an encoded record has other bits");
            }
        }
    }
}

/// A framed or bare file of an inspect run.
pub fn inspect(data: &[u8]) {
    let _ = InspectFile::sniff(data, true);
    let _ = InspectFile::sniff(data, false);
    frames::<NtraceEvent>(data);
    frames::<CpuUtil>(data);
    frames::<HostMemUsage>(data);
    let mut findings = Findings::new(LIMITS.findings);
    let bare =
        root::decode_whole::<NtraceInfo>(data, 0, &schema::NTRACE_INFO, &LIMITS, &mut findings);
    if let Ok(info) = bare {
        let again = NtraceInfo::decode(info.encode_to_vec().as_slice());
        assert!(again.is_ok_and(|again| again.encode_to_vec() == info.encode_to_vec()));
    }
}

fn frames<M: Framed>(data: &[u8]) {
    let mut reader = FrameReader::new(data, options(Mode::Lenient));
    let mut first = Vec::new();
    while let Ok(Some(message)) = reader.next_message::<M>() {
        // A message of defaults is written as an empty frame, of which a file
        // may have only some in a row.
        if message.encoded_len() == 0 {
            continue;
        }
        let at = u64::try_from(first.len()).unwrap_or(u64::MAX);
        assert!(write_frame(&mut first, &message, at).is_ok(), "a frame cannot be written");
    }
    assert!(reader.position() <= u64::try_from(data.len()).unwrap_or(u64::MAX));
    let mut reader = FrameReader::new(first.as_slice(), options(Mode::Strict));
    let mut second = Vec::new();
    while let Ok(Some(message)) = reader.next_message::<M>() {
        let _ = write_frame(&mut second, &message, 0);
    }
    assert!(first == second, "written, read, written");
}

/// A fuzz target.
pub type Target = fn(&[u8]);

/// The targets by name.
pub const TARGETS: [(&str, Target); 5] = [
    ("header", header),
    ("message", message),
    ("container", container),
    ("records", records),
    ("inspect", inspect),
];
