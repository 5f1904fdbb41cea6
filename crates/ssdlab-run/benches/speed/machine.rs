//! What the system tells of the machine and of this process; `None` or 0 where it tells nothing.

use std::fs::read_to_string;
use std::time::{Duration, Instant};

/// Wall time, and the processor time of all threads of this process.
#[derive(Clone, Copy)]
pub struct Clock {
    wall: Instant,
    processor: Option<Duration>,
}

impl Clock {
    /// Starts now.
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures the wall clock")]
    pub fn start() -> Clock {
        Clock { wall: Instant::now(), processor: processor_time() }
    }

    /// Wall time since the start, and the share of it in which the process was given a processor.
    pub fn read(&self) -> (f64, Option<f64>) {
        let wall = self.wall.elapsed();
        let processor = processor_time().zip(self.processor).map(|(now, then)| now - then);
        (wall.as_secs_f64(), processor.map(|time| time.as_secs_f64() / wall.as_secs_f64()))
    }
}

/// User and system time of this process, in steps of 10 ms.
fn processor_time() -> Option<Duration> {
    let stat = read_to_string("/proc/self/stat").ok()?;
    // The process's name may hold spaces; what follows it does not.
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

/// A field of this process's status in MB (10⁶ bytes): `VmRSS`, `VmHWM`.
pub fn memory_mb(field: &str) -> Option<f64> {
    let status = read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

/// The processor's name and how many there are.
pub fn processor() -> String {
    let about = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = about.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {count} processors", name.unwrap_or(std::env::consts::ARCH))
}

/// The mean number of runnable processes over the last minute.
pub fn load() -> Option<f64> {
    read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}
