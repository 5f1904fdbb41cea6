//! Accelerated wear up to the end of a drive's life.

use ssdlab_base::rng;
use ssdlab_nand::BlockId;

use crate::support::Rig;

/// All blocks are readable up to an error rate of 0.0044, which 110 cycles reach; there is one
/// level.
const SETS: [&str; 3] = [
    "geometry = { channels = 2, blocks = 50, pages = 8 }",
    "ftl.overprovisioning = 0.4",
    "physics = { levels = { base = { gaussian = { mean = 4e-3, sigma = 0.0 } }, \
     wear = { exponent = 1.0, reference_cycles = 100.0 }, capability = [0.0044] } }",
];

fn written(sets: &[&str], writes: u64) -> Rig {
    let mut rig = Rig::new(&[&SETS, sets].concat());
    for n in 0..writes {
        rig.wait_below(8).unwrap();
        rig.write(rng::hash(2, 3, n) % 300);
    }
    rig.finish();
    rig
}

#[test]
fn an_erase_counts_for_as_many_cycles_in_the_table_and_in_the_cells() {
    let cycles = |set: &str| {
        let rig = written(&[set], 3000);
        let counted: Vec<u32> =
            (0..100).map(|block| rig.drive.ftl().blocks.erases(BlockId(block))).collect();
        let (cells, geometry) = (&rig.drive.flash().cells, rig.drive.resolved().geometry());
        // An error rate of 0.004 in 32,768 bits after 100 cycles.
        for (block, cycles) in (0..).map(BlockId).zip(&counted) {
            let expected = (f64::from(*cycles) * 1.310_72).round() as u32;
            assert_eq!(expected, cells.first_reading(block, geometry).errors);
        }
        counted
    };
    let (one, ten) = (cycles("flash.cycles_per_erase = 1"), cycles("flash.cycles_per_erase = 10"));
    assert!(one.iter().sum::<u32>() > 200);
    assert_eq!(one.iter().map(|cycles| cycles * 10).collect::<Vec<_>>(), ten);
}

#[test]
fn blocks_wear_out_at_the_cycles_of_the_curve() {
    let rig = written(&["flash.cycles_per_erase = 10"], 15_000);
    let life = rig.drive.life().expect("wear that runs forward");
    let blocks = &rig.drive.ftl().blocks;
    let out = (0..100).filter(|&block| blocks.erases(BlockId(block)) > 110).count();
    assert!(out > 25, "{out} blocks");
    assert_eq!((life.worn_out as usize, life.worn_at_start), (out, 0));
    assert!((rig.drive.worn_out() - out as f64 / 100.0).abs() < 1e-9);
    // The first block, a hundredth of them; then two, five, ten and twenty hundredths.
    let shares: Vec<f64> = life.marks.iter().map(|mark| mark.worn_out).collect();
    assert_eq!(shares, [0.01, 0.02, 0.05, 0.1, 0.2]);
    assert!(life.marks.windows(2).all(|pair| pair[0].host_bytes <= pair[1].host_bytes));
    assert_eq!(life.host_bytes, 15_000 * 4096);
    let bytes = |at: usize| Some(life.marks[at].host_bytes);
    assert_eq!([life.first_bytes, life.five_percent_bytes], [bytes(0), bytes(2)]);
    // With dynamic wear leveling, the mean cycles are close to those of the first worn-out block.
    let first = life.marks[0];
    assert!((50.0..=120.0).contains(&first.cycles), "{first:?}");
    assert!(first.host_bytes < life.host_bytes);
}

#[test]
fn a_life_outlasts_the_statistics() {
    let mut rig = written(&["flash.cycles_per_erase = 10"], 500);
    rig.drive.reset_stats();
    rig.write(1);
    rig.finish();
    assert_eq!(rig.drive.life().unwrap().host_bytes, 501 * 4096);
    assert_eq!(written(&[], 10).drive.life(), None);
}
