//! How much memory there is to be had.

use std::fs::read_to_string;
use std::path::Path;

/// Where the control groups of a version are, and what in each says how much it may take, how much it has, and
/// how much of that is pages of files that can be dropped.
struct Groups {
    mount: &'static str,
    most: &'static str,
    taken: &'static str,
    dropped: &'static str,
}

const SECOND: Groups = Groups {
    mount: "/sys/fs/cgroup",
    most: "memory.max",
    taken: "memory.current",
    dropped: "inactive_file",
};
const FIRST: Groups = Groups {
    mount: "/sys/fs/cgroup/memory",
    most: "memory.limit_in_bytes",
    taken: "memory.usage_in_bytes",
    dropped: "total_inactive_file",
};

/// Bytes that this process may still take, as far as the system tells: what is free of the machine's memory or
/// can be freed, and of each control group that it is in.
pub(crate) fn available() -> Option<u64> {
    of(|path| read_to_string(path).ok())
}

fn of(read: impl Fn(&str) -> Option<String>) -> Option<u64> {
    let of_machine = read("/proc/meminfo").and_then(|about| {
        let line = about.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
    });
    let member = read("/proc/self/cgroup").unwrap_or_default();
    let of_groups = member.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or(""), parts.next().unwrap_or("/"));
        let groups = match controllers {
            "" => Some(&SECOND),
            _ => controllers.split(',').any(|one| one == "memory").then_some(&FIRST),
        };
        // A group may take what those above it may; some see themselves at the top.
        groups.into_iter().flat_map(|groups| {
            Path::new(path).ancestors().filter_map(|path| of_group(groups, path, &read))
        })
    });
    of_machine.into_iter().chain(of_groups).min()
}

/// What a group may still take, if it may not take what it likes.
fn of_group(groups: &Groups, path: &Path, read: impl Fn(&str) -> Option<String>) -> Option<u64> {
    let folder = format!("{}{}", groups.mount, path.display());
    let about = |name: &str| read(&format!("{}/{name}", folder.trim_end_matches('/')));
    let bytes = |name: &str| about(name)?.trim().parse::<u64>().ok();
    let (most, taken) = (bytes(groups.most)?, bytes(groups.taken)?);
    let dropped = about("memory.stat").and_then(|about| {
        let mut lines = about.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(name, _)| *name == groups.dropped)?.1.parse::<u64>().ok()
    });
    Some(most.saturating_sub(taken.saturating_sub(dropped.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(files: &[(&str, &str)]) -> Option<u64> {
        of(|path| files.iter().find(|file| file.0 == path).map(|file| file.1.to_owned()))
    }

    const MACHINE: (&str, &str) = ("/proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    5 kB\n");

    #[test]
    fn what_is_available_is_the_least_of_all() {
        assert_eq!(told(&[]), None);
        assert_eq!(told(&[MACHINE]), Some(5 << 10));
        let second = |max: &'static str, above: &'static str| {
            told(&[
                MACHINE,
                ("/proc/self/cgroup", "0::/a/b\n"),
                ("/sys/fs/cgroup/a/b/memory.max", max),
                ("/sys/fs/cgroup/a/b/memory.current", "1000\n"),
                ("/sys/fs/cgroup/a/b/memory.stat", "anon 7\ninactive_file 600\n"),
                ("/sys/fs/cgroup/a/memory.max", above),
                ("/sys/fs/cgroup/a/memory.current", "1000\n"),
            ])
        };
        assert_eq!(second("max\n", "max\n"), Some(5 << 10));
        // Of a thousand 600 can be dropped.
        assert_eq!(second("3000\n", "max\n"), Some(2600));
        assert_eq!(second("3000\n", "1900\n"), Some(900));
    }

    #[test]
    fn groups_of_the_first_version_and_those_that_see_themselves_at_the_top_are_seen() {
        let at = |folder: &str| {
            let file = |name: &str| format!("/sys/fs/cgroup/memory{folder}/memory.{name}");
            told(&[
                MACHINE,
                ("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/job/7\n0::/x\n"),
                (&file("limit_in_bytes"), "3000\n"),
                (&file("usage_in_bytes"), "1000\n"),
                (&file("stat"), "inactive_file 9\ntotal_inactive_file 100\n"),
            ])
        };
        assert_eq!(at("/job/7"), Some(2100));
        assert_eq!(at(""), Some(2100));
        assert_eq!(at("/other"), Some(5 << 10));
        let top = ("/sys/fs/cgroup/memory.max", "3000");
        let files = [("/proc/self/cgroup", "0::/\n"), top, ("/sys/fs/cgroup/memory.current", "1")];
        assert_eq!(told(&files), Some(2999));
    }
}
