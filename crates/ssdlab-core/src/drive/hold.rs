//! The way through an order that holds requests back: in, and on to the flash when it lets them go.

use std::cell::Cell;

use ssdlab_nand::PlaneId;

use super::Drive;
use crate::account::{Cause, OpKind};
use crate::flash::{Owner, TxnId, UnitId};
use crate::host::{Active, Op};
use crate::policy::PlacementHint;
use crate::policy::program_mode::ProgramModeView;
use crate::policy::scheduler::{Decision, Dispatch, DispatchMode, Occasion, QueueView};
use crate::queue::{GroupId, Queue};
use crate::slots::{AnyProgramMode, AnyScheduler};

/// What an order that holds needs of the drive.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    pub(super) queue: Queue,
    /// By class of blocks: nanoseconds in which a page is moved there and programmed.
    programming: Box<[u64]>,
    /// Groups that have come or grown and have not been offered to the order.
    entered: Vec<GroupId>,
    /// Planes on which a job has ended.
    ended: Vec<PlaneId>,
    /// Lists that are empty between two uses; kept for their memory.
    classes: Vec<Option<u8>>,
    planes: Vec<PlaneId>,
}

/// The view of an order that holds; a macro, so that the rooms that it shows stay apart from the
/// order itself.
macro_rules! view {
    ($drive:ident) => {
        view!($drive, &Cell::new(0))
    };
    ($drive:ident, $work:expr) => {
        QueueView {
            now: $drive.now,
            queue: &$drive.hold.as_ref().expect("an order that holds").queue,
            flash: &$drive.flash,
            ftl: &$drive.ftl,
            collecting: $drive.jobs.collecting(),
            programming: &$drive.hold.as_ref().expect("an order that holds").programming,
            work: $work,
        }
    };
}

impl Hold {
    /// What the order needs, if it holds.
    pub(super) fn new(
        order: &AnyScheduler,
        program: &mut [AnyProgramMode],
        flash: &crate::flash::Flash,
        planes: u32,
        classes: usize,
    ) -> Option<Box<Hold>> {
        let programming = (0..classes as u8).map(|class| {
            let mut hint = PlacementHint::default();
            for link in &mut *program {
                link.fill(&ProgramModeView { cause: Cause::Host, class, hotness: None }, &mut hint);
            }
            flash.nominal_program(hint.program_mode.unwrap_or(0)).as_ns()
        });
        order.window().is_some().then(|| {
            Box::new(Hold {
                queue: Queue::new(planes),
                programming: programming.collect(),
                entered: Vec::new(),
                ended: Vec::new(),
                classes: Vec::new(),
                planes: Vec::new(),
            })
        })
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
        match self.hold.is_some() && chosen {
            true => self.keep(id, plane),
            false => self.enqueue_host(id, plane),
        }
    }

    #[inline(never)]
    fn keep(&mut self, id: TxnId, plane: PlaneId) {
        self.flash.txns[id].plane = plane;
        self.flash.note_wait(id, self.now);
        let reading = match self.flash.txns[id].kind {
            OpKind::Read => {
                let rung = self.policies.read_start.start(&self.read_view(id));
                self.flash.nominal_read(id, rung).as_ns()
            }
            _ => 0,
        };
        let owner = self.flash.txns[id].owner;
        let (kind, arrival, seq) = match owner {
            Owner::Request(slot) => {
                let Active { request, arrival_seq, .. } = &self.host[slot];
                let reads = request.op == Op::Read;
                let kind = if reads { OpKind::Read } else { OpKind::Program };
                (kind, request.arrival.as_ns(), *arrival_seq)
            }
            _ => (OpKind::Program, self.flash.txns[id].began(), self.flash.txns[id].seq()),
        };
        let hold = self.hold.as_mut().expect("an order that holds");
        // What comes together goes together.
        let last = hold.entered.last().copied();
        let joined = last.filter(|&last| hold.queue.group(last).owner == owner);
        let group = joined.unwrap_or_else(|| {
            let group = hold.queue.insert(owner, kind, arrival, seq);
            hold.entered.push(group);
            group
        });
        if self.flash.txns[id].was_held_up {
            hold.queue.waited(group);
        }
        let plane_share = hold.queue.add(&mut self.flash.txns, group, id, reading).clone();
        let estimate = self.policies.scheduler.estimate(&view!(self), kind, &plane_share);
        let hold = self.hold.as_mut().expect("an order that holds");
        hold.queue.plane_share_mut(group, plane).estimate = estimate;
    }

    /// Whether something has come that has not been offered to the order.
    #[inline]
    pub(super) fn has_to_offer(&self) -> bool {
        let hold = self.hold.as_deref();
        hold.is_some_and(|hold| !hold.entered.is_empty() || !hold.ended.is_empty())
    }

    /// Offers what has come to the order.
    #[inline]
    pub(super) fn offer(&mut self) {
        if self.has_to_offer() {
            self.offer_entered();
        }
    }

    #[inline(never)]
    fn offer_entered(&mut self) {
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
        // Who waited for the end of a job goes before the next one begins.
        while let Some(plane) = self.hold_mut().ended.pop() {
            self.ask_order(plane);
            self.next_job(plane);
        }
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
    fn dispatch(&mut self, next: Decision, plane: Option<PlaneId>) {
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
        let (kind, owner) = (group.kind, group.owner);
        let overtakes = view.queue.arrived(kind).next() != Some(next.group);
        let plane_shares = &group.plane_shares[from..from + count];
        let at_once = plane.is_none();
        let dispatch = Dispatch { group, plane_shares, at_once, overtakes };
        self.policies.scheduler.on_dispatch(&view, &dispatch, &mut classes);
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
            if self.hold_mut().queue.remove_plane_share(next.group, from) {
                self.offer_last(kind);
                // What goes leg by leg keeps its place.
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
            .any(|plane_share| view.is_idle(plane_share.plane))
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
        let queue = &mut self.hold.as_mut().expect("an order that holds").queue;
        queue.take(&self.flash.txns, group, plane_share)
    }

    fn hold_mut(&mut self) -> &mut Hold {
        self.hold.as_mut().expect("an order that holds")
    }
}
