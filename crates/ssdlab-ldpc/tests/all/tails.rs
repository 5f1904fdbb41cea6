//! Exact tails against figures of many digits.

use ssdlab_base::math;
use ssdlab_ldpc::bch;
use ssdlab_ldpc::finite::FAILURE;
use ssdlab_ldpc::tail::{at_least, at_most, interval};

#[test]
fn tails_have_the_digits_of_exact_fractions() {
    // Exact sums of fractions of integers.
    let known = [
        (10, 3, 0.2, 0.322_200_473_6),
        (10, 1, 0.2, 0.892_625_817_6),
        (36_864, 257, 0.0041, 2.701853876576e-15),
        (36_864, 257, 0.004, 1.809563921529e-16),
    ];
    for (n, k, p, expected) in known {
        let found = at_least(n, k, p);
        assert!((found / expected - 1.0).abs() < 1e-8, "{n} {k} {p}: {found:e}");
        assert!((at_most(n, k - 1, p) - (1.0 - expected)).abs() < 1e-9);
    }
    assert_eq!(at_least(10, 0, 0.2), 1.0);
    assert_eq!(at_most(10, 10, 0.2), 1.0);
}

#[test]
fn bch_is_within_two_percent_of_what_is_printed() {
    let found = bch::capability(FAILURE);
    println!("BCH {found:.6}");
    assert!((found / 0.0041 - 1.0).abs() < 0.02);
    assert!((at_least(36_864, 257, found) / FAILURE - 1.0).abs() < 1e-6);
}

#[test]
fn intervals_are_those_of_clopper_and_pearson() {
    // 1 − 0.025^(1/10), and two values of Clopper's and Pearson's tables.
    let known =
        [(10, 0, 0.0, 0.308_50), (20, 5, 0.086_57, 0.491_05), (100, 10, 0.049_00, 0.176_22)];
    for (n, count, least, most) in known {
        let found = interval(n, count);
        assert!((found.0 - least).abs() < 1e-5 && (found.1 - most).abs() < 1e-5, "{found:?}");
    }
    let (least, most) = interval(50, 50);
    assert!((least - math::pow(0.025, 0.02)).abs() < 1e-9 && most == 1.0);
}
