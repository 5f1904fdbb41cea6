//! Generates a twin as a stream of requests.

use rand::Rng;
use ssdlab_base::rng::Stream;
use ssdlab_base::{Bytes, Fault, Nanos, units::SECTOR_BYTES};

use super::clock::Clock;
use super::direction::{Direction, Hot, Parts};
use super::figures::Figures;
use super::layout::{Layout, Ranges};
use super::shape::{Habits, Shape};
use super::sweep::Sweep;
use super::tilt::{self, Mix};
use crate::draw::Draw;
use crate::generate::sizes::Sizes;
use crate::generate::{Ranks, Scatter};
use crate::measure::LARGE;
use crate::record::{Op, Record};

/// The requests of one twin, identical on every machine.
pub(super) struct Requests {
    figures: Figures,
    done: u64,
    reads_done: u64,
    clock: Clock,
    read: Direction,
    write: Direction,
    scatter: Scatter,
    extent: u64,
    bits: u32,
    small_in_page: bool,
    /// Sectors from the start of a page to the twin's addresses.
    shift: u64,
    /// The first sector of the twin, and its queue.
    pub(super) first: u64,
    pub(super) queue: u8,
}

impl Requests {
    /// Returns the requests that `figures` and `shape` describe; `name` names their random streams.
    pub(super) fn new(
        figures: &Figures,
        shape: &Shape,
        name: &str,
        draw: Draw,
    ) -> Result<Requests, Fault> {
        let named = |what: &str| draw.stream(&format!("twin/{name}/{what}"));
        let reads = Plan::of(&shape.read, figures.mean_read, None, shape, "reads")?;
        let large = figures.large_writes;
        let writes = Plan::of(&shape.write, figures.mean_write, large, shape, "writes")?;
        let count = figures.requests - figures.reads;
        let moved = |plan: &Plan, count: u64| plan.taken * count as f64;
        let layout =
            Layout::new(figures, shape, moved(&reads, figures.reads), moved(&writes, count))?;
        let chance =
            |what: &str| [what, "sizes", "hot"].map(|part| named(&format!("{what}/{part}")));
        let only_hot = figures.read_hot.is_some();
        let own = shape.write.reach.is_none();
        let kinds = (only_hot, own || figures.read_set.is_some());
        let own = own || figures.write_set.is_some();
        let read = direction(shape, &reads, &layout, layout.read, kinds, chance("read"))?;
        let write =
            direction(shape, &writes, &layout, layout.write, (false, own), chance("write"))?;
        Ok(Requests {
            figures: *figures,
            done: 0,
            reads_done: 0,
            clock: Clock::new(shape, [figures.reads, count], figures.span, named("arrivals")),
            read,
            write,
            scatter: Scatter::new(
                layout.extents,
                draw.layout(&format!("twin/{name}/extents")).next_u64(),
            ),
            extent: layout.extent,
            bits: layout.extent.trailing_zeros(),
            small_in_page: shape.small_in_page,
            shift: shape.shift.get() / SECTOR_BYTES,
            first: 0,
            queue: 0,
        })
    }

    /// Returns the sectors from the twin's first one to the end of its footprint.
    pub(super) fn sectors(figures: &Figures, shape: &Shape) -> u64 {
        let (extents, extent) = Layout::extents(figures, shape);
        extents * extent + shape.shift.get().next_multiple_of(4096) / SECTOR_BYTES
    }

    /// Returns the number of requests left.
    pub(super) fn left(&self) -> u64 {
        self.figures.requests - self.done
    }

    /// Returns the next request. At least one must be left.
    pub(super) fn next(&mut self) -> Record {
        let reads_left = self.figures.reads - self.reads_done;
        let left = self.figures.requests - self.done;
        let (at, is_read) = self.clock.next();
        let (at, op) = (Nanos::from_ns(at), if is_read { Op::Read } else { Op::Write });
        let (place, sectors) = match op {
            Op::Read => self.read.next(&mut self.write.ring, reads_left),
            _ => self.write.next(&mut self.read.ring, left - reads_left),
        };
        self.reads_done += u64::from(op == Op::Read);
        self.done += 1;
        let extent = self.scatter.place(place >> self.bits) << self.bits;
        // No request crosses the end of its extent: a return may be longer than the first use of
        // its place.
        let within = (place & (self.extent - 1)).min(self.extent - u64::from(sectors));
        let within = match op {
            Op::Write if self.small_in_page => {
                within - over_page(self.shift + within, u64::from(sectors)).min(within)
            }
            _ => within,
        };
        let lba = self.first + self.shift + extent + within;
        Record { at, lba, sectors, op, queue: self.queue, hint: 0 }
    }
}

/// Returns by how many sectors a write that fits into a page of [`LARGE`] bytes crosses a page end.
fn over_page(first: u64, sectors: u64) -> u64 {
    const PAGE: u64 = LARGE / SECTOR_BYTES;
    if sectors > PAGE { 0 } else { (first % PAGE + sectors).saturating_sub(PAGE) }
}

/// The sizes of one kind of requests.
struct Plan<'a> {
    habits: &'a Habits,
    mix: Mix,
    /// Mean sectors of a sweep that a request consumes.
    taken: f64,
}

impl Plan<'_> {
    fn of<'a>(
        habits: &'a Habits,
        mean: f64,
        large: Option<f64>,
        shape: &Shape,
        what: &str,
    ) -> Result<Plan<'a>, Fault> {
        let mix = match large {
            Some(share) => tilt::to_mean_and_large(&habits.sizes, mean, share, LARGE),
            None => tilt::to_mean(&habits.sizes, mean),
        };
        let mix =
            mix.map_err(|fault| Fault { what: format!("{} of {what}", fault.what), ..fault })?;
        let align = shape.align.get();
        let taken = |(size, p): &(Bytes, f64)| size.get().next_multiple_of(align) as f64 * p;
        let mut taken = mix.iter().map(taken).sum::<f64>() / SECTOR_BYTES as f64;
        if align == SECTOR_BYTES {
            // A run begins anywhere in a page and leaves the rest of its last page: one page in
            // total.
            taken += 7.0 * (1.0 - habits.run.get());
        }
        Ok(Plan { habits, mix, taken })
    }
}

/// Returns one kind of requests with its ranges of the footprint.
fn direction(
    shape: &Shape,
    plan: &Plan<'_>,
    layout: &Layout,
    ranges: Ranges,
    (only_hot, own): (bool, bool),
    [stream, sizes, mut hot]: [Stream; 3],
) -> Result<Direction, Fault> {
    let habits = plan.habits;
    let (first, end) = ranges.hot;
    let align = shape.align.get() / SECTOR_BYTES;
    // A slot holds a request of the mean size.
    let slot = (plan.taken.ceil() as u64).next_power_of_two().clamp(8, layout.extent);
    let slots = (end - first) / slot;
    let hot = (slots > 0).then(|| Hot {
        first,
        slot,
        anywhere: shape.hot_anywhere,
        ranks: Ranks::new(slots, habits.theta),
        scatter: Scatter::new(slots, hot.next_u64()),
    });
    let most = plan.mix.iter().map(|(size, _)| size.get()).max().unwrap_or(0) / SECTOR_BYTES;
    let all = layout.extents * layout.extent;
    let sweep = |range, passes| Sweep::new(range, passes, layout.extent, most);
    Ok(Direction::new(Parts {
        stream,
        sizes: Sizes::new(&tilt::choices(&plan.mix), shape.extent, sizes)?,
        mean_taken: plan.taken,
        cold: if ranges.cold.0 == ranges.cold.1 {
            // There are no new places. Without a place to return to, requests sweep the whole
            // footprint.
            sweep((0, all), 0.0)
        } else {
            sweep(ranges.cold, ranges.passes)
        },
        visit: sweep(ranges.hot, ranges.visits),
        hot,
        lags: shape.lags.clone(),
        run: habits.run.get(),
        follow: habits.follow.get(),
        again: habits.again_drawn(),
        new_run: habits.new_run.get(),
        known_run: if only_hot { 0.0 } else { habits.known_run.get() },
        // If only hot places are used again, a continuation would leave them.
        along: if only_hot { 0.0 } else { habits.along_drawn() },
        along_lags: shape.along_lags.clone(),
        size_run: habits.size_run.get(),
        across: if only_hot { 0.0 } else { habits.across.get() },
        regulars: upto(&habits.regulars),
        only_hot,
        own: own.then_some([ranges.hot, ranges.cold]),
        align,
        end: all,
        in_order: shape.in_order.map_or(u64::MAX, |size| size.get() / SECTOR_BYTES),
    }))
}

/// Returns the cumulative sums of these shares, scaled so that the last is 1.
fn upto(shares: &[f64]) -> Vec<f64> {
    let all: f64 = shares.iter().sum();
    let mut sum = 0.0;
    let each = shares.iter().map(|share| {
        sum += share / all;
        sum
    });
    each.collect()
}
