//! Divides a footprint: the hot sets first, then the ranges of the sweeps.

use ssdlab_base::quantity::Share;
use ssdlab_base::{Fault, units::SECTOR_BYTES};

use super::figures::Figures;
use super::shape::{Habits, Shape};
use crate::measure::READ_HOT;

/// The ranges of one kind of requests, in sectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranges {
    pub(super) hot: (u64, u64),
    pub(super) cold: (u64, u64),
    /// The number of times that requests cover the complete hot set in order.
    pub(super) visits: f64,
    /// The number of times that the sweep covers the rest.
    pub(super) passes: f64,
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
const MAX_SWEPT: f64 = 0.98;

/// The least number of extents in a footprint.
const EXTENTS: f64 = 256.0;
/// Sectors of the largest extent: 64 MiB.
const MAX_EXTENT: u64 = (64 << 20) / SECTOR_BYTES;
/// The least number of parts in a footprint, and in a set of pages from a source. Sets consist of
/// parts of equal size; 256 meet a share to 0.2 %.
const PARTS: f64 = 256.0;
/// Sectors of the smallest part: a page of 4 KiB.
const MIN_PART: u64 = 8;

impl Layout {
    /// Returns the number of extents in the footprint, and the sectors in one. Extents are as large
    /// as possible, so that few requests reach the end of one, but enough of them must remain.
    pub(super) fn extents(figures: &Figures, shape: &Shape) -> (u64, u64) {
        let sectors = figures.footprint / SECTOR_BYTES as f64;
        let extent = largest(shape.extent.get() / SECTOR_BYTES, sectors / EXTENTS);
        (((sectors / extent as f64).round() as u64).max(1), extent)
    }

    /// Returns the sectors in a part of a footprint of this many extents.
    fn part(figures: &Figures, extent: u64) -> u64 {
        let sets = [figures.read_set, figures.write_set, figures.both()].into_iter().flatten();
        let shares = sets.map(|bytes| bytes / figures.footprint).chain(figures.read_hot);
        let smallest = shares.filter(|share| *share > 0.0).fold(1.0, f64::min);
        let sectors = figures.footprint / SECTOR_BYTES as f64;
        largest(MIN_PART, sectors * smallest / PARTS).min(extent)
    }

    /// Returns the ranges for these statistics; `read` and `write` are sectors moved.
    pub(super) fn new(
        figures: &Figures,
        shape: &Shape,
        read: f64,
        write: f64,
    ) -> Result<Layout, Fault> {
        let (extents, extent) = Layout::extents(figures, shape);
        let part = Layout::part(figures, extent);
        let parts = extents * (extent / part);
        let in_parts = |sectors: f64| sectors / part as f64;
        let set = |bytes: Option<f64>| bytes.map(|bytes| in_parts(bytes / SECTOR_BYTES as f64));
        let footprint = in_parts(figures.footprint / SECTOR_BYTES as f64);
        let (read, write) = (in_parts(read), in_parts(write));
        let (read_set, write_set) = (set(figures.read_set), set(figures.write_set));
        let hot = |habits: &Habits, moved: f64, set: Option<f64>| {
            let target = habits.hot.get() * parts as f64;
            // A hot set is used more than once, or it is not hot.
            target.min(0.5 * moved).min(0.5 * set.unwrap_or(f64::MAX)).round() as u64
        };
        let read_visits = if figures.read_hot.is_some() { READ_HOT } else { 1 };
        let read_hot = match figures.read_hot {
            Some(share) => ((share * footprint).round() as u64).max(1),
            None => hot(&shape.read, read, read_set),
        };
        let write_hot = hot(&shape.write, write, write_set).min(parts - read_hot.min(parts));
        let both = both(figures, shape, set(figures.both()));
        let shared = (shape.shared.get() * read_hot.min(write_hot) as f64)
            .min(both(read_hot).unwrap_or(f64::MAX))
            .round() as u64;
        let cold = read_hot + write_hot - shared;
        let rest = parts.saturating_sub(cold);
        let can_read = MAX_SWEPT * read - (read_hot * read_visits) as f64;
        let can_write = MAX_SWEPT * write - write_hot as f64;
        let covered = |habits: &Habits| habits.reach.map_or(0.0, Share::get) * rest as f64;
        let target = read_set.map_or(covered(&shape.read), |set| set - read_hot as f64);
        let target_of_writes = |cold_read: u64| match (write_set, both(read_hot + cold_read)) {
            (Some(set), _) => set - write_hot as f64,
            (None, Some(both)) => (rest - cold_read) as f64 + both - shared as f64,
            (None, None) => covered(&shape.write),
        };
        let both_known = read_set.is_some() && write_set.is_some();
        let (cold_read, cold_write) =
            share_out(rest, (target, can_read), (target_of_writes, can_write), both_known)
                .ok_or_else(|| too_little(figures))?;
        let range = |first: u64, end: u64| (first * part, end * part);
        let first_write = read_hot - shared;
        let reads = Ranges {
            hot: range(0, read_hot),
            cold: range(cold, cold + cold_read),
            visits: read_visits as f64,
            passes: 1.0,
        };
        let writes = Ranges {
            hot: range(first_write, first_write + write_hot),
            cold: range(parts - cold_write, parts),
            visits: 1.0,
            passes: 1.0,
        };
        let read = match (figures.read_cold, figures.read_hot) {
            // A page of the sweep is read once or twice, in the mean this often.
            (Some(share), _) => {
                let passes = (share * read).min(can_read) / cold_read.max(1) as f64;
                Ranges { passes: passes.clamp(1.0, 2.0), ..reads }
            }
            (None, Some(_)) => reads,
            (None, None) => reads.repeated(&shape.read, can_read * part as f64),
        };
        let write = writes.repeated(&shape.write, can_write * part as f64);
        Ok(Layout { extents, extent, read, write })
    }
}

impl Ranges {
    /// Repeats the sweeps as often as these habits say. `left` sectors are moved besides the first
    /// visit of the hot set.
    fn repeated(self, habits: &Habits, left: f64) -> Ranges {
        let length = |(first, end): (u64, u64)| (end - first) as f64;
        let (hot, cold) = (length(self.hot), length(self.cold));
        let known = (left - cold).max(0.0);
        let again = |share: Share, of: f64| if of > 0.0 { share.get() * known / of } else { 0.0 };
        Ranges {
            visits: self.visits + again(habits.rounds, hot),
            passes: self.passes + again(habits.scans, cold),
            ..self
        }
    }
}

/// Returns the largest power of two times `least` that is at most `most` and [`MAX_EXTENT`], but
/// not less than `least`.
fn largest(least: u64, most: f64) -> u64 {
    let mut size = least;
    while size * 2 <= MAX_EXTENT && (size * 2) as f64 <= most {
        size *= 2;
    }
    size
}

/// Returns how many parts are read and written, as a function of those that are read: `sourced`,
/// or a share of them. It returns `None` if the reach of the writes decides.
fn both(
    figures: &Figures,
    shape: &Shape,
    sourced: Option<f64>,
) -> impl Fn(u64) -> Option<f64> + use<> {
    let mostly_reads = 2 * figures.reads > figures.requests;
    let overlap = if mostly_reads { shape.overlap.read } else { shape.overlap.written };
    let share = shape.write.reach.is_none().then_some(overlap.get());
    move |read| sourced.or(share.map(|share| share * read as f64))
}

/// Divides `rest` parts between the sweeps of reads and writes, which together cover all of it.
/// Each gets the parts that it wants, up to those that it can move. The parts that writes want
/// depend on those of the reads. If both sets are known, neither takes over parts that the other
/// cannot move, and a tenth may be left out.
fn share_out(
    rest: u64,
    (want_read, can_read): (f64, f64),
    (want_write, can_write): (impl Fn(u64) -> f64, f64),
    both_known: bool,
) -> Option<(u64, u64)> {
    let whole = |parts: f64| parts.max(0.0).round().min(rest as f64) as u64;
    let (can_read, can_write) = (whole(can_read), whole(can_write));
    let read = whole(want_read).min(can_read);
    if both_known {
        let write = whole(want_write(read)).min(can_write);
        return (10 * (read + write) >= 9 * rest).then_some((read, write));
    }
    let write = whole(want_write(read)).max(rest - read).min(can_write);
    let read = read.max(rest - write);
    (read <= can_read).then_some((read, write))
}

fn too_little(figures: &Figures) -> Fault {
    Fault::new("", "footprint")
        .got(format!("{:.0} B", figures.footprint))
        .expected("at most the hot sets and the bytes that requests move outside of them")
        .hint("more requests move more bytes")
}
