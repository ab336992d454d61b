//! The public worked example: header vectors, members, offsets; written again.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod neff_common;

use neff_common::{
    block, octal, pe_bin, pool_bin, pool_json, sample, sample_header, sample_members,
};
use neuron_core::neff::doc::{Engine, Target};
use neuron_core::neff::tar::Dialect;
use neuron_core::neff::{
    Builder, Header, Mode, Model, Neff, Options, Packing, Report, Rule, Usage, digest, features,
    verify,
};

fn md5(bytes: &[u8]) -> String {
    let mut hasher = digest::Hasher::for_packager(2);
    hasher.update(bytes);
    hasher.finish().iter().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn header_of_the_sample() {
    let header = Header::parse(&sample_header());
    assert_eq!((header.packager, header.header_size, header.data_size), (2, 1024, 1709));
    assert_eq!((header.major, header.minor, header.num_tpb), (2, 0, 1));
    assert_eq!(header.build_version_text(), "2.0.21884.0%kaena-tools/develop@6c66f4b");
    assert_eq!(header.hash_hex(), "61b3cab24369b326a2b3ee40a744c746");
    assert_eq!(header.hash[16..], [b'0'; 16]);
    assert_eq!(header.uuid_hex(), "561826fb125f4bb8991c29e085c8949a");
    assert_eq!(header.name_text(), "x");
    assert_eq!((header.requested_tpb, header.feature_bits, header.lnc_size), (1, 0, 1));
    assert_eq!(header.cores_for_full_speed(), Some(1));
    // Old zeros: the bytes for each node are not filled in.
    assert_eq!(header.cores_at_least(), None);
    assert!(features::labels(header.feature_bits).is_empty());
    assert_eq!(header.to_bytes(), sample_header());
    let mut report = Report::new(Mode::Strict);
    header.check(2733, &mut report).unwrap();
    assert_eq!(report.warnings(), []);
}

#[test]
fn header_of_the_packager_guide() {
    let mut bytes = [0; 1024];
    let mut put = |at: usize, bytes_in: &[u8]| {
        bytes[at..at + bytes_in.len()].copy_from_slice(bytes_in);
    };
    put(0x00, &2_u64.to_le_bytes());
    put(0x08, &1024_u64.to_le_bytes());
    put(0x10, &48_924_u64.to_le_bytes());
    put(0x18, &1_u64.to_le_bytes());
    put(0xa8, &1_u32.to_le_bytes());
    put(0xac, &0xec4b_1b1f_a891_9a9b_e2c1_76fd_6326_9511_u128.to_be_bytes());
    put(0xcc, &0xc327_5f90_b87d_11ed_80b6_0e6b_4183_ae7f_u128.to_be_bytes());
    let name = "compiler_cache/neuron-compile-cache/MODULE_0_SyncTensorsGraph";
    put(0xdc, name.as_bytes());
    let header = Header::parse(&bytes);
    assert_eq!(header.hash_hex(), "ec4b1b1fa8919a9be2c176fd63269511");
    assert_eq!(header.uuid_hex(), "c3275f90b87d11ed80b60e6b4183ae7f");
    assert_eq!((header.major, header.minor, header.data_size), (1, 0, 48_924));
    assert_eq!((header.build_version_text().as_str(), header.name_text().as_str()), ("", name));
    // The id is time based: version 4 must not be asked for.
    header.check(1024 + 48_924, &mut Report::new(Mode::Strict)).unwrap();
}

#[test]
fn members_have_their_published_sizes_and_digests() {
    assert_eq!(md5(&pe_bin()), "f5c01e499e4e49ac4ef559ce7e673436");
    assert_eq!(md5(&pool_bin()), "25daba764d4de4444cbf460a1e52df2f");
    assert_eq!(pool_json().len(), 1042);
    let sizes: Vec<usize> = sample_members().iter().map(|(_, body)| body.len()).collect();
    assert_eq!(
        sizes,
        [129, 980, 0, 63, 1421, 192, 0, 64, 65, 182, 0, 0, 0, 0, 63, 126, 153, 1042, 0]
    );
}

/// The archive as the sample's own producer wrote it: GNU headers, owner ids in
/// base 256, a directory, 10240-byte blocking. Offsets are those of the table.
#[test]
fn offsets_of_the_table() {
    let mut payload = Vec::new();
    for (name, body) in sample_members() {
        let kind = if name.ends_with('/') { b'5' } else { b'0' };
        let mut header = block(name.as_bytes(), &octal(body.len()), kind, neff_common::GNU);
        header[108..116].copy_from_slice(&[0x80, 0, 0, 0, 0x25, 0x52, 0xe0, 0x77]);
        header[116..124].copy_from_slice(&[0x80, 0, 0, 0, 0x23, 0xc7, 0x3f, 0xa1]);
        header[136..148].copy_from_slice(b"14714250600\0");
        neff_common::seal(&mut header);
        payload.extend_from_slice(&header);
        payload.extend_from_slice(&body);
        payload.resize(payload.len().next_multiple_of(512), 0);
    }
    assert_eq!(payload.len(), 18_432);
    payload.resize(20_480, 0);
    let file = neff_common::wrap(&payload);
    let neff = Neff::open(&file, &Options::strict()).unwrap();
    let at: Vec<(u64, u64)> =
        neff.members().iter().map(|m| (m.entry.header_at, m.entry.body_at)).collect();
    #[rustfmt::skip]
    assert_eq!(at, [
        (0, 512), (1024, 1536), (3072, 3584), (4096, 4608), (6144, 6656), (7168, 7680),
        (7680, 8192), (8704, 9216), (9728, 10240), (10752, 11264), (11264, 11776), (11776, 12288),
        (12288, 12800), (12800, 13312), (13824, 14336), (14848, 15360), (15872, 16384),
        (17920, 18432),
    ]);
    assert_eq!(neff.archive.directories[0].name, "sg00/");
    assert_eq!(neff.archive.directories[0].header_at, 2560);
    assert_eq!((neff.archive.end_at, neff.archive.unpacked), (18_432, 20_480));
    let entry = &neff.members()[0].entry;
    assert_eq!((entry.uid, entry.gid, entry.mode), (0x2552_e077, 0x23c7_3fa1, 0o644));
    // 2024-11-11 00:36:16 UTC.
    assert_eq!(entry.mtime, 1_731_285_376);
    assert_eq!(entry.dialect, Dialect::Gnu);
}

#[test]
fn content_of_the_sample() {
    let file = sample(Packing::Gzip(6));
    let neff = Neff::open(&file, &Options::strict()).unwrap();
    let seen = verify(&neff, |_, _| ()).unwrap();
    // The sample names two members that it does not have.
    let rules: Vec<Rule> = seen.report.warnings().iter().map(|problem| problem.rule).collect();
    assert_eq!(rules, [Rule::MemberAbsentOptional; 2]);
    let model: Model = seen.model;
    assert_eq!(model.kelf_member.as_deref(), Some("kelf-a.json"));
    assert_eq!(model.target(), Some(Target::Any));
    assert_eq!(model.kelf.as_ref().unwrap().version, "0.5");
    assert_eq!(model.node_counts(), (1, 0));
    let subgraph = &model.subgraphs[0];
    assert_eq!((subgraph.name.as_str(), subgraph.folder.as_str()), ("sg00", "sg00/"));
    assert_eq!(subgraph.slots(), [1, 0, 3, 0, 0]);
    let pool = subgraph.program(Engine::Pool).unwrap();
    assert_eq!(pool.stream_member.as_deref(), Some("sg00/pool.bin"));
    let blocks = pool.json.as_ref().unwrap().dma.as_ref().unwrap();
    assert_eq!(blocks.len(), 2);
    assert_eq!(blocks[1].queue.as_deref(), Some("q_gradient_out"));
    assert_eq!(blocks[0].desc[0].from.as_deref(), Some("input"));
    assert_eq!(blocks[0].desc[0].from_bytes(), Some(128));
    let queues = &subgraph.definition.dma_queue;
    assert_eq!(
        (queues["q_gradient_in"].semaphore, queues["q_gradient_out"].semaphore),
        (Some(10), Some(11))
    );
    let ids: Vec<(&str, u64)> =
        subgraph.definition.var.iter().map(|(name, var)| (name.as_str(), var.var_id)).collect();
    assert_eq!(
        ids,
        [("SB", 1), ("gradient_in", 3), ("gradient_out", 4), ("input", 0), ("output", 2)]
    );
    let tensors: Vec<(&str, Usage, Option<u64>)> =
        model.tensors.iter().map(|t| (t.name.as_str(), t.usage, t.bytes)).collect();
    assert_eq!(tensors, [("input", Usage::Input, Some(128)), ("output", Usage::Output, Some(128))]);
}

#[test]
fn written_again() {
    for packing in [Packing::Gzip(6), Packing::Bare] {
        let file = sample(packing);
        let neff = Neff::open(&file, &Options::strict()).unwrap();
        assert_eq!(neff.digest.as_ref().unwrap().form, Some(digest::WRITTEN_FORM));
        // The two halves of the digest field.
        let computed = &neff.digest.as_ref().unwrap().computed;
        assert_eq!(neff.header.hash[..16], digest::swap_words(computed)[..]);
        assert_eq!(neff.header.hash[16..], [b'0'; 16]);
        assert_eq!(neff.header.uuid_hex(), "561826fb125f4bb8991c29e085c8949a");
        assert_eq!(neff.archive.unpacked % 10_240, 0);

        let mut builder = Builder::with_header(neff.header.clone());
        builder.packing = packing;
        for member in neff.members() {
            let body = neff.archive.body(member).unwrap().into_owned();
            builder.add(member.name(), body).unwrap();
        }
        let mut again = Vec::new();
        builder.write(&mut again).unwrap();
        assert_eq!(again, file);
        let mut seek = std::io::Cursor::new(Vec::new());
        builder.write_seek(&mut seek, |_| ()).unwrap();
        assert_eq!(seek.into_inner(), file);
    }
}

/// The published digest is that of a payload nobody has: any other mismatches,
/// a warning when lenient, refused when strict.
#[test]
fn published_digest_does_not_fit_another_payload() {
    let mut file = sample(Packing::Gzip(6));
    let mut header = Header::parse(&sample_header());
    header.data_size = (file.len() - 1024) as u64;
    file[..1024].copy_from_slice(&header.to_bytes());
    let error = Neff::open(&file, &Options::strict()).unwrap_err();
    assert_eq!(error.rule, Rule::Digest);
    assert!(
        error
            .to_string()
            .starts_with("file offset 0xac: stored 61b3cab24369b326a2b3ee40a744c746, computed ")
    );
    let neff = Neff::open(&file, &Options::lenient()).unwrap();
    assert_eq!(neff.report.warnings().len(), 1);
    assert_eq!(neff.members().len(), 18);
}

#[test]
fn packager_1_stores_sha256() {
    // SHA-256 of "abc", FIPS 180-2 appendix B.1.
    let mut hasher = digest::Hasher::for_packager(1);
    hasher.update(b"a");
    hasher.update(b"bc");
    let hex: String = hasher.finish().iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    let mut builder = Builder::new(1);
    builder.header.packager = 1;
    builder.packing = Packing::Bare;
    builder.add("info.json", b"{}".as_slice()).unwrap();
    let mut file = Vec::new();
    builder.write(&mut file).unwrap();
    let neff = Neff::open(&file, &Options::strict()).unwrap();
    assert_eq!(neff.digest.unwrap().form, Some(neuron_core::neff::DigestForm::Sha256));
    assert_eq!(neff.header.hash_hex().len(), 64);
    file[0xac + 31] ^= 1;
    assert_eq!(Neff::open(&file, &Options::strict()).unwrap_err().rule, Rule::Digest);
}
