//! Bad input: an error with rule and offset, or a warning in lenient mode;
//! never a panic, never unbounded memory.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod neff_common;

use neff_common::{USTAR, block, file, octal, sample, sample_members, tar, wrap};
use neuron_core::neff::{
    Builder, Header, Limits, Mode, Neff, Options, Packing, Problem, Report, Rule, fuzz, verify,
};
use std::io::Write;

fn strict(bytes: &[u8]) -> Result<(), Problem> {
    let neff = Neff::open(bytes, &Options::strict())?;
    verify(&neff, |_, _| ()).map(drop)
}

fn refused(bytes: &[u8]) -> Rule {
    strict(bytes).map(|()| panic!("it was accepted")).unwrap_err().rule
}

/// Opens and reads leniently; the rules of its warnings.
fn lenient(bytes: &[u8]) -> Result<Vec<Rule>, Problem> {
    let neff = Neff::open(bytes, &Options::lenient())?;
    let seen = verify(&neff, |_, _| ())?;
    Ok(seen.report.warnings().iter().map(|problem| problem.rule).collect())
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    out.write_all(plain).unwrap();
    out.finish().unwrap()
}

#[test]
fn cut_at_every_byte() {
    let whole = sample(Packing::Gzip(6));
    for end in 0..whole.len() {
        let cut = &whole[..end];
        let error = Neff::open(cut, &Options::strict()).unwrap_err();
        let expected = if end <= 1024 { Rule::FileShort } else { Rule::DataSize };
        assert_eq!(error.rule, expected, "{end}");
        fuzz::open(cut);
    }
}

/// The header says what is there, so only the archive shows the cut.
#[test]
fn archive_cut_at_every_byte() {
    for packing in [Packing::Gzip(6), Packing::Bare] {
        let whole = sample(packing);
        let payload = &whole[1024..];
        // A bare archive may end anywhere after its two zero blocks; a gzip
        // stream is whole or not.
        let end_at = Neff::open(&whole, &Options::strict()).unwrap().archive.end_at;
        let needed = match packing {
            Packing::Bare => usize::try_from(end_at).unwrap() + 1024,
            Packing::Gzip(_) => payload.len(),
        };
        // Every byte of the gzip stream; of the bare archive those around blocks.
        let ends = (0..payload.len())
            .filter(|end| packing != Packing::Bare || end % 512 < 3 || end % 512 > 509);
        for end in ends {
            let bytes = wrap(&payload[..end]);
            let strict = Neff::open(&bytes, &Options::strict());
            assert_eq!(strict.is_ok(), end >= needed, "{packing:?} {end}");
            if let Ok(neff) = Neff::open(&bytes, &Options::lenient()) {
                let warned = neff.report.warnings();
                assert_eq!(warned.is_empty(), end >= needed, "{packing:?} {end}");
                // What is whole is still there.
                for member in neff.members() {
                    let body = neff.archive.body(member).unwrap();
                    let (_, original) =
                        sample_members().into_iter().find(|(n, _)| *n == member.name()).unwrap();
                    assert_eq!(*body, *original);
                }
            }
        }
    }
}

#[test]
fn header_lengths_at_their_bounds() {
    let whole = sample(Packing::Gzip(6));
    let size = (whole.len() - 1024) as u64;
    let with = |at: usize, value: u64| {
        let mut bytes = whole.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    for (at, value, rule) in [
        (0x00, 0, Rule::Packager),
        (0x00, 3, Rule::Packager),
        (0x00, u64::MAX, Rule::Packager),
        (0x08, 0, Rule::HeaderSize),
        (0x08, 1, Rule::HeaderSize),
        (0x08, 1023, Rule::HeaderSize),
        (0x08, 1025, Rule::HeaderSize),
        (0x08, size + 1024, Rule::HeaderSizeBeyond),
        (0x08, u64::MAX, Rule::HeaderSizeBeyond),
        (0x10, 0, Rule::DataEmpty),
        (0x10, 1, Rule::Digest),
        (0x10, size - 1, Rule::Digest),
        (0x10, size + 1, Rule::DataSize),
        (0x10, u64::MAX, Rule::DataSize),
        (0x10, u64::MAX - 1024, Rule::DataSize),
        (0x18, 3, Rule::Major),
        (0x18, u64::MAX, Rule::Major),
        (0x220, 1 << 27, Rule::FeatureBits),
        (0x220, 1 << 62, Rule::FeatureBits),
    ] {
        let bytes = with(at, value);
        let error = Neff::open(&bytes, &Options::strict()).unwrap_err();
        assert_eq!(error.rule, rule, "{at:#x} {value:#x}: {error}");
        if !matches!(rule, Rule::Digest) {
            assert!(error.to_string().starts_with(&format!("file offset {at:#x}: ")), "{error}");
        }
        fuzz::open(&bytes);
    }
    // Not refused: bit 63, known bits, any minor; majors 0 and 1 have no features.
    for (at, value) in [(0x220, 1 << 63), (0x220, 0x07ff_ffff), (0x20, u64::MAX), (0x18, 0)] {
        strict(&with(at, value)).unwrap();
    }
    let mut old = with(0x220, 1 << 40);
    old[0x18] = 1;
    strict(&old).unwrap();
    // Trailing bytes warn in every mode.
    let mut longer = whole.clone();
    longer.push(0);
    let neff = Neff::open(&longer, &Options::strict()).unwrap();
    assert_eq!(neff.report.warnings()[0].rule, Rule::TrailingBytes);
}

/// A public reader starts at header_size: lenient mode does where an archive is
/// there and none at 1024.
#[test]
fn payload_at_header_size() {
    let whole = sample(Packing::Gzip(6));
    let mut moved = whole[..1024].to_vec();
    moved[0x08..0x10].copy_from_slice(&1100_u64.to_le_bytes());
    moved.resize(1100, 0xee);
    moved.extend_from_slice(&whole[1024..]);
    let neff = Neff::open(&moved, &Options::lenient()).unwrap();
    assert_eq!((neff.payload_range.start, neff.members().len()), (1100, 18));
    assert_eq!(refused(&moved), Rule::HeaderSize);
}

#[test]
fn tar_lengths_at_their_bounds() {
    let body = [7; 600];
    let with = |size: &[u8; 12]| {
        let archive = tar(&[(block(b"a", size, b'0', USTAR), &body), file("b", b"x")]);
        wrap(&archive)
    };
    // The body is 600 bytes in two blocks, 3072 bytes follow its header.
    Neff::open(&with(&octal(600)), &Options::strict()).unwrap();
    for (size, rule) in [
        (octal(0), Rule::TarChecksum),
        (octal(1), Rule::TarChecksum),
        (octal(512), Rule::TarChecksum),
        (octal(1025), Rule::TarChecksum),
        (octal(3072), Rule::TarEnd),
        (octal(3073), Rule::ShortBody),
        (octal(1 << 31), Rule::ShortBody),
        (octal((1 << 31) + 1), Rule::LimitMember),
        (*b"77777777777\0", Rule::LimitMember),
        (*b"777777777777", Rule::LimitMember),
        ([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0], Rule::ShortBody),
        ([0x80, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], Rule::LimitMember),
        ([0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], Rule::TarNumber),
        ([0xff; 12], Rule::TarNumber),
        (*b"-0000000001\0", Rule::TarNumber),
        (*b"00000000009\0", Rule::TarNumber),
        (*b"0000 000001\0", Rule::TarNumber),
    ] {
        let bytes = with(&size);
        let error = Neff::open(&bytes, &Options::strict()).unwrap_err();
        assert_eq!(error.rule, rule, "{size:?}: {error}");
        fuzz::open(&bytes);
    }
}

#[test]
fn gzip_trailer() {
    let whole = sample(Packing::Gzip(6));
    let payload = &whole[1024..];
    let length = payload.len();
    for (at, place) in [(length - 8, 0), (length - 4, 4)] {
        let mut bad = payload.to_vec();
        bad[at] ^= 1;
        let bytes = wrap(&bad);
        let error = Neff::open(&bytes, &Options::strict()).unwrap_err();
        assert_eq!(error.rule, Rule::GzipCheck);
        let offset = 1024 + length - 8 + place;
        assert!(error.to_string().starts_with(&format!("file offset {offset:#x}: ")), "{error}");
        assert_eq!(lenient(&bytes).unwrap()[0], Rule::GzipCheck);
    }
    // Zero padding as compilers write it, then something else; a second member.
    let mut padded = payload.to_vec();
    padded.resize(10_240, 0);
    strict(&wrap(&padded)).unwrap();
    padded[9000] = 1;
    assert_eq!(refused(&wrap(&padded)), Rule::GzipTrailing);
    assert_eq!(refused(&wrap(&[payload, payload].concat())), Rule::GzipTrailing);
    // Flags: reserved bits, and fields that are cut.
    for flags in [0x20, 0x40, 0x80, 4, 8, 16] {
        let mut bad = vec![0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3, 1];
        assert_eq!(refused(&wrap(&bad)), Rule::GzipHeader, "{flags:#x}");
        bad.truncate(7);
        assert_eq!(refused(&wrap(&bad)), Rule::GzipHeader, "{flags:#x}");
    }
}

#[test]
fn every_flipped_digest_bit() {
    let whole = sample(Packing::Gzip(6));
    for bit in 0..128 {
        let mut bytes = whole.clone();
        bytes[0xac + bit / 8] ^= 1 << (bit % 8);
        assert_eq!(refused(&bytes), Rule::Digest, "{bit}");
        assert_eq!(lenient(&bytes).unwrap()[0], Rule::Digest, "{bit}");
    }
    // And every flipped byte of the payload.
    for at in (1024..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        assert_eq!(refused(&bytes), Rule::Digest, "{at}");
        fuzz::open(&bytes);
    }
}

#[test]
fn both_digest_forms_are_accepted() {
    use neuron_core::neff::DigestForm::{Plain, Swapped};
    for form in [Plain, Swapped] {
        let mut builder = Builder::new(1);
        builder.form = form;
        builder.add("info.json", b"{}".as_slice()).unwrap();
        let mut bytes = Vec::new();
        builder.write(&mut bytes).unwrap();
        let neff = Neff::open(&bytes, &Options::strict()).unwrap();
        assert_eq!(neff.digest.unwrap().form, Some(form));
    }
}

#[test]
fn bombs() {
    // 17 MiB of zeros in one member: more than a thousand to one.
    let size = 17 << 20;
    let zeros = vec![0; size];
    let bytes = wrap(&gzip(&tar(&[file("zeros", &zeros)])));
    assert!(bytes.len() < 100_000);
    for options in [Options::strict(), Options::lenient()] {
        assert_eq!(Neff::open(&bytes, &options).unwrap_err().rule, Rule::LimitRatio);
    }
    let mut wide = Options::strict();
    wide.limits.ratio = 10_000;
    assert_eq!(Neff::open(&bytes, &wide).unwrap().members()[0].size(), size as u64);
    wide.limits.unpacked = 1 << 20;
    assert_eq!(Neff::open(&bytes, &wide).unwrap_err().rule, Rule::LimitUnpacked);

    let entries = vec![file("a", b""); 12];
    let bytes = wrap(&tar(&entries));
    let mut few = Options::lenient();
    few.limits.members = 11;
    assert_eq!(Neff::open(&bytes, &few).unwrap_err().rule, Rule::LimitMembers);
    few.limits.members = 12;
    assert_eq!(Neff::open(&bytes, &few).unwrap().members().len(), 1);

    // A record and a name without end.
    let record = block(b"x", &octal((1 << 20) + 1), b'x', USTAR);
    let bytes = wrap(&tar(&[(record, b"")]));
    assert_eq!(Neff::open(&bytes, &Options::lenient()).unwrap_err().rule, Rule::LimitRecord);
    let long = format!("5010 path={}\n", "n".repeat(4999));
    let record = block(b"x", &octal(long.len()), b'x', USTAR);
    let bytes = wrap(&tar(&[(record, long.as_bytes()), file("a", b"")]));
    assert_eq!(Neff::open(&bytes, &Options::lenient()).unwrap_err().rule, Rule::LimitName);
    assert_eq!(Limits::default().members, 65_536);
}

#[test]
fn duplicates_and_names() {
    let bytes = wrap(&tar(&[file("a", b"first"), file("b", b""), file("a", b"last")]));
    let error = Neff::open(&bytes, &Options::strict()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "archive offset 0x600: a occurs again (rule duplicate-member: each member name occurs once)"
    );
    let neff = Neff::open(&bytes, &Options::lenient()).unwrap();
    assert_eq!(&*neff.body("a").unwrap().unwrap(), b"last");
    assert_eq!(neff.members().len(), 2);

    let odd = block(b"na\xffme\x1b[31m", &octal(0), b'0', USTAR);
    let bytes = wrap(&tar(&[(odd, b"")]));
    let error = Neff::open(&bytes, &Options::strict()).unwrap_err();
    assert_eq!(error.rule, Rule::NameText);
    assert!(!error.to_string().contains('\x1b'));
    let neff = Neff::open(&bytes, &Options::lenient()).unwrap();
    assert_eq!(neff.members()[0].name(), "na%ffme\u{1b}[31m");

    for (name, rule) in [
        ("../up", Rule::NameUnsafe),
        ("/root", Rule::NameUnsafe),
        ("a/../../b", Rule::NameUnsafe),
        ("a\\b", Rule::NameUnsafe),
        ("", Rule::NameEmpty),
    ] {
        let bytes = wrap(&tar(&[file(name, b"x")]));
        let error = Neff::open(&bytes, &Options::strict()).unwrap_err();
        assert_eq!(error.rule, rule, "{name:?}");
        let neff = Neff::open(&bytes, &Options::lenient()).unwrap();
        let names = neff.members().iter().map(|member| member.name());
        assert!(neuron_core::neff::path::plan(names).is_err(), "{name:?}");
    }
    // The writer refuses them too.
    for name in ["../up", "/root", "", "a/", "./a", "a\0"] {
        assert!(Builder::new(1).add(name, b"".as_slice()).is_err(), "{name:?}");
    }
    let mut builder = Builder::new(1);
    builder.add("a", b"".as_slice()).unwrap();
    assert_eq!(builder.add("a", b"".as_slice()).unwrap_err().rule, Rule::Duplicate);
}

#[test]
fn ends_of_archives() {
    let whole = tar(&[file("a", b"x")]);
    for (payload, rule) in [
        (whole[..1024].to_vec(), Rule::TarEnd),
        (whole[..1536].to_vec(), Rule::TarEnd),
        (whole[..1030].to_vec(), Rule::TarTruncated),
        ([&whole[..], b"more"].concat(), Rule::TarAfterEnd),
        (b"neither".to_vec(), Rule::PayloadKind),
        (vec![0; 2048], Rule::PayloadKind),
    ] {
        let error = Neff::open(&wrap(&payload), &Options::strict()).map(drop).unwrap_err();
        assert_eq!(error.rule, rule, "{error}");
    }
    let mut damaged = whole.clone();
    damaged[3] = b'!';
    let error = Neff::open(&wrap(&damaged), &Options::lenient()).map(drop).unwrap_err();
    assert_eq!(error.rule, Rule::TarChecksum);
}

/// Warnings of hostile bytes are counted, not kept without end.
#[test]
fn warnings_are_bounded() {
    let mut report = Report::new(Mode::Lenient);
    for at in 0..5000 {
        report.note(Rule::JsonUnknown, neuron_core::neff::Place::File(at), "x").unwrap();
    }
    assert_eq!((report.warnings().len(), report.dropped()), (1000, 4000));
    let problem = Problem::new(Rule::Target, neuron_core::neff::Place::File(0), "v\n".repeat(5000));
    assert!(problem.to_string().len() < 1000);
    assert!(!problem.to_string().contains('\n'));
}

#[test]
fn header_fields_that_only_warn() {
    let mut header = Header::parse(&neff_common::sample_header());
    header.name = [b'n'; 256];
    header.build_version[60] = b'!';
    header.pad[3] = 1;
    header.num_tpb = 65;
    header.lnc_size = 3;
    header.hash[20] = 7;
    let mut report = Report::new(Mode::Strict);
    header.check(2733, &mut report).unwrap();
    let rules: Vec<Rule> = report.warnings().iter().map(|problem| problem.rule).collect();
    #[rustfmt::skip]
    assert_eq!(rules, [Rule::HeaderText, Rule::HeaderText, Rule::CoreCount, Rule::DigestTail,
        Rule::LncSize, Rule::HeaderPad]);
    assert_eq!(header.cores_for_full_speed(), None);
}
