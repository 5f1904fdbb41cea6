//! Tests parts of a source: time spans, samples of addresses, limits.

use ssdlab_base::{Fault, Nanos};
use ssdlab_workload::{Format, Op, Record, Select, Selection, Source, TraceOptions};

use crate::round_trips::Records;
use crate::{drain, drain_by, record, trace};

fn part(records: &[Record], selection: Selection) -> Vec<Record> {
    drain(&mut Select::new(Records(records.to_vec()), selection)).unwrap()
}

/// Returns requests to 10,000 pages, ten times each.
fn pages() -> Vec<Record> {
    (0..100_000).map(|n| record(n * 10, n % 10_000 * 8, 8, Op::Read)).collect()
}

#[test]
fn a_selection_without_limits_takes_all() {
    assert!(part(&pages(), Selection::ALL) == pages());
}

#[test]
fn a_span_begins_with_its_first_request_and_ends_before_its_end() {
    let records = [0, 5, 10, 15, 20].map(|at| record(at, at, 8, Op::Write));
    let (from, to) = (Nanos::from_ns(6), Nanos::from_ns(20));
    let want = [record(0, 10, 8, Op::Write), record(5, 15, 8, Op::Write)];
    assert_eq!(part(&records, Selection { from, to, ..Selection::ALL }), want);
    let (from, to) = (Nanos::from_ns(11), Nanos::from_ns(15));
    assert_eq!(part(&records, Selection { from, to, ..Selection::ALL }), []);
}

#[test]
fn a_limit_is_on_what_is_taken() {
    let selection = Selection { limit: 3, from: Nanos::from_ns(10), ..Selection::ALL };
    assert_eq!(part(&pages(), selection).len(), 3);
    assert_eq!(part(&pages(), Selection { limit: 0, ..selection }), []);
}

#[test]
fn a_sample_takes_all_requests_of_a_page_or_none() {
    let sample =
        |one_page_in, seed| part(&pages(), Selection { one_page_in, seed, ..Selection::ALL });
    let some = sample(16, 1);
    let mut uses = std::collections::BTreeMap::new();
    some.iter().for_each(|record| *uses.entry(record.lba).or_insert(0) += 1);
    assert!(uses.values().all(|count| *count == 10));
    assert!((500..750).contains(&uses.len()), "{}", uses.len());
    assert!(some == sample(16, 1) && some != sample(16, 2));
    // A larger sample contains a smaller one.
    let more: Vec<u64> = sample(4, 1).iter().map(|record| record.lba).collect();
    assert!(some.iter().all(|record| more.contains(&record.lba)));
}

#[test]
fn flushes_are_sampled_by_their_number() {
    let flushes: Vec<Record> = (0..16_000).map(|n| record(n, 0, 0, Op::Flush)).collect();
    let some = part(&flushes, Selection { one_page_in: 16, ..Selection::ALL });
    assert!((800..1200).contains(&some.len()), "{}", some.len());
}

#[test]
fn lines_and_devices_stay_known_and_faults_come_last() {
    let text = "0 a 0 1 1\n".repeat(0) + "0 0 0 8 1\n1 1 8 8 1\n2 2 16 8 0\n3 3 x 8 0\n";
    let t = trace(text, Some(Format::Mqsim), &TraceOptions::default()).unwrap().with_devices();
    let selection = Selection { from: Nanos::from_ns(1), ..Selection::ALL };
    let mut some = Select::new(t, selection);
    let mut batch = Vec::new();
    assert_eq!(some.fill(&mut batch, 100), Ok(2));
    assert_eq!((some.line(0), some.line(1), some.line(2)), (Some(2), Some(3), None));
    assert_eq!((some.device(0), some.device(1)), (Some("1"), Some("2")));
    assert_eq!(some.fill(&mut batch, 100).unwrap_err().line, Some(4));
}

#[test]
fn small_batches_are_the_same() -> Result<(), Fault> {
    let selection = Selection { one_page_in: 3, limit: 20_000, ..Selection::ALL };
    let (few, _, fault) = drain_by(&mut Select::new(Records(pages()), selection), 7);
    assert!(fault.is_none() && few == part(&pages(), selection));
    Ok(())
}
