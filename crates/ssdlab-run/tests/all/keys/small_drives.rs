//! Settings of small drives under which a key has an effect.

/// A drive small enough that garbage collection runs within a few thousand requests.
pub(crate) const BASE: &[&str] = &[
    "timing.read=90us",
    "timing.program=600us",
    "timing.erase=3ms",
    "flash.array=plane",
    "flash.transfer=page",
    "flash.bus_rate=819.2MB/s",
    "ftl.partial_writes=read_modify_write",
    "ftl.free_block_policy=least_erased",
    "scheduler=fifo",
    "host.queue_depth=64",
    "geometry.page_size=4KiB",
    "background.gc.threshold=10%",
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
/// The example file of measured chips.
pub(crate) const CHIPS: &str =
    concat!("physics.measured.file=", env!("CARGO_MANIFEST_DIR"), "/../../examples/chips.csv");
pub(crate) const MEASURED: &[&str] = &["start.age_max=90d", "start.pe_cycles=3000", CHIPS];
/// Writes enough that blocks are erased several times.
pub(crate) const WRITES: &[&str] =
    &["workload.requests=20000", "workload.read_share=0.1", "workload.interarrival=600us"];
pub(crate) const EMPTY: &[&str] = &["start.fill=0.1", "start.invalid=0"];
/// A tenant in the history of a start.
pub(crate) const TENANT: &[(&str, &str)] =
    &[("footprint", "\"16MiB\""), ("writes_per_day", "\"2MiB\""), ("reads_per_day", "\"20MiB\"")];
pub(crate) const TENANT_KEY: &str = "start.history.tenants[].";
/// Old data whose owner wrote and read it for a month.
macro_rules! history {
    ($($more:literal),*) => {
        &[
            "physics=retries",
            "physics.retries.disturb.scale=100.0",
            "start.age_max=90d",
            "start.pe_cycles=3000",
            "start.history={span=\"30d\",tenants=[{footprint=\"16MiB\",writes_per_day=\"2MiB\",reads_per_day=\"20MiB\"}]}",
            $($more),*
        ]
    };
}
pub(crate) const HISTORY: &[&str] = history!();
pub(crate) const HISTORY_LEVELED: &[&str] =
    history!("background.static_wear_leveling={threshold=2}", "start.pe_spread=20");
pub(crate) const HISTORY_BY_PRIORITY: &[&str] = history!(
    "host.queues=3",
    "metadata.block_class=predicted",
    "metadata.retry_estimate=oracle",
    "ftl.free_block_policy=fewest_retries",
    "placement=[\"priority\"]",
    "ftl.overprovisioning=0.6"
);
/// Blocks of different quality in classes, each with its own program mode, and further settings.
macro_rules! classed {
    ($($more:literal),*) => {
        &[
            "start.age_max=90d",
            "physics.levels.retention.rate=8.448e-4",
            "metadata.block_class=factory",
            "timing.program_modes=[{name=\"normal\"},{name=\"strong\",program=\"300us\"}]",
            "program_mode=[\"per_class\"]",
            "ftl.overprovisioning=0.4",
            $($more),*
        ]
    };
}
pub(crate) const CLASSED: &[&str] = classed!();
/// Writes that wait for a scheduler that holds them back.
pub(crate) const DLV: &[&str] = classed!("scheduler=dlv", "workload.interarrival=60us");
/// Page types with unequal times, in relaxed page order.
macro_rules! typed {
    ($link:literal) => {
        &[
            "ftl.page_order=relaxed",
            "timing.program=[\"200us\",\"900us\"]",
            concat!("placement=[\"", $link, "\"]"),
        ]
    };
}
pub(crate) const BY_QUEUE: &[&str] = typed!("qds");
pub(crate) const BY_SIZE: &[&str] = typed!("sbs");
pub(crate) const BY_HINT: &[&str] = typed!("hgs");
pub(crate) const TABLES: &[&str] =
    &["start.age_max=90d", "physics.levels.retention.rate=8.448e-4", "read_start=sl_table"];
pub(crate) const WORN_TABLES: &[&str] = &[
    "start.age_max=90d",
    "start.pe_cycles=1000",
    "start.pe_spread=500",
    "physics.levels.retention.rate=8.448e-4",
    "read_start=sl_table",
];
pub(crate) const COLLECTED: &[&str] = &[
    "scheduler=dlv",
    "workload.requests=20000",
    "workload.read_share=0.1",
    "workload.interarrival=600us",
];
/// Blocks of every level in measured groups, and pages that are read repeatedly.
pub(crate) const READ_HOT: &[&str] = &[
    "physics.levels.base={shares=[1,1,1,1,1,1,1]}",
    "metadata.block_class={measured={read_hot_share=0.3}}",
    "background.read_hot_migration=true",
    "start.fill=0.5",
    "ftl.overprovisioning=0.4",
    "workload.footprint=1MiB",
];
/// Blocks whose data has aged since the measurement, and that are erased several times.
pub(crate) const AGED_GROUPS: &[&str] = &[
    "physics.levels.base={shares=[1,1,1,1,1,1,1]}",
    "physics.levels.retention.rate=8.448e-4",
    "start.age_max=90d",
    "metadata.block_class=measured",
    "read_start=measured_level",
    "ftl.overprovisioning=0.4",
    "workload.requests=20000",
    "workload.read_share=0.1",
    "workload.interarrival=600us",
];
/// Blocks of every level with known quality. Data is placed accordingly.
pub(crate) const KNOWN: &[&str] = &[
    "physics.levels.base={shares=[1,1,1,1,1,1,1]}",
    "metadata.block_class={factory={shares=[0.3,0.3]}}",
    "ftl.overprovisioning=0.5",
    "placement=[\"oracle_hotness\"]",
    "start.fill=0",
    "start.invalid=0",
    "start.used=0.5",
    "start.unwritten_reads=footprint",
];
/// Blocks of unequal wear, opened in the order of their predicted life.
pub(crate) const HEALTH: &[&str] = &[
    "physics.levels.base={shares=[1,1,1,1,1,1,1]}",
    "physics.levels.wear={}",
    "start.pe_cycles=1500",
    "start.pe_spread=1000",
    "metadata.block_class={measured={interval=2}}",
    "ftl.free_block_policy=healthiest",
    "ftl.overprovisioning=0.4",
    "workload.requests=20000",
    "workload.read_share=0.1",
    "workload.interarrival=600us",
];
pub(crate) const SUSPEND: &[&str] = &["suspend=program_erase"];
pub(crate) const REUSE: &[&str] = &[
    "start.age_max=90d",
    "start.pe_cycles=3000",
    "start.dwell=1d",
    "physics=retries",
    "read_start=last_vref",
];
/// Reads that often fail. The next attempt is sensed ahead.
pub(crate) const AHEAD: &[&str] = &[
    "start.age_max=90d",
    "start.pe_cycles=3000",
    "start.dwell=1d",
    "physics=retries",
    "flash.retries=pipelined",
];
/// The same, with shorter attempts where they still decode.
pub(crate) const SHORTER: &[&str] = &[
    "start.age_max=90d",
    "start.pe_cycles=3000",
    "start.dwell=1d",
    "physics=retries",
    "flash.retries=pipelined",
    "flash.retries.pipelined.shorter=0.25",
];
pub(crate) const ESRA: &[&str] = &["suspend=esra"];
/// Reads of one of two queues that often fail, and relocations that they wait for.
pub(crate) const PASSING: &[&str] = &[
    "start.age_max=90d",
    "start.pe_cycles=3000",
    "physics=retries",
    "host.queues=2",
    "workload.queue=1",
    "scheduler=strict_priority",
    "suspend=esra",
    "workload.read_share=0.7",
    "workload.interarrival=600us",
    "ftl.map_cache=true",
];
/// Blocks kept apart by priority, on a drive full of old data. Cells age by minutes each second.
macro_rules! prioritized {
    ($($more:literal),*) => {
        &[
            "physics=retries",
            "start.age_max=90d",
            "start.pe_cycles=3000",
            "start.invalid=0",
            "metadata.block_class=predicted",
            "ftl.free_block_policy=fewest_retries",
            "placement=[\"priority\"]",
            "ftl.overprovisioning=0.6",
            "background.subpool_gc=true",
            "background.gc={threshold=0,hard_threshold=0}",
            "flash.time_scale=1000",
            "workload.read_share=0.1",
            "workload.interarrival=600us",
            $($more),*
        ]
    };
}
pub(crate) const PRIORITIZED: &[&str] = prioritized!(
    "metadata.retry_estimate=oracle",
    "background.inversion_repair.interval=60s",
    "workload.requests=20000"
);
/// The only round is near the end, so that the last checks still see its writes.
pub(crate) const MONITORED: &[&str] = prioritized!(
    "metadata.retry_estimate=oracle",
    "background.inversion_repair.interval=11500s",
    "background.inversion_repair.monitor={interval=0.01,max_write_share=0.01}",
    "workload.requests=20000"
);
pub(crate) const POOLS_LEVELED: &[&str] = prioritized!(
    "metadata.retry_estimate=oracle",
    "background.dual_pool={threshold=2,cross_priority_threshold=8}",
    "start.pe_spread=6"
);
pub(crate) const PREDICTED: &[&str] = prioritized!(
    "metadata.retry_estimate={predicted={age=[0.1,1e-4,1e-5,1e-3,1e-3],initial=[20.0,30.0],growth=[40.0,0.3,1e-3],thresholds=[72.0,84.0,96.0,120.0]}}",
    "start.dwell=2d",
    "background.inversion_repair.interval=60s",
    "workload.requests=20000"
);
pub(crate) const MAPPED: &[&str] = &["ftl.map_cache=true"];
pub(crate) const BUFFER: &[&str] = &["buffer.size=1MiB"];
pub(crate) const CFLRU: &[&str] = &["buffer.size=1MiB", "eviction=cflru"];
pub(crate) const CCF_LRU: &[&str] = &["buffer.size=1MiB", "eviction=ccf_lru"];
pub(crate) const PT_LRU: &[&str] = &["buffer.size=1MiB", "eviction=pt_lru"];
/// Pages in three program modes, and a buffer that repeatedly classifies pages by their use.
macro_rules! program_modes {
    ($($more:literal),*) => {
        &[
            "timing.program_modes=[{name=\"normal\",volts=[1.17,2.37,2.96,3.54]},{name=\"boosted\",volts=[1.4,2.85,3.55,4.25],sense=\"30us\"},{name=\"reduced\",volts=[0.93,1.9,2.37,2.83],sense=\"210us\"}]",
            "buffer.size=1MiB",
            "workload.footprint=2MiB",
            "ftl.overprovisioning=0.4",
            $($more),*
        ]
    };
}
pub(crate) const ALWAYS: &[&str] = program_modes!("program_mode=[\"fixed\"]");
pub(crate) const BY_HOTNESS: &[&str] = program_modes!(
    "metadata.page_hotness.buffer.threshold=0.6",
    "placement=[\"hotness\"]",
    "program_mode=[\"per_hotness\"]",
    "start.program_mode=policy"
);
/// Skewed writes on a full drive, separated into streams.
pub(crate) const STREAMS: &[&str] = &[
    "placement=[\"sepbit\"]",
    "ftl.overprovisioning=0.4",
    "start.fill=1",
    "workload.kind=zipf",
    "workload.read_share=0",
];
/// Tenants with a stream each.
pub(crate) const BY_TENANT: &[&str] = &[
    "host.queues=3",
    "placement=[\"by_queue\"]",
    "ftl.overprovisioning=0.4",
    "start.fill=1",
    "workload.read_share=0",
];
pub(crate) const WEARING: &[&str] = &[
    "background.static_wear_leveling.threshold=4",
    "workload.requests=20000",
    "workload.read_share=0.1",
    "workload.interarrival=600us",
];
/// Blocks of which some pages are never programmed, and much to collect.
pub(crate) const PARTIAL: &[&str] = &[
    "ftl.page_order=relaxed",
    "placement=[\"lfs\",\"ubs\"]",
    "ftl.allocation=dynamic",
    "background.gc.unit=pages",
    "background.gc.threshold=30%",
    "workload.requests=20000",
    "workload.read_share=0.1",
    "workload.interarrival=600us",
    "start.invalid=0.01",
];
pub(crate) const DRAWS: &[&str] = &[
    "background.gc.victim=d_choices",
    "workload.requests=20000",
    "workload.read_share=0.1",
    "workload.interarrival=600us",
];
