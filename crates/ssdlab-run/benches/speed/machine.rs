//! Figures of the system on the machine and on this process; `None` or 0 where it reports none.

use std::fs::read_to_string;
use std::process::Command;
use std::time::{Duration, Instant};

/// A clock of wall time and of the processor time of all threads of this process.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    wall: Instant,
    processor: Duration,
}

impl Clock {
    /// Starts the clock.
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures the wall clock")]
    pub(crate) fn start() -> Clock {
        Clock { wall: Instant::now(), processor: processor_time() }
    }

    /// Returns the wall time since the start, and the processor time as a share of it.
    pub(crate) fn read(&self) -> (f64, f64) {
        let wall = self.wall.elapsed().as_secs_f64();
        (wall, (processor_time() - self.processor).as_secs_f64() / wall)
    }
}

/// Returns the processor time of this process.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// Returns a field of this process's status, `VmRSS` or `VmHWM`, in MB (10⁶ bytes).
pub(crate) fn memory_mb(field: &str) -> Option<f64> {
    let status = read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

/// Returns the name and the number of processors.
pub(crate) fn processor() -> String {
    let about = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = about.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {count} processors", name.unwrap_or(std::env::consts::ARCH))
}

/// Returns the name of the folder for today's results on this machine: the date, a word for the
/// processor, and the number of processors.
pub(crate) fn folder() -> String {
    let day = output_of(&["date", "+%F"]).unwrap_or_else(|| "undated".into());
    let processor = processor();
    let (name, rest) = processor.rsplit_once(", ").expect("a name and a number");
    let count = rest.split(' ').next().expect("a number");
    format!("{day}-{}-{count}c", short(name))
}

/// Returns the most specific word of a processor's name: "xeon" for "Intel(R) Xeon(R) Processor".
fn short(name: &str) -> String {
    let name = name.replace("(R)", "").replace("(TM)", "").to_lowercase();
    let tells = |word: &&str| {
        !["intel", "amd", "processor", "cpu", "gen"].contains(word)
            && word.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    name.split_whitespace().find(tells).unwrap_or(std::env::consts::ARCH).into()
}

/// Returns the measured commit; `None` outside a checkout.
pub(crate) fn commit() -> Option<String> {
    output_of(&["git", "-C", env!("CARGO_MANIFEST_DIR"), "rev-parse", "--short", "HEAD"])
}

/// Returns the output of a command; `None` if the command is missing or fails.
fn output_of(words: &[&str]) -> Option<String> {
    let output = Command::new(words[0]).args(&words[1..]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

/// Returns the mean number of runnable processes over the last minute.
pub(crate) fn load() -> Option<f64> {
    read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}
