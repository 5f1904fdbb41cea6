//! Retries: the anchor points of ReadGuard.

use super::*;
use ssdlab_base::math;
use ssdlab_nand::Each;

/// Returns the retries of every block's worst page, ascending.
fn worst_pages(chip: &Chip, c: Conditions) -> Vec<u8> {
    let worst = |block| Conditions { page: chip.worst_page(block), ..c };
    let needed =
        blocks().map(|block| chip.level_needed(block, &worst(block)).unwrap_or(Level::BEYOND).0);
    let mut needed: Vec<u8> = needed.collect();
    needed.sort_unstable();
    needed
}

fn aged(cycles: f32, age: f64) -> Conditions {
    Conditions { retention: days(age), dwell: days(0.5), ..fresh(cycles) }
}

/// Returns the lowest and the highest, without one block in a thousand at either end.
fn span(needed: &[u8]) -> (u8, u8) {
    let out = needed.len() / 1000;
    (needed[out], needed[needed.len() - 1 - out])
}

#[test]
fn the_anchor_points_of_the_characterized_chips_are_met() {
    for seed in 1..=3 {
        let chip = resolve(&fixed(), &retries(RetriesConfig::default()), seed).unwrap();
        assert_eq!(chip.levels(), 26);
        // Over all conditions: 0 to 25 retries.
        let (young, old) =
            (worst_pages(&chip, fresh(0.0)), worst_pages(&chip, aged(3500.0, 365.0)));
        assert_eq!((young[0], *young.last().unwrap()), (0, 0));
        assert!(span(&old).1 >= 22 && span(&old).1 <= 25, "{:?}", span(&old));
        // New blocks after twelve months: the worst block needs three times the retries of the
        // best.
        let (best, worst) = span(&worst_pages(&chip, aged(0.0, 365.0)));
        let ratio = f64::from(worst) / f64::from(best);
        assert!((2.0..=4.0).contains(&ratio), "{best} to {worst}");
        // 3K cycles, one month: 8 to 16 retries.
        let (best, worst) = span(&worst_pages(&chip, aged(3000.0, 30.0)));
        assert!(best >= 8 && worst <= 16 && worst - best >= 5, "{best} to {worst}");
        // Young and fresh: 0 or 1 retry.
        assert!(*worst_pages(&chip, fresh(500.0)).last().unwrap() <= 1);
    }
}

#[test]
fn pages_of_a_block_differ_by_at_most_three_where_blocks_differ_by_far_more() {
    let chip = chip(&retries(RetriesConfig::default()));
    let mut widest = 0;
    for block in blocks().step_by(41) {
        let c = aged(3500.0, 90.0);
        let pages = (0..576).map(|page| Conditions { page: PageInBlock(page), ..c });
        let needed: Vec<u8> = pages.map(|c| chip.level_needed(block, &c).unwrap().0).collect();
        let (least, most) = (*needed.iter().min().unwrap(), *needed.iter().max().unwrap());
        assert_eq!(needed[chip.worst_page(block).index()], most);
        widest = widest.max(most - least);
    }
    assert!((2..=3).contains(&widest), "{widest}");
    let (best, _) = span(&worst_pages(&chip, aged(3500.0, 7.0)));
    let (_, worst) = span(&worst_pages(&chip, aged(3500.0, 90.0)));
    assert!((10..=16).contains(&(worst - best)), "{best} to {worst}");
}

#[test]
fn retention_grows_by_the_logarithm_and_disturb_by_the_exponential() {
    let chip = chip(&retries(RetriesConfig::default()));
    let rate = |c: Conditions| chip.rber(BlockId(77), &c);
    let base = rate(fresh(1000.0));
    let at_age = |age: f64| rate(Conditions { retention: days(age), ..fresh(1000.0) }) - base;
    let expected = math::ln_1p(100.0) / math::ln_1p(10.0);
    assert!((at_age(100.0) / at_age(10.0) / expected - 1.0).abs() < 1e-4);
    let read = |reads| rate(Conditions { reads, ..fresh(1000.0) }) - base;
    let expected = (math::exp(3.0) - 1.0) / (math::exp(1.0) - 1.0);
    assert!((read(300_000) / read(100_000) / expected - 1.0).abs() < 2e-3);
}

#[test]
fn a_worn_block_erases_slower_and_rest_makes_a_block_younger() {
    let chip = chip(&retries(RetriesConfig::default()));
    let times = |cycles| -> Vec<f64> {
        blocks().map(|block| chip.erase_time(block, cycles).as_us()).collect()
    };
    let (new, old) = (times(0.0), times(3000.0));
    assert!((mean(&new) / 3_000.0 - 1.0).abs() < 1e-3);
    assert!((deviation(&new) / 3_000.0 - 0.01).abs() < 5e-4);
    assert!((mean(&old) / mean(&new) - 1.25).abs() < 2e-3);
    // Of two blocks with the same cycles, the one that wears faster erases slower.
    assert!(deviation(&old) > deviation(&new));
    let rested = Conditions { dwell: days(30.0), ..aged(3000.0, 30.0) };
    let pressed = Conditions { dwell: days(0.01), ..aged(3000.0, 30.0) };
    assert!(blocks().all(|block| chip.rber(block, &rested) < chip.rber(block, &pressed)));
}

#[test]
fn what_a_controller_counts_scatters_about_the_truth() {
    let chip = chip(&retries(RetriesConfig::default()));
    let c = aged(3000.0, 30.0);
    let errors = |reads| {
        let c = Conditions { reads, ..c };
        f64::from(chip.errors(BlockId(8), &c)) / (chip.rber(BlockId(8), &c) * 8192.0)
    };
    let counted: Vec<f64> = (0..4_000).map(errors).collect();
    assert!((mean(&counted) - 1.0).abs() < 2e-3);
    assert!((deviation(&counted) - 0.02).abs() < 2e-3);
    assert_eq!(chip.errors(BlockId(8), &c), chip.errors(BlockId(8), &c));
}

#[test]
fn every_attempt_senses_and_transfers_in_full() {
    let timing = TimingConfig { decode: Each::same(us(10)), ..fixed() };
    let chip = resolve(&timing, &retries(RetriesConfig::default()), 1).unwrap();
    for level in (0..chip.levels()).map(Level) {
        for continuing in [false, true] {
            assert_eq!(
                chip.sense_time(PageType(2), ProgramMode::NORMAL, level, continuing),
                us(90)
            );
        }
        assert_eq!(chip.transfer_time(ProgramMode::NORMAL, level, 4096, us(4)), us(4));
        assert_eq!(chip.decode_time(level), us(10));
    }
}

#[test]
fn blocks_of_a_die_are_more_alike_than_blocks_of_the_drive() {
    let chip = chip(&retries(RetriesConfig::default()));
    let rates: Vec<f64> = blocks().map(|block| chip.base_rber(block)).collect();
    let dies: Vec<f64> = rates.chunks(256).map(mean).collect();
    let whole = mean(&rates);
    let spread = RetriesConfig::default().spread;
    let (die, quality) = (spread.die, spread.quality);
    let both = die.get().hypot(quality.get());
    assert!((deviation(&dies) / whole - die.get()).abs() < 0.005, "{}", deviation(&dies) / whole);
    assert!((deviation(&rates) / whole - both).abs() < 0.004, "{}", deviation(&rates) / whole);
}

#[test]
fn page_types_and_steps_weigh_on_fresh_errors_alone() {
    let row = |name: &str, base_factor| ProgramModeConfig {
        name: name.to_owned(),
        base_factor,
        ..ProgramModeConfig::default()
    };
    let program_modes = vec![row("normal", None), row("coarse", Some(2.0))];
    let timing = TimingConfig { program_modes, ..fixed() };
    let config = RetriesConfig { page_types: Each::list([1.0, 1.5, 3.0]), ..Default::default() };
    let chip = resolve(&timing, &retries(config), 1).unwrap();
    let rate = |page_type, program_mode, cycles| {
        let c = Conditions { page_type: PageType(page_type), program_mode, ..fresh(cycles) };
        chip.rber(BlockId(4), &c)
    };
    let (normal, coarse) = (ProgramMode::NORMAL, chip.program_mode("coarse").unwrap());
    for (page_type, program_mode, factor) in [(1, normal, 1.5), (2, normal, 3.0), (1, coarse, 3.0)]
    {
        let plain = rate(0, normal, 0.0);
        assert!((rate(page_type, program_mode, 0.0) / plain - factor).abs() < 1e-9);
        let added = rate(page_type, program_mode, 2_000.0) - rate(page_type, program_mode, 0.0);
        assert!((added / (rate(0, normal, 2_000.0) - plain) - 1.0).abs() < 1e-9);
    }
}
