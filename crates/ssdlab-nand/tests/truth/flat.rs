//! Fixed times, page types and program modes.

use super::*;
use ssdlab_nand::Each;

fn class(name: &str) -> ProgramModeConfig {
    ProgramModeConfig { name: name.to_owned(), ..ProgramModeConfig::default() }
}

#[test]
fn flat_chips_are_the_same_everywhere_and_always() {
    let chip = chip(&PhysicsConfig::Flat);
    assert!(chip.is_flat());
    assert_eq!(chip.levels(), 1);
    let old = Conditions { retention: days(3_000.0), reads: u32::MAX, ..fresh(1e6) };
    for block in blocks().step_by(7) {
        assert_eq!(chip.level_needed(block, &old), Some(Level::FIRST));
        assert_eq!((chip.errors(block, &old), chip.rber(block, &old)), (0, 0.0));
        assert_eq!(chip.erase_time(block, 1e6), us(3_000));
    }
    for page_type in (0..3).map(PageType) {
        assert_eq!(chip.sense_time(page_type, ProgramMode::NORMAL, Level::FIRST, false), us(90));
        assert_eq!(chip.sense_time(page_type, ProgramMode::NORMAL, Level::FIRST, true), us(90));
        assert_eq!(chip.program_time(page_type, ProgramMode::NORMAL), us(600));
    }
    assert_eq!(chip.decode_time(Level::FIRST), Nanos::ZERO);
    assert_eq!(chip.transfer_time(ProgramMode::NORMAL, Level::FIRST, 512, us(3)), us(3));
}

#[test]
fn page_types_have_the_times_declared_for_them() {
    let timing = TimingConfig {
        read: Each::same(us(100)),
        program: Each::list([us(500), us(2_000), us(5_500)]),
        ..fixed()
    };
    let chip = resolve(&timing, &PhysicsConfig::Flat, 1).unwrap();
    let program = |page_type| chip.program_time(PageType(page_type), ProgramMode::NORMAL);
    assert_eq!([program(0), program(1), program(2)], [us(500), us(2_000), us(5_500)]);
    assert_eq!(chip.sense_time(PageType(2), ProgramMode::NORMAL, Level::FIRST, false), us(100));

    let qlc = TimingConfig { read: Each::list([us(40), us(60), us(80), us(120)]), ..fixed() };
    let chip = Chip::resolve(&geometry(Cell::Qlc), &qlc, &PhysicsConfig::Flat, 1).unwrap();
    assert_eq!(chip.sense_time(PageType(3), ProgramMode::NORMAL, Level::FIRST, false), us(120));
}

/// Returns the times of HIRE, Table 1.
fn hire() -> TimingConfig {
    let row = |name: &str, volts: [f64; 4], sense, transfer| ProgramModeConfig {
        volts: volts.to_vec(),
        sense,
        transfer: Some(us(transfer)),
        ..class(name)
    };
    TimingConfig {
        program_modes: vec![
            row("normal", [1.17, 2.37, 2.96, 3.54], None, 80),
            row("boosted", [1.40, 2.85, 3.55, 4.25], Some(us(30)), 40),
            row("reduced", [0.93, 1.90, 2.37, 2.83], Some(us(210)), 100),
        ],
        ..fixed()
    }
}

#[test]
fn voltage_classes_read_and_wear_as_in_hire() {
    let chip = Chip::resolve(&geometry(Cell::Mlc), &hire(), &PhysicsConfig::Flat, 1).unwrap();
    let page = chip_page_bytes();
    let expected = [("normal", 90, 80, 1.0), ("boosted", 30, 40, 1.2), ("reduced", 210, 100, 0.8)];
    assert_eq!(chip.program_modes().len(), 3);
    for (name, sense, transfer, wear) in expected {
        let class = chip.program_mode(name).expect("a class of that name");
        assert_eq!(chip.sense_time(PageType(1), class, Level::FIRST, false), us(sense), "{name}");
        assert_eq!(chip.transfer_time(class, Level::FIRST, page, us(7)), us(transfer), "{name}");
        assert_eq!(
            chip.transfer_time(class, Level::FIRST, page / 2, us(7)),
            us(transfer / 2),
            "{name}"
        );
        assert_eq!(chip.program_time(PageType(1), class), us(600), "{name}");
        assert!((chip.wear_weight(class) - wear).abs() < 1e-3, "{name}");
    }
    assert_eq!(chip.program_mode("normal"), Some(ProgramMode::NORMAL));
    assert_eq!(chip.program_mode("doubled"), None);
}

fn chip_page_bytes() -> u64 {
    geometry(Cell::Tlc).page_size.get()
}

#[test]
fn a_larger_step_programs_faster_in_proportion() {
    // DLV, Table I: 1300 µs against 867 µs. The step is larger by the same ratio.
    let normal = ProgramModeConfig { step_volts: Some(0.3), ..class("normal") };
    let coarse = ProgramModeConfig { step_volts: Some(0.3 * 1300.0 / 867.0), ..class("coarse") };
    let timing = TimingConfig { program_modes: vec![normal, coarse], ..fixed() };
    let chip = resolve(&timing, &PhysicsConfig::Flat, 1).unwrap();
    let coarse = chip.program_mode("coarse").unwrap();
    let time = chip.program_time(PageType(0), coarse).as_us();
    assert!((time - 600.0 * 867.0 / 1300.0).abs() < 1e-3, "{time} µs");
    assert_eq!(chip.program_time(PageType(0), ProgramMode::NORMAL), us(600));
    assert_eq!(chip.wear_weight(coarse), 1.0);
}

#[test]
fn without_classes_there_is_the_normal_one() {
    let chip = chip(&PhysicsConfig::Flat);
    assert_eq!(chip.program_modes().collect::<Vec<_>>(), [ProgramMode::NORMAL]);
    assert_eq!(chip.program_mode("normal"), Some(ProgramMode::NORMAL));
    assert_eq!(chip.wear_weight(ProgramMode::NORMAL), 1.0);
}
