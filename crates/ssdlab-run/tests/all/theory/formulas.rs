//! Formulas of queueing and of write amplification.

use ssdlab_base::math;

/// Returns the mean wait in nanoseconds for a server with these service times. Arrivals are
/// Poisson, `gap` nanoseconds apart on average. Source: Pollaczek and Khinchine: M/G/1, and M/D/1
/// if all services are equally long.
pub(crate) fn mean_wait(services: &[f64], gap: f64) -> f64 {
    let count = services.len() as f64;
    let mean = services.iter().sum::<f64>() / count;
    let square = services.iter().map(|service| service * service).sum::<f64>() / count;
    square / gap / (2.0 * (1.0 - mean / gap))
}

/// Returns the number of requests after which the mean wait at load `rho` has a relative standard
/// error of `error`. It uses the asymptotic variance of M/M/1 (Whitt, "Planning queueing
/// simulations", Management Science 35, 1989). That variance is larger than that of less variable
/// services.
pub(crate) fn requests_for(rho: f64, error: f64) -> u64 {
    let variance = rho * (2.0 + 5.0 * rho - 4.0 * rho * rho + rho.powi(3)) / (1.0 - rho).powi(4);
    let mean = rho / (1.0 - rho);
    (variance / (mean * mean) / (error * error)).ceil() as u64
}

/// Returns Lambert's W on its principal branch, for -1/e <= x < 0.
pub(crate) fn lambert_w(x: f64) -> f64 {
    let mut w = -1.0 + (2.0 * (1.0 + std::f64::consts::E * x).max(0.0)).sqrt();
    for _ in 0..50 {
        let power = math::exp(w);
        let error = w * power - x;
        let slope = power * (w + 1.0) - (w + 2.0) * error / (2.0 * w + 2.0);
        if slope == 0.0 || error == 0.0 {
            break;
        }
        w -= error / slope;
    }
    w
}

/// Returns the write amplification of FIFO collection under uniform random writes.
pub(crate) fn fifo(alpha: f64) -> f64 {
    alpha / (alpha + lambert_w(-alpha * math::exp(-alpha)))
}

/// Returns the write amplification of collecting any block with equal probability.
pub(crate) fn random(alpha: f64) -> f64 {
    alpha / (alpha - 1.0)
}

/// Returns the write amplification of greedy collection with `pages` pages in a block (P.
/// Desnoyers, "Analytic models of SSD write performance", ACM Transactions on Storage 10 (2),
/// 2014).
pub(crate) fn greedy(alpha: f64, pages: f64) -> f64 {
    let scaled = (1.0 + 1.0 / (2.0 * pages)) * alpha;
    let left = 0.5 - pages / alpha * lambert_w(-scaled * math::exp(-scaled));
    pages / (pages - (left - 1.0))
}

/// Returns the write amplification of collecting the best of `choices` blocks drawn among those
/// with an invalid page. It is the fixed point of B. Van Houdt's mean field ("A mean field model
/// for a class of garbage collection algorithms in flash-based solid state drives", SIGMETRICS
/// 2013).
///
/// M(j) is the share of full blocks with at most j valid pages. In the steady state, as many blocks
/// fall to j pages as are collected with j or fewer. The amplification is the one under which
/// blocks hold pages / alpha valid pages on average.
pub(crate) fn choices(alpha: f64, pages: usize, choices: i32) -> f64 {
    let (mut low, mut high) = (1.0, alpha * pages as f64);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if mean_valid(alpha, pages, choices, middle) > pages as f64 / alpha {
            high = middle;
        } else {
            low = middle;
        }
    }
    (low + high) / 2.0
}

fn mean_valid(alpha: f64, pages: usize, choices: i32, amplification: f64) -> f64 {
    let rate = amplification / alpha;
    let with_invalid = 1.0 - rate / pages as f64;
    if with_invalid <= 0.0 {
        return pages as f64;
    }
    let mut above = with_invalid;
    let mut mean = pages as f64 * (1.0 - with_invalid);
    for j in (0..pages - 1).rev() {
        let (mut low, mut high) = (0.0, above);
        for _ in 0..60 {
            let at_most = (low + high) / 2.0;
            let collected = rate * (1.0 - (1.0 - at_most / with_invalid).powi(choices));
            if (above - at_most) * (j + 1) as f64 > collected {
                low = at_most;
            } else {
                high = at_most;
            }
        }
        mean += (above - low) * (j + 1) as f64;
        above = low;
    }
    mean
}

#[test]
fn the_formulas_agree_where_they_meet() {
    for alpha in [1.08, 1.2, 1.5, 2.0] {
        // W e^W = x.
        let x = -alpha * math::exp(-alpha);
        let w = lambert_w(x);
        assert!((w * math::exp(w) - x).abs() < 1e-12 && w > -1.0);
        // Greedy with many pages in a block equals FIFO, because blocks of the same age are then
        // alike.
        assert!((greedy(alpha, 1e7) / fifo(alpha) - 1.0).abs() < 1e-4);
        // With many pages in a block, one choice is random, and many choices are greedy.
        assert!((choices(alpha, 2048, 1) / random(alpha) - 1.0).abs() < 0.01);
        assert!((choices(alpha, 64, 500) / greedy(alpha, 64.0) - 1.0).abs() < 0.005);
    }
    // With exponential services (M/M/1), the wait would be rho / (1 - rho). Equal services halve
    // it.
    assert!((mean_wait(&[1.0], 2.0) - 0.5).abs() < 1e-12);
}
