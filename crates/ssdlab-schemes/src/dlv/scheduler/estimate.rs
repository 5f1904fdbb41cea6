//! Estimates when requests end, and decides which of their pages get a strong block.

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::PlaneId;

use super::{Dlv, Selection};
use ssdlab_policy::account::OpKind;
use ssdlab_policy::allocation::BlockClass;
use ssdlab_policy::queue::{Group, GroupId, PlaneShare};
use ssdlab_policy::scheduler::{Planes, QueueView};

impl Dlv {
    /// Returns when a group ends if it is dispatched now and gets every available strong page
    /// (equation 2).
    pub(super) fn finish(&self, view: &QueueView<impl Planes>, group: &Group) -> SimTime {
        let ends = group.plane_shares.iter().map(|plane_share| self.end(view, plane_share));
        ends.max().unwrap_or(view.now)
    }

    /// Returns when a group's share of a plane ends if it is dispatched now: a term of equation 2.
    pub(super) fn end(&self, view: &QueueView<impl Planes>, plane_share: &PlaneShare) -> SimTime {
        self.idle_at(view, plane_share.plane) + plane_share.estimate
    }

    /// Returns the group of a kind that is expected to end first; among equals, the one that
    /// arrived first (equation 3).
    pub(super) fn shortest(
        &mut self,
        view: &QueueView<impl Planes>,
        kind: OpKind,
    ) -> Option<GroupId> {
        let (mut best, mut least, mut examined) = (None, SimTime::NEVER, 0);
        self.searches += 1;
        for id in view.queue.arrived(kind).take(self.config.window as usize) {
            let group = view.queue.group(id);
            let mut end = view.now;
            for plane_share in &group.plane_shares {
                examined += 1;
                end = end.max(self.known_idle_at(view, plane_share.plane) + plane_share.estimate);
                // Most groups are rejected at the first plane.
                if end >= least {
                    break;
                }
            }
            if end < least && !self.is_collected(view, group) {
                (best, least) = (Some(id), end);
            }
        }
        self.steps += examined;
        best
    }

    /// Returns when a plane is expected to be idle, cached for the current search.
    #[inline]
    fn known_idle_at(&mut self, view: &QueueView<impl Planes>, plane: PlaneId) -> SimTime {
        let (idle_at, search) = self.known[plane.index()];
        if search == self.searches {
            return idle_at;
        }
        let idle_at = self.idle_at(view, plane);
        self.known[plane.index()] = (idle_at, self.searches);
        idle_at
    }

    /// Returns when a plane is expected to be idle.
    #[inline]
    pub(super) fn idle_at(&self, view: &QueueView<impl Planes>, plane: PlaneId) -> SimTime {
        if view.planes.is_idle(plane) {
            // The operations may have taken less time than expected.
            view.now
        } else {
            self.planes[plane.index()].idle_at.max(view.now)
        }
    }

    /// Returns the number of pages of a class that are free on a plane and not promised.
    #[inline]
    pub(super) fn available(
        &self,
        view: &QueueView<impl Planes>,
        plane: PlaneId,
        class: usize,
    ) -> u32 {
        let promised = self.planes[plane.index()].promised[class];
        view.planes.free_pages(plane, BlockClass(class as u8)).saturating_sub(promised)
    }

    /// Returns the time in which a plane programs `pages` pages on the fastest free classes. One
    /// page of the class `taken` is not available.
    pub(super) fn fastest(
        &self,
        view: &QueueView<impl Planes>,
        plane: PlaneId,
        pages: u32,
        taken: Option<usize>,
    ) -> Nanos {
        let (mut left, mut time) = (pages, Nanos::ZERO);
        for class in 0..self.classes - 1 {
            // Usually there is one page, and no further class is examined.
            if left == 0 {
                return time;
            }
            let free = self.available(view, plane, class);
            let pages = left.min(free.saturating_sub(u32::from(taken == Some(class))));
            time += view.programming[class] * u64::from(pages);
            left -= pages;
        }
        time + view.programming[self.classes - 1] * u64::from(left)
    }

    /// Returns the slowest free class that is fast enough: a page that begins at `begin` and the
    /// `after` pages after it end by `end`. Returns the fastest free class if none is fast enough.
    pub(super) fn class_for(
        &self,
        view: &QueueView<impl Planes>,
        plane: PlaneId,
        (begin, end): (SimTime, SimTime),
        after: u32,
    ) -> usize {
        let free = |class: &usize| self.available(view, plane, *class) > 0;
        let done = |class: &usize| {
            let rest = self.fastest(view, plane, after, Some(*class));
            begin + view.programming[*class] + rest <= end
        };
        let in_time = (0..self.classes).rev().find(|class| free(class) && done(class));
        in_time.or_else(|| (0..self.classes).find(free)).unwrap_or(self.classes - 1)
    }

    /// Promises the pages of a write on a plane, and appends the class of each to `classes`. If
    /// writes keep their order, other policies decide the classes.
    pub(super) fn promise(
        &mut self,
        view: &QueueView<impl Planes>,
        plane_share: &PlaneShare,
        end: Option<SimTime>,
        classes: &mut Vec<Option<BlockClass>>,
    ) {
        let mut at = self.idle_at(view, plane_share.plane) + plane_share.reading;
        let chooses = self.classes > 1 && self.config.writes == Selection::Shortest;
        for after in (0..plane_share.programs).rev() {
            let class = match end {
                Some(end) if chooses => self.class_for(view, plane_share.plane, (at, end), after),
                _ => self.classes - 1,
            };
            at += view.programming[class];
            self.planes[plane_share.plane.index()].promised[class] += u32::from(chooses);
            classes.push(chooses.then_some(BlockClass(class as u8)));
        }
        self.planes[plane_share.plane.index()].idle_at = at;
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_base::SimTime;
    use ssdlab_nand::PlaneId;

    use crate::dlv::scheduler::DlvConfig;
    use crate::dlv::scheduler::bench::{Bench, FIG4};
    use ssdlab_policy::account::OpKind;
    use ssdlab_policy::allocation::BlockClass;
    use ssdlab_policy::event::Event;
    use ssdlab_policy::testing::publish;

    #[test]
    fn a_plane_is_expected_to_be_busy_for_as_long_as_it_reads_and_programs() {
        let mut bench = Bench::new(FIG4, DlvConfig::default());
        let (read, part) =
            (bench.request(0, OpKind::Read, &[0], 3), bench.request(1, OpKind::Program, &[1], 3));
        assert_eq!(bench.goes(read).0, 8 + 3);
        assert_eq!(bench.goes(part).0, 6 + 3 + 1);
    }

    #[test]
    fn pages_beyond_the_strong_ones_are_programmed_normally() {
        let mut bench = Bench::new([0; 4], DlvConfig::default());
        bench.keep_strong(2);
        let (order, view) = bench.parts();
        let fastest = |pages, taken| order.fastest(&view, PlaneId(0), pages, taken).as_ns();
        assert_eq!([fastest(2, None), fastest(2, Some(0)), fastest(2, Some(1))], [2, 3, 2]);
        assert_eq!([fastest(5, None), fastest(10_000, None)], [2 + 3 * 2, 2 + 9_998 * 2]);
        let allocated = Event::PageAllocated {
            plane: PlaneId(0),
            class: BlockClass(0),
            arrival: SimTime::START,
        };
        publish(order, &allocated);
        assert_eq!(order.available(&view, PlaneId(0), 0), 3, "a promise was kept");
        order.planes[0].promised[..2].fill(u32::MAX);
        assert_eq!(
            order.class_for(&view, PlaneId(0), (SimTime::START, SimTime::START), 0),
            1,
            "none is left"
        );
    }

    #[test]
    fn it_chooses_among_the_first_to_come_of_a_kind() {
        for (window, next) in [(1, 0), (2, 1), (3, 2)] {
            let config = DlvConfig { window, ..DlvConfig::default() };
            let mut bench = Bench::new([5, 3, 1, 0], config);
            let writes = [0, 1, 2].map(|plane| bench.write(plane, &[plane]));
            let read = bench.request(3, OpKind::Read, &[3], 1);
            let (order, view) = bench.parts();
            assert_eq!(order.shortest(&view, OpKind::Program), Some(writes[next]));
            let first = [0, 1, 2].map(|plane| order.first(&view, PlaneId(plane)));
            let seen = [0, 1, 2].map(|at| (at < window as usize).then_some(writes[at]));
            assert_eq!(first, seen, "plane by plane, too");
            assert_eq!(order.first(&view, PlaneId(3)), Some(read), "of its own kind the first");
        }
    }

    #[test]
    fn a_write_waits_while_a_plane_that_it_needs_is_collected_and_a_read_does_not() {
        let (normal, careless) =
            (DlvConfig::default(), DlvConfig { avoid_gc: false, ..DlvConfig::default() });
        for (config, waits) in [(normal, true), (careless, false)] {
            let mut bench = Bench::new([0; 4], config);
            let (both, one) = (bench.write(0, &[0, 1]), bench.write(1, &[1]));
            let read = bench.request(2, OpKind::Read, &[0], 1);
            bench.planes.collecting[0] = true;
            let (order, view) = bench.parts();
            let next = order.shortest(&view, OpKind::Program);
            assert_eq!(next, Some(if waits { one } else { both }));
            let first = |plane| order.first(&view, PlaneId(plane));
            // If shares are dispatched one by one, only the plane in question matters.
            assert_eq!([first(0), first(1)], [Some(if waits { read } else { both }), Some(both)]);
            assert_eq!(order.shortest(&view, OpKind::Read), Some(read));
        }
    }
}
