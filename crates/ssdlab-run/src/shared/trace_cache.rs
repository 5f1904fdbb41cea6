//! Storage for parsed requests: first in memory, then in a file without a name.

use std::env;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use ssdlab_base::Nanos;
use ssdlab_base::memory::{Left, left};
use ssdlab_workload::{Op, Record};

/// The most requests kept in memory, over all traces of a comparison: 100 MB.
const IN_MEMORY: usize = 1 << 22;
/// They take at most one part in this many of the free memory. The rest is for the runs.
const PART: u64 = 8;
/// Bytes of a request in the file.
const SIZE: usize = 24;

/// Storage that all traces of a comparison share: memory, given to each trace on demand, and one
/// file.
pub(crate) struct TraceCache {
    /// Requests for which memory has room left.
    left: AtomicUsize,
    /// The file, created on demand; `None` if it cannot be created.
    file: OnceLock<Option<OnDisk>>,
    /// The folder of the file.
    folder: PathBuf,
}

/// A temporary file. The system removes it when the process ends, even after a crash.
struct OnDisk {
    file: File,
    end: AtomicU64,
    /// The largest size of the file in bytes.
    most: u64,
}

/// Location of some requests.
pub(super) enum CachedRecords {
    /// In memory.
    InMemory(Box<[Record]>),
    /// In the file: `count` requests from byte `from` on.
    OnDisk { from: u64, count: usize },
}

impl Default for TraceCache {
    fn default() -> TraceCache {
        TraceCache::new(fits(&left()), folder())
    }
}

impl TraceCache {
    pub(crate) fn new(in_memory: usize, folder: PathBuf) -> TraceCache {
        TraceCache { left: AtomicUsize::new(in_memory), file: OnceLock::new(), folder }
    }

    /// Stores these requests; `None` if there is no room for them.
    pub(super) fn put(&self, records: &[Record]) -> Option<CachedRecords> {
        let count = records.len();
        let takes = |left: usize| left.checked_sub(count);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, takes).is_ok() {
            return Some(CachedRecords::InMemory(records.into()));
        }
        let disk = self.file.get_or_init(|| OnDisk::new(&self.folder).ok()).as_ref()?;
        let bytes: Vec<u8> = records.iter().flat_map(to_bytes).collect();
        let from = disk.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let fits = from + bytes.len() as u64 <= disk.most;
        (fits && disk.file.write_all_at(&bytes, from).is_ok())
            .then_some(CachedRecords::OnDisk { from, count })
    }

    /// Appends stored requests to a batch.
    pub(super) fn get(&self, cached: &CachedRecords, batch: &mut Vec<Record>) -> io::Result<()> {
        match *cached {
            CachedRecords::InMemory(ref records) => batch.extend_from_slice(records),
            CachedRecords::OnDisk { from, count } => {
                let disk = self.file.get().and_then(Option::as_ref).expect("it was written");
                let mut bytes = vec![0; count * SIZE];
                disk.file.read_exact_at(&mut bytes, from)?;
                batch.extend(bytes.as_chunks().0.iter().map(from_bytes));
            }
        }
        Ok(())
    }
}

impl OnDisk {
    /// Creates a file in this folder. It may grow to half of the free space there.
    fn new(folder: &Path) -> io::Result<OnDisk> {
        let file = tempfile::tempfile_in(folder)?;
        let most = if is_memory(&file)? { 0 } else { free(&file)? / 2 };
        Ok(OnDisk { file, end: AtomicU64::new(0), most })
    }
}

/// Returns how many requests may be kept in memory, given the free memory.
fn fits(left: &Left) -> usize {
    let limits = [left.resident, left.reserved].into_iter().flatten();
    let least = limits.map(|limit| limit.bytes / PART / size_of::<Record>() as u64).min();
    least.map_or(IN_MEMORY, |most| IN_MEMORY.min(most as usize))
}

/// Returns `TMPDIR`, else the system's folder for large temporary files.
fn folder() -> PathBuf {
    let large = Path::new("/var/tmp");
    if env::var_os("TMPDIR").is_none() && large.is_dir() { large.into() } else { env::temp_dir() }
}

/// Returns the free bytes of the file system that holds a file.
fn free(file: &File) -> io::Result<u64> {
    let about = rustix::fs::fstatvfs(file)?;
    Ok(about.f_bavail.saturating_mul(about.f_frsize))
}

/// Returns whether a file lies in memory, on a `tmpfs`.
#[cfg(target_os = "linux")]
fn is_memory(file: &File) -> io::Result<bool> {
    const TMPFS: u64 = 0x0102_1994;
    Ok(rustix::fs::fstatfs(file)?.f_type as u64 == TMPFS)
}

#[cfg(not(target_os = "linux"))]
fn is_memory(_: &File) -> io::Result<bool> {
    Ok(false)
}

fn to_bytes(record: &Record) -> [u8; SIZE] {
    let op = match record.op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Trim => 2,
        Op::Flush => 3,
    };
    let mut bytes = [0; SIZE];
    bytes[..8].copy_from_slice(&record.at.as_ns().to_le_bytes());
    bytes[8..16].copy_from_slice(&record.lba.to_le_bytes());
    bytes[16..20].copy_from_slice(&record.sectors.to_le_bytes());
    bytes[20..23].copy_from_slice(&[op, record.queue, record.hint]);
    bytes
}

fn from_bytes(bytes: &[u8; SIZE]) -> Record {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let op = [Op::Read, Op::Write, Op::Trim, Op::Flush][usize::from(bytes[20])];
    let (at, lba, sectors) = (Nanos::from_ns(word(0)), word(8), word(16) as u32);
    Record { at, lba, sectors, op, queue: bytes[21], hint: bytes[22] }
}

#[cfg(test)]
mod tests {
    use ssdlab_base::memory::Limit;

    use super::*;

    fn some(count: u64) -> Vec<Record> {
        let ops = [Op::Read, Op::Write, Op::Trim, Op::Flush];
        let one = |n: u64| Record {
            at: Nanos::from_ns(u64::MAX - n),
            lba: n << 40,
            sectors: u32::MAX - n as u32,
            op: ops[n as usize % 4],
            queue: n as u8,
            hint: n as u8 % 4,
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn cached_records_are_read_back_from_memory_and_from_disk() {
        let folder = tempfile::tempdir_in(folder()).unwrap();
        let cache = TraceCache::new(100, folder.path().into());
        let parts = [some(60), some(41), some(40), some(0)];
        let cached: Vec<CachedRecords> =
            parts.iter().map(|part| cache.put(part).unwrap()).collect();
        let in_memory: Vec<bool> =
            cached.iter().map(|cached| matches!(cached, CachedRecords::InMemory(_))).collect();
        assert_eq!(in_memory, [true, false, true, true]);
        let mut batch = some(1);
        cached.iter().rev().for_each(|cached| cache.get(cached, &mut batch).unwrap());
        assert!(batch == [some(1), some(40), some(41), some(60)].concat());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "it has no name");
    }

    #[test]
    fn no_more_is_cached_in_memory_than_a_part_of_what_is_left() {
        let limit = |bytes| Some(Limit { bytes, of: "a control group" });
        let (resident, reserved) = (limit(48_000_000), limit(24_000_000));
        assert_eq!(fits(&Left { resident, ..Left::default() }), 250_000);
        assert_eq!(fits(&Left { resident, reserved, ..Left::default() }), 125_000);
        assert_eq!(fits(&Left::default()), IN_MEMORY);
        assert_eq!(fits(&Left { resident: limit(u64::MAX), ..Left::default() }), IN_MEMORY);
    }

    #[test]
    fn records_without_room_are_not_cached() {
        let cache = TraceCache::new(10, "/nowhere/at/all".into());
        assert!(cache.put(&some(11)).is_none() && cache.put(&some(10)).is_some());
        let disk = OnDisk { most: SIZE as u64 * 10, ..OnDisk::new(&folder()).unwrap() };
        let cache = TraceCache { file: Some(disk).into(), ..TraceCache::new(0, folder()) };
        assert!(cache.put(&some(8)).is_some() && cache.put(&some(8)).is_none());
        assert!(matches!(cache.put(&some(0)), Some(CachedRecords::InMemory(_))));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn nothing_is_written_to_files_that_lie_in_memory() {
        if let Ok(disk) = OnDisk::new(Path::new("/dev/shm")) {
            assert_eq!(disk.most, 0);
        }
    }
}
