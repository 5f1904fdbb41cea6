use ssdlab_base::Bytes;
use ssdlab_nand::chip::PhysicsConfig;
use ssdlab_nand::levels::{LevelsConfig, SensingConfig};
use ssdlab_nand::program_mode::ProgramModeConfig;
use ssdlab_nand::timing::TimingConfig;
use ssdlab_nand::{Cell, Lpn, PageInBlock};

use super::super::txn::{NewTxn, Txns};
use super::*;
use crate::SMALL;

const BLOCK: BlockId = BlockId(3);
const DAY: u64 = 86_400_000_000_000;

/// Returns when this day of the run begins.
fn day(day: u64) -> SimTime {
    SimTime::from_ns(day * DAY)
}

fn geometry(blocks: u32) -> Geometry {
    Geometry { blocks, pages: 6, page_size: Bytes::from_kib(16), cell: Cell::Tlc, ..SMALL }
}

fn cells_of(geometry: &Geometry, physics: &PhysicsConfig) -> Cells {
    cells_timed(geometry, physics, &timing())
}
fn timing() -> TimingConfig {
    TimingConfig::fixed(Nanos::from_us(50), Nanos::from_us(600), Nanos::from_us(3000))
}

fn cells_timed(geometry: &Geometry, physics: &PhysicsConfig, timing: &TimingConfig) -> Cells {
    let chip = Chip::resolve(geometry, timing, physics, 7).unwrap();
    let order = PageOrder::conventional(geometry.cell, geometry.pages);
    Cells::new(chip, order, geometry, 1)
}

fn cells() -> Cells {
    cells_of(&geometry(8), &PhysicsConfig::Retries(Box::default()))
}

/// Returns a read of the second page of the block.
fn read(cells: &mut Cells) -> Txn {
    let (geometry, mut txns) = (geometry(8), Txns::default());
    let id = txns.begin(NewTxn::read(Lpn(0)), SimTime::START);
    txns.get_mut(id).ppn = geometry.page(BLOCK, PageInBlock(1));
    cells.begin(txns.get_mut(id), &geometry);
    txns[id].clone()
}

/// Reads once at `now`, and asserts the conditions of the read.
fn expect(cells: &mut Cells, now: SimTime, change: impl FnOnce(&mut Conditions)) {
    let txn = read(cells);
    let page_type = cells.order.page_type(PageInBlock(1));
    let mut conditions = Conditions::fresh(PageInBlock(1), page_type, 0.0);
    change(&mut conditions);
    cells.reset_counts();
    let level = cells.level_needed(&txn, &geometry(8), now);
    let (chip, rber) = (&cells.chip, cells.chip.rber(BLOCK, &conditions));
    assert_eq!(level, chip.level_needed(BLOCK, &conditions).unwrap_or(Level::BEYOND));
    assert_eq!(cells.errors(), Some((f64::from(chip.errors(BLOCK, &conditions)), rber)));
}

#[test]
fn data_ages_from_its_blocks_first_program_and_each_read_counts() {
    let mut cells = cells();
    expect(&mut cells, day(9), |_| ());
    cells.programmed(BLOCK, day(10));
    cells.programmed(BLOCK, day(30));
    for reads in 1..4 {
        expect(&mut cells, day(90), |conditions| {
            conditions.retention = Nanos::from_ns(80 * DAY);
            conditions.reads = reads;
        });
    }
    cells.erased(BLOCK, day(100), 1);
    cells.programmed(BLOCK, day(101));
    expect(&mut cells, day(103), |conditions| {
        conditions.retention = Nanos::from_ns(2 * DAY);
        (conditions.pe_cycles, conditions.dwell) = (1.0, Nanos::from_ns(100 * DAY));
    });
}

#[test]
fn the_dwell_time_is_the_mean_between_all_erases() {
    let mut cells = cells();
    cells.set_start(BLOCK, 3, Nanos::from_ns(20 * DAY), Some(Nanos::from_ns(5 * DAY)));
    expect(&mut cells, day(2), |conditions| {
        conditions.retention = Nanos::from_ns(7 * DAY);
        (conditions.pe_cycles, conditions.dwell) = (3.0, Nanos::from_ns(20 * DAY));
    });
    for (now, wear, mean) in [(40, 4.0, 25), (50, 5.0, 22), (72, 6.0, 22)] {
        cells.erased(BLOCK, day(now), 1);
        expect(&mut cells, day(now), |conditions| {
            (conditions.pe_cycles, conditions.dwell) = (wear, Nanos::from_ns(mean * DAY));
        });
    }
}

#[test]
fn data_of_an_age_that_no_table_holds_has_that_age_at_the_start() {
    let mut cells = cells();
    let mut txn = read(&mut cells);
    txn.age = Some(Nanos::from_ns(60 * DAY));
    cells.level_needed(&txn, &geometry(8), day(30));
    let mut aged = Conditions::fresh(PageInBlock(1), txn.page_type, 0.0);
    aged.retention = Nanos::from_ns(90 * DAY);
    assert_eq!(cells.errors().unwrap().1, cells.chip.rber(BLOCK, &aged));
}

#[test]
fn one_read_in_sixteen_has_its_errors_counted() {
    let mut cells = cells();
    assert_eq!(cells.errors(), None);
    cells.programmed(BLOCK, SimTime::START);
    let txn = read(&mut cells);
    for n in 0..33 {
        cells.level_needed(&txn, &geometry(8), day(n));
    }
    let mut mean = (0.0, 0.0);
    for counted in [0, 16, 32] {
        let mut at = Conditions::fresh(PageInBlock(1), txn.page_type, 0.0);
        (at.retention, at.reads) = (Nanos::from_ns(counted * DAY), counted as u32);
        mean.0 += f64::from(cells.chip.errors(BLOCK, &at)) / 3.0;
        mean.1 += cells.chip.rber(BLOCK, &at) / 3.0;
    }
    // Ages of 0, 16 and 32 days, to two digits.
    let days = |share: f64| cells.ages().value_at_quantile(share) as f64 / (DAY as f64 / 1e6);
    assert_eq!((cells.ages().len(), cells.ages().min()), (3, 0));
    assert!((days(0.5) / 16.0 - 1.0).abs() < 0.01 && (days(1.0) / 32.0 - 1.0).abs() < 0.01);
    let (errors, rber) = cells.errors().unwrap();
    assert!((errors - mean.0).abs() < 1e-9 && (rber / mean.1 - 1.0).abs() < 1e-9);
    cells.reset_counts();
    assert_eq!((cells.errors(), cells.ages().len()), (None, 0));
}

#[test]
fn the_pages_of_what_the_host_reads_are_compared() {
    let mut cells = cells();
    let other = BlockId(5);
    (cells.facts.blocks[BLOCK.index()].wear, cells.facts.blocks[other.index()].wear) = (9e3, 1e3);
    let (order, geometry) = (cells.order.clone(), geometry(8));
    let needed = |cells: &Cells, block: BlockId| {
        let wear = cells.facts.blocks[block.index()].wear;
        let at = |page| Conditions {
            reads: cells.facts.blocks[block.index()].reads,
            ..Conditions::fresh(PageInBlock(page), order.page_type(PageInBlock(page)), wear)
        };
        let each = (0..6).map(|page| cells.chip.level_needed(block, &at(page)).unwrap().0);
        let each: Vec<u8> = each.collect();
        (*each.iter().min().unwrap(), *each.iter().max().unwrap())
    };
    let (worn, fresh) = (needed(&cells, BLOCK), needed(&cells, other));
    assert!(worn.0 < worn.1 && fresh.1 < worn.1, "{worn:?}, {fresh:?}: pages and blocks differ");
    let mut txn = read(&mut cells);
    cells.level_needed(&txn, &geometry, SimTime::START);
    assert_eq!(cells.retry_spread(), None, "nobody asks");
    cells.reset_counts();
    cells.compare();
    assert_eq!(cells.retry_spread().unwrap().between_blocks(), None, "nothing was read");
    let spread = |cells: &Cells| {
        let spread = cells.retry_spread().unwrap();
        (spread.between_blocks(), spread.within_a_block())
    };
    let worn = needed(&cells, BLOCK);
    cells.level_needed(&txn, &geometry, SimTime::START);
    assert_eq!(spread(&cells), (Some(0), worn.1 - worn.0));
    // The next comparison is at the 257th read, here of the other block.
    txn.ppn = geometry.page(other, PageInBlock(1));
    for _ in 0..255 {
        cells.level_needed(&txn, &geometry, SimTime::START);
    }
    assert_eq!(spread(&cells).0, Some(0));
    let fresh = needed(&cells, other);
    cells.level_needed(&txn, &geometry, SimTime::START);
    assert_eq!(spread(&cells).0, Some(worn.1 - fresh.1));
    cells.reset_counts();
    txn.cause = Cause::Gc;
    cells.level_needed(&txn, &geometry, SimTime::START);
    assert_eq!(spread(&cells), (None, 0), "the controller's own reads do not count");
}

#[test]
fn restored_cells_continue_at_the_age_that_they_had() {
    let mut before = cells();
    before.programmed(BLOCK, day(10));
    before.erased(BlockId(1), day(20), 1);
    let facts = before.save(day(30));
    let mut after = cells();
    assert!(after.restore(facts.clone()));
    expect(&mut after, day(5), |at| at.retention = Nanos::from_ns(25 * DAY));
    // The two erases are ten days before the save and ten days after: 20 days apart.
    after.erased(BlockId(1), day(10), 1);
    assert_eq!(after.facts.blocks[1].dwell, Nanos::from_ns(20 * DAY));
    let other = &mut cells_of(&geometry(9), &PhysicsConfig::Retries(Box::default()));
    assert!(!other.restore(facts.clone()));
    assert!(!cells_of(&geometry(8), &PhysicsConfig::Flat).restore(facts));
}

#[test]
fn a_block_is_as_bad_as_its_worst_page_was_programmed() {
    let named =
        |name: &str| ProgramModeConfig { name: name.into(), ..ProgramModeConfig::default() };
    let strong = ProgramModeConfig { base_factor: Some(3.0), ..named("strong") };
    let timing = TimingConfig { program_modes: vec![named("normal"), strong], ..timing() };
    let mut cells = cells_timed(&geometry(8), &PhysicsConfig::Levels(Box::default()), &timing);
    let rate = |program_mode| {
        let fresh = Conditions::fresh(PageInBlock(0), PageType(0), 0.0);
        Some(
            cells
                .chip
                .rber(BLOCK, &Conditions { program_mode: ProgramMode(program_mode), ..fresh }),
        )
    };
    let rates = [rate(0), rate(1)];
    assert!(rates[1] > rates[0]);
    let page = |page| geometry(8).page(BLOCK, PageInBlock(page));
    assert_eq!(cells.rber_of(BLOCK, SimTime::START), None);
    for (number, class, worst) in [(0, 0, 0), (1, 1, 1), (2, 0, 1)] {
        cells.keep_voltage(page(number), ProgramMode(class));
        cells.programmed(BLOCK, SimTime::START);
        assert_eq!(cells.rber_of(BLOCK, SimTime::START), rates[worst], "page {number}");
    }
    cells.erased(BLOCK, SimTime::START, 1);
    assert_eq!(cells.rber_of(BLOCK, SimTime::START), None);
}

#[test]
fn a_read_that_climbs_senses_only_what_its_level_adds() {
    let config = LevelsConfig { sensing: SensingConfig::Incremental, ..Default::default() };
    let mut cells = cells_of(&geometry(8), &PhysicsConfig::Levels(Box::new(config)));
    let mut txn = read(&mut cells);
    txn.level = Level(1);
    let time = |continuing| {
        cells.chip.sense_time(txn.page_type, ProgramMode::NORMAL, Level(1), continuing)
    };
    let (whole, added) = (time(false), time(true));
    assert_ne!(whole, added);
    assert_eq!(cells.sense_time(&txn), whole);
    txn.failed = 1;
    assert_eq!(cells.sense_time(&txn), added);
}
