//! Transcendental functions with the same bits on every machine.

/// Returns the natural logarithm of `x`.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// Returns the natural logarithm of `1 + x`, exact for small `x`.
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// Returns the logarithm of `x` to base two.
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}

/// Returns e to the power of `x`.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Returns e to the power of `x`, minus 1, exact for small `x`.
pub fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
}

/// Returns `base` to the power of `exponent`.
pub fn pow(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}

/// Returns the cumulative probability of the standard normal distribution at `z`.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

/// Returns the cosine and the sine of an angle in radians.
pub fn cos_sin(angle: f64) -> (f64, f64) {
    let (sin, cos) = libm::sincos(angle);
    (cos, sin)
}

/// Returns the natural logarithm of the gamma function of `x`.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}
