//! The raw bit errors that each level can decode, for sensing levels and for read retries.
//!
//! Soft decoding uses sensing levels. More reference voltages between two states give the decoder
//! better information, so that it corrects a higher raw bit error rate.

use std::sync::Arc;

use crate::level::Level;
use crate::refusal::{Refusal, positive};

/// Raw bit error rate that 1 to 7 sensing levels can decode. The code is a rate-8/9 LDPC code of 4
/// KB at a decode failure of 1e-15.
///
/// Source: PV-read, Table III for levels 1 and 7 (0.0044, 0.0132). Levels 2 to 6 are assumed. They
/// are the rates at the ages (28, 42, 56, 70, 85 days) at which DLV's example table (Fig. 8) moves
/// to the next level, under DLV's retention law.
pub const LDPC_CAPABILITY: [f64; 7] = [0.0044, 0.00644, 0.00809, 0.00953, 0.01082, 0.01209, 0.0132];

/// Raw bit error rate that 1 to 7 sensing levels can decode, derived from threshold voltages. The
/// decoder is normalized min-sum of the regular (4, 36) code at 36,864 bits; the page is the one
/// with the most boundaries. Source: docs/concepts/ldpc.md. `ssdlab ldpc` prints these rates, and a
/// test of ssdlab-ldpc derives them again.
pub const LDPC_DERIVED: [f64; 7] = [0.00603, 0.01174, 0.01418, 0.01522, 0.01584, 0.01619, 0.01641];

/// Raw bit error rate that a BCH code of the same rate corrects. Source: PV-read, Table III.
pub const BCH_CAPABILITY: f64 = 0.0041;

/// Largest number of levels of a ladder.
pub const MAX_LEVELS: usize = 64;
/// Largest number of retries of a read: each senses at a level after the first one's.
pub(crate) const MAX_RETRIES: u8 = MAX_LEVELS as u8 - 1;

/// The load that each level decodes, ascending: a raw bit error rate, or raw bit errors of a
/// codeword.
#[derive(Clone, Debug)]
pub(crate) struct Ladder {
    limits: Arc<[f64]>,
}

impl Ladder {
    /// Returns a ladder of these limits. The error names `key` if they do not ascend.
    pub(crate) fn new(key: &str, limits: &[f64]) -> Result<Ladder, Refusal> {
        if limits.is_empty() || limits.len() > MAX_LEVELS {
            let expected = format!("1 to {MAX_LEVELS} values");
            return Err(Refusal::new(key, format!("{} values", limits.len()), expected));
        }
        for &limit in limits {
            positive(key, limit)?;
        }
        if limits.windows(2).all(|pair| pair[0] < pair[1]) {
            Ok(Ladder { limits: limits.into() })
        } else {
            Err(Refusal::new(key, format!("{limits:?}"), "ascending values"))
        }
    }

    /// Returns a ladder whose limits are raw bit error rates below 0.5.
    pub(crate) fn of_rates(key: &str, rates: &[f64]) -> Result<Ladder, Refusal> {
        let ladder = Ladder::new(key, rates)?;
        if rates[rates.len() - 1] < 0.5 {
            Ok(ladder)
        } else {
            let expected = "rates below 0.5 (at 0.5 a bit carries no information)";
            Err(Refusal::new(key, rates[rates.len() - 1], expected))
        }
    }

    /// Returns the limit of each level, from the first up.
    pub(crate) fn limits(&self) -> &[f64] {
        &self.limits
    }

    /// Returns the limit of the last level.
    pub(crate) fn last(&self) -> f64 {
        self.limits[self.limits.len() - 1]
    }

    /// Returns the lowest level whose limit is at least `load`, or `None` if no level suffices.
    #[inline]
    pub(crate) fn level_for(&self, load: f64) -> Option<Level> {
        // Counting avoids a branch that the processor must predict, and the ladder is short.
        let passed = self.limits.iter().map(|&limit| u32::from(load > limit)).sum::<u32>();
        ((passed as usize) < self.limits.len()).then_some(Level(passed as u8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retention::RetentionConfig;

    #[test]
    fn a_load_needs_the_lowest_level_that_bears_it() {
        let ladder = Ladder::new("capability", &LDPC_CAPABILITY).unwrap();
        assert_eq!(ladder.level_for(0.0), Some(Level(0)));
        assert_eq!(ladder.level_for(0.0044), Some(Level(0)));
        assert_eq!(ladder.level_for(0.004_400_1), Some(Level(1)));
        assert_eq!(ladder.level_for(0.0132), Some(Level(6)));
        assert_eq!(ladder.level_for(0.013_200_1), None);
    }

    #[test]
    fn levels_between_are_those_of_dlvs_example_table() {
        let added = RetentionConfig::default().resolve("retention").unwrap();
        let starts = [14.0, 28.0, 42.0, 56.0, 70.0, 85.0];
        for (level, days) in starts.into_iter().enumerate() {
            let rate = 3.7e-4 + added.at(days);
            assert!((rate - LDPC_CAPABILITY[level]).abs() < 1e-5, "level {}: {rate}", level + 1);
        }
    }

    #[test]
    fn a_ladder_that_does_not_ascend_is_refused() {
        assert!(Ladder::new("capability", &[]).is_err());
        assert!(Ladder::new("capability", &[0.0]).is_err());
        assert!(Ladder::new("capability", &[f64::NAN]).is_err());
        let refusal = Ladder::new("capability", &[0.01, 0.01]).unwrap_err();
        assert_eq!(refusal.expected, "ascending values");
    }
}
