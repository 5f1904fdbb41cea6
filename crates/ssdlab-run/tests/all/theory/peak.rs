//! The peak throughput of a drive: the limit of the bus or that of the dies, whichever is lower.

use super::rig::{assert_near, plan, run};

/// A configuration: the parts of a channel, and times in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Shape {
    channels: u32,
    chips: u32,
    dies: u32,
    planes: u32,
    array: &'static str,
    cache_read: bool,
    transfer: u32,
    sense: u32,
    program: u32,
}

const BASE: Shape = Shape {
    channels: 2,
    chips: 1,
    dies: 1,
    planes: 1,
    array: "plane",
    cache_read: false,
    transfer: 20_000,
    sense: 75_000,
    program: 750_000,
};

impl Shape {
    /// Returns the array units of a channel, and the pages on which a unit works at once.
    fn units(&self) -> (f64, f64) {
        match self.array {
            "plane" => (f64::from(self.chips * self.dies * self.planes), 1.0),
            _ => (f64::from(self.chips * self.dies), f64::from(self.planes)),
        }
    }

    /// Returns the pages per nanosecond that a unit can read.
    fn unit_reads(&self) -> f64 {
        let (_, pages) = self.units();
        let (sense, transfer) = (f64::from(self.sense), pages * f64::from(self.transfer));
        if self.cache_read { pages / sense.max(transfer) } else { pages / (sense + transfer) }
    }

    /// Returns the pages per nanosecond that a unit can write.
    fn unit_writes(&self) -> f64 {
        let (_, pages) = self.units();
        pages / (pages * f64::from(self.transfer) + f64::from(self.program))
    }

    /// Returns the drive's peak in single-page requests per second, and whether the bus is the
    /// limit.
    fn peak(&self, reads: bool) -> (f64, bool) {
        let unit = if reads { self.unit_reads() } else { self.unit_writes() };
        let (units, _) = self.units();
        let (dies, bus) = (units * unit, 1.0 / f64::from(self.transfer));
        (f64::from(self.channels) * dies.min(bus) * 1e9, bus < dies)
    }

    fn settings(&self, reads: bool) -> Vec<String> {
        const PAGE: u64 = 4096;
        let rate = PAGE as f64 / f64::from(self.transfer) * 1e3;
        vec![
            format!("geometry.channels={}", self.channels),
            format!("geometry.chips={}", self.chips),
            format!("geometry.dies={}", self.dies),
            format!("geometry.planes={}", self.planes),
            "geometry.blocks=1024".into(),
            "geometry.page_size=4KiB".into(),
            format!("timing.read={}ns", self.sense),
            format!("timing.program={}ns", self.program),
            format!("flash.array={}", self.array),
            format!("flash.bus_rate={rate}MB/s"),
            format!("flash.cache_read={}", self.cache_read),
            "start.unwritten_reads=footprint".into(),
            "workload.footprint=64MiB".into(),
            format!("workload.read_share={}", u8::from(reads)),
            "workload.requests=30000".into(),
        ]
    }

    fn check(&self, reads: bool, bus_bound: bool) {
        let (peak, by_bus) = self.peak(reads);
        assert_eq!(by_bus, bus_bound, "{self:?} is not what it is meant to be");
        let mut plan = plan(&[], "sequential", &self.settings(reads));
        plan.closed = Some(self.channels * self.chips * self.dies * self.planes * 8);
        let result = &run(&[plan])[0];
        let what = if reads { "reads" } else { "writes" };
        // Allow a ramp of a few service times at both ends.
        assert_near(&format!("peak {what} of {self:?}"), result.iops, peak, 0.01);
    }
}

#[test]
fn reads_of_independent_planes() {
    BASE.check(true, false);
    Shape { planes: 4, ..BASE }.check(true, false);
    Shape { planes: 8, ..BASE }.check(true, true);
    Shape { chips: 2, dies: 2, planes: 2, ..BASE }.check(true, true);
}

#[test]
fn reads_with_cache_read() {
    Shape { cache_read: true, ..BASE }.check(true, false);
    Shape { cache_read: true, planes: 3, ..BASE }.check(true, false);
    Shape { cache_read: true, planes: 4, ..BASE }.check(true, true);
    // One plane with a transfer longer than its sensing.
    Shape { cache_read: true, transfer: 90_000, ..BASE }.check(true, false);
}

#[test]
fn reads_of_dies_with_multi_plane_commands() {
    Shape { array: "die", planes: 2, ..BASE }.check(true, false);
    Shape { array: "die", planes: 4, ..BASE }.check(true, false);
    Shape { array: "die", planes: 4, dies: 2, ..BASE }.check(true, true);
    Shape { array: "die", planes: 2, cache_read: true, ..BASE }.check(true, false);
    Shape { array: "die", planes: 2, dies: 2, cache_read: true, ..BASE }.check(true, true);
}

#[test]
fn writes_of_planes_and_dies() {
    BASE.check(false, false);
    Shape { planes: 4, chips: 2, ..BASE }.check(false, false);
    Shape { planes: 4, chips: 2, program: 100_000, ..BASE }.check(false, true);
    Shape { array: "die", planes: 2, dies: 2, ..BASE }.check(false, false);
    Shape { array: "die", planes: 4, chips: 4, program: 200_000, ..BASE }.check(false, true);
}
