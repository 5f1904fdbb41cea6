//! One test per kind of broken input, with the exact error line.

use ssdlab_base::Nanos;
use ssdlab_workload::{Format, Format::*, TraceOptions, Unsorted};

use crate::{drain, drain_by, fault, names, trace};

#[test]
fn an_empty_file() {
    for format in [None, Some(Msr)] {
        let fault = trace("", format, &TraceOptions::default()).err().unwrap();
        assert_eq!(
            fault.to_string(),
            "t: holds no request: got an empty file, expected at least one"
        );
    }
}

#[test]
fn a_file_of_comments() {
    let unnamed = trace("# nothing\n\n", None, &TraceOptions::default()).err().unwrap();
    assert_eq!(
        unnamed.to_string(),
        "t: holds no request: got blank lines and comments only, expected at least one"
    );
}

#[test]
fn a_header_alone() {
    let text = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    assert_eq!(
        fault(text, Msr),
        "t: holds no request: got a header, blank lines or comments only, expected at least one"
    );
}

#[test]
fn too_few_columns() {
    assert_eq!(
        fault("1,h,0,Read,0,512,0\n2,h,0,Read,0,512\n", Msr),
        "t:2:17: columns: got 6, expected 7 \
         (Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime)"
    );
    assert_eq!(
        fault("1 0 0 8\n", Mqsim),
        "t:1:8: columns: got 4, expected 5 (Time Device LBA Sectors Op)"
    );
    assert_eq!(
        fault("0,1,512,r\n", Spc),
        "t:1:10: columns: got 4, expected 5 (ASU,LBA,Size,Opcode,Timestamp)"
    );
}

#[test]
fn too_many_columns() {
    assert_eq!(
        fault("1,h,0,Read,0,512,0,9,9\n", Msr),
        "t:1:20: columns: got 9, expected 7 \
         (Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime)"
    );
    assert_eq!(
        fault("1 0 0 8 1 77\n", Ssdsim),
        "t:1:11: Hash: got 77, expected a hash in hexadecimal"
    );
}

#[test]
fn a_comma_at_the_end_is_one_more_column() {
    assert_eq!(
        fault("1,h,0,Read,0,512,0,\n", Msr),
        "t:1:20: columns: got 8, expected 7 \
         (Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime)"
    );
}

#[test]
fn a_decimal_point_without_digits_on_both_sides() {
    for stamp in [".5", "5.", ".", "x.5", "5.x", "1.2.3", "5.-1", "+5"] {
        let line =
            format!("t:1:11: Timestamp: got {stamp}, expected a decimal number, zero or more");
        assert_eq!(fault(&format!("0,1,512,r,{stamp}\n"), Spc), line);
    }
}

#[test]
fn a_truncated_last_line() {
    assert_eq!(
        fault("1 0 0 8 1\n2 0 0 8 ", Mqsim),
        "t:2:9: columns: got 4, expected 5 (Time Device LBA Sectors Op)"
    );
}

#[test]
fn a_negative_number() {
    assert_eq!(
        fault("1,h,0,Read,-512,512,0\n", Msr),
        "t:1:12: Offset: got -512, expected a whole number, zero or more"
    );
    assert_eq!(
        fault("0,1,512,r,-0.5\n", Spc),
        "t:1:11: Timestamp: got -0.5, expected a decimal number, zero or more"
    );
}

#[test]
fn not_a_number() {
    assert_eq!(
        fault("0,1,512,r,NaN\n", Spc),
        "t:1:11: Timestamp: got NaN, expected a decimal number, zero or more"
    );
    assert_eq!(
        fault("0,1,512,r,inf\n", Spc),
        "t:1:11: Timestamp: got inf, expected a decimal number, zero or more"
    );
    assert_eq!(
        fault("1 x 0 8 1\n", Mqsim),
        "t:1:3: Device: got x, expected a whole number, zero or more"
    );
    assert_eq!(
        fault("1,h,0,Read,0,512,?\n", Msr),
        "t:1:18: ResponseTime: got ?, expected a number"
    );
}

#[test]
fn an_empty_column() {
    assert_eq!(
        fault("1,h,0,Read,,512,0\n", Msr),
        "t:1:12: Offset: got nothing, expected a whole number, zero or more"
    );
}

#[test]
fn a_number_beyond_64_bits() {
    assert_eq!(
        fault("1,h,0,Read,18446744073709551616,512,0\n", Msr),
        "t:1:12: Offset: got 18446744073709551616, expected a number below 2^64"
    );
    assert_eq!(
        fault("99999999999999999999 0 0 8 1\n", Mqsim),
        "t:1:1: Time: got 99999999999999999999, expected a time below 2^64 ns (584 years)"
    );
    assert_eq!(
        fault("18446744073709551615,h,0,Read,0,512,0\n", Msr),
        "t:1:1: Timestamp: got 18446744073709551615, expected a time below 2^64 ns (584 years)"
    );
    assert_eq!(
        fault("0,1,512,r,18446744073.8\n", Spc),
        "t:1:11: Timestamp: got 18446744073.8, expected a time below 2^64 ns (584 years)"
    );
}

#[test]
fn an_end_beyond_64_bits() {
    assert_eq!(
        fault("1,h,0,Read,18446744073709551615,512,0\n", Msr),
        "t:1:12: Offset: got 18446744073709551615, expected an end below 2^64 bytes"
    );
    assert_eq!(
        fault("1 0 36028797018963968 1 1\n", Mqsim),
        "t:1:5: LBA: got 36028797018963968, expected an end below 2^55 sectors"
    );
}

#[test]
fn a_size_beyond_32_bits_of_sectors() {
    assert_eq!(
        fault("1 0 0 4294967296 1\n", Mqsim),
        "t:1:7: Sectors: got 4294967296, expected less than 2 TiB (2^32 sectors)"
    );
}

#[test]
fn a_size_of_nothing() {
    assert_eq!(fault("1,h,0,Read,0,0,0\n", Msr), "t:1:14: Size: got 0, expected at least one byte");
    assert_eq!(fault("0,1,0,r,0\n", Spc), "t:1:5: Size: got 0, expected at least one byte");
    assert_eq!(fault("1 0 0 0 1\n", Mqsim), "t:1:7: Sectors: got 0, expected at least one sector");
}

#[test]
fn a_wrong_operation() {
    assert_eq!(
        fault("1,h,0,Rewrite,0,512,0\n", Msr),
        "t:1:7: Type: got Rewrite, expected Read (read) or Write (write) \
         (did you mean \"Write\"?)"
    );
    assert_eq!(fault("0,1,512,x,0\n", Spc), "t:1:9: Opcode: got x, expected r (read) or w (write)");
    assert_eq!(fault("1 0 0 8 2\n", Mqsim), "t:1:9: Op: got 2, expected 1 (read) or 0 (write)");
}

#[test]
fn a_nul_or_other_junk() {
    assert_eq!(
        fault("1,h,0,Read,0,512,0\n2,h,0,Read,0,5\u{0}2,0\n", Msr),
        "t:2:14: Size: got 5\u{fffd}2, expected a whole number, zero or more"
    );
    assert_eq!(
        fault("1,h\u{7},0,Read,0,512,0\n", Msr),
        "t:1:3: Hostname: got h\u{fffd}, expected a name in printable ASCII"
    );
}

#[test]
fn the_column_is_counted_in_characters() {
    assert_eq!(
        fault("1,hé,0,Read,0,512,0\n", Msr),
        "t:1:3: Hostname: got hé, expected a name in printable ASCII"
    );
    assert_eq!(
        fault("0,1,512,r,0\né,1,512,é,0\n", Spc),
        "t:2:1: ASU: got é, expected a whole number, zero or more"
    );
}

#[test]
fn a_binary_file() {
    let bytes = [0x89, b'P', b'N', b'G', 0, 0xff, 0xfe];
    let fault = trace(bytes, None, &TraceOptions::default()).err().unwrap();
    assert_eq!(
        fault.to_string(),
        format!(
            "t:1: trace format not recognized: got \u{fffd}PNG\u{fffd}\u{fffd}\u{fffd}, \
         expected one of {} (FILE:format names it; workload.trace.columns maps other tables)",
            names()
        )
    );
}

#[test]
fn a_line_without_end() {
    let mut text = b"1 0 0 8 1\n".to_vec();
    text.extend(std::iter::repeat_n(b'1', 1 << 20));
    let mut t = trace(text, None, &TraceOptions::default()).unwrap();
    let (records, _, fault) = drain_by(&mut t, 10);
    assert_eq!(records.len(), 1);
    assert_eq!(
        fault.unwrap().to_string(),
        "t:2: line: got more than 65536 bytes, expected a line of text"
    );
}

#[test]
fn a_fraction_where_the_format_has_none() {
    assert_eq!(
        fault("5265.313 0 6357144 8 0\n", Mqsim),
        "t:1:1: Time: got 5265.313, expected a whole number \
         (workload.trace.tick says how long a unit of this column lasts, such as \"1s\")"
    );
}

#[test]
fn stamps_that_go_back_where_they_may_not() {
    assert_eq!(
        fault("5000 0 0 8 1\n3500 0 0 8 1\n", Mqsim),
        "t:2: time stamp: got a step back of 1500ns, expected stamps that do not go back \
         (workload.trace.unsorted={sort=1024} sorts them)"
    );
}

#[test]
fn stamps_that_go_back_further_than_the_window() {
    let options = TraceOptions { unsorted: Some(Unsorted::Sort(1)), ..Default::default() };
    let text = "5000 0 0 8 1\n6000 0 0 8 1\n7000 0 0 8 1\n4000 0 0 8 1\n";
    let fault = drain(&mut trace(text, Some(Mqsim), &options).unwrap()).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "t:4: time stamp: got a step back of 2us over more than 1 requests, \
         expected stamps out of order by at most 1 requests \
         (workload.trace.unsorted={sort=N} allows for more)"
    );
}

#[test]
fn a_device_that_is_not_there() {
    let lines = |count| -> String { (0..count).map(|n| format!("{n} {n} 0 8 1\n")).collect() };
    let only = TraceOptions { device: Some("99".into()), ..Default::default() };
    let fault =
        |text: String| drain(&mut trace(text, None, &only).unwrap()).unwrap_err().to_string();
    assert_eq!(
        fault(lines(2)),
        "t: holds no request of the device asked for: got \"99\", expected one of 0, 1"
    );
    assert_eq!(
        fault(lines(20)),
        "t: holds no request of the device asked for: got \"99\", \
         expected one of 0, 1, 2, 3, 4, 5, 6, 7, …"
    );
}

#[test]
fn options_out_of_range() {
    let zero = TraceOptions { tick: Some(Nanos::ZERO), ..Default::default() };
    let line = |options| trace("1 0 0 8 1", None, options).err().unwrap().to_string();
    assert_eq!(line(&zero), "workload.trace.tick: got 0ns, expected a time above zero");
    let wide = TraceOptions { unsorted: Some(Unsorted::Sort(0)), ..Default::default() };
    assert_eq!(
        line(&wide),
        "workload.trace.unsorted.sort: got 0, expected from 1 to 1048576 requests"
    );
}

#[test]
fn records_before_a_fault_are_delivered_and_the_fault_stays() {
    for format in [Format::Mqsim, Format::Msr] {
        let text = match format {
            Format::Mqsim => "1 0 0 8 1\n2 0 0 8 1\nx\n".to_owned(),
            _ => "1,h,0,Read,0,512,0\n2,h,0,Read,0,512,0\nx\n".to_owned(),
        };
        let mut t = trace(text, Some(format), &TraceOptions::default()).unwrap();
        let (records, _, fault) = drain_by(&mut t, 1);
        assert_eq!(records.len(), 2, "{format}");
        let again = drain_by(&mut t, 1).2;
        assert_eq!(fault, again);
        assert_eq!(fault.unwrap().line, Some(3));
    }
}

#[test]
fn files_that_cannot_be_opened() {
    let open = |path: &str| ssdlab_workload::open(path.as_ref(), None).err().unwrap().to_string();
    assert_eq!(open("no/such/file"), "no/such/file: no such file");
    assert_eq!(open("."), ".: is a folder, not a trace file");
}
