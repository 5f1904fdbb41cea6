//! The memory of a decompressor: its window, whose size the start of a stream announces.

use std::io::{self, Read};

use ssdlab_base::memory::{Growing, Reserved};

/// The most memory that an xz stream may need; `xz -9` needs 65 MiB.
pub(super) const MAX_XZ: u64 = 256 << 20;
/// The largest window of a zstd stream, which is zstd's own limit.
pub(super) const MAX_ZSTD: u64 = 1 << 27;
/// The assumed window if the start of the stream does not announce one.
const USUAL: u64 = 8 << 20;
/// The memory that a decompressor takes in addition to its window.
const BESIDES: u64 = 1 << 20;

/// The bytes at the start of a stream that announce its window.
pub(super) const ANNOUNCED_IN: u64 = 64;

/// Decompressed bytes, and the memory reserved for the window. Each byte read counts that much of
/// the window as in use.
pub(super) struct Windowed<R> {
    plain: R,
    window: Reserved,
    /// Memory of a later frame, whose window is not announced.
    more: Growing,
}

impl<R> Windowed<R> {
    /// Reserves the window that the start of a stream announces, then opens the decompressor. The
    /// decompressor refuses a window of more than `most`.
    ///
    /// # Errors
    /// Fails if less memory is left, or if `open` fails.
    pub(super) fn new(
        announced: Option<u64>,
        most: u64,
        open: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<Windowed<R>> {
        let window = announced.unwrap_or(USUAL);
        let window = if window > most { 0 } else { window + BESIDES };
        let window = Reserved::new(window).map_err(io::Error::other)?;
        Ok(Windowed { plain: open()?, window, more: Growing::new() })
    }
}

impl<R: Read> Read for Windowed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.plain.read(buffer)?;
        self.window.use_up(got as u64);
        self.more.by(got as u64).map_err(io::Error::other)?;
        Ok(got)
    }
}

/// Returns the window that the first frame of a zstd stream announces (RFC 8878, section 3.1.1.1).
pub(super) fn of_zstd(start: &[u8]) -> Option<u64> {
    let start = match start {
        // pzstd begins with a skippable frame that states its own length.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, length @ ..] => {
            let length = u32::from_le_bytes(*length.first_chunk()?);
            start.get(8 + usize::try_from(length).ok()?..)?
        }
        _ => start,
    };
    let (&descriptor, rest) = start.get(4..)?.split_first()?;
    if descriptor & 0x20 == 0 {
        let &window = rest.first()?;
        let base = 1 << (10 + (window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    // A frame in a single segment has a window as large as its content.
    let size = rest.get([0, 1, 2, 4][usize::from(descriptor & 3)]..)?;
    Some(match descriptor >> 6 {
        0 => (*size.first()?).into(),
        1 => u64::from(u16::from_le_bytes(*size.first_chunk()?)) + 256,
        2 => u32::from_le_bytes(*size.first_chunk()?).into(),
        _ => u64::from_le_bytes(*size.first_chunk()?),
    })
}

/// Returns the dictionary size that the first block of an xz stream announces (The .xz File Format,
/// sections 3.1 and 5.3.1).
pub(super) fn of_xz(start: &[u8]) -> Option<u64> {
    let block = start.get(12..)?;
    let (_size, flags) = (block.first()?, *block.get(1)?);
    let sizes = usize::from(flags & 0x40 != 0) + usize::from(flags & 0x80 != 0);
    let mut rest = &block[2..];
    for _ in 0..sizes {
        let last = rest.iter().position(|byte| byte & 0x80 == 0)?;
        rest = &rest[last + 1..];
    }
    // LZMA2 is the last filter of a chain. If it is the only one, its properties are one byte.
    match *rest {
        [0x21, 1, 40, ..] => Some(u64::from(u32::MAX)),
        [0x21, 1, bits @ ..40, ..] => Some((2 | u64::from(bits & 1)) << (bits / 2 + 11)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_zstd_stream_announces_its_window() {
        let packed = |text: &[u8], log, sized: bool| {
            let mut to = zstd::Encoder::new(Vec::new(), 3).unwrap();
            to.window_log(log).unwrap();
            if sized {
                to.set_pledged_src_size(Some(text.len() as u64)).unwrap();
            }
            to.write_all(text).unwrap();
            to.finish().unwrap()
        };
        for log in [10, 17, 27] {
            assert_eq!(of_zstd(&packed(&[7; 100], log, false)), Some(1 << log));
        }
        for length in [1, 255, 256, 300, 65_000, 70_000] {
            assert_eq!(
                of_zstd(&packed(&vec![7; length], 20, true)),
                Some(length as u64),
                "{length}"
            );
        }
        let skipped =
            [&[0x52, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 9, 9, 9, 9][..], &packed(b"x", 19, false)];
        assert_eq!(of_zstd(&skipped.concat()), Some(1 << 19));
        // Seven eighths more than a power of two.
        assert_eq!(of_zstd(&[0x28, 0xb5, 0x2f, 0xfd, 0, 0x0f]), Some((1 << 11) * 15 / 8));
        let whole = packed(&[7; 300], 20, true);
        assert!((0..6).all(|length| of_zstd(&whole[..length]).is_none()));
    }

    #[test]
    fn an_xz_stream_announces_its_dictionary() {
        for mebibytes in [1, 8, 24, 192] {
            let mut options = liblzma::stream::LzmaOptions::new_preset(0).unwrap();
            options.dict_size(mebibytes << 20);
            let mut filters = liblzma::stream::Filters::new();
            filters.lzma2(&options);
            let check = liblzma::stream::Check::Crc32;
            let stream = liblzma::stream::Stream::new_stream_encoder(&filters, check).unwrap();
            let mut to = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
            to.write_all(b"text").unwrap();
            let packed = to.finish().unwrap();
            assert_eq!(of_xz(&packed), Some(u64::from(mebibytes) << 20));
            assert!((0..17).all(|length| of_xz(&packed[..length]).is_none()));
        }
    }
}
