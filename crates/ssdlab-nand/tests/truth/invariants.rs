//! Properties under any coefficients: monotone, pure, and in proportion to the declared times.

use super::*;
use proptest::prelude::*;
use ssdlab_base::quantity::Share;
use ssdlab_nand::Each;
use ssdlab_nand::disturb::DisturbConfig;
use ssdlab_nand::pages::PagesConfig;
use ssdlab_nand::retention::{RetentionConfig, RetentionScale};
use ssdlab_nand::retry_config::SpreadConfig;
use ssdlab_nand::temperature::TemperatureConfig;
use ssdlab_nand::variation::GaussianConfig;
use ssdlab_nand::wear::WearConfig;

fn full(scale: RetentionScale, celsius: f64) -> LevelsConfig {
    LevelsConfig {
        wear: Some(WearConfig::default()),
        retention: Some(RetentionConfig { scale, ..RetentionConfig::default() }),
        disturb: Some(DisturbConfig::default()),
        temperature: TemperatureConfig { celsius, ..TemperatureConfig::default() },
        ..LevelsConfig::default()
    }
}

fn hot_retries(celsius: f64) -> RetriesConfig {
    let temperature = TemperatureConfig { celsius, ..TemperatureConfig::default() };
    RetriesConfig { temperature, ..RetriesConfig::default() }
}

/// Returns one chip of each kind at this temperature.
fn every_kind(celsius: f64) -> Vec<Chip> {
    let kinds = [
        PhysicsConfig::Flat,
        levels(full(RetentionScale::Common, celsius)),
        levels(full(RetentionScale::Proportional, celsius)),
        retries(hot_retries(celsius)),
    ];
    kinds.iter().map(chip).collect()
}

/// Returns the level needed. A page that no level decodes counts as one beyond the last.
fn height(chip: &Chip, block: BlockId, c: &Conditions) -> u8 {
    chip.level_needed(block, c).map_or(chip.levels(), |level| level.0)
}

proptest! {
    #[test]
    fn more_of_anything_never_needs_a_lower_level(
        block in 0u32..16_384,
        page in 0u16..576,
        cycles in (0f32..6_000.0, 0f32..2_000.0),
        age in (0f64..400.0, 0f64..200.0),
        reads in (0u32..400_000, 0u32..400_000),
        celsius in 20f64..60.0,
    ) {
        let c = Conditions {
            page: PageInBlock(page),
            retention: days(age.0),
            reads: reads.0,
            dwell: days(2.0),
            ..fresh(cycles.0)
        };
        let worse = [
            Conditions { pe_cycles: cycles.0 + cycles.1, ..c },
            Conditions { retention: days(age.0 + age.1), ..c },
            Conditions { reads: reads.0 + reads.1, ..c },
            Conditions { dwell: days(1.0), ..c },
        ];
        let block = BlockId(block);
        for (chip, warmer) in every_kind(celsius).iter().zip(every_kind(celsius + 10.0)) {
            let here = height(chip, block, &c);
            prop_assert!(here <= chip.levels());
            for worse in &worse {
                prop_assert!(height(chip, block, worse) >= here, "{worse:?} after {c:?}");
                prop_assert!(chip.rber(block, worse) >= chip.rber(block, &c));
            }
            // Warmth also makes dwell count for more, which relieves wear. Without dwell it can
            // only harm.
            let c = Conditions { dwell: Nanos::ZERO, ..c };
            prop_assert!(height(&warmer, block, &c) >= height(chip, block, &c));
        }
    }

    #[test]
    fn rates_are_numbers_under_any_conditions(
        block in any::<u32>(),
        cycles in 0f32..f32::MAX,
        age in any::<u64>(),
        dwell in any::<u64>(),
        reads in any::<u32>(),
    ) {
        let c = Conditions {
            retention: Nanos::from_ns(age),
            dwell: Nanos::from_ns(dwell),
            reads,
            ..fresh(cycles)
        };
        for chip in every_kind(30.0) {
            let rate = chip.rber(BlockId(block % 16_384), &c);
            prop_assert!((0.0..=0.5).contains(&rate), "{rate}");
            chip.erase_time(BlockId(block % 16_384), cycles.min(1e6));
        }
    }
}

#[test]
fn what_a_block_is_does_not_depend_on_the_order_of_queries() {
    let c = Conditions { retention: days(40.0), reads: 1_000, ..fresh(700.0) };
    for chip in every_kind(30.0) {
        let errors_of = |block| (chip.rber(block, &c).to_bits(), chip.errors(block, &c));
        let forwards: Vec<_> = blocks().map(errors_of).collect();
        let mut backwards: Vec<_> =
            (0..forwards.len() as u32).rev().map(BlockId).map(errors_of).collect();
        backwards.reverse();
        assert_eq!(forwards, backwards);
    }
}

#[test]
fn another_seed_is_another_chip_and_the_same_seed_the_same() {
    for physics in [levels(LevelsConfig::default()), retries(RetriesConfig::default())] {
        let rates = |seed| -> Vec<f64> {
            let chip = resolve(&fixed(), &physics, seed).unwrap();
            blocks().take(100).map(|block| chip.base_rber(block)).collect()
        };
        assert_eq!(rates(1), rates(1));
        assert_ne!(rates(1), rates(2));
    }
}

#[test]
fn without_variation_all_blocks_are_equal() {
    let none = Share::new(0.0);
    let gaussian = GaussianConfig { sigma: 0.0, ..GaussianConfig::default() };
    let alike = levels(LevelsConfig {
        base: BaseConfig::Gaussian(gaussian),
        ..full(RetentionScale::Proportional, 30.0)
    });
    let spread = SpreadConfig {
        die: none,
        quality: none,
        wear: none,
        retention: none,
        disturb: none,
        bound: 3.0,
    };
    let mut config = RetriesConfig { spread, noise: none, ..RetriesConfig::default() };
    config.pages = PagesConfig { scatter: none, ..PagesConfig::default() };
    config.erase.spread = none;
    let c = Conditions { retention: days(40.0), reads: 9_000, ..fresh(1_700.0) };
    for chip in [chip(&alike), chip(&retries(config))] {
        let of = |block| (chip.rber(block, &c).to_bits(), chip.erase_time(block, 1_700.0));
        assert!(blocks().all(|block| of(block) == of(BlockId(0))));
        assert!(blocks().all(|block| chip.errors(block, &c) == chip.errors(BlockId(0), &c)));
    }
}

/// Returns this timing with every declared time doubled.
fn doubled(timing: &TimingConfig) -> TimingConfig {
    let twice = |times: &Each<Nanos>| Each::list(times.declared().iter().map(|&time| time * 2));
    let mut all = TimingConfig {
        read: twice(&timing.read),
        program: twice(&timing.program),
        erase: timing.erase * 2,
        decode: twice(&timing.decode),
        wordline_buffer: timing.wordline_buffer,
        program_modes: timing.program_modes.clone(),
    };
    for class in &mut all.program_modes {
        for time in [&mut class.sense, &mut class.program, &mut class.transfer] {
            *time = time.map(|time| time * 2);
        }
    }
    all
}

#[test]
fn doubling_every_latency_doubles_every_time() {
    let fast = ProgramModeConfig {
        name: "fast".to_owned(),
        sense: Some(us(30)),
        step_volts: Some(0.45),
        transfer: Some(us(8)),
        ..ProgramModeConfig::default()
    };
    let normal = ProgramModeConfig {
        name: "normal".to_owned(),
        step_volts: Some(0.3),
        ..ProgramModeConfig::default()
    };
    let timing = TimingConfig {
        read: Each::list([us(70), us(140), us(210)]),
        decode: Each::same(us(10)),
        program_modes: vec![normal, fast],
        ..fixed()
    };
    for physics in
        [PhysicsConfig::Flat, levels(LevelsConfig::default()), retries(hot_retries(30.0))]
    {
        let once = resolve(&timing, &physics, 1).unwrap();
        let twice = resolve(&doubled(&timing), &physics, 1).unwrap();
        // Each side is rounded to a nanosecond once.
        let is_double = |a: Nanos, b: Nanos| (a * 2).as_ns().abs_diff(b.as_ns()) <= 1;
        for program_mode in once.program_modes() {
            for page_type in (0..3).map(PageType) {
                let program = |chip: &Chip| chip.program_time(page_type, program_mode);
                assert!(is_double(program(&once), program(&twice)));
                for level in (0..once.levels()).map(Level) {
                    let sense =
                        |chip: &Chip| chip.sense_time(page_type, program_mode, level, false);
                    assert!(is_double(sense(&once), sense(&twice)));
                    let moved =
                        |chip: &Chip, bus| chip.transfer_time(program_mode, level, 4096, bus);
                    assert!(is_double(moved(&once, us(5)), moved(&twice, us(10))));
                    assert!(is_double(once.decode_time(level), twice.decode_time(level)));
                }
            }
        }
        for block in blocks().take(100) {
            assert!(is_double(once.erase_time(block, 900.0), twice.erase_time(block, 900.0)));
        }
    }
}
