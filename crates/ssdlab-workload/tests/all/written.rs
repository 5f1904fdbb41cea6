//! What is written reads back the same.

use std::io::Cursor;

use proptest::prelude::*;
use ssdlab_base::Fault;
use ssdlab_workload::{Format, Op, Record, Source, TraceOptions, Written, open, write_trace};

use crate::{drain, record, trace};

/// Records as a source.
struct Given(Vec<Record>);

impl Source for Given {
    fn fill(&mut self, batch: &mut Vec<Record>, most: usize) -> Result<usize, Fault> {
        let count = most.min(self.0.len());
        batch.extend(self.0.drain(..count));
        Ok(count)
    }

    fn expected(&self) -> Option<u64> {
        None
    }

    fn progress(&self) -> Option<f64> {
        None
    }

    fn name(&self) -> &str {
        "given"
    }

    fn line(&self, _: usize) -> Option<u64> {
        None
    }
}

fn written(records: &[Record], format: Format) -> (Vec<u8>, Written) {
    let mut bytes = Vec::new();
    let counts = write_trace(&mut Given(records.to_vec()), format, "t", &mut bytes).unwrap();
    (bytes, counts)
}

const TEXTS: [Format; 6] =
    [Format::Ssdlab, Format::Msr, Format::Spc, Format::Mqsim, Format::Disksim, Format::Fio];

prop_compose! {
    fn records()(
        steps in prop::collection::vec(
            (0u64..1_000_000, 0u64..1 << 50, 1u32..1 << 20, 0u8..4), 1..60,
        ),
    ) -> Vec<Record> {
        let ops = [Op::Read, Op::Write, Op::Trim, Op::Flush];
        let mut at = 0;
        let make = |(index, (gap, lba, sectors, op)): (usize, (u64, u64, u32, u8))| {
            // Microseconds: what the coarsest of the formats can say.
            at += if index == 0 { 0 } else { gap * 1000 };
            match ops[usize::from(op)] {
                Op::Flush if index > 0 => record(at, 0, 0, Op::Flush),
                Op::Trim if index > 0 => record(at, lba, sectors, Op::Trim),
                Op::Read => record(at, lba, sectors, Op::Read),
                _ => record(at, lba, sectors, Op::Write),
            }
        };
        steps.into_iter().enumerate().map(make).collect()
    }
}

proptest! {
    #[test]
    fn every_text_format_reads_back(records in records()) {
        for format in TEXTS {
            let (bytes, counts) = written(&records, format);
            let all = matches!(format, Format::Ssdlab | Format::Fio);
            let mut want = records.clone();
            want.retain(|record| all || matches!(record.op, Op::Read | Op::Write));
            let left_out = (records.len() - want.len()) as u64;
            let counted = Written { requests: want.len() as u64, left_out, ..Written::default() };
            prop_assert_eq!(counts, counted);
            let mut t = trace(bytes, Some(format), &TraceOptions::default()).unwrap();
            prop_assert_eq!(drain(&mut t).unwrap(), want, "{}", format);
        }
    }
}

#[test]
fn parquet_reads_back_over_row_groups() {
    let make = |n: u64| match n % 4 {
        0 => record(n * 7, n * 8, 8, Op::Read),
        1 => record(n * 7, n, 1, Op::Write),
        2 => record(n * 7, n, 9, Op::Trim),
        _ => record(n * 7, 0, 0, Op::Flush),
    };
    let records: Vec<Record> = (0..150_000).map(make).collect();
    let (bytes, counts) = written(&records, Format::Parquet);
    assert_eq!(counts, Written { requests: 150_000, ..Written::default() });
    let path = std::env::temp_dir().join(format!("ssdlab-written-{}", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    let got = drain(&mut open(&path, None).unwrap()).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(got == records);
}

#[test]
fn written_text_is_recognised_as_what_it_is() {
    let records: Vec<Record> = (0..50).map(|n| record(n * 150_000, n * 8, 8, Op::Read)).collect();
    for format in TEXTS {
        let t = trace(written(&records, format).0, None, &TraceOptions::default()).unwrap();
        assert_eq!(t.recognised().format, format);
        let only_mqsim = if format == Format::Mqsim { 1 } else { 0 };
        assert_eq!(t.remarks().len(), only_mqsim, "{:?}", t.remarks());
    }
}

#[test]
fn times_finer_than_a_format_are_rounded_down_and_counted() {
    let records = [record(0, 0, 8, Op::Read), record(1_234, 0, 8, Op::Read)];
    let (bytes, counts) = written(&records, Format::Fio);
    assert_eq!(counts.rounded, 1);
    assert!(std::str::from_utf8(&bytes).unwrap().ends_with("1 /dev/ssd read 0 4096\n"));
    assert_eq!(written(&records, Format::Msr).1.rounded, 1);
    assert_eq!(written(&records, Format::Spc).1.rounded, 0);
}

#[test]
fn a_format_that_is_not_written_is_refused_and_a_fault_of_the_source_passed_on() {
    let mut none = Given(Vec::new());
    let fault = write_trace(&mut none, Format::Vscsi, "out", Vec::new()).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "out: a format that is not written: got vscsi, \
         expected one of ssdlab, msr, spc, mqsim, disksim, fio, parquet"
    );
    let broken = Cursor::new("1 0 0 8 1\nx\n");
    let options = TraceOptions::default();
    let mut t =
        ssdlab_workload::Trace::from_reader("t", broken, Some(Format::Mqsim), &options).unwrap();
    let fault = write_trace(&mut t, Format::Ssdlab, "out", Vec::new()).unwrap_err();
    assert_eq!(fault.line, Some(2));
}
