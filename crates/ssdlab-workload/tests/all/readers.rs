//! The requests in each format's hand-written lines.

use ssdlab_base::Nanos;
use ssdlab_workload::{Format, Op::*, Record, Source, TraceOptions};

use crate::fixtures::*;
use crate::{drain, fault, read, record, trace};

/// Builds records from (nanoseconds, first sector, sectors, operation).
fn records(of: &[(u64, u64, u32, ssdlab_workload::Op)]) -> Vec<Record> {
    of.iter().map(|(at, lba, sectors, op)| record(*at, *lba, *sectors, *op)).collect()
}

#[test]
fn disksim_stamps_are_milliseconds_and_the_lowest_flag_a_read() {
    let want = [(0, 18399, 40, Write), (200_986, 223, 8, Read), (74_045_956, 223, 8, Read)];
    assert_eq!(read(DISKSIM, Format::Disksim).unwrap(), records(&want));
}

#[test]
fn heimdall_stamps_are_milliseconds_and_addresses_bytes() {
    let want =
        [(0, 22_583_600, 8, Read), (125_000, 22_583_968, 16, Write), (7_500_000, 1, 1, Read)];
    assert_eq!(read(HEIMDALL, Format::Heimdall).unwrap(), records(&want));
    let want = [(0, 2, 8, Read), (250_000, 16, 1, Write), (375_000, 24, 8, Read)];
    assert_eq!(read(HEIMDALL_LOG, Format::Heimdall).unwrap(), records(&want));
}

#[test]
fn alicloud_stamps_are_microseconds_with_or_without_a_header() {
    let want = [
        (0, 17_173_304, 32, Write),
        (46_000, 115_449_856, 704, Read),
        (85_000, 685_289_968, 16, Read),
    ];
    assert_eq!(read(ALICLOUD, Format::Alicloud).unwrap(), records(&want));
    let headed = format!("device_id,opcode,offset,length,timestamp\n{ALICLOUD}");
    assert_eq!(read(&headed, Format::Alicloud).unwrap(), records(&want));
}

#[test]
fn tencent_stamps_are_seconds_and_addresses_sectors() {
    let want = [
        (0, 12_910_952, 128, Read),
        (0, 6_338_688, 8, Write),
        (1_000_000_000, 1_904_106_400, 384, Read),
    ];
    assert_eq!(read(TENCENT, Format::Tencent).unwrap(), records(&want));
    let headed = format!("Timestamp,Offset,Size,IOType,VolumeID\n{TENCENT}");
    assert_eq!(read(&headed, Format::Tencent).unwrap(), records(&want));
}

#[test]
fn systor_stamps_are_seconds_and_without_a_response_the_kind_may_be_missing() {
    let want = [(0, 20_296, 8, Read), (546_932, 20_304, 1, Write), (891_089_916, 1, 2, Read)];
    assert_eq!(read(SYSTOR, Format::Systor).unwrap(), records(&want));
}

#[test]
fn fiu_processes_may_have_spaces_in_their_names_and_hashes_may_be_several() {
    let want = [
        (0, 509_455_344, 8, Write),
        (100, 509_455_352, 16, Read),
        (1000, 8, 8, Write),
        (1090, 24, 2, Read),
    ];
    assert_eq!(read(FIU, Format::Fiu).unwrap(), records(&want));
}

#[test]
fn ssdsim_lines_may_end_in_hashes() {
    let want = [(0, 160_806_224, 8, Write), (1851, 73_397_240, 8, Read), (3440, 8, 8, Write)];
    assert_eq!(read(SSDSIM_HASHED, Format::Ssdsim).unwrap(), records(&want));
}

#[test]
fn blkparse_requests_are_issue_events_and_flushes_and_discards_have_their_own_counts() {
    let want = [
        (0, 282_624, 8, Read),
        (7_538, 0, 0, Flush),
        (9_538, 100, 16, Write),
        (10_538, 0, 0, Flush),
        (11_038, 8, 8, Write),
        (11_538, 4096, 2048, Trim),
    ];
    let mut t = trace(BLKPARSE, Some(Format::Blkparse), &TraceOptions::default()).unwrap();
    assert_eq!(drain(&mut t).unwrap(), records(&want));
    let counts = t.counts();
    assert_eq!((counts.requests, counts.trims, counts.flushes, counts.reordered), (3, 1, 2, 1));
    assert_eq!((counts.all(), t.expected()), (6, Some(6)));
}

#[test]
fn fio_logs_of_version_2_have_waits_and_of_version_3_times() {
    let want = [
        (0, 8, 16, Read),
        (150_000, 0, 1, Write),
        (150_000, 0, 0, Flush),
        (200_000, 2048, 8, Trim),
    ];
    assert_eq!(read(FIO_2, Format::Fio).unwrap(), records(&want));
    let want = [
        (0, 8, 16, Read),
        (250_000, 0, 1, Write),
        (250_000, 0, 0, Flush),
        (500_000, 2048, 8, Trim),
        (600_000, 0, 0, Flush),
    ];
    assert_eq!(read(FIO_3, Format::Fio).unwrap(), records(&want));
}

#[test]
fn vscsi_records_of_both_versions_say_the_same() {
    let want = [
        (0, 42_932_745, 1, Write),
        (13_000, 10, 8, Read),
        (20_000, 1 << 40, 2, Read),
        (30_000, 0, 0, Flush),
    ];
    for bytes in [vscsi(vscsi_1), vscsi(vscsi_2)] {
        let mut t = trace(bytes, None, &TraceOptions::default()).unwrap();
        assert_eq!(t.recognized().format, Format::Vscsi);
        assert_eq!(drain(&mut t).unwrap(), records(&want));
        assert_eq!((t.counts().requests, t.counts().flushes, t.counts().widened), (3, 1, 1));
    }
}

#[test]
fn etw_requests_were_issued_before_their_rows_were_written() {
    // The issue times are 8800 - 500, 8612 - 283 and 9000 - 100; the reader sorts them.
    let want = [(0, 1, 2, Write), (29_000, 13_075_904, 8, Read), (600_000, 0, 0, Flush)];
    let mut t = trace(ETW, None, &TraceOptions::default()).unwrap();
    assert_eq!(drain(&mut t).unwrap(), records(&want));
    assert_eq!(t.counts().reordered, 1);
    let want = [(0, 103_724_472, 8, Read), (186_000, 103_724_480, 16, Write)];
    assert_eq!(read(ETW_BARE, Format::Etw).unwrap(), records(&want));
}

#[test]
fn etw_processes_may_have_commas_in_their_names() {
    let want = read(ETW, Format::Etw).unwrap();
    for name in ["Acme, Inc. (3984)", "a, b (1), c,d ( -1)", "x,(,12,) (7)"] {
        let text = ETW.replace("xperf.exe (3984)", name).replace("System (   4)", name);
        assert_ne!(text, ETW);
        let mut t = trace(text.as_str(), None, &TraceOptions::default()).unwrap();
        assert_eq!(drain(&mut t).unwrap(), want, "{name}");
        let options = TraceOptions { device: Some("1".into()), ..Default::default() };
        let mut t = trace(text.as_str(), Some(Format::Etw), &options).unwrap();
        assert_eq!(drain(&mut t).unwrap().len(), 1, "{name}");
    }
}

#[test]
fn wpa_numbers_are_read_in_either_spelling() {
    let want = [(0, 2, 32, Read), (200, 0, 0, Flush), (1_000_000_090_700, 1, 1, Write)];
    assert_eq!(read(WPA_COMMA, Format::Wpa).unwrap(), records(&want));
    let want = [(0, 2, 32, Read), (250_000, 1, 1, Write)];
    assert_eq!(read(WPA_POINT, Format::Wpa).unwrap(), records(&want));
}

#[test]
fn times_may_be_in_scientific_notation() {
    // In seconds, rounded exactly to the nearest nanosecond, where a float would be wrong.
    let cases = [
        ("5e-05", 50_000),
        ("5E-5", 50_000),
        ("1.000000001e+0", 1_000_000_001),
        ("123456.7890123454e1", 1_234_567_890_123_454),
        ("12345678.9012345674e3", 12_345_678_901_234_567_400),
        ("1234567.9012345674e3", 1_234_567_901_234_567_400),
        ("0.00000015e+7", 1_500_000_000),
        ("4.4e-10", 0),
        ("5e-10", 1),
        ("1e-99999999999999999999", 0),
        ("0e99999999999999999999", 0),
        ("1e10", 10_000_000_000_000_000_000),
        ("1e11", u64::MAX),
        ("1e99999999999999999999", u64::MAX),
    ];
    let end =
        |time: &str| [format!("0 0 0.1 0 Write 1 1\n1 {time} 3e-5 0 Write 1 1\n"), time.into()];
    for (time, ns) in cases {
        let [diskmon, time] = end(time);
        let found = read(&diskmon, Format::Diskmon);
        match ns {
            u64::MAX => assert!(found.unwrap_err().to_string().contains("2^64 ns"), "{time}"),
            ns => assert_eq!(found.unwrap()[1].at.as_ns(), ns, "{time}"),
        }
    }
    for time in ["nan", "inf", "1e", "e5", "1e5.0", "1e--5", "-1e5", "1.e5", "0x1e5", "1e5e5"] {
        let [diskmon, _] = end(time);
        let message = format!("Time: got {time}, expected a decimal number, zero or more");
        assert!(fault(&diskmon, Format::Diskmon).contains(&message), "{time}");
    }
    let lines = [
        (Format::Spc, "0,1,512,r,0\n0,1,512,r,5e-05\n"),
        (Format::Blkparse, "8,0 0 1 0 1 D R 1 + 1 [a]\n8,0 0 2 5e-05 1 D R 1 + 1 [a]\n"),
        (Format::Ssdlab, "0,0,R,512,512\n5e1,0,R,512,512\n"),
        (
            Format::Wpa,
            "IO Type,Init Time (s),Size,Min Offset\nRead,0,512,200\nRead,5e-05,512,200\n",
        ),
    ];
    for (format, text) in lines {
        assert_eq!(read(text, format).unwrap()[1].at.as_ns(), 50_000, "{format}");
    }
    assert!(fault("1e2 0 1 1 1\n", Format::Mqsim).contains("expected a whole number"));
}

#[test]
fn wpa_units_are_those_of_its_header() {
    let row = |time: &str, size: &str| {
        format!("IO Type,Init Time{time},Size{size},Min Offset\nRead,0,4,0x400\nRead,2,0.5,0x0\n")
    };
    let at = |ns| records(&[(0, 2, 8, Read), (ns, 0, 1, Read)]);
    for (unit, ns) in [
        ("", 2_000_000_000),
        (" (s)", 2_000_000_000),
        (" (ms)", 2_000_000),
        (" (us)", 2_000),
        (" (\u{b5}s)", 2_000),
        (" (\u{3bc}s)", 2_000),
        (" (ns)", 2),
    ] {
        assert_eq!(read(&row(unit, " (KB)"), Format::Wpa).unwrap(), at(ns), "{unit}");
    }
    let wrong = |time, size| fault(&row(time, size), Format::Wpa);
    assert_eq!(
        wrong(" (min)", " (KB)"),
        "t:1:20: unit of Init Time: got min, expected s, ms, \u{b5}s, us or ns \
         (workload.trace.tick says how long a unit of this column lasts)"
    );
    assert_eq!(
        wrong(" (s)", " (pages)"),
        "t:1:29: unit of Size: got pages, expected B, KB, MB or GB"
    );
    let rounded = row(" (s)", " (MB)").replace("0.5", "0.004");
    assert_eq!(
        fault(&rounded, Format::Wpa),
        "t:3:8: Size: got 0.004, expected a whole number of bytes: export sizes in B, \
         not rounded"
    );
    let options = TraceOptions { tick: Some(Nanos::from_us(3)), ..TraceOptions::default() };
    let mut t = trace(row(" (ticks)", " (KB)"), Some(Format::Wpa), &options).unwrap();
    assert_eq!(drain(&mut t).unwrap(), at(6_000));
}

#[test]
fn diskmon_stamps_are_seconds_and_addresses_sectors() {
    let want = [(0, 6_194_591, 32, Write), (0, 6_164_511, 8, Read), (343_750_000, 0, 1, Write)];
    assert_eq!(read(DISKMON, Format::Diskmon).unwrap(), records(&want));
}

#[test]
fn hfplayer_stamps_are_microseconds_and_addresses_sectors() {
    let want = [(0, 1_170_210_688, 8, Read), (145_714, 1_170_210_800, 16, Write)];
    assert_eq!(read(HFPLAYER, Format::Hfplayer).unwrap(), records(&want));
}

#[test]
fn wiscsee_completions_are_skipped() {
    let want = [(0, 266_248, 8, Read), (200_000, 8, 16, Write), (300_000, 0, 2048, Trim)];
    assert_eq!(read(WISCSEE, Format::Wiscsee).unwrap(), records(&want));
}

#[test]
fn our_own_csv_has_trims_and_flushes() {
    let want = [(0, 8, 16, Read), (1250, 0, 1, Write), (1250, 0, 0, Flush), (2000, 2048, 8, Trim)];
    assert_eq!(read(SSDLAB, Format::Ssdlab).unwrap(), records(&want));
}

#[test]
fn a_last_line_without_an_end_counts() {
    for fixture in all().into_iter().filter(|fixture| fixture.format != Format::Vscsi) {
        let whole = std::str::from_utf8(&fixture.bytes).unwrap();
        let cut = whole.trim_end_matches(['\r', '\n']);
        let of = |text| read(text, fixture.format).unwrap();
        assert_eq!(of(cut), of(whole), "{}", fixture.format);
    }
}

#[test]
fn each_device_is_read_alone_by_the_name_that_its_format_gives_it() {
    let cases: &[(&str, Format, &str, u64)] = &[
        (DISKSIM, Format::Disksim, "1", 1),
        (HEIMDALL, Format::Heimdall, "1", 1),
        (HEIMDALL_LOG, Format::Heimdall, "0", 3),
        (ALICLOUD, Format::Alicloud, "725", 1),
        (TENCENT, Format::Tencent, "1627", 1),
        (SYSTOR, Format::Systor, "6", 2),
        (FIU, Format::Fiu, "6:1", 1),
        (SSDSIM_HASHED, Format::Ssdsim, "0", 3),
        (BLKPARSE, Format::Blkparse, "259:2", 6),
        (FIO_2, Format::Fio, "/dev/nvme0n1", 4),
        (FIO_3, Format::Fio, "/b", 2),
        (ETW, Format::Etw, "1", 1),
        (ETW_BARE, Format::Etw, "0", 2),
        (WPA_COMMA, Format::Wpa, "2", 1),
        (WPA_POINT, Format::Wpa, "1", 2),
        (DISKMON, Format::Diskmon, "1", 1),
        (HFPLAYER, Format::Hfplayer, "5", 2),
        (WISCSEE, Format::Wiscsee, "0", 3),
        (SSDLAB, Format::Ssdlab, "8:16", 2),
    ];
    for (text, format, device, count) in cases {
        let options = TraceOptions { device: Some((*device).into()), ..Default::default() };
        let mut t = trace(*text, Some(*format), &options).unwrap();
        drain(&mut t).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(t.counts().all(), *count, "{format} {device}");
    }
}
