//! The series: one row for every interval of a run.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::{Fault, Nanos, SimTime};
use ssdlab_core::account::{Cause, OpKind};
use ssdlab_core::stats::Ended;
use ssdlab_core::{Drive, Op};

use super::table::{Cell, Kind, Table};

/// Figures of one interval. A request belongs to the interval in which it ended.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Interval {
    /// Start of the interval, in seconds since the end of the warm-up.
    pub start_s: f64,
    /// End of the interval, in seconds since the end of the warm-up.
    pub end_s: f64,
    /// Reads that ended.
    pub reads: u64,
    /// Writes that ended.
    pub writes: u64,
    /// Megabytes (10⁶ bytes) that these requests read and wrote.
    pub mb: f64,
    /// Mean latency of the reads in microseconds; like the latencies below, null without any.
    pub read_mean_us: Option<f64>,
    /// 99th percentile of the reads' latencies in microseconds, to two significant digits.
    pub read_p99_us: Option<f64>,
    /// Largest latency of a read in microseconds, to two significant digits.
    pub read_max_us: Option<f64>,
    /// Mean latency of the writes in microseconds.
    pub write_mean_us: Option<f64>,
    /// 99th percentile of the writes' latencies in microseconds, to two significant digits.
    pub write_p99_us: Option<f64>,
    /// Largest latency of a write in microseconds, to two significant digits.
    pub write_max_us: Option<f64>,
    /// Pages programmed for the host.
    pub host_pages: u64,
    /// Pages programmed in all.
    pub pages: u64,
    /// Write amplification: `pages` divided by `host_pages`; null if `host_pages` is 0.
    pub waf: Option<f64>,
    /// Blocks that garbage collection emptied.
    pub gc_blocks: u64,
    /// Valid pages that garbage collection moved.
    pub gc_pages: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Attempts of reads after the first attempt.
    pub retries: u64,
    /// Mean share of the time in which the array units were in service.
    pub die_busy: f64,
    /// Mean share of the time in which the buses were in service.
    pub bus_busy: f64,
    /// Requests that have arrived and not ended at the end of the interval.
    pub in_system: u64,
    /// Free pages of the lowest type (LSB) at the end of the interval.
    pub free_0: u64,
    /// Free pages of the second type; like the types below, null where a cell has fewer types.
    pub free_1: Option<u64>,
    /// Free pages of the third type.
    pub free_2: Option<u64>,
    /// Free pages of the fourth type.
    pub free_3: Option<u64>,
}

/// The latencies of one kind of request in one interval.
#[derive(Clone, Debug)]
struct Latencies {
    sum_ns: u128,
    histogram: Histogram<u32>,
}

impl Default for Latencies {
    fn default() -> Latencies {
        // Two significant digits keep a thousand intervals within some tens of megabytes.
        Latencies { sum_ns: 0, histogram: Histogram::new(2).expect("a number of digits") }
    }
}

impl Latencies {
    fn add(&mut self, other: &Latencies) {
        self.sum_ns += other.sum_ns;
        self.histogram.add(&other.histogram).expect("a histogram that grows as needed");
    }

    fn of(&self, figure: impl Fn(&Histogram<u32>) -> u64) -> Option<f64> {
        (!self.histogram.is_empty()).then(|| figure(&self.histogram) as f64 / 1e3)
    }

    fn mean(&self) -> Option<f64> {
        let count = self.histogram.len();
        (count > 0).then(|| self.sum_ns as f64 / count as f64 / 1e3)
    }
}

/// The drive's counters since the statistics began:
/// - pages programmed for the host, and in all;
/// - blocks and pages of garbage collection;
/// - erases;
/// - retries;
/// - mean nanoseconds in service of an array unit, and of a bus.
type Counters = [u64; 8];

fn counters(drive: &Drive, now: SimTime) -> Counters {
    let ops = drive.flash().counts.ops();
    let (units, buses) = drive.flash().busy_counted(now);
    let mean = |busy: &[u64]| busy.iter().sum::<u64>() / busy.len() as u64;
    let programs = ops[OpKind::Program as usize];
    let (gc_blocks, gc_pages) = drive.stats().gc;
    [
        programs[Cause::Host as usize],
        programs.iter().sum(),
        gc_blocks,
        gc_pages,
        ops[OpKind::Erase as usize].iter().sum(),
        drive.flash().error_counts().0,
        mean(&units),
        mean(&buses),
    ]
}

/// One interval, open or closed.
#[derive(Clone, Debug, Default)]
struct Row {
    /// Start and end of the interval, since the series began.
    start: Nanos,
    end: Nanos,
    read: Latencies,
    write: Latencies,
    sectors: u64,
    counters: Counters,
    in_system: u64,
    /// Free pages at the end of the interval, by type.
    free: Vec<u64>,
}

impl Row {
    fn join(&mut self, next: &Row) {
        self.end = next.end;
        self.read.add(&next.read);
        self.write.add(&next.write);
        self.sectors += next.sectors;
        self.counters.iter_mut().zip(next.counters).for_each(|(sum, more)| *sum += more);
        (self.in_system, self.free) = (next.in_system, next.free.clone());
    }

    fn to_interval(&self) -> Interval {
        let (read, write) = (&self.read, &self.write);
        let [host_pages, pages, gc_blocks, gc_pages, erases, retries, die_ns, bus_ns] =
            self.counters;
        let span = (self.end - self.start).as_ns().max(1) as f64;
        let p99 = |h: &Histogram<u32>| h.value_at_quantile(0.99);
        Interval {
            start_s: self.start.as_secs(),
            end_s: self.end.as_secs(),
            reads: read.histogram.len(),
            writes: write.histogram.len(),
            mb: (self.sectors * ssdlab_base::units::SECTOR_BYTES) as f64 / 1e6,
            read_mean_us: read.mean(),
            read_p99_us: read.of(p99),
            read_max_us: read.of(Histogram::max),
            write_mean_us: write.mean(),
            write_p99_us: write.of(p99),
            write_max_us: write.of(Histogram::max),
            host_pages,
            pages,
            waf: (host_pages > 0).then(|| pages as f64 / host_pages as f64),
            gc_blocks,
            gc_pages,
            erases,
            retries,
            die_busy: (die_ns as f64 / span).min(1.0),
            bus_busy: (bus_ns as f64 / span).min(1.0),
            in_system: self.in_system,
            free_0: self.free.first().copied().unwrap_or_default(),
            free_1: self.free.get(1).copied(),
            free_2: self.free.get(2).copied(),
            free_3: self.free.get(3).copied(),
        }
    }
}

/// The first interval length of a series that chooses its own length.
const FIRST: Nanos = Nanos::from_us(100);
/// The most rows of a series that chooses its own length.
const MAX_ROWS: usize = 400;
/// The most rows of a series that begins with a requested length.
const MAX_REQUESTED_ROWS: usize = 2000;
/// The most rows of a file. An interval that is too short by mistake would fill the disk.
const MAX_FILE_ROWS: u64 = 10_000_000;
/// Returns whether a file would have too many intervals of this length in this time.
pub(crate) fn is_too_long(interval: Nanos, time: Nanos) -> bool {
    time.as_ns() / interval.as_ns() > MAX_FILE_ROWS
}

/// Returns the fault for an interval that is too short.
pub(crate) fn too_many(interval: Nanos) -> Fault {
    let what = format!("a series of more than {MAX_FILE_ROWS} intervals");
    Fault::new("--interval", what).got(interval).expected("a longer interval")
}

/// Destination of the closed intervals.
enum Destination {
    /// Kept in memory. When there are this many, every two neighbors are merged.
    Held(Vec<Row>, usize),
    /// Written to a file; the number of rows so far.
    Written(Box<Table>, u64),
}

/// The intervals of a run. In memory, they grow longer as the run goes on; in a file, they do not.
pub(super) struct Series {
    span: Nanos,
    destination: Destination,
    open: Row,
    before: Counters,
    began: SimTime,
}

impl Series {
    /// Creates a series in memory that begins with this interval. Without one, it begins with
    /// [`FIRST`] and has at most [`MAX_ROWS`] rows.
    pub(super) fn held(interval: Option<Nanos>, drive: &Drive) -> Series {
        let most = if interval.is_some() { MAX_REQUESTED_ROWS } else { MAX_ROWS };
        Series::new(interval.unwrap_or(FIRST), Destination::Held(Vec::new(), most), drive)
    }

    /// Creates a series of intervals of this length that is written to a file.
    pub(super) fn written(interval: Nanos, table: Table, drive: &Drive) -> Series {
        Series::new(interval, Destination::Written(Box::new(table), 0), drive)
    }

    fn new(span: Nanos, destination: Destination, drive: &Drive) -> Series {
        let began = drive.now();
        Series { span, destination, open: Row::default(), before: counters(drive, began), began }
    }

    /// Returns the end of the open interval.
    pub(super) fn due(&self) -> SimTime {
        self.began + self.open.start + self.span
    }

    /// Returns the table that the series is written to.
    pub(super) fn table(&self) -> Option<&Table> {
        match &self.destination {
            Destination::Held(..) => None,
            Destination::Written(table, _) => Some(table),
        }
    }

    /// Refuses a file that would have too many rows by the time `to`.
    ///
    /// # Errors
    /// When it would have too many rows.
    pub(super) fn check_rows_until(&self, to: SimTime) -> Result<(), Fault> {
        if matches!(self.destination, Destination::Written(..))
            && is_too_long(self.span, to - self.began)
        {
            return Err(too_many(self.span));
        }
        Ok(())
    }

    /// Counts a request that ended in the open interval.
    pub(super) fn count(&mut self, ended: &Ended) {
        let latencies = match ended.request.op {
            Op::Read => &mut self.open.read,
            Op::Write => &mut self.open.write,
            Op::Trim | Op::Flush => return,
        };
        let latency = (ended.end - ended.request.arrival).as_ns();
        latencies.sum_ns += u128::from(latency);
        latencies.histogram.record(latency).expect("a histogram that grows as needed");
        self.open.sectors += u64::from(ended.request.sectors);
    }

    /// Prepares for a reset of the drive's counters. The counts of the open interval so far are
    /// carried over.
    pub(super) fn before_reset(&mut self, drive: &Drive) {
        let counted = counters(drive, drive.now()).into_iter();
        let owed = self.before.iter_mut().zip(counted);
        owed.for_each(|(before, counted)| *before = before.wrapping_sub(counted));
    }

    /// Closes the open interval at `now` and opens the next one.
    ///
    /// # Errors
    /// When the file cannot be written, or has too many rows.
    pub(super) fn close(
        &mut self,
        drive: &Drive,
        now: SimTime,
        in_system: u64,
    ) -> Result<(), Fault> {
        let counted = counters(drive, now);
        let end = now - self.began;
        let mut row = std::mem::take(&mut self.open);
        row.end = end;
        row.in_system = in_system;
        row.counters = std::array::from_fn(|at| counted[at].wrapping_sub(self.before[at]));
        row.free = drive.ftl().free_by_type();
        (self.before, self.open.start) = (counted, end);
        match &mut self.destination {
            Destination::Held(rows, most) => {
                rows.push(row);
                if rows.len() == *most {
                    halve(rows);
                    self.span = self.span * 2;
                }
                Ok(())
            }
            Destination::Written(_, MAX_FILE_ROWS) => Err(too_many(self.span)),
            Destination::Written(table, rows) => {
                *rows += 1;
                table.push(row.to_interval().row())
            }
        }
    }

    /// Closes the open interval if it is not empty, and completes the file. Returns all intervals
    /// in memory.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn finish(
        mut self,
        drive: &Drive,
        in_system: u64,
        about: &[(&str, String)],
    ) -> Result<Vec<Interval>, Fault> {
        let now = drive.now();
        if now - self.began > self.open.start {
            self.close(drive, now, in_system)?;
        }
        match self.destination {
            Destination::Held(rows, _) => Ok(rows.iter().map(Row::to_interval).collect()),
            Destination::Written(table, _) => table.close(about).map(|()| Vec::new()),
        }
    }
}

/// Merges every two neighbors.
fn halve(rows: &mut Vec<Row>) {
    let joined = rows.chunks(2).map(|pair| {
        let mut row = pair[0].clone();
        pair[1..].iter().for_each(|next| row.join(next));
        row
    });
    *rows = joined.collect();
}

/// Returns a remark for the user if the shown intervals are longer than the requested ones.
pub(super) fn remark(requested: Nanos, shown: &[Interval]) -> Option<String> {
    let first = shown.first()?;
    let span = Nanos::from_ns(((first.end_s - first.start_s) * 1e9).round() as u64);
    (span > requested).then(|| {
        format!(
            "--interval {requested} makes over {MAX_REQUESTED_ROWS} intervals: in the report several are \
             joined to one of {span} (--series FILE has each)"
        )
    })
}

/// Returns the columns of a series file.
pub(super) fn columns() -> Vec<(String, Kind)> {
    let named = Interval::default().cells();
    named.into_iter().map(|(name, cell)| (name.to_owned(), kind(cell))).collect()
}

fn kind(cell: Cell) -> Kind {
    match cell {
        Cell::Whole(_) => Kind::Whole,
        Cell::Count(_) => Kind::Count,
        Cell::Real(_) => Kind::Real,
        Cell::Text(_) => Kind::Text,
    }
}

impl Interval {
    /// Returns the row of a file.
    pub(super) fn row(&self) -> impl Iterator<Item = Cell> {
        self.cells().into_iter().map(|(_, cell)| cell)
    }

    /// Returns the row with the names of its columns.
    fn cells(&self) -> Vec<(&'static str, Cell)> {
        let whole = |count: u64| Cell::Whole(count as i64);
        let maybe = |value: Option<f64>| Cell::Real(value.unwrap_or(f64::NAN));
        let pages = |count: Option<u64>| Cell::Count(count.map(|pages| pages as i64));
        vec![
            ("start_s", Cell::Real(self.start_s)),
            ("end_s", Cell::Real(self.end_s)),
            ("reads", whole(self.reads)),
            ("writes", whole(self.writes)),
            ("mb", Cell::Real(self.mb)),
            ("read_mean_us", maybe(self.read_mean_us)),
            ("read_p99_us", maybe(self.read_p99_us)),
            ("read_max_us", maybe(self.read_max_us)),
            ("write_mean_us", maybe(self.write_mean_us)),
            ("write_p99_us", maybe(self.write_p99_us)),
            ("write_max_us", maybe(self.write_max_us)),
            ("host_pages", whole(self.host_pages)),
            ("pages", whole(self.pages)),
            ("waf", maybe(self.waf)),
            ("gc_blocks", whole(self.gc_blocks)),
            ("gc_pages", whole(self.gc_pages)),
            ("erases", whole(self.erases)),
            ("retries", whole(self.retries)),
            ("die_busy", Cell::Real(self.die_busy)),
            ("bus_busy", Cell::Real(self.bus_busy)),
            ("in_system", whole(self.in_system)),
            ("free_0", whole(self.free_0)),
            ("free_1", pages(self.free_1)),
            ("free_2", pages(self.free_2)),
            ("free_3", pages(self.free_3)),
        ]
    }
}
