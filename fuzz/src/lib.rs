//! What every reader's fuzz target does with its bytes.

use std::io::Cursor;

use ssdlab_base::Nanos;
use ssdlab_workload::{Format, Op, Source, Trace, TraceOptions, Unsorted};

/// Mappings of a table's columns.
const COLUMNS: [&str; 4] = [
    "time:0,op:1,offset:2,size:3",
    "time:1:ms,op:0:0/1,offset:2:sectors,size:3:sectors,device:4",
    "time:t:ns,op:o,offset:a,size:s",
    "time:0:s,op:2:r/w,offset:1,size:1:sectors,device:d",
];

/// Reads the bytes as a trace. The first byte chooses the options, the rest is the file.
pub fn read_trace(data: &[u8], format: Option<Format>) {
    let Some((choice, file)) = data.split_first() else { return };
    let options = TraceOptions {
        device: (choice & 1 != 0).then(|| "0".to_owned()),
        tick: [None, Some(Nanos::from_us(3))][usize::from(choice >> 1 & 1)],
        unsorted: [None, Some(Unsorted::Refuse), Some(Unsorted::Sort(1)), Some(Unsorted::Sort(5))]
            [usize::from(choice >> 2 & 3)],
        // Where the format has columns of its own, most of these are refused.
        columns: match format {
            Some(Format::Csv) => Some(COLUMNS[usize::from(choice >> 1 & 3)].to_owned()),
            None if choice >> 4 == 15 => Some(COLUMNS[0].to_owned()),
            _ => None,
        },
        ..TraceOptions::default()
    };
    let most = usize::from(choice >> 4) + 1;
    let stored = Cursor::new(file.to_vec());
    let mut trace = match Trace::from_reader("t", stored, format, &options) {
        Ok(trace) => trace,
        Err(fault) => return check_line(&fault.to_string()),
    };
    let mut last = Nanos::ZERO;
    let mut records = Vec::new();
    let mut delivered = 0;
    loop {
        records.clear();
        match trace.fill(&mut records, most) {
            Ok(0) => break,
            Ok(count) => {
                assert!(count == records.len() && count <= most);
                assert!((0..count).all(|index| trace.line(index).is_some_and(|line| line > 0)));
                delivered += count as u64;
            }
            Err(fault) => {
                assert!(records.is_empty());
                check_line(&fault.to_string());
                break;
            }
        }
        for record in &records {
            assert!(delivered > 1 || record.at == Nanos::ZERO);
            assert!(record.at >= last && (record.sectors > 0 || record.op == Op::Flush));
            assert!(record.lba + u64::from(record.sectors) <= 1 << 55);
            last = record.at;
        }
    }
    assert_eq!(delivered, trace.counts().all());
    trace.remarks().iter().for_each(|remark| check_line(remark));
}

/// What users see is one printable line.
pub fn check_line(text: &str) {
    assert!(!text.is_empty() && !text.contains(char::is_control), "{text:?}");
}

/// Reads the bytes as a Parquet file, which must be a file: one a process, written anew.
///
/// Panics of the decoder are caught by the reader, so that no panic as such may end the process;
/// one that nobody catches still does.
pub fn read_table(data: &[u8]) {
    static QUIET: std::sync::Once = std::sync::Once::new();
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    let path = std::env::temp_dir().join(format!("ssdlab-fuzz-{}", std::process::id()));
    std::fs::write(&path, data).expect("a file");
    let trace = ssdlab_workload::open(&path, Some(Format::Parquet));
    let outcome = trace.and_then(|mut trace| {
        let mut records = Vec::new();
        while trace.fill(&mut records, 64)? > 0 {
            records.clear();
        }
        Ok(())
    });
    if let Err(fault) = outcome {
        check_line(&fault.to_string());
    }
}
