//! Runs one plan given as JSON and prints its result, without Python.
//!
//! `cargo run --release -p ssdlab-run --example plan -- '{"device": "generic-mlc-512g"}'`

use ssdlab_run::{Plan, run_uninterrupted};

fn main() {
    let text = std::env::args().nth(1).unwrap_or_else(|| r#"{"device":"generic-mlc-512g"}"#.into());
    let plan: Plan = match serde_json::from_str(&text) {
        Ok(plan) => plan,
        Err(error) => return eprintln!("not a plan: {error}"),
    };
    match run_uninterrupted(&[plan], 1) {
        Ok(results) => println!("{}", serde_json::to_string_pretty(&results).expect("results")),
        Err(fault) => eprintln!("{fault}"),
    }
}
