//! Aged drives in files: what a drive holds, with the config and the seed that made it.
//!
//! A file is a zstd stream: a line of JSON that says what it is and how its contents hash, then
//! the contents.

use std::fs::File;
use std::io::ErrorKind::UnexpectedEof;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use ssdlab_base::Fault;
use ssdlab_core::Drive;
use ssdlab_core::drive::Media;

use crate::files::NewFile;
use crate::precondition::Settled;

/// What a state file says of itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// `ssdlab state`.
    pub what: String,
    /// The version of the layout.
    pub layout: u32,
    /// Version of ssdlab that wrote it.
    pub version: String,
    /// The device.
    pub device: String,
    /// The scheme under which the drive was aged.
    pub scheme: String,
    /// The seed; what each block is depends on it.
    pub seed: u64,
    /// The whole config.
    pub config: Value,
    /// SHA-256 of the config's values.
    pub config_hash: String,
    /// Pages that hold data.
    pub mapped_pages: u64,
    /// Pages that the host can address.
    pub logical_pages: u64,
    /// How the drive became steady, if it was overwritten until it was.
    pub steady: Option<Settled>,
    /// SHA-256 of the contents.
    pub contents_sha256: String,
}

const WHAT: &str = "ssdlab state";
const LAYOUT: u32 = 6;
/// A header is shorter than this.
const HEADER_MOST: usize = 1 << 20;
/// zstd's fastest ordinary level: maps are large and compress well.
const LEVEL: i32 = 1;

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes what an idle drive holds to a new file, of which this is known besides; what the file says of
/// itself.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn save(drive: Drive, known: Header, to: NewFile) -> Result<Header, Fault> {
    let mapped_pages = drive.ftl().map.mapped().into();
    let media = drive.media().ok_or_else(|| Fault::new("state", "the drive is not idle"))?;
    // Its hash stands before it: it is gone through twice, for it may be half as large as memory.
    let nowhere = BufWriter::new(Hashed::new(std::io::sink()));
    let hashed = postcard::to_io(&media, nowhere).map_err(|error| to.unwritable(error))?;
    let header = Header {
        what: WHAT.into(),
        layout: LAYOUT,
        version: env!("CARGO_PKG_VERSION").into(),
        mapped_pages,
        contents_sha256: hex(hashed.into_inner().expect("nowhere takes everything").hash),
        ..known
    };
    write(to.file(), &header, &media).map_err(|error| to.unwritable(error))?;
    to.persist()?;
    Ok(header)
}

fn write(file: &File, header: &Header, media: &Media) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(header).expect("a header can be written");
    line.push(b'\n');
    let mut stream = zstd::Encoder::new(file, LEVEL)?;
    stream.write_all(&line)?;
    let mut contents = BufWriter::new(stream);
    postcard::to_io(media, &mut contents).map_err(std::io::Error::other)?;
    contents.into_inner()?.finish().map(drop)
}

/// Reads a state file: what it says of itself, and what the drive held.
///
/// # Errors
/// When it cannot be read, is no state file, or is damaged.
pub fn load_state(path: &Path) -> Result<(Header, Media), Fault> {
    let fault = |what: &str| Fault::new(path.display().to_string(), what);
    let (header, stream) = open_state(path)?;
    let mut stream = BufReader::new(Hashed::new(stream));
    // A number of floating point is taken as a whole.
    let mut number = [0; size_of::<f64>()];
    let media = postcard::from_io((&mut stream, &mut number)).map(|(media, _)| media);
    // What is left is no drive's.
    let rest = std::io::copy(&mut stream, &mut std::io::sink());
    let Hashed { hash, failed, .. } = stream.into_inner();
    if let Some(error) = failed.or(rest.err()) {
        return Err(fault("is damaged").got(error));
    }
    if hex(hash) != header.contents_sha256 {
        return Err(fault("is damaged: its contents are not those that were written"));
    }
    let media = media.map_err(|_| fault("is damaged").expected("the contents of a drive"))?;
    Ok((header, media))
}

/// A stream, the hash of what went through it, and why no more could be read.
#[derive(Debug)]
struct Hashed<S> {
    stream: S,
    hash: Sha256,
    failed: Option<std::io::Error>,
}

impl<S> Hashed<S> {
    fn new(stream: S) -> Hashed<S> {
        Hashed { stream, hash: Sha256::new(), failed: None }
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.stream.write(bytes)?;
        self.hash.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.flush()
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self.stream.read(into) {
            Ok(count) => {
                self.hash.update(&into[..count]);
                Ok(count)
            }
            Err(error) => {
                let told = std::io::Error::new(error.kind(), error.to_string());
                self.failed.get_or_insert(error);
                Err(told)
            }
        }
    }
}

/// How the drive of a state file began: its keys of `start`, but for what becomes of reads of pages
/// that were never written.
///
/// # Errors
/// When it cannot be read or is no state file.
pub(crate) fn start_of(path: &Path) -> Result<Value, Fault> {
    let mut start = open_state(path)?.0.config["start"].take();
    start.as_object_mut().map(|keys| keys.remove("preload"));
    Ok(serde_json::json!({ "start": start }))
}

/// What a state file says of itself, and the rest of it.
fn open_state(path: &Path) -> Result<(Header, impl Read), Fault> {
    let fault = |what: &str| Fault::new(path.display().to_string(), what);
    let unreadable = |error: &dyn std::fmt::Display| fault("cannot be read").got(error);
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let none = || fault("is no state file").expected("a file written by `ssdlab state save`");
    let stream = zstd::Decoder::new(file).map_err(|_| none())?;
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    let mut byte = [0];
    while line.last() != Some(&b'\n') {
        match stream.read(&mut byte) {
            Ok(1) if line.len() < HEADER_MOST => line.push(byte[0]),
            Ok(_) => return Err(none()),
            // Something was packed, and ends early.
            Err(error) if error.kind() == UnexpectedEof => {
                return Err(fault("is damaged").got(error));
            }
            Err(_) => return Err(none()),
        }
    }
    let header: Header = serde_json::from_slice(&line).map_err(|_| none())?;
    if header.what != WHAT || header.layout != LAYOUT {
        return Err(none().got(format!("{} of layout {}", header.what, header.layout)));
    }
    Ok((header, stream))
}

/// The hash of what a state file holds, as the file says, from which a drive has been made.
///
/// # Errors
/// When it can no longer be read.
pub(crate) fn contents_sha256(path: &Path) -> Result<String, Fault> {
    open_state(path).map(|(header, _)| header.contents_sha256)
}
