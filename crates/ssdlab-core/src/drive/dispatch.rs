//! The way through a scheduler that lets requests wait: in, and on to the flash when it lets them go.

use std::cell::Cell;

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::PlaneId;

use super::Drive;
use crate::account::{Cause, OpKind, Priority, RequestAttrs};
use crate::flash::{Fifo, Flash, Owner, Rank, TxnId, Txns, UnitId};
use crate::ftl::Ftl;
use crate::host::{Active, Op};
use crate::policy::PlacementHint;
use crate::policy::allocation::BlockClass;
use crate::policy::program_mode::ProgramModeView;
use crate::policy::scheduler::{
    Decision, Dispatch, DispatchMode, Occasion, Planes, QueueView, SchedulerView,
};
use crate::policy::suspend::{SuspendView, Verdict};
use crate::queue::{GroupId, Queue};
use ssdlab_schemes::{AnyProgramMode, AnyScheduler};

/// Page operations of a group that waits.
#[derive(Clone, Debug)]
struct Held {
    /// Whom they work for.
    owner: Owner,
    /// The operations on each plane that the group needs, in the order of its plane shares.
    txns: Vec<Fifo>,
}

/// What a scheduler that lets requests wait needs of the drive.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    queue: Queue,
    /// By group.
    held: Vec<Held>,
    /// By class of blocks: the time in which a page is moved there and programmed.
    programming: Box<[Nanos]>,
    /// Groups that have come or grown and have not been offered to the order.
    entered: Vec<GroupId>,
    /// Planes on which a job has ended.
    ended: Vec<PlaneId>,
    /// Lists that are empty between two uses; kept for their memory.
    classes: Vec<Option<BlockClass>>,
    planes: Vec<PlaneId>,
}

/// What the planes do, as a scheduler sees it.
struct PlanesNow<'a> {
    flash: &'a Flash,
    ftl: &'a Ftl,
    collecting: &'a [bool],
}

impl Planes for PlanesNow<'_> {
    #[inline]
    fn is_idle(&self, plane: PlaneId) -> bool {
        self.flash.load(plane) == 0
    }

    #[inline]
    fn is_free(&self, plane: PlaneId) -> bool {
        self.flash.is_free(plane)
    }

    #[inline]
    fn host_waits(&self, plane: PlaneId) -> (bool, bool) {
        self.flash.host_waits(plane)
    }

    #[inline]
    fn first_to_wait(&self, plane: PlaneId) -> Option<u64> {
        self.flash.first_to_wait(plane)
    }

    #[inline]
    fn free_pages(&self, plane: PlaneId, class: BlockClass) -> u32 {
        self.ftl.alloc.pages_of(plane, class)
    }

    #[inline]
    fn is_collected(&self, plane: PlaneId) -> bool {
        self.collecting[plane.index()]
    }
}

/// The view of a scheduler that lets requests wait; a macro, so that what it shows stays apart from the
/// scheduler itself.
macro_rules! view {
    ($drive:ident) => {
        view!($drive, &Cell::new(0))
    };
    ($drive:ident, $work:expr) => {
        QueueView {
            now: SimTime::from_ns($drive.now),
            queue: &$drive.hold.as_ref().expect("requests that wait").queue,
            planes: &PlanesNow {
                flash: &$drive.flash,
                ftl: &$drive.ftl,
                collecting: $drive.background.jobs.collecting(),
            },
            programming: &$drive.hold.as_ref().expect("requests that wait").programming,
            work: $work,
        }
    };
}

impl Hold {
    /// What the order needs, if it holds.
    pub(super) fn new(
        order: &AnyScheduler,
        program: &mut [AnyProgramMode],
        flash: &Flash,
        planes: u32,
        classes: usize,
    ) -> Option<Box<Hold>> {
        let programming = BlockClass::numbered(0..classes).map(|class| {
            let mut hint = PlacementHint::default();
            for link in &mut *program {
                link.fill(&ProgramModeView { cause: Cause::Host, class, hotness: None }, &mut hint);
            }
            flash.nominal_program(hint.program_mode.unwrap_or_default())
        });
        order.window().is_some().then(|| {
            Box::new(Hold {
                queue: Queue::new(planes),
                held: Vec::new(),
                programming: programming.collect(),
                entered: Vec::new(),
                ended: Vec::new(),
                classes: Vec::new(),
                planes: Vec::new(),
            })
        })
    }

    /// A new group, without operations.
    fn insert(&mut self, owner: Owner, kind: OpKind, (arrival, seq): (SimTime, u64)) -> GroupId {
        let group = self.queue.insert(kind, arrival, seq);
        let at = group.0 as usize;
        if at == self.held.len() {
            self.held.push(Held { owner, txns: Vec::new() });
        }
        self.held[at].owner = owner;
        group
    }

    /// Whom a group works for.
    fn owner(&self, group: GroupId) -> Owner {
        self.held[group.0 as usize].owner
    }

    /// Adds an operation to a group; the place of its plane among those that the group needs.
    fn add(&mut self, txns: &mut Txns, group: GroupId, id: TxnId, reading: Nanos) -> usize {
        let (plane, kind) = (txns[id].plane, txns[id].kind);
        let at = self.queue.add(group, plane, (kind, reading));
        let lists = &mut self.held[group.0 as usize].txns;
        if at == lists.len() {
            lists.push(Fifo::EMPTY);
        }
        lists[at].push(txns, id);
        at
    }

    /// Takes the first operation of a group on a plane.
    fn take(&mut self, txns: &Txns, group: GroupId, at: usize) -> Option<TxnId> {
        self.held[group.0 as usize].txns[at].pop(txns)
    }

    /// All of a group's operations on a plane have gone; true if that was the last plane.
    fn remove_plane_share(&mut self, group: GroupId, at: usize) -> bool {
        let gone = self.held[group.0 as usize].txns.remove(at);
        debug_assert!(gone.is_empty(), "all has been taken");
        self.queue.remove_plane_share(group, at)
    }

    /// The operations that wait here.
    pub(super) fn waiting(&self, txns: &Txns) -> Vec<TxnId> {
        self.held.iter().flat_map(|held| &held.txns).flat_map(|list| list.ids(txns)).collect()
    }

    /// A job on a plane has ended.
    pub(super) fn job_ended(&mut self, plane: PlaneId) {
        self.ended.push(plane);
    }
}

impl Drive {
    /// Sends a page operation on: to its plane, or into the queue of an order that holds.
    #[inline]
    pub(super) fn send(&mut self, id: TxnId, plane: PlaneId) {
        // Nobody chooses among those who bring entries of the map.
        let chosen = !matches!(self.flash.txns[id].owner, Owner::Map { .. });
        if self.hold.is_some() && chosen {
            self.keep(id, plane);
        } else {
            self.enqueue_host(id, plane);
        }
    }

    #[inline(never)]
    fn keep(&mut self, id: TxnId, plane: PlaneId) {
        self.flash.txns[id].plane = plane;
        self.flash.note_wait(id, self.now);
        let reading = match self.flash.txns[id].kind {
            OpKind::Read => {
                let level = self.policies.read_start.start(&self.read_view(id));
                self.flash.nominal_read(id, level)
            }
            _ => Nanos::ZERO,
        };
        let owner = self.flash.txns[id].owner;
        let (kind, arrival, seq) = match owner {
            Owner::Request(slot) => {
                let Active { request, arrival_seq, .. } = &self.host[slot];
                let reads = request.op == Op::Read;
                let kind = if reads { OpKind::Read } else { OpKind::Program };
                (kind, request.arrival, *arrival_seq)
            }
            _ => (OpKind::Program, self.flash.txns[id].began(), self.flash.txns[id].seq()),
        };
        let hold = self.hold.as_mut().expect("requests that wait");
        // What comes together goes together.
        let last = hold.entered.last().copied();
        let joined = last.filter(|&last| hold.owner(last) == owner);
        let group = joined.unwrap_or_else(|| {
            let group = hold.insert(owner, kind, (arrival, seq));
            hold.entered.push(group);
            group
        });
        if self.flash.txns[id].was_held_up {
            hold.queue.waited(group);
        }
        let at = hold.add(&mut self.flash.txns, group, id, reading);
        let view = view!(self);
        let plane_share = &view.queue.group(group).plane_shares[at];
        let estimate = self.policies.scheduler.estimate(&view, kind, plane_share);
        self.hold_mut().queue.plane_share_mut(group, at).estimate = estimate;
    }

    /// Whether something has come that has not been offered to the order.
    #[inline]
    pub(super) fn has_to_offer(&self) -> bool {
        let hold = self.hold.as_deref();
        hold.is_some_and(|hold| !hold.entered.is_empty() || !hold.ended.is_empty())
    }

    /// Offers the groups that have come to the scheduler.
    pub(super) fn offer_entered(&mut self) {
        let mut entered = std::mem::take(&mut self.hold_mut().entered);
        for group in entered.drain(..) {
            if !view!(self).queue.waits(group) {
                continue;
            }
            let arrival = Occasion::Arrival(group);
            if let Some(next) = self.policies.scheduler.next(&view!(self), arrival) {
                self.dispatch(next, None);
                continue;
            }
            let mut planes = std::mem::take(&mut self.hold_mut().planes);
            planes.extend(
                view!(self)
                    .queue
                    .group(group)
                    .plane_shares
                    .iter()
                    .map(|plane_share| plane_share.plane),
            );
            planes.drain(..).for_each(|plane| self.ask_order(plane));
            self.hold_mut().planes = planes;
        }
        entered.append(&mut self.hold_mut().entered);
        self.hold_mut().entered = entered;
    }

    /// A plane on which a job has ended since the scheduler was last offered something.
    pub(super) fn take_ended(&mut self) -> Option<PlaneId> {
        self.hold_mut().ended.pop()
    }

    /// Asks the order who goes to the planes of a free unit.
    #[inline]
    pub(super) fn ask_order_for(&mut self, unit: UnitId) {
        if self.hold.is_some() {
            self.ask_for_all_of(unit);
        }
    }

    #[inline(never)]
    fn ask_for_all_of(&mut self, unit: UnitId) {
        self.flash.planes_of(unit).for_each(|plane| self.ask_order(plane));
    }

    /// Asks the order who goes, now that something has changed on a plane.
    #[inline(always)]
    pub(super) fn ask_order(&mut self, plane: PlaneId) {
        let Some(hold) = &self.hold else { return };
        let none_waits = hold.queue.is_empty();
        if self.policies.scheduler.is_overdue(&view!(self), plane) {
            self.flash.raise(plane);
        }
        if !none_waits {
            self.dispatch_to(plane);
        }
    }

    /// Lets those go whom the order wants to go next to a plane, if anybody.
    #[inline(never)]
    fn dispatch_to(&mut self, plane: PlaneId) {
        let (occasion, work) = (Occasion::Plane(plane), Cell::new(0));
        while let Some(next) = self.policies.scheduler.next(&view!(self, &work), occasion) {
            self.dispatch(next, Some(plane));
        }
        self.stats.scheduling_steps += work.get();
    }

    /// What was chosen goes to the flash; without a plane in question since it has just come and
    /// goes at once.
    pub(super) fn dispatch(&mut self, next: Decision, plane: Option<PlaneId>) {
        let mut classes = std::mem::take(&mut self.hold_mut().classes);
        let view = view!(self);
        let group = view.queue.group(next.group);
        let of_plane =
            |plane| group.plane_shares.iter().position(|plane_share| plane_share.plane == plane);
        let whole = next.mode != DispatchMode::InPlace;
        let from = match (whole, plane) {
            (false, Some(plane)) => of_plane(plane).expect("a group that needs this plane"),
            _ => 0,
        };
        let count = if whole { group.plane_shares.len() } else { 1 };
        let kind = group.kind;
        let overtakes = view.queue.arrived(kind).next() != Some(next.group);
        let plane_shares = &group.plane_shares[from..from + count];
        let at_once = plane.is_none();
        let dispatch = Dispatch { group, plane_shares, at_once, overtakes };
        self.policies.scheduler.on_dispatch(&view, &dispatch, &mut classes);
        let owner = self.hold_mut().owner(next.group);
        let first_place = (next.mode == DispatchMode::InFirstPlace)
            .then(|| self.hold_mut().queue.take_first_place(next.group));
        let mut of_page = classes.drain(..);
        for _ in 0..count {
            let plane = view!(self).queue.group(next.group).plane_shares[from].plane;
            while let Some(id) = self.take_held(next.group, from) {
                if self.flash.txns[id].kind == OpKind::Program {
                    let class = of_page.next().flatten();
                    let hint = &mut self.flash.txns[id].hint;
                    hint.quality = class.or(hint.quality);
                }
                self.flash.txns[id].was_held_up |= !at_once;
                self.flash.wait_ends(id, self.now);
                match first_place {
                    Some(place) => self.flash.inherit_seq(id, place),
                    None if next.mode == DispatchMode::Behind => self.flash.comes(id),
                    None => {}
                }
                self.enqueue_host(id, plane);
            }
            if self.hold_mut().remove_plane_share(next.group, from) {
                self.offer_last(kind);
                // What goes plane by plane keeps its place.
                self.count_dispatch(owner, kind, overtakes && whole);
            } else if !whole {
                self.offer_rest(next.group);
            }
        }
        drop(of_page);
        self.hold_mut().classes = classes;
    }

    /// Counts a request the first time that any of it goes: a write that reads first goes twice.
    fn count_dispatch(&mut self, owner: Owner, kind: OpKind, overtakes: bool) {
        let again = match owner {
            Owner::Request(slot) => std::mem::replace(&mut self.host[slot].dispatched, true),
            _ => false,
        };
        if !again {
            self.stats.dispatched(kind, overtakes);
        }
    }

    /// Offers what is left of a group again if one of its planes is idle: nobody else would.
    fn offer_rest(&mut self, group: GroupId) {
        let view = view!(self);
        if view
            .queue
            .group(group)
            .plane_shares
            .iter()
            .any(|plane_share| view.planes.is_idle(plane_share.plane))
        {
            self.hold_mut().entered.push(group);
        }
    }

    /// Offers the group that has become the last of those among which the order chooses.
    fn offer_last(&mut self, kind: OpKind) {
        let window = self.policies.scheduler.window().unwrap_or(usize::MAX);
        let hold = self.hold_mut();
        hold.entered.extend(hold.queue.at(kind, window - 1));
    }

    fn take_held(&mut self, group: GroupId, plane_share: usize) -> Option<TxnId> {
        let hold = self.hold.as_mut().expect("requests that wait");
        hold.take(&self.flash.txns, group, plane_share)
    }

    pub(super) fn hold_mut(&mut self) -> &mut Hold {
        self.hold.as_mut().expect("requests that wait")
    }

    /// Puts an operation for the host into the queue of a plane.
    #[inline]
    pub(super) fn enqueue_host(&mut self, id: TxnId, plane: PlaneId) {
        let txn = &mut self.flash.txns[id];
        txn.plane = plane;
        let (kind, owner) = (txn.kind, txn.owner);
        let RequestAttrs { priority, hint, .. } = self.attrs(owner);
        let level = self.policies.scheduler.rank(&SchedulerView { kind, priority, hint });
        self.flash.enqueue(id, Rank::host(level), self.now);
        if kind == OpKind::Read {
            self.ask_to_suspend(plane, priority);
        }
    }

    /// Asks whether a read that has come, or was there first, interrupts what its unit does.
    #[inline]
    pub(super) fn ask_to_suspend(&mut self, plane: PlaneId, priority: Priority) {
        if !self.flash.may_suspend() {
            return;
        }
        let unit = self.flash.unit_of(plane);
        let running = self.flash.in_service(unit, self.now);
        if running.aside || !matches!(running.kind, Some(OpKind::Program | OpKind::Erase)) {
            return;
        }
        let head = self.flash.held(unit).next().expect("an operation in service");
        let own = self.attrs(self.flash.txns[head].owner).priority;
        let view = SuspendView { running, priority, works_for_higher: own.is_above(priority) };
        match self.policies.suspend.verdict(&view) {
            Verdict::Wait => {}
            Verdict::Suspend => self.flash.suspend(unit, self.now),
            Verdict::DropLoop => self.flash.drop_loop(unit, self.now),
            Verdict::AfterLoop => self.flash.stop_after_loop(unit, self.now),
        }
    }
}
