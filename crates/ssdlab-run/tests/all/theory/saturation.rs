//! Offers a little less, or a little more, than the peak throughput of the drive.

use ssdlab_run::RunResult;

use super::rig::{ONE_PLANE, SENSE, TRANSFER, assert_near, plan, run};

const REQUESTS: f64 = 200_000.0;

/// Runs reads that arrive at `load` times `peak`, the peak in requests per second.
fn offered(settings: &[&str], peak: f64, load: f64) -> RunResult {
    let gap = (1e9 / (peak * load)).round();
    let own = [
        format!("workload.interarrival={gap}ns"),
        format!("workload.requests={REQUESTS}"),
        "workload.read_share=1".into(),
        "workload.footprint=1GiB".into(),
    ];
    let settings: Vec<String> = settings.iter().map(|line| line.to_string()).chain(own).collect();
    run(&[plan(ONE_PLANE, "random", &settings)]).remove(0)
}

fn check(settings: &[&str], peak: f64) {
    let under = offered(settings, peak, 0.95);
    assert!(!under.saturated, "under the limit, with a backlog of {}", under.backlog);
    assert_near("throughput under the limit", under.iops, 0.95 * peak, 0.01);
    let over = offered(settings, peak, 1.05);
    assert!(over.saturated, "over the limit, with a backlog of {}", over.backlog);
    assert_near("throughput over the limit", over.iops, peak, 0.01);
    // When the last request arrives, the drive has finished 1 / 1.05 of them. The number of
    // arrivals in that time has a standard deviation of 450, a twentieth of the backlog.
    let backlog = REQUESTS * (1.0 - 1.0 / 1.05);
    assert_near("backlog", over.backlog as f64, backlog, 0.2);
}

#[test]
fn a_drive_is_saturated_beyond_the_limit_of_its_dies() {
    check(&[], 1e9 / (SENSE + TRANSFER));
}

#[test]
fn a_drive_is_saturated_beyond_the_limit_of_its_bus() {
    check(&["geometry.chips=4", "geometry.planes=4", "geometry.blocks=512"], 1e9 / TRANSFER);
}
