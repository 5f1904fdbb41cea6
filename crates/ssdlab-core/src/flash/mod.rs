//! The flash back end: array units, channel buses and ECC engines, and the transactions in them.
//!
//! The drive decides what is enqueued and which waiting transaction a free unit serves next; from
//! there on this room knows what follows what:
//!
//! ```text
//! read      command (bus) → sense (unit) → transfer (bus) → decode (ECC) → done, or once more
//! program   command and transfer (bus) → program (unit) → done
//! erase     command (bus) → erase (unit) → done
//! ```
//!
//! Where commands are so short that they are not modelled, reads and erases begin at once.
//!
//! It is the only room that asks the physics how long an operation takes and whether it decodes;
//! who looks at blocks from outside does so through its [`Survey`].

mod ahead;
mod aside;
mod audit;
mod cells;
mod foresight;
mod lanes;
mod link;
mod next;
mod service;
mod setup;
mod sight;
mod survey;
mod timeline;
mod turns;
mod txn;
mod unit;

pub use ahead::SensedAhead;
pub use aside::SetAside;
pub use audit::Census;
pub use cells::{Cells, Facts};
pub use lanes::{HOST_RANKS, Rank};
pub use link::Moved;
pub use next::Next;
pub use setup::FlashSetup;
pub use survey::{At, Attempt, Read, Survey};
use timeline::Timeline;
pub use timeline::{Act, Span};
pub use txn::{Fifo, Owner, Room, Txn, TxnId, Txns};
pub use unit::State;

use ssdlab_base::SimTime;
use ssdlab_nand::{Geometry, PlaneId};

use crate::account::{Cause, OpKind, Part};
use crate::timers::Timers;
use foresight::Line;
use lanes::Lanes;
use link::Link;
use unit::Unit;

/// An array unit's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitId(pub u32);

/// What the flash tells the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A transaction ended.
    Done(TxnId),
    /// The reads that this unit holds did not decode: say at which level each goes on.
    Failed(UnitId),
    /// This unit may sense the next attempts of its reads ahead: say at which levels.
    Sensed(UnitId),
    /// A read that its unit has let go did not decode: it must be enqueued again.
    Again(TxnId),
    /// A unit begins to program or to erase while a host read waits for it.
    Began(UnitId),
}

/// The back end of a drive.
#[derive(Clone, Debug)]
pub struct Flash {
    /// Every transaction of the drive.
    pub txns: Txns,
    /// What the cells really hold.
    pub cells: Cells,
    setup: FlashSetup,
    geometry: Geometry,
    lanes: Box<[Lanes]>,
    blocked: Box<[bool]>,
    units: Box<[Unit]>,
    unit_of: Box<[u32]>,
    buses: Box<[Link]>,
    engines: Box<[Link]>,
    timers: Timers,
    /// What is foreseen of each channel; empty if nothing is.
    lines: Box<[Line]>,
    /// Whether it is foreseen which attempts fail, and when pages are decoded.
    fails_ahead: bool,
    /// Whether it is foreseen when pages that are moved to a unit will have been programmed.
    programs_ahead: bool,
    /// The last moment at which something happened, and the last slot whose timer has fired then.
    fired: (u64, usize),
    seq: u64,
    /// Whether transactions have taken the places of others.
    shares_places: bool,
    events: Vec<Event>,
    /// A list that is empty; kept for its memory.
    spare_events: Vec<Event>,
    idle: Vec<UnitId>,
    /// Operations done, by kind and cause.
    ops: [[u64; Cause::COUNT]; OpKind::COUNT],
    /// Attempts of reads after the first.
    retries: u64,
    uncorrectable: u64,
    set_aside: SetAside,
    /// Sensings ahead that nobody needed.
    in_vain: u64,
    /// What [`Flash::busy`] was when the counts were last reset.
    busy_before: (Vec<u64>, Vec<u64>),
    /// What is recorded of every part, if anything is.
    timeline: Option<Box<Timeline>>,
}

impl Flash {
    /// An idle back end.
    pub fn new(geometry: &Geometry, setup: FlashSetup, cells: Cells) -> Flash {
        let planes = geometry.plane_count();
        let units: Box<[Unit]> = (0..planes / setup.planes_per_unit)
            .map(|unit| {
                let first = PlaneId(unit * setup.planes_per_unit);
                Unit::new(first, setup.planes_per_unit, geometry.channel_of(first).0)
            })
            .collect();
        let channels = geometry.channels as usize;
        Flash {
            txns: Txns::default(),
            cells,
            lanes: vec![Lanes::default(); planes as usize].into_boxed_slice(),
            blocked: vec![false; planes as usize].into_boxed_slice(),
            unit_of: (0..planes).map(|plane| plane / setup.planes_per_unit).collect(),
            buses: vec![Link::default(); channels].into_boxed_slice(),
            engines: vec![Link::default(); channels].into_boxed_slice(),
            timers: Timers::new(units.len() + 2 * channels),
            lines: Box::default(),
            fails_ahead: false,
            programs_ahead: false,
            // Nothing that could still fail: no attempt has begun.
            fired: (0, usize::MAX),
            units,
            setup,
            geometry: geometry.clone(),
            seq: 0,
            shares_places: false,
            events: Vec::new(),
            spare_events: Vec::new(),
            idle: Vec::new(),
            ops: Default::default(),
            retries: 0,
            uncorrectable: 0,
            set_aside: SetAside::default(),
            in_vain: 0,
            busy_before: Default::default(),
            timeline: None,
        }
    }

    /// The next moment at which something happens here.
    #[inline]
    pub fn next_event(&self) -> SimTime {
        self.timers.next().map_or(SimTime::NEVER, |(time, _)| time)
    }

    /// What the drive has not heard, in the order in which it happened.
    #[inline]
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::replace(&mut self.events, std::mem::take(&mut self.spare_events))
    }

    /// Gives the list back that was taken, empty, for its memory.
    #[inline]
    pub fn recycle_events(&mut self, list: Vec<Event>) {
        self.spare_events = list;
    }

    /// Whether there are events to handle.
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Whether there is one to take.
    #[inline]
    pub fn has_idle(&self) -> bool {
        !self.idle.is_empty()
    }

    /// A unit that became free or was given work while free.
    #[inline]
    pub fn take_idle(&mut self) -> Option<UnitId> {
        let unit = self.idle.pop()?;
        self.units[unit.0 as usize].listed = false;
        Some(unit)
    }

    /// Gives a transaction its place in the order of coming, after all that have one.
    #[inline]
    pub fn comes(&mut self, id: TxnId) {
        self.txns[id].seq = self.seq;
        self.seq += 1;
    }

    /// The place of who comes next in the order of coming.
    #[inline]
    pub fn next_to_come(&self) -> u64 {
        self.seq
    }

    /// Gives a transaction a place in the order of coming that another had: from now on some may
    /// share theirs.
    #[inline]
    pub fn inherit_seq(&mut self, id: TxnId, seq: u64) {
        self.txns[id].seq = seq;
        self.shares_places = true;
    }

    /// Adds a transaction to its lane, in its place in the order of coming.
    #[inline(always)]
    pub fn enqueue(&mut self, id: TxnId, rank: Rank, now: u64) {
        let txn = &mut self.txns[id];
        txn.lane = rank.lane(txn.kind);
        self.enqueue_again(id, now);
    }

    /// Puts a transaction back into its lane, before all that came later.
    #[inline(always)]
    pub fn enqueue_again(&mut self, id: TxnId, now: u64) {
        self.txns[id].sibling = TxnId::NONE;
        let plane = self.txns[id].plane;
        let unit = self.unit_of(plane);
        self.note_wait(id, now);
        self.lanes[plane.index()].push(&mut self.txns, id);
        self.units[unit.0 as usize].waiting += 1;
        self.list(unit);
        self.look_again(unit, now);
    }

    /// Remembers what the unit had given to each cause when this transaction began to wait.
    #[inline]
    pub fn note_wait(&mut self, id: TxnId, now: u64) {
        let txn = &mut self.txns[id];
        debug_assert_eq!(txn.since, now, "a wait begins where the time before it was charged");
        let unit = &mut self.units[self.unit_of[txn.plane.index()] as usize];
        unit.settle(now);
        txn.waited = unit.busy;
    }

    /// Ends the wait of a transaction that leaves its queue for another.
    pub fn wait_ends(&mut self, id: TxnId, now: u64) {
        self.charge_wait(id, now);
    }

    /// Ends a transaction's wait and divides it among the causes that its unit worked for.
    #[inline(always)]
    fn charge_wait(&mut self, id: TxnId, now: u64) {
        let txn = &mut self.txns[id];
        let total = now - txn.since;
        if total == 0 {
            return;
        }
        if txn.failed > 0 {
            return txn.charge(Part::Retry, now);
        }
        let unit = &mut self.units[self.unit_of[txn.plane.index()] as usize];
        unit.settle(now);
        let mut others = 0;
        for cause in 1..Cause::COUNT {
            let busy = unit.busy[cause] - txn.waited[cause];
            txn.blame[Part::DieHost as usize + cause] += busy;
            others += busy;
        }
        txn.blame[Part::DieHost as usize] += total - others;
        txn.since = now;
    }

    /// Lists a unit to be served if it is free.
    #[inline]
    fn list(&mut self, id: UnitId) {
        let unit = &mut self.units[id.0 as usize];
        if unit.state == State::Idle && !unit.listed {
            unit.listed = true;
            self.idle.push(id);
        }
    }

    /// Keeps the host's programs on a plane waiting, or lets them go on.
    pub fn block_programs(&mut self, plane: PlaneId, blocked: bool) {
        self.blocked[plane.index()] = blocked;
        if !blocked {
            self.list(self.unit_of(plane));
        }
    }

    /// Whether programs of the host are kept waiting on a plane.
    pub fn blocks_programs(&self, plane: PlaneId) -> bool {
        self.blocked[plane.index()]
    }

    /// Lets the host's programs go on wherever they were kept waiting.
    pub fn unblock_all(&mut self) {
        for plane in (0..self.geometry.plane_count()).map(PlaneId) {
            if self.blocked[plane.index()] {
                self.block_programs(plane, false);
            }
        }
    }

    /// The first transaction of a plane's lane.
    #[inline]
    pub fn head(&self, plane: PlaneId, lane: u8) -> TxnId {
        self.lanes[plane.index()].head(lane)
    }

    /// The first of a plane's host programs that wait with a later rank joins those of the first,
    /// in its place in the order of coming.
    pub fn raise(&mut self, plane: PlaneId) {
        let first = Rank::host(0).lane(OpKind::Program);
        let lanes = &mut self.lanes[plane.index()];
        let later = Rank::HOST_PROGRAMS & !(1 << first);
        let id = lanes.first(&self.txns, later).and_then(|lane| lanes.pop(&mut self.txns, lane));
        if let Some(id) = id {
            self.txns[id].lane = first;
            lanes.push(&mut self.txns, id);
        }
    }

    /// Takes the first transaction of a plane's lane.
    #[inline]
    pub fn pop(&mut self, plane: PlaneId, lane: u8) -> TxnId {
        self.units[self.unit_of[plane.index()] as usize].waiting -= 1;
        self.lanes[plane.index()].pop(&mut self.txns, lane).expect("a lane that has a head")
    }

    /// Joins `id` to the transactions that will be served together with `head`.
    pub fn join(&mut self, head: TxnId, id: TxnId) {
        self.txns[id].sibling = self.txns[head].sibling;
        self.txns[head].sibling = id;
    }

    /// Calls `act` for `head` and everything served with it.
    #[inline(always)]
    fn for_members(&mut self, head: TxnId, mut act: impl FnMut(&mut Flash, TxnId)) {
        let mut member = head;
        while member.is_some() {
            // The act may end the member and give its slot away.
            let next = self.txns[member].sibling;
            act(self, member);
            member = next;
        }
    }

    /// Operations done, by kind and cause.
    pub fn ops(&self) -> &[[u64; Cause::COUNT]; OpKind::COUNT] {
        &self.ops
    }

    /// Attempts of reads after the first, reads that no level decoded, suspensions.
    pub fn error_counts(&self) -> (u64, u64, u64) {
        (
            self.retries - self.retries_to_come(),
            self.uncorrectable,
            self.set_aside.programs + self.set_aside.erases,
        )
    }

    /// Nanoseconds in service until `now` of every array unit and of every bus.
    pub fn busy(&self, now: u64) -> (Vec<u64>, Vec<u64>) {
        let units = self.units.iter().map(|unit| unit.busy(now)).collect();
        let buses = if self.foresees() {
            self.lines.iter().map(|line| line.busy(now)).collect()
        } else {
            self.buses.iter().map(|bus| bus.busy(now)).collect()
        };
        (units, buses)
    }

    /// [`Flash::busy`] since the counts were last reset.
    pub fn busy_counted(&self, now: u64) -> (Vec<u64>, Vec<u64>) {
        let (mut units, mut buses) = self.busy(now);
        for (busy, before) in [(&mut units, &self.busy_before.0), (&mut buses, &self.busy_before.1)]
        {
            busy.iter_mut().zip(before).for_each(|(busy, before)| *busy -= before);
        }
        (units, buses)
    }

    /// Counts a page that was read for the host, by its voltages.
    #[inline]
    pub fn count_read(&mut self, id: TxnId) {
        self.cells.count_read(&self.txns[id]);
    }

    /// Forgets the operations and the busy times counted so far.
    pub fn reset_counts(&mut self, now: u64) {
        self.ops = Default::default();
        self.cells.reset_counts();
        self.retries = self.retries_to_come();
        (self.uncorrectable, self.in_vain) = (0, 0);
        self.set_aside = SetAside::default();
        self.busy_before = self.busy(now);
    }

    /// The planes of every array unit and its channel.
    pub fn planes_of_units(&self) -> impl Iterator<Item = (PlaneId, u32, u16)> + '_ {
        self.units.iter().map(|unit| (unit.first_plane, unit.planes, unit.channel))
    }
}
