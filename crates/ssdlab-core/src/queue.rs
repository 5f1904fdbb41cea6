//! Requests that an order holds back until it lets them go to the flash.
//!
//! Only an order that holds has such a queue. What waits is a *group*: the page operations of one
//! request, or one page that leaves the buffer; each with the planes that it needs.

use std::collections::VecDeque;

use ssdlab_nand::PlaneId;

use crate::account::OpKind;
use crate::flash::{Fifo, Owner, TxnId, Txns};

/// A group's place in the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupId(pub u32);

/// What a group needs of one plane.
#[derive(Clone, Debug)]
pub struct Leg {
    /// The plane.
    pub plane: PlaneId,
    /// Pages that it programs there.
    pub programs: u32,
    /// Nanoseconds that its reads take by themselves, as far as the controller can tell.
    pub reading: u64,
    /// The order's estimate of the plane's time for it, in nanoseconds, made when the leg came.
    pub estimate: u64,
    /// Its page operations.
    txns: Fifo,
}

/// Page operations that go to the flash together.
#[derive(Clone, Debug)]
pub struct Group {
    /// Whom they work for.
    pub owner: Owner,
    /// Whether a request reads or writes.
    pub kind: OpKind,
    /// When the request arrived, in nanoseconds.
    pub arrival: u64,
    /// The group's number in the order of coming.
    pub seq: u64,
    /// One for each plane.
    pub legs: Vec<Leg>,
    /// Whether it waited before it came here: for an operation on the same page, or with the read of
    /// a write that reads first.
    pub waited: bool,
    waits: bool,
}

/// The groups that wait.
#[derive(Clone, Debug)]
pub struct Queue {
    groups: Vec<Group>,
    free: Vec<GroupId>,
    /// Those that need a plane, by plane, in the order of their coming.
    of_plane: Box<[Vec<GroupId>]>,
    /// Reads and writes in the order of their coming, with their numbers in it.
    arrived: [VecDeque<(GroupId, u64)>; 2],
}

fn side(kind: OpKind) -> usize {
    usize::from(kind != OpKind::Read)
}

impl Queue {
    /// A queue in which nothing waits.
    pub fn new(planes: u32) -> Queue {
        Queue {
            groups: Vec::new(),
            free: Vec::new(),
            of_plane: vec![Vec::new(); planes as usize].into_boxed_slice(),
            arrived: Default::default(),
        }
    }

    /// The group.
    #[inline]
    pub fn group(&self, id: GroupId) -> &Group {
        &self.groups[id.0 as usize]
    }

    /// Whether a group waits.
    pub fn waits(&self, id: GroupId) -> bool {
        self.group(id).waits
    }

    /// An operation of the group waited for another on its page.
    pub fn waited(&mut self, id: GroupId) {
        self.groups[id.0 as usize].waited = true;
    }

    /// What a group needs of this plane, which it needs.
    pub fn leg_mut(&mut self, id: GroupId, plane: PlaneId) -> &mut Leg {
        let legs = &mut self.groups[id.0 as usize].legs;
        legs.iter_mut().find(|leg| leg.plane == plane).expect("a leg of the group")
    }

    /// The groups that need a plane, the first to come first.
    #[inline]
    pub fn of_plane(&self, plane: PlaneId) -> &[GroupId] {
        &self.of_plane[plane.index()]
    }

    /// The groups of a kind that wait, the first to come first.
    pub fn arrived(&self, kind: OpKind) -> impl Iterator<Item = GroupId> + '_ {
        self.arrived[side(kind)].iter().map(|(id, _)| *id)
    }

    /// A new group, without operations; `seq` is its place in the order of coming.
    pub fn insert(&mut self, owner: Owner, kind: OpKind, arrival: u64, seq: u64) -> GroupId {
        let id = self.free.pop().unwrap_or_else(|| {
            let blank = Group {
                owner,
                kind,
                arrival,
                seq: 0,
                legs: Vec::new(),
                waited: false,
                waits: false,
            };
            self.groups.push(blank);
            GroupId(self.groups.len() as u32 - 1)
        });
        let group = &mut self.groups[id.0 as usize];
        (group.owner, group.kind, group.arrival) = (owner, kind, arrival);
        (group.seq, group.waited, group.waits) = (seq, false, true);
        let arrived = &mut self.arrived[side(kind)];
        // What waited elsewhere before it came here is not always the last.
        let after = arrived.iter().rev().take_while(|(_, other)| *other > seq).count();
        arrived.insert(arrived.len() - after, (id, seq));
        id
    }

    /// Adds an operation to a group; the leg that it is part of.
    pub fn add(&mut self, txns: &mut Txns, group: GroupId, id: TxnId, reading: u64) -> &mut Leg {
        let (plane, programs) = (txns[id].plane, txns[id].kind == OpKind::Program);
        let seq = self.groups[group.0 as usize].seq;
        let of_plane = &mut self.of_plane[plane.index()];
        let later = |other: &&GroupId| self.groups[other.0 as usize].seq > seq;
        let after = of_plane.iter().rev().take_while(later).count();
        let legs = &mut self.groups[group.0 as usize].legs;
        let at = legs.iter().position(|leg| leg.plane == plane).unwrap_or_else(|| {
            legs.push(Leg { plane, programs: 0, reading: 0, estimate: 0, txns: Fifo::EMPTY });
            of_plane.insert(of_plane.len() - after, group);
            legs.len() - 1
        });
        let leg = &mut legs[at];
        leg.programs += u32::from(programs);
        leg.reading += reading;
        leg.txns.push(txns, id);
        leg
    }

    /// Takes the first operation of a group's leg.
    pub fn take(&mut self, txns: &Txns, group: GroupId, leg: usize) -> Option<TxnId> {
        self.groups[group.0 as usize].legs[leg].txns.pop(txns)
    }

    /// A group's leg has gone to the flash with all of its operations; true if it was the last, so
    /// that the group is gone too.
    pub fn remove_leg(&mut self, id: GroupId, leg: usize) -> bool {
        let group = &mut self.groups[id.0 as usize];
        let gone = group.legs.remove(leg);
        debug_assert!(gone.txns.is_empty(), "all has been taken");
        self.of_plane[gone.plane.index()].retain(|&other| other != id);
        let over = group.legs.is_empty();
        if over {
            self.remove(id);
        }
        over
    }

    fn remove(&mut self, id: GroupId) {
        let group = &mut self.groups[id.0 as usize];
        group.waits = false;
        let (kind, seq) = (group.kind, group.seq);
        let at = self.place_of(kind, id, seq);
        self.arrived[side(kind)].remove(at);
        self.free.push(id);
    }

    /// Where a group is among those of its kind. Two parts of a request have the same number.
    fn place_of(&self, kind: OpKind, id: GroupId, seq: u64) -> usize {
        let arrived = &self.arrived[side(kind)];
        let from = arrived.partition_point(|(_, other)| *other < seq);
        let own = arrived.iter().skip(from).position(|(other, _)| *other == id);
        from + own.expect("a group that waits")
    }

    /// The group takes the place of the first of its kind, and each that it overtakes that of the
    /// next: who is of the other kind has as many before it as it had.
    pub fn take_first_place(&mut self, id: GroupId) {
        let (kind, seq) = (self.group(id).kind, self.group(id).seq);
        let own = self.place_of(kind, id, seq);
        // The places stay, the groups move on by one.
        for at in (1..=own).rev() {
            self.arrived[side(kind)][at].0 = self.arrived[side(kind)][at - 1].0;
        }
        self.arrived[side(kind)][0].0 = id;
        for at in (0..=own).rev() {
            let (group, place) = self.arrived[side(kind)][at];
            self.move_to(group, place);
        }
    }

    fn move_to(&mut self, id: GroupId, place: u64) {
        let Queue { groups, of_plane, arrived, .. } = self;
        let group = &mut groups[id.0 as usize];
        let from = std::mem::replace(&mut group.seq, place);
        let (low, high) = (from.min(place), from.max(place));
        // Among its own kind a plane's order does not change but for who overtakes.
        let others = &arrived[1 - side(group.kind)];
        let next = others.partition_point(|(_, seq)| *seq < low);
        if place < from || others.get(next).is_some_and(|(_, seq)| *seq < high) {
            for leg in &groups[id.0 as usize].legs {
                of_plane[leg.plane.index()].sort_by_key(|other| groups[other.0 as usize].seq);
            }
        }
    }

    /// The operations that wait here.
    pub fn held<'a>(&'a self, txns: &'a Txns) -> impl Iterator<Item = TxnId> + 'a {
        let waiting = self.groups.iter().filter(|group| group.waits);
        waiting.flat_map(|group| &group.legs).flat_map(|leg| leg.txns.ids(txns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn txn(txns: &mut Txns, plane: u32) -> TxnId {
        let id = txns.insert(0);
        txns[id].plane = PlaneId(plane);
        id
    }

    #[test]
    fn a_group_waits_on_each_of_its_planes_until_it_goes() {
        let (mut queue, mut txns) = (Queue::new(4), Txns::default());
        let first = queue.insert(Owner::Request(7), OpKind::Program, 10, 1);
        let ids = [2, 3, 2].map(|plane| txn(&mut txns, plane));
        txns[ids[2]].kind = OpKind::Program;
        for id in ids {
            queue.add(&mut txns, first, id, 5);
        }
        let second = queue.insert(Owner::Request(8), OpKind::Read, 10, 2);
        let read = txn(&mut txns, 3);
        queue.add(&mut txns, second, read, 50);
        assert_eq!(queue.of_plane(PlaneId(2)), [first]);
        assert_eq!(queue.of_plane(PlaneId(3)), [first, second]);
        let legs = queue.group(first).legs.iter().map(|leg| (leg.programs, leg.reading));
        assert_eq!(legs.collect::<Vec<_>>(), [(1, 10), (0, 5)]);
        assert_eq!(queue.held(&txns).count(), 4);
        assert_eq!(
            [0, 0, 0].map(|leg| queue.take(&txns, first, leg)),
            [Some(ids[0]), Some(ids[2]), None]
        );
        assert!(!queue.remove_leg(first, 0));
        assert_eq!((queue.of_plane(PlaneId(2)).len(), queue.waits(first)), (0, true));
        assert_eq!(queue.take(&txns, first, 0), Some(ids[1]));
        assert!(queue.remove_leg(first, 0));
        assert_eq!(queue.of_plane(PlaneId(3)), [second]);
        assert_eq!(queue.arrived(OpKind::Program).count(), 0);
    }

    #[test]
    fn groups_come_in_the_order_of_their_arrival_whoever_has_gone_between() {
        let (mut queue, mut txns) = (Queue::new(1), Txns::default());
        let all: Vec<_> = (0..5)
            .map(|slot| {
                let group = queue.insert(Owner::Request(slot), OpKind::Read, 0, slot.into());
                let id = txn(&mut txns, 0);
                queue.add(&mut txns, group, id, 1);
                group
            })
            .collect();
        for gone in [2, 0, 1] {
            queue.take(&txns, all[gone], 0);
            assert!(queue.remove_leg(all[gone], 0));
        }
        assert_eq!(queue.arrived(OpKind::Read).collect::<Vec<_>>(), all[3..]);
        // A place that is used again is another group.
        let next = queue.insert(Owner::Request(9), OpKind::Read, 0, 9);
        assert_eq!(next, all[1]);
        assert_eq!(queue.arrived(OpKind::Read).collect::<Vec<_>>(), [all[3], all[4], next]);
        assert!(queue.group(next).seq > queue.group(all[4]).seq);
    }

    #[test]
    fn a_write_takes_the_place_of_the_first_and_reads_keep_theirs() {
        let (mut queue, mut txns) = (Queue::new(2), Txns::default());
        let kinds = ["write", "read", "write", "read", "write", "read"];
        let groups: Vec<_> = (0..)
            .zip(kinds)
            .map(|(seq, kind)| {
                let kind = if kind == "read" { OpKind::Read } else { OpKind::Program };
                let group = queue.insert(Owner::Request(seq as u32), kind, 0, seq);
                for plane in 0..2 {
                    let id = txn(&mut txns, plane);
                    queue.add(&mut txns, group, id, 1);
                }
                group
            })
            .collect();
        queue.take_first_place(groups[4]);
        let in_order = [4, 1, 0, 3, 2, 5].map(|at| groups[at]);
        for plane in 0..2 {
            assert_eq!(queue.of_plane(PlaneId(plane)), in_order);
        }
        let writes = [4, 0, 2].map(|at| groups[at]);
        assert_eq!(queue.arrived(OpKind::Program).collect::<Vec<_>>(), writes);
        assert_eq!(in_order.map(|id| queue.group(id).seq), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn of_two_parts_of_a_request_the_one_that_goes_is_gone() {
        for gone in 0..2 {
            let (mut queue, mut txns) = (Queue::new(1), Txns::default());
            let parts = [(); 2].map(|()| {
                let group = queue.insert(Owner::Request(0), OpKind::Program, 0, 7);
                let id = txn(&mut txns, 0);
                queue.add(&mut txns, group, id, 1);
                group
            });
            queue.take(&txns, parts[gone], 0);
            assert!(queue.remove_leg(parts[gone], 0));
            let left: Vec<_> = queue.arrived(OpKind::Program).collect();
            assert_eq!(left, [parts[1 - gone]]);
        }
    }

    #[test]
    fn what_waited_elsewhere_comes_before_those_that_came_later() {
        let (mut queue, mut txns) = (Queue::new(1), Txns::default());
        let groups = [5, 9, 7, 3].map(|seq| {
            let group = queue.insert(Owner::Request(seq as u32), OpKind::Read, 0, seq);
            let id = txn(&mut txns, 0);
            queue.add(&mut txns, group, id, 1);
            group
        });
        let in_order = [3, 0, 2, 1].map(|at| groups[at]);
        assert_eq!(queue.arrived(OpKind::Read).collect::<Vec<_>>(), in_order);
        assert_eq!(queue.of_plane(PlaneId(0)), in_order);
    }
}
