//! The keys, each with what it needs beside it and a value that is not its default.

/// A drive small enough that garbage collection runs within a few thousand requests.
pub(crate) const BASE: &[&str] = &[
    "timing.read=90us",
    "timing.program=600us",
    "timing.erase=3ms",
    "flash.array=plane",
    "flash.transfer=page",
    "flash.bus_rate=819.2MB/s",
    "ftl.partial_writes=read_modify_write",
    "ftl.opens=least_erased",
    "order=fifo",
    "host.queue_depth=64",
    "geometry.page_size=4KiB",
    "tend.gc.threshold=10%",
    "geometry.channels=2",
    "geometry.chips=2",
    "geometry.dies=2",
    "geometry.planes=2",
    "geometry.blocks=32",
    "geometry.pages=32",
    "ftl.overprovisioning=0.25",
    "start.fill=0.9",
    "start.invalid=0.02",
    "workload.footprint=16MiB",
    "workload.requests=3000",
    "workload.interarrival=150us",
    "workload.sizes=[\"2KiB\",\"4KiB\",\"16KiB\"]",
];
pub(crate) const LEVELS: &[&str] = &[
    "start.age_max=90d",
    "start.pe_cycles=1000",
    "physics.levels.retention.rate=8.448e-4",
    "timing.decode=5us",
];
pub(crate) const RETRIES: &[&str] =
    &["start.age_max=90d", "start.pe_cycles=3000", "start.dwell=1d", "physics=retries"];
/// The example of chips that were measured.
macro_rules! chips {
    () => {
        concat!("physics.measured.file=", env!("CARGO_MANIFEST_DIR"), "/../../examples/chips.csv")
    };
}
pub(crate) const MEASURED: &[&str] = &["start.age_max=90d", "start.pe_cycles=3000", chips!()];
/// Writes enough that blocks are erased several times.
pub(crate) const WRITES: &[&str] =
    &["workload.requests=20000", "workload.read_share=0.1", "workload.interarrival=600us"];
pub(crate) const EMPTY: &[&str] = &["start.fill=0.1", "start.invalid=0"];
/// Blocks that differ and are sorted into classes, each programmed in its way; and more.
macro_rules! graded {
    ($($more:literal),*) => {
        &[
            "start.age_max=90d",
            "physics.levels.retention.rate=8.448e-4",
            "belief.grade=factory",
            "timing.voltages=[{name=\"normal\"},{name=\"strong\",program=\"300us\"}]",
            "program=[\"by_class\"]",
            "ftl.overprovisioning=0.4",
            $($more),*
        ]
    };
}
pub(crate) const GRADED: &[&str] = graded!();
/// Writes that wait for an order that holds them back.
pub(crate) const DLV: &[&str] = graded!("order=dlv", "workload.interarrival=60us");
/// Page types of unequal times, chosen in the relaxed order.
macro_rules! typed {
    ($link:literal) => {
        &[
            "ftl.page_order=relaxed",
            "timing.program=[\"200us\",\"900us\"]",
            concat!("place=[\"", $link, "\"]"),
        ]
    };
}
pub(crate) const BY_QUEUE: &[&str] = typed!("qds");
pub(crate) const BY_SIZE: &[&str] = typed!("sbs");
pub(crate) const BY_HINT: &[&str] = typed!("hgs");
pub(crate) const TABLES: &[&str] =
    &["start.age_max=90d", "physics.levels.retention.rate=8.448e-4", "read=sl_tables"];
pub(crate) const WORN_TABLES: &[&str] = &[
    "start.age_max=90d",
    "start.pe_cycles=1000",
    "start.pe_spread=500",
    "physics.levels.retention.rate=8.448e-4",
    "read=sl_tables",
];
pub(crate) const COLLECTED: &[&str] = &[
    "order=dlv",
    "workload.requests=20000",
    "workload.read_share=0.1",
    "workload.interarrival=600us",
];
/// Blocks of every level in measured groups, and pages that are read again and again.
pub(crate) const READ_HOT: &[&str] = &[
    "physics.levels.base={shares=[1,1,1,1,1,1,1]}",
    "belief.grade={measured={apart=0.3}}",
    "tend.read_hot=true",
    "start.fill=0.5",
    "ftl.overprovisioning=0.4",
    "workload.footprint=1MiB",
];
/// Blocks whose data have aged since they were measured, and that are erased several times.
pub(crate) const AGED_GROUPS: &[&str] = &[
    "physics.levels.base={shares=[1,1,1,1,1,1,1]}",
    "physics.levels.retention.rate=8.448e-4",
    "start.age_max=90d",
    "belief.grade=measured",
    "read=known_level",
    "ftl.overprovisioning=0.4",
    "workload.requests=20000",
    "workload.read_share=0.1",
    "workload.interarrival=600us",
];
/// Blocks of every level whose quality is known, and data laid down where that says.
pub(crate) const KNOWN: &[&str] = &[
    "physics.levels.base={shares=[1,1,1,1,1,1,1]}",
    "belief.grade={factory={shares=[0.3,0.3]}}",
    "ftl.overprovisioning=0.5",
    "place=[\"known_heat\"]",
    "start.fill=0",
    "start.invalid=0",
    "start.used=0.5",
    "start.preload=footprint",
];
/// Blocks of unlike wear, opened by the life that they are predicted to have.
pub(crate) const HEALTH: &[&str] = &[
    "physics.levels.base={shares=[1,1,1,1,1,1,1]}",
    "physics.levels.wear={}",
    "start.pe_cycles=1500",
    "start.pe_spread=1000",
    "belief.grade={measured={interval=2}}",
    "ftl.opens=healthiest",
    "ftl.overprovisioning=0.4",
    "workload.requests=20000",
    "workload.read_share=0.1",
    "workload.interarrival=600us",
];
pub(crate) const SUSPEND: &[&str] = &["preempt=reads_interrupt"];
pub(crate) const REUSE: &[&str] = &[
    "start.age_max=90d",
    "start.pe_cycles=3000",
    "start.dwell=1d",
    "physics=retries",
    "read=reuse_vref",
];
/// Reads that often fail, and whose next attempt is sensed ahead.
pub(crate) const AHEAD: &[&str] = &[
    "start.age_max=90d",
    "start.pe_cycles=3000",
    "start.dwell=1d",
    "physics=retries",
    "flash.retries=pipelined",
];
pub(crate) const ESRA: &[&str] = &["preempt=esra"];
/// Reads that often fail, of one of two queues, and moves that they wait for.
pub(crate) const PASSING: &[&str] = &[
    "start.age_max=90d",
    "start.pe_cycles=3000",
    "physics=retries",
    "host.queues=2",
    "workload.queue=1",
    "order=priority",
    "preempt=esra",
    "workload.read_share=0.7",
    "workload.interarrival=600us",
    "ftl.map_cache=true",
];
/// Blocks kept apart by priority on a drive full of old data; minutes in the cells for each second.
macro_rules! prioritised {
    ($($more:literal),*) => {
        &[
            "physics=retries",
            "start.age_max=90d",
            "start.pe_cycles=3000",
            "start.invalid=0",
            "belief.grade=subpools",
            "ftl.opens=fewest_retries",
            "place=[\"by_priority\"]",
            "ftl.overprovisioning=0.6",
            "tend.subpool_gc=true",
            "tend.gc={threshold=0,hard=0}",
            "flash.time_scale=1000",
            "workload.read_share=0.1",
            "workload.interarrival=600us",
            $($more),*
        ]
    };
}
pub(crate) const PRIORITISED: &[&str] =
    prioritised!("belief.retries=known", "tend.inversions.interval=60s", "workload.requests=20000");
/// The only round is near the end, and so what it writes is in the last checks.
pub(crate) const MONITORED: &[&str] = prioritised!(
    "belief.retries=known",
    "tend.inversions.interval=11500s",
    "tend.inversions.monitor={every=0.01}",
    "workload.requests=20000"
);
pub(crate) const POOLS_LEVELLED: &[&str] = prioritised!(
    "belief.retries=known",
    "tend.dual_pool={threshold=2,across=8}",
    "start.pe_spread=6"
);
pub(crate) const PREDICTED: &[&str] = prioritised!(
    "belief.retries={predicted={age=[0.1,1e-4,1e-5,1e-3,1e-3],initial=[20.0,30.0],growth=[40.0,0.3,1e-3],thresholds=[72.0,84.0,96.0,120.0]}}",
    "start.dwell=2d",
    "tend.inversions.interval=60s",
    "workload.requests=20000"
);
pub(crate) const MAPPED: &[&str] = &["ftl.map_cache=true"];
pub(crate) const BUFFER: &[&str] = &["buffer.size=1MiB"];
pub(crate) const CFLRU: &[&str] = &["buffer.size=1MiB", "evict=cflru"];
pub(crate) const CCF_LRU: &[&str] = &["buffer.size=1MiB", "evict=ccf_lru"];
pub(crate) const PT_LRU: &[&str] = &["buffer.size=1MiB", "evict=pt_lru"];
pub(crate) const WEARING: &[&str] = &[
    "tend.static_wear.threshold=4",
    "workload.requests=20000",
    "workload.read_share=0.1",
    "workload.interarrival=600us",
];
pub(crate) const DRAWS: &[&str] = &[
    "tend.gc.victim=d_choices",
    "workload.requests=20000",
    "workload.read_share=0.1",
    "workload.interarrival=600us",
];

/// A key, settings that it needs beside the base, a value that is not its default, and whether the
/// value changes results or is refused.
pub(crate) type Row = (&'static str, &'static [&'static str], &'static str);

pub(crate) const CHANGES: &[Row] = &[
    ("belief.grade", LEVELS, "factory"),
    ("belief.grade.factory.shares", GRADED, "[0.1,0.2]"),
    ("belief.grade.measured.apart", READ_HOT, "10%"),
    ("belief.grade.measured.interval", AGED_GROUPS, "1"),
    ("belief.grade.measured.boundaries", READ_HOT, "{levels=[2]}"),
    ("belief.grade.measured.growth", HEALTH, "2.0"),
    ("belief.grade.measured.scope", READ_HOT, "plane"),
    ("belief.grade.subpools.priorities", PRIORITISED, "2"),
    ("belief.retries", PRIORITISED, "last_seen"),
    ("belief.retries.predicted.age", PREDICTED, "[0.3,1e-4,1e-5,1e-3,1e-3]"),
    ("belief.retries.predicted.dwell_least", PREDICTED, "90d"),
    ("belief.retries.predicted.growth", PREDICTED, "[60.0,0.3,1e-3]"),
    ("belief.retries.predicted.initial", PREDICTED, "[20.0,60.0]"),
    ("belief.retries.predicted.thresholds", PREDICTED, "[90.0,96.0]"),
    ("buffer.keep_free", BUFFER, "25%"),
    ("buffer.latency", BUFFER, "9us"),
    ("buffer.reads", BUFFER, "false"),
    ("buffer.size", &[], "2MiB"),
    ("evict", BUFFER, "lru_wsr"),
    ("evict.ccf_lru.writes_are_hot", CCF_LRU, "true"),
    ("evict.cflru.window", CFLRU, "25%"),
    ("evict.pt_lru.cold_dirty", PT_LRU, "90%"),
    ("evict.pt_lru.first_write_heats", PT_LRU, "false"),
    ("evict.pt_lru.hot_dirty", PT_LRU, "leaves"),
    ("flash.array", &[], "die"),
    ("flash.bus_order", &[], "data_out_first"),
    ("flash.bus_rate", &[], "100MB/s"),
    ("flash.cache_read", &[], "true"),
    ("flash.command_time", &[], "1us"),
    ("flash.cycles_per_erase", WRITES, "7"),
    ("flash.time_scale", PRIORITISED, "500"),
    ("tend.dual_pool.across", POOLS_LEVELLED, "100"),
    ("tend.dual_pool.threshold", POOLS_LEVELLED, "5"),
    ("tend.inversions.interval", PRIORITISED, "120s"),
    ("tend.inversions.margin", PRIORITISED, "20%"),
    ("tend.inversions.monitor.every", MONITORED, "50%"),
    ("tend.inversions.monitor.limit", MONITORED, "99%"),
    ("tend.inversions.monitor.step", MONITORED, "5%"),
    ("tend.subpool_gc.threshold", PRIORITISED, "40"),
    ("flash.hold_until_decoded", LEVELS, "false"),
    ("flash.program_loops", ESRA, "1"),
    ("flash.retries", RETRIES, "pipelined"),
    ("flash.retries.pipelined.first", AHEAD, "true"),
    ("flash.retries.pipelined.reset_time", AHEAD, "50us"),
    ("flash.retries.pipelined.shorter", AHEAD, "0.25"),
    ("flash.erase_loops", ESRA, "1"),
    ("flash.resume_time", SUSPEND, "50us"),
    ("flash.suspend_time", SUSPEND, "50us"),
    ("flash.multi_plane", &["flash.array=die"], "false"),
    ("flash.transfer", &[], "sectors"),
    ("ftl.allocation", &[], "dynamic"),
    ("ftl.allocation_order", &[], "PDWC"),
    ("ftl.bad_blocks", &[], "2%"),
    ("ftl.page_order", &[], "relaxed"),
    ("ftl.copies", WRITES, "together"),
    ("ftl.opens", WRITES, "longest_free"),
    ("ftl.map_cache.entry", MAPPED, "64B"),
    ("ftl.map_cache.share", MAPPED, "100%"),
    ("ftl.map_cache.size", &["ftl.map_cache.entry=256B"], "64KiB"),
    ("ftl.overprovisioning", &[], "0.3"),
    ("ftl.partial_writes", &[], "pad"),
    ("geometry.blocks", &[], "40"),
    ("geometry.channels", &[], "4"),
    ("geometry.chips", &[], "3"),
    ("geometry.dies", &[], "4"),
    ("geometry.page_size", &[], "8KiB"),
    ("geometry.pages", &[], "64"),
    ("geometry.planes", &[], "4"),
    ("host.queue_depth", &[], "2"),
    ("host.queues", &[], "2"),
    ("order", &[], "read_first"),
    ("order.dlv.avoid_collection", COLLECTED, "false"),
    ("order.dlv.idle_at_once", DLV, "false"),
    ("order.dlv.read_deadline", DLV, "10us"),
    ("order.dlv.reads", DLV, "fifo"),
    ("order.dlv.strong", DLV, "prioritised"),
    ("order.dlv.write_deadline", DLV, "10us"),
    ("order.dlv.window", DLV, "1"),
    ("order.dlv.writes", DLV, "fifo"),
    ("order.fifo.hol", &[], "true"),
    ("place[].known_heat.among", KNOWN, "\"touched\""),
    ("place[].known_heat.by", KNOWN, "\"writes\""),
    ("place[].qds.threshold", BY_QUEUE, "0"),
    ("place[].sbs.below", BY_SIZE, "\"1MiB\""),
    ("place[].small_strong.pages", GRADED, "1"),
    ("program[].by_class.voltages", DLV, "[\"normal\"]"),
    ("physics", &[], "retries"),
    ("preempt", &[], "reads_interrupt"),
    ("preempt.esra.erase", ESRA, "false"),
    ("preempt.esra.most_aborts", ESRA, "1"),
    ("preempt.esra.most_aside", PASSING, "1"),
    ("preempt.esra.program", ESRA, "false"),
    ("preempt.esra.reads", PASSING, "false"),
    ("preempt.reads_interrupt.erase", SUSPEND, "false"),
    ("preempt.reads_interrupt.least_remaining", SUSPEND, "400us"),
    ("preempt.reads_interrupt.most", SUSPEND, "1"),
    ("preempt.reads_interrupt.program", SUSPEND, "false"),
    ("read", LEVELS, "worst"),
    ("read.climb.start", LEVELS, "3"),
    ("read.reuse_vref.layers", REUSE, "2"),
    ("read.sl_tables.pe_bins", WORN_TABLES, "[1000]"),
    ("read.sl_tables.relax_after", TABLES, "2"),
    ("start.age_max", LEVELS, "10d"),
    ("start.age_min", LEVELS, "60d"),
    ("start.fill", &[], "0.5"),
    ("start.invalid", &[], "0.05"),
    ("start.pe_cycles", &[], "100"),
    ("start.pe_spread", LEVELS, "500"),
    ("start.preload", EMPTY, "none"),
    ("start.used", &["start.fill=0", "start.invalid=0"], "0.5"),
    ("start.steady", &["start.invalid=0"], "true"),
    ("start.dwell", RETRIES, "30d"),
    ("tend.gc.choices", DRAWS, "2"),
    ("tend.gc.counts", &["tend.gc.threshold=20%"], "pages"),
    ("tend.gc.hard", &[], "20%"),
    ("tend.gc.mode", &[], "foreground"),
    ("tend.gc.reach", &["tend.gc.threshold=20%"], "10%"),
    ("tend.gc.threshold", WRITES, "5%"),
    ("tend.gc.victim", &[], "fifo"),
    ("tend.read_hot.threshold", READ_HOT, "1"),
    ("tend.static_wear.threshold", WEARING, "1"),
    ("timing.decode", &[], "10us"),
    ("timing.erase", &[], "9ms"),
    ("timing.program", &[], "[\"500us\",\"900us\"]"),
    ("timing.read", &[], "[\"50us\",\"80us\"]"),
    ("timing.wordline_buffer", &[], "false"),
    ("timing.voltages", &[], "[{name=\"normal\",transfer=\"30us\"}]"),
    ("workload.arrivals", &[], "fixed"),
    ("workload.footprint", &[], "8MiB"),
    ("workload.hints", BY_HINT, "[1, 3]"),
    ("workload.interarrival", &[], "900us"),
    ("workload.kind", &[], "sequential"),
    ("workload.kind.bursty.length", &["workload.kind=bursty"], "9"),
    ("workload.kind.bursty.pause", &["workload.kind=bursty"], "9ms"),
    ("workload.kind.hotcold.hot_access_share", &["workload.kind=hotcold"], "0.5"),
    ("workload.kind.hotcold.hot_share", &["workload.kind=hotcold"], "0.5"),
    ("workload.kind.zipf.theta", &["workload.kind=zipf"], "0.5"),
    ("workload.queue", &["host.queues=2"], "1"),
    ("workload.read_share", &[], "0.1"),
    ("workload.requests", &[], "2000"),
    ("workload.sizes", &[], "[\"4KiB\"]"),
];

/// Keys of the truth, by the name of the model under which they count.
pub(crate) const PHYSICS: &[(&str, &str)] = &[
    ("levels.base", "{shares=[0.1,0.1,0.2,0.2,0.2,0.1,0.1]}"),
    ("levels.base.gaussian.bound", "1"),
    ("levels.base.gaussian.mean", "3e-3"),
    ("levels.base.gaussian.sigma", "3e-4"),
    ("levels.capability", "[0.003,0.005,0.006,0.008,0.009,0.01,0.02]"),
    ("levels.code", "bch"),
    ("levels.code.bch.capability", "0.003"),
    ("levels.codeword", "2KiB"),
    ("levels.disturb.rate", "0.5"),
    ("levels.disturb.scale", "10.0"),
    ("levels.page_types", "[0.8,1.2]"),
    ("levels.retention.exponent", "0.7"),
    ("levels.retention.rate", "2e-3"),
    ("levels.retention.scale", "proportional"),
    ("levels.sensing", "incremental"),
    ("levels.sensing_shares", "[0.1,0.2,0.3,0.4,0.5,0.7,1.0]"),
    ("levels.temperature.activation_ev", "0.7"),
    ("levels.temperature.celsius", "45.0"),
    ("levels.temperature.reference_celsius", "45.0"),
    ("levels.transfer", "bits"),
    ("levels.wear.exponent", "0.9"),
    ("levels.wear.reference_cycles", "400.0"),
    ("measured.codeword", "2KiB"),
    ("measured.pages.centre", "0.2"),
    ("measured.pages.scatter", "0.5"),
    ("measured.pages.spread", "0.4"),
    ("measured.retries", "30"),
    ("measured.temperature.activation_ev", "0.7"),
    ("measured.temperature.celsius", "45.0"),
    ("measured.temperature.reference_celsius", "45.0"),
    ("retries.codeword", "2KiB"),
    ("retries.correctable", "60.0"),
    ("retries.disturb.errors", "80.0"),
    ("retries.disturb.scale", "50.0"),
    ("retries.disturb.worn_errors", "200.0"),
    ("retries.erase.growth", "0.9"),
    ("retries.erase.spread", "0.2"),
    ("retries.errors_per_retry", "6.0"),
    ("retries.fresh_errors", "60.0"),
    ("retries.noise", "0.2"),
    ("retries.page_types", "[0.8,1.2]"),
    ("retries.pages.centre", "0.2"),
    ("retries.pages.scatter", "0.5"),
    ("retries.pages.spread", "0.4"),
    ("retries.retention.errors", "40.0"),
    ("retries.retention.worn_errors", "40.0"),
    ("retries.retries", "5"),
    ("retries.spread.bound", "1.0"),
    ("retries.spread.die", "0.1"),
    ("retries.spread.disturb", "0.2"),
    ("retries.spread.quality", "0.3"),
    ("retries.spread.retention", "0.3"),
    ("retries.spread.wear", "0.3"),
    ("retries.temperature.activation_ev", "0.7"),
    ("retries.temperature.celsius", "45.0"),
    ("retries.temperature.reference_celsius", "45.0"),
    ("retries.wear.cycles", "1000.0"),
    ("retries.wear.dwell_relief", "0.5"),
    ("retries.wear.errors", "20.0"),
    ("retries.wear.exponent", "0.9"),
    ("retries.wear.worn_exponent", "2.0"),
];

/// Keys that need more beside them than their model before they count.
pub(crate) fn beside(key: &str) -> Vec<&'static str> {
    let warm = ["physics.levels.temperature.celsius=50.0"];
    let hot = ["physics.retries.temperature.celsius=50.0"];
    match key {
        "levels.temperature.activation_ev" => warm.to_vec(),
        "retries.temperature.activation_ev" => hot.to_vec(),
        "measured.temperature.activation_ev" => {
            vec!["physics.measured.temperature.celsius=50.0"]
        }
        "levels.disturb.rate" | "levels.disturb.scale" => {
            vec!["physics.levels.disturb.rate=0.01", "physics.levels.disturb.scale=100.0"]
        }
        "levels.wear.exponent" | "levels.wear.reference_cycles" => {
            vec!["physics.levels.wear.exponent=0.66"]
        }
        key if key.starts_with("retries.disturb") || key == "retries.spread.disturb" => {
            vec!["physics.retries.disturb.scale=100.0"]
        }
        key if key.starts_with("retries.erase") => WRITES.to_vec(),
        _ => Vec::new(),
    }
}

pub(crate) const REFUSED: &[Row] = &[
    ("ftl.map_cache.entry", &[], "0B"),
    ("ftl.map_cache.entry", &[], "1GiB"),
    ("ftl.map_cache.share", &["ftl.map_cache.size=1MiB"], "50%"),
    ("ftl.map_cache.size", &[], "1B"),
    ("ftl.map_cache.share", &[], "0%"),
    ("flash.cycles_per_erase", &[], "1001"),
    ("buffer.keep_free", &[], "10%"),
    ("buffer.latency", &[], "1us"),
    ("buffer.reads", &[], "true"),
    ("evict", &[], "cflru"),
    ("ftl.copies", &["ftl.page_order=relaxed"], "together"),
    ("flash.hold_until_decoded", &[], "true"),
    ("flash.multi_plane", &[], "false"),
    ("flash.program_loops", SUSPEND, "5"),
    ("flash.retries", &[], "pipelined"),
    ("flash.erase_loops", &[], "5"),
    ("flash.resume_time", &[], "5us"),
    ("flash.suspend_time", &[], "5us"),
    ("host.queues", &["order=priority"], "1"),
    ("preempt.esra.most_aborts", &[], "0"),
    ("preempt.esra.most_aside", ESRA, "2"),
    ("preempt.esra.reads", ESRA, "true"),
    ("read", &[], "reuse_vref"),
    ("read.reuse_vref.layers", REUSE, "33"),
    ("place", &[], "[]"),
    ("place", &["physics=levels"], "[\"known_heat\"]"),
    ("place", &[], "[\"next_page\",\"next_page\"]"),
    ("place", &["ftl.page_order=relaxed"], "[\"ubs\",\"us\"]"),
    ("program", &[], "[]"),
    ("read", &[], "worst"),
    ("read", &["physics=levels"], "known_level"),
    ("belief.grade.measured.boundaries", READ_HOT, "{levels=[2,1]}"),
    ("belief.grade.measured.boundaries", READ_HOT, "{shares=[0.6,0.6]}"),
    ("belief.grade.measured.growth", READ_HOT, "0.5"),
    ("belief.grade.subpools.priorities", PRIORITISED, "1"),
    ("belief.retries", RETRIES, "known"),
    ("belief.retries", &[], "last_seen"),
    ("ftl.opens", RETRIES, "fewest_retries"),
    ("flash.time_scale", &[], "0"),
    ("place", RETRIES, "[\"by_priority\"]"),
    ("tend.subpool_gc.threshold", RETRIES, "1"),
    ("tend.subpool_gc.threshold", PRIORITISED, "4000"),
    ("tend.inversions.margin", RETRIES, "20%"),
    ("tend.inversions.interval", PRIORITISED, "1s"),
    ("tend.inversions.monitor.step", MONITORED, "0"),
    ("tend.dual_pool.across", POOLS_LEVELLED, "2"),
    ("belief.retries.predicted.age", PREDICTED, "[0.3,1e-4,1e-5,1e-3,nan]"),
    ("belief.grade.measured.scope", HEALTH, "plane"),
    ("belief.grade.measured.growth", HEALTH, "0"),
    ("flash.cycles_per_erase", &[], "0"),
    ("ftl.opens", &["physics=levels"], "fewest_errors"),
    ("ftl.opens", &["physics=levels"], "healthiest"),
    ("tend.read_hot.threshold", &["physics=levels"], "2"),
    ("tend.read_hot.threshold", READ_HOT, "0"),
    ("read.climb.start", &[], "2"),
    ("start.age_max", &[], "90d"),
    ("start.age_max", &["physics=levels"], "90d"),
    ("physics.levels.temperature.celsius", &["physics=levels"], "45.0"),
    ("physics.measured.file", &[], "gone.csv"),
    ("physics.measured.retries", &[chips!()], "3"),
    ("physics.measured.sha256", &[chips!()], "00"),
    ("timing.erase", &[chips!()], "4ms"),
    ("start.invalid", &["start.fill=0"], "0.1"),
    ("start.steady", &["start.fill=0", "start.invalid=0"], "true"),
    ("tend.gc.choices", &[], "3"),
    ("timing.voltages", &[], "[{name=\"normal\"},{name=\"boosted\"}]"),
    ("timing.voltages[].base_factor", &[], "base_factor=1.4"),
    ("timing.voltages[].program", &[], "program=\"500us\""),
    ("timing.voltages[].sense", &[], "sense=\"50us\""),
    ("workload.trace.columns", &[], "time:0:us,op:2,offset:3,size:4"),
    ("workload.trace.device", &[], "hm_0"),
    ("workload.trace.tick", &[], "1us"),
    ("workload.trace.unsorted", &[], "refuse"),
    ("workload.queue", &[], "1"),
];

/// Keys with nothing to choose between yet, or that are a name; the cell counts through the times
/// by page type, below.
pub(crate) const ALONE: &[&str] = &["timing.voltages[].name", "geometry.cell"];

/// Keys of a voltage class that count only beside another class, and a second class is refused.
pub(crate) const OF_SECOND_CLASSES: &[&str] =
    &["timing.voltages[].step_volts", "timing.voltages[].volts"];
