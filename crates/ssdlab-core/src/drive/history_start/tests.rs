use super::*;
use crate::config::DriveConfig;

/// More planes than are drawn together, each long to draw; blocks by priority, and cells that keep
/// their history.
const DRIVE: &str = r#"
    flash.time_scale = 100
    ftl = { overprovisioning = 0.35, free_block_policy = "fewest_retries" }
    metadata = { block_class.predicted = {}, retry_estimate = "oracle" }
    placement = ["priority"]
    background = { subpool_gc = true, inversion_repair = { interval = "7d" } }
    host.queues = 3
    timing = { read = "50us", program = "200us", erase = "2ms" }
    [start]
    fill = 0.95
    pe_cycles = 1500
    pe_spread = 20
    [start.history]
    span = "60d"
    tenants = [
        { queue = 0, footprint = "16MiB", writes_per_day = "1MiB", reads_per_day = "2MiB" },
        { queue = 1, footprint = "32MiB", writes_per_day = "256KiB", reads_per_day = "1MiB" },
    ]
    [geometry]
    channels = 5
    chips = 2
    dies = 4
    planes = 1
    blocks = 160
    pages = 48
    page_size = "4KiB"
    cell = "tlc"
    [physics.retries]
    fresh_errors = 38.0
    wear = { errors = 74.0, worn_exponent = 1.2 }
    retention = { errors = 17.0, worn_errors = 10.0 }
    disturb = { errors = 20.0, scale = 2000.0 }
    spread = { quality = 0.06, wear = 0.05 }
"#;

#[test]
fn a_start_is_the_same_however_many_threads_draw_it() {
    let config: DriveConfig = toml::from_str(DRIVE).unwrap();
    let resolved = Resolved::new(&config, 3).unwrap();
    let history = resolved.history().unwrap();
    let tenants = tenants_of(&resolved, history, &[]);
    let sample = run_history(&resolved, history, &tenants, SampleSize::default());
    let draw = |threads| Start::after_by(&resolved, &tenants, &sample, threads);
    let alone = draw(1);
    assert!(alone.ftl.audit().is_ok() && alone.ftl.map.mapped() > 0);
    // The first thread may take all planes of a draw.
    for threads in [2, 3, 3, 3] {
        let drawn = draw(threads);
        for (table, [one, other]) in [
            ("map", [&alone, &drawn].map(|start| format!("{:?}", start.ftl.map))),
            ("blocks", [&alone, &drawn].map(|start| format!("{:?}", start.ftl.blocks))),
            ("allocator", [&alone, &drawn].map(|start| format!("{:?}", start.ftl.alloc))),
            ("cells", [&alone, &drawn].map(|start| format!("{:?}", start.cells))),
            ("metadata", [&alone, &drawn].map(|start| format!("{:?}", start.metadata))),
        ] {
            assert!(one == other, "{table}, with {threads} threads");
        }
    }
}
