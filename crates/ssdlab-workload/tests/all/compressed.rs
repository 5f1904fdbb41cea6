//! Compressed files, digests and progress.

use std::io::{Read, Write};

use ssdlab_workload::{Format, Source, TraceOptions, Unsorted, open, sha256};

use crate::{drain, drain_by, fixtures, read, trace};

fn lines(count: u64) -> String {
    (0..count).map(|n| format!("{} 0 {} 8 {}\n", n * 1000, n * 8 % 4096, n % 2)).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = flate2::bufread::GzEncoder::new(bytes, flate2::Compression::fast());
    encoder.read_to_end(&mut out).unwrap();
    out
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    liblzma::bufread::XzEncoder::new(bytes, 1).read_to_end(&mut out).unwrap();
    out
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// A function that compresses, and the name of its format.
type Compressor = (fn(&[u8]) -> Vec<u8>, &'static str);

const COMPRESSORS: [Compressor; 3] = [(gzip, "gzip"), (zst, "zstd"), (xz, "xz")];

#[test]
fn compressed_files_read_as_plain_ones() {
    let text = lines(20_000);
    let want = read(&text, Format::Mqsim).unwrap();
    for (compress, name) in COMPRESSORS {
        let whole = compress(text.as_bytes());
        let (head, tail) = text.as_bytes().split_at(100_003);
        // Concatenated files are one stream to every decompressor.
        let glued = [compress(head), compress(tail)].concat();
        // pzstd begins with a skippable frame of four bytes.
        let skip = [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4];
        let skipped = match name {
            "zstd" => [&skip, &whole[..]].concat(),
            _ => whole.clone(),
        };
        for stored in [whole, glued, skipped] {
            let mut t = trace(stored, None, &TraceOptions::default()).unwrap();
            assert_eq!(t.compression(), Some(name));
            assert!(drain(&mut t).unwrap() == want, "{name}");
        }
    }
}

#[test]
fn compressed_binary_records_read_as_plain_ones() {
    let records = fixtures::vscsi(fixtures::vscsi_2);
    // More than one buffer of records; the record length does not divide the buffer's length.
    let many = records.repeat(3_000);
    let plain = trace(records.clone(), None, &TraceOptions::default());
    assert_eq!(drain(&mut plain.unwrap()).unwrap().len(), 4);
    let options = TraceOptions { unsorted: Some(Unsorted::Sort(1 << 20)), ..Default::default() };
    for (compress, name) in COMPRESSORS {
        let mut t = trace(compress(&many), None, &options).unwrap();
        assert_eq!((t.recognized().format, t.compression()), (Format::Vscsi, Some(name)));
        let (records, lines, fault) = drain_by(&mut t, 1000);
        assert_eq!((records.len(), lines.len(), fault), (12_000, 12_000, None));
        assert_eq!((t.counts().requests, t.counts().flushes), (9_000, 3_000));
    }
}

#[test]
fn a_compressed_file_cut_short_is_refused_after_what_it_holds() {
    let text = lines(200_000);
    for (compress, name) in COMPRESSORS {
        let mut stored = compress(text.as_bytes());
        stored.truncate(stored.len() - 20);
        let mut t = trace(stored, Some(Format::Mqsim), &TraceOptions::default()).unwrap();
        let (records, _, fault) = drain_by(&mut t, 4096);
        assert!(records.len() > 100_000, "{name}: {}", records.len());
        let fault = fault.unwrap().to_string();
        assert!(
            fault.starts_with(&format!("t: the {name} stream is broken or cut short: ")),
            "{fault}"
        );
        assert!(!fault.contains('\n'), "{fault}");
    }
}

#[test]
fn the_digest_is_of_the_stored_bytes_read_to_the_end_or_not() {
    // The digest of "abc" from FIPS 180-2.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let folder = std::env::temp_dir().join(format!("ssdlab-digest-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::File::create(&path).unwrap().write_all(bytes).unwrap();
        path
    };
    assert_eq!(sha256(&file("abc", b"abc")).unwrap(), ABC);
    let text = lines(50_000);
    for (stored, name) in [
        (text.clone().into_bytes(), "plain"),
        (gzip(text.as_bytes()), "t.gz"),
        (zst(text.as_bytes()), "t.zst"),
        (xz(text.as_bytes()), "t.xz"),
    ] {
        let path = file(name, &stored);
        let mut t = open(&path, None).unwrap();
        let early = t.sha256().unwrap();
        drain(&mut t).unwrap();
        assert_eq!(t.progress(), Some(1.0), "{name}");
        assert_eq!(t.expected(), Some(50_000));
        // The file is gone, so the digest comes from reading.
        std::fs::remove_file(&path).unwrap();
        assert_eq!(t.sha256().unwrap(), early, "{name}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn progress_never_falls() {
    let folder = std::env::temp_dir().join(format!("ssdlab-progress-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("t");
    std::fs::write(&path, lines(100_000)).unwrap();
    let mut t = open(&path, None).unwrap();
    let (mut batch, mut last) = (Vec::new(), 0.0);
    while t.fill(&mut batch, 5_000).unwrap() > 0 {
        let now = t.progress().unwrap();
        assert!((last..=1.0).contains(&now));
        last = now;
    }
    assert_eq!(last, 1.0);
    std::fs::remove_dir_all(&folder).unwrap();
}
