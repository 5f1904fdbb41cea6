//! What every reader's fuzz target does with its bytes.

use std::io::Cursor;

use ssdlab_base::Nanos;
use ssdlab_workload::{Format, Source, Trace, TraceOptions, Unsorted};

/// Reads the bytes as a trace. The first byte chooses the options, the rest is the file.
pub fn read_trace(data: &[u8], format: Option<Format>) {
    let Some((choice, file)) = data.split_first() else { return };
    let options = TraceOptions {
        device: (choice & 1 != 0).then(|| "0".to_owned()),
        tick: [None, Some(Nanos::from_us(3))][usize::from(choice >> 1 & 1)],
        unsorted: [None, Some(Unsorted::Refuse), Some(Unsorted::Sort(1)), Some(Unsorted::Sort(5))]
            [usize::from(choice >> 2 & 3)],
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
            assert!(record.at >= last && record.sectors > 0);
            assert!(record.lba + u64::from(record.sectors) <= 1 << 55);
            last = record.at;
        }
    }
    assert_eq!(delivered, trace.counts().requests);
    trace.remarks().iter().for_each(|remark| check_line(remark));
}

/// What users see is one printable line.
pub fn check_line(text: &str) {
    assert!(!text.is_empty() && !text.contains(char::is_control), "{text:?}");
}
