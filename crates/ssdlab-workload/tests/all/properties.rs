//! Random records written in a format read back equal; arbitrary bytes never cause a panic.

use proptest::prelude::*;
use ssdlab_base::Nanos;
use ssdlab_workload::{Format, Op, Record, TraceOptions, Unsorted, parse_spec};

use crate::{drain, drain_by, record, trace};

/// Returns a record as a line of the format. Its time is a whole number of the format's ticks.
fn line(format: Format, record: &Record, first_ns: u64) -> String {
    let (lba, sectors) = (record.lba, u64::from(record.sectors));
    let ns = record.at.as_ns() + first_ns;
    let read = record.op == Op::Read;
    match format {
        Format::Msr => {
            let kind = if read { "Read" } else { "Write" };
            format!("{},usr,1,{kind},{},{},77", ns / 100, lba * 512, sectors * 512)
        }
        Format::Spc => {
            let kind = if read { "R" } else { "w" };
            let (seconds, fraction) = (ns / 1_000_000_000, ns % 1_000_000_000);
            format!("3,{lba},{},{kind},{seconds}.{fraction:09}", sectors * 512)
        }
        _ => format!("{ns} 2 {lba} {sectors} {}", u8::from(read)),
    }
}

prop_compose! {
    fn records()(
        steps in prop::collection::vec(
            (0u64..1_000_000, 0u64..1 << 50, 1u32..=1 << 19, any::<bool>()), 1..40,
        ),
    ) -> Vec<Record> {
        let mut at = 0;
        let make = |(index, (gap, lba, sectors, read)): (usize, (u64, u64, u32, bool))| {
            // Hundreds of nanoseconds are the time resolution of the coarsest format.
            at += if index == 0 { 0 } else { gap * 100 };
            record(at, lba, sectors, if read { Op::Read } else { Op::Write })
        };
        steps.into_iter().enumerate().map(make).collect()
    }
}

proptest! {
    #[test]
    fn what_a_format_writes_reads_back(
        records in records(), first in 0u64..1 << 56, most in 1usize..50, crlf in any::<bool>(),
    ) {
        for format in [Format::Msr, Format::Spc, Format::Mqsim, Format::Ssdsim] {
            let end = if crlf { "\r\n" } else { "\n" };
            let lines: Vec<String> =
                records.iter().map(|record| line(format, record, first * 100)).collect();
            let named = (format != Format::Ssdsim).then_some(format);
            for format in [named, None] {
                let mut t = trace(lines.join(end), format, &TraceOptions::default()).unwrap();
                let (got, at_lines, fault) = drain_by(&mut t, most);
                prop_assert_eq!(fault, None);
                prop_assert_eq!(&got, &records);
                prop_assert!(at_lines.into_iter().eq((1..=records.len() as u64).map(Some)));
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..300), which in 0..=Format::ALL.len(), window in 1u32..4,
    ) {
        let options = TraceOptions {
            device: bytes.first().is_some_and(|byte| byte % 2 == 0).then(|| "0".into()),
            tick: bytes.get(1).map(|byte| Nanos::from_ns(u64::from(*byte) + 1)),
            unsorted: Some(Unsorted::Sort(window)),
            ..TraceOptions::default()
        };
        let format = Format::ALL.get(which).copied();
        if let Ok(mut t) = trace(bytes, format, &options)
            && let Err(fault) = drain(&mut t)
        {
            prop_assert!(!fault.to_string().contains('\n'));
        }
    }

    /// Bytes that are nearly lines reach deeper code than arbitrary bytes.
    #[test]
    fn nearly_lines_never_panic(
        text in "([0-9]{0,21}[, .][0-9]{0,21}[, ](hm|[0-9]{1,3})[, ](Read|w|1|0|-1)[, ][0-9.]{0,9}\
                 ([, ][0-9]{1,20}){0,3}[\r\n]{0,2}){1,6}",
        which in 0..=Format::ALL.len(),
    ) {
        let format = Format::ALL.get(which).copied();
        if let Ok(mut t) = trace(text, format, &TraceOptions::default()) {
            let (records, lines, fault) = drain_by(&mut t, 3);
            prop_assert!(records.iter().all(|record| record.sectors > 0 || record.op == Op::Flush));
            prop_assert_eq!(records.len(), lines.len());
            prop_assert!(fault.is_none_or(|fault| !fault.to_string().contains('\n')));
        }
    }

    /// Real lines with a few changed bytes and a cut end reach the deepest code.
    #[test]
    fn fixtures_damaged_never_panic(
        which in any::<prop::sample::Index>(), named in any::<bool>(), cut in 0usize..40,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let fixtures = crate::fixtures::all();
        let fixture = which.get(&fixtures);
        let mut bytes = fixture.bytes.clone();
        bytes.truncate(bytes.len().saturating_sub(cut).max(1));
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let format = named.then_some(fixture.format);
        let device = named.then(|| "0".to_owned());
        let options = TraceOptions { device, ..TraceOptions::default() };
        match trace(bytes, format, &options) {
            Err(fault) => prop_assert!(!fault.to_string().contains(char::is_control)),
            Ok(mut t) => {
                let (records, lines, fault) = drain_by(&mut t, 3);
                prop_assert_eq!(records.len() as u64, t.counts().all());
                prop_assert_eq!(records.len(), lines.len());
                let line = fault.map_or(String::new(), |fault| fault.to_string());
                prop_assert!(!line.contains(char::is_control), "{}", line);
            }
        }
    }

    #[test]
    fn specs_never_panic(spec in "\\PC{0,40}") {
        let _ = parse_spec(&spec);
    }
}
