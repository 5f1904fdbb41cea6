//! Checks that a config cannot lie: every key changes some result, or is refused where it has no
//! effect.

mod renamed;
mod small_drives;
mod tables;

use std::collections::BTreeSet;

use ssdlab_run::{Plan, RunConfig, run_uninterrupted};

use small_drives::*;
use tables::*;

fn run(settings: &[String]) -> Result<serde_json::Value, String> {
    // Measured blocks define their own erase times, so these refuse settings of erase times.
    let measured = settings.iter().any(|setting| setting.starts_with("physics.measured"));
    let fits = |setting: &&&str| !(measured && setting.starts_with("timing.erase"));
    let base = BASE.iter().filter(fits).map(|setting| setting.to_string());
    let set = base.chain(settings.iter().cloned()).collect();
    let plan = Plan { device: "generic-mlc-512g".into(), set, seed: 3, ..Plan::default() };
    let results = run_uninterrupted(&[plan], 1).map_err(|fault| fault.to_string())?;
    let mut figures = serde_json::to_value(&results[0]).expect("a result can be written");
    let entries = figures.as_object_mut().expect("an object");
    for key in ["results_digest", "sim", "provenance", "workload"] {
        entries.remove(key);
    }
    Ok(figures)
}

/// Returns the argument that sets a key. For a key of a chain's link, it sets a chain of only this
/// link.
fn assigned(key: &str, value: &str) -> String {
    if let Some(own) = key.strip_prefix(TENANT_KEY) {
        let others = TENANT.iter().filter(|(name, _)| *name != own);
        let others = others.map(|(name, value)| format!("{name}={value}"));
        let tenant: Vec<String> = others.chain([format!("{own}={value}")]).collect();
        return format!("start.history.tenants=[{{{}}}]", tenant.join(","));
    }
    let Some((chain, rest)) = key.split_once("[].") else { return format!("{key}={value}") };
    let (link, setting) = rest.split_once('.').expect("a link and its setting");
    format!("{chain}=[{{{link}={{{setting}={value}}}}}]")
}

fn rows() -> Vec<(String, Vec<String>, String)> {
    let plain = CHANGES.iter().map(|(key, beside, value)| {
        (key.to_string(), beside.iter().map(|s| s.to_string()).collect(), value.to_string())
    });
    let physics = PHYSICS.iter().map(|(key, value)| {
        let model = match key.split('.').next() {
            Some("levels") => LEVELS,
            Some("measured") => MEASURED,
            _ => RETRIES,
        };
        let settings = model.iter().copied().chain(beside(key)).map(str::to_string);
        (format!("physics.{key}"), settings.collect(), value.to_string())
    });
    plain.chain(physics).collect()
}

/// `SSDLAB_KEY=retry_refresh` checks only the keys that contain this word.
#[test]
fn every_key_changes_a_result() {
    let word = std::env::var("SSDLAB_KEY").unwrap_or_default();
    let rows: Vec<_> = rows().into_iter().filter(|(key, ..)| key.contains(&word)).collect();
    assert!(!rows.is_empty(), "no key contains {word}");
    let mut without = Vec::new();
    for (key, beside, value) in rows {
        let before = run(&beside);
        let mut settings = beside;
        settings.push(assigned(&key, &value));
        let after = run(&settings);
        match (before, after) {
            (Ok(before), Ok(after)) if before != after => {}
            (Ok(_), Ok(_)) => without.push(key),
            (before, after) => {
                let lines: Vec<_> = [before.err(), after.err()].into_iter().flatten().collect();
                without.push(format!("{key}: {}", lines.join("; ")));
            }
        }
    }
    assert!(without.is_empty(), "keys that change no result: {without:#?}");
}

#[test]
fn keys_without_effect_are_refused_by_name() {
    for (key, beside, value) in REFUSED {
        let mut settings: Vec<String> = beside.iter().map(|s| s.to_string()).collect();
        settings.push(match key.strip_prefix("timing.program_modes[].") {
            Some(_) => format!("timing.program_modes=[{{name=\"normal\",{value}}}]"),
            None if key.starts_with(TENANT_KEY) => assigned(key, value),
            None => format!("{key}={value}"),
        });
        let line = run(&settings).err().unwrap_or_else(|| panic!("{key} was accepted"));
        let named = key.replace("[]", "[0]");
        assert!(line.contains(&named), "{key}: {line}");
        assert!(!line.contains('\n'), "{line}");
    }
}

#[test]
fn the_cell_decides_how_many_times_there_are_and_which_page_has_which() {
    let of = |cell: &str, times: &str| {
        run(&[
            format!("geometry.cell={cell}"),
            "geometry.pages=36".into(),
            format!("timing.program={times}"),
        ])
    };
    let mlc = of("mlc", "[\"500us\",\"900us\"]").unwrap();
    let tlc = of("tlc", "[\"500us\",\"700us\",\"900us\"]").unwrap();
    assert_ne!(mlc, tlc);
    let line = of("tlc", "[\"500us\",\"900us\"]").unwrap_err();
    assert!(line.contains("timing.program") && line.contains("tlc"), "{line}");
}

#[test]
fn no_key_is_left_out() {
    let mut shown: BTreeSet<String> = rows().into_iter().map(|(key, ..)| key).collect();
    shown.extend(REFUSED.iter().map(|(key, ..)| key.to_string()));
    shown.extend(ALONE.iter().chain(OF_SECOND_CLASSES).map(|key| key.to_string()));
    // The whole class covers this key.
    shown.insert("timing.program_modes[].transfer".into());
    let keys: BTreeSet<String> =
        ssdlab_config::keys::<RunConfig>().into_iter().map(|key| key.path).collect();
    let missing: Vec<_> = keys.difference(&shown).collect();
    let unknown: Vec<_> = shown.difference(&keys).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "missing {missing:?}, unknown {unknown:?}");
}

#[test]
fn every_optional_key_says_what_holds_without_it() {
    let silent = ssdlab_config::without_default::<RunConfig>();
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn every_number_has_a_source_or_says_that_it_is_assumed() {
    let unsourced = ssdlab_config::unsourced::<RunConfig>();
    assert!(unsourced.is_empty(), "{unsourced:?}");
}
