//! One function for each fuzz target: outside bytes in, nothing out. The
//! property tests and the fuzzer call the same functions, and these call what
//! the tools call.

use super::digest;
use super::doc::{
    Definition, EngineJson, Graph, Info, Kelf, KernelDebugInfo, KernelLines, Metric, TensorMap,
    UcodeLibrary, parse,
};
use super::{
    Archive, Builder, DebugLayer, GzipHeader, Header, MetaNeff, Mode, Neff, Npy, Options, Report,
    verify,
};
use crate::neff::header::HEADER_LENGTH;

/// Small limits, so that a target finds unbounded work soon.
fn options(mode: Mode) -> Options {
    let mut options = Options::new(mode);
    options.limits.unpacked = 16 << 20;
    options.limits.names = 256 << 10;
    options.limits.json = 1 << 20;
    options.limits.ratio_floor = 1 << 20;
    options.hold = 64 << 10;
    options
}

const MODES: [Mode; 2] = [Mode::Strict, Mode::Lenient];

/// A header: reading and writing are inverse, checking never fails badly.
pub fn header(bytes: &[u8]) {
    let Some(chunk) = bytes.first_chunk::<HEADER_LENGTH>() else {
        return;
    };
    let header = Header::parse(chunk);
    assert_eq!(&header.to_bytes(), chunk);
    let mut report = Report::new(Mode::Lenient);
    let checked = header.check(super::problem::widen(bytes.len()), &mut report);
    assert!(checked.is_ok(), "no rule of the header is fatal");
    let rest = bytes.get(HEADER_LENGTH..).unwrap_or_default();
    digest::compute(&header, rest, |_| ());
}

/// An archive, bare or gzip.
pub fn tar(bytes: &[u8]) {
    for mode in MODES {
        let mut report = Report::new(mode);
        if let Ok(archive) = Archive::open(bytes, 0, &options(mode), &mut report) {
            for member in archive.members() {
                let body = archive.body(member);
                assert!(body.is_ok_and(|b| super::problem::widen(b.len()) == member.size()));
            }
            let all =
                archive.for_each(|_, body| std::io::copy(body, &mut std::io::sink()).map(drop));
            assert!(all.is_ok(), "what was indexed can be read");
        }
    }
}

/// A gzip header.
pub fn gzip(bytes: &[u8]) {
    if let Ok(header) = GzipHeader::parse(bytes, 0) {
        assert!(header.length <= bytes.len());
    }
}

/// JSON members.
pub fn json(bytes: &[u8]) {
    for mode in MODES {
        let report = &mut Report::new(mode);
        let limit = 1 << 20;
        let _ = parse::<Graph>("neff.json", bytes, limit, report);
        let _ = parse::<Kelf>("kelf-0.json", bytes, limit, report);
        let _ = parse::<Definition>("def.json", bytes, limit, report);
        let _ = parse::<EngineJson>("pe.json", bytes, limit, report);
        let _ = parse::<Info>("info.json", bytes, limit, report);
        let _ = parse::<TensorMap>("tensor_map.json", bytes, limit, report);
        let _ = parse::<Vec<Metric>>("metrics.json", bytes, limit, report);
        let _ = parse::<KernelDebugInfo>("kernel_debug_info.json", bytes, limit, report);
        if let Ok(Some(libraries)) =
            parse::<Vec<UcodeLibrary>>("ucode_lib.json", bytes, limit, report)
        {
            let _ = UcodeLibrary::faults(&libraries);
        }
        let _ = KernelLines::parse("k.json", bytes, limit, report);
    }
}

/// Protobuf members and metaneff.
pub fn protobuf(bytes: &[u8]) {
    let _ = MetaNeff::parse("metaneff", bytes);
    if let Ok(layer) = DebugLayer::parse("debug", bytes) {
        for record in &layer.records {
            let _ = layer.source(record);
            let _ = record.id_text();
        }
    }
}

/// A `.npy` header.
pub fn npy(bytes: &[u8]) {
    if let Ok(npy) = Npy::parse("w.npy", bytes) {
        let _ = (npy.bytes(), npy.data_length(bytes));
    }
}

/// A whole file, opened and verified.
pub fn open(bytes: &[u8]) {
    for mode in MODES {
        if let Ok(neff) = Neff::open(bytes, &options(mode)) {
            let _ = verify(&neff, |_, _| ());
        }
    }
}

/// A whole file whose header is made to fit: the bytes are the payload.
pub fn payload(bytes: &[u8]) {
    let mut header = Builder::new(1).header;
    header.data_size = super::problem::widen(bytes.len());
    let mut hasher = digest::Hasher::for_packager(header.packager);
    hasher.update(bytes);
    header.hash = digest::field(&hasher.finish(), digest::WRITTEN_FORM);
    let mut file = header.to_bytes().to_vec();
    file.extend_from_slice(bytes);
    open(&file);
}
