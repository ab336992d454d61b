//! Bad input: cut at every byte, every length at its edges, bombs. Always an
//! error or a finding with its offset, never a panic, never memory without end.

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

use neuron_core::ntff::layout::{self, Section};
use neuron_core::ntff::messages::{NtffInfo, TraceInfo};
use neuron_core::ntff::table::{Kind, Message};
use neuron_core::ntff::wire::Fields;
use neuron_core::ntff::{
    Error, Finding, Limits, Mode, Options, Reader, Rule, Severity, Writer, fuzz, schema,
};
use ntff_support::{Whole, assemble, bytes, options, small};
use prost::Message as _;

const REAL: &str = "attn-fused-fp32-512.ntff";

/// The small file with another message.
fn with_info(change: impl FnOnce(&mut NtffInfo)) -> Vec<u8> {
    let data = small();
    let reader = Reader::new(data.as_slice(), options(Mode::Strict)).unwrap();
    let mut info = reader.info().clone();
    let blobs = data[usize::try_from(reader.header().blobs_start()).unwrap()..].to_vec();
    change(&mut info);
    assemble(&info.encode_to_vec(), &blobs)
}

/// Reads in both modes to the end: the error of strict, the findings of
/// lenient. Offsets lie in the file (or at its end).
fn both(data: &[u8]) -> (Option<Error>, Result<Vec<Finding>, Error>) {
    fn read(data: &[u8], mode: Mode) -> Result<Vec<Finding>, Error> {
        let mut reader = Reader::new(data, options(mode))?;
        while reader.next_chunk()?.is_some() {}
        assert!(reader.position() <= data.len() as u64);
        Ok(reader.findings().list().0.to_vec())
    }
    let (strict, lenient) = (read(data, Mode::Strict).err(), read(data, Mode::Lenient));
    if let Ok(findings) = &lenient {
        let damaged = findings.iter().any(|f| f.rule.severity() == Severity::Damage);
        assert_eq!(strict.is_some(), damaged, "{strict:?} {findings:?}");
    }
    (strict, lenient)
}

#[test]
fn cut_at_every_byte() {
    let data = small();
    for cut in 0..data.len() {
        let (strict, lenient) = both(&data[..cut]);
        let strict = strict.unwrap_or_else(|| panic!("cut at {cut} went unnoticed"));
        match lenient {
            Err(error) => {
                assert!(cut <= 128, "cut at {cut}: {error}");
                assert_eq!(error.to_string(), strict.to_string());
            }
            Ok(_) => {
                // What is whole is kept: every whole record before the cut.
                let whole = Whole::read(&data[..cut], Mode::Lenient);
                let blobs_start = usize::try_from(whole.header.blobs_start()).unwrap();
                let kept: usize = whole.blobs.iter().map(Vec::len).sum();
                assert_eq!(kept, cut.saturating_sub(blobs_start) / 16 * 16, "cut at {cut}");
            }
        }
    }
    assert!(matches!(both(&[]).0.unwrap().rule(), Some(Rule::Empty)));
    assert!(both(&data).0.is_none());
}

#[test]
fn a_real_file_cut_at_every_byte_of_its_message() {
    let data = bytes(REAL);
    for cut in 0..3300 {
        let (strict, lenient) = both(&data[..cut]);
        assert!(strict.is_some());
        assert_eq!(lenient.is_err(), cut <= 128, "cut at {cut}");
    }
    // The fields before the cut are there.
    let mut reader = Reader::new(&data[..3200], options(Mode::Lenient)).unwrap();
    assert_eq!(reader.info().neff_name, "fused.neff");
    assert_eq!(reader.info().neff_nodes.len(), 1);
    assert_eq!(reader.info().pid, 0, "the last field is behind the cut");
    while reader.next_chunk().unwrap().is_some() {}
    // In the blobs: the number of whole records, and what was lost.
    for cut in (3288 + 56384..data.len()).step_by(977) {
        let whole = Whole::read(&data[..cut], Mode::Lenient);
        let kept: usize = whole.blobs.iter().map(Vec::len).sum();
        assert_eq!(kept, (cut - 3288) / 16 * 16);
        let lost: u64 = whole
            .findings
            .list()
            .0
            .iter()
            .map(|f| if let Rule::SectionCut { lost, .. } = f.rule { lost } else { 0 })
            .sum();
        assert_eq!(lost, (data.len() - cut) as u64);
    }
}

#[test]
fn message_size_at_its_edges() {
    let data = bytes(REAL);
    let with = |size: u64| {
        let mut data = data.clone();
        data[1..9].copy_from_slice(&size.to_le_bytes());
        both(&data)
    };
    assert!(matches!(with(0).1.unwrap_err().rule(), Some(Rule::NoMessage)));
    assert!(with(1).1.unwrap().iter().any(|f| matches!(f.rule, Rule::Varint { .. })));
    assert!(with(3159).0.is_some());
    assert!(with(3160).0.is_none());
    assert!(with(3161).0.is_some());
    let file = data.len() as u64 - 128;
    assert!(with(file).0.is_some());
    let findings = with(file + 1).1.unwrap();
    assert!(
        matches!(findings[0].rule, Rule::MessageCut { have, length } if have == file && length == file + 1)
    );
    let limit = Limits::default().message;
    assert!(matches!(with(limit).1.unwrap()[0].rule, Rule::MessageCut { .. }));
    for size in [limit + 1, (1 << 40) - 1] {
        let error = with(size).1.unwrap_err();
        assert!(matches!(error.rule(), Some(Rule::MessageTooLong { .. })), "{error}");
        assert!(error.to_string().starts_with("byte 1: "), "{error}");
    }
    for size in [1 << 40, u64::MAX] {
        let error = with(size).1.unwrap_err();
        assert!(matches!(error.rule(), Some(Rule::NotNtff)), "{error}");
    }
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// Every length in a message: where it is, how long, and the bytes left in its
/// parent behind it.
fn lengths(
    message: &[u8],
    base: usize,
    table: &'static Message,
    found: &mut Vec<(usize, usize, u64)>,
) {
    let mut at = 0;
    for raw in Fields::new(message, base as u64, table, 64) {
        let raw = raw.unwrap();
        let next = at + raw.size;
        if raw.wire == 2 {
            let value = usize::try_from(raw.offset).unwrap() - base;
            let width = varint(raw.bytes.len() as u64).len();
            found.push((base + value - width, width, (message.len() - value) as u64));
            if let Some(Kind::Message(inner)) = table.field(raw.number).map(|field| field.kind) {
                lengths(raw.bytes, base + value, inner, found);
            }
        }
        at = next;
    }
}

#[test]
fn every_length_of_a_message_at_its_edges() {
    let data = bytes(REAL);
    let (message, blobs) = data[128..].split_at(3160);
    let mut found = Vec::new();
    lengths(message, 0, &schema::NTFF_INFO, &mut found);
    assert!(found.len() > 150, "{}", found.len());
    for (at, width, left) in found {
        for length in [0, 1, left, left + 1, u64::from(u32::MAX), u64::MAX] {
            let changed = [&message[..at], &varint(length), &message[at + width..]].concat();
            let (strict, lenient) = both(&assemble(&changed, blobs));
            let findings = lenient.unwrap();
            if length > left {
                let strict = strict.unwrap();
                assert!(
                    matches!(strict.rule(), Some(Rule::Length { length: l, .. }) if *l == length)
                        // Its last bytes lie behind the end of its parent.
                        || matches!(strict.rule(), Some(Rule::Varint { .. })),
                    "length {length} at {at}: {strict}"
                );
                assert!(findings.iter().any(|f| f.offset == at as u64 + 128), "at {at}");
            }
        }
    }
}

/// Changes the size and offset of each trace.
#[test]
fn every_size_and_offset_at_its_edges() {
    for index in 0..2 {
        for value in [0, 1, 15, 16, 17, 31, 32, 63, 64, 65, 95, 96, 97, u64::MAX - 1, u64::MAX] {
            let size = with_info(|info| info.session_notifications[index].size = value);
            let offset = with_info(|info| info.session_notifications[index].offset = value);
            for data in [size, offset] {
                let (_, lenient) = both(&data);
                let findings = lenient.unwrap();
                let good = data == small();
                assert_eq!(findings.is_empty(), good, "{index} {value}: {findings:?}");
                fuzz::container(&data);
            }
        }
    }
}

fn rules(data: &[u8]) -> Vec<Rule> {
    both(data).1.unwrap().into_iter().map(|finding| finding.rule).collect()
}

#[test]
fn blobs_that_do_not_tile() {
    // A gap before the second trace.
    let gap = with_info(|info| {
        info.session_notifications[0].size = 48;
    });
    assert!(matches!(rules(&gap).as_slice(), [Rule::Gap { bytes: 16, .. }]), "{:?}", rules(&gap));
    // Bytes behind the last.
    let trailing = [small(), vec![7; 5]].concat();
    assert!(matches!(rules(&trailing).as_slice(), [Rule::Trailing { bytes: 5 }]));
    // No whole number of records.
    let unit = with_info(|info| info.session_notifications[1].size = 31);
    assert!(matches!(
        rules(&unit).as_slice(),
        [Rule::Unit { size: 31, unit: 16, .. }, Rule::Trailing { bytes: 1 }]
    ));
    // Past the end.
    let past = with_info(|info| info.session_notifications[1].size = 100);
    assert!(
        matches!(rules(&past).as_slice(), [Rule::Unit { .. }, Rule::SectionCut { lost: 68, .. }]),
        "{:?}",
        rules(&past)
    );
    // Both of two that overlap are read whole.
    let overlap = with_info(|info| {
        info.session_notifications[1].offset = 24;
        info.session_notifications[1].size = 72;
    });
    assert!(
        matches!(rules(&overlap).as_slice(), [Rule::Overlap { bytes: 40, .. }, Rule::Unit { .. }]),
        "{:?}",
        rules(&overlap)
    );
    let whole = Whole::read(&overlap, Mode::Lenient);
    assert_eq!(whole.blobs.iter().map(Vec::len).collect::<Vec<_>>(), [64, 64]);
    let start = usize::try_from(whole.header.blobs_start()).unwrap();
    assert_eq!(whole.blobs[1], overlap[start + 24..start + 88]);
    // A range that is no range.
    let wrap = with_info(|info| info.session_notifications[1].offset = u64::MAX);
    assert!(rules(&wrap).iter().any(|rule| matches!(rule, Rule::Range { .. })));
}

/// Many sections over the same bytes cost a bounded multiple of them.
#[test]
fn a_crowd_of_overlapping_sections() {
    let data = with_info(|info| {
        let all = TraceInfo { offset: 0, size: 96, ..info.session_notifications[0].clone() };
        info.session_notifications = vec![all; 1000];
    });
    let whole = Whole::read(&data, Mode::Lenient);
    let read: usize = whole.blobs.iter().map(Vec::len).sum();
    assert_eq!(read, 8 * 96);
    let (findings, dropped) = whole.findings.list();
    assert_eq!(findings.len(), 256);
    assert!(dropped > 1000);
}

#[test]
fn bombs() {
    let read = |message: &[u8], limits: Limits| {
        Reader::new(assemble(message, &[]).as_slice(), Options { mode: Mode::Strict, limits })
            .unwrap_err()
    };
    // Groups in groups, in a field that nobody knows.
    let groups = [0x9b, 0x06].repeat(100_000);
    let error = read(&groups, Limits::default());
    assert!(matches!(error.rule(), Some(Rule::Nesting { limit: 64, .. })), "{error}");
    // A group that ends as another, and one that ends without a start.
    for bytes in [[0x9b, 0x06, 0xa4, 0x06].as_slice(), &[0x9c, 0x06]] {
        assert!(matches!(read(bytes, Limits::default()).rule(), Some(Rule::Group { .. })));
    }
    // A group that is whole is an unknown field.
    let whole = assemble(&[0x9b, 0x06, 0x08, 0x01, 0x9c, 0x06], &[]);
    assert!(
        matches!(rules(&whole).as_slice(), [Rule::UnknownField { field: 99, .. }]),
        "{:?}",
        rules(&whole)
    );
    // Empty messages: two bytes each, many more when decoded.
    let empty = [0x22, 0x00].repeat(1 << 20);
    let limits = Limits { decoded: 16 << 20, ..Limits::default() };
    let error = read(&empty, limits);
    assert!(matches!(error.rule(), Some(Rule::Memory { .. })), "{error}");
    // Keys without a number, wire types that do not exist, endless varints.
    assert!(matches!(read(&[0x00, 0x00], limits).rule(), Some(Rule::FieldNumber { .. })));
    assert!(matches!(read(&[0x0e], limits).rule(), Some(Rule::WireType { wire: 6, .. })));
    assert!(matches!(read(&[0x0f], limits).rule(), Some(Rule::WireType { wire: 7, .. })));
    assert!(matches!(read(&[0x18, 0xff], limits).rule(), Some(Rule::Varint { .. })));
    let long = [[0x18].as_slice(), &[0xff; 10]].concat();
    assert!(matches!(read(&long, limits).rule(), Some(Rule::Varint { .. })));
    assert!(matches!(read(&[0x0d, 1, 2, 3, 4], limits).rule(), Some(Rule::WireMismatch { .. })));
    assert!(matches!(read(&[0x99, 0x06, 1, 2], limits).rule(), Some(Rule::Fixed { .. })));
    let error = read(&[0x0a, 2, b'a', 0xff], limits);
    assert!(matches!(error.rule(), Some(Rule::Text { .. })));
    assert!(error.to_string().starts_with("byte 131: "), "{error}");
}

/// A message can name far more sections than it has bytes to read.
#[test]
fn more_sections_than_the_limit() {
    let data = with_info(|info| info.session_notifications = vec![TraceInfo::default(); 70_000]);
    assert!(matches!(
        rules(&data).first(),
        Some(Rule::TooManySections { count: 4464, limit: 65536 })
    ));
    assert_eq!(Whole::read(&data, Mode::Lenient).sections.len(), 65536);
}

/// A broken field costs that field and no other.
#[test]
fn a_broken_field_costs_itself() {
    let text = NtffInfo { neff_name: "bad".into(), pid: 7, ..NtffInfo::default() };
    let mut message = text.encode_to_vec();
    message[3] = 0xff;
    let data = assemble(&message, &[]);
    let reader = Reader::new(data.as_slice(), options(Mode::Lenient)).unwrap();
    assert_eq!((reader.info().neff_name.as_str(), reader.info().pid), ("", 7));
    assert!(reader.findings().damaged());
}

#[test]
fn odd_forms_and_unknown_enums_are_read() {
    for form in [1, 3, 7, 32] {
        let mut data = small();
        data[0] = form;
        assert!(matches!(rules(&data).as_slice(), [Rule::Form { .. }]));
    }
    for form in [0, 33, 255] {
        let mut data = small();
        data[0] = form;
        assert!(matches!(both(&data).0.unwrap().rule(), Some(Rule::NotNtff)));
    }
    let data = with_info(|info| info.session_notifications[0].trace_type = 9);
    assert!(rules(&data).is_empty());
    let whole = Whole::read(&data, Mode::Strict);
    assert_eq!(whole.sections[0].to_string(), "core 4 NC type 9 trace");
    assert_eq!(whole.blobs[0].len(), 64);
}

/// What is no NTFF is told so, whatever its first bytes would mean.
#[test]
fn other_files_are_no_ntff() {
    let text = b"root:x:0:0:root:/root:/bin/bash\n".repeat(20);
    let hlo = [b"\x0a\x13SyncTensorsGraph.23\x12\x13SyncTensors".as_slice(), &text].concat();
    let mut odd = vec![0x6a; 400];
    odd[..9].copy_from_slice(&[6, 0, 1, 0, 0, 0, 0, 0, 0]);
    for data in [&text[..], &text[..20], b"x", b"{\"a\": 1}", b"\n{\"a\": 1}\n\n", &hlo, &odd] {
        let error = Reader::new(data, options(Mode::Lenient)).unwrap_err();
        assert!(matches!(error.rule(), Some(Rule::NotNtff)), "{error}");
    }
}

#[test]
fn writers_refuse_what_does_not_fit() {
    let data = small();
    let reader = Reader::new(data.as_slice(), options(Mode::Strict)).unwrap();
    let writer = || Writer::new(Vec::new(), 6, reader.info().clone()).unwrap();
    let mut long = writer();
    long.bytes(&[0; 96]).unwrap();
    assert!(long.current().is_none());
    assert!(long.bytes(&[0]).is_err());
    let mut short = writer();
    short.bytes(&[0; 95]).unwrap();
    assert!(short.finish().unwrap_err().to_string().contains("1 bytes of core 4 NC EVENT trace"));
    let mut info = reader.info().clone();
    info.session_notifications[0].size = u64::MAX;
    assert!(Writer::new(Vec::new(), 6, info).is_err());
    assert!(Writer::new(Vec::new(), 6, NtffInfo::default()).is_err(), "no message");
    assert!(Writer::new(Vec::new(), 0, reader.info().clone()).is_err(), "form 0");
    let total: u64 = layout::sections(reader.info()).iter().map(|s: &Section| s.size).sum();
    assert_eq!(total, 96);
}

/// An input that fails is an error with its position.
#[test]
fn failing_input() {
    struct Failing(Vec<u8>, usize);
    impl std::io::Read for Failing {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            if self.1 >= self.0.len() {
                return Err(std::io::Error::other("gone"));
            }
            let count = to.len().min(7).min(self.0.len() - self.1);
            to[..count].copy_from_slice(&self.0[self.1..self.1 + count]);
            self.1 += count;
            Ok(count)
        }
    }
    let data = small();
    for cut in [0, 5, 130, data.len() - 1] {
        let result = Reader::new(Failing(data[..cut].to_vec(), 0), options(Mode::Lenient))
            .and_then(|mut reader| {
                while reader.next_chunk()?.is_some() {}
                Ok(())
            });
        assert!(result.unwrap_err().to_string().contains(": gone"), "cut at {cut}");
    }
}
