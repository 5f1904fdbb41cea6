//! The queue of requests that wait until a scheduler dispatches them to the flash.
//!
//! Only a scheduler with a window has such a queue. Its entries are *groups*. A group holds the
//! page operations of one request, or one page that leaves the buffer, and lists the planes that
//! these operations need. The owner of the queue keeps the operations themselves.

use std::collections::VecDeque;

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::{Lpn, PlaneId};

use crate::account::{OpKind, RequestAttrs};

/// The index of a group in the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupId(pub u32);

/// The part of a group that needs one plane.
#[derive(Clone, Debug)]
pub struct PlaneShare {
    /// The plane.
    pub plane: PlaneId,
    /// Number of pages that the group programs on the plane.
    pub programs: u32,
    /// Time that the group's reads take on the plane, as far as the controller can tell.
    pub reading: Nanos,
    /// The scheduler's estimate of the plane's time for the group, made when the group arrived.
    pub estimate: Nanos,
}

/// Page operations that are dispatched together.
#[derive(Clone, Debug)]
pub struct Group {
    /// Whether a request reads or writes.
    pub kind: OpKind,
    /// When the request arrived.
    pub arrival: SimTime,
    /// The arrival number of the group.
    pub seq: u64,
    /// The attributes of the request.
    pub request: RequestAttrs,
    /// The first logical page.
    pub lpn: Lpn,
    /// The shares of the planes that the group needs, one for each plane.
    pub plane_shares: Vec<PlaneShare>,
    /// Whether the group waited before it entered the queue: for an operation on the same page, or
    /// for the read of a write that reads first.
    pub waited: bool,
    waits: bool,
}

/// A group that enters the queue, without operations.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Whether the request reads or writes.
    pub kind: OpKind,
    /// When the request arrived.
    pub time: SimTime,
    /// The arrival number of the group.
    pub seq: u64,
    /// The attributes of the request.
    pub request: RequestAttrs,
    /// The first logical page.
    pub lpn: Lpn,
}

impl Arrival {
    /// Returns the arrival of a request of one page.
    pub fn plain(kind: OpKind, time: SimTime, seq: u64) -> Arrival {
        Arrival { kind, time, seq, request: RequestAttrs::PLAIN, lpn: Lpn(0) }
    }
}

/// The groups that wait. Reads and writes each have their own queue in order of arrival. The places
/// of the groups decide how the two queues interleave.
#[derive(Clone, Debug)]
pub struct Queue {
    groups: Vec<Group>,
    free: Vec<GroupId>,
    kinds: [OfKind; 2],
}

/// The groups of one kind.
#[derive(Clone, Debug)]
struct OfKind {
    /// All groups in order of arrival, with their arrival numbers.
    arrived: VecDeque<(GroupId, u64)>,
    /// For each of these groups, its place in the common order of arrival. The place is the group's
    /// own number, or the number of a dispatched group that left its place behind.
    places: VecDeque<u64>,
    /// The groups that need each plane, in order of arrival.
    of_plane: Box<[Vec<GroupId>]>,
}

impl OfKind {
    /// Returns the index of a group among those that wait. Two parts of a request have the same
    /// number.
    fn rank(&self, id: GroupId, seq: u64) -> usize {
        if self.arrived.front() == Some(&(id, seq)) {
            return 0;
        }
        let from = self.arrived.partition_point(|(_, other)| *other < seq);
        let own = self.arrived.iter().skip(from).position(|(other, _)| *other == id);
        from + own.expect("a group that waits")
    }
}

fn side(kind: OpKind) -> usize {
    usize::from(kind != OpKind::Read)
}

impl Queue {
    /// Returns an empty queue.
    pub fn new(planes: u32) -> Queue {
        let kind = OfKind {
            arrived: VecDeque::new(),
            places: VecDeque::new(),
            of_plane: vec![Vec::new(); planes as usize].into(),
        };
        Queue { groups: Vec::new(), free: Vec::new(), kinds: [kind.clone(), kind] }
    }

    /// Returns a group.
    pub fn group(&self, id: GroupId) -> &Group {
        &self.groups[id.0 as usize]
    }

    /// Returns whether no group waits.
    pub fn is_empty(&self) -> bool {
        self.kinds.iter().all(|kind| kind.arrived.is_empty())
    }

    /// Returns whether a group waits.
    pub fn waits(&self, id: GroupId) -> bool {
        self.group(id).waits
    }

    /// Records that an operation of the group waited for another on its page.
    pub fn waited(&mut self, id: GroupId) {
        self.groups[id.0 as usize].waited = true;
    }

    /// Returns a group's share of a plane, by the index of the plane in the group.
    pub fn plane_share_mut(&mut self, id: GroupId, at: usize) -> &mut PlaneShare {
        &mut self.groups[id.0 as usize].plane_shares[at]
    }

    /// Returns the groups of a kind that need a plane, in order of arrival.
    #[inline]
    pub fn of_plane(&self, plane: PlaneId, kind: OpKind) -> &[GroupId] {
        &self.kinds[side(kind)].of_plane[plane.index()]
    }

    /// Returns the waiting groups of a kind, in order of arrival.
    pub fn arrived(&self, kind: OpKind) -> impl Iterator<Item = GroupId> + '_ {
        self.kinds[side(kind)].arrived.iter().map(|(id, _)| *id)
    }

    /// Returns the waiting group of a kind that has this number of others before it, if there is
    /// one.
    pub fn at(&self, kind: OpKind, others: usize) -> Option<GroupId> {
        self.kinds[side(kind)].arrived.get(others).map(|(id, _)| *id)
    }

    /// Returns the place of a group in the common order of arrival.
    pub fn place(&self, id: GroupId) -> u64 {
        let group = self.group(id);
        let kind = &self.kinds[side(group.kind)];
        kind.places[kind.rank(id, group.seq)]
    }

    /// Adds a group without operations.
    pub fn insert(&mut self, arrival: Arrival) -> GroupId {
        let Arrival { kind, time, seq, request, lpn } = arrival;
        let id = self.free.pop().unwrap_or_else(|| {
            let blank = Group {
                kind,
                arrival: time,
                seq: 0,
                request,
                lpn,
                plane_shares: Vec::new(),
                waited: false,
                waits: false,
            };
            self.groups.push(blank);
            GroupId(self.groups.len() as u32 - 1)
        });
        let group = &mut self.groups[id.0 as usize];
        (group.kind, group.arrival) = (kind, time);
        (group.request, group.lpn) = (request, lpn);
        (group.seq, group.waited, group.waits) = (seq, false, true);
        let OfKind { arrived, places, .. } = &mut self.kinds[side(kind)];
        // A group that waited elsewhere first may have a lower number than the last one here.
        let after = arrived.iter().rev().take_while(|(_, other)| *other > seq).count();
        arrived.insert(arrived.len() - after, (id, seq));
        let after = places.iter().rev().take_while(|other| **other > seq).count();
        places.insert(places.len() - after, seq);
        id
    }

    /// Adds to a group an operation on a plane: a program, or a read that takes the given time.
    /// Returns the index of the plane in the group.
    pub fn add(
        &mut self,
        group: GroupId,
        plane: PlaneId,
        (kind_of_operation, reading): (OpKind, Nanos),
    ) -> usize {
        let Group { kind, seq, .. } = self.groups[group.0 as usize];
        let of_plane = &mut self.kinds[side(kind)].of_plane[plane.index()];
        let later = |other: &&GroupId| self.groups[other.0 as usize].seq > seq;
        let after = of_plane.iter().rev().take_while(later).count();
        let plane_shares = &mut self.groups[group.0 as usize].plane_shares;
        let at = plane_shares.iter().position(|plane_share| plane_share.plane == plane);
        let at = at.unwrap_or_else(|| {
            plane_shares.push(PlaneShare {
                plane,
                programs: 0,
                reading: Nanos::ZERO,
                estimate: Nanos::ZERO,
            });
            of_plane.insert(of_plane.len() - after, group);
            plane_shares.len() - 1
        });
        let plane_share = &mut plane_shares[at];
        plane_share.programs += u32::from(kind_of_operation == OpKind::Program);
        plane_share.reading += reading;
        at
    }

    /// Removes a group's share of a plane, which has gone to the flash. Returns true if this was
    /// the last share, so that the group is gone, too.
    pub fn remove_plane_share(&mut self, id: GroupId, plane_share: usize) -> bool {
        let group = &mut self.groups[id.0 as usize];
        let gone = group.plane_shares.remove(plane_share);
        let of_plane = &mut self.kinds[side(group.kind)].of_plane[gone.plane.index()];
        let at = of_plane.iter().position(|&other| other == id);
        of_plane.remove(at.expect("a group that needs the plane"));
        let over = group.plane_shares.is_empty();
        if over {
            self.remove(id);
        }
        over
    }

    fn remove(&mut self, id: GroupId) {
        let group = &mut self.groups[id.0 as usize];
        group.waits = false;
        let kind = &mut self.kinds[side(group.kind)];
        let at = kind.rank(id, group.seq);
        kind.arrived.remove(at);
        kind.places.remove(at);
        self.free.push(id);
    }

    /// Gives a group that is about to be dispatched the place of the first group of its kind. Each
    /// group that it overtakes moves to the next place. Groups of the other kind keep their
    /// positions. Returns the first place.
    pub fn take_first_place(&mut self, id: GroupId) -> u64 {
        let Group { kind, seq, .. } = *self.group(id);
        let kind = &mut self.kinds[side(kind)];
        let own = kind.rank(id, seq);
        let first = kind.places.pop_front().expect("a place for each");
        kind.places.insert(own, first);
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_waits_on_each_of_its_planes_until_it_goes() {
        let mut queue = Queue::new(4);
        let first = queue.insert(Arrival::plain(OpKind::Program, SimTime::from_ns(10), 1));
        let operations = [(2, OpKind::Read), (3, OpKind::Read), (2, OpKind::Program)];
        let places = operations
            .map(|(plane, kind)| queue.add(first, PlaneId(plane), (kind, Nanos::from_ns(5))));
        assert_eq!(places, [0, 1, 0]);
        let second = queue.insert(Arrival::plain(OpKind::Read, SimTime::from_ns(10), 2));
        queue.add(second, PlaneId(3), (OpKind::Read, Nanos::from_ns(50)));
        assert_eq!(queue.of_plane(PlaneId(2), OpKind::Program), [first]);
        assert_eq!(queue.of_plane(PlaneId(3), OpKind::Program), [first]);
        assert_eq!(queue.of_plane(PlaneId(3), OpKind::Read), [second]);
        let plane_shares = queue
            .group(first)
            .plane_shares
            .iter()
            .map(|plane_share| (plane_share.programs, plane_share.reading.as_ns()));
        assert_eq!(plane_shares.collect::<Vec<_>>(), [(1, 10), (0, 5)]);
        assert!(!queue.remove_plane_share(first, 0));
        let left = queue.of_plane(PlaneId(2), OpKind::Program).len();
        assert_eq!((left, queue.waits(first)), (0, true));
        assert!(queue.remove_plane_share(first, 0));
        assert_eq!(queue.of_plane(PlaneId(3), OpKind::Program), []);
        assert_eq!(queue.of_plane(PlaneId(3), OpKind::Read), [second]);
        assert_eq!(queue.arrived(OpKind::Program).count(), 0);
    }

    #[test]
    fn groups_keep_the_order_of_arrival_when_others_are_removed() {
        let mut queue = Queue::new(1);
        let all: Vec<_> = (0..5)
            .map(|slot| {
                let group = queue.insert(Arrival::plain(OpKind::Read, SimTime::START, slot));
                queue.add(group, PlaneId(0), (OpKind::Read, Nanos::from_ns(1)));
                group
            })
            .collect();
        for gone in [2, 0, 1] {
            assert!(queue.remove_plane_share(all[gone], 0));
        }
        assert_eq!(queue.arrived(OpKind::Read).collect::<Vec<_>>(), all[3..]);
        // A group that reuses an index is another group.
        let next = queue.insert(Arrival::plain(OpKind::Read, SimTime::START, 9));
        assert_eq!(next, all[1]);
        assert_eq!(queue.arrived(OpKind::Read).collect::<Vec<_>>(), [all[3], all[4], next]);
        assert!(queue.group(next).seq > queue.group(all[4]).seq);
    }

    #[test]
    fn a_write_takes_the_place_of_the_first_and_reads_keep_theirs() {
        let mut queue = Queue::new(2);
        let kinds = ["write", "read", "write", "read", "write", "read"];
        let groups: Vec<_> = (0..)
            .zip(kinds)
            .map(|(seq, kind)| {
                let kind = if kind == "read" { OpKind::Read } else { OpKind::Program };
                let group = queue.insert(Arrival::plain(kind, SimTime::START, seq));
                for plane in 0..2 {
                    queue.add(group, PlaneId(plane), (OpKind::Read, Nanos::from_ns(1)));
                }
                group
            })
            .collect();
        queue.take_first_place(groups[4]);
        let in_order = [4, 1, 0, 3, 2, 5].map(|at| groups[at]);
        assert_eq!(in_order.map(|id| queue.place(id)), [0, 1, 2, 3, 4, 5]);
        for plane in 0..2 {
            assert_eq!(queue.group(groups[4]).plane_shares[0].plane, PlaneId(plane));
            assert_eq!(queue.remove_plane_share(groups[4], 0), plane == 1);
        }
        // The places of the groups that are left do not change.
        assert_eq!(
            in_order[1..].iter().map(|&id| queue.place(id)).collect::<Vec<_>>(),
            [1, 2, 3, 4, 5]
        );
        let writes = [groups[0], groups[2]];
        assert_eq!(queue.arrived(OpKind::Program).collect::<Vec<_>>(), writes);
        for plane in 0..2 {
            assert_eq!(queue.of_plane(PlaneId(plane), OpKind::Program), writes);
        }
        // A group with a lower number that waited elsewhere comes before the groups that are left.
        let late = queue.insert(Arrival::plain(OpKind::Program, SimTime::START, 0));
        let writes = [groups[0], late, groups[2]];
        assert_eq!(queue.arrived(OpKind::Program).collect::<Vec<_>>(), writes);
        assert_eq!(writes.map(|id| queue.place(id)), [0, 2, 4]);
    }

    #[test]
    fn of_two_parts_of_a_request_the_one_that_goes_is_gone() {
        for gone in 0..2 {
            let mut queue = Queue::new(1);
            let parts = [(); 2].map(|()| {
                let group = queue.insert(Arrival::plain(OpKind::Program, SimTime::START, 7));
                queue.add(group, PlaneId(0), (OpKind::Read, Nanos::from_ns(1)));
                group
            });
            assert!(queue.remove_plane_share(parts[gone], 0));
            let left: Vec<_> = queue.arrived(OpKind::Program).collect();
            assert_eq!(left, [parts[1 - gone]]);
        }
    }

    #[test]
    fn groups_keep_the_order_of_their_sequence_numbers() {
        let mut queue = Queue::new(1);
        let groups = [5, 9, 7, 3].map(|seq| {
            let group = queue.insert(Arrival::plain(OpKind::Read, SimTime::START, seq));
            queue.add(group, PlaneId(0), (OpKind::Read, Nanos::from_ns(1)));
            group
        });
        let in_order = [3, 0, 2, 1].map(|at| groups[at]);
        assert_eq!(queue.arrived(OpKind::Read).collect::<Vec<_>>(), in_order);
        assert_eq!(queue.of_plane(PlaneId(0), OpKind::Read), in_order);
        assert_eq!(in_order.map(|id| queue.place(id)), [3, 5, 7, 9]);
    }
}
