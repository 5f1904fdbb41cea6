//! A small drive under test: requests go in, completions come out, an auditor watches.

use std::sync::Arc;

use proptest::prelude::*;
use ssdlab_base::SimTime;
use ssdlab_core::Pace;
use ssdlab_core::{Completion, Drive, DriveConfig, Op, Refused, Request, Resolved, Tenant};

/// A plane of 16 blocks of 8 pages of 4 KiB; a transfer of a page takes 5 us.
pub(crate) const BASE: &str = r#"
    [geometry]
    channels = 1
    chips = 1
    dies = 1
    planes = 1
    blocks = 16
    pages = 8
    page_size = "4KiB"
    cell = "mlc"
    [timing]
    read = "50us"
    program = "200us"
    erase = "1ms"
    [flash]
    bus_rate = "819.2MB/s"
    [ftl]
    overprovisioning = 0.3
    [start]
    unwritten_reads = "none"
"#;

/// The times of [`BASE`], in nanoseconds.
pub(crate) const READ: u64 = 50_000;
pub(crate) const PROGRAM: u64 = 200_000;
pub(crate) const ERASE: u64 = 1_000_000;
pub(crate) const BUS: u64 = 5_000;
/// Sectors of a page of [`BASE`].
pub(crate) const SPP: u64 = 8;

/// Returns [`BASE`] with these settings on top.
pub(crate) fn config(sets: &[&str]) -> DriveConfig {
    let mut table: toml::Table = BASE.parse().expect("a config");
    for set in sets {
        merge(&mut table, set.parse().unwrap_or_else(|error| panic!("{set}: {error}")));
    }
    toml::Value::Table(table).try_into().unwrap_or_else(|error| panic!("{sets:?}: {error}"))
}

fn merge(under: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(toml::Value::Table(under)), toml::Value::Table(over)) => merge(under, over),
            (_, value) => drop(under.insert(key, value)),
        }
    }
}

/// A drive, its completions, and the number of the next request.
#[derive(Clone)]
pub(crate) struct Rig {
    pub drive: Drive,
    pub done: Vec<Completion>,
    pub tag: u64,
}

/// The most events of a run; a run with more counts as hung.
const MAX_EVENTS: u64 = 1_000_000;

/// Returns the error of a run that counts as hung.
pub(crate) fn gave_up() -> String {
    format!("gave up after {MAX_EVENTS} events")
}

impl Rig {
    /// Returns the audited drive of [`BASE`] with these settings on top.
    pub(crate) fn new(sets: &[&str]) -> Rig {
        Rig::seeded(sets, 1).expect("a valid drive")
    }

    /// Returns a drive as [`Rig::new`] does, or the error if there is no such drive.
    pub(crate) fn seeded(sets: &[&str], seed: u64) -> Result<Rig, String> {
        let mut rig = Rig::unwatched(sets, seed)?;
        assert!(rig.drive.start_audit(Pace::Every(1)));
        Ok(rig)
    }

    /// Returns a drive as [`Rig::seeded`] does, but without an auditor: for many requests or
    /// events.
    pub(crate) fn unwatched(sets: &[&str], seed: u64) -> Result<Rig, String> {
        let resolved = Resolved::new(&config(sets), seed)
            .map_err(|refusal| format!("{}: {}", refusal.key, refusal.expected))?;
        Ok(Rig { drive: Drive::new(Arc::new(resolved)), done: Vec::new(), tag: 0 })
    }

    /// Returns a drive in which each of three tenants owns a third, with a queue each; audited now
    /// and then.
    pub(crate) fn of_thirds(sets: &[&str]) -> Rig {
        Rig::of_tenants(sets, [1, 1, 1])
    }

    /// Returns a drive as [`Rig::of_thirds`] does, with `parts` of it for each tenant.
    pub(crate) fn of_tenants(sets: &[&str], parts: [u32; 3]) -> Rig {
        let resolved = Resolved::new(&config(sets), 1).expect("a valid drive");
        let part = resolved.logical_pages / parts.iter().sum::<u32>();
        let tenants = [0, 1, 2].map(|queue| Tenant {
            first: part * parts[..queue].iter().sum::<u32>(),
            pages: part * parts[queue],
            queue: queue as u8,
            ..Tenant::default()
        });
        let mut drive = Drive::for_tenants(Arc::new(resolved), &tenants);
        assert!(drive.start_audit(Pace::Every(3)));
        Rig { drive, done: Vec::new(), tag: 0 }
    }

    /// Returns the mean latency of the first queue's reads or writes, in nanoseconds.
    pub(crate) fn mean(&self, op: Op) -> f64 {
        let latencies = &self.drive.stats().latencies[0][op as usize];
        latencies.sum_ns as f64 / latencies.count() as f64
    }

    pub(crate) fn now(&self) -> u64 {
        self.drive.now().as_ns()
    }

    /// Advances the drive to `ns`.
    pub(crate) fn until(&mut self, ns: u64) -> &mut Rig {
        self.drive.advance(SimTime::from_ns(ns), &mut self.done);
        self
    }

    /// Submits a request now; returns its number.
    pub(crate) fn offer(
        &mut self,
        op: Op,
        lba: u64,
        sectors: u64,
        queue: u8,
    ) -> Result<u64, Refused> {
        let arrival = self.drive.now();
        let (tag, sectors) = (self.tag, sectors as u32);
        let request = Request { tag, arrival, op, lba, sectors, queue, hint: 0 };
        self.drive.submit(arrival, request)?;
        self.tag += 1;
        Ok(tag)
    }

    /// Reads a whole page; returns the request's number.
    pub(crate) fn read(&mut self, page: u64) -> u64 {
        self.pages(Op::Read, page, 1)
    }

    /// Writes a whole page; returns the request's number.
    pub(crate) fn write(&mut self, page: u64) -> u64 {
        self.pages(Op::Write, page, 1)
    }

    /// Submits a request for whole pages; returns its number.
    pub(crate) fn pages(&mut self, op: Op, first: u64, count: u64) -> u64 {
        let spp = u64::from(self.drive.resolved().geometry().sectors_per_page());
        self.offer(op, first * spp, count * spp, 0).expect("room for a request")
    }

    /// Advances until the drive is idle, and asserts that every request has ended.
    pub(crate) fn finish(&mut self) -> &mut Rig {
        self.try_finish().unwrap_or_else(|what| panic!("{what}"));
        self
    }

    /// Does the same as [`Rig::finish`], but returns the error.
    pub(crate) fn try_finish(&mut self) -> Result<(), String> {
        for _ in 0..MAX_EVENTS {
            let Some(next) = self.drive.next_event() else { return self.ended() };
            self.drive.advance_once(next, &mut self.done);
            if let Some(what) = self.drive.violation() {
                return Err(what.into());
            }
        }
        Err(gave_up())
    }

    fn ended(&self) -> Result<(), String> {
        if let Some(what) = self.drive.violation() {
            return Err(what.into());
        }
        self.drive.audit()?;
        // The state of an idle drive can be saved and loaded.
        if let Some(media) = self.drive.clone().media() {
            media.audit(self.drive.resolved().geometry())?;
        }
        match self.drive.unfinished() {
            0 => Ok(()),
            left => Err(format!("{left} requests are stuck at {}", self.now())),
        }
    }

    /// Waits until fewer than `most` requests are in progress.
    pub(crate) fn wait_below(&mut self, most: u32) -> Result<(), String> {
        for _ in 0..MAX_EVENTS {
            if self.drive.unfinished() < most {
                return Ok(());
            }
            let next = self.drive.next_event().ok_or("requests are stuck")?;
            self.drive.advance_once(next, &mut self.done);
            if let Some(what) = self.drive.violation() {
                return Err(what.into());
            }
        }
        Err(gave_up())
    }

    /// Returns when a request ended.
    pub(crate) fn end_of(&self, tag: u64) -> Option<u64> {
        let completion = self.done.iter().find(|completion| completion.tag == tag);
        completion.map(|completion| completion.end.as_ns())
    }

    /// Returns the operations of a kind for a cause.
    pub(crate) fn ops(
        &self,
        kind: ssdlab_core::account::OpKind,
        cause: ssdlab_core::account::Cause,
    ) -> u64 {
        self.drive.flash().counts.ops()[kind as usize][cause as usize]
    }
}

/// Returns a drive after writes of its first pages, one after another, and the time of the last
/// end.
pub(crate) fn written(sets: &[&str], pages: u64) -> (Rig, u64) {
    let mut rig = Rig::new(sets);
    for page in 0..pages {
        rig.write(page);
    }
    rig.finish();
    rig.drive.reset_stats();
    let zero = rig.now() + 1_000_000;
    rig.until(zero);
    (rig, zero)
}

/// One step of a random stream of requests.
#[derive(Clone)]
pub(crate) struct Step {
    /// Time since the step before, in nanoseconds.
    pub gap: u64,
    pub op: Op,
    /// Position on the drive, in units of 2^-16 of its size.
    pub place: u64,
    /// Number of sectors, at least one.
    pub sectors: u64,
    /// Whether the request is aligned to pages.
    pub whole: bool,
    pub queue: u8,
}

impl std::fmt::Debug for Step {
    /// Writes the step on one line, for the report of a failing case.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Step { gap, op, place, sectors, whole, queue } = self;
        write!(f, "+{gap} {op:?} {place:#x}/{sectors} whole={whole} q{queue}")
    }
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let op = prop_oneof![
        4 => Just(Op::Read),
        8 => Just(Op::Write),
        1 => Just(Op::Trim),
        1 => Just(Op::Flush),
    ];
    let gap = prop_oneof![2 => Just(0u64), 2 => 0..300_000u64, 1 => 0..3_000_000u64];
    let place = prop_oneof![0..0x1_0000u64, 0..0x1000u64];
    let whole = prop::bool::weighted(0.6);
    (op, gap, place, 1..40u64, whole, 0..2u8).prop_map(|(op, gap, place, sectors, whole, queue)| {
        Step { gap, op, place, sectors, whole, queue }
    })
}

/// Plays a stream of requests, at most `depth` at a time.
pub(crate) fn play(rig: &mut Rig, steps: &[Step], depth: u32) -> Result<(), String> {
    let mut at = rig.now();
    for step in steps {
        at = play_step(rig, step, at, depth)?;
    }
    rig.try_finish()
}

/// Submits a request of a stream, when fewer than `depth` are in progress and its gap after `at`
/// is over. Returns when it was submitted.
pub(crate) fn play_step(rig: &mut Rig, step: &Step, at: u64, depth: u32) -> Result<u64, String> {
    let total = rig.drive.resolved().sectors();
    let spp = u64::from(rig.drive.resolved().geometry().sectors_per_page());
    let queues = rig.drive.resolved().config.host.queues;
    rig.until(rig.now().max(at + step.gap));
    rig.wait_below(depth)?;
    let at = rig.now();
    let mut lba = (step.place * total) >> 16;
    let mut sectors = step.sectors.min(total - lba);
    if step.whole {
        lba -= lba % spp;
        sectors = sectors.div_ceil(spp) * spp;
        sectors = sectors.min(total - lba);
    }
    if step.op == Op::Flush {
        (lba, sectors) = (0, 0);
    }
    let queue = step.queue % queues;
    loop {
        match rig.offer(step.op, lba, sectors, queue) {
            Ok(_) => break,
            Err(Refused::Full) => {
                let unfinished = rig.drive.unfinished();
                rig.wait_below(unfinished)?;
            }
            Err(Refused::OutOfRange) => return Err(format!("{step:?} is out of range")),
        }
    }
    match rig.drive.violation() {
        Some(what) => Err(what.into()),
        None => Ok(at),
    }
}

/// The counts of `background.inversion_repair`.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
pub(crate) struct Repairs {
    pub(crate) rounds: u64,
    pub(crate) inversions: u64,
    pub(crate) reassigned: u64,
    pub(crate) refreshed: u64,
    pub(crate) moved: u64,
    pub(crate) moved_by_all: u64,
    pub(crate) checks: u64,
    pub(crate) left_out: u64,
    pub(crate) extra_share: f64,
    pub(crate) margins: Vec<f64>,
}

impl Repairs {
    pub(crate) fn of(rig: &Rig) -> Repairs {
        let counters = rig.drive.clone().counters();
        let repairs = serde_json::to_value(&counters["background/inversion_repair"]);
        serde_json::from_value(repairs.unwrap()).expect("all counters of the policy")
    }
}
