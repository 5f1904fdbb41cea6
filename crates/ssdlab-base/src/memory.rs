//! How much memory this process can still use.

use std::fmt;
use std::fs::read_to_string;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The file names of one version of Linux control groups.
/// `mount` is the folder of the groups. `most` holds a group's limit, and `taken` the memory that
/// it uses. `dropped` names the two counters of file pages in `memory.stat`: pages used once, and
/// pages used again.
struct Groups {
    mount: &'static str,
    most: &'static str,
    taken: &'static str,
    dropped: [&'static str; 2],
}

const SECOND: Groups = Groups {
    mount: "/sys/fs/cgroup",
    most: "memory.max",
    taken: "memory.current",
    dropped: ["inactive_file", "active_file"],
};
const FIRST: Groups = Groups {
    mount: "/sys/fs/cgroup/memory",
    most: "memory.limit_in_bytes",
    taken: "memory.usage_in_bytes",
    dropped: ["total_inactive_file", "total_active_file"],
};

/// A bound on memory, and its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The bound, in bytes.
    pub bytes: u64,
    /// The cause of the bound, in words.
    pub of: &'static str,
}

/// The memory that this process may still take, as far as the system reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// The bound on resident memory: of the machine and of each control group above the process.
    pub resident: Option<Limit>,
    /// The bound on reserved memory, touched or not. `ulimit -v`, `ulimit -d` and a machine without
    /// overcommit set it.
    pub reserved: Option<Limit>,
    /// The bound on one table: the machine may refuse a table larger than all its memory and swap.
    pub table: Option<Limit>,
}

impl Left {
    /// Returns the bound on memory that the process reserves and then touches completely.
    pub fn least(&self) -> Option<Limit> {
        self.resident.into_iter().chain(self.reserved).min_by_key(|limit| limit.bytes)
    }
}

/// Returns the memory that this process may still take: the system's report, minus the reserved
/// bytes that are not in use yet.
pub fn left() -> Left {
    let mut left = of(|path| read_to_string(path).ok());
    if let Some(limit) = &mut left.resident {
        limit.bytes = limit.bytes.saturating_sub(RESERVED.load(Ordering::Relaxed));
    }
    left
}

/// Bytes that are reserved and not in use yet.
static RESERVED: AtomicU64 = AtomicU64::new(0);

/// Memory that a library is going to use. It counts as taken from the start.
/// [`use_up`](Reserved::use_up) removes the bytes in use, which the system counts itself.
#[derive(Debug)]
pub struct Reserved(u64);

impl Reserved {
    /// Reserves `bytes` bytes.
    ///
    /// # Errors
    /// Fails if less memory is left.
    pub fn new(bytes: u64) -> Result<Reserved, Lacking> {
        if let Some(left) = left().least()
            && left.bytes < bytes
        {
            return Err(Lacking { need: bytes, left });
        }
        RESERVED.fetch_add(bytes, Ordering::Relaxed);
        Ok(Reserved(bytes))
    }

    /// Counts `bytes` more of the reserved bytes as in use.
    pub fn use_up(&mut self, bytes: u64) {
        let used = bytes.min(self.0);
        if used > 0 {
            self.0 -= used;
            RESERVED.fetch_sub(used, Ordering::Relaxed);
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.use_up(u64::MAX);
    }
}

/// Watches memory that grows by an unknown amount: checks now and then that some memory is left.
#[derive(Debug)]
pub struct Growing {
    /// Bytes of growth until the next check.
    rest: u64,
}

impl Growing {
    /// The least growth between two checks, in bytes.
    const STEP: u64 = 1 << 20;
    /// The divisor of the memory left: 1/16 of it may grow before the next check, because several
    /// structures may grow at once.
    const PART: u64 = 16;
    /// The memory that must be left at a check, in bytes.
    const MIN_LEFT: u64 = 8 << 20;

    /// Returns a watch with no growth so far.
    pub const fn new() -> Growing {
        Growing { rest: Growing::STEP }
    }

    /// Counts at most `bytes` bytes of growth.
    ///
    /// # Errors
    /// Fails if less than `MIN_LEFT` is left.
    #[inline]
    pub fn by(&mut self, bytes: u64) -> Result<(), Lacking> {
        if bytes < self.rest {
            self.rest -= bytes;
            return Ok(());
        }
        self.check()
    }

    /// Checks the memory left. Each check reads several files, so checks are rare while much memory
    /// is left.
    #[cold]
    fn check(&mut self) -> Result<(), Lacking> {
        let Some(left) = left().resident else {
            self.rest = u64::MAX;
            return Ok(());
        };
        self.rest = (left.bytes / Growing::PART).max(Growing::STEP);
        if left.bytes < Growing::MIN_LEFT {
            return Err(Lacking { need: Growing::MIN_LEFT, left });
        }
        Ok(())
    }
}

impl Default for Growing {
    fn default() -> Growing {
        Growing::new()
    }
}

/// The error that less memory is left than is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lacking {
    /// The least number of bytes that is needed.
    pub need: u64,
    /// The memory that is left.
    pub left: Limit,
}

impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lacking { need, left: Limit { bytes, of } } = self;
        let (need, left) = (rounded(*need), rounded(*bytes));
        // Two equal numbers would contradict the message.
        let left = if need == left { format!("fewer than {left}") } else { left };
        write!(f, "at least {need} are needed, and {left} are left ({of})")
    }
}

impl std::error::Error for Lacking {}

/// Returns the value of the entry `name`, which is in kibibytes, as bytes.
fn kibibytes(about: &str, name: &str) -> Option<u64> {
    let rest = about.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    rest.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1 << 10)
}

fn of(read: impl Fn(&str) -> Option<String>) -> Left {
    let machine = read("/proc/meminfo").unwrap_or_default();
    let of_machine = kibibytes(&machine, "MemAvailable")
        .map(|bytes| Limit { bytes, of: "the machine's memory" });
    let member = read("/proc/self/cgroup").unwrap_or_default();
    let of_groups = member.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or(""), parts.next().unwrap_or("/"));
        let groups = match controllers {
            "" => Some(&SECOND),
            _ => controllers.split(',').any(|one| one == "memory").then_some(&FIRST),
        };
        // The limit of a parent group also binds the group. In a container, a group may see itself
        // as the root.
        groups.into_iter().flat_map(|groups| {
            Path::new(path).ancestors().filter_map(|path| of_group(groups, path, &read))
        })
    });
    let of_groups = of_groups.map(|bytes| Limit { bytes, of: "a control group" });
    let least = |limits: &mut dyn Iterator<Item = Limit>| limits.min_by_key(|limit| limit.bytes);
    let promises = read("/proc/sys/vm/overcommit_memory").unwrap_or_default();
    let (strict, guessing) = (promises.trim() == "2", promises.trim() == "0");
    let of_promises = strict.then(|| {
        let limit = kibibytes(&machine, "CommitLimit")?;
        let bytes = limit.saturating_sub(kibibytes(&machine, "Committed_AS")?);
        Some(Limit { bytes, of: "vm.overcommit_memory = 2" })
    });
    let all = guessing.then(|| {
        let swap = kibibytes(&machine, "SwapTotal").unwrap_or(0);
        let bytes = kibibytes(&machine, "MemTotal")? + swap;
        Some(Limit { bytes, of: "all of the machine's memory" })
    });
    let mut reserved = of_process(&read).into_iter().chain(of_promises.flatten());
    Left {
        resident: least(&mut of_machine.into_iter().chain(of_groups)),
        reserved: least(&mut reserved),
        table: all.flatten(),
    }
}

/// Returns the room that the process's own limits leave for its address space and its data.
fn of_process(read: impl Fn(&str) -> Option<String>) -> Vec<Limit> {
    let limits = read("/proc/self/limits").unwrap_or_default();
    let taken = read("/proc/self/status").unwrap_or_default();
    let limit = |name: &str, taken_as: &str, of| {
        let rest = limits.lines().find_map(|line| line.strip_prefix(name))?;
        let most = rest.split_whitespace().next()?.parse::<u64>().ok()?;
        let bytes = most.saturating_sub(kibibytes(&taken, taken_as)?);
        Some(Limit { bytes, of })
    };
    let address_space = limit("Max address space", "VmSize", "ulimit -v");
    let data = limit("Max data size", "VmData", "ulimit -d");
    address_space.into_iter().chain(data).collect()
}

/// Returns the bytes that a group may still take, or `None` if it has no limit.
fn of_group(groups: &Groups, path: &Path, read: impl Fn(&str) -> Option<String>) -> Option<u64> {
    let folder = format!("{}{}", groups.mount, path.display());
    let about = |name: &str| read(&format!("{}/{name}", folder.trim_end_matches('/')));
    let bytes = |name: &str| about(name)?.trim().parse::<u64>().ok();
    let (most, taken) = (bytes(groups.most)?, bytes(groups.taken)?);
    let about = about("memory.stat").unwrap_or_default();
    let [once, again] = groups.dropped.map(|wanted| {
        let mut lines = about.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(name, _)| *name == wanted)?.1.parse::<u64>().ok()
    });
    // About half of the pages used again belong to programs and libraries, and stay in use.
    let dropped = once.unwrap_or(0) + again.unwrap_or(0) / 2;
    Some(most.saturating_sub(taken.saturating_sub(dropped)))
}

/// Formats a number of bytes for a message, in MB or GB.
pub fn rounded(bytes: u64) -> String {
    let [mega, giga] = [1e6, 1e9].map(|unit| bytes as f64 / unit);
    if giga >= 1.0 { format!("{giga:.1} GB") } else { format!("{mega:.0} MB") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(files: &[(&str, &str)]) -> Left {
        of(|path| files.iter().find(|file| file.0 == path).map(|file| file.1.to_owned()))
    }

    fn limit(files: &[(&str, &str)]) -> Option<u64> {
        left(files).resident.map(|limit| limit.bytes)
    }

    const MACHINE: (&str, &str) = ("/proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    5 kB\n");

    #[test]
    fn what_is_available_is_the_least_of_all() {
        assert_eq!(limit(&[]), None);
        assert_eq!(limit(&[MACHINE]), Some(5 << 10));
        let second = |max: &'static str, above: &'static str| {
            limit(&[
                MACHINE,
                ("/proc/self/cgroup", "0::/a/b\n"),
                ("/sys/fs/cgroup/a/b/memory.max", max),
                ("/sys/fs/cgroup/a/b/memory.current", "1000\n"),
                ("/sys/fs/cgroup/a/b/memory.stat", "anon 7\ninactive_file 500\nactive_file 200\n"),
                ("/sys/fs/cgroup/a/memory.max", above),
                ("/sys/fs/cgroup/a/memory.current", "1000\n"),
            ])
        };
        assert_eq!(second("max\n", "max\n"), Some(5 << 10));
        // Of 1000 bytes in use, the system can drop 600.
        assert_eq!(second("3000\n", "max\n"), Some(2600));
        assert_eq!(second("3000\n", "1900\n"), Some(900));
    }

    #[test]
    fn groups_of_the_first_version_and_those_that_see_themselves_at_the_top_are_seen() {
        let at = |folder: &str| {
            let file = |name: &str| format!("/sys/fs/cgroup/memory{folder}/memory.{name}");
            limit(&[
                MACHINE,
                ("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/job/7\n0::/x\n"),
                (&file("limit_in_bytes"), "3000\n"),
                (&file("usage_in_bytes"), "1000\n"),
                (&file("stat"), "inactive_file 9\ntotal_inactive_file 80\ntotal_active_file 40\n"),
            ])
        };
        assert_eq!(at("/job/7"), Some(2100));
        assert_eq!(at(""), Some(2100));
        assert_eq!(at("/other"), Some(5 << 10));
        let top = ("/sys/fs/cgroup/memory.max", "3000");
        let files = [("/proc/self/cgroup", "0::/\n"), top, ("/sys/fs/cgroup/memory.current", "1")];
        assert_eq!(limit(&files), Some(2999));
    }

    const STATUS: (&str, &str) = ("/proc/self/status", "VmSize:\t 3 kB\nVmData:\t 1 kB\n");
    const UNLIMITED: &str =
        "Max address space         unlimited            unlimited            bytes\n";

    #[test]
    fn what_may_be_reserved_is_what_ulimit_and_the_machine_leave() {
        assert_eq!(left(&[MACHINE]).reserved, None);
        assert_eq!(left(&[MACHINE, STATUS, ("/proc/self/limits", UNLIMITED)]).reserved, None);
        let both = "Max data size             2048                 9000                 bytes\n\
                    Max address space         8192                 unlimited            bytes\n";
        let limits = left(&[MACHINE, STATUS, ("/proc/self/limits", both)]);
        assert_eq!(limits.reserved, Some(Limit { bytes: 1024, of: "ulimit -d" }));
        let strict = left(&[
            ("/proc/meminfo", "MemTotal: 8 kB\nCommitLimit: 9 kB\nCommitted_AS: 5 kB\n"),
            ("/proc/sys/vm/overcommit_memory", "2\n"),
        ]);
        let of = "vm.overcommit_memory = 2";
        assert_eq!((strict.reserved, strict.table), (Some(Limit { bytes: 4 << 10, of }), None));
        let guessing = left(&[
            ("/proc/meminfo", "MemTotal: 8 kB\nSwapTotal: 1 kB\n"),
            ("/proc/sys/vm/overcommit_memory", "0\n"),
        ]);
        assert_eq!(guessing.table.map(|limit| limit.bytes), Some(9 << 10));
    }

    #[test]
    fn what_is_reserved_is_taken_until_it_is_in_use_or_freed() {
        let mut reserved = Reserved::new(3000).expect("three kilobytes");
        assert_eq!(RESERVED.load(Ordering::Relaxed), 3000);
        reserved.use_up(1000);
        assert_eq!(RESERVED.load(Ordering::Relaxed), 2000);
        reserved.use_up(5000);
        assert_eq!(RESERVED.load(Ordering::Relaxed), 0);
        let lacking = Reserved::new(u64::MAX / 2).expect_err("more than any machine has");
        let line = lacking.to_string();
        assert!(line.starts_with("at least ") && line.contains(" are left ("), "{line}");
        drop(Reserved::new(500).expect("half a kilobyte"));
        assert_eq!(RESERVED.load(Ordering::Relaxed), 0);
    }
}
