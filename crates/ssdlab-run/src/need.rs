//! Memory that runs need. It is estimated before a drive is built, and checked as requests
//! accumulate.

use std::collections::VecDeque;

use ssdlab_base::Fault;
use ssdlab_base::memory::{Growing, Lacking, Left, left};
use ssdlab_core::Span;
use ssdlab_core::drive::memory::{Memory, OPERATION, REQUEST};
use ssdlab_core::{Drive, Request};

use crate::memory::{Shortage, lacks};
use crate::prepare::Prepared;

/// Bytes that a run needs besides its drive.
pub(crate) const BESIDES: u64 = 64 << 20;
/// The least bytes that a run needs for its threads, measurements and result. Measured.
const RUN: u64 = 28 << 20;
/// Bytes of a written page in both directions of the mapping table.
pub(crate) const PAGE: u64 = 8;
/// The most table bytes that the first access to a page takes. These are three pages of the
/// machine's memory: for both directions of the mapping table, and for the columns of policies.
const TOUCHED: u64 = 3 << 12;
/// The option that sets the number of outstanding requests.
const CLOSED: &str = "--closed";

/// Returns the certain needs of a run, each with the key or the option that decides it.
fn parts(prepared: &Prepared) -> Vec<(&'static str, Memory)> {
    let resolved = &prepared.resolved;
    let mut parts = resolved.memory().to_vec();
    if prepared.steady {
        // Preconditioning writes every page, whatever the start contents.
        parts.retain(|(key, _)| *key != "start.fill");
        let pages = u64::from(resolved.logical_pages) * PAGE;
        parts.push(("geometry", Memory { resident: pages, reserved: 0, table: 0 }));
    }
    parts.push((CLOSED, outstanding(prepared)));
    parts
}

/// Returns the need of the outstanding requests in a closed loop, as far as their number is known.
fn outstanding(prepared: &Prepared) -> Memory {
    let Some(most) = prepared.plan.closed.map(u64::from) else { return Memory::default() };
    let is_closed_form = prepared.twin.is_none() && !prepared.plan.reads_traces();
    let requests = if is_closed_form { prepared.workload.requests } else { 0 };
    let all = most.min(requests);
    // Assume one queue, the least number.
    let transferred_in = all.min(prepared.resolved.config.host.queue_depth.into());
    let waiting = (all - transferred_in) * size_of::<Request>() as u64;
    Memory::touched(transferred_in * (REQUEST + OPERATION) + waiting)
}

/// Returns the certain need of a run in all.
pub(crate) fn of(prepared: &Prepared) -> Memory {
    let run = Memory { resident: RUN, reserved: 0, table: 0 };
    parts(prepared).into_iter().map(|(_, part)| part).fold(run, Memory::and)
}

/// Refuses plans that do not fit into memory, each alone or `jobs` at a time.
///
/// # Errors
/// The first plan that does not fit, with the needed and the free memory; or the number of jobs.
pub(crate) fn check(prepared: &[Prepared], jobs: Option<usize>) -> Result<(), Fault> {
    check_in(&left(), prepared, jobs)
}

fn check_in(left: &Left, prepared: &[Prepared], jobs: Option<usize>) -> Result<(), Fault> {
    let mut needs = Vec::with_capacity(prepared.len());
    for plan in prepared {
        let need = of(plan);
        if let Some(shortage) = lacks(left, &need) {
            return Err(refused(plan, &shortage));
        }
        needs.push(need);
    }
    let Some(jobs) = jobs else { return Ok(()) };
    needs.sort_unstable_by_key(|need| std::cmp::Reverse(need.resident.max(need.reserved)));
    let mut together = Memory::default();
    for (at, need) in needs.into_iter().take(jobs).enumerate() {
        together = together.and(need);
        if let Some(shortage) = lacks(left, &together) {
            let fault = Fault::new("--jobs", "more runs at a time than fit into memory").got(jobs);
            return Err(fault.expected(format!("at most {at}: for {} {shortage}", at + 1)));
        }
    }
    Ok(())
}

/// Returns the fault for a plan that does not fit. It names the part of the plan that needs the
/// most.
fn refused(prepared: &Prepared, shortage: &Shortage) -> Fault {
    let part = parts(prepared).into_iter().max_by_key(|(_, part)| (shortage.of)(part));
    let key = part.expect("a drive").0;
    let fault = match key {
        CLOSED => Fault::new(CLOSED, "more requests than fit into memory")
            .got(prepared.plan.closed.unwrap_or(0)),
        "geometry" => {
            let geometry = prepared.resolved.geometry();
            let (pages, planes) = (geometry.page_count(), geometry.plane_count());
            prepared.effective.fault_at(key).got(format!("{pages} pages on {planes} planes"))
        }
        _ => prepared.effective.fault_at(key),
    };
    fault.expected(format!("more memory: {shortage}"))
}

/// Checks that memory suffices for everything that accumulates during a run: waiting requests
/// outside the drive, page operations inside it, and spans of a timeline. One query of the system
/// covers many of them. It also watches tables with one entry for each page, whose memory the
/// system provides on first access.
pub(crate) struct Room {
    tables: Tables,
    /// The number of each that may be added before the next query.
    step: usize,
    /// The number of each that memory suffices for.
    waiting: usize,
    operations: usize,
    spans: usize,
}

/// Checks that memory suffices for tables by page, as requests reach more pages.
#[derive(Debug, Default)]
pub(crate) struct Tables(Growing);

impl Tables {
    /// Counts a request for this many pages.
    ///
    /// # Errors
    /// When memory does not suffice for the tables.
    #[inline]
    pub(crate) fn touch(&mut self, pages: u64) -> Result<(), Fault> {
        self.0.by(pages * TOUCHED).map_err(outgrown)
    }
}

/// The number of each allowed before the first query.
const FIRST: usize = 1 << 16;
/// The least number of each that a query covers.
const STEP: usize = 1 << 17;

/// The present numbers of everything that accumulates.
#[derive(Clone, Copy)]
struct Piled {
    waiting: usize,
    /// The most operations under way, including those added at once.
    operations: usize,
    spans: usize,
}

impl Room {
    /// Creates a check that is repeated after at most this many additions of each.
    pub(crate) fn new(between_looks: usize) -> Room {
        let step = STEP.max(2 * between_looks);
        let first = FIRST + step / 2;
        Room { step, waiting: first, operations: first, spans: first, tables: Tables::default() }
    }

    /// Counts a request for this many pages.
    ///
    /// # Errors
    /// When memory does not suffice for the tables.
    pub(crate) fn touch(&mut self, pages: u64) -> Result<(), Fault> {
        self.tables.touch(pages)
    }

    /// Checks that memory suffices until the next check, including `more` operations. `file_bytes`
    /// returns the bytes that the run's files may take in addition.
    ///
    /// # Errors
    /// When memory does not suffice.
    pub(crate) fn check(
        &mut self,
        queues: &[VecDeque<Request>],
        drive: &Drive,
        more: usize,
        file_bytes: impl FnOnce() -> u64,
    ) -> Result<(), Fault> {
        let now = Piled {
            waiting: queues.iter().map(VecDeque::len).sum(),
            operations: drive.operations().0 + more,
            spans: drive.flash().timeline.lengths().0,
        };
        let enough = |own: usize, upto: usize| own + self.step / 2 <= upto;
        if enough(now.waiting, self.waiting)
            && enough(now.operations, self.operations)
            && enough(now.spans, self.spans)
        {
            Ok(())
        } else {
            self.make(queues, drive, now, file_bytes())
        }
    }

    #[cold]
    fn make(
        &mut self,
        queues: &[VecDeque<Request>],
        drive: &Drive,
        now: Piled,
        file_bytes: u64,
    ) -> Result<(), Fault> {
        self.waiting = now.waiting + self.step;
        self.operations = now.operations + self.step;
        let spans = drive.flash().timeline.lengths();
        // A run without a timeline has no spans.
        self.spans = if spans.1 > 0 { now.spans + self.step } else { self.step };
        let lists = queues.iter().map(|list| (list.len(), list.capacity()));
        let need = self.need(lists, drive.operations(), spans);
        let files = Memory { resident: file_bytes, reserved: file_bytes, table: 0 };
        match lacks(&left(), &need.and(files)) {
            None => Ok(()),
            Some(shortage) => {
                let under_way = drive.operations().0;
                let piled = now.waiting * size_of::<Request>() + under_way * OPERATION as usize;
                Err(if spans.0 * size_of::<Span>() > piled {
                    too_long(spans.0, &shortage)
                } else {
                    overfull(now.waiting, under_way, &shortage)
                })
            }
        }
    }

    /// Returns the memory needed to reach the checked numbers. `lists` holds the length and the
    /// capacity of each queue. The first pair is the operations under way and the slots of their
    /// table. The second pair is the spans shown and the places of the timeline.
    fn need(
        &self,
        lists: impl Iterator<Item = (usize, usize)>,
        (under_way, slots): (usize, usize),
        (shown, places): (usize, usize),
    ) -> Memory {
        let (request, span) = (size_of::<Request>(), size_of::<Span>());
        let operation = OPERATION as usize;
        // Without a timeline, there are no places.
        let to_show = if places > 0 { self.spans - shown } else { 0 };
        let resident =
            (self.operations - under_way) * operation + self.step * request + to_show * span;
        // A full list doubles its capacity.
        let doubles = |(length, capacity): (usize, usize)| {
            if length + self.step > capacity { capacity.max(self.step) } else { 0 }
        };
        let waits = lists.map(doubles).max().unwrap_or(0) * request;
        let shows = if to_show > 0 { doubles((shown, places)) * span } else { 0 };
        let goes = if self.operations > slots {
            (self.operations.max(2 * slots) - slots) * operation
        } else {
            0
        };
        let reserved = (waits + shows + goes) as u64;
        Memory { resident: resident as u64, reserved, table: 0 }
    }
}

/// Returns the fault for a workload that reaches more pages than memory has room for.
#[cold]
fn outgrown(lacking: Lacking) -> Fault {
    Fault::new("workload", "reaches more pages than fit into memory")
        .expected(format!("fewer pages: to continue, {lacking}"))
        .hint("--limit ends the run before that, a smaller drive or footprint takes less")
}

/// Returns the fault for a timeline that fills the memory.
fn too_long(spans: usize, shortage: &Shortage) -> Fault {
    Fault::new("--timeline-span", "a timeline of more than fits into memory")
        .got(format!("{spans} spans of what parts of the drive do"))
        .expected(format!("a shorter time: to continue, {shortage}"))
}

/// Returns the fault for a load whose requests fill the memory.
fn overfull(waiting: usize, under_way: usize, shortage: &Shortage) -> Fault {
    let got = format!(
        "{under_way} page operations under way at most and {waiting} requests that wait for a queue"
    );
    Fault::new("workload", "piles up more requests than fit into memory")
        .got(got)
        .expected(format!("a load that the drive keeps up with: to continue, {shortage}"))
        .hint("--limit ends the run before that, --time-scale and --closed slow it down")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use ssdlab_base::memory::Limit;

    fn prepared(set: &[&str], closed: Option<u32>) -> Prepared {
        let set = set.iter().map(ToString::to_string).collect();
        let plan = Plan { device: "generic-mlc-512g".into(), set, closed, ..Plan::default() };
        plan.prepare().unwrap_or_else(|fault| panic!("{fault}"))
    }

    fn machine(bytes: u64) -> Left {
        let limit = Some(Limit { bytes, of: "the machine's memory" });
        Left { resident: limit, ..Left::default() }
    }

    #[test]
    fn what_may_come_takes_its_requests_and_operations_and_lists_that_double() {
        let room = Room {
            step: 100,
            waiting: 1100,
            operations: 600,
            spans: 250,
            tables: Tables::default(),
        };
        let (request, operation) = (size_of::<Request>() as u64, OPERATION);
        let need = |lists: &[(usize, usize)], operations| {
            let need = room.need(lists.iter().copied(), operations, (0, 0));
            [need.resident, need.reserved]
        };
        let resident = 100 * request + 100 * operation;
        assert_eq!(need(&[(1000, 2000)], (500, 700)), [resident, 0], "there is room in both");
        let full = need(&[(1000, 1024), (0, 0)], (500, 700));
        assert_eq!(full, [resident, 1024 * request], "the longest list doubles");
        let table = need(&[], (500, 512));
        assert_eq!(table, [resident, 512 * operation], "the table of operations doubles");
        let span = size_of::<Span>() as u64;
        let shown = |places| {
            let need = room.need([].into_iter(), (500, 700), (150, places));
            [need.resident, need.reserved]
        };
        assert_eq!(shown(300), [resident + 100 * span, 0], "there is room for a timeline");
        assert_eq!(shown(200), [resident + 100 * span, 200 * span], "its list doubles");
    }

    #[test]
    fn what_does_not_fit_is_refused_by_the_key_that_takes_the_most() {
        let line = |set: &[&str], closed, left: Left| {
            let fault = check_in(&left, &[prepared(set, closed)], None).expect_err("a refusal");
            fault.to_string()
        };
        let buffer = line(&["buffer.size=400GiB"], None, machine(4_000_000_000));
        let start = "--set buffer.size=400GiB: buffer.size: got \"400GiB\", expected more memory";
        assert!(buffer.starts_with(start), "{buffer}");
        assert!(buffer.ends_with("and 4.0 GB are left (the machine's memory)"), "{buffer}");
        let filled = line(&["start.fill=1"], None, machine(300_000_000));
        assert!(filled.contains("start.fill"), "{filled}");
        let closed = ["workload.requests=1000000000"];
        let closed = line(&closed, Some(100_000_000), machine(3_000_000_000));
        assert!(closed.starts_with("--closed: more requests than fit into memory: got 100000000"));
        let limit = Some(Limit { bytes: 500_000_000, of: "ulimit -v" });
        let map = line(&[], None, Left { reserved: limit, ..Left::default() });
        assert!(map.contains("geometry: got 67108864 pages on 128 planes"), "{map}");
    }

    #[test]
    fn a_closed_loop_reserves_no_more_than_its_workload_needs() {
        let drive = [prepared(&[], None)];
        assert_eq!(check_in(&machine(50_000_000), &drive, None), Ok(()));
        // The workload has only a million requests, so a larger closed loop needs no more.
        assert_eq!(check_in(&machine(100_000_000), &[prepared(&[], Some(1 << 31))], None), Ok(()));
    }

    #[test]
    fn more_jobs_than_fit_are_refused_with_how_many_do() {
        let filled = || prepared(&["start.fill=1"], None);
        let all = [filled(), filled(), filled(), filled()];
        let one = of(&all[0]).resident;
        let left = machine(one * 5 / 2);
        assert_eq!(check_in(&left, &all, None), Ok(()));
        assert_eq!(check_in(&left, &all, Some(2)), Ok(()));
        let line = check_in(&left, &all, Some(4)).expect_err("a refusal").to_string();
        assert!(line.contains(
            "--jobs: more runs at a time than fit into memory: got 4, expected at most 2"
        ));
    }
}
