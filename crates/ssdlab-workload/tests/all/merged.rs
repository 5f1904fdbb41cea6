//! Tests the merge of several sources.

use ssdlab_base::Nanos;
use ssdlab_workload::{
    App, Described, Format, Merge, Offset, Op, Placing, Reach, Record, Source, TraceOptions,
    lay_out,
};

use crate::round_trips::Records;
use crate::{drain, drain_by, record, trace};

fn app(name: &str, records: &[Record], placing: Placing) -> App {
    App { name: name.into(), source: Box::new(Records(records.to_vec())), placing }
}

#[test]
fn requests_come_by_time_and_then_by_application() {
    let a = [0, 10, 20].map(|at| record(at, 0, 8, Op::Read));
    let b = [0, 5, 20].map(|at| record(at, 8, 8, Op::Write));
    let second = Placing { queue: Some(3), shift: 100, ..Placing::AS_IS };
    let mut merge = Merge::new(vec![app("a", &a, Placing::AS_IS), app("b", &b, second)]);
    let moved = |at| Record { queue: 3, ..record(at, 108, 8, Op::Write) };
    let want = vec![a[0], moved(0), moved(5), a[1], a[2], moved(20)];
    assert_eq!(merge.name(), "a + b");
    assert_eq!(drain(&mut merge).unwrap(), want);
}

#[test]
fn times_are_scaled_and_begin_with_the_first_request_of_all() {
    let records = [0, 10, 21].map(|at| record(at, 0, 8, Op::Read));
    let late = Placing { start: Nanos::from_ns(100), scale: 0.5, ..Placing::AS_IS };
    let later = Placing { start: Nanos::from_ns(110), scale: 3.0, ..Placing::AS_IS };
    let mut merge = Merge::new(vec![app("a", &records, late), app("b", &records, later)]);
    let times: Vec<u64> = drain(&mut merge).unwrap().iter().map(|r| r.at.as_ns()).collect();
    assert_eq!(times, [0, 5, 10, 11, 40, 73]);
}

#[test]
fn long_sources_keep_order_whatever_the_batches() {
    let many = |step: u64, count: u64| -> Vec<Record> {
        (0..count).map(|n| record(n * step, n, 8, Op::Read)).collect()
    };
    let apps =
        || [(7, 20_000), (3, 30_000), (1000, 10)].map(|(step, count)| (many(step, count), step));
    let merge = || {
        let make = |(records, step): &(Vec<Record>, u64)| {
            let placing = Placing { queue: Some(*step as u8), ..Placing::AS_IS };
            app(&step.to_string(), records, placing)
        };
        Merge::new(apps().iter().map(make).collect())
    };
    let mut want: Vec<Record> = Vec::new();
    for (records, step) in apps() {
        want.extend(records.iter().map(|record| Record { queue: step as u8, ..*record }));
    }
    want.sort_by_key(|record| record.at);
    assert!(drain(&mut merge()).unwrap() == want);
    assert!(drain_by(&mut merge(), 13).0 == want);
}

#[test]
fn lines_devices_and_faults_are_of_the_application() {
    let options = TraceOptions::default();
    let one = trace("0 0 0 8 1\n9 0 0 8 1\n", Some(Format::Mqsim), &options).unwrap();
    let other = trace("# x\n4 0 0 8 1\n5 0 x 8 1\n", Some(Format::Mqsim), &options).unwrap();
    let boxed = |name: &str, source| App {
        name: name.into(),
        source: Box::new(source),
        placing: Placing::AS_IS,
    };
    let mut merge = Merge::new(vec![boxed("one", one), boxed("other", other)]);
    let mut batch = Vec::new();
    assert_eq!(merge.fill(&mut batch, 10), Ok(2));
    assert_eq!((merge.device(0), merge.line(0)), (Some("one"), Some(1)));
    assert_eq!((merge.device(1), merge.line(1)), (Some("other"), Some(2)));
    assert_eq!(merge.fault(1, "odd").to_string(), "t:2: odd");
    for _ in 0..2 {
        assert_eq!(merge.fill(&mut batch, 10).unwrap_err().line, Some(3));
    }
}

#[test]
fn an_address_that_cannot_be_moved_is_a_fault_after_those_before_it() {
    let records =
        [record(0, 50, 8, Op::Read), record(1, 0, 0, Op::Flush), record(2, 9, 8, Op::Read)];
    let down = Placing { shift: -10, ..Placing::AS_IS };
    let mut merge = Merge::new(vec![app("a", &records, down)]);
    let (got, _, fault) = drain_by(&mut merge, 10);
    assert_eq!(got, [record(0, 40, 8, Op::Read), record(1, 0, 0, Op::Flush)]);
    assert_eq!(
        fault.unwrap().to_string(),
        "records: an address that cannot be moved: got sector 9 moved by -10, \
         expected a sector from 0 to 2^55"
    );
    let up = Placing { shift: i64::MAX, ..Placing::AS_IS };
    assert!(drain(&mut Merge::new(vec![app("a", &records, up)])).is_err());
}

#[test]
fn footprints_lie_one_after_another_as_aligned_as_they_were() {
    let mut reach = Reach::default();
    reach.take(&[record(0, 5000, 8, Op::Read), record(0, 0, 0, Op::Flush)]);
    reach.take(&[record(0, 4100, 8, Op::Write), record(0, 6000, 100, Op::Trim)]);
    assert_eq!(reach, Reach { first: 4100, end: 6100 });
    let shifts = lay_out(&[
        (reach, Offset::Behind),
        (reach, Offset::Behind),
        (Reach { first: 0, end: 10 }, Offset::By(1 << 20)),
        (Reach { first: 0, end: 10 }, Offset::Behind),
    ]);
    assert_eq!(shifts, [-4096, 2048 - 4096, 1 << 20, (1 << 20) + 2048]);
    assert_eq!(lay_out(&[(Reach::default(), Offset::Behind); 2]), [0, 0]);
}
