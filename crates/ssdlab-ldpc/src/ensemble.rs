//! A regular ensemble of codes, and the criterion by which its long codes decode.

/// The regular codes with one degree of bits and one degree of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ensemble {
    /// Checks on each bit.
    pub bit: u32,
    /// Bits in each check.
    pub check: u32,
}

/// The code of Zhao et al., "LDPC-in-SSD", FAST 2013: rate 8/9, column weight 4, row weight 36.
pub const FLASH: Ensemble = Ensemble { bit: 4, check: 36 };

impl Ensemble {
    /// Returns the share of bits that carry information.
    pub fn rate(self) -> f64 {
        1.0 - f64::from(self.bit) / f64::from(self.check)
    }
}

/// Relative precision of the search for a threshold.
const NEAR: f64 = 2e-5;

/// Returns the largest raw bit error rate from `least` to `most` at which `decodes` holds, to one
/// part in 50,000.
pub fn threshold(mut least: f64, mut most: f64, decodes: impl Fn(f64) -> bool) -> f64 {
    while most - least > NEAR * most {
        let middle = (least + most) / 2.0;
        if decodes(middle) {
            least = middle;
        } else {
            most = middle;
        }
    }
    (least + most) / 2.0
}

/// Share of wrong bits at which decoding has succeeded: from there on it only falls.
pub const WON: f64 = 1e-9;
/// Iterations without a new minimum after which decoding has failed. In some decoders errors rise
/// before they fall.
const PATIENCE: u32 = 20;
/// A new minimum is below this part of the last one.
const FALLS: f64 = 1.0 - 1e-4;
/// Limit of iterations: more than any threshold to 1e-5 needs.
const MAX_ITERATIONS: u32 = 5_000;

/// Iterates a share of errors. Returns whether it falls below [`WON`].
pub(crate) fn wins(mut next: impl FnMut() -> f64) -> bool {
    let (mut least, mut since) = (1.0, 0);
    for _ in 0..MAX_ITERATIONS {
        let now = next();
        if now < WON {
            return true;
        }
        if now < least * FALLS {
            (least, since) = (now, 0);
        } else {
            since += 1;
        }
        if since > PATIENCE {
            return false;
        }
    }
    false
}
