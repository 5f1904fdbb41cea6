//! Records of a run besides its figures. These are one row a request, one row an interval, the
//! timeline of the drive's parts, and the data of a report. Recording does not change the run.

mod detail;
mod log;
mod series;
mod table;
mod timeline;

pub use detail::{BlockMap, Detail, Distribution, Slow};
pub use series::Interval;
pub(crate) use series::{is_too_long, too_many};

use std::path::PathBuf;

use ssdlab_base::{Fault, SimTime};
use ssdlab_core::Drive;
use ssdlab_core::stats::Ended;

use crate::files::NewFile;
use crate::prepare::{OutputOptions, Prepared};
use detail::Slowest;
use series::Series;
use table::Table;

/// Records a run.
pub struct Observer {
    detail: bool,
    output: OutputOptions,
    log: Option<Table>,
    series_file: Option<Table>,
    timeline: Option<NewFile>,
    /// The intervals for a report or a series file without a given length, kept in memory.
    /// `written` goes to a series file as the run goes on.
    held: Option<Series>,
    written: Option<Series>,
    slowest: Slowest,
    rows: Vec<Ended>,
    began: SimTime,
    /// The earliest end of an open interval.
    due: SimTime,
    fault: Option<Fault>,
}

impl Observer {
    /// Prepares the records that the plan asks for. The files exist from now on, under temporary
    /// names.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn new(prepared: &Prepared) -> Result<Observer, Fault> {
        let plan = &prepared.plan;
        let new = |option, path: &Option<PathBuf>| -> Result<Option<NewFile>, Fault> {
            path.as_deref().map(|path| NewFile::new(option, path)).transpose()
        };
        let table = |option, path, columns: &[_]| {
            new(option, path)?.map(|file| Table::new(file, columns)).transpose()
        };
        let log = table("--log", &plan.log, &log::columns())?;
        let series_file = table("--series", &plan.series, &series::columns())?;
        Ok(Observer {
            detail: plan.detail,
            output: prepared.output.clone(),
            log,
            series_file,
            timeline: new("--timeline", &plan.timeline)?,
            held: None,
            written: None,
            slowest: Slowest::default(),
            rows: Vec::new(),
            began: SimTime::NEVER,
            due: SimTime::NEVER,
            fault: None,
        })
    }

    /// Begins recording, together with the statistics.
    pub fn begin(&mut self, drive: &mut Drive) {
        let now = drive.now();
        self.began = now;
        if self.timeline.is_some() {
            drive.record(now + self.output.timeline_span);
        }
        let logs_ends = self.detail || self.series_file.is_some();
        if let Some(interval) = self.output.interval {
            let table = self.series_file.take();
            self.written = table.map(|table| Series::written(interval, table, drive));
        }
        if self.detail || self.series_file.is_some() {
            self.held = Some(Series::held(self.output.interval, drive));
        }
        self.due = self.next_due();
        if self.detail {
            drive.compare_pages();
        }
        if logs_ends || self.log.is_some() {
            drive.keep_log();
        }
    }

    /// Prepares for a reset of the drive's statistics before the next replay. Intervals continue.
    pub(crate) fn before_reset(&mut self, drive: &mut Drive) {
        self.drain_log(drive);
        for series in [&mut self.held, &mut self.written].into_iter().flatten() {
            series.before_reset(drive);
        }
        self.slowest = Slowest::default();
    }

    /// Returns the end of the open interval. The caller closes the interval with
    /// [`Observer::close`] before any event at that time.
    pub fn due(&self) -> SimTime {
        self.due
    }

    fn next_due(&self) -> SimTime {
        let open = [&self.held, &self.written];
        open.into_iter().flatten().map(Series::due).min().unwrap_or(SimTime::NEVER)
    }

    /// Announces that time advances to `to`, beyond the open interval. Records a fault now if the
    /// file would have too many rows.
    pub(crate) fn check_rows_until(&mut self, to: SimTime) {
        if let Some(Err(fault)) = self.written.as_ref().map(|series| series.check_rows_until(to)) {
            self.fault.get_or_insert(fault);
            self.due = SimTime::NEVER;
        }
    }

    /// Closes the open interval. `in_system` is the number of requests in the system.
    pub fn close(&mut self, drive: &mut Drive, in_system: u64) {
        self.drain_log(drive);
        let due = self.due;
        let open = [&mut self.held, &mut self.written].into_iter().flatten();
        for series in open.filter(|series| series.due() == due) {
            if let Err(fault) = series.close(drive, due, in_system) {
                self.fault.get_or_insert(fault);
            }
        }
        self.due = if self.fault.is_some() { SimTime::NEVER } else { self.next_due() };
    }

    /// Records the requests that ended.
    pub(crate) fn drain_log(&mut self, drive: &mut Drive) {
        drive.take_log(&mut self.rows);
        for ended in self.rows.drain(..) {
            for series in [&mut self.held, &mut self.written].into_iter().flatten() {
                series.count(&ended);
            }
            if self.detail {
                self.slowest.count(&ended);
            }
            if let (Some(log), None) = (&mut self.log, &self.fault) {
                self.fault = log.push(log::row(&ended, self.began)).err();
            }
        }
    }

    /// Returns the bytes that its tables will take when they next grow.
    pub fn growth(&self) -> u64 {
        let series = self.written.as_ref().and_then(Series::table);
        [&self.log, &self.series_file].into_iter().flatten().chain(series).map(Table::growth).sum()
    }

    /// Returns whether a file could not be written. Its writing ends then, and it never gets its
    /// name.
    pub(crate) fn is_broken(&self) -> bool {
        self.fault.is_some()
    }

    /// Ends the recording and completes the files. Returns the data of a report if the plan asks
    /// for it, and the fault of a file that could not be written. Adds remarks on the data to
    /// `remarks`. `about` describes the run for the files.
    pub fn finish(
        mut self,
        drive: &mut Drive,
        in_system: u64,
        about: &[(&str, String)],
        remarks: &mut Vec<String>,
    ) -> (Option<Detail>, Option<Fault>) {
        self.drain_log(drive);
        let (now, began) = (drive.now(), self.began);
        let is_whole = !self.is_broken();
        let mut fault = self.fault.take();
        let mut note = |written: Result<(), Fault>| {
            fault = fault.take().or(written.err());
        };
        if let Some(log) = self.log.filter(|_| is_whole) {
            note(log.close(about));
        }
        if let Some(to) = self.timeline {
            note(timeline::write(to, drive, began, about));
        }
        if let Some(series) = self.written.filter(|_| is_whole) {
            note(series.finish(drive, in_system, about).map(drop));
        }
        let held = self.held.map(|series| series.finish(drive, in_system, about));
        let series = held.transpose().unwrap_or_else(|fault| {
            note(Err(fault));
            None
        });
        let series = series.unwrap_or_default();
        if let Some(table) = self.series_file {
            note(write_series(table, &series, about));
        }
        if !self.detail {
            return (None, fault);
        }
        remarks
            .extend(self.output.interval.and_then(|requested| series::remark(requested, &series)));
        let span = (now - drive.stats().since).as_ns().max(1) as f64;
        let shares =
            |busy: Vec<u64>| -> Vec<f64> { busy.into_iter().map(|ns| ns as f64 / span).collect() };
        let (units, buses) = drive.flash().busy_counted(now);
        let detail = Detail {
            distributions: detail::distributions(drive),
            read_ages: detail::read_ages(drive),
            retry_spread: detail::retry_spread(drive),
            slowest: self.slowest.into_list(began),
            series,
            die_busy: shares(units),
            bus_busy: shares(buses),
            blocks: detail::block_map(drive, now),
        };
        (Some(detail), fault)
    }
}

/// Writes the intervals of a run as rows of a table.
fn write_series(
    mut table: Table,
    series: &[series::Interval],
    about: &[(&str, String)],
) -> Result<(), Fault> {
    for interval in series {
        table.push(interval.row())?;
    }
    table.close(about)
}
