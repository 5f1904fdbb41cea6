//! `scheduler = dlv`: HWS and RRS. They dispatch the request that is expected to end first, and
//! decide which page writes need a strong block. Source: DLV, sections III-B and III-C.
//!
//! For each plane the scheduler stores the time at which it expects the plane to be idle (the
//! paper's IdleT). It also stores how many pages of each class it has promised (together with the
//! free pages, the paper's PCnt). It estimates a request's time on each plane once, when the
//! request arrives.

mod bench;
mod config;
mod estimate;
mod selection;

pub(crate) use config::{DlvConfig, Selection, Strong};
use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::PlaneId;
use ssdlab_nand::refusal::Refusal;

use ssdlab_policy::account::OpKind;
use ssdlab_policy::allocation::BlockClass;
use ssdlab_policy::columns::Column;
use ssdlab_policy::event::{Event, EventContext, EventMask};
use ssdlab_policy::queue::{Group, PlaneShare};
use ssdlab_policy::scheduler::{
    Decision, DecisionDetails, DispatchMode, HostRank, Occasion, Planes, QueueView,
    SchedulerPolicy, SchedulerView,
};
use ssdlab_policy::{Policy, PolicyContext};

/// The scheduler.
#[derive(Clone, Debug)]
pub struct Dlv {
    config: DlvConfig,
    planes: Box<[Plane]>,
    classes: usize,
    /// Whether requests are now dispatched in order of arrival, because a deadline has passed.
    late: bool,
    /// By plane, its idle time as the current search knows it, and the number of that search: many
    /// requests need the same planes.
    known: Box<[(SimTime, u64)]>,
    searches: u64,
    /// Number of expected end times that the current search has compared.
    steps: u64,
}

/// The scheduler's state for a plane.
#[derive(Clone, Debug)]
struct Plane {
    /// When the plane is expected to be idle.
    idle_at: SimTime,
    /// The deadlines of the pages that were dispatched and have not begun to be programmed, and the
    /// earliest of them; `NEVER` without one.
    due: Vec<SimTime>,
    first_due: SimTime,
    /// Pages of each class that were promised and not yet allocated.
    promised: [u32; BlockClass::MAX_COUNT],
}

impl Plane {
    const UNUSED: Plane = Plane {
        idle_at: SimTime::START,
        due: Vec::new(),
        first_due: SimTime::NEVER,
        promised: [0; BlockClass::MAX_COUNT],
    };

    /// Adds the deadline of a page that waits to be programmed.
    fn expect(&mut self, due: SimTime) {
        self.due.push(due);
        self.first_due = self.first_due.min(due);
    }
}

impl Policy for Dlv {
    type Config = DlvConfig;

    fn check(config: &DlvConfig, _: &PolicyContext) -> Result<(), Refusal> {
        match config.window {
            0 => Err(Refusal::new("scheduler.dlv.window", 0, "at least 1")),
            _ => Ok(()),
        }
    }

    fn build(config: &DlvConfig, context: &PolicyContext) -> Dlv {
        Dlv {
            config: config.clone(),
            planes: vec![Plane::UNUSED; context.geometry.plane_count() as usize].into(),
            classes: usize::from(context.classes.count),
            late: false,
            known: vec![(SimTime::START, 0); context.geometry.plane_count() as usize].into(),
            searches: 0,
            steps: 0,
        }
    }

    fn events(&self) -> EventMask {
        EventMask::PAGE_ALLOCATED.and(EventMask::PLANE_CHANGED)
    }

    fn on_event(&mut self, event: &Event, _: &mut EventContext) {
        match *event {
            Event::PageAllocated { plane, class, arrival } => {
                self.is_met(plane, arrival);
                let promised = &mut self.planes[plane.index()].promised[class.index()];
                *promised = promised.saturating_sub(1);
            }
            Event::PlaneChanged { from, to, arrival } => {
                if let Some(due) = self.is_met(from, arrival) {
                    self.planes[to.index()].expect(due);
                }
            }
            _ => {}
        }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        // Three bytes for each strong class and for the idle time of the plane (DLV, section
        // III-D).
        let counters = self.classes as u64;
        vec![Column::counted("plane_counters", self.planes.len() as u64 * counters * 24)]
    }
}

impl SchedulerPolicy for Dlv {
    #[inline]
    fn rank(&mut self, view: &SchedulerView) -> HostRank {
        // Nothing that is dispatched later overtakes a late request, not even a read.
        let first = self.late || view.kind == OpKind::Read;
        HostRank(u8::from(!(self.config.reads == Selection::Shortest && first)))
    }

    fn window(&self) -> Option<usize> {
        Some(self.config.window as usize)
    }

    fn estimate(
        &mut self,
        view: &QueueView<impl Planes>,
        kind: OpKind,
        plane_share: &PlaneShare,
    ) -> Nanos {
        if kind == OpKind::Read {
            return plane_share.reading;
        }
        plane_share.reading + self.fastest(view, plane_share.plane, plane_share.programs, None)
    }

    fn next(
        &mut self,
        view: &QueueView<impl Planes>,
        occasion: Occasion,
        details: &mut DecisionDetails,
    ) -> Option<Decision> {
        let next = match occasion {
            Occasion::Arrival(group) => self
                .goes_at_once(view, group)
                .then_some(Decision { group, mode: DispatchMode::Behind }),
            Occasion::Plane(plane) => self.next_of_plane(view, plane),
        };
        details.steps += std::mem::take(&mut self.steps);
        let decision = next?;
        let group = view.queue.group(decision.group);
        let plane_shares = match (decision.mode, occasion) {
            (DispatchMode::InPlace, Occasion::Plane(plane)) => {
                let own = group.plane_shares.iter().position(|share| share.plane == plane);
                std::slice::from_ref(
                    &group.plane_shares[own.expect("a group that needs this plane")],
                )
            }
            _ => &group.plane_shares,
        };
        let at_once = matches!(occasion, Occasion::Arrival(_));
        let goes = Goes { group, plane_shares, at_once };
        self.goes(view, &goes, &mut details.classes);
        next
    }

    #[inline]
    fn is_overdue(&self, now: SimTime, plane: PlaneId) -> bool {
        // If reads keep their places, a dispatched write waits no longer than before.
        let is_late = self.planes[plane.index()].first_due < now;
        is_late && self.config.reads == Selection::Shortest
    }
}

/// The dispatch of a group.
struct Goes<'a> {
    group: &'a Group,
    /// The plane shares that are dispatched.
    plane_shares: &'a [PlaneShare],
    /// Whether the group has just arrived and is dispatched at once.
    at_once: bool,
}

impl Dlv {
    /// Updates the idle times of the planes for a dispatched group, and promises its pages their
    /// classes.
    fn goes(
        &mut self,
        view: &QueueView<impl Planes>,
        goes: &Goes,
        classes: &mut Vec<Option<BlockClass>>,
    ) {
        self.late = self.is_late(view);
        if goes.group.kind == OpKind::Read {
            for plane_share in goes.plane_shares {
                let idle_at = self.idle_at(view, plane_share.plane) + plane_share.estimate;
                self.planes[plane_share.plane.index()].idle_at = idle_at;
            }
            return;
        }
        let end = match self.config.strong {
            Strong::Needed => Some(self.finish(view, goes.group)),
            // The earliest possible end: every page gets the fastest class.
            Strong::Prioritized => Some(SimTime::START),
        };
        let end = end.filter(|_| !goes.at_once);
        let due = self.due(OpKind::Program, goes.group.arrival);
        for plane_share in goes.plane_shares {
            let plane = &mut self.planes[plane_share.plane.index()];
            (0..plane_share.programs).for_each(|_| plane.expect(due));
            self.promise(view, plane_share, end, classes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::bench::{Bench, FIG4, IDLE};
    use super::*;
    use ssdlab_policy::queue::GroupId;
    use ssdlab_policy::testing::publish;

    #[test]
    fn figure_4_without_strong_blocks() {
        let fifo = DlvConfig { writes: Selection::Fifo, ..DlvConfig::default() };
        let mut bench = Bench::new(FIG4, fifo);
        let (a, b) = (bench.write(0, &[3, 2, 1]), bench.write(1, &[1, 0]));
        assert_eq!((bench.goes(a).0, bench.goes(b).0), (8, 10));
    }

    #[test]
    fn figure_4_with_strong_blocks_for_a3_and_b2_alone() {
        let mut bench = Bench::new(FIG4, DlvConfig::default());
        let (a, b) = (bench.write(0, &[3, 2, 1]), bench.write(1, &[1, 0]));
        assert_eq!((bench.expected(a), bench.expected(b)), (7, 9));
        assert_eq!(bench.goes(a), (7, vec![Some(1), Some(1), Some(0)]));
        assert_eq!(bench.goes(b), (9, vec![Some(1), Some(0)]));
    }

    #[test]
    fn the_write_of_least_finish_goes_even_where_a_later_one_has_the_idle_plane() {
        let mut bench = Bench::new([IDLE, 6, IDLE, IDLE], DlvConfig::default());
        let (small, large) = (bench.write(0, &[1]), bench.write(1, &[0, 1, 2]));
        // Both end when plane 2 does. The small one arrived first, and it delays no other.
        let mut details = DecisionDetails::default();
        let mut next = |bench: &mut Bench, plane| {
            let (order, view) = bench.parts();
            order.next(&view, Occasion::Plane(PlaneId(plane)), &mut details)
        };
        assert_eq!([1, 3].map(|plane| next(&mut bench, plane)), [None, None]);
        let goes = |group| Some(Decision { group, mode: DispatchMode::Behind });
        assert_eq!(next(&mut bench, 0), goes(small));
        bench.gone(small);
        assert_eq!(next(&mut bench, 0), goes(large));
        // The search stopped at the second page of the large one.
        assert_eq!(details.steps, 1 + 2 + 3);
    }

    /// Pages on planes 1 to 4 of each of the six writes. The paper's text does not contain the
    /// figure: this is an instance that agrees with everything in the text.
    const FIG7: [&[u32]; 6] = [&[0, 1], &[1, 1, 2], &[1, 2], &[0, 3, 3], &[3, 3], &[2, 3, 3]];

    fn figure_7(config: DlvConfig) -> (Bench, Vec<GroupId>) {
        let mut bench = Bench::new([4, 1, 0, 0], config);
        bench.keep_strong(3);
        let groups = (0..6).map(|write| bench.write(write, FIG7[write as usize])).collect();
        (bench, groups)
    }

    #[test]
    fn figure_7_in_the_order_of_least_finish() {
        let (mut bench, groups) = figure_7(DlvConfig::default());
        assert_eq!((bench.expected(groups[0]), bench.expected(groups[2])), (5, 2));
        let strong_on_2_normal_on_3 = vec![Some(0), Some(1)];
        assert_eq!(bench.clone().goes(groups[2]), (2, strong_on_2_normal_on_3));
        let gone = bench.all();
        assert_eq!(gone.iter().map(|(write, _)| *write).collect::<Vec<_>>(), [2, 4, 1, 0, 5, 3]);
        let mean = gone.iter().map(|(_, end)| *end as f64).sum::<f64>() / 6.0;
        assert!((mean - 4.67).abs() < 0.005, "{mean}");
    }

    #[test]
    fn figure_7_in_the_order_of_coming() {
        let fifo = DlvConfig { writes: Selection::Fifo, ..DlvConfig::default() };
        let (mut bench, groups) = figure_7(fifo);
        let mean = groups.iter().map(|&write| bench.goes(write).0 as f64).sum::<f64>() / 6.0;
        assert!((mean - 8.33).abs() < 0.005, "{mean}");
    }

    #[test]
    fn what_goes_at_once_is_a_write_on_idle_planes_where_writes_are_reordered() {
        let normal = DlvConfig::default;
        let at_once = |config, kind, plane, collecting| {
            let mut bench = Bench::new([IDLE, IDLE, IDLE, 9], config);
            let group = bench.request(0, kind, &[0, plane], 1);
            bench.planes.collecting[0] = collecting;
            let (order, view) = bench.parts();
            order.goes_at_once(&view, group)
        };
        assert!(at_once(normal(), OpKind::Program, 1, false));
        assert!(!at_once(normal(), OpKind::Program, 3, false));
        assert!(!at_once(normal(), OpKind::Program, 1, true));
        assert!(!at_once(normal(), OpKind::Read, 1, false));
        let never = DlvConfig { dispatch_if_idle: false, ..normal() };
        let fifo = DlvConfig { writes: Selection::Fifo, ..normal() };
        assert!(!at_once(never, OpKind::Program, 1, false));
        assert!(!at_once(fifo, OpKind::Program, 1, false));
    }

    #[test]
    fn reads_go_first_unless_they_keep_their_places_or_something_is_late() {
        let fifo = DlvConfig { reads: Selection::Fifo, ..DlvConfig::default() };
        for (config, late, expected) in [
            (DlvConfig::default(), false, [0, 1]),
            (DlvConfig::default(), true, [0, 0]),
            (fifo.clone(), false, [1, 1]),
            (fifo, true, [1, 1]),
        ] {
            let mut order = Bench::new([0; 4], config).order;
            order.late = late;
            let view = SchedulerView::plain;
            assert_eq!(
                [OpKind::Read, OpKind::Program].map(|kind| order.rank(&view(kind))),
                expected.map(HostRank)
            );
        }
    }

    #[test]
    fn what_may_be_overtaken_is_late_after_its_deadline() {
        let normal = DlvConfig::default;
        let late = |config, kind, now| {
            let mut bench = Bench::new([0; 4], config);
            bench.request(0, kind, &[0], 1);
            bench.now = SimTime::from_ns(now);
            let (order, view) = bench.parts();
            order.is_late(&view)
        };
        let (of_read, of_write) = (500_000_000, 5_000_000_000);
        for (kind, due) in [(OpKind::Read, of_read), (OpKind::Program, of_write)] {
            assert!(!late(normal(), kind, due), "{kind:?}");
            assert!(late(normal(), kind, due + 1), "{kind:?}");
        }
        let (fifo, never) = (Selection::Fifo, u64::MAX / 2);
        assert!(!late(DlvConfig { reads: fifo, ..normal() }, OpKind::Read, never));
        // Reads overtake writes that keep their order among themselves.
        assert!(late(DlvConfig { writes: fifo, ..normal() }, OpKind::Program, never));
        let neither = DlvConfig { reads: fifo, writes: fifo, ..normal() };
        assert!(!late(neither, OpKind::Program, never));
        assert!(late(DlvConfig { writes: fifo, ..normal() }, OpKind::Read, never));
    }

    #[test]
    fn a_plane_remembers_the_deadlines_of_the_writes_that_have_not_begun() {
        let mut bench = Bench::new([9; 4], DlvConfig::default());
        for slot in [7, 3, 5] {
            bench.now = SimTime::from_ns(slot.into());
            let write = bench.write(slot, &[0]);
            bench.goes(write);
        }
        let due = |bench: &Bench, plane: usize| bench.order.planes[plane].first_due;
        let deadline = |at: u64| SimTime::from_ns(5_000_000_000 + at);
        publish(
            &mut bench.order,
            &Event::PageAllocated {
                plane: PlaneId(0),
                class: BlockClass(1),
                arrival: SimTime::from_ns(5),
            },
        );
        assert_eq!(due(&bench, 0), deadline(3));
        publish(
            &mut bench.order,
            &Event::PlaneChanged { from: PlaneId(0), to: PlaneId(2), arrival: SimTime::from_ns(3) },
        );
        assert_eq!([due(&bench, 0), due(&bench, 2)], [deadline(7), deadline(3)]);
        publish(
            &mut bench.order,
            &Event::PageAllocated {
                plane: PlaneId(0),
                class: BlockClass(1),
                arrival: SimTime::from_ns(7),
            },
        );
        assert_eq!(due(&bench, 0), SimTime::NEVER);
        for (now, overdue) in [(5_000_000_003, false), (5_000_000_004, true)] {
            bench.now = SimTime::from_ns(now);
            assert_eq!(bench.order.is_overdue(bench.now, PlaneId(2)), overdue);
            assert!(!bench.order.is_overdue(bench.now, PlaneId(0)));
        }
    }
}
