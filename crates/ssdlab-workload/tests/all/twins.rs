//! Every twin meets its targets.

use std::collections::BTreeSet;

use ssdlab_base::quantity::Share;
use ssdlab_workload::measure::{Measured, measure};
use ssdlab_workload::twins::fit::{Trial, fit};
use ssdlab_workload::twins::shape::Shape;
use ssdlab_workload::twins::{Compared, Twin, catalog, find, parse};
use ssdlab_workload::{Described, Op, Record, Source};

use crate::drain;

/// The number of requests of a scaled twin; span and footprint are in proportion.
const REQUESTS: u64 = 100_000;

fn measured(twin: &Twin, seed: u64) -> Measured {
    measure(&mut twin.source(seed).unwrap(), u64::MAX, None).unwrap()
}

/// Returns the tolerance of a statistic. A mean size is a mean of draws. It gets four standard
/// errors on top, for sizes whose deviation is three times their mean.
fn tolerance(twin: &Twin, compared: &Compared) -> f64 {
    let figures = twin.figures();
    let chance = |count: u64| 0.02 + 4.0 * 3.0 / (count.max(1) as f64).sqrt();
    match compared.what {
        "requests" => 0.0,
        "read_ratio" => 0.01,
        "mean_read" => chance(figures.reads),
        "mean_write" => chance(figures.writes()),
        "span" => 0.02,
        "footprint" | "read_set" | "write_set" => 0.05,
        "page_reads" | "page_writes" => 0.15,
        "read_cold" => 0.02,
        // A twentieth of the share, plus the rounding of few pages to extents.
        "read_hot" => 0.05 * compared.target + 0.005,
        "large_writes" => 0.01 + chance(figures.writes()) - 0.02,
        other => panic!("{other} has no tolerance"),
    }
}

#[test]
fn every_twin_meets_its_targets_at_a_hundred_thousand_requests() {
    let mut off = Vec::new();
    for twin in catalog() {
        let scaled = twin.scaled(REQUESTS.min(twin.requests()));
        for compared in scaled.compare(&measured(&scaled, 1)) {
            if compared.off().abs() > tolerance(&scaled, &compared) {
                let Compared { what, target, achieved, .. } = compared;
                off.push(format!("{}: {what} {achieved:.4e}, target {target:.4e}", twin.name));
            }
        }
    }
    assert!(off.is_empty(), "{}", off.join("\n"));
}

#[test]
fn every_workload_of_the_papers_has_a_twin() {
    let mut families: Vec<(&str, usize)> = Vec::new();
    for twin in catalog() {
        match families.iter_mut().find(|(family, _)| *family == twin.family) {
            Some((_, count)) => *count += 1,
            None => families.push((&twin.family, 1)),
        }
    }
    // ReadGuard has six volumes, five mixes, three YCSB workloads and one mix of these. HIRE has
    // seventeen, and WebSearch as a test.
    let want = [("dlv", 20), ("pa-ssd", 8), ("pv-read", 8), ("readguard", 15), ("hire", 18)];
    assert_eq!(families, want);
}

#[test]
fn names_are_unique_and_titles_say_twin() {
    let names: BTreeSet<&str> = catalog().iter().map(|twin| twin.name.as_str()).collect();
    assert_eq!(names.len(), catalog().len());
    for twin in catalog() {
        assert!(twin.title.starts_with("twin of "), "{}", twin.title);
        let source = twin.source(0).unwrap();
        assert_eq!((source.name(), source.expected()), (&twin.title[..], Some(twin.requests())));
    }
}

#[test]
fn a_bare_name_is_that_of_the_only_family_or_of_the_one_at_hand() {
    assert_eq!(find("dlv/hm0", None).unwrap().title, "twin of hm_0 (DLV)");
    assert_eq!(find("hm0", Some("hire")).unwrap().name, "hire/hm0");
    assert_eq!(find("mix-a", Some("dlv")).unwrap().name, "readguard/mix-a");
    let several = find("hm0", None).unwrap_err().to_string();
    assert!(several.contains("dlv/hm0, pv-read/hm0, hire/hm0"), "{several}");
    let unknown = find("dlv/hm00", None).unwrap_err().to_string();
    assert!(unknown.contains("dlv/hm0"), "{unknown}");
}

fn requests(name: &str, seed: u64) -> Vec<Record> {
    let twin = find(name, None).unwrap().scaled(20_000);
    drain(&mut twin.source(seed).unwrap()).unwrap()
}

#[test]
fn equal_seeds_give_equal_requests_and_others_do_not() {
    for name in ["dlv/hm0", "pv-read/hm1", "readguard/mix-a", "ycsb-a"] {
        assert_eq!(requests(name, 1), requests(name, 1), "{name}");
        assert_ne!(requests(name, 1), requests(name, 2), "{name}");
    }
}

#[test]
fn requests_come_in_order_and_lie_within_the_footprint() {
    for name in ["dlv/fin1", "pa-ssd/dap", "readguard/mix-c"] {
        let twin = find(name, None).unwrap().scaled(20_000);
        let records = drain(&mut twin.source(3).unwrap()).unwrap();
        assert!(records.is_sorted_by_key(|record| record.at), "{name}");
        let end = |record: &Record| record.lba + u64::from(record.sectors);
        assert!(records.iter().all(|record| end(record) <= twin.sectors()), "{name}");
        assert!(records.iter().all(|record| matches!(record.op, Op::Read | Op::Write)));
    }
}

#[test]
fn requests_of_cloud_volumes_come_in_the_bursts_of_a_virtual_machine() {
    for name in ["readguard/ali2", "readguard/ali46", "readguard/ali295"] {
        let records = requests(name, 1);
        let gaps: Vec<u64> =
            records.windows(2).map(|pair| (pair[1].at - pair[0].at).as_ns()).collect();
        let mut sorted = gaps.clone();
        sorted.sort_unstable();
        // Returns how often a gap up to this quantile is followed by another one.
        let again = |quantile: f64| {
            let most = sorted[(quantile * sorted.len() as f64) as usize];
            let short: Vec<bool> = gaps.iter().map(|gap| *gap <= most).collect();
            let pairs: Vec<&[bool]> = short.windows(2).filter(|pair| pair[0]).collect();
            pairs.iter().filter(|pair| pair[1]).count() as f64 / pairs.len() as f64
        };
        // Two hours of one such trace give 0.55, 0.83 and 0.96.
        let (half, most, nearly_all) = (again(0.5), again(0.75), again(0.9));
        assert!((0.5..0.75).contains(&half), "{name}: {half}");
        assert!((0.78..0.9).contains(&most), "{name}: {most}");
        assert!((0.91..0.98).contains(&nearly_all), "{name}: {nearly_all}");
    }
}

#[test]
fn small_writes_begin_where_they_will_or_lie_within_a_page() {
    let fin = find("pa-ssd/fin", None).unwrap().scaled(REQUESTS);
    let (free, within) = (measured(&fin, 1), measured(&fin.small_in_page(true), 1));
    // Financial1's first 10,000 requests have 7.5 % of their writes larger than a page of 8 KiB,
    // and 32 % in more than one page. A few hot places have much of the writes, and their position
    // in a page depends on the seed.
    let split: f64 = (1..=10).map(|seed| measured(&fin, seed).split_writes).sum();
    assert!((2.0..4.0).contains(&split), "{split} of 10");
    assert_eq!(within.split_writes, within.large_writes);
    assert_eq!(within.large_writes, free.large_writes);
}

#[test]
fn few_requests_of_the_financial_twins_begin_with_a_page() {
    for name in ["dlv/fin1", "dlv/fin2", "pa-ssd/fin", "hire/fin1", "hire/fin2"] {
        let twin = find(name, None).unwrap().scaled(REQUESTS);
        let records = drain(&mut twin.source(1).unwrap()).unwrap();
        let aligned = records.iter().filter(|record| record.lba.is_multiple_of(8)).count();
        // In the excerpts of 10,000 and 750 requests, 7 and 8 % begin at a page of 4 KiB. If all
        // hot places did, at least 36 % would. A few places have much of the use that hot ones
        // have, and may begin at a page by chance.
        let share = aligned as f64 / records.len() as f64;
        assert!((0.05..0.18).contains(&share), "{name}: {share}");
    }
}

#[test]
fn a_mix_issues_each_member_to_a_queue_of_its_own() {
    let mix = find("mix-b", None).unwrap();
    let names: Vec<&str> = mix.members().iter().map(|twin| twin.name.as_str()).collect();
    assert_eq!(names, ["readguard/ali81", "readguard/ali284", "readguard/ali2"]);
    let scaled = mix.scaled(30_000);
    let records = drain(&mut scaled.source(1).unwrap()).unwrap();
    for (queue, member) in scaled.members().iter().enumerate() {
        let own = records.iter().filter(|record| usize::from(record.queue) == queue).count();
        assert_eq!(own as u64, member.requests());
    }
}

#[test]
fn a_twin_of_few_requests_is_refused_or_ends() {
    for twin in catalog() {
        for requests in [3, 50, 700] {
            let scaled = twin.scaled(requests);
            if let Ok(mut source) = scaled.source(1) {
                let records = drain(&mut source).unwrap();
                assert_eq!(records.len() as u64, requests, "{}", twin.name);
                let end = |record: &Record| record.lba + u64::from(record.sectors);
                assert!(records.iter().all(|record| end(record) <= scaled.sectors()));
            }
        }
    }
}

/// Returns a catalog of one twin, with `from` replaced by `to` in its shape or its entry.
fn broken(from: &str, to: &str) -> String {
    let habits = "run = 0.5\nfollow = 0.5\nagain = 0.5\nacross = 0.1\nhot = 0.1\ntheta = 0.9\n\
                  reach = 0.8\nsizes = [[\"4KiB\", 3], [\"16KiB\", 1]]";
    let shape = format!(
        "[s]\nsource = \"assumed\"\narrivals = \"a\"\ngrowth = 0.5\nalign = \"4KiB\"\n\
         extent = \"64KiB\"\nshared = 0.2\nnew = 0.2\n\
         lags = {{ steps = [1.0, 8.0] }}\n[s.read]\n{habits}\n[s.write]\n{habits}\n"
    );
    let family = "family = \"f\"\ntitle = \"F\"\n[sources]\nt = \"T\"\n[[twin]]\nname = \"n\"\n\
                  of = \"N\"\nshape = \"s\"\n[twin.targets]\nrequests = [1000, \"t\"]\n\
                  read_ratio = [0.5, \"t\"]\nmean_size = [\"8KiB\", \"t\"]\n\
                  footprint = [\"2MiB\", \"t\"]\nspan = [\"10s\", \"t\"]\n";
    let arrivals = "[a]\nwindows_us = [1.0, 10.0]\nreads = [1.0, 2.0]\nclass = \"b\"\n\
                    [b]\nwindows_us = [1.0, 100.0]\nwrites = [1.0, 9.0]\n";
    let all = [&shape, arrivals, family];
    assert!(from.is_empty() || all.iter().any(|text| text.contains(from)), "{from}");
    let [shape, arrivals, family] = all.map(|text| match from {
        "" => text.to_owned(),
        from => text.replacen(from, to, 1),
    });
    match parse(&shape, &arrivals, &[], &[("f.toml", &family)]) {
        Ok(twins) => format!("{} twins", twins.len()),
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn a_broken_entry_is_refused() {
    assert_eq!(broken("", ""), "1 twins");
    for (from, to, want) in [
        ("\"8KiB\", \"t\"", "\"8KiB\", \"u\"", "f.toml: f/n: mean_size: its source: got u"),
        ("[\"8KiB\"", "[\"80KiB\"", "f.toml: f/n: a mean size of reads: got 81920 B"),
        ("2MiB", "2GiB", "f.toml: f/n: footprint"),
        ("span = ", "spam = ", "spam"),
        ("requests = [1000, \"t\"]\n", "", "requests and read_ratio, or both volumes"),
        ("shape = \"s\"", "shape = \"r\"", "f.toml: f/n: not a shape"),
        ("shape = \"s\"", "like = \"f/m\"", "f.toml: f/n: not an earlier twin"),
        (
            "arrivals = \"a\"",
            "arrivals = \"aa\"",
            "shapes.toml: s: arrivals: nothing of this name: got aa",
        ),
        ("growth = 0.5\n", "", "shapes.toml: s: missing field `growth`"),
        ("[1.0, 10.0]", "[10.0, 1.0]", "arrivals.toml: a: arrivals.windows_us: got [10.0, 1.0]"),
        ("[1.0, 2.0]", "[1.0]", "arrivals.toml: a: arrivals.reads: got [1.0]"),
        ("[1.0, 9.0]", "[1.0, -9.0]", "arrivals.toml: b: arrivals.writes: got [1.0, -9.0]"),
        ("class = \"b\"", "class = \"a\"", "arrivals.toml: a: class: not arrivals without a class"),
        ("reads = [1.0", "read = [1.0", "arrivals.toml:2: unknown field `read`"),
        ("follow = 0.5", "follow = 1.5", "shapes.toml: s: "),
        ("\"64KiB\"", "\"48KiB\"", "shapes.toml: s: extent"),
        ("shared = 0.2", "shared = 0.2\nhot_anywhere = true", "shapes.toml: s: hot_anywhere"),
        ("[\"16KiB\", 1]", "[\"128KiB\", 1]", "shapes.toml: s: read.sizes"),
        ("source = ", "like = \"s\"\nsource = ", "shapes.toml: s: like"),
    ] {
        let got = broken(from, to);
        assert!(got.contains(want), "{to}: {got}");
    }
}

/// Returns 20,000 requests of a twin without any persistence, except for `habits`.
fn staying(habits: &str) -> Vec<Record> {
    let habits = format!(
        "run = 0.0\nfollow = 0.0\nagain = 1.0\nacross = 0.0\nhot = 0.0\ntheta = 0.9\nreach = 0.8\n\
         sizes = [[\"4KiB\", 1], [\"8KiB\", 1]]\n{habits}"
    );
    let shape = format!(
        "[s]\nsource = \"assumed\"\narrivals = {{ windows_us = [1.0] }}\ngrowth = 0.0\n\
         align = \"4KiB\"\nextent = \"64KiB\"\nshared = 0.2\nnew = 0.2\n\
         lags = {{ steps = [1.0, 400.0] }}\n\
         [s.read]\n{habits}\n[s.write]\n{habits}\n"
    );
    let family = "family = \"f\"\ntitle = \"F\"\n[sources]\nt = \"T\"\n[[twin]]\nname = \"n\"\n\
                  of = \"N\"\nshape = \"s\"\n[twin.targets]\nrequests = [20000, \"t\"]\n\
                  read_ratio = [0.5, \"t\"]\nmean_size = [\"6KiB\", \"t\"]\n\
                  footprint = [\"32MiB\", \"t\"]\nspan = [\"10s\", \"t\"]\n";
    let twins = parse(&shape, "", &[], &[("f.toml", family)]).unwrap();
    drain(&mut twins[0].source(1).unwrap()).unwrap()
}

const TRIAL: Trial = Trial { near: 60_000, theta: 0.2, follow: 1.0, along: false, regulars: true };

/// Returns the shape that a fit finds in these requests.
fn fitted(records: &[Record], along: bool) -> Shape {
    fit(records, "a test", Trial { along, ..TRIAL }).1
}

/// Returns the share of neighboring pairs for which `alike` holds.
fn together<T>(list: &[T], alike: impl Fn(&T, &T) -> bool) -> f64 {
    let pairs = list.windows(2).filter(|pair| alike(&pair[0], &pair[1])).count();
    pairs as f64 / (list.len() - 1) as f64
}

#[test]
fn few_places_are_returned_to_again_and_again_and_a_fit_sees_it() {
    let most = |regulars: &str| {
        let records = staying(regulars);
        let mut counts = std::collections::BTreeMap::new();
        for record in records.iter().filter(|record| record.op == Op::Read) {
            *counts.entry(record.lba / 8).or_insert(0u32) += 1;
        }
        let shape = fitted(&records, false);
        (counts.values().max().copied().unwrap_or(0), shape.read.regulars[0])
    };
    let (even, once) = most("");
    let (few, first) = most("regulars = [0.2, 0.1, 0.05, 0.05, 0.05, 0.05, 0.1, 0.4]");
    assert!(few > 2 * even, "{even} {few}");
    assert!(first < once, "{once} {first}");
}

#[test]
fn sizes_stay_and_a_fit_sees_it() {
    let alike = |run: &str| {
        let records = staying(run);
        let reads: Vec<Record> =
            records.iter().filter(|record| record.op == Op::Read).copied().collect();
        let same = together(&reads, |one, other| one.sectors == other.sectors);
        (same, fitted(&records, false).read.size_run.get())
    };
    let ((loose, none), (same, found)) = (alike(""), alike("size_run = 0.8"));
    assert!((loose - 0.5).abs() < 0.03 && (same - 0.9).abs() < 0.02, "{loose} {same}");
    assert!(none < 0.05 && (found - 0.8).abs() < 0.05, "{none} {found}");
}

#[test]
fn requests_go_on_through_known_places_and_a_fit_sees_it() {
    let without = fitted(&staying(""), true).read.along.get();
    let with = fitted(&staying("along = 0.6"), true).read.along.get();
    assert!(without < 0.3 && with > 0.55, "{without} {with}");
}

#[test]
fn new_places_and_known_ones_stay_together() {
    let stays = |runs: &str| {
        let mut seen = BTreeSet::new();
        let known: Vec<bool> = staying(runs)
            .iter()
            .filter(|record| record.op == Op::Write)
            .map(|record| !seen.insert(record.lba / 8))
            .collect();
        together(&known, |one, other| one == other)
    };
    let (mixed, separate) = (stays(""), stays("new_run = 0.8\nknown_run = 0.8"));
    assert!(separate > mixed + 0.15, "{mixed} {separate}");
}

#[test]
fn the_less_its_hot_places_differ_the_more_of_what_a_twin_reads_is_read_often() {
    let twin = find("pv-read/rsrch0", None).unwrap();
    let often = |theta: f64| {
        let twin = twin.reading_by(theta).unwrap();
        let of = measured(&twin, 1);
        let met = twin.compare(&of).iter().all(|one| one.off().abs() <= tolerance(&twin, one));
        assert!(met, "{theta}");
        let up_to_ten = of.read_counts.iter().find(|[count, ..]| *count == 10.0).unwrap();
        1.0 - up_to_ten[2]
    };
    let [alike, between, separate] = [0.0, 0.9, 1.8].map(often);
    assert!(alike > between + 0.02 && between > separate + 0.02, "{alike} {between} {separate}");
}

#[test]
fn a_twin_writes_the_share_of_its_reads_that_is_configured() {
    for name in ["pv-read/hm0", "hire/ts0", "dlv/hm0", "hire/fin1"] {
        let twin = find(name, None).unwrap().scaled(400_000);
        for share in [0.0, 0.2, 0.4] {
            let twin = twin.overlapping(Share::new(share));
            let of = measured(&twin, 1);
            let both = of.read_pages + of.write_pages - of.footprint_pages;
            let found = both as f64 / of.read_pages as f64;
            assert!((found - share).abs() < 0.01, "{name}: {found} of {share}");
            let met = twin.compare(&of).iter().all(|one| one.off().abs() <= tolerance(&twin, one));
            assert!(met, "{name}");
        }
    }
}
