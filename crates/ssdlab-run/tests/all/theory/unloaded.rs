//! Requests to an idle drive. Their latency is the sum of their parts, to the nanosecond.

use super::rig::{ONE_PLANE, PROGRAM, SENSE, TRANSFER, plan, run};

const IDLE: &[&str] =
    &["workload.arrivals=fixed", "workload.interarrival=10ms", "workload.requests=500"];

fn all_take(settings: &[&str], read: bool, expected_ns: f64) {
    let share = if read { "workload.read_share=1" } else { "workload.read_share=0" };
    let settings: Vec<&str> = [IDLE, &[share], settings].concat();
    let result = &run(&[plan(ONE_PLANE, "random", &settings)])[0];
    let kind = if read { &result.read } else { &result.write };
    let latency = &kind.latency_us;
    assert_eq!(kind.requests, 500);
    assert!((latency.mean * 1e3 - expected_ns).abs() < 1e-6, "{latency:?}, not {expected_ns} ns");
    assert!((latency.max * 1e3 - expected_ns).abs() < 1e-6, "{latency:?}, not {expected_ns} ns");
    // Every single part has the expected value, too.
    let parts: f64 = kind.blame_us.values().sum();
    assert!((parts - latency.mean).abs() < 1e-9);
}

#[test]
fn a_read_takes_sensing_and_transfer() {
    all_take(&["workload.footprint=1GiB"], true, SENSE + TRANSFER);
}

#[test]
fn a_read_takes_decoding_besides() {
    all_take(&["workload.footprint=1GiB", "timing.decode=10us"], true, SENSE + TRANSFER + 10_000.0);
}

#[test]
fn a_read_of_a_sector_moves_a_sector() {
    let sector = ["workload.sizes=[\"512B\"]", "workload.footprint=1GiB"];
    all_take(&sector, true, SENSE + TRANSFER / 8.0);
    let whole = [&sector[..], &["flash.transfer=page"]].concat();
    all_take(&whole, true, SENSE + TRANSFER);
}

#[test]
fn a_write_takes_transfer_and_programming() {
    all_take(&["workload.footprint=1GiB"], false, TRANSFER + PROGRAM);
}

#[test]
fn planes_of_a_drive_serve_one_request_side_by_side() {
    // Four pages on four planes of one channel: parallel sensing, and transfers one after another.
    let settings = ["geometry.planes=4", "workload.sizes=[\"16KiB\"]", "workload.footprint=1GiB"];
    all_take(&settings, true, SENSE + 4.0 * TRANSFER);
    all_take(&settings, false, 4.0 * TRANSFER + PROGRAM);
    // On four channels, transfers are parallel as well.
    let settings = ["geometry.channels=4", "workload.sizes=[\"16KiB\"]", "workload.footprint=1GiB"];
    all_take(&settings, true, SENSE + TRANSFER);
    all_take(&settings, false, TRANSFER + PROGRAM);
}

#[test]
fn a_command_takes_its_time_before_the_rest() {
    let settings = ["flash.command_time=300ns", "workload.footprint=1GiB"];
    all_take(&settings, true, 300.0 + SENSE + TRANSFER);
    all_take(&settings, false, 300.0 + TRANSFER + PROGRAM);
}

#[test]
fn planes_of_a_die_are_commanded_one_after_another_and_work_together() {
    let settings = [
        "geometry.planes=2",
        "flash.array=die",
        "flash.command_time=300ns",
        "start.unwritten_reads=footprint",
        "workload.sizes=[\"8KiB\"]",
        "workload.footprint=1GiB",
    ];
    all_take(&settings, true, 2.0 * (300.0 + TRANSFER) + SENSE);
    all_take(&settings, false, 2.0 * (300.0 + TRANSFER) + PROGRAM);
}
