//! The capability of a BCH code.

use crate::code::BITS;
use crate::tail::corrected;

/// Bits of the field GF(2^16), the smallest whose codes have 36,864 bits or more.
const FIELD_BITS: u64 = 16;
/// Parity bits: as many as the LDPC code has, an eighth of 4 KiB.
const PARITY: u64 = 4_096;
/// Bits that the code corrects: one for each 16 bits of parity.
pub const CORRECTS: u64 = PARITY / FIELD_BITS;

/// Returns the raw bit error rate at which a codeword fails with probability `failure`. The rate is
/// exact for a decoder that corrects 256 bits and no more.
pub fn capability(failure: f64) -> f64 {
    corrected(BITS as u64, CORRECTS, failure)
}
