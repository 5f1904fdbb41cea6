//! Divides a footprint: the hot sets first, then the ranges of the sweeps.

use ssdlab_base::quantity::Share;
use ssdlab_base::{Fault, units::SECTOR_BYTES};

use super::figures::Figures;
use super::shape::{Habits, Shape};
use crate::measure::READ_HOT;

/// The ranges of one kind of requests, in extents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranges {
    pub(super) hot: (u64, u64),
    pub(super) cold: (u64, u64),
    /// The least number of times that requests cover the complete hot set.
    pub(super) visits: u64,
}

/// The footprint of a twin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Layout {
    /// The number of extents, and the sectors in one.
    pub(super) extents: u64,
    pub(super) extent: u64,
    pub(super) read: Ranges,
    pub(super) write: Ranges,
}

/// The largest share of the moved sectors of one kind that sweeps may take.
const MOST_SWEPT: f64 = 0.95;

/// The least number of extents in a footprint; a share is then met to 0.2 %.
const EXTENTS: f64 = 256.0;
/// The least number of extents in a read-hot set from a source, if extents can be so small.
const HOT_EXTENTS: f64 = 64.0;
/// Sectors of the largest extent: 64 MiB.
const EXTENT_MOST: u64 = (64 << 20) / SECTOR_BYTES;

impl Layout {
    /// Returns the number of extents in the footprint, and the sectors in one. Extents are as large
    /// as possible, so that few requests reach the end of one, but enough of them must remain.
    pub(super) fn extents(figures: &Figures, shape: &Shape) -> (u64, u64) {
        let sectors = figures.footprint / SECTOR_BYTES as f64;
        let least = shape.extent.get() / SECTOR_BYTES;
        let enough = figures.read_hot.map_or(EXTENTS, |share| EXTENTS.max(HOT_EXTENTS / share));
        let mut extent = least;
        while extent * 2 <= EXTENT_MOST && sectors / (extent * 2) as f64 >= enough {
            extent *= 2;
        }
        (((sectors / extent as f64).round() as u64).max(1), extent)
    }

    /// Returns the ranges for these statistics; `read` and `write` are sectors moved.
    pub(super) fn new(
        figures: &Figures,
        shape: &Shape,
        read: f64,
        write: f64,
    ) -> Result<Layout, Fault> {
        let (extents, extent) = Layout::extents(figures, shape);
        let in_extents = |sectors: f64| sectors / extent as f64;
        let footprint = in_extents(figures.footprint / SECTOR_BYTES as f64);
        let (read, write) = (in_extents(read), in_extents(write));
        let hot = |habits: &Habits, moved: f64, visits: f64| {
            let wanted = habits.hot.get() * extents as f64;
            // A hot set is used more than once, or it is not hot.
            wanted.min(0.5 * moved / visits).round() as u64
        };
        let read_visits = if figures.read_hot.is_some() { READ_HOT } else { 1 };
        let read_hot = match figures.read_hot {
            Some(share) => ((share * footprint).round() as u64).max(1),
            None => hot(&shape.read, read, 1.0),
        };
        let write_hot = hot(&shape.write, write, 1.0).min(extents - read_hot.min(extents));
        let mostly_reads = 2 * figures.reads > figures.requests;
        let overlap = if mostly_reads { shape.overlap.read } else { shape.overlap.written };
        let both = shape.write.reach.is_none().then_some(overlap.get());
        let most_shared = both.map_or(f64::MAX, |both| both * read_hot as f64);
        let shared = (shape.shared.get() * read_hot.min(write_hot) as f64).min(most_shared);
        let shared = shared.round() as u64;
        let cold = read_hot + write_hot - shared;
        let rest = extents.saturating_sub(cold);
        let (cold_read, cold_write) = {
            let read = MOST_SWEPT * read - (read_hot * read_visits) as f64;
            let write = MOST_SWEPT * write - write_hot as f64;
            let read_set = figures
                .read_set
                .map(|bytes| in_extents(bytes / SECTOR_BYTES as f64) - read_hot as f64);
            let covered = |habits: &Habits| habits.reach.map_or(0.0, Share::get) * rest as f64;
            let wanted = read_set.unwrap_or(covered(&shape.read));
            let wanted_of_writes = |cold_read: u64| match both {
                None => covered(&shape.write),
                Some(both) => {
                    let read_too = both * (read_hot + cold_read) as f64 - shared as f64;
                    (rest - cold_read) as f64 + read_too
                }
            };
            share_out(rest, (wanted, read), (wanted_of_writes, write))
                .ok_or_else(|| too_little(figures))?
        };
        let first_write = read_hot - shared;
        Ok(Layout {
            extents,
            extent,
            read: Ranges {
                hot: (0, read_hot),
                cold: (cold, cold + cold_read),
                visits: read_visits,
            },
            write: Ranges {
                hot: (first_write, first_write + write_hot),
                cold: (extents - cold_write, extents),
                visits: 1,
            },
        })
    }
}

/// Divides `rest` extents between the sweeps of reads and writes, which together cover all of it.
/// Each gets the extents that it wants, up to those that it can move. The extents that writes want
/// depend on those of the reads.
fn share_out(
    rest: u64,
    (want_read, can_read): (f64, f64),
    (want_write, can_write): (impl Fn(u64) -> f64, f64),
) -> Option<(u64, u64)> {
    let whole = |extents: f64| extents.max(0.0).round().min(rest as f64) as u64;
    let (can_read, can_write) = (whole(can_read), whole(can_write));
    let read = whole(want_read).min(can_read);
    let write = whole(want_write(read)).max(rest - read).min(can_write);
    let read = read.max(rest - write);
    (read <= can_read).then_some((read, write))
}

fn too_little(figures: &Figures) -> Fault {
    Fault::new("", "footprint")
        .got(format!("{:.4e} B", figures.footprint))
        .expected("at most the hot sets and the bytes that requests move outside of them")
}
