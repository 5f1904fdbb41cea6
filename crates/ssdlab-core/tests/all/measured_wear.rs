//! Wear leveling by measured blocks: by their errors and by their predicted life.

use ssdlab_base::rng;
use ssdlab_nand::BlockId;

use crate::support::Rig;

/// Two planes with block error rates from 0.002 to 0.006 after 100 cycles.
const SHAPE: &str = "geometry = { channels = 2, blocks = 60, pages = 8 }";
const PHYSICS: &str = "physics = { levels = { base = { gaussian = { mean = 4e-3, sigma = 1e-3, \
                       bound = 2.0 } }, wear = { exponent = 1.0, reference_cycles = 100.0 } } }";
const WORN: &str = "start = { pe_cycles = 100, pe_spread = 30, fill = 0.9 }";

/// The wear of a drive on which a tenth of the pages is overwritten again and again.
#[derive(Debug)]
struct Worn {
    /// The mean initial error rate, weighted by erases, divided by the mean over the erased blocks.
    worn_by: f64,
    /// The highest error rate of a block, divided by the mean.
    worst: f64,
}

fn worn(sets: &[&str]) -> Worn {
    let mut rig = Rig::new(
        &[
            &[SHAPE, PHYSICS, WORN, "ftl.overprovisioning = 0.4", "background.gc.threshold = 0.3"],
            sets,
        ]
        .concat(),
    );
    let erases = |rig: &Rig| -> Vec<f64> {
        let blocks = (0..120).map(BlockId);
        blocks.map(|block| rig.drive.ftl().blocks.erases(block).into()).collect()
    };
    let before = erases(&rig);
    for n in 0..60_000u64 {
        rig.wait_below(8).unwrap();
        rig.write(rng::hash(2, 3, n) % 56);
        if n % 8 == 0 {
            rig.read(rng::hash(2, 4, n) % 560);
        }
    }
    rig.finish();
    let geometry = rig.drive.resolved().geometry();
    let cells = &rig.drive.flash().cells;
    let erased = erases(&rig).into_iter().zip(before).map(|(after, before)| after - before);
    let used =
        cells.base_rates(geometry).into_iter().zip(erased).filter(|(_, erased)| *erased > 0.0);
    let used: Vec<(f64, f64)> = used.collect();
    let by_erase = used.iter().map(|(rate, erased)| rate * erased).sum::<f64>()
        / used.iter().map(|(_, erased)| erased).sum::<f64>();
    let by_block = used.iter().map(|(rate, _)| rate).sum::<f64>() / used.len() as f64;
    let blocks = (0..geometry.block_count()).map(BlockId);
    let errors = blocks.map(|block| cells.first_reading(block, geometry).errors.into());
    let errors: Vec<f64> = errors.collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    Worn {
        worn_by: by_erase / by_block,
        worst: errors.iter().fold(0.0, |most: f64, &errors| most.max(errors)) / mean,
    }
}

const MEASURED: &str =
    "metadata.block_class = { measured = { boundaries = { levels = [] }, interval = 5 } }";

#[test]
fn measured_blocks_that_err_less_wear_more_and_the_worst_are_spared() {
    let even = worn(&[]);
    assert!((0.99..1.01).contains(&even.worn_by), "{even:?}");
    for opens in ["fewest_errors", "healthiest"] {
        let measured = worn(&[MEASURED, &format!("ftl.free_block_policy = \"{opens}\"")]);
        assert!(measured.worn_by < 0.98, "{opens}: {measured:?}");
        assert!(measured.worst < even.worst - 0.3, "{opens}: {measured:?}, not {even:?}");
    }
}

#[test]
fn leveling_by_errors_needs_blocks_that_are_measured() {
    for opens in ["fewest_errors", "healthiest"] {
        let refused =
            Rig::seeded(&[SHAPE, PHYSICS, &format!("ftl.free_block_policy = \"{opens}\"")], 1)
                .err();
        assert!(refused.unwrap().starts_with("ftl.free_block_policy: blocks that are measured"));
    }
}

#[test]
fn by_rank_a_worn_drive_still_has_groups() {
    // Worn beyond level 1, whatever the initial error rate.
    let worn = "start = { pe_cycles = 230, fill = 0.5 }";
    let moved = |boundaries: &str| {
        let block_class = format!(
            "metadata.block_class = {{ measured = {{ read_hot_share = 0.3, boundaries = {boundaries} }} }}"
        );
        let mut rig =
            Rig::new(&[SHAPE, PHYSICS, worn, &block_class, "background.read_hot_migration = true"]);
        for page in (0..40).flat_map(|page| [page; 4]) {
            rig.read(page);
            rig.finish();
        }
        rig.drive.stats().migration.hot
    };
    assert!(moved("{ shares = [0.1, 0.5] }") > 20);
    assert_eq!(moved("{ levels = [1] }"), 0);
}
