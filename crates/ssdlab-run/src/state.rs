//! State files of aged drives: the contents of a drive, with the config and the seed that produced
//! them.
//!
//! A file consists of
//! 1. a line that names the format and the version of its layout,
//! 2. a line of JSON, the [`Header`], with the hash of the contents,
//! 3. a line with the SHA-256 of all lines before it, so that a reader can trust the header alone,
//! 4. the contents as one zstd frame,
//! 5. a line with the SHA-256 of every byte before it, including the frame.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Take, Write};
use std::path::Path;
use std::sync::atomic::Ordering;

use serde::de::DeserializeSeed;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use ssdlab_base::memory::Lacking;
use ssdlab_base::{Fault, reason};
use ssdlab_core::Drive;
use ssdlab_core::drive::{Media, Unchecked};
use ssdlab_core::saved::{Geometry, Limits};

use crate::control::Control;
use crate::files::{NewFile, no_file};
use crate::memory;
use crate::precondition::PreconditionResult;

/// The header of a state file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of ssdlab that wrote it.
    pub version: String,
    /// The device.
    pub device: String,
    /// The scheme under which the drive was aged.
    pub scheme: String,
    /// The seed, which decides the properties of each block.
    pub seed: u64,
    /// The whole config.
    pub config: Value,
    /// SHA-256 of the config's values.
    pub config_hash: String,
    /// Logical pages that hold data.
    pub mapped_pages: u64,
    /// Logical pages, which the host can address.
    pub logical_pages: u64,
    /// How preconditioning brought the drive into a steady state; none without preconditioning.
    pub steady: Option<PreconditionResult>,
    /// SHA-256 of the contents.
    pub contents_sha256: String,
}

/// The first line, without the version of the layout.
const MAGIC: &str = "ssdlab state ";
const LAYOUT: u32 = 12;
/// The first line has fewer bytes than this.
const MAX_MAGIC_BYTES: u64 = 64;
/// A header has fewer bytes than this.
const MAX_HEADER_BYTES: u64 = 1 << 20;
/// The length in bytes of a line with a hash.
const HASH_LINE: u64 = 65;
/// zstd's fastest ordinary level: mapping tables are large and compress well.
const LEVEL: i32 = 1;
/// The largest window of a frame, as a power of two. It exceeds the window of [`LEVEL`].
const MAX_WINDOW: u32 = 21;
/// The first bytes of states up to layout 6, which were zstd frames.
const BEFORE_7: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

fn hex(hash: &Sha256) -> String {
    hash.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes the contents of an idle drive to a new file. `known` holds the other fields of the
/// header. Returns the complete header.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn save(drive: Drive, known: Header, to: NewFile) -> Result<Header, Fault> {
    let media = drive.media().ok_or_else(|| Fault::new("state", "the drive is not idle"))?;
    let known = Header { mapped_pages: media.mapped_pages(known.logical_pages), ..known };
    let header = write_state(to.writer(), known, &media).map_err(|error| to.unwritable(error))?;
    to.persist()?;
    Ok(header)
}

/// Writes a state with these contents, the [`Media`] of a drive. `known` holds the other fields of
/// the header. Returns the complete header.
///
/// # Errors
/// When it cannot be written.
pub fn write_state(
    to: impl Write,
    known: Header,
    media: &impl Serialize,
) -> std::io::Result<Header> {
    // The hash of the contents precedes them in the file. Serialize the contents twice, because a
    // copy of them could take half of the memory.
    let nowhere = BufWriter::new(Hashed::new(std::io::sink()));
    let contents = postcard::to_io(media, nowhere).map_err(std::io::Error::other)?;
    let contents = contents.into_inner().map_err(std::io::Error::from)?;
    let header = Header {
        version: env!("CARGO_PKG_VERSION").into(),
        contents_sha256: hex(&contents.hash),
        ..known
    };
    let mut file = BufWriter::new(Hashed::new(to));
    writeln!(file, "{MAGIC}{LAYOUT}")?;
    serde_json::to_writer(&mut file, &header)?;
    file.write_all(b"\n")?;
    write_hash(&mut file)?;
    let mut frame = BufWriter::new(zstd::Encoder::new(&mut file, LEVEL)?);
    postcard::to_io(media, &mut frame).map_err(std::io::Error::other)?;
    frame.into_inner().map_err(std::io::Error::from)?.finish()?;
    write_hash(&mut file)?;
    Ok(header)
}

/// Writes the hash of all bytes before it.
fn write_hash<W: Write>(file: &mut BufWriter<Hashed<W>>) -> std::io::Result<()> {
    file.flush()?;
    let hash = hex(&file.get_ref().hash);
    writeln!(file, "{hash}")?;
    file.flush()
}

/// Reads and checks a state file. Returns its header and the contents of the drive; `None` if
/// stopped.
///
/// # Errors
/// When the file cannot be read, is not a state file, is damaged, or is impossible for its drive.
pub fn load_state(path: &Path, control: &Control) -> Result<Option<(Header, Media)>, Fault> {
    let state = StateFile::open(path, control)?;
    let header = state.header.clone();
    Ok(state.contents()?.map(|media| (header, media)))
}

/// Reads and checks a state as [`load_state`] does, from the bytes of a file of this name.
///
/// # Errors
/// Those of [`load_state`].
pub fn read_state(
    name: &str,
    file: &[u8],
    control: &Control,
) -> Result<Option<(Header, Media)>, Fault> {
    let state = StateFile::begin(name.into(), file, file.len() as u64, control)?;
    let header = state.header.clone();
    Ok(state.contents()?.map(|media| (header, media)))
}

/// A byte stream that hashes every byte it passes.
#[derive(Debug)]
struct Hashed<S> {
    stream: S,
    hash: Sha256,
}

impl<S> Hashed<S> {
    fn new(stream: S) -> Hashed<S> {
        Hashed { stream, hash: Sha256::new() }
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
        let count = self.stream.read(into)?;
        self.hash.update(&into[..count]);
        Ok(count)
    }
}

fn unreadable(name: &str, error: impl Display) -> Fault {
    Fault::new(name, format!("cannot be read: {}", reason(error)))
}

/// A file without its last line, and the hash of the bytes read so far.
struct Body<'a> {
    file: BufReader<Take<Box<dyn Read + 'a>>>,
    hash: Sha256,
    control: &'a Control,
    failed: Option<std::io::Error>,
}

impl Body<'_> {
    fn stopped(&self) -> bool {
        self.control.stop.load(Ordering::Relaxed)
    }

    /// Reads a line of fewer than `most` bytes, with its line end.
    fn line(&mut self, most: u64) -> std::io::Result<Vec<u8>> {
        let mut line = Vec::new();
        self.by_ref().take(most).read_until(b'\n', &mut line)?;
        Ok(line)
    }
}

impl Read for Body<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Body<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.stopped() {
            return Err(std::io::Error::other("stopped"));
        }
        if let Err(error) = self.file.fill_buf() {
            let copy = std::io::Error::new(error.kind(), error.to_string());
            self.failed.get_or_insert(copy);
            return Err(error);
        }
        Ok(self.file.buffer())
    }

    fn consume(&mut self, count: usize) {
        self.hash.update(&self.file.buffer()[..count]);
        self.file.consume(count);
    }
}

/// A state file whose header has been read and verified.
pub(crate) struct StateFile<'a> {
    /// The header.
    pub header: Header,
    name: String,
    geometry: Geometry,
    body: Body<'a>,
}

impl<'a> StateFile<'a> {
    /// Opens a state file and reads its header.
    ///
    /// # Errors
    /// When the file cannot be read, is not a state file, or has a damaged header.
    pub(crate) fn open(path: &Path, control: &'a Control) -> Result<StateFile<'a>, Fault> {
        let name = path.display().to_string();
        let fault = |what: &str| Fault::new(&name, what);
        let unreadable = |error| unreadable(&name, error);
        let about = path.metadata().map_err(unreadable)?;
        if let Some(what) = no_file(&about) {
            return Err(fault(what).expected("a state in a file, which can be read again"));
        }
        let file = File::open(path).map_err(unreadable)?;
        StateFile::begin(name, file, about.len(), control)
    }

    /// Reads the header of a file of this many bytes.
    fn begin(
        name: String,
        file: impl Read + 'a,
        bytes: u64,
        control: &'a Control,
    ) -> Result<StateFile<'a>, Fault> {
        let fault = |what: &str| Fault::new(&name, what);
        let unreadable = |error| unreadable(&name, error);
        let none = || fault("is no state file").expected("a file written by `ssdlab state save`");
        let file: Box<dyn Read + 'a> = Box::new(file);
        let file = file.take(bytes.saturating_sub(HASH_LINE));
        let file = BufReader::with_capacity(1 << 17, file);
        let mut body = Body { file, hash: Sha256::new(), control, failed: None };
        let first = body.line(MAX_MAGIC_BYTES).map_err(unreadable)?;
        if first.starts_with(&BEFORE_7) {
            return Err(fault("is no state file, or one of layout 6 or before")
                .expected(format!("one of layout {LAYOUT}"))
                .hint("save it again: this version cannot read it"));
        }
        let layout = std::str::from_utf8(&first).ok().and_then(|line| line.strip_prefix(MAGIC));
        let layout = layout.ok_or_else(none)?.trim_end_matches('\n');
        if layout != LAYOUT.to_string() {
            return Err(fault("is a state of another layout")
                .got(layout)
                .expected(LAYOUT)
                .hint("save it again with this version"));
        }
        let line = body.line(MAX_HEADER_BYTES).map_err(unreadable)?;
        let hash = format!("{}\n", hex(&body.hash));
        if body.line(HASH_LINE).map_err(unreadable)? != hash.as_bytes() {
            return Err(fault("is damaged: its header is not the one that was written"));
        }
        let wrong = |what: &dyn std::fmt::Display| fault("is damaged: its header").got(what);
        let header: Header = serde_json::from_slice(&line).map_err(|error| wrong(&error))?;
        let geometry = Geometry::deserialize(&header.config["geometry"]);
        let geometry: Geometry = geometry.map_err(|error| wrong(&error))?;
        geometry
            .check()
            .map_err(|(key, expected)| wrong(&format!("geometry.{key}")).expected(expected))?;
        if ssdlab_config::hash_of(&header.config).as_ref() != Some(&header.config_hash) {
            return Err(fault("is inconsistent: the hash of its config is another"));
        }
        Ok(StateFile { header, name, geometry, body })
    }

    /// Reads the contents of the drive and checks the whole file; `None` if stopped.
    ///
    /// # Errors
    /// When the file is damaged, or its contents are impossible for a drive of its config.
    pub(crate) fn contents(mut self) -> Result<Option<Media>, Fault> {
        let fault = |what: String| Fault::new(&self.name, what);
        let lacks_memory = |lacking: Lacking| {
            fault("holds more than there is memory for".into())
                .expected(format!("more memory: {lacking}"))
        };
        let available = memory::available();
        let bytes = available.map_or(u64::MAX, |limit| limit.bytes);
        let limits = Limits::new(&self.geometry, bytes);
        let read = decode(&mut self.body, &limits);
        // Check the hash first: damage explains more than a failure to decode.
        let as_written = self.body.rest_is_as_written();
        if self.body.stopped() {
            return Ok(None);
        }
        if let Some(error) = &self.body.failed {
            return Err(unreadable(&self.name, error));
        }
        if let (Some(need), Some(left)) = (limits.lacked(), available) {
            return Err(lacks_memory(Lacking { need, left }));
        }
        if !as_written {
            return Err(fault("is damaged: it is not what was written".into()));
        }
        let inconsistent = |what: String| fault(format!("is inconsistent: {what}"));
        let read = read.map_err(|error| inconsistent(reason(error)))?;
        if read.contents_sha256 != self.header.contents_sha256 {
            return Err(inconsistent("its contents are not those of its header".into()));
        }
        let need = Unchecked::check_takes(&self.geometry);
        if let Some(left) = memory::available().filter(|left| left.bytes < need) {
            return Err(lacks_memory(Lacking { need, left }));
        }
        let media = read.media.check(&self.geometry).map_err(inconsistent)?;
        let (mapped, logical) = (self.header.mapped_pages, self.header.logical_pages);
        if !(mapped.max(1)..=u64::from(media.logical_pages())).contains(&logical) {
            let of = media.logical_pages();
            return Err(inconsistent(format!("{logical} of {of} pages can be addressed")));
        }
        let of = media.mapped_pages(logical);
        if mapped != of {
            return Err(inconsistent(format!("{of} pages hold data, and {mapped} are counted")));
        }
        Ok(Some(media))
    }
}

/// The contents of a frame, and their hash.
struct Decoded {
    media: Unchecked,
    contents_sha256: String,
}

/// Decodes the only frame of a body. It holds the contents of a drive and nothing else.
fn decode(body: &mut Body<'_>, limits: &Limits<'_>) -> std::io::Result<Decoded> {
    let mut frame = zstd::Decoder::with_buffer(body)?.single_frame();
    frame.window_log_max(MAX_WINDOW)?;
    let mut contents = BufReader::new(Hashed::new(frame));
    // The deserializer reads a floating-point number in one piece.
    let mut number = [0; size_of::<f64>()];
    let flavor = postcard::de_flavors::io::io::IOReader::new(&mut contents, &mut number);
    let mut deserializer = postcard::Deserializer::from_flavor(flavor);
    let media = Unchecked::reader(limits).deserialize(&mut deserializer);
    let media = media.map_err(|_| std::io::Error::other("it holds no contents of its drive"))?;
    if !contents.fill_buf()?.is_empty() {
        return Err(std::io::Error::other("it holds more than the contents of a drive"));
    }
    let contents = contents.into_inner();
    let contents_sha256 = hex(&contents.hash);
    if !contents.stream.finish().fill_buf()?.is_empty() {
        return Err(std::io::Error::other("extra bytes follow the contents of the drive"));
    }
    Ok(Decoded { media, contents_sha256 })
}

impl Body<'_> {
    /// Reads the rest. Returns whether the last line is the hash of all bytes before it.
    fn rest_is_as_written(&mut self) -> bool {
        if std::io::copy(self, &mut std::io::sink()).is_err() {
            return false;
        }
        let file = self.file.get_mut();
        file.set_limit(HASH_LINE + 1);
        let mut last = Vec::new();
        let read = file.read_to_end(&mut last);
        read.is_ok() && last == format!("{}\n", hex(&self.hash)).as_bytes()
    }
}

/// The key of `start` that belongs to the run: how the drive answers reads of unwritten pages.
pub(crate) const START_KEY_OF_RUN: &str = "unwritten_reads";

/// Returns the `start` table of a state file, without [`START_KEY_OF_RUN`].
///
/// # Errors
/// When the file cannot be read or is not a state file.
pub(crate) fn start_of(path: &Path) -> Result<Value, Fault> {
    let mut start = header(path)?.config["start"].take();
    start.as_object_mut().map(|keys| keys.remove(START_KEY_OF_RUN));
    Ok(serde_json::json!({ "start": start }))
}

/// Returns the hash of the contents from the header of a state file that a drive was made from.
///
/// # Errors
/// When the file can no longer be read.
pub(crate) fn contents_sha256(path: &Path) -> Result<String, Fault> {
    header(path).map(|header| header.contents_sha256)
}

fn header(path: &Path) -> Result<Header, Fault> {
    StateFile::open(path, &Control::new(0)).map(|state| state.header)
}
