//! The requests of a history.

use rand::RngExt;
use ssdlab_base::{Nanos, SimTime, rng};
use ssdlab_nand::BlockId;

use crate::config::SampleSize;
use crate::drive::{Drive, Tenant};
use crate::host::{Op, Request};

/// The requests of a tenant of one kind.
#[derive(Clone, Debug)]
struct Load {
    op: Op,
    tenant: Tenant,
    /// The pages that they access in the whole history.
    all: f64,
    /// The pages that they access in the part of the history that is run, the last one.
    run: f64,
    /// Pages of each request.
    pages: u32,
    /// How many requests each of them stands for.
    stands_for: f64,
}

/// The load of a sample during its history.
#[derive(Clone, Debug)]
pub(crate) struct HistoryWorkload {
    span: Nanos,
    loads: Vec<Load>,
    /// How many reads each read stands for.
    reads_for: u32,
}

impl HistoryWorkload {
    /// Returns the requests of these tenants in a span of the cells' clock, as far as they run.
    pub(crate) fn of(tenants: &[Tenant], span: Nanos, most: SampleSize) -> HistoryWorkload {
        let days = span.as_days();
        let able = || tenants.iter().filter(|tenant| tenant.pages > 0);
        let writes: Vec<(f64, f64)> =
            able().map(|tenant| (tenant.rate.writes * days, tenant.pages.into())).collect();
        let overwrites = overwrites(&writes, most.writes.into());
        let writes = able().zip(writes).map(|(tenant, (all, pages))| Load {
            op: Op::Write,
            tenant: *tenant,
            all,
            run: all.min(overwrites * pages),
            // A sample may have fewer pages than a write.
            pages: tenant.write_pages.min(tenant.pages),
            stands_for: 1.0,
        });
        let reads: f64 = able().map(|tenant| tenant.rate.reads * days).sum();
        let reads_for = (reads / f64::from(most.reads)).ceil().max(1.0);
        let reads = able().map(|tenant| {
            let all = tenant.rate.reads * days;
            Load { op: Op::Read, tenant: *tenant, all, run: all, pages: 1, stands_for: reads_for }
        });
        let loads = writes.chain(reads).filter(|load| load.all > 0.0).collect();
        HistoryWorkload { span, loads, reads_for: reads_for as u32 }
    }

    /// Returns the writes of the history that are not run, as a multiple of those in the second
    /// half of the time in which all tenants are active. Counts the tenants that `of` selects.
    pub(crate) fn writes_left_out(&self, of: impl Fn(&Tenant) -> bool) -> f64 {
        let own = || self.writes().filter(|load| of(&load.tenant));
        let all: f64 = own().map(|load| load.all).sum();
        let left_out: f64 = own().map(|load| load.all - load.run).sum();
        if left_out > 0.0 { left_out / (all * (1.0 - self.halfway())) } else { 0.0 }
    }

    fn writes(&self) -> impl Iterator<Item = &Load> {
        self.loads.iter().filter(|load| load.op == Op::Write)
    }

    /// Returns the middle of the time in which all tenants are active, as a share of the span.
    fn halfway(&self) -> f64 {
        let active = self.writes().map(|load| 1.0 - load.run / load.all).fold(0.0, f64::max);
        (1.0 + active) / 2.0
    }

    /// Runs a drive through the history. Tenants write and read at equal intervals, each time one
    /// or more pages of their own from a random page on. At the end, the drive is idle and its
    /// buffer clean. Returns the erases of each block at [`HistoryWorkload::halfway`].
    pub(crate) fn run(&self, drive: &mut Drive) -> Vec<u32> {
        let mut random = rng::stream(drive.resolved().seed, "start.history");
        let time_scale = drive.resolved().config.flash.time_scale;
        let span = self.span.as_ns() as f64 / f64::from(time_scale);
        let cells = &mut drive.machine.flash.cells;
        cells.count_host_reads_as(self.reads_for);
        let pages = |load: &Load| load.stands_for * f64::from(load.pages);
        let gaps: Vec<f64> = self.loads.iter().map(|load| span * pages(load) / load.all).collect();
        let mut due: Vec<f64> = (self.loads.iter().zip(&gaps))
            .map(|(load, gap)| {
                let first = span * (1.0 - load.run / load.all);
                first + gap * random.random::<f64>()
            })
            .collect();
        let earliest = |due: &[f64]| {
            let next = (0..due.len()).min_by(|&a, &b| due[a].total_cmp(&due[b]))?;
            (due[next] < span).then_some(next)
        };
        let halfway = span * self.halfway();
        let (mut tag, mut erases) = (0, None);
        while let Some(next) = earliest(&due) {
            if due[next] >= halfway && erases.is_none() {
                erases = Some(erases_of(drive));
            }
            let Load { op, tenant, pages, .. } = &self.loads[next];
            let end = tenant.first + tenant.pages - pages;
            let pages = (random.random_range(tenant.first..=end), *pages);
            ask(drive, SimTime::from_ns(due[next] as u64), (*op, tag), (pages, tenant.queue));
            due[next] += gaps[next];
            tag += 1;
        }
        let mut done = Vec::new();
        drive.advance(SimTime::from_ns(span as u64).max(drive.now()), &mut done);
        finish(drive);
        let arrival = drive.now();
        let flush = Request { tag, arrival, op: Op::Flush, lba: 0, sectors: 0, queue: 0, hint: 0 };
        drive.submit(arrival, flush).expect("an idle drive has room");
        finish(drive);
        drive.machine.flash.cells.count_host_reads_as(1);
        erases.unwrap_or_else(|| erases_of(drive))
    }
}

/// Returns the erases of each block.
fn erases_of(drive: &Drive) -> Vec<u32> {
    let blocks = (0..drive.ftl().blocks.len() as u32).map(BlockId);
    blocks.map(|block| drive.ftl().blocks.erases(block)).collect()
}

/// Returns how often each tenant may overwrite its pages, so that all together write at most `most`
/// pages. `writes` lists the writes and pages of each tenant.
fn overwrites(writes: &[(f64, f64)], most: f64) -> f64 {
    let run = |overwrites: f64| {
        writes.iter().map(|(all, pages)| all.min(overwrites * pages)).sum::<f64>()
    };
    let (mut low, mut high) =
        (0.0, writes.iter().map(|(all, pages)| all / pages).fold(0.0, f64::max));
    if run(high) <= most {
        return high;
    }
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        *(if run(middle) <= most { &mut low } else { &mut high }) = middle;
    }
    low
}

/// Submits a request for whole pages, the first and their number, at this time or as soon as there
/// is room.
fn ask(drive: &mut Drive, at: SimTime, (op, tag): (Op, u64), (pages, queue): ((u32, u32), u8)) {
    let mut done = Vec::new();
    drive.advance(at.max(drive.now()), &mut done);
    while !drive.has_room(queue) {
        let next = drive.next_event().expect("a drive with requests has events");
        drive.advance_once(next, &mut done);
    }
    let per_page = drive.resolved().geometry().sectors_per_page();
    let (lba, sectors) = (u64::from(pages.0) * u64::from(per_page), pages.1 * per_page);
    let arrival = drive.now();
    let request = Request { tag, arrival, op, lba, sectors, queue, hint: 0 };
    drive.submit(arrival, request).expect("a queue with room");
}

/// Lets the drive end all that is under way.
fn finish(drive: &mut Drive) {
    let mut done = Vec::new();
    while let Some(next) = drive.next_event() {
        drive.advance_once(next, &mut done);
    }
}
