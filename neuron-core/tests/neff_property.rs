//! Properties: what is written is read, what is read is written the same, and
//! no bytes whatever panic. The fuzz targets run the same functions.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod neff_common;

use neff_common::{fixture, sample, wrap};
use neuron_core::neff::{Builder, Header, Neff, Options, Packing, fuzz};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

/// `PROPTEST_CASES` in the environment asks for more.
fn config(cases: u32) -> ProptestConfig {
    let mut config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    config.failure_persistence = None;
    config
}

/// Names as compilers write them, and longer ones.
fn names() -> impl Strategy<Value = String> {
    let part = "[a-zA-Z0-9_.-]{1,40}".prop_filter("no dots only", |p| p != "." && p != "..");
    let long = "[a-zé]{90,120}";
    vec(prop_oneof![8 => part, 1 => long], 1..5).prop_map(|parts| parts.join("/"))
}

fn members() -> impl Strategy<Value = std::collections::BTreeMap<String, Vec<u8>>> {
    btree_map(names(), vec(any::<u8>(), 0..1500), 1..12)
}

fn packings() -> impl Strategy<Value = Packing> {
    prop_oneof![Just(Packing::Bare), (0..10_u32).prop_map(Packing::Gzip)]
}

fn write(builder: &Builder<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    builder.write(&mut out).unwrap();
    out
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn write_read_write(
        members in members(),
        packing in packings(),
        name in "[ -~é]{0,300}",
        features in 0..0x0800_0000_u64,
        packager in 1..=2_u64,
        uuid in any::<[u8; 16]>(),
        lnc in 1..=2_u32,
    ) {
        let mut builder = Builder::new(lnc);
        builder.packing = packing;
        builder.header.set_name(&name);
        builder.header.packager = packager;
        builder.header.uuid = uuid;
        builder.set_features(features);
        for (name, body) in &members {
            builder.add(name, body.as_slice()).unwrap();
        }
        let first = write(&builder);
        let neff = Neff::open(&first, &Options::strict()).unwrap();
        prop_assert_eq!(neff.report.warnings(), []);
        let mut read = std::collections::BTreeMap::new();
        let mut again = Builder::with_header(neff.header.clone());
        again.packing = packing;
        for member in neff.members() {
            let body = neff.archive.body(member).unwrap().into_owned();
            read.insert(member.name().to_owned(), body.clone());
            again.add(member.name(), body).unwrap();
        }
        prop_assert_eq!(read, members);
        prop_assert_eq!(write(&again), first);
    }

    #[test]
    fn any_header(mut bytes in vec(any::<u8>(), 1024..1100), small in any::<bool>()) {
        if small {
            // Sane sizes, so that later checks are reached.
            bytes[..0x28].fill(0);
            bytes[0] = 2;
            bytes[9] = 4;
        }
        fuzz::header(&bytes);
        let header = Header::of_file(&[&bytes[..1024], b"x"].concat()).unwrap();
        prop_assert_eq!(header.to_bytes().to_vec(), bytes[..1024].to_vec());
    }

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..4096)) {
        fuzz::header(&bytes);
        fuzz::gzip(&bytes);
        fuzz::tar(&bytes);
        fuzz::json(&bytes);
        fuzz::protobuf(&bytes);
        fuzz::npy(&bytes);
        fuzz::open(&bytes);
        fuzz::payload(&bytes);
    }

    /// A valid archive with a few bytes changed, checksums made right again.
    #[test]
    fn bent_archives(
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        reseal in any::<bool>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let whole = sample(Packing::Bare);
        let mut payload = whole[1024..].to_vec();
        for (at, byte) in changes {
            let at = at.index(payload.len());
            payload[at] = byte;
        }
        if reseal {
            for block in payload.chunks_exact_mut(512) {
                let block: &mut [u8; 512] = block.try_into().unwrap();
                if &block[257..262] == b"ustar" {
                    neff_common::seal(block);
                }
            }
        }
        fuzz::tar(&payload);
        fuzz::payload(&payload);
        payload.truncate(cut.index(payload.len()));
        fuzz::payload(&payload);
    }

    #[test]
    fn bent_gzip(changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let whole = sample(Packing::Gzip(6));
        let mut payload = whole[1024..].to_vec();
        for (at, byte) in changes {
            let at = at.index(payload.len());
            payload[at] = byte;
        }
        fuzz::tar(&payload);
        fuzz::open(&wrap(&payload));
    }
}

proptest! {
    #![proptest_config(config(48))]

    /// Members of a real file with bytes changed.
    #[test]
    fn bent_members(
        which in any::<prop::sample::Index>(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        cut in any::<prop::sample::Index>(),
    ) {
        let bytes = fixture("matmul-small.neff");
        let neff = Neff::open(&bytes, &Options::strict().without_digest()).unwrap();
        let small: Vec<_> = neff.members().iter().filter(|m| (1..6000).contains(&m.size())).collect();
        let member = which.get(&small);
        let mut body = neff.archive.body(member).unwrap().into_owned();
        for (at, byte) in changes {
            let at = at.index(body.len());
            body[at] = byte;
        }
        for body in [&body[..], &body[..cut.index(body.len())]] {
            fuzz::json(body);
            fuzz::protobuf(body);
            fuzz::npy(body);
        }
    }

    /// A real archive, unpacked, with bytes changed: the whole way through.
    #[test]
    fn bent_real_archives(
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
    ) {
        let bytes = fixture("matmul-small.neff");
        let mut payload = Vec::new();
        let mut gzip = flate2::read::GzDecoder::new(&bytes[1024..]);
        std::io::Read::read_to_end(&mut gzip, &mut payload).unwrap();
        for (at, byte) in changes {
            let at = at.index(payload.len());
            // Headers stay whole, so that the members are reached.
            if payload[at / 512 * 512 + 257..].starts_with(b"ustar") {
                continue;
            }
            payload[at] = byte;
        }
        fuzz::payload(&payload);
    }
}
