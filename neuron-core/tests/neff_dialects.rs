//! Dialects of tar, against an independent reader and writer (crate `tar`), and
//! by hand where that has no say.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod neff_common;

use neff_common::{GNU, USTAR, V7, block, file, fixture, octal, tar, wrap};
use neuron_core::neff::tar::Dialect;
use neuron_core::neff::{Builder, Mode, Neff, Options, Packing, Problem, Report, Rule};
use std::io::Read;

/// Members by our reader: name, body.
fn ours(payload: &[u8], mode: Mode) -> Result<Vec<(String, Vec<u8>)>, Problem> {
    let archive =
        neuron_core::neff::Archive::open(payload, 0, &Options::new(mode), &mut Report::new(mode))?;
    let body = |member| archive.body(member).unwrap().into_owned();
    Ok(archive.members().iter().map(|m| (m.name().to_owned(), body(m))).collect())
}

/// Plain files by the crate `tar`.
fn theirs(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut out = Vec::new();
    for entry in tar::Archive::new(archive).entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.header().entry_type().is_file() {
            let name = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
            let mut body = Vec::new();
            entry.read_to_end(&mut body).unwrap();
            out.push((name, body));
        }
    }
    out
}

#[test]
fn real_archives_read_alike() {
    for name in ["matmul-small.neff", "xla-cache-a.neff", "moe-dge.neff"] {
        let bytes = fixture(name);
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&bytes[1024..]).read_to_end(&mut plain).unwrap();
        assert_eq!(ours(&bytes[1024..], Mode::Strict).unwrap(), theirs(&plain), "{name}");
        assert_eq!(ours(&plain, Mode::Strict).unwrap(), theirs(&plain), "{name}");
    }
}

fn long_names() -> Vec<(String, Vec<u8>)> {
    let deep = "directory/".repeat(14);
    let mut out = vec![
        (String::from("a"), b"body".to_vec()),
        ("n".repeat(100), vec![1; 511]),
        ("n".repeat(101), vec![2; 512]),
        (format!("{deep}{}", "f".repeat(90)), vec![3; 513]),
        (format!("{deep}{}", "f".repeat(150)), Vec::new()),
        (String::from("sg00/größe.bin"), vec![4; 1024]),
    ];
    out.sort();
    out
}

#[test]
fn our_archives_are_read_by_others() {
    let mut builder = Builder::new(1);
    builder.packing = Packing::Bare;
    for (name, body) in long_names() {
        builder.add(&name, body).unwrap();
    }
    let mut file = Vec::new();
    builder.write(&mut file).unwrap();
    assert_eq!(theirs(&file[1024..]), long_names());
    assert_eq!(ours(&file[1024..], Mode::Strict).unwrap(), long_names());
    builder.packing = Packing::Gzip(1);
    let mut file = Vec::new();
    builder.write(&mut file).unwrap();
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&file[1024..]).read_to_end(&mut plain).unwrap();
    assert_eq!(theirs(&plain), long_names());
}

/// GNU long names (`L` records) and pax as another writer makes them.
#[test]
fn archives_of_others_are_read() {
    for gnu in [true, false] {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, body) in long_names() {
            let mut header = if gnu { tar::Header::new_gnu() } else { tar::Header::new_ustar() };
            header.set_size(body.len() as u64);
            header.set_mode(0o644);
            if !gnu {
                builder.append_pax_extensions([("path", name.as_bytes())]).unwrap();
            }
            let short = if gnu { name.as_str() } else { "short" };
            builder.append_data(&mut header, short, body.as_slice()).unwrap();
        }
        let archive = builder.into_inner().unwrap();
        assert_eq!(ours(&archive, Mode::Strict).unwrap(), long_names(), "gnu {gnu}");
    }
}

#[test]
fn v7_and_prefixes() {
    // v7: no magic, a directory is a name with a slash, numbers end in a blank.
    let mut plain = block(b"./plain", b"         4 \0", 0, V7);
    neff_common::seal(&mut plain);
    let folder = block(b"folder/", &octal(0), 0, V7);
    let archive = tar(&[(folder, b""), (plain, b"body")]);
    let neff_bytes = wrap(&archive);
    let neff = Neff::open(&neff_bytes, &Options::strict()).unwrap();
    assert_eq!(neff.members().len(), 1);
    assert_eq!(neff.members()[0].name(), "plain");
    assert_eq!(neff.members()[0].entry.dialect, Dialect::V7);
    assert_eq!(neff.archive.directories.len(), 1);

    // ustar splits a prefix off; GNU uses those bytes for other things.
    for (magic, name) in [(USTAR, "folder/last"), (GNU, "last")] {
        let mut header = block(b"last", &octal(1), b'0', magic);
        header[345..351].copy_from_slice(b"folder");
        neff_common::seal(&mut header);
        let archive = tar(&[(header, b"x")]);
        assert_eq!(ours(&archive, Mode::Strict).unwrap(), [(name.to_owned(), b"x".to_vec())]);
    }
}

/// The dialect of the 2.0 preview: pax records with fractional times.
#[test]
fn pax_times_with_fractions() {
    let records = b"30 mtime=1677710134.123456789\n20 atime=1677710134\n";
    let extension = block(b"PaxHeaders/a", &octal(records.len()), b'x', USTAR);
    let (header, body) = file("a", b"x");
    let archive = tar(&[(extension, records), (header, body)]);
    let bytes = wrap(&archive);
    let neff = Neff::open(&bytes, &Options::strict()).unwrap();
    let entry = &neff.members()[0].entry;
    assert_eq!((entry.mtime, entry.dialect), (1_677_710_134, Dialect::Pax));
    assert_eq!((entry.header_at, entry.body_at), (0, 1536));
}

/// pax sizes win over the header's, and global records hold until taken back.
#[test]
fn pax_sizes_and_globals() {
    let global = b"14 uname=them\n";
    let size = b"9 size=3\n";
    let (mut header, _) = file("a", b"");
    header[124..136].copy_from_slice(b"00000000000\0");
    neff_common::seal(&mut header);
    let archive = tar(&[
        (block(b"g", &octal(global.len()), b'g', USTAR), global),
        (block(b"x", &octal(size.len()), b'x', USTAR), size),
        (header, b"abc"),
        file("b", b"d"),
    ]);
    let bytes = wrap(&archive);
    let neff = Neff::open(&bytes, &Options::strict()).unwrap();
    assert_eq!(neff.members()[0].size(), 3);
    assert_eq!(neff.members()[0].entry.user, "them");
    assert_eq!(neff.members()[1].entry.user, "them");
    assert_eq!(&*neff.body("a").unwrap().unwrap(), b"abc");
    assert_eq!(&*neff.body("b").unwrap().unwrap(), b"d");
}

#[test]
fn packager_2_with_a_bare_tar() {
    let archive = tar(&[file("info.json", b"{}")]);
    let bytes = wrap(&archive);
    let neff = Neff::open(&bytes, &Options::strict()).unwrap();
    assert_eq!(neff.archive.encoding, neuron_core::neff::Encoding::Bare);
    // Borrowed from the file, not copied.
    let body = neff.body("info.json").unwrap().unwrap();
    assert!(matches!(body, std::borrow::Cow::Borrowed(_)));
    assert!(bytes.as_ptr_range().contains(&body.as_ptr()));
}

#[test]
fn links_and_devices_are_no_members() {
    for kind in [b'1', b'2', b'3', b'4', b'6', b'S', b'V', b'?'] {
        let mut link = block(b"link", &octal(0), kind, USTAR);
        link[157..168].copy_from_slice(b"/etc/passwd");
        neff_common::seal(&mut link);
        let archive = tar(&[(link, b""), file("a", b"x")]);
        let error = ours(&archive, Mode::Strict).unwrap_err();
        assert_eq!(
            (error.rule, error.place.to_string().as_str()),
            (Rule::TarKind, "archive offset 0x0")
        );
        let read = ours(&archive, Mode::Lenient).unwrap();
        assert_eq!(read, [(String::from("a"), b"x".to_vec())], "{}", char::from(kind));
    }
}
