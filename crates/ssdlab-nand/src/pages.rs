//! The differences between the pages of a block, in models with read retries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_base::rng;

use crate::geometry::PageInBlock;
use crate::refusal::{Refusal, within};

/// The differences between the pages of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PagesConfig {
    /// Share of the worst page's errors by which the page furthest from it is better. Default: 9%.
    /// Source: ReadGuard, Fig. 18 (at most 3 of 16 retries within a block).
    pub spread: Share,
    /// Position around which the worst pages of all blocks lie, as a share of a block from its
    /// first page. It is the same in all chips of a make. Default: 75%. Assumed.
    pub centre: Share,
    /// Largest distance of a block's worst page from `centre` to either side, as a share of a
    /// block, up to half. Default: 5%. Assumed.
    pub scatter: Share,
}

impl Default for PagesConfig {
    fn default() -> PagesConfig {
        PagesConfig {
            spread: Share::new(0.09),
            centre: Share::new(0.75),
            scatter: Share::new(0.05),
        }
    }
}

impl PagesConfig {
    /// Refuses a `scatter` of more than half a block. `key` names the table of these settings.
    pub(crate) fn check(&self, key: &str) -> Result<(), Refusal> {
        within(&format!("{key}.scatter"), self.scatter.get(), 0.0, 0.5).map(drop)
    }
}

/// The differences between the pages of a block, resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pages {
    count: u32,
    /// Position around which the worst pages lie, in every chip of this make.
    centre: u32,
    /// Largest distance of a block's worst page from `centre`, to either side.
    scatter: u32,
    spread: f64,
}

impl Pages {
    /// Resolves the differences for blocks of `count` pages.
    pub(crate) fn new(config: &PagesConfig, count: u32) -> Pages {
        Pages {
            count,
            centre: config.centre.of(u64::from(count) - 1) as u32,
            scatter: config.scatter.of(u64::from(count)) as u32,
            spread: config.spread.get(),
        }
    }

    /// Returns the worst page of a block that has drawn `word`. It lies near `centre`, since the
    /// same layers are weak in every block.
    #[inline]
    pub(crate) fn worst(&self, word: u64) -> PageInBlock {
        let offset = rng::below(word, u64::from(2 * self.scatter + 1)) as u32;
        PageInBlock(((self.centre + self.count + offset - self.scatter) % self.count) as u16)
    }

    /// Returns the page's errors as a share of the worst page's: 1 at the worst page, 1 − `spread`
    /// at the page furthest from it.
    pub(crate) fn factor(&self, word: u64, page: PageInBlock) -> f64 {
        let distance = u32::from(page.0).abs_diff(u32::from(self.worst(word).0));
        let distance = distance.min(self.count - distance);
        1.0 - self.spread * f64::from(2 * distance) / f64::from(self.count)
    }
}
