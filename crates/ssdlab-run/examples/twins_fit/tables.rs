//! Compares the catalog's shapes with the excerpts, in tables of `docs/concepts/twins.md`.

use std::fmt::Write as _;
use std::path::Path;

use ssdlab_base::quantity::Share;
use ssdlab_run::{Plan, RunResult, run_uninterrupted};
use ssdlab_workload::measure::{Measure, kolmogorov_smirnov};
use ssdlab_workload::twins::figures::Figure;
use ssdlab_workload::twins::fit::{Trial, fit};
use ssdlab_workload::twins::{Twin, find};
use ssdlab_workload::{Op, Record};

use super::cases::Case;
use super::trials::{Tried, distances, gaps, run};
use super::{Halves, drain};

/// Each figure is the median over this many seeds.
const SEEDS: u64 = 5;

/// The rows so far.
#[derive(Default)]
pub(crate) struct Tables {
    trials: String,
    fits: String,
    drives: String,
}

const TRIALS: (&str, &str) =
    ("<!-- trials: written by `make twins-fit` -->", "<!-- end of trials -->");
const FITS: (&str, &str) = ("<!-- fits: written by `make twins-fit` -->", "<!-- end of fits -->");
const DRIVES: (&str, &str) =
    ("<!-- drives: written by `make twins-fit` -->", "<!-- end of drives -->");

impl Tables {
    /// Adds an excerpt, with the fit nearest to its first half.
    pub(crate) fn add(&mut self, case: &Case, halves: &Halves, won: &Tried) {
        let own: Vec<Vec<Record>> = (1..=SEEDS)
            .map(|seed| run(&won.twin.scaled(halves.second.len() as u64), seed))
            .collect();
        let Trial { near, theta, follow, along, regulars } = won.trial;
        let yes = |is: bool| if is { "yes" } else { "" };
        writeln!(
            self.trials,
            "| {}{} | {} | {near} | {theta} | {follow} | {} | {} | {} |",
            case.name,
            case.lacks.note(),
            halves.first.len() + halves.second.len(),
            yes(along),
            yes(regulars),
            compared(halves, &own)
        )
        .expect("text");
        for name in case.twins {
            self.add_twin(case, halves, find(name, None).expect("a twin"));
        }
    }

    /// Adds a twin of the catalog.
    fn add_twin(&mut self, case: &Case, halves: &Halves, twin: &Twin) {
        let count = halves.second.len() as u64;
        let piece = piece(twin, &halves.first).map(|piece| piece.scaled(count));
        let made: Vec<Vec<Record>> =
            (1..=SEEDS).flat_map(|seed| piece.as_ref().map(|piece| run(piece, seed))).collect();
        let as_it_is: Vec<Vec<Record>> =
            (1..=SEEDS).map(|seed| drain(&mut twin.source(seed).expect("a twin"), count)).collect();
        let far = as_it_is.iter().map(|made| far(made, &halves.second));
        let [gaps, reuse, _, first] = medians(far.collect());
        writeln!(
            self.fits,
            "| {} | {}{} | {} | {gaps:.3}, {reuse:.3}, {first:.2} |",
            twin.name,
            case.name,
            case.lacks.note(),
            compared(halves, &made)
        )
        .expect("text");
        let folder = tempfile::tempdir().expect("a folder");
        let on = |records: &[Record]| on_drive(folder.path(), records);
        let (one, other) = (on(&halves.first), on(&halves.second));
        let twins = all_medians(made.iter().map(|made| on(made)).collect());
        let whole = all_medians(as_it_is.iter().map(|made| on(made)).collect());
        let cell = |place: usize| {
            let figures = [one, other, twins, whole].map(|all| match all[place] {
                figure if figure > 0.0 => format!("{figure:.0}"),
                _ => String::new(),
            });
            figures.join(" / ")
        };
        let cells = [0, 1, 2, 3].map(cell).join(" | ");
        writeln!(self.drives, "| {} | {cells} |", twin.name).expect("text");
    }

    /// Writes the tables between their marks in the page.
    pub(crate) fn write(&self, page: &Path) {
        let mut text = std::fs::read_to_string(page).expect("the page");
        let compared = "gaps: halves, twin | reuse: halves, twin, chance | first uses: first half, second, twin";
        let fits = format!(
            "| twin | excerpt | {compared} | as it is: gaps, reuse, first uses |\n|---|---|---|---|---|---|\n{}",
            self.fits
        );
        let trials = format!(
            "| excerpt | requests | near | theta | follow | along | regulars | {compared} |\n|---|---|---|---|---|---|---|---|---|---|\n{}",
            self.trials
        );
        let drives = format!(
            "| twin | mean read | p99 read | mean write | p99 write |\n|---|---|---|---|---|\n{}",
            self.drives
        );
        for ((begin, end), table) in [(TRIALS, trials), (FITS, fits), (DRIVES, drives)] {
            let (before, rest) = text.split_once(begin).expect("a mark where a table begins");
            let (_, after) = rest.split_once(end).expect("a mark where it ends");
            text = format!("{before}{begin}\n\n{table}\n{end}{after}");
        }
        std::fs::write(page, text).expect("written");
    }
}

/// Returns a twin of the catalog with this piece of its trace as targets; `None` if the targets
/// contradict its shape.
fn piece(twin: &Twin, half: &[Record]) -> Option<Twin> {
    let (_, shape) = twin.shape().expect("no mix");
    let (mut targets, _) = fit(half, "a half", Trial::all()[0]);
    if twin.figures().read_hot.is_some() {
        let mut measure = Measure::default();
        measure.take(half);
        let share = Share::new(measure.finish().read_hot);
        targets.read_hot = Some(Figure(share, "a half".into()));
    }
    Twin::new(&twin.name, targets, shape.clone())
        .map_err(|fault| eprintln!("{}: {fault}", twin.name))
        .ok()
}

/// Returns the distance between records: in gaps, in reuse distances, and the part of the latter
/// due to chance. The last value is the records' share of first uses.
fn far(records: &[Record], from: &[Record]) -> [f64; 4] {
    let gaps = kolmogorov_smirnov(&mut gaps(records), &mut gaps(from)).0;
    let [(mut own, first), (mut other, _)] = [records, from].map(distances);
    let (reuse, chance) = kolmogorov_smirnov(&mut own, &mut other);
    [gaps, reuse, chance, first]
}

/// Returns three columns that compare twins with the halves.
fn compared(halves: &Halves, made: &[Vec<Record>]) -> String {
    let [gaps_halves, reuse_halves, _, first] = far(&halves.first, &halves.second);
    let (_, second) = distances(&halves.second);
    if made.is_empty() {
        return format!(
            "{gaps_halves:.3}, – | {reuse_halves:.3}, –, – | {first:.2}, {second:.2}, –"
        );
    }
    let all = made.iter().map(|made| far(made, &halves.second)).collect();
    let [gaps, reuse, chance, own] = medians(all);
    format!(
        "{gaps_halves:.3}, {gaps:.3} | {reuse_halves:.3}, {reuse:.3}, {chance:.3} | \
         {first:.2}, {second:.2}, {own:.2}"
    )
}

/// Returns mean and p99 of reads and of writes in microseconds, on a conventional drive; 0 without
/// requests.
fn on_drive(folder: &Path, records: &[Record]) -> [f64; 4] {
    let path = folder.join("trace.csv");
    write_trace(&path, records);
    let plan = Plan {
        device: "generic-mlc-512g".into(),
        trace: Some(format!("{}:msr", path.display())),
        wrap: true,
        seed: 1,
        ..Plan::default()
    };
    let result: RunResult = run_uninterrupted(&[plan], 1).expect("a run").remove(0);
    let figures = [&result.read, &result.write].map(|kind| match kind.requests {
        0 => [0.0, 0.0],
        _ => [kind.latency_us.mean, kind.latency_us.p99],
    });
    [figures[0][0], figures[0][1], figures[1][0], figures[1][1]]
}

fn all_medians(all: Vec<[f64; 4]>) -> [f64; 4] {
    if all.is_empty() { [0.0; 4] } else { medians(all) }
}

fn medians(all: Vec<[f64; 4]>) -> [f64; 4] {
    [0, 1, 2, 3].map(|place| {
        let mut list: Vec<f64> = all.iter().map(|figures| figures[place]).collect();
        list.sort_unstable_by(f64::total_cmp);
        list[list.len() / 2]
    })
}

/// Writes a trace in the format of MSR Cambridge, whose times are multiples of 100 ns.
fn write_trace(path: &Path, records: &[Record]) {
    let mut text = String::new();
    for record in records {
        let stamp = 128_166_372_000_000_000 + record.at.as_ns() / 100;
        let op = if record.op == Op::Read { "Read" } else { "Write" };
        let (offset, size) = (record.lba * 512, u64::from(record.sectors) * 512);
        writeln!(text, "{stamp},t,0,{op},{offset},{size},0").expect("text");
    }
    std::fs::write(path, text).expect("a trace written");
}
