//! A level of the ladder that reads climb.

use serde::{Deserialize, Serialize};

/// A level of the ladder that reads climb, 0 the first: a sensing level, or a retry, where 0 is the
/// first attempt.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Level(pub u8);

impl Level {
    /// The first level.
    pub const FIRST: Level = Level(0);
    /// Above the last level of any ladder: what a page needs that no level decodes.
    pub const BEYOND: Level = Level(u8::MAX);

    /// The last of so many levels, at least one.
    #[inline]
    pub const fn last_of(levels: u8) -> Level {
        Level(levels - 1)
    }

    /// The next level.
    #[inline]
    pub const fn next(self) -> Level {
        Level(self.0 + 1)
    }

    /// The level as far below another as this one is above it; the first if there is none.
    #[inline]
    pub const fn mirrored(self, at: Level) -> Level {
        Level(at.0.saturating_sub(self.0 - at.0))
    }

    /// Its place in a list by level.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Retries of a read that starts at the first level and climbs to this one by one.
    #[inline]
    pub const fn retries(self) -> u8 {
        self.0
    }
}
