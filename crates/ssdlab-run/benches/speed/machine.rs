//! What the system tells of the machine and of this process; `None` or 0 where it tells nothing.

use std::fs::read_to_string;
use std::process::Command;
use std::time::{Duration, Instant};

/// Wall time, and the processor time of all threads of this process.
#[derive(Clone, Copy)]
pub struct Clock {
    wall: Instant,
    processor: Duration,
}

impl Clock {
    /// Starts now.
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures the wall clock")]
    pub fn start() -> Clock {
        Clock { wall: Instant::now(), processor: processor_time() }
    }

    /// Wall time since the start, and the share of it in which the process was given a processor.
    pub fn read(&self) -> (f64, f64) {
        let wall = self.wall.elapsed().as_secs_f64();
        (wall, (processor_time() - self.processor).as_secs_f64() / wall)
    }
}

/// The processor time of this process.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
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

/// The name of the folder for what is measured here now: the day, a word for the processor, how
/// many there are.
pub fn folder() -> String {
    let day = output_of(&["date", "+%F"]).unwrap_or_else(|| "undated".into());
    let processor = processor();
    let (name, rest) = processor.rsplit_once(", ").expect("a name and a number");
    let count = rest.split(' ').next().expect("a number");
    format!("{day}-{}-{count}c", short(name))
}

/// The word of a processor's name that tells most: of "Intel(R) Xeon(R) Processor" it is "xeon".
fn short(name: &str) -> String {
    let name = name.replace("(R)", "").replace("(TM)", "").to_lowercase();
    let tells = |word: &&str| {
        !["intel", "amd", "processor", "cpu", "gen"].contains(word)
            && word.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    name.split_whitespace().find(tells).unwrap_or(std::env::consts::ARCH).into()
}

/// The commit that is measured; `None` outside a checkout.
pub fn commit() -> Option<String> {
    output_of(&["git", "-C", env!("CARGO_MANIFEST_DIR"), "rev-parse", "--short", "HEAD"])
}

/// What a command says, if it is there and succeeds.
fn output_of(words: &[&str]) -> Option<String> {
    let output = Command::new(words[0]).args(&words[1..]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

/// The mean number of runnable processes over the last minute.
pub fn load() -> Option<f64> {
    read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}
