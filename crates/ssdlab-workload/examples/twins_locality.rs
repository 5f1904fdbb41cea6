//! Fits the locality of twins to the published hit ratios of their whole traces.
//!
//! `cargo run --release -p ssdlab-workload --example twins_locality FILE [TRACE ...]` replaces the
//! entries of these traces, or of all, in FILE, which is `locality.toml`. Equal inputs give equal
//! files.
//!
//! A search moves one value of the ten at a time, on a part of each twin, from further starts if
//! the first ones come to little. It goes on with the whole twin if that is still far off. If FILE
//! has the trace, only this second step is done. A sample of the pages stands
//! for all.

use std::collections::BTreeMap;

use ssdlab_base::quantity::Share;
use ssdlab_workload::Source;
use ssdlab_workload::measure::{PlaceCaches, measure};
use ssdlab_workload::twins::hits::{HitMeter, HitRatio, published};
use ssdlab_workload::twins::locality::{Local, Locality};
use ssdlab_workload::twins::{Twin, find};

/// The requests of a part of a twin.
const PART: u64 = 250_000;
/// A search ends at this mean square deviation: 1.5 points.
const ENOUGH: f64 = 0.015 * 0.015;
/// Beyond this mean square deviation, 4 points, a search begins anew from another start. If one
/// group of hit ratios is so far off, the search goes on with the whole twin.
const FAR: f64 = 0.04 * 0.04;
/// The most pages in a sample.
const SAMPLE: u64 = 1 << 17;
const HEAD: &str = "\
# Returns, hot sets and scans of twins, fitted on the hit ratios in hits.toml. Written by
# cargo run --release -p ssdlab-workload --example twins_locality FILE
#
# again, hot, theta, rounds and scans are keys of a shape's habits (shape.rs).
";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("locality.toml");
    let names: Vec<String> = arguments.collect();
    let text = std::fs::read_to_string(&path).expect("the file");
    let mut all: BTreeMap<String, Locality> = toml::from_str(&text).expect("localities");
    for trace in published().iter().filter(|trace| names.is_empty() || names.contains(&trace.of)) {
        let twin = find(&trace.twins[0], None).expect("a twin");
        let found = fitted(twin, all.get(&trace.of));
        for hit in hits(twin, &found, u64::MAX).unwrap_or_default() {
            let HitRatio { what, size, published, achieved } = hit;
            eprintln!("{} {what} {size}: {published:.3} {achieved:.3}", trace.of);
        }
        all.insert(trace.of.clone(), found);
        std::fs::write(&path, written(&all)).expect("written");
    }
}

/// Returns the locality that meets the hit ratios of this twin best. A search on a part is not
/// repeated if its outcome is `known`.
fn fitted(twin: &Twin, known: Option<&Locality>) -> Locality {
    let values = known.map_or_else(|| fitted_on_part(twin), values);
    let far = groups(twin, &values, u64::MAX)
        .is_none_or(|groups| groups.into_iter().any(|deviation| deviation > FAR));
    locality(&if far { searched(twin, values, u64::MAX, 0.25, 3).1 } else { values })
}

fn fitted_on_part(twin: &Twin) -> [f64; 10] {
    let mut best = (f64::MAX, [0.0; 10]);
    for start in STARTS {
        let values: [f64; 10] = std::array::from_fn(|index| start[index % 5]);
        let found = searched(twin, values, PART, 0.5, 4);
        if found.0 < best.0 {
            best = found;
        }
        if best.0 < FAR {
            break;
        }
    }
    best.1
}

/// Starts of the search: again, hot, theta, rounds, scans of both kinds.
const STARTS: [[f64; 5]; 3] =
    [[0.6, 0.05, 0.9, 0.0, 0.0], [0.1, 0.2, 0.2, 0.1, 0.2], [0.2, 0.05, 0.5, 0.6, 0.1]];
/// The ranges of the same values.
const MIN_VALUES: [f64; 5] = [0.0, 0.001, 0.0, 0.0, 0.0];
const MAX_VALUES: [f64; 5] = [0.95, 0.9, 1.4, 1.0, 1.0];

/// Moves one value after the other by a step while that is better, then by half the step, `rounds`
/// times in all. Returns the mean square deviation with the values.
fn searched(
    twin: &Twin,
    mut values: [f64; 10],
    requests: u64,
    mut step: f64,
    rounds: u32,
) -> (f64, [f64; 10]) {
    let mut least = deviation(twin, &values, requests);
    for _ in 0..rounds {
        let mut moved = true;
        while moved && least > ENOUGH {
            moved = false;
            for index in 0..values.len() {
                for sign in [1.0, -1.0] {
                    let next = stepped(values, index, sign * step);
                    let found =
                        if next == values { f64::MAX } else { deviation(twin, &next, requests) };
                    if found < 0.98 * least {
                        (least, values, moved) = (found, next, true);
                        break;
                    }
                }
            }
        }
        step /= 2.0;
    }
    (least, values)
}

/// Returns the values with one of them moved: hot sets by factors, others by differences.
fn stepped(mut values: [f64; 10], index: usize, step: f64) -> [f64; 10] {
    let (kind, value) = (index % 5, values[index]);
    let moved = match kind {
        1 if step > 0.0 => value * (1.0 + 2.0 * step),
        1 => value / (1.0 - 2.0 * step),
        _ => value + step * (MAX_VALUES[kind] - MIN_VALUES[kind]),
    };
    values[index] = moved.clamp(MIN_VALUES[kind], MAX_VALUES[kind]);
    // The shares of rounds and of scans are parts of one whole.
    let (rounds, scans) = (index - kind + 3, index - kind + 4);
    if values[rounds] + values[scans] > 1.0 {
        let other = if index == rounds { scans } else { rounds };
        values[other] = 1.0 - values[index].min(1.0);
    }
    values
}

/// Returns the mean square deviation, in which each group of hit ratios has the same weight.
fn deviation(twin: &Twin, values: &[f64; 10], requests: u64) -> f64 {
    let Some(groups) = groups(twin, values, requests) else { return f64::MAX };
    groups.iter().sum::<f64>() / groups.len() as f64
}

/// Returns the mean square deviation of each group of hit ratios; `None` if the twin cannot have
/// these values.
fn groups(twin: &Twin, values: &[f64; 10], requests: u64) -> Option<Vec<f64>> {
    let found = hits(twin, &locality(values), requests)?;
    let mut groups: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for hit in &found {
        let (sum, count) = groups.entry(hit.what).or_default();
        *sum += (hit.achieved - hit.published) * (hit.achieved - hit.published);
        *count += 1.0;
    }
    if let Some(places) = places(twin, values, requests) {
        groups.insert("places", ((places - 1.0) * (places - 1.0), 1.0));
    }
    if let Some([found, wanted]) = overlap(twin, values, requests) {
        groups.insert("overlap", ((found - wanted) * (found - wanted), 1.0));
    }
    Some(groups.values().map(|(sum, count)| sum / count).collect())
}

/// Returns the hit ratios of a twin with this locality; `None` if it cannot have it.
fn hits(twin: &Twin, locality: &Locality, requests: u64) -> Option<Vec<HitRatio>> {
    let (part, scale) = with(twin, locality, requests)?;
    let meter = HitMeter::new(twin.published_hits()?, scale, part.sample(SAMPLE));
    meter.measure(&mut part.source(1).ok()?).ok()
}

/// Returns the distinct sectors where requests begin over those of the trace, if that is known.
fn places(twin: &Twin, values: &[f64; 10], requests: u64) -> Option<f64> {
    let sectors = twin.published_hits()?.sectors?;
    let (part, scale) = with(twin, &locality(values), requests)?;
    let (mut source, mut batch) = (part.source(1).ok()?, Vec::new());
    let mut places = PlaceCaches::new(&[]);
    while source.fill(&mut batch, 4096).ok()? > 0 {
        places.take(&batch);
        batch.clear();
    }
    Some(places.places() as f64 / (sectors as f64 * scale))
}

/// Returns the share of the read pages that are also written, and that of the shape; `None` if
/// other figures of the twin decide it.
fn overlap(twin: &Twin, values: &[f64; 10], requests: u64) -> Option<[f64; 2]> {
    let (figures, (_, shape)) = (twin.figures(), twin.shape()?);
    if figures.read_set.is_some() || shape.write.reach.is_some() {
        return None;
    }
    let mostly_reads = figures.read_ratio() > 0.5;
    let wanted = if mostly_reads { shape.overlap.read } else { shape.overlap.written };
    let (part, _) = with(twin, &locality(values), requests)?;
    let found = measure(&mut part.source(1).ok()?, u64::MAX, None).ok()?;
    let both = found.read_pages + found.write_pages - found.footprint_pages;
    Some([both as f64 / found.read_pages as f64, wanted.get()])
}

/// Returns a part of a twin with this locality, and which part of the footprint it has.
fn with(twin: &Twin, locality: &Locality, requests: u64) -> Option<(Twin, f64)> {
    let (_, shape) = twin.shape()?;
    let mut shape = shape.clone();
    locality.apply(&mut shape);
    let whole = Twin::new(&twin.name, twin.targets()?.clone(), shape).ok()?;
    let part = whole.scaled(requests.min(whole.requests()));
    let scale = part.figures().footprint / whole.figures().footprint;
    Some((part, scale))
}

fn values(Locality { read, write }: &Locality) -> [f64; 10] {
    let of = |Local { again, hot, theta, rounds, scans }: &Local| {
        [again.get(), hot.get(), *theta, rounds.get(), scans.get()]
    };
    let all = [of(read), of(write)].concat();
    std::array::from_fn(|index| all[index])
}

fn locality(values: &[f64; 10]) -> Locality {
    let local = |from: usize| {
        let rounded = |index: usize| (values[from + index] * 1e4).round() / 1e4;
        let share = |index: usize| Share::new(rounded(index));
        Local {
            again: share(0),
            hot: share(1),
            theta: rounded(2),
            rounds: share(3),
            scans: share(4),
        }
    };
    Locality { read: local(0), write: local(5) }
}

fn written(all: &BTreeMap<String, Locality>) -> String {
    let local = |Local { again, hot, theta, rounds, scans }: Local| {
        let [again, hot, rounds, scans] = [again, hot, rounds, scans].map(Share::get);
        format!(
            "{{ again = {again:?}, hot = {hot:?}, theta = {theta:?}, rounds = {rounds:?}, scans = {scans:?} }}"
        )
    };
    let entry = |(of, Locality { read, write }): (&String, &Locality)| {
        format!("\n[{of}]\nread = {}\nwrite = {}\n", local(*read), local(*write))
    };
    format!("{HEAD}{}", all.iter().map(entry).collect::<String>())
}
