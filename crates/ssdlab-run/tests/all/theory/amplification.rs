//! Write amplification under uniform random writes of single pages, on one plane of 4096 blocks.
//!
//! Every logical page holds data from the start. Garbage collection starts as late as possible:
//! when only one free block is left, the reserve. It has priority over the host. When a victim is
//! chosen, the plane's blocks are the reserve, the open blocks of host and collector, and the full
//! blocks. The victim is a full block. So alpha = (blocks - reserve - active) / user blocks.
//!
//! The formulas assume one open block for host and collector together; here there are two. This
//! does not matter under uniform writes, because all data is equally hot. The formulas also allow
//! collection of a block without an invalid page. The drive never does this, because it gains
//! nothing. Under `random` with few pages in a block, such blocks would be a large part of the
//! victims. The mean-field formula excludes them as the drive does.

use ssdlab_run::Plan;

use super::formulas::{choices, fifo, greedy, random};
use super::rig::{assert_near, plan, run, seeded};

const BLOCKS: u32 = 4096;
/// Free blocks when collection starts. The next constant is the number of open blocks.
const RESERVE: u32 = 1;
const ACTIVE: u32 = 2;
/// Capacities written before the measurement.
const WARMUP: u64 = 5;

/// One point: over-provisioning as a share of all pages, pages in a block, and the victim policy.
#[derive(Clone, Copy, Debug)]
struct Point {
    spare: f64,
    pages: u32,
    victim: Victim,
    /// Capacities written during the measurement.
    measured: u64,
}

#[derive(Clone, Copy, Debug)]
enum Victim {
    Fifo,
    Greedy,
    /// Any block with an invalid page.
    Random,
    /// The same policy, compared with the formula for any block.
    PureRandom,
    Choices(u32),
}

impl Point {
    fn user_pages(&self) -> u64 {
        (f64::from(BLOCKS * self.pages) * (1.0 - self.spare)).floor() as u64
    }

    fn theory(&self) -> f64 {
        let full = f64::from((BLOCKS - RESERVE - ACTIVE) * self.pages);
        let alpha = full / self.user_pages() as f64;
        match self.victim {
            Victim::Fifo => fifo(alpha),
            Victim::Greedy => greedy(alpha, f64::from(self.pages)),
            Victim::PureRandom => random(alpha),
            Victim::Random => choices(alpha, self.pages as usize, 1),
            Victim::Choices(drawn) => choices(alpha, self.pages as usize, drawn as i32),
        }
    }

    fn plan(&self) -> Plan {
        let user = self.user_pages();
        let victim = match self.victim {
            Victim::Fifo => "fifo".to_string(),
            Victim::Greedy => "greedy".to_string(),
            Victim::Random | Victim::PureRandom => "random".to_string(),
            Victim::Choices(_) => "d_choices".to_string(),
        };
        let mut settings = vec![
            format!("geometry.blocks={BLOCKS}"),
            format!("geometry.pages={}", self.pages),
            format!("ftl.overprovisioning={}", self.spare),
            format!("background.gc.victim={victim}"),
            format!("workload.footprint={}KiB", user * 4),
            format!("workload.requests={}", user * (WARMUP + self.measured)),
        ];
        if let Victim::Choices(drawn) = self.victim {
            settings.push(format!("background.gc.d={drawn}"));
        }
        Plan {
            closed: Some(1),
            warmup: Some((user * WARMUP).to_string()),
            ..plan(SMALL_TIMES, "random", &settings)
        }
    }

    /// Runs the point with these seeds. The mean must lie within 3 % of theory.
    fn check(&self, seeds: std::ops::RangeInclusive<u64>) {
        let results = run(&seeded(&self.plan(), seeds));
        let all = results.iter().map(|result| result.waf.expect("pages were written"));
        let mean = all.sum::<f64>() / results.len() as f64;
        let what = format!(
            "{:?}, {:.0} % spare, {} pages in a block",
            self.victim,
            self.spare * 100.0,
            self.pages
        );
        assert_near(&what, mean, self.theory(), 0.03);
    }
}

/// One plane. Times have no influence.
const SMALL_TIMES: &[&str] = &[
    "geometry.channels=1",
    "geometry.chips=1",
    "geometry.dies=1",
    "geometry.planes=1",
    "geometry.page_size=4KiB",
    "geometry.cell=slc",
    "timing.read=1us",
    "timing.program=1us",
    "timing.erase=1us",
    "flash.array=plane",
    "flash.bus_rate=8GB/s",
    "start.fill=1",
    "background.gc.threshold=0",
    "background.gc.hard_threshold=0",
    "workload.read_share=0",
];

#[test]
fn fifo_random_greedy_and_the_best_of_some_are_as_theory_has_them() {
    use Victim::{Choices, Fifo, Greedy, Random};
    let point = |spare, pages, victim| Point { spare, pages, victim, measured: 2 };
    for spare in [0.15, 0.28, 0.5] {
        for victim in [Fifo, Greedy, Random, Choices(2), Choices(4)] {
            point(spare, 16, victim).check(1..=2);
        }
    }
    for victim in [Greedy, Random, Choices(10)] {
        point(0.07, 16, victim).check(1..=2);
    }
}

/// The range of over-provisioning that is compared.
const SPARE: [f64; 7] = [0.07, 0.10, 0.15, 0.20, 0.28, 0.40, 0.50];

#[test]
#[ignore = "takes a quarter of an hour; make theory runs it"]
fn the_whole_range_of_over_provisioning() {
    use Victim::{Choices, Fifo, Greedy, Random};
    for spare in SPARE.into_iter().rev() {
        for victim in [Fifo, Greedy, Random, Choices(2), Choices(4), Choices(10)] {
            Point { spare, pages: 64, victim, measured: 3 }.check(1..=3);
        }
    }
}

/// With many pages in a block, almost every block has an invalid page. Excluding the others makes
/// no difference, so that the formula for any block holds.
#[test]
#[ignore = "takes a quarter of an hour; make theory runs it"]
fn random_collection_of_large_blocks_over_the_whole_range() {
    for spare in SPARE.into_iter().rev() {
        let pages = if spare < 0.15 { 1024 } else { 256 };
        Point { spare, pages, victim: Victim::PureRandom, measured: 1 }.check(1..=3);
    }
}
