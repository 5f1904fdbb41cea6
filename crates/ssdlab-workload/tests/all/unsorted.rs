//! Tests time stamps that go back a little.

use proptest::prelude::*;
use ssdlab_workload::{Format, TraceOptions, Unsorted};

use crate::{drain, drain_by, trace};

fn sorting(window: u32) -> TraceOptions {
    TraceOptions { unsorted: Some(Unsorted::Sort(window)), ..TraceOptions::default() }
}

#[test]
fn msr_traces_are_sorted_by_default_and_their_lines_stay_known() {
    let text = "500,h,0,Read,0,512,0\n300,h,0,Read,512,512,0\n400,h,0,Read,1024,512,0\n600,h,0,Read,1536,512,0\n";
    let mut t = trace(text, None, &TraceOptions::default()).unwrap();
    let (records, lines, fault) = drain_by(&mut t, 3);
    assert_eq!(fault, None);
    let at: Vec<u64> = records.iter().map(|record| record.at.as_ns()).collect();
    assert_eq!(at, [0, 10_000, 20_000, 30_000]);
    assert_eq!(lines, [Some(2), Some(3), Some(1), Some(4)]);
    assert_eq!(t.counts().reordered, 2);
}

#[test]
fn equal_stamps_keep_the_order_of_the_file() {
    let text = "5 0 0 1 1\n5 0 1 1 1\n4 0 2 1 1\n5 0 3 1 1\n4 0 4 1 1\n";
    let got = drain(&mut trace(text, Some(Format::Mqsim), &sorting(10)).unwrap()).unwrap();
    assert_eq!(got.iter().map(|record| record.lba).collect::<Vec<_>>(), [2, 4, 0, 1, 3]);
}

#[test]
fn a_window_of_n_moves_a_request_past_n_others_and_no_more() {
    for window in 1..20 {
        let text = |ahead: u32| -> String {
            (0..ahead)
                .map(|n| format!("{} 0 0 1 1\n", 100 + n))
                .chain(["50 0 9 1 1\n".into()])
                .collect()
        };
        let read =
            |ahead| drain(&mut trace(text(ahead), Some(Format::Mqsim), &sorting(window)).unwrap());
        assert_eq!(read(window).unwrap()[0].lba, 9, "window {window}");
        assert_eq!(read(window + 1).unwrap_err().line, Some(u64::from(window) + 2));
    }
}

proptest! {
    /// Compares with the simple solution: a stable sort of everything.
    #[test]
    fn sorting_within_the_window_is_a_stable_sort(
        stamps in prop::collection::vec(0u64..50, 1..60), most in 1usize..70,
    ) {
        let text: String =
            stamps.iter().enumerate().map(|(n, at)| format!("{at} 0 {n} 1 1\n")).collect();
        let mut t = trace(text, Some(Format::Mqsim), &sorting(60)).unwrap();
        let (records, lines, fault) = drain_by(&mut t, most);
        prop_assert_eq!(fault, None);
        let mut want: Vec<(u64, u64)> = stamps.iter().copied().zip(0..).collect();
        want.sort_by_key(|(at, _)| *at);
        let first = want[0].0;
        let got: Vec<_> = records.iter().map(|r| (r.at.as_ns() + first, r.lba)).collect();
        prop_assert_eq!(got, want.clone());
        let want_lines: Vec<_> = want.iter().map(|(_, n)| Some(n + 1)).collect();
        prop_assert_eq!(lines, want_lines);
    }

    /// A window refuses exactly those requests that have more than its width of later requests
    /// before them.
    #[test]
    fn a_narrow_window_sorts_or_names_the_line(
        stamps in prop::collection::vec(0u64..50, 1..60), window in 1u32..10,
    ) {
        let text: String = stamps.iter().map(|at| format!("{at} 0 0 1 1\n")).collect();
        let mut t = trace(text, Some(Format::Mqsim), &sorting(window)).unwrap();
        let (records, _, fault) = drain_by(&mut t, 7);
        prop_assert!(records.is_sorted_by_key(|record| record.at));
        let displaced = |index: usize| {
            stamps[..index].iter().filter(|earlier| **earlier > stamps[index]).count()
        };
        match fault {
            None => prop_assert_eq!(records.len(), stamps.len()),
            Some(fault) => {
                let line = fault.line.unwrap() as usize;
                prop_assert!(displaced(line - 1) > window as usize);
                prop_assert_eq!(records.len(), line - 1);
            }
        }
    }
}

#[test]
fn a_trace_that_is_stopped_ends_before_it_has_read_more() {
    let request = "128166372003061629,hm,0,Read,0,512,0\n";
    // The trace returns the request already read. After it come blank lines only.
    let text = [request.to_owned(), "\n".repeat(1 << 20)].concat();
    let options = TraceOptions::default();
    let mut t = trace(text.clone(), None, &options).unwrap();
    options.stop.set();
    assert_eq!(drain(&mut t).unwrap().len(), 1);
    assert_eq!(t.sha256().unwrap_err().to_string(), "t: is not read to its end yet");
    // A stopped trace without requests is not a fault.
    let mut t = trace("\n".repeat(1 << 20), Some(Format::Msr), &options).unwrap();
    assert_eq!(drain(&mut t), Ok(Vec::new()));
    // Without a stop, the trace is read to its end.
    let mut t = trace(text, None, &TraceOptions::default()).unwrap();
    assert_eq!(drain(&mut t).unwrap().len(), 1);
    assert!(t.sha256().is_ok());
}
