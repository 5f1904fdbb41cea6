//! Tests of the order in which transfers use a channel.

use super::rig::{ONE_PLANE, plan, run};

/// Returns the mean latency of reads on four chips of one channel, in microseconds.
fn mean_us(settings: &[&str]) -> f64 {
    let load = [
        "geometry.chips=4",
        "geometry.blocks=512",
        "workload.footprint=1GiB",
        "workload.read_share=1",
        "workload.interarrival=40us",
        "workload.requests=100000",
    ];
    let settings: Vec<&str> = load.iter().chain(settings).copied().collect();
    run(&[plan(ONE_PLANE, "random", &settings)])[0].read.latency_us.mean
}

#[test]
fn commands_that_wait_for_the_bus_keep_chips_idle() {
    let free = mean_us(&[]);
    let queued = mean_us(&["flash.command_time=300ns"]);
    let last = mean_us(&["flash.command_time=300ns", "flash.bus_order=data_out_first"]);
    // The time of the command alone would be 0.3 us.
    assert!(queued > free + 3.0, "{free} {queued}");
    assert!(last > queued + 3.0, "{queued} {last}");
}

#[test]
fn without_commands_reads_alone_use_the_bus_in_the_order_of_their_requests() {
    assert_eq!(mean_us(&[]), mean_us(&["flash.bus_order=data_out_first"]));
}

#[test]
fn pages_read_overtake_pages_to_be_programmed() {
    let mixed = [
        "geometry.chips=4",
        "geometry.blocks=512",
        "workload.footprint=1GiB",
        "workload.read_share=0.5",
        "timing.program=100us",
        "workload.interarrival=50us",
        "workload.requests=100000",
    ];
    let first = [&mixed[..], &["flash.bus_order=data_out_first"]].concat();
    let plans = [plan(ONE_PLANE, "random", &mixed), plan(ONE_PLANE, "random", &first)];
    let results = run(&plans);
    let bus = |at: usize, read: bool| {
        let kind = if read { &results[at].read } else { &results[at].write };
        kind.blame_us["bus"]
    };
    assert!(bus(1, true) < bus(0, true), "reads wait less for the bus");
    assert!(bus(1, false) > bus(0, false), "writes wait longer");
}
