//! What a BCH code corrects.

use crate::code::BITS;
use crate::tail::corrected;

/// The field is GF(2^16): the least whose codes have 36,864 bits or more.
const FIELD_BITS: u64 = 16;
/// Bits of parity: as many as the LDPC code has, an eighth of 4 KiB.
const PARITY: u64 = 4_096;
/// Bits that are corrected: 16 bits of parity each.
pub const CORRECTS: u64 = PARITY / FIELD_BITS;

/// The raw bit error rate at which a codeword fails with a probability of `failure`: exact for a
/// decoder that corrects 256 bits and no more.
pub fn capability(failure: f64) -> f64 {
    corrected(BITS as u64, CORRECTS, failure)
}
