//! Compresses output files.

use std::io::{self, Write};
use std::path::Path;

use liblzma::stream::{Check, Stream};
use ssdlab_base::memory::Reserved;

/// The compression of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    /// No compression.
    Plain,
    /// gzip, level 6.
    Gzip,
    /// zstd, level 3.
    Zstd,
    /// xz, level 6.
    Xz,
}

impl Packing {
    /// Returns the compression that a file name implies, and the name without that ending.
    pub fn of(path: &Path) -> (Packing, &Path) {
        let packing = match path.extension().and_then(|ending| ending.to_str()) {
            Some("gz") => Packing::Gzip,
            Some("zst" | "zstd") => Packing::Zstd,
            Some("xz") => Packing::Xz,
            _ => return (Packing::Plain, path),
        };
        (packing, path.file_stem().map_or(path, Path::new))
    }
}

/// A writer that compresses its output.
pub enum Packed<W: Write> {
    /// No compression.
    Plain(W),
    /// gzip.
    Gzip(flate2::write::GzEncoder<W>),
    /// zstd.
    Zstd(zstd::Encoder<'static, W>),
    /// xz.
    Xz(liblzma::write::XzEncoder<W>, Reserved),
}

/// The xz level of output files, and the memory that it takes (`xz --verbose --verbose -6`).
const XZ_LEVEL: u32 = 6;
const XZ_MEMORY: u64 = 94 << 20;

impl<W: Write> Packed<W> {
    /// Returns a writer that compresses into `to`.
    ///
    /// # Errors
    /// Fails if the compressor cannot be set up.
    pub fn new(packing: Packing, to: W) -> io::Result<Packed<W>> {
        Ok(match packing {
            Packing::Plain => Packed::Plain(to),
            Packing::Gzip => {
                Packed::Gzip(flate2::write::GzEncoder::new(to, flate2::Compression::new(6)))
            }
            Packing::Zstd => Packed::Zstd(zstd::Encoder::new(to, 3)?),
            Packing::Xz => {
                let memory = Reserved::new(XZ_MEMORY).map_err(io::Error::other)?;
                let stream = Stream::new_easy_encoder(XZ_LEVEL, Check::Crc64)?;
                Packed::Xz(liblzma::write::XzEncoder::new_stream(to, stream), memory)
            }
        })
    }

    /// Writes the remaining output. The caller must call it at the end.
    ///
    /// # Errors
    /// Fails if the output cannot be written.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Packed::Plain(mut to) => to.flush(),
            Packed::Gzip(packed) => packed.finish()?.flush(),
            Packed::Zstd(packed) => packed.finish()?.flush(),
            Packed::Xz(packed, _) => packed.finish()?.flush(),
        }
    }
}

impl<W: Write> Write for Packed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Packed::Plain(to) => to.write(bytes),
            Packed::Gzip(to) => to.write(bytes),
            Packed::Zstd(to) => to.write(bytes),
            Packed::Xz(to, _) => to.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Packed::Plain(to) => to.flush(),
            Packed::Gzip(to) => to.flush(),
            Packed::Zstd(to) => to.flush(),
            Packed::Xz(to, _) => to.flush(),
        }
    }
}
