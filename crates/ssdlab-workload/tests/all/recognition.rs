//! Tests the recognition of formats, and the errors when it fails.

use ssdlab_base::Nanos;
use ssdlab_workload::{By, Described, Format, Format::*, TraceOptions};

use crate::fixtures::{self, vscsi_1};
use crate::{drain, drain_by, trace};

fn remarks(text: &str, options: &TraceOptions) -> Vec<String> {
    trace(text, None, options).unwrap().remarks()
}

fn refused(text: &str) -> String {
    trace(text, None, &TraceOptions::default()).err().expect("a fault").to_string()
}

#[test]
fn every_fixture_is_recognized_as_its_own_format() {
    for fixture in fixtures::all() {
        let name = fixture.format;
        let t = trace(fixture.bytes.clone(), None, &TraceOptions::default())
            .unwrap_or_else(|fault| panic!("{name}: {fault}"));
        let found = t.recognized();
        assert_eq!((found.format, found.by), (name, By::Content));
        assert_eq!(found.ambiguous_with, fixture.ambiguous_with, "{name}");
    }
}

#[test]
fn every_format_but_the_mapped_ones_has_a_fixture() {
    let fixtures = fixtures::all();
    for format in Format::ALL.iter().filter(|format| !matches!(format, Csv | Parquet)) {
        assert!(fixtures.iter().any(|fixture| fixture.format == *format), "{format}");
    }
}

#[test]
fn a_fixture_read_as_another_format_is_refused_or_ambiguous_or_less_plausible() {
    for fixture in fixtures::all() {
        for format in Format::ALL.iter().filter(|format| **format != fixture.format) {
            let t = trace(fixture.bytes.clone(), Some(*format), &TraceOptions::default());
            let Ok(mut t) = t else { continue };
            let (_, _, fault) = drain_by(&mut t, 100);
            let fits = fault.is_none() && !fixture.ambiguous_with.contains(format);
            // If a reader accepts both sectors and bytes, alignment decides.
            let bytes_for_sectors = (fixture.format, *format) == (Disksim, Heimdall);
            let widened = t.counts().widened > 0;
            assert!(!fits || bytes_for_sectors || widened, "{} reads as {format}", fixture.format);
        }
    }
}

#[test]
fn a_few_broken_lines_do_not_lose_a_file_to_a_wrong_format() {
    for fixture in fixtures::all().into_iter().filter(|f| f.format != Vscsi && f.format != Fio) {
        let text = String::from_utf8(fixture.bytes).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let many = [lines.clone(), vec!["?"], lines].concat().join("\n");
        let t = trace(many, None, &TraceOptions::default()).unwrap();
        assert_eq!(t.recognized().format, fixture.format);
    }
}

#[test]
fn a_first_request_that_is_wrong_is_named_and_not_the_format() {
    let good = "128166372016382155,usr,0,Write,1317441536,8192,1963\n".repeat(5);
    let bad = "128166372003061629,usr,0,Read,7014609920,0,41286\n";
    let mut t = trace(format!("{bad}{good}"), None, &TraceOptions::default()).unwrap();
    assert_eq!(t.recognized().format, Msr);
    let fault = drain(&mut t).unwrap_err().to_string();
    assert_eq!(fault, "t:1:42: Size: got 0, expected at least one byte");
}

#[test]
fn a_file_that_is_nearly_of_a_format_says_which_and_what_is_wrong() {
    assert_eq!(
        refused("128166372003061629,usr,0,Read,7014609920,0,41286\n"),
        "t:1:42: trace format not recognized, nearly msr: Size: got 0, expected at least one byte \
         (FILE:format names it; workload.trace.columns maps other tables)"
    );
    assert_eq!(
        refused("1 0 2 0 1\n"),
        "t:1:7: trace format not recognized, nearly mqsim: Sectors: got 0, \
         expected at least one sector (FILE:format names it; workload.trace.columns maps other tables)"
    );
    assert_eq!(
        refused("# c\n259,2 0 5 0.000005462 4020 D RS 282624 + x [java]\n"),
        "t:2:42: trace format not recognized, nearly blkparse: Sectors: got x, \
         expected a whole number, zero or more (FILE:format names it; workload.trace.columns maps other tables)"
    );
    assert_eq!(
        refused("419,Wr,8792731648,16384,1577808144360767\nhello\n"),
        format!(
            "t:1: trace format not recognized: got 419,Wr,8792731648,16384,1577808144360767, \
             expected one of {} (FILE:format names it; workload.trace.columns maps other tables)",
            crate::names()
        )
    );
}

#[test]
fn a_log_whose_first_events_are_no_requests_is_recognized() {
    let queued = "259,2 0 5 0.000005462 4020 Q RS 282624 + 8 [java]\n".repeat(300);
    let issued = "259,2 0 5 0.000005462 4020 D RS 282624 + 8 [java]\n";
    let mut t = trace(format!("{queued}{issued}"), None, &TraceOptions::default()).unwrap();
    assert_eq!(drain(&mut t).unwrap().len(), 1);
    let mut t = trace(queued, None, &TraceOptions::default()).unwrap();
    assert_eq!(
        drain(&mut t).unwrap_err().to_string(),
        "t: holds no request: got no issue (D) event of a read, a write, a discard or a flush, \
         expected at least one"
    );
}

#[test]
fn a_header_alone_holds_no_request() {
    let line = "t: holds no request: got a header, blank lines or comments only, \
                expected at least one";
    assert_eq!(refused("time_us,dev,op,offset_bytes,size_bytes,queue,hint\n"), line);
    assert_eq!(refused("# nothing yet\ntime_us,dev,op,offset_bytes,size_bytes\n"), line);
}

#[test]
fn prose_is_no_trace() {
    let line = refused("Dear reader,\nhere, at last, is the trace\n\nYours\n");
    assert!(line.starts_with("t:1: trace format not recognized: got Dear reader,"), "{line}");
}

#[test]
fn five_whole_numbers_are_ambiguous_and_the_reading_taken_is_named() {
    let five = "1000 0 1302 16 1\n2000 0 7 1 0\n";
    let of = |names: &str| {
        format!("t: read as mqsim, though it could be {names} (FILE:format says which)")
    };
    assert_eq!(remarks(five, &TraceOptions::default()), [of("ssdsim or disksim")]);
    // Five numbers with two multiples of 512 may also be bytes. They are taken as bytes if all
    // lines are like this.
    let bytes = "1000 0 1024 4096 1\n2000 0 512 512 0\n";
    let t = trace(bytes, None, &TraceOptions::default()).unwrap();
    assert_eq!(t.recognized().format, Heimdall);
    assert_eq!(
        t.remarks(),
        ["t: read as heimdall, though it could be mqsim or ssdsim or disksim \
          (FILE:format says which)"]
    );
    let named = trace(five, Some(Disksim), &TraceOptions::default()).unwrap();
    assert_eq!((named.remarks(), named.recognized().by), (vec![], By::Named));
}

#[test]
fn five_columns_name_every_format_that_they_could_be() {
    let of = |stamp: fn(u64) -> String, size: u64, begin: fn(u64) -> u64| -> String {
        let line =
            |n: u64| format!("{} 0 {} {} {}\n", stamp(n), begin(n), size * (n % 3 + 1), n % 2);
        (0..20).map(line).collect()
    };
    let whole = |n: u64| (n * 1_000_000).to_string();
    let fraction = |n: u64| format!("{n}.5");
    let (pages, large) = (|n: u64| n * 7 * 8, |n: u64| n * 7 * 4096);
    // Offsets in bytes, as a program uses them: some, or nearly all, are within a sector.
    let (partly, within) = (|n: u64| n * 28672 + n % 4 / 3 * 100, |n: u64| n * 28672 + 1);
    let cases: [(String, Format, &[Format]); 8] = [
        (of(whole, 8, pages), Mqsim, &[Ssdsim, Disksim]),
        (of(whole, 4096, large), Heimdall, &[Mqsim, Ssdsim, Disksim]),
        (of(whole, 4096, partly), Mqsim, &[Ssdsim, Disksim, Heimdall]),
        (of(whole, 4096, within), Mqsim, &[Ssdsim, Disksim, Heimdall]),
        (of(fraction, 8, pages), Disksim, &[]),
        (of(fraction, 4096, large), Heimdall, &[Disksim]),
        (of(fraction, 4096, partly), Disksim, &[Heimdall]),
        (of(fraction, 4096, within), Disksim, &[Heimdall]),
    ];
    for (text, taken, others) in cases {
        let t = trace(text.as_str(), None, &TraceOptions::default()).unwrap();
        let found = t.recognized();
        assert_eq!((found.format, &found.ambiguous_with[..]), (taken, others), "{text}");
        let names: Vec<&str> = others.iter().map(|other| other.name()).collect();
        let remark = format!(
            "t: read as {taken}, though it could be {} (FILE:format says which)",
            names.join(" or ")
        );
        assert_eq!(t.remarks().contains(&remark), !others.is_empty(), "{:?}", t.remarks());
        // With a named format, there is no remark.
        for format in [&[taken], others].concat() {
            let named = trace(text.as_str(), Some(format), &TraceOptions::default()).unwrap();
            assert_eq!((named.recognized().format, named.recognized().by), (format, By::Named));
            assert!(named.recognized().remark().is_none());
        }
    }
}

#[test]
fn a_unit_that_looks_wrong_is_questioned() {
    let of = |step: u64, options: &TraceOptions| {
        let line = |n: u64| format!("{} 0 8 8 1\n", n * step);
        let text: String = (0..20).map(line).collect();
        trace(text, Some(Mqsim), options).unwrap().remarks()
    };
    let plain = TraceOptions::default();
    assert_eq!(
        of(1, &plain),
        ["t: mean arrival 1e9/s over the first 20 requests: is the time unit 1ns? \
          (workload.trace.tick says another)"]
    );
    assert_eq!(of(1000, &plain), Vec::<String>::new());
    let seconds = TraceOptions { tick: Some(Nanos::from_ms(1000)), ..plain };
    assert_eq!(
        of(1_000_000, &seconds),
        ["t: mean arrival 1e-6/s over the first 20 requests: is the time unit 1s? \
          (workload.trace.tick says another)"]
    );
}

#[test]
fn a_unit_that_gives_more_than_any_link_carries_is_questioned() {
    // 64 KiB every `step` ticks, after a burst of requests at one time.
    let of = |step: u64, requests: u64, options: &TraceOptions| {
        let line = |n: u64| format!("{} 0 8 128 1\n", n.saturating_sub(99) * step);
        let text: String = (0..requests).map(line).collect();
        let mut t = trace(text, Some(Mqsim), options).unwrap();
        assert_eq!(t.remarks(), Vec::<String>::new(), "not from the first lines");
        drain(&mut t).unwrap();
        assert_eq!(Described::warnings(&t), t.remarks());
        t.remarks()
    };
    let plain = TraceOptions::default();
    let warnings = of(2000, 1000, &plain);
    assert_eq!(
        warnings,
        ["t: 36 GB/s over 1000 requests: is the time unit 1ns? (workload.trace.tick says another)"]
    );
    assert_eq!(of(2000, 999, &plain), Vec::<String>::new());
    assert_eq!(of(5000, 1000, &plain), Vec::<String>::new());
    let micros = TraceOptions { tick: Some(Nanos::from_us(1)), ..plain };
    assert_eq!(of(2000, 1000, &micros), Vec::<String>::new());
}

#[test]
fn broken_lines_of_the_newer_formats_are_named() {
    let fault = |text: &str, format| crate::fault(text, format);
    assert_eq!(
        fault("419,Wr,8192,16384,15\n", Alicloud),
        "t:1:5: opcode: got Wr, expected R (read) or W (write)"
    );
    assert_eq!(
        fault("0\t4.65\t0.1\t0\tWriet\t6194591\t32\r\n", Diskmon),
        "t:1:14: Request: got Wriet, expected Read (read) or Write (write) \
         (did you mean \"Write\"?)"
    );
    assert_eq!(
        fault("fio version 4 iolog\n", Fio),
        "t:1:1: first line: got fio version 4 iolog, \
         expected \"fio version 2 iolog\" or \"fio version 3 iolog\""
    );
    assert_eq!(
        fault("fio version 3 iolog\n5 /a raed 0 512\n", Fio),
        "t:2:6: action: got raed, expected one of read, write, trim, sync, datasync, syncfs, \
         sync_file_range, file_operation, wait, add, open, close (did you mean \"read\"?)"
    );
    assert_eq!(
        fault("259,2 0 5 0.000005462 4020 Z RS 282624 + 8 [java]\n", Blkparse),
        "t:1:28: Action: got Z, expected one of A, B, C, D, F, G, I, M, P, Q, R, S, T, U, UT, X, m"
    );
    assert_eq!(
        fault("259,2 0 5 0.000005462 4020 D RS 282624\n", Blkparse),
        "t:1:39: columns: got 8, expected 10 \
         (Device CPU Sequence Time PID Action RWBS Sector + Sectors)"
    );
    assert_eq!(
        fault("259,2 0 5 0.0 4020 C RS 282624 + 8 [0]\n", Blkparse),
        "t: holds no request: got no issue (D) event of a read, a write, a discard or a flush, \
         expected at least one"
    );
    assert_eq!(
        fault("0,1.5,dev,read,4096,512\n", Ssdlab),
        "t:1:7: op: got dev, expected R, W, T or F"
    );
    assert_eq!(
        fault("IO Type;Init Time (s);Size (B)\n", Wpa),
        "t:1:1: header: got IO Type;Init Time (s);Size (B), expected a column \"Min Offset\""
    );
    assert_eq!(
        fault("DiskRead, 1, p (1), 2, 0x0, 0x200, 0x0, 1, 0\n", Etw),
        "t:1:36: IOSize: got 0x0, expected at least one byte"
    );
}

#[test]
fn a_vscsi_file_cut_short_names_the_record() {
    let mut bytes = fixtures::vscsi(vscsi_1);
    bytes.truncate(bytes.len() - 20);
    let mut t = trace(bytes, None, &TraceOptions::default()).unwrap();
    let (records, lines, fault) = drain_by(&mut t, 100);
    assert_eq!((records.len(), lines[1]), (3, Some(2)));
    assert_eq!(fault.unwrap().to_string(), "t:6: record 6 is cut short: got 12 bytes, expected 32");
}

#[test]
fn a_vscsi_record_of_another_version_is_refused() {
    let mut bytes = fixtures::vscsi(vscsi_1);
    bytes[3 * 32 + 15] = 9;
    let mut t = trace(bytes, None, &TraceOptions::default()).unwrap();
    let fault = drain_by(&mut t, 100).2.unwrap().to_string();
    assert_eq!(
        fault,
        "t:4: record: version: got 0x0900, expected 0x0100, as in all records of version 1"
    );
}
