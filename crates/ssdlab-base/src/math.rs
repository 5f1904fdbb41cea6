//! Transcendental functions with the same bits on every machine.

/// The natural logarithm of `x`.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// The natural logarithm of `1 + x`, exact for small `x`.
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// The logarithm of `x` to base two.
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}

/// e to the power of `x`.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// e to the power of `x`, less 1, exact for small `x`.
pub fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
}

/// `base` to the power of `exponent`.
pub fn pow(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}

/// The standard normal distribution's cumulative probability at `z`.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

/// Cosine and sine of an angle in radians.
pub fn cos_sin(angle: f64) -> (f64, f64) {
    let (sin, cos) = libm::sincos(angle);
    (cos, sin)
}

/// The natural logarithm of the gamma function of `x`.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}
