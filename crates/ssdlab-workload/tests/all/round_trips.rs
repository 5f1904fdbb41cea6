//! Written traces read back equal.

use std::io::Cursor;

use proptest::prelude::*;
use ssdlab_base::Fault;
use ssdlab_workload::{
    Described, Format, Op, Packed, Packing, Record, Source, TraceOptions, Written, open,
    write_trace,
};

use crate::{drain, record, trace};

/// A list of records as a source.
pub(crate) struct Records(pub(crate) Vec<Record>);

impl Described for Records {
    fn name(&self) -> &str {
        "records"
    }
}

impl Source for Records {
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

    fn line(&self, _: usize) -> Option<u64> {
        None
    }
}

fn written(records: &[Record], format: Format) -> (Vec<u8>, Written) {
    let mut bytes = Vec::new();
    let counts = write_trace(&mut Records(records.to_vec()), format, "t", &mut bytes).unwrap();
    (bytes, counts)
}

const TEXTS: [Format; 6] =
    [Format::Ssdlab, Format::Msr, Format::Spc, Format::Mqsim, Format::Disksim, Format::Fio];

prop_compose! {
    fn records()(
        steps in prop::collection::vec(
            (0u64..1_000_000, 0u64..1 << 50, 1u32..=1 << 19, 0u8..4), 1..60,
        ),
    ) -> Vec<Record> {
        let ops = [Op::Read, Op::Write, Op::Trim, Op::Flush];
        let mut at = 0;
        let make = |(index, (gap, lba, sectors, op)): (usize, (u64, u64, u32, u8))| {
            // Microseconds are the time resolution of the coarsest format.
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
            let count = |op| want.iter().filter(|record| record.op == op).count() as u64;
            let (trims, flushes) = (count(Op::Trim), count(Op::Flush));
            let requests = count(Op::Read) + count(Op::Write);
            let counted = Written { requests, trims, flushes, left_out, ..Written::default() };
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
    let want = Written { requests: 75_000, trims: 37_500, flushes: 37_500, ..Written::default() };
    assert_eq!(counts, want);
    let path = std::env::temp_dir().join(format!("ssdlab-written-{}", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    let got = drain(&mut open(&path, None).unwrap()).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(got == records);
}

#[test]
fn written_text_is_recognized_as_what_it_is() {
    let records: Vec<Record> = (0..50).map(|n| record(n * 150_000, n * 8, 8, Op::Read)).collect();
    for format in TEXTS {
        let t = trace(written(&records, format).0, None, &TraceOptions::default()).unwrap();
        assert_eq!(t.recognized().format, format);
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
fn devices_queues_and_hints_are_written_where_a_format_has_them() {
    let text = "time_us,dev,op,offset_bytes,size_bytes,queue,hint\n\
                0.000,hm_1,R,4096,8192,3,0\n\
                1.250,7,W,0,512,0,1\n\
                1.250,x/y,F,0,0,2,3\n";
    let options = TraceOptions::default();
    let convert = |format| {
        let mut t = trace(text, None, &options).unwrap().with_devices();
        let mut bytes = Vec::new();
        let counts = write_trace(&mut t, format, "t", &mut bytes).unwrap();
        (String::from_utf8_lossy(&bytes).into_owned(), counts)
    };
    let (same, counts) = convert(Format::Ssdlab);
    assert_eq!(same, text);
    let want = Written { requests: 2, ..Written::default() };
    assert_eq!(counts, Written { flushes: 1, ..want });
    let (msr, counts) = convert(Format::Msr);
    let rows: Vec<&str> = msr.lines().map(|line| &line[19..]).collect();
    assert_eq!(rows, ["hm,1,Read,4096,8192,0", "ssd,7,Write,0,512,0"]);
    let want = Written { requests: 2, left_out: 1, rounded: 1, queues_left_out: 1, ..want };
    let want = Written { hints_left_out: 1, ..want };
    assert_eq!(counts, want);
    let (mqsim, counts) = convert(Format::Mqsim);
    assert_eq!(mqsim, "0 0 8 16 1\n1250 7 0 1 0\n");
    assert_eq!((counts.devices_left_out, counts.queues_left_out), (1, 1));
}

#[test]
fn a_queue_is_read_where_the_header_says_so_and_refused_if_it_is_none() {
    let head = "time_us,dev,op,offset_bytes,size_bytes,";
    let read = |text: &str| drain(&mut trace(text, None, &TraceOptions::default()).unwrap());
    let row = "0.000,0,R,0,512,";
    assert_eq!(read(&format!("{head}queue\n{row}7\n")).unwrap()[0].queue, 7);
    assert_eq!(read(&format!("{head}resp_us\n{row}7\n")).unwrap()[0].queue, 0);
    assert_eq!(read(&format!("{row}7\n")).unwrap()[0].queue, 0);
    let wrong = format!("{head}queue\n{row}1\n{row}2\n{row}256\n");
    assert_eq!(
        read(&wrong).unwrap_err().to_string(),
        "t:4:17: queue: got 256, expected a submission queue from 0 to 255"
    );
}

#[test]
fn a_hint_is_read_where_the_header_says_so_before_or_after_the_queue() {
    let head = "time_us,dev,op,offset_bytes,size_bytes,";
    let read = |text: &str| drain(&mut trace(text, None, &TraceOptions::default()).unwrap());
    let row = "0.000,0,R,0,512,";
    for (names, values) in [("queue,hint", "7,2"), ("hint,resp_us,queue", "2,9,7")] {
        let found = read(&format!("{head}{names}\n{row}{values}\n")).unwrap()[0];
        assert_eq!((found.queue, found.hint), (7, 2), "{names}");
    }
    assert_eq!(read(&format!("{head}hint\n{row}3\n")).unwrap()[0].hint, 3);
    assert_eq!(
        read(&format!("{head}hint\n{row}3\n{row}4\n")).unwrap_err().to_string(),
        "t:3:17: hint: got 4, expected a latency hint: 0 (none), 1 (short), 2 (medium) or 3 (long)"
    );
}

#[test]
fn parquet_keeps_devices_queues_and_hints() {
    let text = "time_us,dev,op,offset_bytes,size_bytes,queue,hint\n\
                0,x,R,0,512,9,2\n1,\"y,W,0,512,0,0\n";
    let mut t = trace(text, None, &TraceOptions::default()).unwrap().with_devices();
    let mut bytes = Vec::new();
    write_trace(&mut t, Format::Parquet, "t", &mut bytes).unwrap();
    let path = std::env::temp_dir().join(format!("ssdlab-devices-{}", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    let mut back = open(&path, None).unwrap().with_devices();
    let mut batch = Vec::new();
    assert_eq!(back.fill(&mut batch, 10).unwrap(), 2);
    std::fs::remove_file(&path).unwrap();
    assert_eq!((batch[0].queue, batch[1].queue), (9, 0));
    assert_eq!((batch[0].hint, batch[1].hint), (2, 0));
    assert_eq!((back.device(0), back.device(1), back.device(2)), (Some("x"), Some("\"y"), None));
}

#[test]
fn what_is_packed_reads_back() {
    for (name, packing) in [
        ("t.csv", Packing::Plain),
        ("t.csv.gz", Packing::Gzip),
        ("t.csv.zst", Packing::Zstd),
        ("t.csv.xz", Packing::Xz),
    ] {
        let (found, bare) = Packing::of(std::path::Path::new(name));
        assert_eq!((found, bare), (packing, std::path::Path::new("t.csv")));
        let records: Vec<Record> = (0..5000).map(|n| record(n * 1000, n, 8, Op::Read)).collect();
        let mut bytes = Vec::new();
        let mut packed = Packed::new(packing, &mut bytes).unwrap();
        let mut source = Records(records.clone());
        write_trace(&mut source, Format::Ssdlab, "t", &mut packed).unwrap();
        packed.finish().unwrap();
        assert!(
            drain(&mut trace(bytes, None, &TraceOptions::default()).unwrap()).unwrap() == records
        );
    }
}

#[test]
fn a_format_that_is_not_written_is_refused_and_a_fault_of_the_source_passed_on() {
    let mut none = Records(Vec::new());
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
