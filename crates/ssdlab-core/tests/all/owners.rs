//! The owners of the pages of a start that belong to no tenant.

use std::sync::Arc;

use ssdlab_base::rng;
use ssdlab_core::account::{Cause, OpKind};
use ssdlab_core::policy::allocation::BlockClass;
use ssdlab_core::{BlockState, Drive, Op, Pace, Resolved, Tenant};
use ssdlab_nand::{BlockId, Lpn};

use crate::support::{Repairs, Rig, SPP, config};

const DAY: u64 = 86_400_000_000_000;
/// Two planes of blocks that differ, and all that keeps them apart by priority.
const DRIVE: &[&str] = &[
    "geometry = { channels = 2, blocks = 80, pages = 12, cell = \"tlc\" }",
    "physics.retries = { fresh_errors = 38.0, wear = { errors = 74.0, worn_exponent = 1.2 }, \
     retention = { errors = 17.0, worn_errors = 10.0 }, spread = { quality = 0.06, wear = 0.05 } }",
    "start = { fill = 1, pe_cycles = 2000, pe_spread = 500, age_max = \"90d\" }",
    "host.queues = 3",
    "ftl = { overprovisioning = 0.4, free_block_policy = \"fewest_retries\" }",
    "metadata = { block_class.predicted = {}, retry_estimate = \"oracle\" }",
    "placement = [\"priority\"]",
];
/// Parts of the drive that the tenants own, in percent; two fifths are left.
const PARTS: [u32; 3] = [10, 20, 30];

fn tenants(resolved: &Resolved) -> [Tenant; 3] {
    let part = |percent: u32| resolved.logical_pages * percent / 100;
    [0, 1, 2].map(|queue| Tenant {
        first: part(PARTS[..queue].iter().sum()),
        pages: part(PARTS[queue]),
        queue: queue as u8,
        ..Tenant::default()
    })
}

fn rig(sets: &[&str]) -> Rig {
    let sets: Vec<&str> = DRIVE.iter().chain(sets).copied().collect();
    let resolved = Resolved::new(&config(&sets), 1).expect("a drive");
    let tenants = tenants(&resolved);
    let mut drive = Drive::for_tenants(Arc::new(resolved), &tenants);
    assert!(drive.start_audit(Pace::Every(3)));
    Rig { drive, done: Vec::new(), tag: 0 }
}

/// Returns the pages of these logical pages by the class of their block.
fn by_class(drive: &Drive, pages: std::ops::Range<u32>) -> [u32; 4] {
    let (mut counts, ftl) = ([0; 4], drive.ftl());
    for page in pages {
        let ppn = ftl.map.get(Lpn(page)).expect("a full drive");
        let block = drive.resolved().geometry().block_of(ppn);
        counts[ftl.blocks.class(block).index()] += 1;
    }
    counts
}

#[test]
fn pages_without_a_tenant_have_the_owner_that_the_config_names() {
    let shares = |owners: &str, steady: &str| {
        let rig = rig(&[owners, steady]);
        let pages = rig.drive.resolved().logical_pages;
        for (at, tenant) in tenants(rig.drive.resolved()).into_iter().enumerate() {
            let own = by_class(&rig.drive, tenant.first..tenant.first + tenant.pages);
            assert_eq!(own[at], tenant.pages, "{owners}: tenants own their pages");
        }
        let rest = pages * 6 / 10 + 2..pages;
        let whole = f64::from(rest.len() as u32);
        by_class(&rig.drive, rest).map(|count| (f64::from(count) / whole * 60.0).round() as u32)
    };
    for steady in ["", "start.steady_state = true"] {
        let footprint = shares("", steady);
        assert_eq!(footprint, [10, 20, 30, 0]);
        assert_eq!(shares("start.owners = \"footprint\"", steady), footprint);
        assert_eq!(shares("start.owners = \"equal\"", steady), [20, 20, 20, 0]);
        assert_eq!(shares("start.owners = \"lowest\"", steady), [0, 0, 60, 0]);
        assert_eq!(shares("start.owners = \"unowned\"", steady), [0, 0, 0, 60]);
    }
}

const UNOWNED: &str = "start.owners = \"unowned\"";
const REPAIRS: &str =
    "background.inversion_repair = { interval = \"7d\", margin = 0, monitor = false }";

#[test]
fn blocks_without_an_owner_are_the_worst_and_the_quality_monitor_leaves_them() {
    let emptied = |owners: &str| {
        let mut rig = rig(&[owners, REPAIRS]);
        let blocks = &rig.drive.ftl().blocks;
        let free_ranks = |class: u8| {
            let all = (0..80).map(BlockId).filter(|&block| blocks.written(block) > 0);
            let own = all.filter(|&block| blocks.class(block) == BlockClass(class));
            own.map(|block| blocks.free_rank(block)).collect::<Vec<_>>()
        };
        let (lowest, unowned) = (free_ranks(2), free_ranks(3));
        assert!(unowned.is_empty() || lowest.iter().max() <= unowned.iter().min());
        let before: Vec<u32> = (0..160).map(|at| blocks.erases(BlockId(at))).collect();
        let class: Vec<u8> = (0..160).map(|at| blocks.class(BlockId(at)).0).collect();
        rig.until(7 * DAY).finish();
        assert!(Repairs::of(&rig).rounds == 1 && rig.ops(OpKind::Erase, Cause::Refresh) > 0);
        let blocks = &rig.drive.ftl().blocks;
        let mut emptied = [0; 4];
        for at in (0..160).filter(|&at| blocks.erases(BlockId(at)) != before[at as usize]) {
            emptied[usize::from(class[at as usize])] += 1;
        }
        emptied
    };
    assert_eq!(emptied(UNOWNED)[3], 0);
    let lowest = emptied("start.owners = \"lowest\"");
    assert!(lowest[2] > 0, "whose is the lowest priority's is examined: {lowest:?}");
}

/// Writes random pages of a range on behalf of a queue.
fn churn(rig: &mut Rig, pages: std::ops::Range<u32>, queue: u8, writes: u64) {
    for number in 0..writes {
        let at = rng::below(rng::hash(7, number, 0), u64::from(pages.end - pages.start));
        rig.offer(Op::Write, (u64::from(pages.start) + at) * SPP, SPP, queue).expect("room");
        rig.wait_below(8).unwrap();
    }
    rig.finish();
}

#[test]
fn a_page_without_an_owner_gets_one_when_the_host_writes_it() {
    let mut rig = rig(&[UNOWNED, "start.steady_state = true"]);
    let pages = rig.drive.resolved().logical_pages;
    let rest = pages * 6 / 10 + 2..pages;
    // The high tenant writes its own pages. Collection also empties blocks without an owner.
    churn(&mut rig, 0..pages / 10, 0, 3_000);
    assert!(rig.ops(OpKind::Erase, Cause::Gc) > 50);
    assert_eq!(by_class(&rig.drive, rest.clone())[3], rest.len() as u32);
    assert_eq!(by_class(&rig.drive, 0..pages / 10)[0], pages / 10);
    // Then it overwrites pages without an owner.
    churn(&mut rig, rest.clone(), 0, 3_000);
    let now = by_class(&rig.drive, rest.clone());
    assert!(now[0] > 9 * now[3] && now[0] + now[3] == rest.len() as u32, "{now:?}");
    let ftl = rig.drive.ftl();
    let all = (0..160).map(BlockId);
    let free = all.filter(|&block| ftl.blocks.state(block) == BlockState::Free);
    assert!(free.map(|block| ftl.blocks.class(block).0).all(|class| class < 3), "of priorities");
}

#[test]
fn a_saved_drive_keeps_pages_without_an_owner() {
    let mut rig = rig(&[UNOWNED]);
    churn(&mut rig, 0..100, 1, 500);
    let classes = |drive: &Drive| -> Vec<u8> {
        (0..160).map(|block| drive.ftl().blocks.class(BlockId(block)).0).collect()
    };
    let before = classes(&rig.drive);
    assert!(before.contains(&3));
    let resolved = Arc::new(rig.drive.resolved().clone());
    let media = rig.drive.clone().media().expect("an idle drive");
    let restored = Drive::with_media(resolved, media.clone()).expect("the same drive");
    assert_eq!(classes(&restored), before);
    let sets: Vec<&str> = DRIVE.to_vec();
    let other = Arc::new(Resolved::new(&config(&sets), 1).unwrap());
    assert!(Drive::with_media(other, media).is_err(), "a drive without data without an owner");
}

#[test]
fn owners_need_priorities_and_data() {
    let refused = |sets: &[&str]| {
        let sets: Vec<&str> = sets.iter().chain(&[UNOWNED]).copied().collect();
        Resolved::new(&config(&sets), 1).unwrap_err().to_string()
    };
    let shared = refused(&["start.fill = 1"]);
    assert!(shared.contains("start.owners") && shared.contains("by priority"), "{shared}");
    let empty: Vec<&str> = DRIVE.iter().chain(&["start.fill = 0"]).copied().collect();
    let empty = refused(&empty);
    assert!(empty.contains("start.owners") && empty.contains("without start.fill"), "{empty}");
}
