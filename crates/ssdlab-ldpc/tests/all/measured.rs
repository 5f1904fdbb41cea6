//! Frame error rates of the real decoder.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ssdlab_base::math;
use ssdlab_ldpc::channel::Symmetric;
use ssdlab_ldpc::monte_carlo::{Budget, Hooks, Measured, Plan, measure};
use ssdlab_ldpc::tail;
use ssdlab_ldpc::waterfall::carried_on;

fn binary(_: usize, p: f64) -> Symmetric {
    Symmetric::binary(p)
}

fn measured(rates: &[f64], budget: Budget, seed: u64, jobs: usize) -> Vec<Measured> {
    let curves = [(1, rates.to_vec())];
    let plan = Plan { curves: &curves, channel: &binary, budget, seed, jobs };
    let stop = AtomicBool::new(false);
    let (mut found, partial) = measure(&plan, &Hooks { stop: &stop, note: &|_, _| () });
    assert!(!partial);
    found.remove(0)
}

#[test]
fn frames_fail_above_the_threshold_and_decode_below() {
    // Min-sum's threshold is 0.00936.
    let found = measured(&[0.0102, 0.0088, 0.0066], Budget::Frames(400), 1, 2);
    let [above, about, below] = &found[..] else { panic!("{found:?}") };
    // A point ends at a hundred failures, after its round.
    assert_eq!((above.frames, above.rate > 0.9), (256, true), "{above:?}");
    assert_eq!(about.frames, 400);
    assert!(about.rate > 0.05 && about.rate < 0.4, "{about:?}");
    assert_eq!((below.frames, below.failures), (400, 0));
    assert!(below.iterations < about.iterations);
    for point in &found {
        assert_eq!((point.least, point.most), tail::interval(point.frames, point.failures));
    }
}

#[test]
fn what_is_drawn_depends_on_the_seed_alone() {
    let one = measured(&[0.0088], Budget::Frames(300), 1, 1);
    assert_eq!(one, measured(&[0.0088], Budget::Frames(300), 1, 3));
    assert_ne!(one, measured(&[0.0088], Budget::Frames(300), 2, 1));
}

#[test]
fn a_curve_ends_where_there_is_nothing_to_see() {
    let found = measured(&[0.006, 0.005], Budget::Frames(64), 1, 2);
    assert_eq!(found.len(), 1, "the first had no failures");
    assert_eq!((found[0].least, found[0].rate), (0.0, 0.0));
    assert!((found[0].most - (1.0 - math::pow(0.025, 1.0 / 64.0))).abs() < 1e-9);
}

#[test]
fn seconds_are_a_budget_too() {
    let found = measured(&[0.0092, 0.0088, 0.0084, 0.0080], Budget::Seconds(1.0), 1, 2);
    assert!(!found.is_empty());
    assert!(found.iter().all(|point| point.frames > 0));
}

#[test]
fn measurements_before_a_stop_are_saved() {
    let curves = [(1, vec![0.0088]), (1, vec![0.0087])];
    let stop = AtomicBool::new(false);
    let shares = Mutex::new(Vec::new());
    let note = |share: f64, frames: u64| {
        shares.lock().unwrap().push(share);
        stop.store(frames >= 50, Ordering::Relaxed);
    };
    let budget = Budget::Frames(1_000_000);
    let plan = Plan { curves: &curves, channel: &binary, budget, seed: 1, jobs: 1 };
    let (found, partial) = measure(&plan, &Hooks { stop: &stop, note: &note });
    assert!(partial);
    // A chunk has sixteen frames. The measurement finishes the chunk that it has begun.
    assert_eq!((found[0][0].frames, found[1].len()), (64, 0));
    assert!(shares.lock().unwrap().iter().all(|share| (0.0..=1.0).contains(share)));
}

#[test]
fn a_fall_is_carried_on_through_the_points_that_made_it() {
    // A frame fails if more than 330 bits are wrong: the binomial tail itself.
    let point = |rber: f64| {
        let rate = tail::at_least(36_864, 331, rber);
        let frames = (200.0 / rate) as u64;
        Measured { rber, frames, failures: 200, rate, least: 0.0, most: 1.0, iterations: None }
    };
    let points: Vec<Measured> = [0.0085, 0.0080, 0.0077, 0.0074].map(point).to_vec();
    let found = carried_on(&points, 1e-15, Symmetric::binary).unwrap();
    let exact = tail::corrected(36_864, 330, 1e-15);
    println!("carried on to {found:.5}, exactly {exact:.5}");
    assert!((found / exact - 1.0).abs() < 0.02);
    assert_eq!(carried_on(&points[..2], 1e-15, Symmetric::binary), None);
}
