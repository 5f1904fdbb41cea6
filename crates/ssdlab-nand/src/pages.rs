//! How the pages of a block differ, in chips whose reads climb by retries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_base::rng;

use crate::geometry::PageInBlock;
use crate::refusal::{Refusal, within};

/// How the pages of a block differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PagesConfig {
    /// Part of the worst page's errors that the page furthest from it is spared. Default: 9%.
    /// Source: ReadGuard, Fig. 18 (at most 3 of 16 retries within a block).
    pub spread: Share,
    /// Where in a block its worst pages lie, as a part of it from its first page: the same in all
    /// chips of a make. Default: 75%. Assumed.
    pub centre: Share,
    /// Part of a block, to either side of that place, over which the worst pages of blocks are
    /// scattered, up to half. Default: 5%. Assumed.
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
    /// Refuses what is no place in a block; the settings stand under `key`.
    pub(crate) fn check(&self, key: &str) -> Result<(), Refusal> {
        within(&format!("{key}.scatter"), self.scatter.get(), 0.0, 0.5).map(drop)
    }
}

/// Where the worst pages lie, and how much better the best page of a block is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pages {
    count: u32,
    /// The place of worst pages in every chip of this make.
    centre: u32,
    /// Places around the centre over which blocks' worst pages are scattered, one side.
    scatter: u32,
    spread: f64,
}

impl Pages {
    /// Those of blocks of so many pages.
    pub(crate) fn new(config: &PagesConfig, count: u32) -> Pages {
        Pages {
            count,
            centre: config.centre.of(u64::from(count) - 1) as u32,
            scatter: config.scatter.of(u64::from(count)) as u32,
            spread: config.spread.get(),
        }
    }

    /// The worst page of a block that has drawn this word: near the place of its make, since the
    /// same layers are weak in every block.
    #[inline]
    pub(crate) fn worst(&self, word: u64) -> PageInBlock {
        let aside = rng::below(word, u64::from(2 * self.scatter + 1)) as u32;
        PageInBlock(((self.centre + self.count + aside - self.scatter) % self.count) as u16)
    }

    /// 1 at the worst page, less by `spread` at the page furthest from it.
    #[inline]
    pub(crate) fn factor(&self, word: u64, page: PageInBlock) -> f64 {
        let apart = u32::from(page.0).abs_diff(u32::from(self.worst(word).0));
        let apart = apart.min(self.count - apart);
        1.0 - self.spread * f64::from(2 * apart) / f64::from(self.count)
    }
}
