//! The sectors that a request covers, from what a line says of them.

use super::columns::{Field, Wrong};

/// The first sector and the number of sectors of a request.
pub(crate) type Extent = (u64, u32);

/// Sectors whose byte addresses fit 64 bits.
pub(crate) const SECTORS_MAX: u64 = 1 << 55;
pub(crate) const SECTOR: u64 = ssdlab_base::units::SECTOR_BYTES;

const LESS: &str = "less than 2 TiB (2^32 sectors)";

/// The extent of a request given in bytes, widened outward to whole sectors; whether it was.
pub(crate) fn extent_of_bytes(
    offset: Field<'_>,
    size: Field<'_>,
) -> Result<(Extent, bool), Box<Wrong>> {
    bytes(offset, offset.whole()?, size, size.whole()?)
}

/// The extent of so many bytes from a byte on, both already read from these columns.
pub(crate) fn bytes(
    offset: Field<'_>,
    start: u64,
    size: Field<'_>,
    length: u64,
) -> Result<(Extent, bool), Box<Wrong>> {
    if let Some(found) = whole_bytes(start, length) {
        return Ok(found);
    }
    Err(match start.checked_add(length) {
        _ if length == 0 => size.wrong("at least one byte"),
        None => offset.wrong("an end below 2^64 bytes"),
        Some(_) => size.wrong(LESS),
    })
}

/// The extent of so many bytes from a byte on, widened outward to whole sectors; whether it was.
/// `None` if there is none.
pub(crate) fn whole_bytes(start: u64, length: u64) -> Option<(Extent, bool)> {
    let end = start.checked_add(length).filter(|_| length > 0)?;
    let (first, last) = (start / SECTOR, end.div_ceil(SECTOR));
    let widened = !start.is_multiple_of(SECTOR) || !end.is_multiple_of(SECTOR);
    Some(((first, u32::try_from(last - first).ok()?), widened))
}

/// The extent of a request that begins at a sector and is so many bytes long.
pub(crate) fn extent_of_sector_and_bytes(
    lba: Field<'_>,
    size: Field<'_>,
) -> Result<(Extent, bool), Box<Wrong>> {
    let (first, length) = (lba.whole()?, size.whole()?);
    if length == 0 {
        return Err(size.wrong("at least one byte"));
    }
    let sectors = count(length.div_ceil(SECTOR), size)?;
    Ok((within(first, sectors, lba)?, !length.is_multiple_of(SECTOR)))
}

/// The extent of a request given in sectors.
pub(crate) fn extent_of_sectors(lba: Field<'_>, size: Field<'_>) -> Result<Extent, Box<Wrong>> {
    let (first, length) = (lba.whole()?, size.whole()?);
    if length == 0 {
        return Err(size.wrong("at least one sector"));
    }
    within(first, count(length, size)?, lba)
}

fn within(first: u64, sectors: u32, lba: Field<'_>) -> Result<Extent, Box<Wrong>> {
    match first.checked_add(u64::from(sectors)) {
        Some(end) if end <= SECTORS_MAX => Ok((first, sectors)),
        _ => Err(lba.wrong("an end below 2^55 sectors")),
    }
}

fn count(sectors: u64, size: Field<'_>) -> Result<u32, Box<Wrong>> {
    u32::try_from(sectors).map_err(|_| size.wrong(LESS))
}

/// The extent of a request that addresses nothing: a flush.
pub(crate) const NOTHING: Extent = (0, 0);
