//! How much memory there is to be had.

use std::fs::read_to_string;

/// Bytes that this process may still take, as far as the system tells: what is free of the machine's memory or
/// can be freed, and of a control group's.
pub(crate) fn available() -> Option<u64> {
    of(|path| read_to_string(path).ok())
}

fn of(read: impl Fn(&str) -> Option<String>) -> Option<u64> {
    let of_machine = read("/proc/meminfo").and_then(|about| {
        let line = about.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
    });
    let bytes =
        |name: &str| read(&format!("/sys/fs/cgroup/memory.{name}"))?.trim().parse::<u64>().ok();
    let of_group = bytes("max").zip(bytes("current")).map(|(max, now)| max.saturating_sub(now));
    of_machine.into_iter().chain(of_group).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_available_is_the_lesser_of_both() {
        let machine = "MemTotal: 9 kB\nMemAvailable:    5 kB\n";
        let tell = |max: &'static str, now: &'static str| {
            of(move |path| match path {
                "/proc/meminfo" => Some(machine.into()),
                "/sys/fs/cgroup/memory.max" => Some(max.into()),
                _ => Some(now.into()),
            })
        };
        assert_eq!(tell("max\n", "100\n"), Some(5 << 10));
        assert_eq!(tell("3000\n", "1000\n"), Some(2000));
        assert_eq!(of(|_| None), None);
    }
}
