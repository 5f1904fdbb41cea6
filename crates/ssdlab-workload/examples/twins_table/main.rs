//! Runs every twin to its end and writes targets and achieved values into `docs/concepts/twins.md`.
//!
//! `cargo run --release -p ssdlab-workload --example twins_table docs/concepts/twins.md [NAME ...]`
//! replaces the text between the marks. With names, it only prints their rows; with `bursts`, it
//! replaces only the tables of arrivals.

mod bursts;
mod hits;

use std::fmt::Write as _;

use ssdlab_workload::measure::{Measured, measure};
use ssdlab_workload::twins::{Compared, Twin, catalog};

/// The most requests of a twin; a longer one is scaled down, with span and footprint in proportion.
const MAX_REQUESTS: u64 = 60_000_000;
const BEGIN: &str = "<!-- achieved: written by `make twins` -->";
const END: &str = "<!-- end of achieved -->";
const BURSTS_BEGIN: &str = "<!-- bursts: written by `make twins` -->";
const BURSTS_END: &str = "<!-- end of bursts -->";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("docs/concepts/twins.md");
    let names: Vec<String> = arguments.collect();
    if names == ["bursts"] {
        return replace(&path, BURSTS_BEGIN, BURSTS_END, &bursts::tables());
    }
    let is_selected = |twin: &&Twin| names.is_empty() || names.contains(&twin.name);
    let (mut table, mut sources, mut worst) = (head(), String::new(), Vec::new());
    let (mut found, mut overlaps) = (Vec::new(), Vec::new());
    for twin in catalog().iter().filter(is_selected) {
        let scaled =
            if twin.requests() > MAX_REQUESTS { twin.scaled(MAX_REQUESTS) } else { twin.clone() };
        let measured = measured(&scaled);
        let compared = scaled.compare(&measured);
        writeln!(table, "{}", row(twin, &scaled, &compared, &measured)).expect("text");
        writeln!(sources, "{}", targets_line(twin, &compared)).expect("text");
        let of_it = scaled.hit_ratios(1, u64::MAX).expect("a generator");
        found.push((twin, of_it));
        let of_both = overlap(&scaled).map(|target| [target, overlap_of(&measured)]);
        overlaps.extend(of_both.map(|values| (twin.name.as_str(), values)));
        worst.extend(compared.into_iter().map(|compared| (twin.name.clone(), compared)));
        eprintln!("{}", twin.name);
    }
    let text = format!(
        "{}\n{}\n\n{table}\n### Hit ratios of LRU caches\n\n{}\n### Where the targets stand\n\n{sources}",
        worst_of(&worst),
        worst_overlap(&overlaps),
        hits::text(&found)
    );
    if !names.is_empty() {
        return print!("{text}");
    }
    replace(&path, BEGIN, END, &text);
    replace(&path, BURSTS_BEGIN, BURSTS_END, &bursts::tables());
}

/// Replaces the text between two marks of a page.
fn replace(path: &str, begin: &str, end: &str, text: &str) {
    let page = std::fs::read_to_string(path).expect("the page");
    let (before, rest) = page.split_once(begin).expect("a mark where the table begins");
    let (_, after) = rest.split_once(end).expect("a mark where it ends");
    std::fs::write(path, format!("{before}{begin}\n\n{text}\n{end}{after}")).expect("written");
}

fn measured(twin: &Twin) -> Measured {
    let mut source = twin.source(1).expect("a twin");
    measure(&mut source, u64::MAX, None).expect("a generator")
}

fn head() -> String {
    "| twin | requests | reads % | mean read KB | mean write KB | footprint GB | read set GB | \
     write set GB | read pages also written % | pages a read | pages a write | read-hot % | read-cold % | large writes % | span h | sequential % | 10 % hottest pages' reads % | gap c.v. | \
     requests in a second, var./mean |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned()
}

fn row(twin: &Twin, scaled: &Twin, compared: &[Compared], measured: &Measured) -> String {
    let pair = |what: &str, unit: f64| {
        let figure = compared.iter().find(|compared| compared.what == what);
        figure.map_or(String::new(), |Compared { target, achieved, .. }| {
            format!("{} / {}", digits(target / unit), digits(achieved / unit))
        })
    };
    // A figure of the twin without a target is shown, too.
    let set = |what: &str, pages: u64| match pair(what, 1e9) {
        none if none.is_empty() => format!("– / {}", digits(pages as f64 * 4096.0 / 1e9)),
        pair => pair,
    };
    let scale = if scaled.requests() == twin.requests() { "" } else { " (scaled)" };
    format!(
        "| {} | {}{scale} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} | {:.1} | {:.1} | {} |",
        twin.name,
        measured.requests,
        pair("read_ratio", 0.01),
        pair("mean_read", 1e3),
        pair("mean_write", 1e3),
        pair("footprint", 1e9),
        set("read_set", measured.read_pages),
        set("write_set", measured.write_pages),
        of_target(overlap(scaled), overlap_of(measured), |share| digits(100.0 * share)),
        pair("page_reads", 1.0),
        pair("page_writes", 1.0),
        pair("read_hot", 0.01),
        pair("read_cold", 0.01),
        pair("large_writes", 0.01),
        pair("span", 3600.0),
        measured.sequential * 100.0,
        measured.hottest_10 * 100.0,
        measured.gap_variation,
        of_target(dispersion(twin), measured.dispersion, |value| format!("{value:.0}"))
    )
}

/// Returns a target and what is achieved; a dash is no target.
fn of_target(target: Option<f64>, achieved: f64, text: impl Fn(f64) -> String) -> String {
    format!("{} / {}", target.map_or("–".to_owned(), &text), text(achieved))
}

/// Returns the share of the read pages that a twin also writes, by its sets of pages or its shape.
fn overlap(twin: &Twin) -> Option<f64> {
    let (figures, (_, shape)) = (twin.figures(), twin.shape()?);
    match (figures.read_set, figures.write_set) {
        (Some(read), Some(write)) => Some((read + write - figures.footprint).max(0.0) / read),
        _ if shape.write.reach.is_some() => None,
        _ if figures.read_ratio() > 0.5 => Some(shape.overlap.read.get()),
        _ => Some(shape.overlap.written.get()),
    }
}

/// Returns the measured share of the read pages that are also written.
fn overlap_of(measured: &Measured) -> f64 {
    let both = measured.read_pages + measured.write_pages - measured.footprint_pages;
    both as f64 / measured.read_pages as f64
}

/// Returns the dispersion of the requests in a second that a twin is fitted to. Members of a mix
/// are independent, so that the variances of their rates add up.
fn dispersion(twin: &Twin) -> Option<f64> {
    let Some((_, shape)) = twin.shape() else {
        let rate = |one: &Twin| one.requests() as f64 / one.figures().span;
        let all: f64 = twin.members().iter().map(rate).sum();
        let each = twin.members().iter().map(|one| Some(rate(one) * dispersion(one)?));
        return Some(each.sum::<Option<f64>>()? / all);
    };
    shape.arrivals.dispersion(1e6, twin.figures().read_ratio())
}

/// Formats a value with four digits.
fn digits(value: f64) -> String {
    let places = match value.abs() {
        large if large >= 1000.0 => 0,
        large if large >= 100.0 => 1,
        large if large >= 10.0 => 2,
        large if large >= 1.0 => 3,
        _ => 4,
    };
    format!("{value:.places$}")
}

/// Returns the given targets with their sources, and the statistics that are derived or assumed.
fn targets_line(twin: &Twin, compared: &[Compared]) -> String {
    let Some(targets) = twin.targets() else {
        let names: Vec<&str> = twin.members().iter().map(|twin| twin.name.as_str()).collect();
        return format!("- `{}`, {}: {} at once", twin.name, twin.title, names.join(", "));
    };
    // Statistics of one source in a row share its mention.
    let mut groups: Vec<(Vec<String>, &str)> = Vec::new();
    for (what, value, source) in targets.list() {
        match groups.last_mut() {
            Some((list, known)) if *known == source => list.push(format!("{what} {value}")),
            _ => groups.push((vec![format!("{what} {value}")], source)),
        }
    }
    let grouped = groups.iter().map(|(list, source)| format!("{} ({source})", list.join(", ")));
    let mut parts: Vec<String> = grouped.collect();
    let known = |what: &str| targets.list().iter().any(|(name, ..)| *name == what);
    let rest = compared.iter().filter(|compared| !known(compared.what));
    parts.extend(rest.map(|compared| format!("{}: {}", compared.what, compared.source)));
    let shape = twin.shape().map_or("", |(name, _)| name);
    format!("- `{}`, {}, shape `{shape}`: {}", twin.name, twin.title, parts.join("; "))
}

/// Returns the largest deviation of each statistic.
fn worst_of(all: &[(String, Compared)]) -> String {
    let mut text = String::from("| figure | largest deviation | twin |\n|---|---|---|\n");
    let mut seen: Vec<&str> = all.iter().map(|(_, compared)| compared.what).collect();
    seen.sort_unstable();
    seen.dedup();
    for what in seen {
        let of_it = all.iter().filter(|(_, compared)| compared.what == what);
        let largest = of_it.max_by(|(_, a), (_, b)| a.off().abs().total_cmp(&b.off().abs()));
        let Some((name, compared)) = largest else { continue };
        let unit = if compared.is_share() { "points" } else { "%" };
        writeln!(text, "| {what} | {:+.3} {unit} | {name} |", compared.off() * 100.0)
            .expect("text");
    }
    text.trim_end().to_owned()
}

/// Returns the largest deviations of the share of the read pages that are also written: in points,
/// and relative to the target, since some are tiny. Each twin comes with target and achieved value.
fn worst_overlap(all: &[(&str, [f64; 2])]) -> String {
    let points = |[target, achieved]: [f64; 2]| achieved - target;
    let relative = |[target, achieved]: [f64; 2]| achieved / target - 1.0;
    let row = |what: &str, off: &dyn Fn([f64; 2]) -> f64, unit: &str| {
        let all = all.iter().map(|(name, values)| (name, 100.0 * off(*values)));
        let largest = all.max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()));
        largest.map(|(name, off)| format!("| {what} | {off:+.3} {unit} | {name} |"))
    };
    let rows = [
        row("read pages also written", &points, "points"),
        row("the same, relative to its target", &relative, "%"),
    ];
    rows.into_iter().flatten().collect::<Vec<String>>().join("\n")
}
