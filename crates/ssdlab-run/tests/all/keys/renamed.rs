//! Checks that every old name is refused in a line that names the new one.

use ssdlab_core::config::RENAMED;
use ssdlab_run::{Plan, effective};

/// Returns a setting that uses a name: a key by its path, or a choice as `path=name`.
fn setting(name: &str) -> String {
    let (path, value) = name.split_once('=').unwrap_or((name, "1"));
    match path.split_once('.') {
        Some((list @ ("placement" | "program_mode"), inner)) => {
            let (choice, key) = inner.split_once('.').expect("a setting of a choice");
            format!("{list}=[{{{choice}={{{key}={value}}}}}]")
        }
        None if matches!(path, "placement" | "program_mode") => format!("{path}=[\"{value}\"]"),
        _ => format!("{path}={value}"),
    }
}

/// Returns the error for a setting; empty if it is accepted.
fn message(set: String) -> String {
    let plan = Plan { device: "generic-mlc-512g".into(), set: vec![set], ..Plan::default() };
    effective(&plan).map_or_else(|fault| fault.to_string(), |_| String::new())
}

#[test]
fn an_old_name_is_refused_with_the_new_one() {
    for (old, new) in RENAMED.into_iter().flatten() {
        let line = message(setting(old));
        assert!(line.ends_with(&format!("(it is now called {new:?})")), "{old}: {line}");
        let path = old.rsplit_once(['=', '.']).map_or("", |(above, _)| above);
        let separator = if old.contains('=') { "=" } else { "." };
        let moved = format!("{path}{separator}{new}");
        let moved = if new.contains('.') { new } else { moved.trim_start_matches('.') };
        let now = message(setting(moved));
        let is_refused =
            old.contains('=') && now.contains(&format!("got {new:?}, expected one of"));
        let is_known = !now.contains("unknown key") && !is_refused;
        assert!(is_known, "{new}: {now}");
    }
}
