//! Opening a NEFF of 1 GiB, and its digest beside the bare hash.
//!
//! The large file is a bare archive (what the packager's `optimize` writes)
//! with its weights as a hole in a sparse file; opening must not touch them.
//! A gzip archive must be inflated to be indexed, so there the figure is bytes
//! a second.

#![allow(clippy::unwrap_used, reason = "a bench may end by a panic")]
#![allow(missing_docs, reason = "the macros of criterion make undocumented items")]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use md5::{Digest as _, Md5};
use neuron_core::neff::tar::{append_end, append_header};
use neuron_core::neff::{Builder, Neff, Options, Packing, digest};
use neuron_core::sys::file_map::FileBytes;
use std::fs::File;
use std::hint::black_box;
use std::io::{Seek, SeekFrom, Write};

const GIB: u64 = 1 << 30;

/// A sparse NEFF of 1 GiB: four weights of 256 MiB and small members.
fn large() -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let out: &mut File = file.as_file_mut();
    out.write_all(&[0; 1024]).unwrap();
    let mut written = 0;
    for index in 0..4 {
        let size = GIB / 4;
        written += append_header(out, &format!("sg00/weight{index}.bin"), size).unwrap() + size;
        out.seek(SeekFrom::Start(1024 + written)).unwrap();
    }
    for index in 0..200 {
        written += append_header(out, &format!("sg00/member{index}.bin"), 512).unwrap() + 512;
        out.write_all(&[1; 512]).unwrap();
    }
    append_end(out, written).unwrap();
    let end = out.stream_position().unwrap();
    let mut header = Builder::new(1).header;
    header.data_size = end - 1024;
    out.seek(SeekFrom::Start(0)).unwrap();
    out.write_all(&header.to_bytes()).unwrap();
    out.flush().unwrap();
    file
}

fn open(c: &mut Criterion) {
    let file = large();
    let bytes = FileBytes::open(file.path()).unwrap();
    assert!(bytes.len() as u64 > GIB);
    let options = Options::strict().without_digest();
    let mut group = c.benchmark_group("open");
    group.bench_function("bare, 1 GiB, mapped", |b| {
        b.iter(|| {
            let neff = Neff::open(&bytes, &options).unwrap();
            assert_eq!(neff.members().len(), 204);
            black_box(neff.members().len())
        });
    });
    // A new map each time: no page of it was touched before.
    group.bench_function("bare, 1 GiB, fresh map", |b| {
        b.iter_batched(
            || FileBytes::open(file.path()).unwrap(),
            |bytes| black_box(Neff::open(&bytes, &options).unwrap().members().len()),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

/// Bytes that deflate does not shrink to nothing.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut byte = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_le_bytes()[3] & 0x3f
    };
    (0..length).map(|_| byte()).collect()
}

fn open_gzip(c: &mut Criterion) {
    let body = noise(32 << 20);
    let mut builder = Builder::new(1);
    builder.packing = Packing::Gzip(1);
    builder.add("sg00/weight.bin", body.as_slice()).unwrap();
    let mut bytes = Vec::new();
    builder.write(&mut bytes).unwrap();
    let mut group = c.benchmark_group("open");
    group.throughput(Throughput::Bytes(body.len() as u64)).sample_size(10);
    for (name, options) in [
        ("gzip, held", Options::strict().without_digest().holding_all()),
        ("gzip, passed over", Options { hold: 0, ..Options::strict().without_digest() }),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| black_box(Neff::open(&bytes, &options).unwrap().members().len()));
        });
    }
    group.finish();
}

fn hashes(c: &mut Criterion) {
    let payload = noise(64 << 20);
    let mut header = Builder::new(1).header;
    let mut group = c.benchmark_group("digest");
    group.throughput(Throughput::Bytes(payload.len() as u64)).sample_size(10);
    group.bench_function("packager 2", |b| {
        b.iter(|| black_box(digest::compute(&header, &payload, |_| ())));
    });
    group.bench_function("bare MD5", |b| b.iter(|| black_box(Md5::digest(&payload))));
    header.packager = 1;
    group.bench_function("packager 1", |b| {
        b.iter(|| black_box(digest::compute(&header, &payload, |_| ())));
    });
    group.bench_function("bare SHA-256", |b| {
        b.iter(|| black_box(sha2::Sha256::digest(&payload)));
    });
    group.finish();
}

criterion_group!(benches, open, open_gzip, hashes);
criterion_main!(benches);
