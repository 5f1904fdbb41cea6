//! Tests each format on a few hand-written lines, and the recognition of formats.

use ssdlab_base::Nanos;
use ssdlab_workload::{By, Format, Op::*, Source, TraceOptions};

use crate::{drain, names, read, record, trace};

pub(crate) const MSR: &str = "\
128166372003061629,usr,0,Read,7014609920,24576,41286
128166372016382155,usr,0,Write,1317441536,8192,1963
128166372026382245,usr,0,Write,2436440064,4096,1835
";

#[test]
fn msr_stamps_are_units_of_100_ns_and_addresses_bytes() {
    let want = [
        record(0, 13_700_410, 48, Read),
        record(1_332_052_600, 2_573_128, 16, Write),
        record(2_332_061_600, 4_758_672, 8, Write),
    ];
    assert_eq!(read(MSR, Format::Msr).unwrap(), want);
}

#[test]
fn header_comments_blank_lines_carriage_returns_and_a_missing_last_end_change_nothing() {
    let quirky = format!(
        "\u{feff}# from somewhere\nTimestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n\n  \n{}",
        MSR.replace("Read", "READ")
    )
    .replace('\n', "\r\n");
    for text in [quirky.as_str(), quirky.trim_end()] {
        let mut quirky = trace(text, None, &TraceOptions::default()).unwrap();
        assert_eq!(drain(&mut quirky).unwrap(), read(MSR, Format::Msr).unwrap());
        assert_eq!(quirky.counts().requests, 3);
        assert_eq!(quirky.remarks(), Vec::<String>::new());
    }
}

#[test]
fn a_request_that_begins_or_ends_within_a_sector_is_widened_outward() {
    // Offset and size in bytes; the first sector and the number of sectors; whether it was widened.
    let cases = [
        (511, 1, (0, 1), true),
        (512, 511, (1, 1), true),
        (511, 2, (0, 2), true),
        (1000, 1024, (1, 3), true),
        (512, 512, (1, 1), false),
        (0, 1024, (0, 2), false),
    ];
    for (offset, size, extent, wider) in cases {
        let text = format!("1,h,0,Read,{offset},{size},0");
        let mut t = trace(text, Some(Format::Msr), &TraceOptions::default()).unwrap();
        let got = drain(&mut t).unwrap()[0];
        assert_eq!((got.lba, got.sectors), extent, "{offset}+{size}");
        assert_eq!(t.counts().widened, u64::from(wider), "{offset}+{size}");
    }
}

#[test]
fn rebased_msr_stamps_are_read_and_remarked_on() {
    let text = "0,web,3,Read,32256,8192,112509\n7,web,3,Write,512,512,1\n";
    let mut t = trace(text, None, &TraceOptions::default()).unwrap();
    assert_eq!(drain(&mut t).unwrap()[1].at, Nanos::from_ns(700));
    assert_eq!(
        t.remarks(),
        ["t: the stamps are no Windows file times; read as units of 100 ns \
          (workload.trace.tick says otherwise, such as \"1s\" or \"1us\")"]
    );
    let seconds = TraceOptions { tick: Some(Nanos::from_ms(1000)), ..TraceOptions::default() };
    let mut t = trace(text, None, &seconds).unwrap();
    assert_eq!(drain(&mut t).unwrap()[1].at, Nanos::from_ms(7000));
    assert_eq!(t.remarks(), Vec::<String>::new());
}

#[test]
fn spc_stamps_are_seconds_sizes_bytes_and_addresses_sectors() {
    let text = "0,20941264,8192,W,0.551706\n1,20939840,8192,w,0.554041,spare,2\n0, 3, 700, r ,12\n";
    let mut t = trace(text, Some(Format::Spc), &TraceOptions::default()).unwrap();
    let want = [
        record(0, 20_941_264, 16, Write),
        record(2_335_000, 20_939_840, 16, Write),
        record(11_448_294_000, 3, 2, Read),
    ];
    assert_eq!(drain(&mut t).unwrap(), want);
    assert_eq!(t.counts().widened, 1);
}

#[test]
fn spc_without_the_asu_is_read_and_remarked_on() {
    let mut t =
        trace("303567,3584,w,0\n55590,3072,r,0.5\n", None, &TraceOptions::default()).unwrap();
    let want = [record(0, 303_567, 7, Write), record(500_000_000, 55_590, 6, Read)];
    assert_eq!(drain(&mut t).unwrap(), want);
    assert_eq!(t.recognized().format, Format::Spc);
    assert_eq!(t.remarks(), ["t: no ASU column: read as LBA,Size,Opcode,Timestamp of ASU 0"]);
}

#[test]
fn mqsim_and_ssdsim_are_five_whole_numbers_with_1_for_a_read() {
    let text = "48513000 0 1302 16 1\n48600000\t3  7 1 0 \n";
    let want = [record(0, 1302, 16, Read), record(87_000, 7, 1, Write)];
    assert_eq!(read(text, Format::Mqsim).unwrap(), want);
    assert_eq!(read(text, Format::Ssdsim).unwrap(), want);
}

#[test]
fn fractions_of_a_tick_are_rounded_to_the_nearest_nanosecond() {
    let ticks =
        |tick: u64| TraceOptions { tick: Some(Nanos::from_ns(tick)), ..TraceOptions::default() };
    let text = "0 0 0 1 1\n0.0004 0 0 1 1\n0.0005 0 0 1 1\n1.9999 0 0 1 1\n2.5 0 0 1 1\n";
    let mut t = trace(text, Some(Format::Mqsim), &ticks(1000)).unwrap();
    let at: Vec<u64> = drain(&mut t).unwrap().iter().map(|r| r.at.as_ns()).collect();
    assert_eq!(at, [0, 0, 1, 2000, 2500]);
}

#[test]
fn each_format_is_recognized_by_content() {
    let cases = [
        (MSR, Format::Msr, vec![]),
        ("0,20941264,8192,W,0.551706\n", Format::Spc, vec![]),
        ("48513000 0 1302 16 1\n", Format::Mqsim, vec![Format::Ssdsim, Format::Disksim]),
    ];
    for (text, format, ambiguous_with) in cases {
        let t = trace(text, None, &TraceOptions::default()).unwrap();
        assert_eq!((t.recognized().format, t.recognized().by), (format, By::Content));
        assert_eq!(t.recognized().ambiguous_with, ambiguous_with);
        let t = trace(text, Some(format), &TraceOptions::default()).unwrap();
        assert_eq!((t.recognized().by, t.recognized().ambiguous_with.len()), (By::Named, 0));
    }
}

#[test]
fn an_ambiguous_content_is_never_guessed_in_silence() {
    let t = trace("1 0 2 3 1", None, &TraceOptions::default()).unwrap();
    assert_eq!(
        t.remarks(),
        ["t: read as mqsim, though it could be ssdsim or disksim (FILE:format says which)"]
    );
}

#[test]
fn a_file_broken_further_down_is_still_recognized_and_its_line_named() {
    let text = format!("{MSR}128166372026382300,usr,0,Wri");
    let mut t = trace(text, None, &TraceOptions::default()).unwrap();
    assert_eq!(t.recognized().format, Format::Msr);
    let (records, _, fault) = crate::drain_by(&mut t, 1000);
    assert_eq!(records.len(), 3);
    assert_eq!(
        fault.unwrap().to_string(),
        "t:4:26: Type: got Wri, expected Read (read) or Write (write) \
         (did you mean \"Write\"?)"
    );
}

#[test]
fn one_device_is_read_where_it_is_selected() {
    let only = |device: &str| TraceOptions { device: Some(device.into()), ..Default::default() };
    let msr = "1,web,0,Read,0,512,0\n2,web,1,Read,512,512,0\n3,hm,1,Read,1024,512,0\n4,web,1,Read,1536,512,0\n";
    let mut t = trace(msr, None, &only("web_1")).unwrap();
    assert_eq!(drain(&mut t).unwrap(), [record(0, 1, 1, Read), record(200, 3, 1, Read)]);
    assert_eq!((t.counts().requests, t.counts().other_devices), (2, 2));
    let mut t = trace("1 7 0 1 1\n2 8 1 1 1\n", None, &only("8")).unwrap();
    assert_eq!(drain(&mut t).unwrap(), [record(0, 1, 1, Read)]);
    let mut t = trace("1,0,512,r,0\n12,1,512,r,1\n", None, &only("12")).unwrap();
    assert_eq!(drain(&mut t).unwrap(), [record(0, 1, 1, Read)]);
    let mut t = trace("1,512,r,0\n", None, &only("0")).unwrap();
    assert_eq!(drain(&mut t).unwrap(), [record(0, 1, 1, Read)]);
}

#[test]
fn the_line_of_each_record_is_known_past_headers_and_comments() {
    let text = format!("# a\nTimestamp,x\n{}", MSR.replace('\n', "\n# b\n"));
    let mut t = trace(text, Some(Format::Msr), &TraceOptions::default()).unwrap();
    let (_, lines, fault) = crate::drain_by(&mut t, 2);
    assert_eq!((lines, fault), (vec![Some(3), Some(5), Some(7)], None));
    let mut batch = Vec::new();
    let mut t = trace(MSR, Some(Format::Msr), &TraceOptions::default()).unwrap();
    t.fill(&mut batch, 10).unwrap();
    assert_eq!(t.fault(2, "beyond the drive").to_string(), "t:3: beyond the drive");
    assert_eq!(t.line(3), None);
}

#[test]
fn every_format_has_a_name_that_reads_back() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(*format));
        assert_eq!(format.to_string(), format.name());
        assert!(!format.columns().is_empty());
    }
    assert_eq!(
        "MQSIMM".parse::<Format>().unwrap_err().to_string(),
        format!(
            "unknown trace format: got MQSIMM, expected one of {} (did you mean \"mqsim\"?)",
            names()
        )
    );
}
