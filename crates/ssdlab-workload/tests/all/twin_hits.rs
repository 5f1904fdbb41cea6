//! Hit ratios of LRU caches: of whole traces and of their twins.

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
