//! Holds page operations for a scheduler with a window, and dispatches them to the flash.

use ssdlab_base::Nanos;
use ssdlab_nand::PlaneId;

use super::machine::Machine;
use crate::account::OpKind;
use crate::flash::{Fifo, Flash, Owner, Txn, TxnId, Txns, UnitId};
use crate::ftl::Ftl;
use crate::host::{Active, Op};
use crate::policy::PlacementHint;
use crate::policy::allocation::BlockClass;
use crate::policy::component::Components;
use crate::policy::program_mode::ProgramModeView;
use crate::policy::scheduler::{
    Decision, DecisionDetails, DispatchMode, Occasion, Planes, QueueView,
};
use crate::queue::{Arrival, GroupId, Queue};

/// The page operations of a group that waits.
#[derive(Clone, Debug)]
struct Held {
    /// The owner of the operations.
    owner: Owner,
    /// The operations on each plane that the group needs, in the order of its plane shares.
    txns: Vec<Fifo>,
}

/// The queue of a scheduler with a window, and the operations that it holds.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    queue: Queue,
    /// By group.
    held: Vec<Held>,
    /// By class of blocks, the time to transfer a page and program it there.
    programming: Box<[Nanos]>,
    /// Groups that have arrived or grown, and have not been offered to the scheduler.
    entered: Vec<GroupId>,
    /// Planes on which a job has ended.
    ended: Vec<PlaneId>,
    /// Whether the scheduler's timer has fired since it was last asked about all planes.
    again: bool,
    /// Lists that are empty between two uses, kept to reuse their memory.
    details: DecisionDetails,
    planes: Vec<PlaneId>,
}

/// The state of the planes, as a scheduler sees it.
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

    fn is_free(&self, plane: PlaneId) -> bool {
        self.flash.units.of(plane).is_free()
    }

    fn host_waits(&self, plane: PlaneId) -> (bool, bool) {
        self.flash.queues.host_waits(plane)
    }

    fn first_to_wait(&self, plane: PlaneId) -> Option<u64> {
        self.flash.queues.first_to_wait(&self.flash.txns, plane)
    }

    fn free_pages(&self, plane: PlaneId, class: BlockClass) -> u32 {
        self.ftl.alloc.pages_of(plane, class)
    }

    #[inline]
    fn is_collected(&self, plane: PlaneId) -> bool {
        self.collecting[plane.index()]
    }
}

/// Borrows the state of the planes. A macro leaves the scheduler free to be borrowed as well.
macro_rules! planes_of {
    ($machine:ident) => {
        PlanesNow { flash: &$machine.flash, ftl: &$machine.ftl, collecting: &$machine.collecting }
    };
}

impl Hold {
    /// Returns the empty queue, if the scheduler has a window.
    fn new(machine: &mut Machine) -> Option<Box<Hold>> {
        let policies = &mut machine.policies;
        policies.scheduler.window()?;
        let classes = machine.resolved.classes.count;
        let programming = BlockClass::numbered(0..classes).map(|class| {
            let mut hint = PlacementHint::default();
            for link in &mut policies.program_mode {
                link.fill(&ProgramModeView::of_a_class(class), &mut hint);
            }
            machine.flash.nominal_program(hint.program_mode.unwrap_or_default())
        });
        Some(Box::new(Hold {
            programming: programming.collect(),
            queue: Queue::new(machine.geometry.plane_count()),
            held: Vec::new(),
            entered: Vec::new(),
            ended: Vec::new(),
            again: false,
            details: DecisionDetails::default(),
            planes: Vec::new(),
        }))
    }

    /// Adds a group without operations.
    fn insert(&mut self, owner: Owner, arrival: Arrival) -> GroupId {
        let group = self.queue.insert(arrival);
        let at = group.0 as usize;
        if at == self.held.len() {
            self.held.push(Held { owner, txns: Vec::new() });
        }
        self.held[at].owner = owner;
        group
    }

    /// Returns the owner of a group.
    fn owner(&self, group: GroupId) -> Owner {
        self.held[group.0 as usize].owner
    }

    /// Adds an operation to a group. Returns the index of its plane in the group.
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

    /// Removes and returns the first operation of a group on a plane.
    fn take(&mut self, txns: &Txns, group: GroupId, at: usize) -> Option<TxnId> {
        self.held[group.0 as usize].txns[at].pop(txns)
    }

    /// Removes a group's share of a plane, whose operations have been dispatched. Returns true if
    /// it was the last share.
    fn remove_plane_share(&mut self, group: GroupId, at: usize) -> bool {
        let gone = self.held[group.0 as usize].txns.remove(at);
        debug_assert!(gone.is_empty(), "all has been taken");
        self.queue.remove_plane_share(group, at)
    }

    /// Returns the operations that wait here.
    pub(super) fn waiting(&self, txns: &Txns) -> Vec<TxnId> {
        self.held.iter().flat_map(|held| &held.txns).flat_map(|list| list.ids(txns)).collect()
    }
}

/// Sends page operations to the queues of the flash, through the scheduler if it has a window.
#[derive(Clone, Debug)]
pub(super) struct Dispatcher {
    /// The requests that wait until the scheduler dispatches them; `None` without a window.
    hold: Option<Box<Hold>>,
}

impl Dispatcher {
    /// Returns a dispatcher without operations.
    pub(super) fn new(machine: &mut Machine) -> Dispatcher {
        Dispatcher { hold: Hold::new(machine) }
    }

    /// Sends a page operation to its plane, or into the queue of a scheduler with a window.
    #[inline]
    pub(super) fn send(&mut self, machine: &mut Machine, id: TxnId, plane: PlaneId) {
        // Operations that load map entries do not wait for the scheduler.
        let chosen = !matches!(machine.flash.txns[id].owner, Owner::Map { .. });
        match &mut self.hold {
            Some(hold) if chosen => hold.hold_for_scheduler(machine, id, plane),
            _ => machine.enqueue_host(id, plane),
        }
    }

    /// Returns whether a group or a plane waits to be offered to the scheduler.
    #[inline]
    pub(super) fn has_to_offer(&self) -> bool {
        let hold = self.hold.as_deref();
        hold.is_some_and(|hold| !hold.entered.is_empty() || !hold.ended.is_empty() || hold.again)
    }

    /// Returns whether the scheduler has a window, so that requests wait for its decisions.
    pub(super) fn has_window(&self) -> bool {
        self.hold.is_some()
    }

    /// Returns the operations that wait until the scheduler dispatches them.
    pub(super) fn waiting(&self, txns: &Txns) -> Vec<TxnId> {
        self.hold.as_ref().map_or_else(Vec::new, |hold| hold.waiting(txns))
    }

    /// Notes that a job on a plane has ended. Returns whether the scheduler decides before the next
    /// job begins.
    pub(super) fn job_ended(&mut self, plane: PlaneId) -> bool {
        self.hold.as_mut().map(|hold| hold.ended.push(plane)).is_some()
    }

    /// Returns whether a request waits for a decision of the scheduler now.
    pub(super) fn holds_groups(&self) -> bool {
        self.hold.as_deref().is_some_and(|hold| !hold.queue.is_empty())
    }

    /// Lets the scheduler decide about every plane again, because its timer has fired.
    #[cold]
    pub(super) fn offer_again(&mut self) {
        if let Some(hold) = &mut self.hold {
            hold.again = true;
        }
    }

    /// Offers the groups that have arrived to the scheduler.
    pub(super) fn offer_entered(&mut self, machine: &mut Machine) {
        if let Some(hold) = &mut self.hold {
            hold.offer_entered(machine);
        }
    }

    /// Offers the scheduler a plane whose job has ended, and returns the plane. `None` if no job
    /// has ended since the last offer.
    pub(super) fn offer_ended(&mut self, machine: &mut Machine) -> Option<PlaneId> {
        let hold = self.hold.as_mut()?;
        let plane = hold.ended.pop()?;
        hold.schedule_plane(machine, plane);
        Some(plane)
    }

    /// Asks the scheduler which groups to dispatch to the planes of a free unit.
    #[inline]
    pub(super) fn ask_scheduler(&mut self, machine: &mut Machine, unit: UnitId) {
        if let Some(hold) = &mut self.hold {
            hold.ask_for_all_of(machine, unit);
        }
    }
}

impl Hold {
    #[inline(never)]
    fn hold_for_scheduler(&mut self, machine: &mut Machine, id: TxnId, plane: PlaneId) {
        machine.flash.txns.set_plane(id, plane);
        machine.flash.note_wait(id, machine.now);
        let reading = match machine.flash.txns[id].kind {
            OpKind::Read => {
                let level = machine.policies.start_level(machine.read_view(id));
                machine.flash.nominal_read(id, level)
            }
            _ => Nanos::ZERO,
        };
        let Txn { owner, lpn, .. } = machine.flash.txns[id];
        let (kind, time, seq) = match owner {
            Owner::Request(slot) => {
                let Active { request, arrival_seq, .. } = &machine.host[slot];
                let reads = request.op == Op::Read;
                let kind = if reads { OpKind::Read } else { OpKind::Program };
                (kind, request.arrival, *arrival_seq)
            }
            _ => (OpKind::Program, machine.flash.txns[id].began(), machine.flash.txns[id].seq()),
        };
        // Operations of one owner that arrive together form one group.
        let last = self.entered.last().copied();
        let joined = last.filter(|&last| self.owner(last) == owner);
        let group = joined.unwrap_or_else(|| {
            let request = machine.attrs(owner);
            let group = self.insert(owner, Arrival { kind, time, seq, request, lpn });
            self.entered.push(group);
            group
        });
        if machine.flash.txns[id].was_held_up {
            self.queue.waited(group);
        }
        let at = self.add(&mut machine.flash.txns, group, id, reading);
        let Hold { queue, programming, .. } = &*self;
        let planes = &planes_of!(machine);
        let (now, components) = (machine.now, Components::new(&machine.policies.metadata));
        let view = QueueView { now, queue, planes, programming, components };
        let plane_share = &queue.group(group).plane_shares[at];
        let estimate = machine.policies.scheduler.estimate(&view, kind, plane_share);
        self.queue.plane_share_mut(group, at).estimate = estimate;
    }

    /// Offers the groups that have arrived to the scheduler, and all others if its timer has fired.
    pub(super) fn offer_entered(&mut self, machine: &mut Machine) {
        if std::mem::take(&mut self.again) {
            let planes = (0..machine.geometry.plane_count()).map(PlaneId);
            planes.for_each(|plane| self.schedule_plane(machine, plane));
        }
        let mut entered = std::mem::take(&mut self.entered);
        for group in entered.drain(..) {
            if !self.queue.waits(group) {
                continue;
            }
            if self.dispatch_next(machine, Occasion::Arrival(group)) {
                continue;
            }
            let mut planes = std::mem::take(&mut self.planes);
            planes.extend(self.queue.group(group).plane_shares.iter().map(|share| share.plane));
            planes.drain(..).for_each(|plane| self.schedule_plane(machine, plane));
            self.planes = planes;
        }
        entered.append(&mut self.entered);
        self.entered = entered;
    }

    #[inline(never)]
    fn ask_for_all_of(&mut self, machine: &mut Machine, unit: UnitId) {
        machine.flash.units[unit].planes().for_each(|plane| self.schedule_plane(machine, plane));
    }

    /// Asks the scheduler which groups to dispatch, after a change on a plane.
    #[inline(always)]
    pub(super) fn schedule_plane(&mut self, machine: &mut Machine, plane: PlaneId) {
        if machine.policies.scheduler.is_overdue(machine.now, plane) {
            let flash = &mut machine.flash;
            flash.queues.raise(&mut flash.txns, plane);
        }
        if !self.queue.is_empty() {
            self.dispatch_to(machine, plane);
        }
    }

    /// Dispatches the groups that the scheduler chooses for a plane, one after another.
    #[inline(never)]
    fn dispatch_to(&mut self, machine: &mut Machine, plane: PlaneId) {
        while self.dispatch_next(machine, Occasion::Plane(plane)) {}
    }

    /// Dispatches the group that the scheduler chooses now. Returns false if it chooses none.
    fn dispatch_next(&mut self, machine: &mut Machine, occasion: Occasion) -> bool {
        let Hold { queue, programming, details, .. } = &mut *self;
        let planes = &planes_of!(machine);
        let (now, components) = (machine.now, Components::new(&machine.policies.metadata));
        let view = QueueView { now, queue, planes, programming, components };
        let next = machine.policies.scheduler.next(&view, occasion, details);
        machine.stats.scheduling_steps += std::mem::take(&mut details.steps);
        let Some(next) = next else { return false };
        let mut classes = std::mem::take(&mut details.classes);
        self.dispatch(machine, next, occasion, &mut classes);
        self.details.classes = classes;
        true
    }

    /// Dispatches a group to the flash, or its share of one plane.
    fn dispatch(
        &mut self,
        machine: &mut Machine,
        next: Decision,
        occasion: Occasion,
        classes: &mut Vec<Option<BlockClass>>,
    ) {
        let group = self.queue.group(next.group);
        let of_plane =
            |plane| group.plane_shares.iter().position(|plane_share| plane_share.plane == plane);
        let whole = next.mode != DispatchMode::InPlace;
        let from = match (whole, occasion) {
            (false, Occasion::Plane(plane)) => {
                of_plane(plane).expect("a group that needs this plane")
            }
            _ => 0,
        };
        let count = if whole { group.plane_shares.len() } else { 1 };
        let kind = group.kind;
        let overtakes = self.queue.arrived(kind).next() != Some(next.group);
        let at_once = matches!(occasion, Occasion::Arrival(_));
        let owner = self.owner(next.group);
        let first_place = (next.mode == DispatchMode::InFirstPlace)
            .then(|| self.queue.take_first_place(next.group));
        let mut of_page = classes.drain(..);
        for _ in 0..count {
            let plane = self.queue.group(next.group).plane_shares[from].plane;
            while let Some(id) = self.take(&machine.flash.txns, next.group, from) {
                if machine.flash.txns[id].kind == OpKind::Program {
                    let class = of_page.next().flatten();
                    let hint = machine.flash.txns.hint_mut(id);
                    hint.quality = class.or(hint.quality);
                }
                if !at_once {
                    machine.flash.txns.note_held_up(id);
                }
                machine.flash.wait_ends(id, machine.now);
                match first_place {
                    Some(place) => machine.flash.inherit_seq(id, place),
                    None if next.mode == DispatchMode::Behind => machine.flash.assign_seq(id),
                    None => {}
                }
                machine.enqueue_host(id, plane);
            }
            if self.remove_plane_share(next.group, from) {
                self.offer_last(machine, kind);
                // A group that is dispatched plane by plane keeps its place, so it overtakes no
                // other.
                machine.count_dispatch(owner, kind, overtakes && whole);
            } else if !whole {
                self.offer_rest(machine, next.group);
            }
        }
    }

    /// Offers the rest of a group again if one of its planes is idle. Nothing else would trigger
    /// that offer.
    fn offer_rest(&mut self, machine: &mut Machine, group: GroupId) {
        let planes = planes_of!(machine);
        if self.queue.group(group).plane_shares.iter().any(|share| planes.is_idle(share.plane)) {
            self.entered.push(group);
        }
    }

    /// Offers the group that has just become the last one inside the scheduler's window.
    fn offer_last(&mut self, machine: &mut Machine, kind: OpKind) {
        let window = machine.policies.scheduler.window().unwrap_or(usize::MAX);
        self.entered.extend(self.queue.at(kind, window - 1));
    }
}
