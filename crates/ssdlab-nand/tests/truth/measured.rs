//! Blocks that take over those of characterized chips.

use std::sync::Arc;

use super::*;
use ssdlab_nand::measured::{MeasuredConfig, Row, Table};
use ssdlab_nand::pages::PagesConfig;

const CYCLES: [f64; 2] = [0.0, 3000.0];
const DAYS: [f64; 3] = [0.0, 30.0, 365.0];
const READS: [f64; 2] = [0.0, 50_000.0];

/// Returns twenty blocks, each with ten errors more than the one before. A page needs one retry for
/// every fifty errors beyond sixty.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for block in 0..20 {
        for (worn, cycles) in CYCLES.into_iter().enumerate() {
            for (aged, days) in DAYS.into_iter().enumerate() {
                for (read, reads) in READS.into_iter().enumerate() {
                    let number = f64::from(block) + (20 * worn + 40 * aged + 10 * read) as f64;
                    let retries = (f64::max(number - 6.0, 0.0) / 5.0).round() as u8;
                    let (erase_us, e0) = (3500.0 + number, 9.0 * f64::from(block));
                    let errors = 10.0 * number;
                    rows.push(Row { block, cycles, days, reads, erase_us, e0, errors, retries });
                }
            }
        }
    }
    rows
}

fn measured() -> MeasuredConfig {
    MeasuredConfig {
        file: "chips.csv".into(),
        sha256: None,
        retries: 25,
        beyond: Default::default(),
        codeword: Bytes::from_kib(1),
        temperature: Default::default(),
        pages: PagesConfig::default(),
        table: Some(Arc::new(Table::new(&rows()).unwrap())),
    }
}

fn physics(config: MeasuredConfig) -> PhysicsConfig {
    PhysicsConfig::Measured(Box::new(config))
}

fn at(chip: &Chip, block: BlockId, (cycles, age, reads): (f32, f64, u32)) -> Conditions {
    let page = chip.worst_page(block);
    Conditions { page, retention: days(age), reads, ..fresh(cycles) }
}

/// Returns the number of the measured block. Fresh, each has ten errors more than the one before.
fn which(chip: &Chip, block: BlockId) -> u32 {
    chip.errors(block, &at(chip, block, (0.0, 0.0, 0))) / 10
}

#[test]
fn every_block_is_one_of_the_file_and_reads_as_it_did() {
    let chip = chip(&physics(measured()));
    assert_eq!(chip.levels(), 26);
    let mut seen = [0; 20];
    for block in blocks() {
        let is = which(&chip, block);
        seen[is as usize] += 1;
        for row in rows().iter().filter(|row| row.block == is).step_by(5) {
            let c = at(&chip, block, (row.cycles as f32, row.days, row.reads as u32));
            assert_eq!(chip.level_needed(block, &c), Some(Level(row.retries)), "{row:?}");
            assert_eq!(f64::from(chip.errors(block, &c)), row.errors);
        }
    }
    // 16,384 blocks: 819 of each, with a deviation of 28.
    assert!(seen.iter().all(|&count| (680..960).contains(&count)), "{seen:?}");
    // Draws of blocks are independent, so that one in twenty pairs of neighbors is alike.
    let alike = blocks().skip(1).filter(|&b| which(&chip, b) == which(&chip, BlockId(b.0 - 1)));
    assert!((600..1050).contains(&alike.count()));
    let other = resolve(&fixed(), &physics(measured()), 2).unwrap();
    let moved = blocks().filter(|&block| which(&chip, block) != which(&other, block)).count();
    assert!(moved > 15_000, "{moved}");
}

#[test]
fn erases_and_first_errors_are_those_of_the_file() {
    let chip = chip(&physics(measured()));
    for block in blocks().step_by(97) {
        let is = f64::from(which(&chip, block));
        // The mean over all rows of a block after 3000 cycles: 20 for the cycles, 40 for the age
        // and 5 for the reads.
        let us = 3500.0 + is + 20.0 + 40.0 + 5.0;
        assert!((chip.erase_time(block, 3000.0).as_us() - us).abs() < 1e-3);
        assert_eq!(f64::from(chip.errors(block, &fresh(0.0))), 9.0 * is);
    }
}

#[test]
fn pages_other_than_the_worst_are_better_by_what_the_config_says() {
    let chip = chip(&physics(measured()));
    let block = blocks().find(|&block| which(&chip, block) == 10).unwrap();
    let c = at(&chip, block, (3000.0, 365.0, 0));
    let far = PageInBlock((chip.worst_page(block).0 + 288) % 576);
    let (worst, best) = (chip.rber(block, &c), chip.rber(block, &Conditions { page: far, ..c }));
    assert!((best / worst - 0.91).abs() < 1e-9);
    // The page has 99 of 1100 errors less, and a retry corrects 50.
    let needed = |page| chip.level_needed(block, &Conditions { page, ..c }).unwrap().0;
    assert_eq!(needed(c.page) - needed(far), 2);
}

#[test]
fn warm_data_ages_faster() {
    let mut warm = measured();
    warm.temperature.celsius = 50.0;
    let (cold, warm) = (chip(&physics(measured())), chip(&physics(warm)));
    let block = BlockId(5);
    let errors = |chip: &Chip, age| chip.errors(block, &at(chip, block, (0.0, age, 0)));
    assert_eq!(errors(&warm, 1.0), errors(&cold, 13.0));
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |config| resolve(&fixed(), &physics(config), 1).unwrap_err().key;
    let file = "physics.measured.file";
    assert_eq!(refused(MeasuredConfig { table: None, ..measured() }), file);
    let few = MeasuredConfig { retries: 20, ..measured() };
    assert_eq!(refused(few), "physics.measured.retries");
    let small = MeasuredConfig { codeword: Bytes::new(0), ..measured() };
    assert_eq!(refused(small), "physics.measured.codeword");
}
