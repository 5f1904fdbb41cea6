//! The names of keys and choices from before the first release. The config refuses an old name and
//! states the new one.

/// Old and new names: those of the drive, then those of the schemes.
pub const RENAMED: [&[(&str, &str)]; 2] = [OF_THE_DRIVE, ssdlab_schemes::RENAMED];

/// Keys are paths, choices are `path=name`. The tables above an old key have their new names. A key
/// that moved to another choice has its whole old path, and its whole new one.
const OF_THE_DRIVE: &[(&str, &str)] = &[
    ("order", "scheduler"),
    ("place", "placement"),
    ("program", "program_mode"),
    ("read", "read_start"),
    ("preempt", "suspend"),
    ("evict", "eviction"),
    ("tend", "background"),
    ("belief", "metadata"),
    ("scheduler=priority", "strict_priority"),
    ("scheduler.fifo.hol", "head_of_line"),
    ("scheduler.strict_priority.most_passes", "max_passes"),
    ("read_start=climb", "lowest_level"),
    ("read_start.climb.start", "read_start.fixed_level.level"),
    ("read_start=worst", "highest_level"),
    ("suspend=nobody", "none"),
    ("suspend=reads_interrupt", "program_erase"),
    ("suspend.program_erase.most", "max_suspends"),
    ("suspend.program_erase.least_remaining", "min_remaining"),
    ("background.static_wear", "static_wear_leveling"),
    ("background.gc.hard", "hard_threshold"),
    ("background.gc.reach", "target"),
    ("background.gc.counts", "unit"),
    ("background.gc.choices", "d"),
    ("ftl.opens", "free_block_policy"),
    ("ftl.copies", "gc_stream"),
    ("ftl.gc_stream=apart", "separate"),
    ("ftl.gc_stream=together", "shared"),
    ("start.preload", "unwritten_reads"),
    ("start.steady", "steady_state"),
    ("start.voltages", "program_mode"),
    ("start.program_mode=programmed", "policy"),
    ("start.owners=nobody", "unowned"),
    ("timing.voltages", "program_modes"),
];
