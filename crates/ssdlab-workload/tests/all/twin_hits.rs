//! Hit ratios of LRU caches: of whole traces and of their twins.

use ssdlab_workload::Source;
use ssdlab_workload::measure::PlaceCaches;
use ssdlab_workload::twins::find;
use ssdlab_workload::twins::hits::published;

#[test]
fn hit_ratios_are_published_of_traces_that_have_twins() {
    assert_eq!(published().len(), 18 + 3);
    for trace in published() {
        assert!(!trace.twins.is_empty());
        for name in &trace.twins {
            let twin = find(name, None).unwrap();
            assert!(twin.title.contains(&format!("twin of {} ", trace.of)), "{name}");
            assert_eq!(twin.published_hits(), Some(trace));
        }
    }
    // A cut has no hit ratios of the whole.
    assert_eq!(find("pv-read/hm0", None).unwrap().published_hits(), None);
}

#[test]
fn caches_of_a_tenth_of_the_pages_are_a_tenth_of_what_twins_use() {
    for trace in published().iter().filter(|trace| !trace.cached.is_empty()) {
        let pages = find(&trace.twins[0], None).unwrap().figures().footprint / 4096.0;
        assert_eq!(trace.cached[0].0, (pages / 10.0) as u64, "{}", trace.of);
    }
}

/// The pages in a sample, and how far hit ratios may be off.
const PAGES: u64 = 1 << 16;
const MAX_OFF: f64 = 0.08;

/// A trace, what is compared, the published ratio, and that of the twin.
type Far<'a> = (&'a str, &'a str, f64, f64);

/// Known hit ratios that are farther off: trace, what hits, the trace's ratio, the twin's.
const FAR: &[Far] = &[
    ("proj_3", "reads, writes drop", 0.560, 0.461),
    ("proj_3", "reads, writes drop", 0.611, 0.696),
    ("proj_3", "reads, writes drop", 0.786, 0.705),
    ("proj_3", "reads, writes drop", 0.788, 0.707),
    ("proj_3", "reads, writes drop", 0.793, 0.708),
    ("src2_0", "reads, writes drop", 0.305, 0.196),
    ("ts_0", "reads", 0.629, 0.713),
    ("ts_0", "reads, writes drop", 0.287, 0.197),
    ("ts_0", "reads, writes drop", 0.471, 0.218),
    ("ts_0", "reads, writes drop", 0.532, 0.271),
    ("ts_0", "reads, writes drop", 0.667, 0.381),
    ("ts_0", "reads, writes drop", 0.689, 0.553),
    ("usr_0", "reads, writes drop", 0.897, 0.806),
    ("usr_0", "reads, writes drop", 0.899, 0.806),
    ("wdev_0", "reads, writes drop", 0.200, 0.295),
    ("wdev_0", "reads, writes drop", 0.255, 0.338),
    ("wdev_0", "reads, writes drop", 0.595, 0.451),
    ("wdev_0", "reads, writes drop", 0.625, 0.486),
    ("wdev_0", "reads, writes drop", 0.643, 0.519),
    ("wdev_0", "reads, writes drop", 0.836, 0.667),
    ("wdev_0", "reads, writes drop", 0.870, 0.784),
    ("Financial2", "reads of places", 0.851, 0.942),
    ("WebSearch1", "reads of places", 0.042, 0.122),
];

#[test]
fn twins_hit_as_their_traces_do() {
    let mut far = Vec::new();
    for trace in published() {
        let twin = find(&trace.twins[0], None).unwrap();
        let found = twin.hit_ratios(1, PAGES).unwrap();
        let sizes = 2 * trace.cached.len() + trace.dropped.len() + trace.bytes.len();
        assert_eq!(found.len(), sizes, "{}", trace.of);
        for hit in found {
            if (hit.achieved - hit.published).abs() > MAX_OFF {
                far.push((&trace.of[..], hit.what, hit.published, hit.achieved));
            }
        }
    }
    let near = |(found, known): (&Far, &Far)| {
        (found.0, found.1) == (known.0, known.1)
            && (found.2 - known.2).abs() < 6e-4
            && (found.3 - known.3).abs() < 0.02
    };
    let same = far.len() == FAR.len() && far.iter().zip(FAR).all(near);
    assert!(same, "{far:.3?}");
}

#[test]
fn requests_of_financial_and_websearch_begin_at_as_many_sectors_as_in_the_trace() {
    let mut compared = 0;
    for trace in published() {
        let Some(sectors) = trace.sectors else { continue };
        let mut source = find(&trace.twins[0], None).unwrap().source(1).unwrap();
        let (mut places, mut batch) = (PlaceCaches::new(&[]), Vec::new());
        while source.fill(&mut batch, 4096).unwrap() > 0 {
            places.take(&batch);
            batch.clear();
        }
        let found = places.places() as f64 / sectors as f64;
        // The search weighs them with the hit ratios.
        assert!((found - 1.0).abs() < 0.15, "{}: {found:.3} of them", trace.of);
        compared += 1;
    }
    assert_eq!(compared, 3);
}
