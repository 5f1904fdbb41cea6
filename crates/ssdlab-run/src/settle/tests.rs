use rand::RngExt;
use ssdlab_base::math::exp;
use ssdlab_base::rng;

use super::*;

/// Returns the values of windows: a mean of 100 that is reached with this decay, and noise that
/// resembles the noise before it as much as `alike`.
fn values(seed: u64, count: usize, transient: f64, alike: f64) -> Vec<f64> {
    let mut random = rng::stream(seed, "settle.test");
    let mut noise = 0.0;
    let value = |at| {
        let draw: f64 = (0..12).map(|_| random.random_range(-0.5..0.5)).sum();
        noise = alike * noise + draw;
        100.0 + transient * exp(-(at as f64) / 20.0) + noise
    };
    (0..count).map(value).collect()
}

#[test]
fn the_interval_holds_the_true_mean_as_often_as_it_says() {
    for (alike, least) in [(0.0, 0.92), (0.5, 0.85)] {
        let holds = (0..1000).filter(|&seed| {
            let estimate = Estimate::of(&values(seed, 32, 0.0, alike), 32);
            (estimate.mean - 100.0).abs() <= estimate.half_width_95
        });
        let share = holds.count() as f64 / 1000.0;
        assert!((least..=0.97).contains(&share), "noise alike by {alike}: {share}");
    }
}

#[test]
fn repeats_add_no_independent_windows() {
    let once = values(1, 16, 0.0, 0.0);
    let twice = [&once[..], &once[..]].concat();
    let (once, twice) = (Estimate::of(&once, 16), Estimate::of(&twice, 16));
    assert!(twice.half_width_95 > 0.95 * once.half_width_95, "{once:?} {twice:?}");
}

#[test]
fn what_still_drifts_is_not_steady() {
    let steady = |transient| {
        let is_steady = |seed: &u64| Estimate::of(&values(*seed, 32, transient, 0.0), 32).steady;
        (0..200).filter(is_steady).count()
    };
    assert!(steady(0.0) > 180, "{} of 200", steady(0.0));
    assert!(steady(20.0) < 20, "{} of 200", steady(20.0));
}

#[test]
fn a_figure_is_named_as_in_a_result() {
    let names = Figure::names(3);
    assert!(names.contains(&"priority.high.read.latency_us.mean".to_owned()), "{names:?}");
    let queued = Figure::names(2);
    assert!(queued.contains(&"queues[1].write.latency_us.p99".to_owned()), "{queued:?}");
    for name in Figure::names(1).iter().chain(&names).chain(&queued) {
        let figure: Figure = name.parse().unwrap_or_else(|()| panic!("{name}"));
        assert_eq!(figure.to_string(), *name);
    }
    for name in ["", "read", "read.latency_us", "priority.top.read.latency_us.mean", "iops"] {
        assert_eq!(name.parse::<Figure>(), Err(()), "{name}");
    }
}

#[test]
fn a_window_of_a_percentile_holds_ten_requests_beyond_it() {
    let first = |name: &str| name.parse::<Figure>().unwrap().first_window();
    assert_eq!(first("waf"), 256);
    assert_eq!(first("read.latency_us.p50"), 256);
    assert_eq!(first("read.latency_us.p99"), 1000);
    assert_eq!(first("read.latency_us.p999"), 10_000);
}
