//! Tests that generate, write and read measurements, and simulate drives from them.

use std::fs;
use std::path::PathBuf;

use ssdlab_core::ChipInspector;

use super::*;
use crate::chip_measurements::{Order, measure};
use crate::control::Control;
use crate::plan::Plan;
use crate::prepare::effective;
use crate::run::run_uninterrupted;

const DEVICE: &str = "generic-tlc-2t";

fn plan(settings: &[&str]) -> Plan {
    let set = settings.iter().map(|line| line.to_string()).collect();
    Plan { device: DEVICE.into(), set, seed: 1, ..Plan::default() }
}

fn order() -> Order {
    Order {
        chips: 2,
        blocks: 3,
        cycles: vec![0.0, 3000.0],
        conditions: vec![
            (0.0, 30.0, 0),
            (0.0, 30.0, 57_600),
            (24.0, 30.0, 0),
            (24.0, 30.0, 57_600),
            (15.0, 85.0, 0),
            (15.0, 85.0, 57_600),
        ],
        dwell_h: vec![24.0, 720.0],
    }
}

fn made(settings: &[&str]) -> Samples {
    let settings = [&["physics=retries"], settings].concat();
    measure(&plan(&settings), &order(), &Control::new(1)).unwrap().expect("not stopped").0
}

fn number(samples: &Samples, name: &str) -> Vec<f64> {
    samples.column(name).expect("a column")
}

/// A file in a temporary folder, removed when this value is dropped.
struct Written(tempfile::TempDir);

impl Written {
    fn new(text: &str) -> Written {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("chips.csv"), text).unwrap();
        Written(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("chips.csv")
    }
}

fn misread(text: &str) -> String {
    let file = Written::new(text);
    let line = read(&file.path()).unwrap_err().to_string();
    line.rsplit_once("chips.csv").expect("the file's name").1.to_owned()
}

#[test]
fn measurements_read_back_as_written() {
    let samples = made(&[]);
    assert_eq!((samples.rows(), samples.chips.len(), samples.blocks.len()), (72, 2, 6));
    let file = Written::new(&samples.csv());
    let (again, hash) = read(&file.path()).unwrap();
    assert_eq!(again.lines, (2..74).collect::<Vec<u64>>());
    assert_eq!(Samples { lines: Vec::new(), ..again.clone() }, samples);
    assert_eq!(hash.len(), 64);
    // Columns in another order, remarks between rows, and no optional columns.
    let reversed = |line: &str| {
        let cells: Vec<&str> = line.split(',').take(10).collect();
        format!("# a remark\n{}\n\n", cells.into_iter().rev().collect::<Vec<_>>().join(","))
    };
    let text: String = samples.csv().lines().map(reversed).collect();
    let (turned, _) = read(&Written::new(&text).path()).unwrap();
    assert_eq!(number(&turned, "errors"), number(&samples, "errors"));
    assert!(number(&turned, "dwell_h").is_empty());
    assert!(turned.column("dwell").is_none());
}

#[test]
fn cells_may_be_quoted_and_a_block_measured_again() {
    let quoted = HEAD.split(',').map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(",");
    let row = |errors| format!("\"lot 3, \"\"b\"\"\",\"7\", 0 ,0,30,0,3500,30,{errors},0");
    let text = format!("{quoted}\n{}\n{}\n", row(40), row(41));
    let found = read(&Written::new(&text).path()).unwrap().0;
    assert_eq!(
        (found.rows(), found.chips.clone(), found.blocks.len()),
        (2, vec!["lot 3, \"b\"".into()], 1)
    );
    let again = read(&Written::new(&found.csv()).path()).unwrap().0;
    assert_eq!(again, found);
}

#[test]
fn chips_and_blocks_have_their_numbers_by_name_whatever_the_order_of_rows() {
    let row = |chip: &str, block: &str| format!("{chip},{block},0,0,30,0,3500,30,40,0");
    let rows = [("b", "1"), ("10", "x"), ("9", "10"), ("b", "0"), ("9", "9"), ("10", "9")];
    let text: Vec<String> = rows.iter().map(|(chip, block)| row(chip, block)).collect();
    let of = |rows: Vec<String>| {
        let text = format!("{HEAD}\n{}\n", rows.join("\n"));
        read(&Written::new(&text).path()).unwrap().0
    };
    let found = of(text.clone());
    assert_eq!(found.chips, ["9", "10", "b"]);
    assert_eq!(found.blocks, ["9", "10", "9", "x", "0", "1"]);
    assert_eq!((found.chip, found.block), (vec![2, 1, 0, 2, 0, 1], vec![5, 3, 1, 4, 0, 2]));
    let turned = of(text.into_iter().rev().collect());
    assert_eq!((turned.chips, turned.blocks), (found.chips, found.blocks));
    assert_eq!(turned.block, [2, 0, 4, 1, 3, 5]);
}

#[test]
fn chips_are_distinguished_and_taken_out() {
    let samples = made(&[]);
    let second = samples.of_chips(&[1]);
    assert_eq!((second.rows(), second.chips.as_slice()), (36, &["2".to_owned()][..]));
    assert_eq!(number(&second, "errors"), number(&samples, "errors")[36..]);
    assert_eq!(number(&second, "block"), number(&samples, "block")[..36]);
    // Each chip has its own blocks, at the same addresses.
    assert_eq!(samples.blocks[..3], samples.blocks[3..]);
    assert_ne!(number(&samples, "errors")[..36], number(&samples, "errors")[36..]);
}

#[test]
fn what_is_measured_is_what_the_physics_says() {
    let samples = made(&["physics.retries.noise=0"]);
    let of = |name| number(&samples, name);
    let (errors, retries) = (of("errors"), of("retries"));
    for (errors, retries) in errors.iter().zip(&retries) {
        // One retry for every twelve errors beyond 72. The counted errors are rounded.
        let exact = ((errors - 72.0) / 12.0).ceil().clamp(0.0, 25.0);
        assert!(
            (exact - retries).abs() <= f64::from((errors - 72.0) % 12.0 <= 1.0),
            "{errors} {retries}"
        );
    }
    let mean = |from: usize| errors[from..].iter().step_by(6).sum::<f64>();
    assert!(mean(0) < mean(1) && mean(0) < mean(2) && mean(2) < mean(4));
    // First errors and erase times depend on block and cycles only, not on the conditions.
    for column in [of("e0"), of("t_erase_us")] {
        assert!(column.chunks(6).all(|same| same.iter().all(|value| *value == same[0])));
        assert!(column[0] < column[6]);
    }
    assert!(of("retries_best").iter().zip(&retries).all(|(best, worst)| best <= worst));
    // None of these is a block of the drive itself: their numbers start after its last chip.
    let prepared = plan(&["physics=retries"]).prepare().unwrap();
    let resolved = &*prepared.resolved;
    let geometry = resolved.geometry();
    let of_chip = geometry.dies * geometry.planes * geometry.blocks;
    let inspector = ChipInspector::new(&resolved.chip, &resolved.page_order, &resolved.flash);
    let own = inspector.erase(of_chip / 6, 0.0).as_us();
    let next = inspector.erase(geometry.channels * geometry.chips * of_chip + of_chip / 6, 0.0);
    assert_ne!(of("t_erase_us")[0], own);
    assert_eq!(of("t_erase_us")[0], next.as_us());
    let noisy = made(&[]);
    assert_ne!(number(&noisy, "errors"), errors);
    assert_eq!(number(&noisy, "retries"), retries);
}

#[test]
fn only_chips_with_retries_are_measured() {
    let line = |plan, order| measure(&plan, &order, &Control::new(1)).unwrap_err().to_string();
    assert!(line(plan(&[]), order()).contains("physics=retries"));
    let many = Order { blocks: 1 << 30, ..order() };
    assert!(line(plan(&["physics=retries"]), many).contains("--blocks"));
    let long = Order { chips: 10_000, blocks: 1000, ..order() };
    assert!(line(plan(&["physics=retries"]), long).contains("got 120000000, expected at most"));
    let control = Control::new(1);
    control.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(measure(&plan(&["physics=retries"]), &order(), &control).unwrap().is_none());
}

const HEAD: &str = "chip,block,pe,retention_h,temp_c,reads,t_erase_us,e0,errors,retries";

#[test]
fn a_wrong_file_is_reported_in_a_line_with_its_place() {
    let row = "a,7,0,0,30,0,3500,30,40,0";
    assert_eq!(read(&Written::new(&format!("{HEAD}\n{row}\n")).path()).unwrap().0.rows(), 1);
    let of = |line: &str| misread(&format!("{HEAD}\n{row}\n{line}\n"));
    assert!(of("a,7,0,0,30,0,3500,30,40").starts_with(":3: not a row: got 9 values, expected 10"));
    assert!(
        of("a,7,x,0,30,0,3500,30,40,0").starts_with(":3: pe: got \"x\", expected a number from 0")
    );
    assert!(
        of("a,7,0,0,30,0.5,3500,30,40,0").contains("reads: got \"0.5\", expected a whole number")
    );
    assert!(of("a,7,0,0,300,0,3500,30,40,0").contains("temp_c: got \"300\""));
    assert!(of("a,7,0,0,30,0,3500,30,-1,0").contains("errors: got \"-1\""));
    assert!(of("a,7,0,0,30,0,3500,30,nan,0").contains("errors: got \"nan\""));
    assert!(of("a,7,0,0,30,0,3500,30,1e6,0").contains("errors: got \"1e6\""));
    assert!(of("a,7,0,0,30,0,0,30,40,0").contains("t_erase_us: got \"0\""));
    assert!(of(",7,0,0,30,0,3500,30,40,0").contains("chip: got nothing"));
    assert!(of("\"a,7,0,0,30,0,3500,30,40,0").contains("not a row: got 1 values"));
    assert!(of("b,7,0,0,30,0,3500,30,40,0\rb,8,0,0,30,0,3500,30,40,0").contains("got 19 values"));
    let again = format!("a,8,0,0,30,0,3500,30,40,0\n{row}");
    assert_eq!(of(&again), ":4: the same measurement as on line 2: expected each once");
    assert!(misread(&HEAD.replace("errors", "eror")).starts_with(":1: not a column: got \"eror\""));
    assert!(misread(&HEAD.replace("errors", "eror")).contains("did you mean \"errors\""));
    assert!(misread(&HEAD.replace(",e0", "")).contains(":1: no column e0"));
    assert!(misread(&HEAD.replace("e0", "pe")).contains("a column twice"));
    assert!(misread(HEAD).contains("no measurement"));
    assert!(misread("").contains("no measurement"));
    let gone = read(&PathBuf::from("no/such.csv")).unwrap_err().to_string();
    assert!(gone.starts_with("no/such.csv: cannot be read"), "{gone}");
}

/// Returns a plan of a small drive with the blocks of this file. A config file beside it names it.
fn simulated(file: &Written, more: &str) -> Plan {
    let config = file.0.path().join("fit.toml");
    let text = format!("physics.measured.file = \"chips.csv\"\n{more}");
    fs::write(&config, text).unwrap();
    let small =
        ["geometry.blocks=64", "start.fill=0.5", "start.pe_cycles=3000", "start.age_max=30d"];
    Plan { config: vec![config], limit: Some(400), ..plan(&small) }
}

#[test]
fn a_drive_has_the_blocks_of_the_file_that_its_config_names() {
    let file = Written::new(&made(&[]).csv());
    let plan = simulated(&file, "");
    let (toml, _, hash) = effective(&plan).unwrap();
    let (_, sha256) = read(&file.path()).unwrap();
    assert!(toml.contains(&sha256), "{toml}");
    let result = || run_uninterrupted(std::slice::from_ref(&plan), 1).unwrap().remove(0);
    let before = serde_json::to_value(result()).unwrap();
    // The same blocks without errors that need a retry read faster. The config's hash differs.
    let text = made(&["physics.retries.wear.errors=0"]).csv();
    fs::write(file.path(), text).unwrap();
    let after = serde_json::to_value(result()).unwrap();
    assert_ne!(before["results_digest"], after["results_digest"]);
    assert_ne!(effective(&plan).unwrap().2, hash);
    // The printed effective config can be run again. It accepts only the same file.
    let line = effective(&simulated(&file, &format!("physics.measured.sha256 = \"{sha256}\"")));
    let line = line.unwrap_err().to_string();
    assert!(line.contains("physics.measured.sha256") && line.contains("fit.toml"), "{line}");
}

#[test]
fn a_file_that_is_no_table_is_reported_with_its_line() {
    let text = made(&[]).csv();
    let short: Vec<&str> =
        text.lines().enumerate().filter(|(at, _)| *at != 9).map(|(_, l)| l).collect();
    let line = effective(&simulated(&Written::new(&short.join("\n")), "")).unwrap_err().to_string();
    assert!(line.contains("chips.csv:2: is no table for physics.measured"), "{line}");
    assert!(line.contains("3000 cycles, 1.000 days, 0 reads"), "{line}");
    let gone = Plan {
        config: Vec::new(),
        set: vec!["physics.measured.file=gone.csv".into()],
        ..plan(&[])
    };
    let line = effective(&gone).unwrap_err().to_string();
    assert!(line.contains("gone.csv") && line.contains("a file with measurements"), "{line}");
}
