//! A scheduler of earliest deadlines, written against the public interface alone.
//!
//! Each request has a deadline: its arrival, a time for its kind, and a time for each of its pages.
//! A plane that can begin an operation gets the waiting request of the earliest deadline, and at
//! equal deadlines a read before a write.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{Geometry, PlaneId};
use ssdlab_policy::account::{OpKind, RequestAttrs};
use ssdlab_policy::allocation::BlockClass;
use ssdlab_policy::component::Components;
use ssdlab_policy::queue::{Arrival, Group, GroupId, Queue};
use ssdlab_policy::scheduler::{
    Decision, DecisionDetails, DispatchMode, HostRank, Occasion, Planes, QueueView,
    SchedulerPolicy, SchedulerView,
};
use ssdlab_policy::testing::SMALL;
use ssdlab_policy::{Policy, PolicyContext};

/// Settings of the scheduler.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct DeadlineConfig {
    /// Time from the arrival of a request without pages to its deadline.
    read: Nanos,
    write: Nanos,
    /// Time that each page adds.
    read_page: Nanos,
    write_page: Nanos,
    /// Number of requests of a kind among which the scheduler chooses.
    window: usize,
}

impl Default for DeadlineConfig {
    fn default() -> DeadlineConfig {
        DeadlineConfig {
            read: Nanos::from_us(100),
            write: Nanos::from_us(500),
            read_page: Nanos::from_us(10),
            write_page: Nanos::from_us(20),
            window: 64,
        }
    }
}

#[derive(Clone, Debug)]
struct Deadline {
    config: DeadlineConfig,
}

impl Policy for Deadline {
    type Config = DeadlineConfig;

    fn check(config: &DeadlineConfig, _: &PolicyContext) -> Result<(), Refusal> {
        match config.window {
            0 => Err(Refusal::new("scheduler.deadline.window", 0, "at least 1")),
            _ => Ok(()),
        }
    }

    fn build(config: &DeadlineConfig, _: &PolicyContext) -> Deadline {
        Deadline { config: config.clone() }
    }
}

impl Deadline {
    /// Returns the order of a request: by deadline, then reads first, then by arrival.
    fn order_of(&self, group: &Group) -> (SimTime, bool, u64) {
        let DeadlineConfig { read, write, read_page, write_page, .. } = self.config;
        let is_write = group.kind != OpKind::Read;
        let (base, page) = if is_write { (write, write_page) } else { (read, read_page) };
        (group.arrival + base + page * u64::from(group.request.pages), is_write, group.seq)
    }

    /// Returns the waiting requests of a kind that need a plane and lie in the window.
    fn inside<'a>(
        &self,
        queue: &'a Queue,
        plane: PlaneId,
        kind: OpKind,
    ) -> impl Iterator<Item = GroupId> + use<'a> {
        let behind = queue.at(kind, self.config.window).map(|first| queue.group(first).seq);
        let all = queue.of_plane(plane, kind).iter().copied();
        all.filter(move |&id| behind.is_none_or(|behind| queue.group(id).seq < behind))
    }
}

impl SchedulerPolicy for Deadline {
    fn rank(&mut self, view: &SchedulerView) -> HostRank {
        HostRank(u8::from(view.kind != OpKind::Read))
    }

    fn window(&self) -> Option<usize> {
        Some(self.config.window)
    }

    fn next(
        &mut self,
        view: &QueueView<impl Planes>,
        occasion: Occasion,
        details: &mut DecisionDetails,
    ) -> Option<Decision> {
        // The planes of a request that has arrived are offered next.
        let Occasion::Plane(plane) = occasion else { return None };
        let (reads, writes) = view.planes.host_waits(plane);
        if reads || !view.planes.is_free(plane) {
            return None;
        }
        // Reads pass a write that waits for an erase.
        let kinds = if writes { &[OpKind::Read][..] } else { &[OpKind::Read, OpKind::Program] };
        let inside = kinds.iter().flat_map(|&kind| self.inside(view.queue, plane, kind));
        let group = inside
            .inspect(|_| details.steps += 1)
            .min_by_key(|&id| self.order_of(view.queue.group(id)))?;
        Some(Decision { group, mode: DispatchMode::InPlace })
    }
}

/// Planes that serve one operation at a time.
#[derive(Clone, Debug)]
struct Bench {
    order: Deadline,
    queue: Queue,
    planes: Vec<Serving>,
    now: SimTime,
    /// Each operation that began: its plane, and the number of its request.
    began: Vec<(u32, u64)>,
}

/// The activity of a plane.
#[derive(Clone, Copy, Debug, Default)]
struct Serving {
    until: SimTime,
    /// Whether dispatched reads or writes wait.
    waits: (bool, bool),
}

struct Now<'a>(&'a [Serving], SimTime);

impl Planes for Now<'_> {
    fn is_idle(&self, plane: PlaneId) -> bool {
        self.is_free(plane) && self.host_waits(plane) == (false, false)
    }

    fn is_free(&self, plane: PlaneId) -> bool {
        self.0[plane.index()].until <= self.1
    }

    fn host_waits(&self, plane: PlaneId) -> (bool, bool) {
        self.0[plane.index()].waits
    }

    fn first_to_wait(&self, _: PlaneId) -> Option<u64> {
        None
    }

    fn free_pages(&self, _: PlaneId, _: BlockClass) -> u32 {
        1
    }

    fn is_collected(&self, _: PlaneId) -> bool {
        false
    }
}

/// Time that a plane takes for a page.
const PAGE: Nanos = Nanos::from_us(50);

impl Bench {
    fn new(planes: u32, config: DeadlineConfig) -> Bench {
        let setup = PolicyContext::plain(Geometry { planes, ..SMALL }, 1);
        assert!(Deadline::check(&config, &setup).is_ok());
        Bench {
            order: Deadline::build(&config, &setup),
            queue: Queue::new(planes),
            planes: vec![Serving::default(); planes as usize],
            now: SimTime::START,
            began: Vec::new(),
        }
    }

    /// Adds a request for a page on each of these planes.
    fn arrives(&mut self, kind: OpKind, seq: u64, planes: &[u32]) {
        let request = RequestAttrs { pages: planes.len() as u32, ..RequestAttrs::PLAIN };
        let plain = Arrival::plain(kind, self.now, seq);
        let group = self.queue.insert(Arrival { request, ..plain });
        planes.iter().for_each(|&plane| {
            self.queue.add(group, PlaneId(plane), (kind, PAGE));
        });
    }

    /// Asks for the next request of a plane.
    fn ask(&mut self, plane: u32) -> Option<GroupId> {
        let Bench { order, queue, planes, now, .. } = self;
        let planes = &Now(planes, *now);
        let (now, components) = (*now, Components::NONE);
        let view = QueueView { now, queue, planes, programming: &[PAGE], components };
        let mut details = DecisionDetails::default();
        let next = order.next(&view, Occasion::Plane(PlaneId(plane)), &mut details)?;
        assert_eq!(next.mode, DispatchMode::InPlace);
        Some(next.group)
    }

    /// Begins what free planes can begin. Checks each choice against all requests that wait there.
    fn begin(&mut self) {
        for plane in 0..self.planes.len() as u32 {
            let Some(id) = self.ask(plane) else { continue };
            let group = self.queue.group(id);
            let own = self.order.order_of(group);
            let first = [OpKind::Read, OpKind::Program].into_iter().flat_map(|kind| {
                let all = self.queue.of_plane(PlaneId(plane), kind);
                all.iter().map(|&id| self.order.order_of(self.queue.group(id)))
            });
            assert_eq!(first.min(), Some(own), "the earliest deadline goes first");
            let share = group.plane_shares.iter().position(|share| share.plane.0 == plane);
            self.began.push((plane, group.seq));
            self.planes[plane as usize].until = self.now + PAGE;
            self.queue.remove_plane_share(id, share.expect("a request that needs the plane"));
            assert_eq!(self.ask(plane), None, "one at a time");
        }
    }

    /// Lets time pass until the queue is empty.
    fn finish(&mut self) -> &[(u32, u64)] {
        while !self.queue.is_empty() {
            self.begin();
            self.now += PAGE;
        }
        &self.began
    }
}

#[test]
fn deadlines_follow_from_arrival_kind_and_size() {
    let config = "read = \"100ns\"\nwrite = \"120ns\"\nread_page = \"10ns\"\nwrite_page = \"5ns\"";
    let config = DeadlineConfig { window: 8, ..toml::from_str(config).expect("a config") };
    let mut bench = Bench::new(3, config);
    bench.now = SimTime::from_ns(1000);
    // Due at 1125, 1130 and 1110; then, 15 later, a read at 1125.
    bench.arrives(OpKind::Program, 1, &[0]);
    bench.arrives(OpKind::Read, 2, &[0, 1, 2]);
    bench.arrives(OpKind::Read, 3, &[0]);
    bench.now = SimTime::from_ns(1015);
    bench.arrives(OpKind::Read, 4, &[0]);
    let began = bench.finish();
    let of_plane = |plane| began.iter().filter(move |(on, _)| *on == plane).map(|(_, seq)| *seq);
    assert_eq!(of_plane(0).collect::<Vec<_>>(), [3, 4, 1, 2], "at 1125 the read goes first");
    assert_eq!([1, 2].map(|plane| of_plane(plane).collect::<Vec<_>>()), [vec![2], vec![2]]);
}

#[test]
fn a_request_behind_the_window_waits_and_reads_pass_a_write_without_room() {
    let config = DeadlineConfig { window: 2, ..DeadlineConfig::default() };
    let mut bench = Bench::new(2, config);
    bench.arrives(OpKind::Read, 1, &[0, 1]);
    bench.arrives(OpKind::Read, 2, &[0, 1]);
    bench.arrives(OpKind::Read, 3, &[0]);
    assert_eq!(bench.ask(0).map(|id| bench.queue.group(id).seq), Some(1), "3 is behind the window");
    let mut bench = Bench::new(1, DeadlineConfig::default());
    bench.planes[0].waits = (false, true);
    bench.arrives(OpKind::Program, 1, &[0]);
    assert_eq!(bench.ask(0), None);
    bench.arrives(OpKind::Read, 2, &[0]);
    assert_eq!(bench.ask(0).map(|id| bench.queue.group(id).seq), Some(2));
}

proptest! {
    #[test]
    fn no_request_waits_for_one_of_a_later_deadline(
        requests in prop::collection::vec((0u64..400, any::<bool>(), 1u32..15), 1..60),
    ) {
        let mut bench = Bench::new(4, DeadlineConfig::default());
        let mut operations = 0;
        for (seq, (gap, write, planes)) in (0..).zip(requests) {
            bench.now += Nanos::from_us(gap / 4);
            let planes: Vec<u32> = (0..4).filter(|plane| planes & (1 << plane) != 0).collect();
            operations += planes.len();
            bench.arrives(if write { OpKind::Program } else { OpKind::Read }, seq, &planes);
            bench.begin();
        }
        prop_assert_eq!(bench.finish().len(), operations);
    }
}
