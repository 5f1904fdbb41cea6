//! How many raw bit errors each level of a ladder of read attempts can bear.
//!
//! The levels of soft decoding are sensing levels: the more reference voltages between two states,
//! the better the decoder's information, the higher the raw bit error rate it corrects.

use std::sync::Arc;

use crate::level::Level;
use crate::refusal::{Refusal, positive};

/// Raw bit error rate that 1 to 7 sensing levels can decode: a rate-8/9 LDPC code of 4 KB at a
/// decode failure of 1e-15.
///
/// Source: levels 1 and 7 (0.0044, 0.0132) PV-read, Table III. Levels 2 to 6 assumed until they are
/// derived: the rates at which DLV's example table (Fig. 8: 28, 42, 56, 70, 85 days) leaves them
/// under its retention law.
pub const LDPC_CAPABILITY: [f64; 7] = [0.0044, 0.00644, 0.00809, 0.00953, 0.01082, 0.01209, 0.0132];

/// The same, derived from threshold voltages: normalised min-sum of the regular (4, 36) code, of
/// the page with the most boundaries, at 36,864 bits. Source: docs/concepts/ldpc.md (`ssdlab ldpc`
/// prints them; a test of ssdlab-ldpc derives them anew).
pub const LDPC_DERIVED: [f64; 7] = [0.00603, 0.01174, 0.01418, 0.01522, 0.01584, 0.01619, 0.01641];

/// Raw bit error rate that a BCH code of the same rate corrects. Source: PV-read, Table III.
pub const BCH_CAPABILITY: f64 = 0.0041;

/// The most levels a ladder may have.
pub const LEVELS_MAX: usize = 64;

/// What each level can bear, ascending.
#[derive(Clone, Debug)]
pub(crate) struct Ladder {
    limits: Arc<[f64]>,
}

impl Ladder {
    /// A ladder of these limits; `key` names them if they do not ascend.
    pub(crate) fn new(key: &str, limits: &[f64]) -> Result<Ladder, Refusal> {
        if limits.is_empty() || limits.len() > LEVELS_MAX {
            let expected = format!("1 to {LEVELS_MAX} values");
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

    /// A ladder whose limits are raw bit error rates.
    pub(crate) fn of_rates(key: &str, rates: &[f64]) -> Result<Ladder, Refusal> {
        let ladder = Ladder::new(key, rates)?;
        if rates[rates.len() - 1] < 0.5 {
            Ok(ladder)
        } else {
            let expected = "rates below 0.5, at which a bit says nothing";
            Err(Refusal::new(key, rates[rates.len() - 1], expected))
        }
    }

    /// What each level bears, from the first up.
    pub(crate) fn limits(&self) -> &[f64] {
        &self.limits
    }

    /// What the last level bears.
    pub(crate) fn last(&self) -> f64 {
        self.limits[self.limits.len() - 1]
    }

    /// The lowest level that bears `load`; `None` if not even the last does.
    #[inline]
    pub(crate) fn level_for(&self, load: f64) -> Option<Level> {
        // Counted rather than searched: no branch to guess, and the ladder is short.
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
