//! Checks of invariants while the drive works.
//!
//! Each module checks its own state. This module checks the invariants that span modules:
//! - Time never goes back.
//! - Each request ends exactly once, and the parts of its time add up to its latency.
//! - Each transaction is in exactly one place.
//! - Each read returns the version that was written last ([`data`]).

mod data;

use std::collections::{BTreeMap, BTreeSet};

use ssdlab_base::{SimTime, ensure};
use ssdlab_nand::{BlockId, Geometry, Lpn, PlaneId, Ppn};

use crate::account::{Blame, OpKind, Part};
use crate::buffer::Buffer;
use crate::config::{RESERVE_BLOCKS, Resolved};
use crate::flash::{Census, Flash, Owner, Room, Txn, TxnId};
use crate::ftl::{Ftl, PlaneOrder};
use crate::host::{Hazards, Host, Op, Request};
use data::Data;

/// Calls a method of the auditor, if the drive has one.
macro_rules! audit_event {
    ($machine:expr, $($call:tt)*) => {
        if let Some(auditor) = $machine.auditor.as_mut() {
            auditor.$($call)*;
        }
    };
}
pub(crate) use audit_event;

/// The modules of a drive, read by the auditor.
#[derive(Clone, Copy)]
pub(crate) struct Rooms<'a> {
    /// The present time.
    pub now: SimTime,
    /// The host's requests in progress.
    pub host: &'a Host,
    /// The order of operations on the same page.
    pub hazards: &'a Hazards,
    /// Transactions that the scheduler holds back.
    pub held: &'a [TxnId],
    /// The page buffer.
    pub buffer: Option<&'a Buffer>,
    /// The translation layer.
    pub ftl: &'a Ftl,
    /// The back end.
    pub flash: &'a Flash,
    /// Operations that wait for entries of the page map.
    pub mapping: &'a [TxnId],
    /// For each plane, the block that its job empties.
    pub jobs: &'a [Option<BlockId>],
    /// For each plane, the number of its pages whose home is another plane; empty if not counted.
    pub foreign: &'a [u32],
    /// The home plane of each page under static allocation.
    pub homes: &'a PlaneOrder,
    /// The shape of the flash.
    pub geometry: &'a Geometry,
}

/// The record of a drive that the checks compare with its state.
#[derive(Clone, Debug)]
pub(crate) struct Auditor {
    data: Data,
    last: SimTime,
    /// Requests in progress by slot: the tag and the time of acceptance.
    requests: BTreeMap<u32, (u64, SimTime)>,
    pace: Pace,
    events: u64,
    census: Since,
    recount: Since,
    violation: Option<String>,
}

/// How often the auditor runs its checks.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    /// Checks all transactions and the buffer at every event, the translation layer at every n-th
    /// event.
    Every(u64),
    /// Keeps the mean work per event at [`ENTRIES_AN_EVENT`] entries.
    Affordable,
}

/// The checks to run among those whose duration grows with the size of the drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Long {
    /// The check of the marks of buffered pages.
    pub marks: bool,
    /// The recount of the translation layer.
    pub recount: bool,
}

impl Long {
    /// Both checks.
    pub(crate) const ALL: Long = Long { marks: true, recount: true };
}

/// Mean number of transactions, units and pages checked per event.
const ENTRIES_AN_EVENT: u64 = 256;

/// Counts the events since a check last ran.
#[derive(Clone, Copy, Debug, Default)]
struct Since(u64);

impl Since {
    /// Counts one event; returns whether a check of `entries` entries is due.
    fn is_due(&mut self, entries: u64) -> bool {
        self.0 += 1;
        let due = self.0 * ENTRIES_AN_EVENT >= entries;
        if due {
            self.0 = 0;
        }
        due
    }
}

// Few drives have an auditor: `#[cold]` keeps these calls out of the hot path.
impl Auditor {
    /// Creates the auditor of an idle drive whose buffer is empty.
    pub(crate) fn new(resolved: &Resolved, rooms: &Rooms<'_>, pace: Pace) -> Auditor {
        Auditor {
            data: Data::new(resolved, rooms.ftl),
            last: rooms.now,
            requests: BTreeMap::new(),
            pace,
            events: 0,
            census: Since::default(),
            recount: Since::default(),
            violation: None,
        }
    }

    /// Returns the first violation, if there was one.
    pub(crate) fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    /// Records the first violation.
    pub(crate) fn check(&mut self, result: Result<(), String>) {
        if let (Err(what), None) = (result, &self.violation) {
            self.violation = Some(format!("at {} ns: {what}", self.last.as_ns()));
        }
    }

    /// Runs the checks that are due after all events of one time.
    pub(crate) fn check_all(&mut self, rooms: &Rooms<'_>) {
        let back = rooms.now < self.last;
        let before = self.last.as_ns();
        self.check(ensure(!back, || format!("time went back from {before}")));
        self.last = rooms.now;
        let (census, long) = self.due(rooms);
        if census || long.recount {
            self.check(everything(rooms, long));
        }
        if long.recount && rooms.hazards.is_empty() {
            let result = self.data.at_rest(rooms.ftl);
            self.check(result);
        }
    }

    /// Returns whether the check of transactions is due, and which long checks are.
    fn due(&mut self, rooms: &Rooms<'_>) -> (bool, Long) {
        self.events += 1;
        match self.pace {
            Pace::Every(events) => {
                (true, Long { marks: true, recount: self.events.is_multiple_of(events) })
            }
            Pace::Affordable => {
                let planes = u64::from(rooms.geometry.plane_count());
                let buffered = rooms.buffer.map_or(0, Buffer::capacity) as u64;
                let transactions = rooms.flash.txns.slots() as u64;
                let census = self.census.is_due(transactions + planes + buffered);
                let recount = self.recount.is_due(u64::from(rooms.geometry.page_count()));
                (census, Long { marks: recount, recount })
            }
        }
    }

    /// Records that a request was accepted.
    #[cold]
    pub(crate) fn accepted(&mut self, slot: u32, request: &Request, now: SimTime) {
        let other = self.requests.insert(slot, (request.tag, now));
        self.check(ensure(other.is_none(), || format!("request {other:?} lost its slot")));
    }

    /// Checks that a request ended once and that its parts add up to its latency.
    #[cold]
    pub(crate) fn ended(&mut self, slot: u32, request: &Request, now: SimTime, blame: &Blame) {
        let (tag, transferred_in) = self.requests.remove(&slot).unzip();
        let once = tag == Some(request.tag);
        self.check(ensure(once, || format!("request {} ended, not under way", request.tag)));
        let since_arrival = |time: SimTime| time.as_ns().checked_sub(request.arrival.as_ns());
        let queued = transferred_in.and_then(since_arrival);
        let reported = queued == Some(blame[Part::HostQueue as usize]);
        self.check(ensure(reported, || {
            let reported = blame[Part::HostQueue as usize];
            format!(
                "request {} waited {queued:?} ns in the host queue, but its blame reports {reported}",
                request.tag
            )
        }));
        let latency = since_arrival(now);
        let sum = blame.iter().sum::<u64>();
        self.check(ensure(latency == Some(sum), || {
            let parts = Part::NAMES.iter().zip(blame).filter(|(_, ns)| **ns > 0);
            let parts: Vec<_> = parts.collect();
            format!("request {} took {latency:?} ns and accounts for {parts:?}", request.tag)
        }));
    }

    /// Records that a page operation of a host request begins.
    #[cold]
    pub(crate) fn begins(&mut self, id: TxnId, txn: &Txn, op: Op) {
        match op {
            Op::Trim => self.data.trims(txn.lpn),
            _ => self.data.begins(id, txn, op == Op::Write),
        }
    }

    /// Records that a write has put its sectors into the buffer.
    #[cold]
    pub(crate) fn buffered(&mut self, id: TxnId, txn: &Txn) {
        self.data.buffered(id, txn);
    }

    /// Checks a read that finds all of its sectors in the buffer.
    #[cold]
    pub(crate) fn hits(&mut self, id: TxnId, txn: &Txn) {
        let result = self.data.hits(id, txn);
        self.check(result);
    }

    /// Records which sectors a read finds in the buffer when it finds only some.
    #[cold]
    pub(crate) fn overlaid(&mut self, id: TxnId, txn: &Txn, present: u64) {
        self.data.overlaid(id, txn, present);
    }

    /// Records that a transaction will program the dirty sectors of a buffered page.
    #[cold]
    pub(crate) fn writes_back(&mut self, id: TxnId, txn: &Txn) {
        self.data.on_dispatch(id, txn);
    }

    /// Records that these sectors of a page that was read stay in the buffer.
    #[cold]
    pub(crate) fn keeps(&mut self, id: TxnId, txn: &Txn, sectors: u64) {
        self.data.keeps(id, txn, sectors);
    }

    /// Records that the buffer no longer holds a page.
    #[cold]
    pub(crate) fn forgets(&mut self, lpn: Lpn) {
        self.data.forgets(lpn);
    }

    /// Checks an operation that an array unit is about to begin; its physical page is now known.
    #[cold]
    pub(crate) fn prepared(&mut self, id: TxnId, txn: &Txn, ftl: &Ftl) {
        if let (OpKind::Read, Owner::Job(_) | Owner::Move { .. }) = (txn.kind, txn.owner) {
            let valid = ftl.map.valid(txn.ppn) == Some(txn.lpn);
            self.check(ensure(valid, || format!("a job reads {:?}, which is outdated", txn.ppn)));
        }
        let result = match txn.kind {
            OpKind::Read => self.data.senses(id, txn),
            OpKind::Program => self.data.programs(txn),
            OpKind::Erase => Ok(()),
        };
        self.check(result);
    }

    /// Checks the data of a host read that has ended, with or without a flash read.
    #[cold]
    pub(crate) fn read_ended(&mut self, id: TxnId, txn: &Txn) {
        let result = self.data.read_ended(id, txn);
        self.check(result);
    }

    /// Records that a partial write has read its page; `own` are the sectors that it writes.
    #[cold]
    pub(crate) fn merges(&mut self, id: TxnId, own: u64) {
        self.data.merges(id, own);
    }

    /// Records that the program of `first` also writes these sectors of a later write of the page.
    #[cold]
    pub(crate) fn joins(&mut self, first: TxnId, later: TxnId, sectors: u64) {
        self.data.joins(first, later, sectors);
    }

    /// Checks a program that has ended, before the map records it. With `outdated` the map will not
    /// record it: a newer write of the page has been programmed.
    #[cold]
    pub(crate) fn programmed(&mut self, id: TxnId, txn: &Txn, ftl: &Ftl, outdated: bool) {
        let result = self.data.programmed(id, txn, ftl, outdated);
        self.check(result);
    }

    /// Records that the drive stores a page as if the page had been written before the start.
    #[cold]
    pub(crate) fn page_prefilled(&mut self, lpn: Lpn, ppn: Ppn) {
        self.data.page_prefilled(lpn, ppn);
    }

    /// Records that an outdated page counts as written before the start.
    #[cold]
    pub(crate) fn revived(&mut self, lpn: Lpn, ppn: Ppn) {
        self.data.revived(lpn, ppn);
    }

    /// Records that a block was erased.
    #[cold]
    pub(crate) fn erased(&mut self, block: BlockId) {
        self.data.erased(block);
    }

    /// Records that `id` copies the page that `read` has read.
    #[cold]
    pub(crate) fn copies_read(&mut self, id: TxnId, read: TxnId) {
        self.data.copies_read(id, read);
    }

    /// Records that a transaction has ended.
    #[cold]
    pub(crate) fn gone(&mut self, id: TxnId) {
        self.data.gone(id);
    }
}

/// Checks the state of every module; runs only the long checks that `long` selects.
///
/// # Errors
/// The first violation.
pub(crate) fn everything(rooms: &Rooms<'_>, long: Long) -> Result<(), String> {
    let mut census = Census::new(&rooms.flash.txns);
    rooms.flash.audit(rooms.now, &mut census)?;
    for id in rooms.hazards.waiting(&rooms.flash.txns) {
        census.found(id, "the wait for its page")?;
    }
    let firsts: Vec<TxnId> = census.ids().collect();
    for id in rooms.hazards.joined(&rooms.flash.txns, firsts.into_iter()) {
        census.found(id, "the wait for the write that it supersedes")?;
    }
    for &id in rooms.held {
        census.found(id, Census::HELD)?;
    }
    for &id in rooms.mapping {
        census.found(id, Census::MAPPING)?;
    }
    if let Some(buffer) = rooms.buffer {
        let moving = buffer.moving().try_fold(SimTime::START, |last, (end, id)| {
            census.found(id, "a move into or out of the buffer")?;
            let in_order = end >= last && end >= rooms.now;
            ensure(in_order, || "the buffer's moves are out of order".into())?;
            Ok(end)
        });
        moving.and_then(|_: SimTime| buffer.audit())?;
        if long.marks {
            buffer.recount()?;
        }
        for id in buffer.departures.held_up() {
            census.found(id, Census::COMING)?;
        }
    }
    let waiters = census.ids().filter_map(|id| match rooms.flash.txns[id].owner {
        Owner::Buffer { room: Room::For(write), .. } => Some(write),
        _ => None,
    });
    let promised = rooms.buffer.into_iter().flat_map(Buffer::promised);
    let waiters: Vec<TxnId> = waiters.chain(promised).collect();
    waiters.into_iter().try_for_each(|id| census.found(id, "the wait for room in the buffer"))?;
    census.close()?;
    owners(rooms, &census)?;
    pages_held(rooms, &census)?;
    if long.recount { blocks(rooms, &census).and_then(|()| foreign(rooms)) } else { Ok(()) }
}

/// Checks that each request has as many operations as it waits for, and each job one.
fn owners(rooms: &Rooms<'_>, census: &Census) -> Result<(), String> {
    let mut parts: BTreeMap<u32, u32> = BTreeMap::new();
    let mut jobs = vec![0u32; rooms.jobs.len()];
    for id in census.ids() {
        match rooms.flash.txns[id].owner {
            Owner::Request(slot) => *parts.entry(slot).or_default() += 1,
            Owner::Job(plane) => jobs[plane.index()] += 1,
            Owner::Buffer { .. } | Owner::Map { .. } | Owner::Move { .. } => {}
        }
    }
    for slot in rooms.buffer.into_iter().flat_map(|buffer| buffer.departures.flushes()) {
        *parts.entry(slot).or_default() += 1;
    }
    let mut unfinished = 0;
    for (slot, active) in rooms.host.under_way() {
        let left = parts.remove(&slot).unwrap_or(0);
        let tag = active.request.tag;
        ensure(left == active.remaining && left > 0, || {
            format!("request {tag} waits for {} operations and has {left}", active.remaining)
        })?;
        unfinished += 1;
    }
    ensure(parts.is_empty(), || "an operation works for a request that ended".into())?;
    let counted = unfinished == rooms.host.unfinished();
    ensure(counted, || format!("{unfinished} requests are under way, not as counted"))?;
    for (plane, (&ops, job)) in jobs.iter().zip(rooms.jobs).enumerate() {
        let one = ops == u32::from(job.is_some());
        ensure(one, || format!("the job of plane {plane} ({job:?}) has {ops} operations"))?;
    }
    Ok(())
}

/// Checks that any number of readers or one writer holds each logical page. Where writes supersede
/// others, programs may run beside that writer.
fn pages_held(rooms: &Rooms<'_>, census: &Census) -> Result<(), String> {
    let mut held: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    let mut queued = BTreeSet::new();
    for id in census.ids().filter(|&id| census.holds_page(id)) {
        let txn = &rooms.flash.txns[id];
        if matches!(txn.owner, Owner::Job(_) | Owner::Move { .. }) {
            continue;
        }
        let (readers, writers) = held.entry(txn.lpn.0).or_default();
        if txn.changes_page() {
            *writers += 1
        } else {
            *readers += 1
        }
        let beside = rooms.hazards.supersedes() && *readers == 0;
        let alone = *writers == 0 || beside || *writers + *readers == 1;
        ensure(alone, || format!("two operations at a time change {:?}", txn.lpn))?;
        let is_programmed = txn.kind == OpKind::Program && census.is_served(id);
        let last = !txn.changes_page() || is_programmed || queued.insert(txn.lpn.0);
        ensure(last, || format!("two writes of {:?} wait for their programs", txn.lpn))?;
    }
    let mut entries = 0;
    for (lpn, readers, writers) in rooms.hazards.entries() {
        let is = held.get(&lpn.0).copied().unwrap_or_default();
        ensure(is == (readers, writers), || {
            format!("{lpn:?} has {is:?} readers and writers, counted as {readers}, {writers}")
        })?;
        entries += 1;
    }
    let all = entries == held.len() && entries == rooms.hazards.len();
    ensure(all, || "an operation is under way on a page that is not marked".into())
}

/// Checks the translation layer against the programs in service, the jobs and the reserve.
fn blocks(rooms: &Rooms<'_>, census: &Census) -> Result<(), String> {
    let mut allocated = rooms.ftl.audit()?;
    for id in census.ids().filter(|&id| census.is_served(id)) {
        let txn = &rooms.flash.txns[id];
        if txn.kind != OpKind::Program {
            continue;
        }
        let block = rooms.geometry.block_of(txn.ppn);
        let left = allocated[block.index()].checked_sub(1);
        allocated[block.index()] =
            left.ok_or_else(|| format!("{block:?} is programmed beyond what was allocated"))?;
    }
    let lost = allocated.iter().position(|&left| left > 0);
    ensure(lost.is_none(), || {
        format!("block {lost:?} has an allocated page that no program writes")
    })?;
    for (plane, job) in (0..).map(PlaneId).zip(rooms.jobs) {
        let pool = rooms.ftl.blocks.pool(plane);
        let victims = (0..pool.len())
            .filter(|&at| pool.state[at] == crate::ftl::BlockState::Victim)
            .map(|at| pool.block(at));
        let is: Vec<BlockId> = victims.collect();
        ensure(is.iter().eq(job), || format!("{plane:?} empties {is:?}, its job is {job:?}"))?;
        let free = rooms.ftl.alloc.free_blocks(plane);
        let has_reserve = job.is_some() || free >= RESERVE_BLOCKS;
        ensure(has_reserve, || format!("{plane:?} has no reserve left: {free} free blocks"))?;
    }
    Ok(())
}

/// Checks the counts of pages away from their home plane against the map.
fn foreign(rooms: &Rooms<'_>) -> Result<(), String> {
    let mut found = vec![0; rooms.foreign.len()];
    if !found.is_empty() {
        for lpn in (0..rooms.ftl.map.logical_pages()).map(Lpn) {
            let Some(ppn) = rooms.ftl.map.get(lpn) else { continue };
            let plane = rooms.geometry.plane_of_page(ppn);
            found[plane.index()] += u32::from(plane != rooms.homes.plane_of(lpn));
        }
    }
    ensure(found == rooms.foreign, || {
        format!("planes have {found:?} pages of others and count {:?}", rooms.foreign)
    })
}
