//! Sensing levels: the figures of DLV and PV-read.

use super::*;
use ssdlab_base::quantity::Share;
use ssdlab_nand::Each;
use ssdlab_nand::ldpc::{BCH_CAPABILITY, LDPC_CAPABILITY};
use ssdlab_nand::retention::{RetentionConfig, RetentionScale};
use ssdlab_nand::temperature::TemperatureConfig;
use ssdlab_nand::variation::GaussianConfig;
use ssdlab_nand::wear::WearConfig;

/// Shares of blocks by level, PV-read, Table I.
const SHARES: [f64; 7] = [9.0, 12.5, 21.3, 19.6, 17.6, 12.9, 7.0];

fn dlv() -> LevelsConfig {
    LevelsConfig {
        retention: Some(RetentionConfig::default()),
        transfer: TransferConfig::Bits,
        ..LevelsConfig::default()
    }
}

fn pv_read() -> LevelsConfig {
    LevelsConfig {
        base: BaseConfig::Shares(SHARES.to_vec()),
        sensing: SensingConfig::Incremental,
        transfer: TransferConfig::Table([20, 30, 40, 40, 40, 50, 50].map(us).to_vec()),
        ..LevelsConfig::default()
    }
}

fn all_alike() -> BaseConfig {
    BaseConfig::Gaussian(GaussianConfig { sigma: 0.0, ..GaussianConfig::default() })
}

#[test]
fn dlvs_blocks_are_a_bounded_gaussian() {
    let chip = chip(&levels(dlv()));
    let rates: Vec<f64> = blocks().map(|block| chip.base_rber(block)).collect();
    // A Gaussian cut at three deviations has a deviation of 0.9866, the root of 1 − 2·3·φ(3)/(2Φ(3)
    // − 1).
    let density = 0.004_431_848;
    let cut = (1.0_f64 - 2.0 * 3.0 * density / 0.997_300_2).sqrt();
    let error_of_mean = 9e-5 / (rates.len() as f64).sqrt();
    assert!((mean(&rates) - 3.7e-4).abs() < 4.0 * error_of_mean);
    assert!((deviation(&rates) / (9e-5 * cut) - 1.0).abs() < 0.02);
    let (least, most) = (3.7e-4 - 2.7e-4, 3.7e-4 + 2.7e-4);
    assert!(rates.iter().all(|rate| (least - 1e-12..=most + 1e-12).contains(rate)));
    let strong = rates.iter().filter(|rate| **rate < 3.7e-4 - 9e-5).count() as f64;
    assert!((strong / rates.len() as f64 - 0.1587).abs() < 0.01);
}

#[test]
fn dlvs_data_climb_a_level_at_the_ages_of_its_table() {
    let same = levels(LevelsConfig { base: all_alike(), ..dlv() });
    let chip = chip(&same);
    for (level, age) in [14.0, 28.0, 42.0, 56.0, 70.0, 85.0, 99.0].into_iter().enumerate() {
        let before = Conditions { retention: days(age - 0.2), ..fresh(0.0) };
        let after = Conditions { retention: days(age + 0.2), ..fresh(0.0) };
        assert_eq!(
            chip.level_needed(BlockId(3), &before),
            Some(Level(level as u8)),
            "before day {age}"
        );
        let next = (level < 6).then_some(Level(level as u8 + 1));
        assert_eq!(chip.level_needed(BlockId(3), &after), next, "after day {age}");
    }
}

#[test]
fn a_level_senses_in_proportion_and_transfers_the_bits_of_its_intervals() {
    let chip = chip(&levels(dlv()));
    assert_eq!(chip.levels(), 7);
    for n in 1..=7u8 {
        let sense = chip.sense_time(PageType(0), ProgramMode::NORMAL, Level(n - 1), false);
        assert!((sense.as_us() - 90.0 * f64::from(n) / 7.0).abs() < 1e-3);
        assert_eq!(
            chip.sense_time(PageType(0), ProgramMode::NORMAL, Level(n - 1), true),
            sense,
            "restart"
        );
        // 5 µs · ⌈log2(n + 1)⌉ / 3
        let bits = (1..).find(|bits| 1u32 << bits > u32::from(n)).unwrap();
        let transfer = chip.transfer_time(ProgramMode::NORMAL, Level(n - 1), 4096, us(5));
        assert!((transfer.as_us() - 5.0 * f64::from(bits) / 3.0).abs() < 1e-3);
    }
}

#[test]
fn an_incremental_climb_adds_up_to_the_whole_sensing() {
    let chip = chip(&levels(LevelsConfig { sensing: SensingConfig::Incremental, ..dlv() }));
    let sense = |level, on| chip.sense_time(PageType(0), ProgramMode::NORMAL, Level(level), on);
    let climbed: Nanos = (0..7).map(|level| sense(level, level > 0)).sum();
    assert_eq!(climbed, sense(6, false));
    assert_eq!(climbed, us(90));
}

#[test]
fn declared_shares_of_the_sensing_time_replace_the_proportion() {
    let shares = [0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 1.0].map(Share::new);
    let config = LevelsConfig { sensing_shares: Some(shares.to_vec()), ..dlv() };
    let chip = chip(&levels(config));
    assert_eq!(chip.sense_time(PageType(0), ProgramMode::NORMAL, Level(1), false), us(18));
    assert_eq!(chip.sense_time(PageType(0), ProgramMode::NORMAL, Level(6), false), us(90));
}

#[test]
fn a_coarser_step_costs_base_errors_alone() {
    let factor = 0.0104 / 0.0076;
    let row = |name: &str, base_factor| ProgramModeConfig {
        name: name.to_owned(),
        base_factor,
        ..ProgramModeConfig::default()
    };
    let program_modes = vec![row("normal", None), row("coarse", Some(factor))];
    let timing = TimingConfig { program_modes, ..fixed() };
    let chip = resolve(&timing, &levels(dlv()), 1).unwrap();
    let at = |program_mode, age| Conditions { program_mode, retention: days(age), ..fresh(0.0) };
    let coarse = chip.program_mode("coarse").unwrap();
    for age in [0.0, 14.0, 60.0] {
        let normal = chip.rber(BlockId(9), &at(ProgramMode::NORMAL, age));
        let added = chip.rber(BlockId(9), &at(coarse, age)) - normal;
        assert!((added / (chip.base_rber(BlockId(9)) * (factor - 1.0)) - 1.0).abs() < 1e-6);
    }
}

#[test]
fn retention_in_proportion_to_the_base_is_the_common_one_for_the_mean_block() {
    let scaled = RetentionConfig { scale: RetentionScale::Proportional, ..Default::default() };
    let common = chip(&levels(dlv()));
    let proportional = chip(&levels(LevelsConfig { retention: Some(scaled), ..dlv() }));
    let old = Conditions { retention: days(30.0), ..fresh(0.0) };
    let added = |chip: &Chip| -> Vec<f64> {
        blocks().map(|block| chip.rber(block, &old) - chip.base_rber(block)).collect()
    };
    let (all, own) = (added(&common), added(&proportional));
    assert!(deviation(&all) < 1e-12);
    assert!((mean(&own) / mean(&all) - 1.0).abs() < 0.01);
    assert!((deviation(&own) / mean(&own) - 9e-5 / 3.7e-4).abs() < 0.01);
}

#[test]
fn pv_reads_blocks_need_the_levels_of_its_table_in_its_shares() {
    let timing = TimingConfig { read: Each::same(us(175)), ..fixed() };
    let chip = resolve(&timing, &levels(pv_read()), 1).unwrap();
    let mut counts = [0u32; 7];
    for block in blocks() {
        let level = chip.level_needed(block, &fresh(0.0)).expect("every block decodes");
        counts[level.index()] += 1;
    }
    let whole: f64 = SHARES.iter().sum();
    for (at, (&count, share)) in counts.iter().zip(SHARES).enumerate() {
        let (got, share) = (f64::from(count) / 16_384.0, share / whole);
        let error = (share * (1.0 - share) / 16_384.0).sqrt();
        assert!((got - share).abs() < 4.0 * error, "level {}: {got} of {share}", at + 1);
        let level = at as u64 + 1;
        let sense = |continuing| {
            chip.sense_time(PageType(0), ProgramMode::NORMAL, Level(at as u8), continuing)
        };
        assert_eq!((sense(false), sense(true)), (us(25 * level), us(25)));
        let transfer = [20, 30, 40, 40, 40, 50, 50][at];
        let move_page =
            |bytes| chip.transfer_time(ProgramMode::NORMAL, Level(at as u8), bytes, us(1));
        assert_eq!((move_page(4096), move_page(2048)), (us(transfer), us(transfer / 2)));
    }
}

#[test]
fn within_a_level_rates_are_spread_evenly() {
    let chip = chip(&levels(pv_read()));
    let third: Vec<f64> = blocks()
        .map(|block| chip.base_rber(block))
        .filter(|rate| (LDPC_CAPABILITY[1]..LDPC_CAPABILITY[2]).contains(rate))
        .collect();
    let (low, width) = (LDPC_CAPABILITY[1], LDPC_CAPABILITY[2] - LDPC_CAPABILITY[1]);
    assert!(((mean(&third) - low) / width - 0.5).abs() < 0.02);
    assert!((deviation(&third) / width - (1.0f64 / 12.0).sqrt()).abs() < 0.01);
}

#[test]
fn wear_carries_pv_reads_blocks_from_one_lifetime_to_the_other() {
    let at_bch = GaussianConfig { mean: 0.0041, sigma: 0.0, bound: 3.0 };
    let config = LevelsConfig {
        base: BaseConfig::Gaussian(at_bch),
        wear: Some(WearConfig::default()),
        ..LevelsConfig::default()
    };
    let chip = chip(&levels(config));
    let rate = |cycles| chip.rber(BlockId(0), &fresh(cycles));
    assert!((rate(1500.0) - 0.0041).abs() < 1e-7);
    assert!((rate(4000.0) - 0.0078).abs() < 5e-5);
    assert_eq!(chip.level_needed(BlockId(0), &fresh(1500.0)), Some(Level(0)));
    assert_eq!(chip.level_needed(BlockId(0), &fresh(4000.0)), Some(Level(2)));
}

#[test]
fn pv_reads_life_stages_stay_within_what_the_last_level_decodes() {
    for (mean_rate, sigma) in [(0.004, 0.005), (0.008, 0.003), (0.012, 0.001)] {
        let base = BaseConfig::Gaussian(GaussianConfig { mean: mean_rate, sigma, bound: 8.0 });
        let chip = chip(&levels(LevelsConfig { base, ..LevelsConfig::default() }));
        let rates: Vec<f64> = blocks().map(|block| chip.base_rber(block)).collect();
        assert!(rates.iter().all(|rate| (0.0..=0.0132).contains(rate)));
        assert!(blocks().all(|block| chip.level_needed(block, &fresh(0.0)).is_some()));
        assert!((mean(&rates) - mean_rate).abs() < sigma / 2.0);
    }
}

#[test]
fn a_code_without_soft_information_is_a_ladder_of_one_level() {
    let bch = LevelsConfig { capability: vec![BCH_CAPABILITY], ..dlv() };
    let timing = TimingConfig { decode: Each::same(us(6)), ..fixed() };
    let chip = resolve(&timing, &levels(bch), 1).unwrap();
    assert_eq!((chip.levels(), chip.decode_time(Level::FIRST)), (1, us(6)));
    let old = Conditions { retention: days(20.0), ..fresh(0.0) };
    assert_eq!(chip.level_needed(BlockId(0), &fresh(0.0)), Some(Level(0)));
    assert_eq!(chip.level_needed(BlockId(0), &old), None);
}

#[test]
fn an_hour_at_50_degrees_is_13_at_30() {
    let warm = TemperatureConfig { celsius: 50.0, ..TemperatureConfig::default() };
    let (warm, cool) =
        (chip(&levels(LevelsConfig { temperature: warm, ..dlv() })), chip(&levels(dlv())));
    let hours = |count: f64| Conditions { retention: days(count / 24.0), ..fresh(0.0) };
    for block in blocks().take(20) {
        let (one, thirteen) = (warm.rber(block, &hours(24.0)), cool.rber(block, &hours(312.0)));
        assert!((one / thirteen - 1.0).abs() < 1e-3);
    }
}

#[test]
fn a_controller_counts_the_errors_of_a_codeword() {
    let chip = chip(&levels(dlv()));
    let old = Conditions { retention: days(40.0), ..fresh(0.0) };
    let expected = chip.rber(BlockId(5), &old) * 4096.0 * 8.0;
    assert_eq!(chip.errors(BlockId(5), &old), expected.round() as u32);
}

#[test]
fn page_types_weigh_on_the_base() {
    let config = LevelsConfig { page_types: Each::list([1.0, 1.25, 2.0]), ..dlv() };
    let chip = chip(&levels(config));
    for (page_type, factor) in [(0, 1.0), (1, 1.25), (2, 2.0)] {
        let c = Conditions { page_type: PageType(page_type), ..fresh(0.0) };
        let ratio = chip.rber(BlockId(6), &c) / chip.base_rber(BlockId(6));
        assert!((ratio - factor).abs() < 1e-9);
    }
}
