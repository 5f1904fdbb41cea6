//! One plane as a queue with one server.
//!
//! Without cache read, a plane is held until its page has been transferred. The service of a read
//! is then sensing and transfer, and that of a write is transfer and programming.

use super::formulas::{mean_wait, requests_for};
use super::rig::{ONE_PLANE, PROGRAM, SENSE, TRANSFER, assert_near, plan, run, seeded};

/// Runs with different seeds, whose results are averaged.
const SEEDS: u64 = 4;
/// Relative standard error of the mean over all of them: a quarter of the tested 2 %.
const ERROR: f64 = 0.005;

/// Returns the mean latency in nanoseconds of single-page requests with a mean gap of `gap`
/// nanoseconds.
fn mean_latency(settings: &[&str], reads: bool, gap: f64, requests: u64) -> f64 {
    let own = [
        format!("workload.interarrival={}ns", gap.round()),
        format!("workload.requests={}", requests / SEEDS),
        format!("workload.read_share={}", u8::from(reads)),
    ];
    let settings: Vec<String> = settings.iter().map(|line| line.to_string()).chain(own).collect();
    let results = run(&seeded(&plan(ONE_PLANE, "random", &settings), 1..=SEEDS));
    let means = results.iter().map(|result| {
        if reads { result.read.latency_us.mean } else { result.write.latency_us.mean }
    });
    means.sum::<f64>() / SEEDS as f64 * 1e3
}

fn checks_reads(what: &str, settings: &[&str], services: &[f64], rho: f64) {
    let service = services.iter().sum::<f64>() / services.len() as f64;
    let gap = (service / rho).round();
    let footprint = [settings, &["workload.footprint=3GiB"]].concat();
    let latency = mean_latency(&footprint, true, gap, requests_for(rho, ERROR));
    let wait = latency - service;
    assert_near(&format!("{what} at {rho}"), wait / 1e3, mean_wait(services, gap) / 1e3, 0.02);
}

#[test]
fn reads_of_one_plane_wait_as_in_m_d_1() {
    for rho in [0.2, 0.4, 0.6, 0.8] {
        checks_reads("M/D/1", &[], &[SENSE + TRANSFER], rho);
    }
}

#[test]
fn reads_of_three_page_types_wait_as_in_m_g_1() {
    let tlc =
        ["geometry.cell=tlc", "geometry.pages=255", "timing.read=[\"40us\",\"75us\",\"160us\"]"];
    let services = [40_000.0, 75_000.0, 160_000.0].map(|sense| sense + TRANSFER);
    for rho in [0.3, 0.6, 0.8] {
        checks_reads("M/G/1", &tlc, &services, rho);
    }
}

#[test]
fn with_cache_read_a_plane_is_held_for_sensing_alone() {
    // The transfer is shorter than the sensing, so that a sensed page always finds the bus free.
    let rho = 0.7;
    let gap = (SENSE / rho).round();
    let settings = ["flash.cache_read=true", "workload.footprint=3GiB"];
    let latency = mean_latency(&settings, true, gap, requests_for(rho, ERROR));
    let wait = latency - SENSE - TRANSFER;
    assert_near("M/D/1 with cache read", wait / 1e3, mean_wait(&[SENSE], gap) / 1e3, 0.02);
}

#[test]
fn writes_of_one_plane_wait_as_in_m_d_1() {
    // No more writes than the plane holds, so that garbage collection never starts.
    let (rho, service) = (0.5, TRANSFER + PROGRAM);
    let gap = (service / rho).round();
    let requests = requests_for(rho, ERROR);
    assert!(requests / SEEDS < 4096 * 256 * 9 / 10);
    let settings = ["workload.footprint=3GiB"];
    let wait = mean_latency(&settings, false, gap, requests) - service;
    assert_near("M/D/1 of writes", wait / 1e3, mean_wait(&[service], gap) / 1e3, 0.02);
}
