//! Computes the sectors that a request covers from the fields of a line.

use super::columns::{Field, Wrong};

/// The first sector and the number of sectors of a request.
pub(crate) type Extent = (u64, u32);

/// The number of sectors whose byte addresses fit in 64 bits.
pub(crate) const MAX_SECTORS: u64 = 1 << 55;
pub(crate) const SECTOR: u64 = ssdlab_base::units::SECTOR_BYTES;

const LESS: &str = "less than 2 TiB (2^32 sectors)";

/// Returns the extent of a request in bytes, and whether it had to be widened to whole sectors.
pub(crate) fn extent_of_bytes(
    offset: Field<'_>,
    size: Field<'_>,
) -> Result<(Extent, bool), Box<Wrong>> {
    bytes(offset, offset.whole()?, size, size.whole()?)
}

/// Returns the extent of `length` bytes from byte `start`. The caller has read both from these
/// columns.
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

/// Returns the extent of `length` bytes from byte `start`, and whether it had to be widened to
/// whole sectors. Returns `None` if the range is empty or too large.
pub(crate) fn whole_bytes(start: u64, length: u64) -> Option<(Extent, bool)> {
    let end = start.checked_add(length).filter(|_| length > 0)?;
    let (first, last) = (start / SECTOR, end.div_ceil(SECTOR));
    let widened = !start.is_multiple_of(SECTOR) || !end.is_multiple_of(SECTOR);
    Some(((first, u32::try_from(last - first).ok()?), widened))
}

/// Returns the extent of a request with its start in sectors and its length in bytes.
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

/// Returns the extent of a request in sectors.
pub(crate) fn extent_of_sectors(lba: Field<'_>, size: Field<'_>) -> Result<Extent, Box<Wrong>> {
    let (first, length) = (lba.whole()?, size.whole()?);
    if length == 0 {
        return Err(size.wrong("at least one sector"));
    }
    within(first, count(length, size)?, lba)
}

fn within(first: u64, sectors: u32, lba: Field<'_>) -> Result<Extent, Box<Wrong>> {
    match first.checked_add(u64::from(sectors)) {
        Some(end) if end <= MAX_SECTORS => Ok((first, sectors)),
        _ => Err(lba.wrong("an end below 2^55 sectors")),
    }
}

fn count(sectors: u64, size: Field<'_>) -> Result<u32, Box<Wrong>> {
    u32::try_from(sectors).map_err(|_| size.wrong(LESS))
}

/// The extent of a flush, which addresses no sectors.
pub(crate) const NOTHING: Extent = (0, 0);
