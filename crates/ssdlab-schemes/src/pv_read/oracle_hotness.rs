//! `placement = oracle_hotness`: the hottest pages go to the best blocks, with both known
//! beforehand. The oracle of PV-read, section III. The reads and writes of each page are counted
//! before the run. `metadata.block_class = "factory"` tells which blocks are good.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::rng::hash;
use ssdlab_nand::refusal::Refusal;

use ssdlab_policy::allocation::BlockClass;
use ssdlab_policy::event::{Event, EventContext, EventMask, PageUses};
use ssdlab_policy::placement::{PageView, PlacementNeeds, PlacementPolicy, PlacementView};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

/// The count that makes a page hot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Its reads: the ideal for reads.
    #[default]
    Reads,
    /// Its writes: wear leveling that knows the process variation.
    Writes,
}

/// The pages among which a page is ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Among {
    /// All pages of the drive: the best blocks are filled first.
    #[default]
    Drive,
    /// The pages that the workload touches: each class takes its share of these.
    Touched,
}

/// Settings of `oracle_hotness`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OracleHotnessConfig {
    /// The count that makes a page hot: its `reads` or its `writes`. Default: `reads`. Source:
    /// PV-read, section III.
    pub by: By,
    /// The pages among which each page is ranked. `drive`: all pages, so that the best blocks are
    /// filled first. `touched`: pages that the workload touches, so that each class takes its share
    /// of them. Under `drive`, pages that are never read go to the last class; with
    /// `by = "writes"`, pages that are never written are spread over the blocks that the others
    /// leave. Default: `drive`. Source: PV-read, section III (ruled).
    pub among: Among,
}

/// The purpose of the random numbers that spread pages which are never written.
const SPREAD: u64 = 0x0f_ac_1e;
/// No class: pages that the workload does not touch may go anywhere.
const ANY: BlockClass = BlockClass(u8::MAX);

/// Knows the hotness of pages before the run.
#[derive(Clone, Debug)]
pub struct OracleHotness {
    config: OracleHotnessConfig,
    seed: u64,
    /// Shares of all blocks in each class but the last.
    shares: Box<[f64]>,
    logical_pages: u32,
    /// The class that each page should have, or [`ANY`].
    class: Box<[BlockClass]>,
}

impl Policy for OracleHotness {
    type Config = OracleHotnessConfig;

    fn check(_: &OracleHotnessConfig, context: &PolicyContext) -> Result<(), Refusal> {
        if !context.classes.shares.is_empty() {
            return Ok(());
        }
        let expected = "blocks whose quality is known, too (metadata.block_class = \"factory\")";
        Err(Refusal::new("placement", "oracle_hotness", expected))
    }

    fn build(config: &OracleHotnessConfig, context: &PolicyContext) -> OracleHotness {
        OracleHotness {
            config: config.clone(),
            seed: context.seed,
            shares: context.classes.shares.clone().into(),
            logical_pages: context.logical_pages,
            class: Box::default(),
        }
    }

    fn events(&self) -> EventMask {
        EventMask::USES_KNOWN
    }

    fn on_event(&mut self, event: &Event, _: &mut EventContext) {
        if let Event::UsesKnown(uses) = event {
            self.rank(uses);
        }
    }
}

impl OracleHotness {
    /// Returns the class of the page with this rank, if `pages` pages are divided into classes.
    fn class_of_rank(&self, rank: usize, pages: f64) -> BlockClass {
        let mut summed = 0.0;
        let upto = self.shares.iter().map(|share| {
            summed += share * pages;
            summed
        });
        BlockClass(upto.filter(|&upto| rank as f64 >= upto).count() as u8)
    }

    /// Sorts the pages into classes by how often the run will use them.
    fn rank(&mut self, uses: &PageUses) {
        let counts = |page: u32| (uses.reads[page as usize], uses.writes[page as usize]);
        let touched = |&page: &u32| counts(page) != (0, 0);
        let mut ranked: Vec<u32> = (0..uses.reads.len() as u32).filter(touched).collect();
        // The hottest page comes first; among equals, the page with the fewest requests of the
        // other kind.
        let ranks = |&page: &u32| match (self.config.by, counts(page)) {
            (By::Reads, (reads, writes)) => (Reverse(reads), writes, page),
            (By::Writes, (reads, writes)) => (Reverse(writes), reads, page),
        };
        ranked.sort_unstable_by_key(ranks);
        let mut class = vec![ANY; uses.reads.len()];
        let used = ranked.partition_point(|page| ranks(page).0 != Reverse(0));
        let left = u64::from(self.logical_pages).saturating_sub(used as u64).max(1);
        for (rank, page) in ranked.iter().enumerate() {
            let Reverse(count) = ranks(page).0;
            class[*page as usize] = match self.config.among {
                Among::Touched => self.class_of_rank(rank, ranked.len() as f64),
                Among::Drive if count > 0 => self.class_of_rank(rank, self.logical_pages.into()),
                // Leveling by writes has no place for pages that are never written.
                Among::Drive if self.config.by == By::Writes => {
                    let rank = used + (hash(self.seed, SPREAD, (*page).into()) % left) as usize;
                    self.class_of_rank(rank, self.logical_pages.into())
                }
                Among::Drive => BlockClass(self.shares.len() as u8),
            };
        }
        self.class = class.into();
    }
}

impl PlacementPolicy for OracleHotness {
    fn fill(&mut self, _: &PlacementView, _: &mut PlacementHint) {}

    fn needs(_: &OracleHotnessConfig) -> PlacementNeeds {
        PlacementNeeds { pages: true, ..PlacementNeeds::default() }
    }

    fn fill_page(&mut self, view: &PageView, hint: &mut PlacementHint) {
        let class = self.class.get(view.lpn.index()).copied().filter(|&class| class != ANY);
        hint.quality = hint.quality.or(class);
    }
}

#[cfg(test)]
mod tests {

    use ssdlab_nand::{Cell, Geometry, Lpn};

    use super::*;
    use ssdlab_policy::ClassFacts;
    use ssdlab_policy::testing::SMALL;

    fn page(lpn: Lpn) -> PageView<'static> {
        PageView::of_write(lpn, &PlacementView::plain())
    }

    /// Returns the classes of eight pages of a drive with sixteen. Its classes hold a quarter, a
    /// quarter and a half.
    fn classes(by: By, among: Among) -> [u8; 8] {
        let geometry = Geometry { cell: Cell::Mlc, ..SMALL };
        let classes = ClassFacts { shares: vec![0.25, 0.25], ..ClassFacts::default() };
        let context = PolicyContext { classes, ..PolicyContext::plain(geometry, 1) };
        let config = OracleHotnessConfig { by, among };
        assert!(OracleHotness::check(&config, &context).is_ok());
        let mut known = OracleHotness::build(&config, &context);
        known.rank(&PageUses {
            reads: vec![9, 8, 7, 6, 5, 0, 0, 0],
            writes: vec![0, 0, 1, 2, 3, 4, 5, 0],
        });
        let mut hints = [PlacementHint::default(); 8];
        (0..).map(Lpn).zip(&mut hints).for_each(|(lpn, hint)| known.fill_page(&page(lpn), hint));
        hints.map(|hint| hint.quality.unwrap_or(ANY).0)
    }

    #[test]
    fn the_hottest_pages_get_the_best_blocks() {
        // Seven pages are touched: 1.75 for each of the first two classes. A quarter of the drive
        // is four pages.
        assert_eq!(classes(By::Reads, Among::Touched), [0, 0, 1, 1, 2, 2, 2, ANY.0]);
        assert_eq!(classes(By::Writes, Among::Touched), [2, 2, 2, 1, 1, 0, 0, ANY.0]);
        assert_eq!(classes(By::Reads, Among::Drive), [0, 0, 0, 0, 1, 2, 2, ANY.0]);
        let by_writes = classes(By::Writes, Among::Drive);
        assert_eq!(by_writes[2..], [1, 0, 0, 0, 0, ANY.0]);
        assert!(by_writes[..2].iter().all(|&class| class == 1 || class == 2), "{by_writes:?}");
    }

    #[test]
    fn pages_that_are_never_written_are_spread_over_what_the_others_leave() {
        let pages = 1000;
        let mut known = OracleHotness {
            config: OracleHotnessConfig { by: By::Writes, among: Among::Drive },
            seed: 1,
            shares: [0.25, 0.25].into(),
            logical_pages: pages,
            class: Box::default(),
        };
        let mut uses = PageUses { reads: vec![1; pages as usize], writes: vec![0; pages as usize] };
        uses.writes[..250].fill(1);
        known.rank(&uses);
        assert!(known.class[..250].iter().all(|&class| class == BlockClass(0)));
        let spread = known.class[250..].iter().filter(|&&class| class == BlockClass(1)).count();
        assert!((200..300).contains(&spread), "a third of the rest: {spread}");
        assert!(known.class[250..].iter().all(|&class| class != BlockClass(0)));
    }

    #[test]
    fn another_link_goes_first() {
        let mut known = OracleHotness {
            config: OracleHotnessConfig::default(),
            seed: 1,
            shares: Box::default(),
            logical_pages: 1,
            class: vec![BlockClass(1)].into(),
        };
        let mut hint = PlacementHint { quality: Some(BlockClass(0)), ..PlacementHint::default() };
        known.fill_page(&page(Lpn(0)), &mut hint);
        assert_eq!(hint.quality, Some(BlockClass(0)));
        known.fill_page(&page(Lpn(7)), &mut hint);
        assert_eq!(hint.quality, Some(BlockClass(0)));
    }
}
