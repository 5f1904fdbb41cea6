//! How bursty the excerpts and the twins fitted to them are, as tables.

use std::fmt::Write as _;

use ssdlab_workload::Source;
use ssdlab_workload::twins::arrivals::{Arrivals, Column};
use ssdlab_workload::twins::meter::Meter;
use ssdlab_workload::twins::{arrivals, find};

/// The windows of the table, in microseconds.
const WINDOWS_US: [f64; 5] = [1e4, 1e5, 1e6, 1e7, 1e8];
/// The columns of arrivals, by their names.
const COLUMNS: [(&str, Column); 4] = [
    ("all", |of| &of.all),
    ("reads", |of| &of.reads),
    ("writes", |of| &of.writes),
    ("correlation", |of| &of.together),
];

/// Returns a table of dispersions and one of runs: each excerpt beside its whole twin at seed 1.
/// Then the tables of [`held_out`] excerpts and of [`weeks`].
pub(crate) fn tables() -> String {
    let mut table = String::from(
        "| excerpt | twin | | 10 ms | 100 ms | 1 s | 10 s | 100 s |\n|---|---|---|---|---|---|---|---|\n",
    );
    let mut runs = String::from("| excerpt | twin | runs |\n|---|---|---|\n");
    let mut drawn: Vec<(&str, Arrivals)> = Vec::new();
    let fitted = arrivals().iter().filter(|(_, excerpt)| !excerpt.unseen);
    let unseen = arrivals().iter().filter(|(_, excerpt)| excerpt.unseen);
    for (_, excerpt) in fitted.chain(unseen) {
        let Some(name) = excerpt.twin.as_deref() else { continue };
        let known = drawn.iter().find(|(drawn, _)| *drawn == name);
        let twin = match known {
            Some((_, twin)) => twin.clone(),
            None => measured(name),
        };
        add(&mut table, &mut runs, excerpt, name, &twin);
        drawn.push((name, twin));
        eprintln!("{name} beside its excerpt");
    }
    format!("{table}\n{runs}\n{}\n{}", held_out(), weeks())
}

/// Returns a table of the excerpts in classes: the dispersions of each, beside the median of the
/// others that have the window.
fn held_out() -> String {
    let members: Vec<&Arrivals> =
        arrivals().values().filter(|excerpt| excerpt.in_class.is_some()).collect();
    let others = |own: &Arrivals| {
        let others = members.iter().filter(|one| one.source != own.source);
        let others = others.filter(|one| one.in_class == own.in_class);
        let others: Vec<Arrivals> = others.map(|one| (*one).clone()).collect();
        Arrivals::median(&others, 2, "")
    };
    let pairs: Vec<(&Arrivals, Arrivals)> = members.iter().map(|own| (*own, others(own))).collect();
    beside(&pairs, "the others' median")
}

/// Returns a table of weeks that no fit has seen, beside the class of their volumes.
fn weeks() -> String {
    let checks = arrivals().values().filter(|one| one.unseen && one.twin.is_none());
    let pairs: Vec<(&Arrivals, Arrivals)> = checks
        .filter_map(|own| Some((own, arrivals().get(own.class.as_ref()?)?.clone())))
        .collect();
    beside(&pairs, "the class")
}

/// Returns a table of dispersions, each beside another one and the factor between them.
fn beside(pairs: &[(&Arrivals, Arrivals)], name: &str) -> String {
    let mut table = String::from("| excerpt | |");
    let windows = &WINDOWS_US[..WINDOWS_US.len() - 1];
    table += " 10 ms | 100 ms | 1 s | 10 s |\n|---|---|---|---|---|---|\n";
    let mut factors = Vec::new();
    for (own, other) in pairs {
        for (kind, column) in [COLUMNS[1], COLUMNS[2]] {
            let cell = |window: &f64| {
                let values = [*own, other].map(|of| of.value(column, *window));
                let [own, other] =
                    values.map(|value| value.map_or("–".to_owned(), |value| figure(value, kind)));
                let [Some(one), Some(two)] = values else { return format!("{own} / {other}") };
                let factor = (one / two).max(two / one);
                factors.push(factor);
                format!("{own} / {other} ({factor:.1})")
            };
            let cells: Vec<String> = windows.iter().map(cell).collect();
            if !column(own).is_empty() {
                let source = own.source.split_whitespace().collect::<Vec<_>>().join(" ");
                writeln!(table, "| {source} | {kind} | {} |", cells.join(" | ")).expect("text");
            }
        }
    }
    factors.sort_unstable_by(f64::total_cmp);
    let last = factors.len() - 1;
    format!(
        "{table}\nHalf of these {} dispersions are within a factor of {:.1} of {name}. The\n\
         farthest is off by a factor of {:.0}.\n",
        factors.len(),
        factors[last / 2],
        factors[last]
    )
}

fn measured(name: &str) -> Arrivals {
    let mut source = find(name, None).expect("a twin").source(1).expect("a twin");
    let (mut meter, mut batch) = (Meter::new(WINDOWS_US[0]), Vec::with_capacity(4096));
    while source.fill(&mut batch, 4096).expect("a generator") > 0 {
        meter.take(&batch);
        batch.clear();
    }
    meter.finish("")
}

fn add(table: &mut String, runs: &mut String, excerpt: &Arrivals, name: &str, twin: &Arrivals) {
    let seen = if excerpt.unseen { " (not fitted)" } else { "" };
    let source = excerpt.source.split_whitespace().collect::<Vec<_>>().join(" ");
    let what = format!("{source}{seen} | `{name}`");
    for (kind, column) in COLUMNS {
        if column(excerpt).is_empty() {
            continue;
        }
        let at = |of: &Arrivals, window: f64| {
            let place = of.windows_us.iter().position(|own| *own == window);
            let value = place.and_then(|place| column(of).get(place).copied());
            value.map_or("–".to_owned(), |value| figure(value, kind))
        };
        let cells: Vec<String> = WINDOWS_US
            .map(|window| format!("{} / {}", at(excerpt, window), at(twin, window)))
            .into();
        writeln!(table, "| {what} | {kind} | {} |", cells.join(" | ")).expect("text");
    }
    if let (Some(own), Some(of_twin)) = (stay(excerpt), stay(twin)) {
        writeln!(runs, "| {what} | {own:.2} / {of_twin:.2} |").expect("text");
    }
}

/// Returns the mean length of runs of reads over that of independent reads and writes. It is the
/// same for writes.
fn stay(of: &Arrivals) -> Option<f64> {
    of.runs.get(..2).map(|runs| runs[1] * (1.0 - runs[0]))
}

/// Formats a dispersion with two or three digits, or a correlation with two places.
fn figure(value: f64, kind: &str) -> String {
    match value {
        value if kind == "correlation" => format!("{value:.2}"),
        large if large >= 100.0 => format!("{large:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}
