//! The exact tail of the binomial distribution, and two uses: the capability of a BCH code, and the
//! interval of a measured rate.

use ssdlab_base::math;

/// Returns P(X ≥ k) of `n` trials of probability `p`, which is above 0 and below 1.
pub fn at_least(n: u64, k: u64, p: f64) -> f64 {
    if k as f64 > n as f64 * p {
        from(n, k, p)
    } else {
        1.0 - up_to(n, k.wrapping_sub(1), p, k == 0)
    }
}

/// Returns P(X ≤ k).
pub fn at_most(n: u64, k: u64, p: f64) -> f64 {
    if k as f64 > n as f64 * p { 1.0 - from(n, k + 1, p) } else { up_to(n, k, p, false) }
}

/// Returns P(X = k).
fn exactly(n: u64, k: u64, p: f64) -> f64 {
    let (n, k) = (n as f64, k as f64);
    let choose = math::ln_gamma(n + 1.0) - math::ln_gamma(k + 1.0) - math::ln_gamma(n - k + 1.0);
    math::exp(choose + k * math::ln(p) + (n - k) * math::ln_1p(-p))
}

/// A term below this part of the sum so far ends the sum.
const NOTHING: f64 = 1e-17;

/// Returns P(X ≥ k) for k above the mean. Terms fall from the first, so that nothing cancels.
fn from(n: u64, k: u64, p: f64) -> f64 {
    if k > n {
        return 0.0;
    }
    let (mut term, mut sum) = (1.0, 0.0);
    for at in k..=n {
        sum += term;
        term *= (n - at) as f64 / (at + 1) as f64 * (p / (1.0 - p));
        if term < sum * NOTHING {
            break;
        }
    }
    sum * exactly(n, k, p)
}

/// Returns P(X ≤ k) for k below the mean, or 0 if `is_none`.
fn up_to(n: u64, k: u64, p: f64, is_none: bool) -> f64 {
    if is_none {
        return 0.0;
    }
    let (mut term, mut sum) = (1.0, 0.0);
    for at in (0..=k).rev() {
        sum += term;
        term *= at as f64 / (n - at + 1) as f64 * ((1.0 - p) / p);
        if term < sum * NOTHING {
            break;
        }
    }
    sum * exactly(n, k, p)
}

/// Relative precision of the search for a root.
const NEAR: f64 = 1e-11;
/// Most halvings of a search, for a root at 0.
const HALVINGS: u32 = 80;

/// Returns the root of a rising function between two values.
pub fn root(mut least: f64, mut most: f64, of: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..HALVINGS {
        let middle = (least + most) / 2.0;
        if of(middle) < 0.0 {
            least = middle;
        } else {
            most = middle;
        }
        if most - least < NEAR * most.abs() {
            break;
        }
    }
    (least + most) / 2.0
}

/// Returns the raw bit error rate at which more than `corrects` of `bits` bits are wrong with
/// probability `failure`.
pub fn corrected(bits: u64, corrects: u64, failure: f64) -> f64 {
    // The mean number of wrong bits is below the number of corrected bits.
    let most = corrects as f64 / bits as f64;
    root(most * 1e-6, most, |p| at_least(bits, corrects + 1, p) - failure)
}

/// The probability outside of an interval.
const OUTSIDE: f64 = 0.05;

/// Returns the exact 95 % interval of a rate, after `count` of `n` trials (Clopper, Pearson, 1934).
pub fn interval(n: u64, count: u64) -> (f64, f64) {
    let (tiny, whole) = (1e-15, 1.0 - 1e-15);
    let least = match count {
        0 => 0.0,
        _ => root(tiny, whole, |p| at_least(n, count, p) - OUTSIDE / 2.0),
    };
    let most =
        if count == n { 1.0 } else { root(tiny, whole, |p| OUTSIDE / 2.0 - at_most(n, count, p)) };
    (least, most)
}
