//! The levels that a read tries in order.

use serde::{Deserialize, Serialize};

/// A sensing level or a read retry, counted from 0. Among retries, level 0 is the first attempt.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Level(pub u8);

impl Level {
    /// The first level.
    pub const FIRST: Level = Level(0);
    /// A value above the last level of any ladder. It marks a page that no level decodes.
    pub const BEYOND: Level = Level(u8::MAX);

    /// Returns the last of `levels` levels. `levels` must be at least 1.
    #[inline]
    pub const fn last_of(levels: u8) -> Level {
        Level(levels - 1)
    }

    /// Returns the next level.
    pub const fn next(self) -> Level {
        Level(self.0.saturating_add(1))
    }

    /// Returns the level as far below `at` as this level is above it; the first level if there is
    /// none. This level must not be below `at`.
    pub const fn mirrored(self, at: Level) -> Level {
        Level(at.0.saturating_sub(self.0 - at.0))
    }

    /// Returns the level as an index into a table.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the retries of a read that tries every level from the first to this one.
    pub const fn retries(self) -> u8 {
        self.0
    }
}
