//! Paranoia: invariants that are checked while the drive works.
//!
//! Each room checks its own books; here is what no room can see alone: that time goes on, that
//! every request ends once and all of its time is accounted for, that every transaction is in one
//! place, and that every read returns what was written last ([`data`]).

mod data;

use std::collections::BTreeMap;

use ssdlab_base::{SimTime, ensure};
use ssdlab_nand::{BlockId, Geometry, Lpn, PlaneId, Ppn};

use crate::account::{Blame, OpKind, Part};
use crate::buffer::Buffer;
use crate::config::{RESERVE_BLOCKS, Resolved};
use crate::flash::{Census, Flash, Owner, Room, Txn, TxnId};
use crate::ftl::{Ftl, PlaneOrder};
use crate::host::{Hazards, Host, Op, Request};
use data::Data;

/// Tells the auditor, if there is one.
macro_rules! watch {
    ($machine:expr, $($call:tt)*) => {
        if let Some(auditor) = $machine.auditor.as_mut() {
            auditor.$($call)*;
        }
    };
}
pub(crate) use watch;

/// The rooms of a drive, to be looked at.
#[derive(Clone, Copy)]
pub struct Rooms<'a> {
    /// The present moment.
    pub now: u64,
    /// Requests under way.
    pub host: &'a Host,
    /// Operations on the same page.
    pub hazards: &'a Hazards,
    /// Who an order holds back, if it does.
    pub held: &'a [TxnId],
    /// The page buffer.
    pub buffer: Option<&'a Buffer>,
    /// The translation layer.
    pub ftl: &'a Ftl,
    /// The back end.
    pub flash: &'a Flash,
    /// Operations that wait for entries of the page map.
    pub mapping: &'a [TxnId],
    /// For each plane, the block that is being emptied.
    pub jobs: &'a [Option<BlockId>],
    /// For each plane, the pages on it whose home is another; empty if nobody counts them.
    pub foreign: &'a [u32],
    /// Where static allocation has the home of each page.
    pub homes: &'a PlaneOrder,
    /// The shape of the flash.
    pub geometry: &'a Geometry,
}

/// What is remembered of a drive in order to check it.
#[derive(Clone, Debug)]
pub struct Auditor {
    data: Data,
    last: u64,
    /// Requests under way by slot: their tags, and when they were taken in.
    requests: BTreeMap<u32, (u64, u64)>,
    pace: Pace,
    events: u64,
    census: Since,
    recount: Since,
    violation: Option<String>,
}

/// How often the books are gone through.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    /// All transactions and the buffer at every event, the translation layer's books every so many.
    Every(u64),
    /// As often as keeps the work at an event, on average, at [`ENTRIES_AN_EVENT`].
    Affordable,
}

/// Which of the books are gone through that take as long as the drive is large.
#[derive(Clone, Copy, Debug)]
pub struct Long {
    /// Which pages are marked as being in the buffer.
    pub marks: bool,
    /// The translation layer's.
    pub recount: bool,
}

impl Long {
    /// All of them.
    pub const ALL: Long = Long { marks: true, recount: true };
}

/// Transactions, units and pages that are gone through for each event, on average.
const ENTRIES_AN_EVENT: u64 = 256;

/// Counts the events since something was last gone through.
#[derive(Clone, Copy, Debug, Default)]
struct Since(u64);

impl Since {
    /// One more event; whether `entries` are due to be gone through.
    fn is_due(&mut self, entries: u64) -> bool {
        self.0 += 1;
        let due = self.0 * ENTRIES_AN_EVENT >= entries;
        if due {
            self.0 = 0;
        }
        due
    }
}

// What it is told is told by a few of all drives: `#[cold]` keeps that out of the others' way.
impl Auditor {
    /// Begins to watch an idle drive whose buffer is empty.
    pub fn new(resolved: &Resolved, rooms: &Rooms<'_>, pace: Pace) -> Auditor {
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

    /// The first violation, if there was one.
    pub fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    /// Remembers the first violation.
    fn check(&mut self, result: Result<(), String>) {
        if let (Err(what), None) = (result, &self.violation) {
            self.violation = Some(format!("at {} ns: {what}", self.last));
        }
    }

    /// Everything at one moment has happened.
    pub fn check_all(&mut self, rooms: &Rooms<'_>) {
        let back = rooms.now < self.last;
        let before = self.last;
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

    /// Whether transactions are gone through at this event, and which of the books that take long.
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

    /// A request has been accepted.
    #[cold]
    pub fn accepted(&mut self, slot: u32, request: &Request, now: u64) {
        let other = self.requests.insert(slot, (request.tag, now));
        self.check(ensure(other.is_none(), || format!("request {other:?} lost its slot")));
    }

    /// A request has ended.
    #[cold]
    pub fn ended(&mut self, slot: u32, request: &Request, now: u64, blame: &Blame) {
        let (tag, transferred_in) = self.requests.remove(&slot).unzip();
        let once = tag == Some(request.tag);
        self.check(ensure(once, || format!("request {} ended, not under way", request.tag)));
        let arrival = request.arrival.as_ns();
        let queued = transferred_in.and_then(|transferred_in| transferred_in.checked_sub(arrival));
        let reported = queued == Some(blame[Part::HostQueue as usize]);
        self.check(ensure(reported, || {
            let reported = blame[Part::HostQueue as usize];
            format!("request {} was queued for {queued:?} ns and tells {reported}", request.tag)
        }));
        let latency = now.checked_sub(arrival);
        let sum = blame.iter().sum::<u64>();
        self.check(ensure(latency == Some(sum), || {
            let parts = Part::NAMES.iter().zip(blame).filter(|(_, ns)| **ns > 0);
            let parts: Vec<_> = parts.collect();
            format!("request {} took {latency:?} ns and accounts for {parts:?}", request.tag)
        }));
    }

    /// A host request's page operation begins.
    #[cold]
    pub fn begins(&mut self, id: TxnId, txn: &Txn, op: Op) {
        match op {
            Op::Trim => self.data.trims(txn.lpn),
            _ => self.data.begins(id, txn, op == Op::Write),
        }
    }

    /// A write has put its sectors into the buffer.
    #[cold]
    pub fn buffered(&mut self, id: TxnId, txn: &Txn) {
        self.data.buffered(id, txn);
    }

    /// A read finds all of its sectors in the buffer.
    #[cold]
    pub fn hits(&mut self, id: TxnId, txn: &Txn) {
        let result = self.data.hits(id, txn);
        self.check(result);
    }

    /// A read finds these of its sectors in the buffer, and not all.
    #[cold]
    pub fn overlaid(&mut self, id: TxnId, txn: &Txn, present: u64) {
        self.data.overlaid(id, txn, present);
    }

    /// A transaction will program what is dirty of a buffered page.
    #[cold]
    pub fn writes_back(&mut self, id: TxnId, txn: &Txn) {
        self.data.on_dispatch(id, txn);
    }

    /// These sectors of a page that was read stay in the buffer.
    #[cold]
    pub fn keeps(&mut self, id: TxnId, txn: &Txn, sectors: u64) {
        self.data.keeps(id, txn, sectors);
    }

    /// The buffer no longer holds a page.
    #[cold]
    pub fn forgets(&mut self, lpn: Lpn) {
        self.data.forgets(lpn);
    }

    /// An array unit is about to begin an operation, whose page is now known.
    #[cold]
    pub fn prepared(&mut self, id: TxnId, txn: &Txn, ftl: &Ftl) {
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

    /// A host's read has ended, or found no page to read.
    #[cold]
    pub fn read_ended(&mut self, id: TxnId, txn: &Txn) {
        let result = self.data.read_ended(id, txn);
        self.check(result);
    }

    /// A write has read what it does not write.
    #[cold]
    pub fn merges(&mut self, id: TxnId, own: u64) {
        self.data.merges(id, own);
    }

    /// A program has ended, before the map learns of it.
    #[cold]
    pub fn programmed(&mut self, id: TxnId, txn: &Txn, ftl: &Ftl) {
        let result = self.data.programmed(id, txn, ftl);
        self.check(result);
    }

    /// A page is laid down as if it had been written before.
    #[cold]
    pub fn laid_down(&mut self, lpn: Lpn, ppn: Ppn) {
        self.data.laid_down(lpn, ppn);
    }

    /// An outdated page counts as written before the start.
    #[cold]
    pub fn revived(&mut self, lpn: Lpn, ppn: Ppn) {
        self.data.revived(lpn, ppn);
    }

    /// A block has been erased.
    #[cold]
    pub fn erased(&mut self, block: BlockId) {
        self.data.erased(block);
    }

    /// A page moves that another operation has read.
    #[cold]
    pub fn takes_over(&mut self, id: TxnId, read: TxnId) {
        self.data.takes_over(id, read);
    }

    /// A transaction is no more.
    #[cold]
    pub fn gone(&mut self, id: TxnId) {
        self.data.gone(id);
    }
}

/// Checks the books of every room, of those that take long these.
///
/// # Errors
/// The first thing that is not as it must be.
pub fn everything(rooms: &Rooms<'_>, long: Long) -> Result<(), String> {
    let mut census = Census::new(&rooms.flash.txns);
    rooms.flash.audit(rooms.now, &mut census)?;
    for id in rooms.hazards.waiting(&rooms.flash.txns) {
        census.found(id, "the wait for its page")?;
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
            let in_order = end >= last && end.as_ns() >= rooms.now;
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

/// Each request has as many operations as it waits for, each job one.
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

/// On each logical page any number of readers or one writer is at work.
fn pages_held(rooms: &Rooms<'_>, census: &Census) -> Result<(), String> {
    let mut held: BTreeMap<u32, (u32, bool)> = BTreeMap::new();
    for id in census.ids().filter(|&id| census.holds_page(id)) {
        let txn = &rooms.flash.txns[id];
        if matches!(txn.owner, Owner::Job(_) | Owner::Move { .. }) {
            continue;
        }
        let (readers, writing) = held.entry(txn.lpn.0).or_default();
        let alone = !*writing && (!txn.changes_page() || *readers == 0);
        ensure(alone, || format!("two operations at a time change {:?}", txn.lpn))?;
        if txn.changes_page() { *writing = true } else { *readers += 1 }
    }
    let mut entries = 0;
    for (lpn, readers, writing) in rooms.hazards.entries() {
        let is = held.get(&lpn.0).copied().unwrap_or_default();
        ensure(is == (readers, writing), || {
            format!("{lpn:?} has {is:?} readers and a writer, counted as {readers}, {writing}")
        })?;
        entries += 1;
    }
    let all = entries == held.len() && entries == rooms.hazards.len();
    ensure(all, || "an operation is under way on a page that is not marked".into())
}

/// The translation layer's books, and what the flash is writing of each block.
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
    ensure(lost.is_none(), || format!("block {lost:?} gave out a page that nobody programs"))?;
    for (plane, job) in (0..).map(PlaneId).zip(rooms.jobs) {
        let pool = rooms.ftl.blocks.pool(plane);
        let victims = (0..pool.len())
            .filter(|&at| pool.state[at] == crate::ftl::BlockState::Victim)
            .map(|at| pool.block(at));
        let is: Vec<BlockId> = victims.collect();
        ensure(is.iter().eq(job), || format!("{plane:?} empties {is:?}, its job is {job:?}"))?;
        let free = rooms.ftl.alloc.free_blocks(plane);
        let kept = job.is_some() || free >= RESERVE_BLOCKS;
        ensure(kept, || format!("{plane:?} has no reserve left: {free} free blocks"))?;
    }
    Ok(())
}

/// The pages of each plane that are not at home, counted in the map.
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
