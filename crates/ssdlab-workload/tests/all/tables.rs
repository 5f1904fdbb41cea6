//! Tests tables with a column mapping, and Parquet.

use std::path::PathBuf;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use ssdlab_base::{Fault, Nanos};
use ssdlab_workload::{Format, Op::*, Record, Source, TraceOptions, open, open_with};

use crate::{drain, drain_by, record, trace};

fn columns(mapping: &str) -> TraceOptions {
    TraceOptions { columns: Some(mapping.into()), ..TraceOptions::default() }
}

fn mapped(text: &str, mapping: &str) -> Result<Vec<Record>, Fault> {
    drain(&mut trace(text, Some(Format::Csv), &columns(mapping))?)
}

fn refused(text: &str, mapping: &str) -> String {
    mapped(text, mapping).expect_err("a fault").to_string()
}

#[test]
fn columns_are_mapped_by_number_and_by_name() {
    let want = [record(0, 8, 2, Read), record(1_500_000, 9, 1, Write)];
    let texts = [
        ("10,R,8,2\n11.5,W,9,1\n", "time:0:ms,op:1,offset:2:sectors,size:3:sectors"),
        ("a;10;x;read;4096;1024\nb;11.5;x;write;4608;512\n", "time:1:ms,op:3,offset:4,size:5"),
        ("10   0 4096 2\n11.5 1  4608 1\n", "time:0:ms,op:1:0/1,offset:2,size:3:sectors"),
        (
            "len\ttype\tt (ms)\tlba\n2\t2a\t10\t8\n1\t2B\t11.5\t9\n",
            "time:t:ms, op:TYPE:2A/2B, offset:lba:sectors, size:len:sectors",
        ),
        (
            "# c\nt,o,a,s\n10,R,\"8\",2\n\"11.5\",\"W\",9,1\n",
            "time:0:ms,op:1,offset:2:sectors,size:3:sectors",
        ),
    ];
    for (text, mapping) in texts {
        assert_eq!(mapped(text, mapping).unwrap(), want, "{mapping}");
        let unnamed = drain(&mut trace(text, None, &columns(mapping)).unwrap()).unwrap();
        assert_eq!(unnamed, want, "{mapping}");
    }
}

#[test]
fn a_mapping_without_unit_is_of_microseconds_unless_the_option_tick_says_otherwise() {
    let (text, plain) = ("1,R,0,512\n2,W,0,512\n", columns("time:0,op:1,offset:2,size:3"));
    let at =
        |options: &TraceOptions| drain(&mut trace(text, None, options).unwrap()).unwrap()[1].at;
    assert_eq!(at(&plain), Nanos::from_us(1));
    let tick = TraceOptions { tick: Some(Nanos::from_ns(40)), ..plain };
    assert_eq!(at(&tick), Nanos::from_ns(40));
    let both = TraceOptions { columns: Some("time:0:s,op:1,offset:2,size:3".into()), ..tick };
    assert_eq!(at(&both), Nanos::from_ns(40));
}

#[test]
fn one_device_of_a_mapped_table() {
    let options = TraceOptions {
        device: Some("b".into()),
        ..columns("time:0,op:1,offset:2,size:3,device:vol")
    };
    let text = "t,op,o,s,vol\n1,R,0,512,a\n2,W,512,512,b\n";
    let named =
        TraceOptions { columns: Some("time:t,op:op,offset:o,size:s,device:vol".into()), ..options };
    let mut t = trace(text, None, &named).unwrap();
    assert_eq!(drain(&mut t).unwrap(), [record(0, 1, 1, Write)]);
    assert_eq!(t.counts().other_devices, 1);
}

#[test]
fn queues_and_hints_of_a_mapped_table() {
    let text = "t,op,o,s,prio,lat\n1,R,0,512,2,3\n2,F,0,0,1,0\n3,W,100,512,255,1\n";
    let found = mapped(text, "time:t,op:op,offset:o,size:s,queue:prio,hint:lat").unwrap();
    let pairs: Vec<(u8, u8)> = found.iter().map(|record| (record.queue, record.hint)).collect();
    assert_eq!(pairs, [(2, 3), (1, 0), (255, 1)]);
    let found = mapped(text, "time:0,op:1,offset:2,size:3,hint:5").unwrap();
    assert!(found.iter().all(|record| record.queue == 0));
    let by = |queue, hint| format!("time:0,op:1,offset:2,size:3,queue:{queue},hint:{hint}");
    assert_eq!(
        refused("1,R,0,512,256,0\n", &by(4, 5)),
        "t:1:11: queue: got 256, expected a submission queue from 0 to 255"
    );
    assert_eq!(
        refused("1,R,0,512,0,9\n", &by(4, 5)),
        "t:1:13: hint: got 9, expected a latency hint: 0 (none), 1 (short), 2 (medium) or 3 (long)"
    );
    assert_eq!(
        refused("1,R,0,512,0\n", &by(4, 5)),
        "t:1:12: columns: got 5, expected at least 6, for hint"
    );
    assert_eq!(
        refused("1,R,0,512,0,0\n", "time:0,op:1,offset:2,size:3,queue:4:x"),
        "workload.trace.columns: got x, expected no unit of the queue"
    );
}

#[test]
fn queues_and_hints_of_parquet() {
    let folder = Folder::new("hints");
    let path = folder.file("t");
    let schema = OWN.replace('}', "required int64 queue; required int64 hint; }");
    let with = |queue: Vec<i64>, hint: Vec<i64>| {
        let mut columns = own(0, 2);
        // The size of the second request is not a whole number of sectors.
        columns[4] = Values::Long(vec![4096, 100]);
        columns.extend([Values::Long(queue), Values::Long(hint)]);
        write(&path, &schema, Compression::SNAPPY, vec![columns]);
    };
    let queue_and_hint = |options: &TraceOptions| {
        let records = drain(&mut open_with(&path, None, options).unwrap());
        let pairs = |all: Vec<Record>| all.iter().map(|r| (r.queue, r.hint)).collect::<Vec<_>>();
        records.map(pairs).map_err(|fault| fault.to_string())
    };
    with(vec![4, 5], vec![0, 3]);
    assert_eq!(queue_and_hint(&TraceOptions::default()).unwrap(), [(4, 0), (5, 3)]);
    let place = "time:time_us,op:op,offset:offset_bytes,size:size_bytes";
    assert_eq!(queue_and_hint(&columns(place)).unwrap(), [(0, 0), (0, 0)]);
    let swapped = columns(&format!("{place},queue:hint,hint:hint"));
    assert_eq!(queue_and_hint(&swapped).unwrap(), [(0, 0), (3, 3)]);
    with(vec![4, 5], vec![0, 4]);
    let line = queue_and_hint(&TraceOptions::default()).unwrap_err();
    assert!(line.ends_with("t:2: hint: got 4, expected from 0 to 3"), "{line}");
}

#[test]
fn a_mapping_that_is_none_is_refused() {
    let of = |mapping| refused("1,R,0,512\n", mapping);
    let key = "workload.trace.columns";
    assert_eq!(
        of("tiem:0,op:1,offset:2,size:3"),
        format!(
            "{key}: got tiem, expected one of time, op, offset, size, device, queue, hint (did you mean \"time\"?)"
        )
    );
    assert_eq!(
        of("time:0,op:1,offset:2"),
        format!(
            "{key}: got time:0,op:1,offset:2, expected also size (the form is \
             COLUMN:PLACE[:UNIT],... such as time:0:us,op:2,offset:3,size:4)"
        )
    );
    assert_eq!(of("time:0,time:1"), format!("{key}: got time:1, expected time once"));
    assert_eq!(
        of("time"),
        format!(
            "{key}: got time, expected COLUMN:PLACE[:UNIT],... such as \
             time:0:us,op:2,offset:3,size:4"
        )
    );
    assert_eq!(
        of("time:0:m,op:1,offset:2,size:3"),
        format!("{key}: got m, expected ns, us, ms or s (workload.trace.tick takes any other)")
    );
    assert_eq!(
        of("time:0,op:1,offset:2:sector,size:3"),
        format!("{key}: got sector, expected bytes or sectors (did you mean \"sectors\"?)")
    );
    assert_eq!(
        of("time:0,op:1:R,offset:2,size:3"),
        format!("{key}: got R, expected how reads and writes are spelled, such as 0/1")
    );
    assert_eq!(
        of("time:0,op:1,offset:2,size:3,device:4:x"),
        format!("{key}: got x, expected no unit of the device")
    );
}

#[test]
fn a_mapping_is_needed_by_csv_and_refused_by_formats_with_columns_of_their_own() {
    let fault = trace("1,R,0,512\n", Some(Format::Csv), &TraceOptions::default()).err().unwrap();
    assert_eq!(
        fault.to_string(),
        "t: read as csv without workload.trace.columns: expected a column mapping \
         (for example time:0:us,op:2,offset:3,size:4)"
    );
    let mapping = columns("time:0,op:1,offset:2,size:3");
    let fault = trace("1,R,0,512\n", Some(Format::Msr), &mapping).err().unwrap();
    assert_eq!(
        fault.to_string(),
        "workload.trace.columns: got time:0,op:1,offset:2,size:3, \
         expected none beside a trace read as msr (read the trace as FILE:csv to use it)"
    );
}

#[test]
fn broken_lines_of_a_mapped_table() {
    let plain = "time:0,op:1,offset:2,size:3";
    assert_eq!(
        refused("1,R,0,512\n2,W,0\n", plain),
        "t:2:6: columns: got 3, expected at least 4, for size"
    );
    assert_eq!(
        refused("1,0,0,512\n", plain),
        "t:1:3: op: got 0, expected R, W, T or F (op:PLACE:0/1 says that 0 is a read and 1 a write)"
    );
    assert_eq!(
        refused("1,2,0,512\n", "time:0,op:1:0/1,offset:2,size:3"),
        "t:1:3: op: got 2, expected 0 (read) or 1 (write)"
    );
    assert_eq!(
        refused("t,o,a,s\n1,R,0,512\n", "time:t,op:o,offset:lba,size:s"),
        "t:1:1: header: got t,o,a,s, expected a column \"lba\""
    );
    assert_eq!(
        refused("1,R,99999999999999999,1\n", "time:0,op:1,offset:2:sectors,size:3:sectors"),
        "t:1:5: offset: got 99999999999999999, expected less than 2^64 bytes"
    );
}

/// A temporary folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("ssdlab-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The values of a column, with their definition levels if rows may lack a value.
enum Values {
    Long(Vec<i64>),
    Real(Vec<f64>),
    Text(Vec<&'static str>, Option<Vec<i16>>),
}

/// Writes a Parquet file with these row groups.
fn write(path: &PathBuf, schema: &str, compression: Compression, groups: Vec<Vec<Values>>) {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    for columns in groups {
        let mut group = writer.next_row_group().unwrap();
        for values in columns {
            let mut column = group.next_column().unwrap().unwrap();
            match (column.untyped(), values) {
                (ColumnWriter::Int64ColumnWriter(to), Values::Long(from)) => {
                    to.write_batch(&from, None, None).unwrap();
                }
                (ColumnWriter::DoubleColumnWriter(to), Values::Real(from)) => {
                    to.write_batch(&from, None, None).unwrap();
                }
                (ColumnWriter::ByteArrayColumnWriter(to), Values::Text(from, levels)) => {
                    let from: Vec<ByteArray> = from.into_iter().map(ByteArray::from).collect();
                    to.write_batch(&from, levels.as_deref(), None).unwrap();
                }
                _ => panic!("values of another type"),
            }
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

const OWN: &str = "message t { required double time_us; required binary dev (UTF8); \
                   required binary op (UTF8); required int64 offset_bytes; required int64 size_bytes; }";

fn own(from: i64, count: i64) -> Vec<Values> {
    let numbers = || from..from + count;
    vec![
        Values::Real(numbers().map(|n| n as f64 * 0.5).collect()),
        Values::Text(numbers().map(|n| if n % 3 == 0 { "b" } else { "a" }).collect(), None),
        Values::Text(numbers().map(|n| if n % 2 == 0 { "R" } else { "W" }).collect(), None),
        Values::Long(numbers().map(|n| n * 4096).collect()),
        Values::Long(numbers().map(|_| 4096).collect()),
    ]
}

#[test]
fn parquet_is_read_over_row_groups_and_batches() {
    let folder = Folder::new("parquet");
    let zstd = Compression::ZSTD(ZstdLevel::default());
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, zstd] {
        let path = folder.file("t.parquet");
        write(&path, OWN, compression, vec![own(0, 10_000), own(10_000, 5), own(10_005, 4_096)]);
        let mut t = open(&path, None).unwrap();
        assert_eq!(t.recognized().format, Format::Parquet);
        let (records, rows, fault) = drain_by(&mut t, 1_000);
        assert_eq!(fault, None);
        let want =
            |n: u64| record(n * 500, n * 8, 8, if n.is_multiple_of(2) { Read } else { Write });
        assert!(records.iter().copied().eq((0..14_101).map(want)));
        assert!(rows.into_iter().eq((1..=14_101).map(Some)));
        assert_eq!((t.progress(), t.expected()), (Some(1.0), Some(14_101)));
        assert_eq!(t.sha256().unwrap(), ssdlab_workload::sha256(&path).unwrap());
        let of_b = TraceOptions { device: Some("b".into()), ..TraceOptions::default() };
        let mut t = open_with(&path, Some(Format::Parquet), &of_b).unwrap();
        assert_eq!(drain(&mut t).unwrap().len(), 4_701);
    }
}

#[test]
fn parquet_columns_are_mapped_and_a_timestamp_says_its_unit() {
    let folder = Folder::new("mapped");
    let path = folder.file("t");
    let schema = "message t { required int64 when (TIMESTAMP(MILLIS,true)); \
                  optional binary vol (UTF8); required int64 kind; required int64 block; \
                  required int64 blocks; }";
    let groups = vec![vec![
        Values::Long(vec![1000, 1002]),
        Values::Text(vec!["x"], Some(vec![0, 1])),
        Values::Long(vec![0, 1]),
        Values::Long(vec![8, 9]),
        Values::Long(vec![2, 1]),
    ]];
    write(&path, schema, Compression::SNAPPY, groups);
    let mapping = "time:when,op:kind:0/1,offset:block:sectors,size:blocks:sectors,device:vol";
    let want = [record(0, 8, 2, Read), record(2_000_000, 9, 1, Write)];
    let mut t = open_with(&path, None, &columns(mapping)).unwrap();
    assert_eq!(drain(&mut t).unwrap(), want);
    let mapping = TraceOptions { device: Some("x".into()), ..columns(mapping) };
    assert_eq!(drain(&mut open_with(&path, None, &mapping).unwrap()).unwrap().len(), 1);
    let line = open(&path, None).err().unwrap().to_string();
    assert!(
        line.contains(
            "no column of the time: got when, vol, kind, block, blocks, expected one of time_us"
        ),
        "{line}"
    );
    let wrong = columns("time:when,op:kid:0/1,offset:block,size:blocks");
    let line = open_with(&path, None, &wrong).err().unwrap().to_string();
    assert!(line.contains("column of the op: got kid, expected one of when, vol,"), "{line}");
    let absent = columns("time:when,op:vol:x/y,offset:block,size:blocks");
    let line = drain(&mut open_with(&path, None, &absent).unwrap()).unwrap_err().to_string();
    assert!(line.ends_with("t:1: op: got null, expected a value"), "{line}");
}

#[test]
fn parquet_rows_that_are_wrong_are_named() {
    let folder = Folder::new("rows");
    let path = folder.file("t");
    let mut columns = own(0, 4);
    columns[4] = Values::Long(vec![512, 512, 0, -1]);
    write(&path, OWN, Compression::UNCOMPRESSED, vec![columns]);
    let (records, _, fault) = drain_by(&mut open(&path, None).unwrap(), 10);
    assert_eq!(records.len(), 2);
    let line = fault.unwrap().to_string();
    assert!(line.ends_with("t:3: size: got 0, expected at least one byte"), "{line}");
}

#[test]
fn whole_numbers_that_parquet_holds_as_real_ones_are_taken() {
    let folder = Folder::new("real");
    let path = folder.file("t");
    let mut columns = own(0, 3);
    columns[4] = Values::Real(vec![512.0, 4096.0, 4096.5]);
    let schema = OWN.replace("int64 size_bytes", "double size_bytes");
    write(&path, &schema, Compression::UNCOMPRESSED, vec![columns]);
    let (records, _, fault) = drain_by(&mut open(&path, None).unwrap(), 10);
    assert_eq!(records, [record(0, 0, 1, Read), record(500, 8, 8, Write)]);
    let line = fault.unwrap().to_string();
    let expected = "t:3: size: got 4096.5, expected a whole number, from 0 to 2^64 bytes";
    assert!(line.ends_with(expected), "{line}");
}

#[test]
fn parquet_that_cannot_be_sought_is_refused() {
    let folder = Folder::new("stream");
    let path = folder.file("t");
    write(&path, OWN, Compression::UNCOMPRESSED, vec![own(0, 10)]);
    let bytes = std::fs::read(&path).unwrap();
    let line = |stored: Vec<u8>, format| {
        trace(stored, format, &TraceOptions::default()).err().unwrap().to_string()
    };
    assert_eq!(
        line(bytes.clone(), None),
        "t: Parquet is read from its end: got a stream, expected a file on a disk"
    );
    assert_eq!(
        line(zstd::encode_all(&bytes[..], 1).unwrap(), None),
        "t: Parquet is read from its end: got a zstd stream, expected the file decompressed"
    );
    assert_eq!(
        line(b"1 0 0 8 1\n".to_vec(), Some(Format::Parquet)),
        "t: no Parquet file: expected PAR1 as its first four bytes"
    );
}

#[test]
fn a_parquet_file_that_is_damaged_is_a_fault_and_no_panic() {
    let folder = Folder::new("damaged");
    let path = folder.file("t");
    write(&path, OWN, Compression::SNAPPY, vec![own(0, 300)]);
    let bytes = std::fs::read(&path).unwrap();
    let outcome = |bytes: &[u8]| {
        let path = folder.file("u");
        std::fs::write(&path, bytes).unwrap();
        open(&path, None).and_then(|mut t| drain(&mut t)).map_err(|fault| fault.to_string())
    };
    let line = outcome(&bytes[..bytes.len() - 10]).unwrap_err();
    assert!(line.contains("the Parquet file is broken or cut short"), "{line}");
    for at in (4..bytes.len()).step_by(7) {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x55;
        if let Err(line) = outcome(&bytes) {
            assert!(!line.contains(char::is_control), "{line:?}");
        }
    }
}
