//! Page types of the requests to a conventional TLC drive.
//!
//! A request of n page writes ends with the slowest of them. Its planes are at independent
//! positions in their blocks, so that each page has any type with equal probability. The shares of
//! requests that LSB, CSB and MSB pages decide are (1/3)^n, (2/3)^n - (1/3)^n and 1 - (2/3)^n
//! (PA-SSD, section 3.1).

use ssdlab_base::{SimTime, rng};
use ssdlab_core::{Drive, Op, Request};

use super::rig::{ONE_PLANE, plan};

const REQUESTS: u64 = 40_000;
/// Program times in microseconds by page type. They differ enough to identify the slowest page of a
/// request.
const PROGRAMS: [u64; 3] = [500, 2000, 5500];

fn tlc() -> Drive {
    let settings = [
        "geometry.channels=16",
        "geometry.cell=tlc",
        "geometry.pages=192",
        "geometry.blocks=1024",
        "workload.footprint=1GiB",
        "timing.program=[\"500us\",\"2000us\",\"5500us\"]",
    ];
    let prepared = plan(ONE_PLANE, "random", &settings).prepare();
    Drive::new(prepared.unwrap_or_else(|fault| panic!("{fault}")).resolved)
}

/// Returns how many requests of `pages` pages each type decides.
fn decided_by(pages: u64) -> [u64; 3] {
    let mut drive = tlc();
    let mut random = rng::stream(pages, "test");
    let places = u64::from(drive.resolved().logical_pages) - pages;
    let mut counts = [0; 3];
    let mut done = Vec::new();
    for tag in 0..REQUESTS {
        let arrival = SimTime::from_ns(tag * 10_000_000);
        drive.advance(arrival, &mut done);
        // Random, unaligned addresses, so that the planes are not written in lockstep.
        let lba = rng::below(rand::Rng::next_u64(&mut random), places) * 8;
        let sectors = 8 * pages as u32;
        let request = Request { tag, arrival, op: Op::Write, lba, sectors, queue: 0, hint: 0 };
        drive.submit(arrival, request).expect("an idle drive takes a request");
    }
    drive.advance(SimTime::from_ns(REQUESTS * 10_000_000), &mut done);
    for completion in &done {
        let us = (completion.end - completion.arrival).as_ns() / 1000;
        counts[PROGRAMS.iter().rposition(|&program| us > program).expect("a program's time")] += 1;
    }
    counts
}

#[test]
fn the_slowest_page_decides_as_in_pa_ssds_closed_form() {
    for pages in 1..=4 {
        let third = (1.0f64 / 3.0).powi(pages);
        let two_thirds = (2.0f64 / 3.0).powi(pages);
        let expected = [third, two_thirds - third, 1.0 - two_thirds];
        let counts = decided_by(pages as u64);
        assert_eq!(counts.iter().sum::<u64>(), REQUESTS);
        for (count, share) in counts.iter().zip(expected) {
            let measured = *count as f64 / REQUESTS as f64;
            println!("{pages} pages: measured {measured:.4}, theory {share:.4}");
            // Four standard deviations of a share.
            let spread = (share * (1.0 - share) / REQUESTS as f64).sqrt();
            assert!((measured - share).abs() < 4.0 * spread, "{pages}: {measured} for {share}");
        }
    }
}
