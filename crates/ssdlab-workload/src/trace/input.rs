//! The stored bytes of a trace: decompressed, counted and hashed in one pass.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use liblzma::stream::{CONCATENATED, Stream};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};
use ssdlab_base::{Fault, Stop, reason};

use super::window::{self, Windowed};

/// Bytes read from the disk at a time.
const CHUNK: usize = 128 << 10;

/// The count and the hash of the stored bytes, while a decompressor owns their reader.
#[derive(Default)]
pub(crate) struct Meter {
    consumed: AtomicU64,
    digest: OnceLock<String>,
}

impl Meter {
    /// Returns the stored bytes read so far.
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// Returns the SHA-256 of the stored bytes, once all of them have been read.
    pub(crate) fn digest(&self) -> Option<&str> {
        self.digest.get().map(String::as_str)
    }
}

/// A reader that counts and hashes the bytes that it returns.
struct Metered<R> {
    inner: R,
    hasher: Option<Sha256>,
    meter: Arc<Meter>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(buffer)?;
        if got > 0 {
            self.meter.consumed.fetch_add(got as u64, Ordering::Relaxed);
            if let Some(hasher) = &mut self.hasher {
                hasher.update(&buffer[..got]);
            }
        } else if !buffer.is_empty()
            && let Some(hasher) = self.hasher.take()
        {
            // The cell is still empty: only this branch sets it, and it runs once.
            let _ = self.meter.digest.set(hex(hasher));
        }
        Ok(got)
    }
}

/// A stream of plain bytes, decompressed if necessary.
pub(crate) type Plain = Box<dyn Read + Send>;

/// Returns the plain bytes of `stored`, the meter of the stored bytes, and the compression's name.
pub(crate) fn plain<R: Read + Send + 'static>(
    mut stored: R,
) -> io::Result<(Plain, Arc<Meter>, Option<&'static str>)> {
    let mut start = Vec::with_capacity(window::ANNOUNCED_IN as usize);
    stored.by_ref().take(window::ANNOUNCED_IN).read_to_end(&mut start)?;
    let compression = recognize(&start);
    let announced = match compression {
        Some("zstd") => window::of_zstd(&start),
        Some("xz") => window::of_xz(&start),
        _ => None,
    };
    let meter = Arc::new(Meter::default());
    let metered = Metered {
        inner: io::Cursor::new(start).chain(stored),
        hasher: Some(Sha256::new()),
        meter: Arc::clone(&meter),
    };
    let plain: Plain = match compression {
        None => Box::new(metered),
        Some("gzip") => {
            Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(CHUNK, metered)))
        }
        Some("zstd") => Box::new(Windowed::new(announced, window::MAX_ZSTD, || {
            zstd::Decoder::with_buffer(BufReader::with_capacity(CHUNK, metered))
        })?),
        Some(_) => Box::new(Windowed::new(announced, window::MAX_XZ, || {
            let stream = Stream::new_stream_decoder(window::MAX_XZ, CONCATENATED)?;
            let buffered = BufReader::with_capacity(CHUNK, metered);
            Ok(liblzma::bufread::XzDecoder::new_stream(buffered, stream))
        })?),
    };
    Ok((plain, meter, compression))
}

/// The plain bytes of a stored file, decompressed if necessary.
pub struct Unpacked {
    plain: Plain,
    meter: Arc<Meter>,
}

impl Unpacked {
    /// Opens a file.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn open(path: &Path) -> io::Result<Unpacked> {
        let (plain, meter, _) = plain(File::open(path)?)?;
        Ok(Unpacked { plain, meter })
    }

    /// Returns the SHA-256 of the stored file, in hexadecimal, once all of it has been read.
    pub fn sha256(&self) -> Option<&str> {
        self.meter.digest()
    }
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.plain.read(buffer)
    }
}

/// Returns the compression that these first bytes announce.
fn recognize(magic: &[u8]) -> Option<&'static str> {
    const KNOWN: &[(&[u8], &str)] = &[
        (&[0x1f, 0x8b], "gzip"),
        (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"),
        (&[0xfd, b'7', b'z', b'X', b'Z', 0x00], "xz"),
    ];
    // pzstd begins with a skippable frame: 0x184d2a5?, least significant byte first.
    if let [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] = magic {
        return Some("zstd");
    }
    KNOWN.iter().find(|(bytes, _)| magic.starts_with(bytes)).map(|(_, name)| *name)
}

/// Returns a path for messages, on one line: file names may contain line ends.
pub(crate) fn shown(path: &Path) -> String {
    let plain = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    path.to_string_lossy().chars().map(plain).collect()
}

/// A pipe or a device. A read waits until bytes come or the user stops the run.
pub(crate) struct Patient {
    file: File,
    stop: Stop,
}

impl Patient {
    /// Reads from a file that [`open_file`] opened.
    pub(crate) fn new(file: File, stop: Stop) -> Patient {
        Patient { file, stop }
    }
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        /// The longest time until a read notices a stop: 50 ms.
        const UNHEARD: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        loop {
            if self.stop.is_set() {
                return Err(io::Error::other("stopped while it was waited for"));
            }
            // A pipe without a writer is neither ready nor at its end.
            let mut ready = [PollFd::new(&self.file, PollFlags::IN)];
            if poll(&mut ready, Some(&UNHEARD)).is_ok_and(|ready| ready > 0) {
                match self.file.read(buffer) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    read => return read,
                }
            }
        }
    }
}

/// Opens a file for reading, and refuses a directory. If the file is a pipe, does not wait for its
/// writer.
pub(crate) fn open_file(path: &Path) -> Result<File, Fault> {
    let fault = |what: String| Fault::new(shown(path), what);
    let mut how = File::options();
    how.read(true);
    if path.metadata().is_ok_and(|about| !about.is_file()) {
        how.custom_flags(OFlags::NONBLOCK.bits() as i32);
    }
    let file = how.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => fault("no such file".into()),
        _ => fault(format!("cannot be opened: {}", reason(error))),
    })?;
    match file.metadata() {
        Ok(about) if about.is_dir() => Err(fault("is a folder, not a trace file".into())),
        _ => Ok(file),
    }
}

/// Returns the SHA-256 of the stored bytes of a file, in lower-case hexadecimal.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn sha256(path: &Path) -> Result<String, Fault> {
    let mut file = open_file(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; CHUNK];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hex(hasher)),
            Ok(got) => hasher.update(&buffer[..got]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let what = format!("cannot be read: {}", reason(error));
                return Err(Fault::new(shown(path), what));
            }
        }
    }
}

fn hex(hasher: Sha256) -> String {
    use std::fmt::Write;
    hasher.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
