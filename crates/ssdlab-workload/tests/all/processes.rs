//! Processes whose Hurst exponent is known.

use std::f64::consts::TAU;

use rand::Rng as _;
use ssdlab_base::math;
use ssdlab_base::rng::{Stream, stream, unit};

/// Draws from distributions.
pub(crate) struct Draws(Stream);

impl Draws {
    pub(crate) fn new(seed: u64) -> Draws {
        Draws(stream(seed, "burstiness"))
    }

    /// Returns a number in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        unit(self.0.next_u64())
    }

    /// Returns an exponential variable of mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -math::ln_1p(-self.unit())
    }

    /// Returns two independent standard normal variables.
    fn normals(&mut self) -> [f64; 2] {
        let radius = (2.0 * self.exponential()).sqrt();
        let (cos, sin) = math::cos_sin(TAU * self.unit());
        [radius * cos, radius * sin]
    }
}

/// Returns 2^`octaves` values of exact fractional Gaussian noise of variance 1, by circulant
/// embedding (Davies and Harte, "Tests for Hurst effect", Biometrika 74(1), 1987).
pub(crate) fn fractional_noise(exponent: f64, octaves: u32, seed: u64) -> Vec<f64> {
    let length = 1usize << octaves;
    let size = 2 * length;
    let power = |lag: f64| math::pow(lag.abs(), 2.0 * exponent);
    let covariance = |lag: f64| 0.5 * (power(lag + 1.0) - 2.0 * power(lag) + power(lag - 1.0));
    let mut spectrum: Vec<[f64; 2]> =
        (0..size).map(|place| [covariance(place.min(size - place) as f64), 0.0]).collect();
    transform(&mut spectrum);
    let mut draws = Draws::new(seed);
    let mut noise: Vec<[f64; 2]> = spectrum
        .iter()
        .map(|[eigenvalue, _]| {
            assert!(*eigenvalue > -1e-9, "a covariance has no negative eigenvalue: {eigenvalue}");
            let scale = (eigenvalue.max(0.0) / size as f64).sqrt();
            draws.normals().map(|normal| scale * normal)
        })
        .collect();
    transform(&mut noise);
    noise.into_iter().take(length).map(|[real, _]| real).collect()
}

/// Replaces complex values by their discrete Fourier transform; their number is a power of two.
fn transform(values: &mut [[f64; 2]]) {
    let size = values.len();
    let unused = usize::BITS - size.ilog2();
    for place in 0..size {
        let mirrored = place.reverse_bits() >> unused;
        if place < mirrored {
            values.swap(place, mirrored);
        }
    }
    let mut half = 1;
    while half < size {
        for step in 0..half {
            let (cos, sin) = math::cos_sin(-TAU * step as f64 / (2 * half) as f64);
            for start in (step..size).step_by(2 * half) {
                let ([a, b], [c, d]) = (values[start], values[start + half]);
                let [e, f] = [c * cos - d * sin, c * sin + d * cos];
                values[start] = [a + e, b + f];
                values[start + half] = [a - e, b - f];
            }
        }
        half *= 2;
    }
}

/// Splits `total` requests over 2^`octaves` bins: shares `b` and `1 - b` of a bin go to its halves,
/// in random order. The first bin always gets the larger share, so that it has the first request.
///
/// Source: Wang et al., "Data mining meets performance evaluation: fast algorithms for modeling
/// bursty traffic", ICDE 2002.
pub(crate) fn b_model(b: f64, octaves: u32, total: u64, seed: u64) -> Vec<u64> {
    let mut draws = Draws::new(seed);
    let mut bins = vec![total];
    for _ in 0..octaves {
        let halves = bins.iter().enumerate().flat_map(|(place, &count)| {
            let exact = b * count as f64;
            // Rounded at random, so that no share is lost on average.
            let large = (exact + draws.unit()).floor().min(count as f64) as u64;
            let is_first = draws.unit() < 0.5 || place == 0;
            if is_first { [large, count - large] } else { [count - large, large] }
        });
        bins = halves.collect();
    }
    bins
}
