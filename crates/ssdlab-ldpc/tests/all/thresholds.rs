//! Density evolution against published thresholds.

use ssdlab_base::math;
use ssdlab_ldpc::channel::{Point, Symmetric};
use ssdlab_ldpc::code::BITS;
use ssdlab_ldpc::ensemble::{Ensemble, FLASH, threshold};
use ssdlab_ldpc::finite::{FAILURE, deviations, shifted};
use ssdlab_ldpc::gallager::{Weights, decodes_a, decodes_b, decodes_e};
use ssdlab_ldpc::min_sum;
use ssdlab_ldpc::sum_product::SumProduct;

const HALF: Ensemble = Ensemble { bit: 3, check: 6 };

/// Returns a Gaussian channel of deviation `sigma` for bits of ±1, in 801 points.
fn gaussian(sigma: f64) -> Symmetric {
    let (mean, width) = (2.0 / (sigma * sigma), 2.0 / sigma);
    let step = 16.0 * width / 800.0;
    let point = |index: i32| {
        let ratio = mean + step * f64::from(index);
        let cdf = |x: f64| math::normal_cdf((x - mean) / width);
        Point { ratio, probability: cdf(ratio + step / 2.0) - cdf(ratio - step / 2.0) }
    };
    Symmetric::new((-400..=400).map(point).collect())
}

fn near(found: f64, published: f64, within: f64) {
    println!("{found:.5}, published {published}");
    assert!((found / published - 1.0).abs() < within, "{found} for {published}");
}

#[test]
fn sum_product_has_the_thresholds_of_richardson_and_urbanke() {
    let evolution = SumProduct::new();
    let binary = |p: f64| evolution.decodes(HALF, &Symmetric::binary(p));
    near(threshold(0.06, 0.11, binary), 0.084, 0.005);
    let noisy = |sigma: f64| evolution.decodes(HALF, &gaussian(sigma));
    near(threshold(0.8, 0.95, noisy), 0.8809, 0.003);
    // (4, 8): Richardson and Urbanke, Table II.
    let four = Ensemble { bit: 4, check: 8 };
    let binary = |p: f64| evolution.decodes(four, &Symmetric::binary(p));
    near(threshold(0.06, 0.11, binary), 0.0767, 0.006);
}

#[test]
fn bit_flipping_has_the_thresholds_of_richardson_and_urbanke() {
    near(threshold(1e-3, 0.2, |p| decodes_a(HALF, p)), 0.0395, 0.005);
    near(threshold(1e-3, 0.2, |p| decodes_b(HALF, p)), 0.0395, 0.005);
    near(threshold(1e-3, 0.2, |p| decodes_b(Ensemble { bit: 4, check: 8 }, p)), 0.0516, 0.005);
    let best = |p: f64| Weights::all(HALF).any(|weights| decodes_e(HALF, p, weights));
    near(threshold(1e-3, 0.2, best), 0.0708, 0.005);
}

#[test]
fn decoders_that_know_more_decode_more() {
    let evolution = SumProduct::new();
    let of = |decodes: &dyn Fn(f64) -> bool| threshold(5e-4, 0.03, decodes);
    let a = of(&|p| decodes_a(FLASH, p));
    let e = of(&|p| Weights::all(FLASH).any(|weights| decodes_e(FLASH, p, weights)));
    let min_sum = of(&|p| min_sum::decodes(FLASH, &Symmetric::binary(p)));
    let sum_product = of(&|p| evolution.decodes(FLASH, &Symmetric::binary(p)));
    let limit = of(&|p| Symmetric::binary(p).capacity_and_dispersion().0 > FLASH.rate());
    assert!(a < e && e < min_sum && min_sum < sum_product && sum_product < limit);
    let hurried = of(&|p| min_sum::decodes_within(FLASH, &Symmetric::binary(p), 12));
    assert!(hurried < min_sum && hurried > a);
}

#[test]
fn a_threshold_is_found_on_both_sides() {
    near(threshold(0.0, 1.0, |p| p < 0.123), 0.123, 3e-5);
}

#[test]
fn the_shift_is_that_of_the_normal_approximation() {
    assert!((deviations(FAILURE) - 7.941).abs() < 1e-3);
    let (start, n) = (0.00936, BITS as f64);
    let found = shifted(start, FAILURE, Symmetric::binary);
    let of = |p: f64| {
        let log = math::log2((1.0 - p) / p);
        let capacity = 1.0 + p * math::log2(p) + (1.0 - p) * math::log2(1.0 - p);
        (capacity, p * (1.0 - p) * log * log)
    };
    let (capacity, dispersion) = of(found);
    let carried = capacity - (dispersion / n).sqrt() * 7.941_345 + math::log2(n) / (2.0 * n);
    assert!((carried - of(start).0).abs() < 1e-7);
    // Rarer failures need a longer shift. At half of the frames, only the logarithm remains.
    assert!(shifted(start, 1e-6, Symmetric::binary) > found);
    near(shifted(start, 0.5, Symmetric::binary), start, 0.01);
}
