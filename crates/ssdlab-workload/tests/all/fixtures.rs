//! A few hand-written lines in each format, with its peculiarities.

use ssdlab_workload::{Format, Format::*};

/// The lines of a format, and the other formats that they fit equally well.
pub(crate) struct Fixture {
    pub(crate) format: Format,
    pub(crate) bytes: Vec<u8>,
    pub(crate) ambiguous_with: &'static [Format],
}

fn text(format: Format, text: &str) -> Fixture {
    Fixture { format, bytes: text.into(), ambiguous_with: &[] }
}

pub(crate) const DISKSIM: &str = "\
579.500020 0 18399 40 0
579.701006 1 223 8 1
653.545976 0 223 8 9
";

pub(crate) const HEIMDALL: &str = "\
0.000 0 11562803200 4096 1
0.125 0 11562991616 8192 0
7.5 1 512 512 1
";

pub(crate) const HEIMDALL_LOG: &str = "\
ts_record,latency,io_type,size,offset,ts_submit,size_after_replay
0.000,120,1,4096,1024,0.010,4096
0.250,80,0,512,8192,0.260,512
0.375,9,1,4096,12288,0.380,-1
";

pub(crate) const ALICLOUD: &str = "\
419,W,8792731648,16384,1577808144360767
725,R,59110326272,360448,1577808144360813
12,R,350868463616,8192,1577808144360852
";

pub(crate) const TENCENT: &str = "\
1538323200,12910952,128,0,1063
1538323200,6338688,8,1,1627
1538323201,1904106400,384,0,1360
";

pub(crate) const SYSTOR: &str = "\
Timestamp,Response,IOType,LUN,Offset,Size
1455592859.108910084,0.000513,R,6,10391552,4096
1455592859.109457016,,W,6,10395648,512
1455592859.200000000,,,6,10396160,4096
1455592860.000000000,0.001,R,0,512,1024
";

pub(crate) const FIU: &str = "\
89966019485410 2559 kjournald 509455344 8 W 6 0 3f4fc2833a17fd2a3dacad7c0e8ca8ad
89966019485510 2559 web content  12 509455352 16 R 6 1 3f4fc2833a17fd2a3dacad7c0e8ca8ad
89966019486410 1 X 8 8 W 6 0 3f4fc2833a17fd2a3dacad7c0e8ca8ad\x20
89966019486500 0 swapper/0 24 2 R 6 0 3f4fc2833a17fd2a3dacad7c0e8ca8ad2e568877a8c6b805f764462968f73f21
";

pub(crate) const SSDSIM_HASHED: &str = "\
0 0 160806224 8 0 3f4fc2833a17fd2a3dacad7c0e8ca8adc046a93c984f2f1142a0feb72949861
1851 0 73397240 8 1 2e568877a8c6b805f764462968f73f21
3440 0 8 8 0
";

pub(crate) const BLKPARSE: &str = "\
259,2    0        1     0.000000000  4020  Q   R 282624 + 8 [java]
259,2    0        2     0.000001581  4020  G   R 282624 + 8 [java]
259,2    0        3     0.000003650  4020  U   N [java] 1
  8,16   1        1     0.000004000  4020  m   N cfq4020S  / alloced
259,2    0        5     0.000005462  4020  D  RS 282624 + 8 [java]
259,2    0        6     0.000013000  4020  D FWS [kworker/0:1H]
259,2    0        7     0.000015000  4020  D  WS 100 + 16 [a b (c)]
259,2    0        8     0.000016000  4020  D  FN [b]
259,2    0        9     0.000017000  4020  D   D 4096 + 2048 [fstrim]
259,2    1        1     0.000016500     0  D FWFSM 8 + 8 [jbd2]
259,2    1        2     0.000018000     0  D   N 36 (12 00 00 00 24 00 ..) [udevd]
259,2    0       10     0.013163464     0  C  RS 282624 + 8 [0]
CPU0 (259,2):
 Reads Queued:           1,        4KiB\t Writes Queued:           0,        0KiB
Total (259,2):

Throughput (R/W): 1KiB/s / 0KiB/s
Events (259,2): 12 entries
Skips: 0 forward (0 -   0.0%)
";

pub(crate) const FIO_2: &str = "\
fio version 2 iolog
/dev/nvme0n1 add
/dev/nvme0n1 open
/dev/nvme0n1 read 4096 8192
/dev/nvme0n1 wait 150 0
/dev/nvme0n1 write 0 512
/dev/nvme0n1 sync 0 0
/dev/nvme0n1 wait 50 0
/dev/nvme0n1 trim 1048576 4096
/dev/nvme0n1 close
";

pub(crate) const FIO_3: &str = "\
fio version 3 iolog
0 /a add
12 /a open
1500 /a read 4096 8192
1750 /a write 0 512
1750 /a datasync 0 0
1760 /a sync_file_range 0 4096
1770 /a file_operation 0 0
fio version 3 iolog
0 /b add
2000 /b trim 1048576 4096
2100 /b syncfs 0 0
2100 /a close
";

pub(crate) const ETW: &str = "\
BeginHeader
  DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID, CPU,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
 DiskWrite,  TimeStamp,     Process Name ( PID),   ThreadID, CPU,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
 DiskFlush,  TimeStamp,     Process Name ( PID),   ThreadID, CPU,             IrpPtr,                           ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri
EndHeader
OS Version: 6.0.6001, Trace Size: 100KB, Events Lost: 0
   DiskRead,       8612,        xperf.exe (3984),      11844,   1, 0xffffe288b23f1b20, 0x018f0b8000, 0x00001000,         283,        0, 0x060043,         283,       3, Original, 0xffffe288272d0d20, \"C:\\$Mft\"
DiskReadInit,      8700,        xperf.exe (3984),      11844,   1, 0xffffe288b23f1b20
  DiskWrite,       8800,           System (   4),        104,   0, 0xffffe288b23f1b20, 0x0000000200, 0x00000400,         500,        1, 0x060043,         283,       3, Original, 0xffffe288272d0d20, \"C:\\$LogFile\"
  DiskFlush,       9000,           System (   4),        104,   0, 0xffffe288b23f1b20,           100,        0, 0x060000,         90,       3
";

pub(crate) const ETW_BARE: &str = "\
   DiskRead,      57124,           System (   4),       1404, 0xfffffa8001234560, 0x0c5d6b7000, 0x00001000,         210,        0, 0x060043,         208,  Normal, Original, 0xfffffa80, C:\\x
  DiskWrite,      57200,           System (   4),       1404, 0xfffffa8001234560, 0x0c5d6b8000, 0x00002000,         100,        0, 0x060043,         208,  Normal, Original, 0xfffffa80, C:\\x
";

pub(crate) const WPA_COMMA: &str = "\
IO Type;Priority;Process (Name);Init Time (s);Complete Time (s);IO Time (\u{b5}s);Size (B);Min Offset;Max Offset;Disk;Count\r
Read;Normal;System;1,079943800;1,080031000;87,200;16.384;0x0000000000000400;0x00000000000043FF;1;1\r
Flush;Normal;System;1,079944000;1,080031000;1.795,900;0;0xFFFFFFFFFFFFFFFF;0xFFFFFFFFFFFFFFFF;1;1\r
Write;Normal;a;1.001,080034500;1.001,1;77,200;512;0x0000000000000200;0x00000000000003FF;2;1\r
";

pub(crate) const WPA_POINT: &str = "\
Disk,IO Type,Init Time (ms),Size (B),Min Offset
1,Read,\"1,001.25\",\"16,384\",0x400
1,Write,\"1,001.50\",512,0x200
";

pub(crate) const DISKMON: &str = "\
0\t4.656875\t0.00003815\t0\tWrite\t6194591\t32\r
1\t4.656875\t0.00003815\t1\tRead\t6164511\t8\r
2\t5.000625\t0.00007629\t0\tWrite\t0\t1\r
";

pub(crate) const HFPLAYER: &str = "\
#DUMP_OFFSET.I,ELAPSED_USECS.D,ELAPSED_TICKS.I,CMD.S,INFLIGHT_IOS.I,TS.I,SEQID.I,LUN_SSID.I,OP.I,PHASE.I,LBA.I,NBLKS.I,LATENCY_TICKS.I,HOST_ID.I,HOST_LUN.I,LATENCY_USECS.D
0,0.000,0,RD_IN,0,26142233882462272,82183833,5,0,0,1170210688,8,85256,7,5,39.964
56,145.714,310856,WR_IN,0,26142233882773128,82183834,5,1,0,1170210800,16,42444,7,5,19.896
";

pub(crate) const WISCSEE: &str = "\
35181 D read 136318976 4096 0.000000000 0 False
0 C read 136318976 4096 0.000149700 0.0001454 False
35181 D write 4096 8192 0.000200000 1e-05 True
35181 D discard 0 1048576 0.000300000 1e-05 False
";

pub(crate) const SSDLAB: &str = "\
time_us,dev,op,offset_bytes,size_bytes,resp_us
0.000,hm_0,R,4096,8192,12.5
1.250,hm_0,W,0,512,
1.250,8:16,F,0,0,3
2,8:16,T,1048576,4096,1
";

/// Returns a record of version 1: length in bytes, command, block, microseconds.
pub(crate) fn vscsi_1(length: u32, command: u16, block: u64, us: u64) -> Vec<u8> {
    let mut record = Vec::new();
    record.extend(0x8000_00f4u32.to_le_bytes());
    record.extend(length.to_le_bytes());
    record.extend(1u32.to_le_bytes());
    record.extend(command.to_le_bytes());
    record.extend(0x0100u16.to_le_bytes());
    record.extend(block.to_le_bytes());
    record.extend(us.to_le_bytes());
    record
}

/// Returns a record of version 2.
pub(crate) fn vscsi_2(length: u32, command: u16, block: u64, us: u64) -> Vec<u8> {
    let mut record = Vec::new();
    record.extend(command.to_le_bytes());
    record.extend(0x0200u16.to_le_bytes());
    record.extend(7u32.to_le_bytes());
    record.extend(length.to_le_bytes());
    record.extend(1u32.to_le_bytes());
    record.extend(block.to_le_bytes());
    record.extend(us.to_le_bytes());
    record.extend(55u64.to_le_bytes());
    record
}

/// Returns records of a write, a read, an unused command, a read of no bytes and a flush.
pub(crate) fn vscsi(record: fn(u32, u16, u64, u64) -> Vec<u8>) -> Vec<u8> {
    let records = [
        record(512, 0x2a, 42_932_745, 1_000_000_000),
        record(4096, 0x28, 10, 1_000_000_013),
        record(36, 0x12, 0, 1_000_000_014),
        record(0, 0x88, 0, 1_000_000_014),
        record(700, 0x88, 1 << 40, 1_000_000_020),
        record(0, 0x35, 0, 1_000_000_030),
    ];
    records.concat()
}

/// Returns all fixtures that a stream can hold.
pub(crate) fn all() -> Vec<Fixture> {
    let five = "48513000 0 1302 16 1\n48600000\t3  7 1 0 \n";
    let mut fixtures = vec![
        text(Msr, crate::formats::MSR),
        text(Spc, "0,20941264,8192,W,0.551706\n1,20939840,8192,w,0.554041,spare,2\n"),
        text(Spc, "303567,3584,w,0\n55590,3072,r,0.5\n"),
        Fixture { format: Mqsim, bytes: five.into(), ambiguous_with: &[Ssdsim, Disksim] },
        text(Ssdsim, SSDSIM_HASHED),
        text(Disksim, DISKSIM),
        Fixture { ambiguous_with: &[Disksim], ..text(Heimdall, HEIMDALL) },
        text(Heimdall, HEIMDALL_LOG),
        text(Alicloud, ALICLOUD),
        text(Tencent, TENCENT),
        text(Systor, SYSTOR),
        text(Fiu, FIU),
        text(Blkparse, BLKPARSE),
        text(Fio, FIO_2),
        text(Fio, FIO_3),
        text(Etw, ETW),
        text(Etw, ETW_BARE),
        text(Wpa, WPA_COMMA),
        text(Wpa, WPA_POINT),
        text(Diskmon, DISKMON),
        text(Hfplayer, HFPLAYER),
        text(Wiscsee, WISCSEE),
        text(Ssdlab, SSDLAB),
    ];
    for record in [vscsi_1, vscsi_2] {
        fixtures.push(Fixture { format: Vscsi, bytes: vscsi(record), ambiguous_with: &[] });
    }
    fixtures
}
