//! The format of coefficients, and refusals of invalid ones.

use super::*;
use serde::Deserialize;
use ssdlab_nand::Each;
use ssdlab_nand::ldpc::{LDPC_CAPABILITY, LDPC_DERIVED};
use ssdlab_nand::retention::{RetentionConfig, RetentionScale};
use ssdlab_nand::wear::WearConfig;

#[derive(Debug, PartialEq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
struct Drive {
    timing: TimingConfig,
    #[serde(default)]
    physics: PhysicsConfig,
}

const TIMES: &str = "timing = { read = '90us', program = '600us', erase = '3ms' }\n";

fn read(text: &str) -> Result<Drive, String> {
    toml::from_str(text).map_err(|error| error.message().to_owned())
}

#[test]
fn a_drive_without_physics_is_flat() {
    let drive = read(TIMES).unwrap();
    assert_eq!(drive, Drive { timing: fixed(), physics: PhysicsConfig::Flat });
    assert_eq!(read(&format!("{TIMES}physics = 'flat'")).unwrap().physics, PhysicsConfig::Flat);
}

#[test]
fn an_empty_table_takes_the_defaults() {
    let levels_text = format!("{TIMES}[physics.levels]");
    assert_eq!(read(&levels_text).unwrap().physics, levels(LevelsConfig::default()));
    let retries_text = format!("{TIMES}[physics.retries]");
    assert_eq!(read(&retries_text).unwrap().physics, retries(RetriesConfig::default()));
}

#[test]
fn coefficients_are_written_as_in_the_papers() {
    let text = "
        [timing]
        read = '175us'
        program = ['500us', '2ms', '5.5ms']
        erase = '3ms'
        decode = '8us'
        [[timing.program_modes]]
        name = 'normal'
        step_volts = 0.3
        [physics.levels]
        base = { shares = [9, 12.5, 21.3, 19.6, 17.6, 12.9, 7] }
        wear = { reference_cycles = 2000 }
        retention = { scale = 'proportional' }
        sensing = 'incremental'
        page_types = [1, 1.1, 1.3]
        transfer = { table = ['20us', '30us', '40us', '40us', '40us', '50us', '50us'] }
    ";
    let drive = read(text).unwrap();
    assert_eq!(drive.timing.program, Each::list([us(500), us(2_000), us(5_500)]));
    let expected = LevelsConfig {
        base: BaseConfig::Shares(vec![9.0, 12.5, 21.3, 19.6, 17.6, 12.9, 7.0]),
        wear: Some(WearConfig { reference_cycles: 2000.0, ..WearConfig::default() }),
        retention: Some(RetentionConfig {
            scale: RetentionScale::Proportional,
            ..RetentionConfig::default()
        }),
        sensing: SensingConfig::Incremental,
        page_types: Each::list([1.0, 1.1, 1.3]),
        transfer: TransferConfig::Table([20, 30, 40, 40, 40, 50, 50].map(us).to_vec()),
        ..LevelsConfig::default()
    };
    assert_eq!(drive.physics, levels(expected));
    resolve(&drive.timing, &drive.physics, 1).unwrap();
}

#[test]
fn what_is_written_out_reads_back_the_same() {
    for physics in
        [PhysicsConfig::Flat, levels(LevelsConfig::default()), retries(Default::default())]
    {
        let timing = TimingConfig { program: Each::list([us(1), us(2), us(3)]), ..fixed() };
        let drive = Drive { timing, physics };
        let text = toml::to_string(&drive).unwrap();
        assert_eq!(read(&text), Ok(drive), "{text}");
    }
}

#[test]
fn a_word_that_means_nothing_is_named() {
    let wrong = |rest: &str| read(&format!("{TIMES}{rest}")).unwrap_err();
    assert!(wrong("physics = 'levles'").contains("levles"));
    assert!(wrong("[physics.levels]\ncapabilty = [0.1]").contains("capabilty"));
    assert!(wrong("[physics.levels]\ncodeword = 4096").contains("a size with its unit"));
    let bare = "timing = { read = 90, program = '600us', erase = '3ms' }";
    assert!(read(bare).unwrap_err().contains("a time with its unit"), "{:?}", read(bare));
    let empty = "timing = { read = [], program = '600us', erase = '3ms' }";
    assert!(read(empty).unwrap_err().contains("one value, or a list"), "{:?}", read(empty));
}

/// Returns the key of the refusal, with what was found and what was expected.
fn refused(timing: &str, physics: &str) -> (String, String, String) {
    let timing = ["read = '90us'", "program = '600us'", "erase = '3ms'"]
        .iter()
        .filter(|line| !timing.contains(line.split_once('\'').unwrap().0))
        .fold(String::new(), |text, line| text + line + "\n")
        + timing;
    let text = format!("{physics}\n[timing]\n{timing}\n");
    let drive = read(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let refusal = resolve(&drive.timing, &drive.physics, 1).expect_err(&text);
    (refusal.key, refusal.got, refusal.expected)
}

#[test]
fn times_that_do_not_fit_are_refused_by_their_key() {
    let (key, got, expected) = refused("program = ['1ms', '2ms']", "");
    assert_eq!((key.as_str(), got.as_str()), ("timing.program", "2 values"));
    assert_eq!(expected, "one value, or 3 values (one for each page type of tlc)");
    let keys = [
        ("read = '0us'", "", "timing.read"),
        ("erase = '2h'", "", "timing.erase"),
        ("decode = ['1us', '2us']", "", "timing.decode"),
        ("decode = ['1us', '2us']", "[physics.levels]", "timing.decode"),
    ];
    for (timing, physics, key) in keys {
        assert_eq!(refused(timing, physics).0, key);
    }
}

#[test]
fn voltages_that_do_not_fit_are_refused_by_their_key() {
    let normal = "[[timing.program_modes]]\nname = 'normal'\n";
    let fast = "[[timing.program_modes]]\nname = 'fast'\n";
    let of = |first: &str, second: &str, physics: &str| {
        refused(&format!("{normal}{first}\n{fast}{second}"), physics).0
    };
    assert_eq!(
        of("base_factor = 2", "", "[physics.levels]"),
        "timing.program_modes[0].base_factor"
    );
    assert_eq!(of("", "base_factor = 2", ""), "timing.program_modes[1].base_factor");
    assert_eq!(of("", "step_volts = 0.4", ""), "timing.program_modes[1].step_volts");
    assert_eq!(of("step_volts = 0.3", "step_volts = -1", ""), "timing.program_modes[1].step_volts");
    let eight = "volts = [1, 2, 3, 4, 5, 6, 7, 8]";
    assert_eq!(of(eight, "volts = [1, 2]", ""), "timing.program_modes[1].volts");
    assert_eq!(of("", eight, ""), "timing.program_modes[1].volts");
    // One voltage for each state of the cell.
    let (key, got, expected) = refused(&format!("{normal}volts = [1, 2, 3, 4]"), "");
    assert_eq!((&*key, &*got), ("timing.program_modes[0].volts", "4 voltages"));
    assert_eq!(expected, "8, one for each state of the cell (tlc)");
    assert_eq!(of("volts = [2, 1]", "", ""), "timing.program_modes[0].volts");
    assert_eq!(of("sense = '1us'", "", ""), "timing.program_modes[0].sense");
    assert_eq!(of("", "transfer = '0us'", ""), "timing.program_modes[1].transfer");
    let bits = "[physics.levels]\ntransfer = 'bits'";
    assert_eq!(of("", "transfer = '9us'", bits), "timing.program_modes[1].transfer");
    assert_eq!(refused(fast, "").0, "timing.program_modes[0].name");
    assert_eq!(refused(&format!("{normal}{fast}{fast}"), "").0, "timing.program_modes[2].name");
}

#[test]
fn a_table_of_levels_has_a_name() {
    let of = |value: &str| {
        let read = read(&format!("{TIMES}[physics.levels]\ncapability = {value}"))?;
        let PhysicsConfig::Levels(config) = read.physics else { panic!("no levels") };
        Ok::<_, String>(config.capability)
    };
    assert_eq!(of("'paper'").unwrap(), LDPC_CAPABILITY);
    assert_eq!(of("'paper'").unwrap(), LevelsConfig::default().capability);
    assert_eq!(of("'derived'").unwrap(), LDPC_DERIVED);
    assert_eq!(of("[0.004, 1]").unwrap(), [0.004, 1.0]);
    // An effective config holds the rates, so that it keeps its meaning if the derived table
    // changes.
    let derived = LevelsConfig { capability: LDPC_DERIVED.to_vec(), ..LevelsConfig::default() };
    assert!(toml::to_string(&derived).unwrap().contains("capability = [0.00603, 0.01174"));
    assert!(of("'derivd'").unwrap_err().contains("expected `paper` or `derived`"));
    assert!(of("0.004").unwrap_err().contains("`paper`, `derived`, or a list of rates"));
}

#[test]
fn level_coefficients_that_do_not_fit_are_refused_by_their_key() {
    let keys = [
        ("capability = []", "capability"),
        ("capability = [0.01, 0.005]", "capability"),
        ("capability = [0.01, 0.7]", "capability"),
        ("base = { gaussian = { mean = 0.1 } }", "base.gaussian.mean"),
        ("base = { gaussian = { sigma = -1 } }", "base.gaussian.sigma"),
        ("base = { gaussian = { bound = 0 } }", "base.gaussian.bound"),
        ("base = { shares = [1, 2] }", "base.shares"),
        ("base = { shares = [0, 0, 0, 0, 0, 0, 0] }", "base.shares"),
        ("wear = { exponent = -1 }", "wear.exponent"),
        ("wear = { reference_cycles = 0 }", "wear.reference_cycles"),
        ("retention = { rate = -1 }", "retention.rate"),
        ("retention = { exponent = 0 }", "retention.exponent"),
        ("disturb = { scale = 0 }", "disturb.scale"),
        ("disturb = { rate = nan }", "disturb.rate"),
        ("temperature = { celsius = 300 }", "temperature.celsius"),
        ("temperature = { activation_ev = -1 }", "temperature.activation_ev"),
        ("sensing_shares = ['50%', '100%']", "sensing_shares"),
        ("transfer = { table = ['1us'] }", "transfer.table"),
        ("codeword = '1B'", "codeword"),
        ("page_types = [1, 2]", "page_types"),
        ("page_types = 0", "page_types"),
    ];
    for (line, key) in keys {
        let (got, ..) = refused("", &format!("[physics.levels]\n{line}"));
        assert_eq!(got, format!("physics.levels.{key}"), "{line}");
    }
}

#[test]
fn retry_coefficients_that_do_not_fit_are_refused_by_their_key() {
    let keys = [
        ("retries = 200", "retries"),
        ("correctable = 0", "correctable"),
        ("errors_per_retry = 0", "errors_per_retry"),
        ("fresh_errors = -1", "fresh_errors"),
        ("codeword = '2MiB'", "codeword"),
        ("page_types = [1, 2]", "page_types"),
        ("wear = { cycles = 0 }", "wear.cycles"),
        ("wear = { dwell_relief = -1 }", "wear.dwell_relief"),
        ("retention = { errors = -1 }", "retention.errors"),
        ("disturb = { scale = 0 }", "disturb.scale"),
        ("temperature = { celsius = -99 }", "temperature.celsius"),
        ("spread = { die = 0.2, quality = 0.2 }", "spread.quality"),
        ("spread = { wear = 0.4 }", "spread.wear"),
        ("spread = { bound = 9 }", "spread.bound"),
        ("pages = { scatter = 0.6 }", "pages.scatter"),
        ("erase = { growth = -1 }", "erase.growth"),
        ("noise = 0.5", "noise"),
    ];
    for (line, key) in keys {
        let (got, ..) = refused("", &format!("[physics.retries]\n{line}"));
        assert_eq!(got, format!("physics.retries.{key}"), "{line}");
    }
}

/// Returns every key of a schema with its description, and whether its value is a table.
fn keys(schema: &schemars::Schema) -> Vec<(String, String, bool)> {
    let root = schema.as_value();
    let mut found = Vec::new();
    let definitions = root["$defs"].as_object().into_iter().flatten().map(|(_, each)| each);
    for object in std::iter::once(root).chain(definitions) {
        for (key, property) in object["properties"].as_object().into_iter().flatten() {
            let text = property["description"].as_str().unwrap_or_default().replace('\n', " ");
            let written = property.to_string();
            found.push((key.clone(), text, written.contains("$ref")));
        }
    }
    found
}

#[test]
fn every_coefficient_says_its_default_and_its_source() {
    let schemas = [
        schemars::schema_for!(TimingConfig),
        schemars::schema_for!(LevelsConfig),
        schemars::schema_for!(RetriesConfig),
    ];
    let keys: Vec<_> = schemas.iter().flat_map(keys).collect();
    assert!(keys.len() > 50, "{} keys", keys.len());
    for (key, text, is_table) in keys {
        assert!(!text.is_empty(), "{key} says nothing");
        if is_table || key == "name" {
            continue;
        }
        assert!(text.contains("Default: ") || text.contains("Required."), "{key}: {text}");
        assert!(text.contains("Source: ") || text.contains("ssumed"), "{key}: {text}");
    }
}
