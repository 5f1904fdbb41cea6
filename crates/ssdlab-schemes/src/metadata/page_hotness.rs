//! The hotness of pages: whether a page is mostly read or mostly written, by its uses in the
//! buffer. Source: HIRE, section 3.1 (the hotness identifier).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::choice;
use ssdlab_base::quantity::Share;
use ssdlab_nand::Lpn;
use ssdlab_nand::refusal::{IdleKey, Refusal};

use super::retry_estimate::NoEstimateConfig;
pub use ssdlab_policy::Hotness;
use ssdlab_policy::Learner;
use ssdlab_policy::account::Uses;
use ssdlab_policy::columns::{Column, Per};
use ssdlab_policy::component::{
    BlockMetadata, Component, ComponentConfig, ComponentFacts, FirstPass, PageMetadata, StartView,
};
use ssdlab_policy::event::{Event, EventContext, EventMask};

choice! {
    /// How the controller learns the hotness of pages.
    pub enum HotnessChoice {
        /// It does not learn it.
        none => None(NoEstimateConfig),
        /// By their uses in the buffer, when they leave it (HIRE).
        buffer => Buffer(HotnessConfig),
    } default none
}

impl HotnessChoice {
    /// Returns the settings, if the controller learns hotness.
    fn get(&self) -> Option<&HotnessConfig> {
        match self {
            HotnessChoice::None(_) => None,
            HotnessChoice::Buffer(config) => Some(config),
        }
    }
}

impl ComponentConfig for HotnessChoice {
    fn is_present(&self, _: bool) -> bool {
        self.get().is_some()
    }

    fn check(&self, _: u8) -> Result<(), Refusal> {
        self.get().map_or(Ok(()), HotnessConfig::check)
    }

    fn idle_keys(&self, facts: &ComponentFacts) -> Vec<IdleKey> {
        let Some(config) = self.get() else { return Vec::new() };
        let rewrite = (config.initial == InitialHotness::Rewrite).then(|| "rewrite".to_owned());
        vec![
            (
                "metadata.page_hotness",
                Some("buffer".to_owned()),
                !facts.has_buffer,
                "without a buffer to learn from: buffer.size is 0B",
            ),
            (
                "metadata.page_hotness.buffer.initial",
                rewrite,
                !facts.by_hotness,
                "without a link of program_mode that goes by hotness, such as \"per_hotness\"",
            ),
        ]
    }

    fn page_bytes(&self) -> u64 {
        self.get().map_or(0, |_| size_of::<Hotness>() as u64)
    }

    fn page_kinds(&self) -> u8 {
        self.get().map_or(1, |_| Hotness::COUNT as u8)
    }
}

/// Settings of `buffer`, the hotness identifier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HotnessConfig {
    /// The share of a page's uses in the buffer above which it is read-hot, or write-hot: from 50 %
    /// to below 100 %. Default: 0.95. Source: HIRE, section 3.1 (w).
    pub threshold: Share,
    /// The largest value of the use counters of a buffered page. Default: 255. Source: HIRE,
    /// section 3.3 (Nh); assumed.
    #[schemars(range(min = 1))]
    pub max_uses: u16,
    /// Initial hotness of the drive's data: `classified` (from a first pass of the workload through
    /// the same buffer), `none` (unknown), or `rewrite` (unknown). With `rewrite`, a clean page
    /// that leaves the buffer as read-hot, and was not programmed as such, is programmed again.
    /// Default: `classified`. Source: HIRE (ruled).
    pub initial: InitialHotness,
}

/// Initial hotness of the drive's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InitialHotness {
    /// From a first pass of the workload.
    #[default]
    Classified,
    /// Unknown, but clean read-hot pages are programmed again.
    Rewrite,
    /// Unknown.
    None,
}

impl Default for HotnessConfig {
    fn default() -> HotnessConfig {
        HotnessConfig {
            threshold: Share::new(0.95),
            max_uses: 255,
            initial: InitialHotness::default(),
        }
    }
}

impl HotnessConfig {
    /// Checks the settings.
    ///
    /// # Errors
    /// The first value that is out of its range.
    pub fn check(&self) -> Result<(), Refusal> {
        if !(0.5..1.0).contains(&self.threshold.get()) {
            let expected = "a share from 50% to below 100%";
            return Err(Refusal::new(
                "metadata.page_hotness.buffer.threshold",
                self.threshold,
                expected,
            ));
        }
        match self.max_uses {
            0 => Err(Refusal::new("metadata.page_hotness.buffer.max_uses", 0, "at least 1")),
            _ => Ok(()),
        }
    }
}

/// The hotness of every logical page when it last left the buffer.
#[derive(Clone, Debug)]
pub struct HotPages {
    threshold: f64,
    max_uses: u16,
    initial: InitialHotness,
    /// Capacity of the buffer, in pages.
    buffer_pages: u32,
    of: Vec<u8>,
    /// The hotness of the pages at the start, for reads of pages that no table holds.
    start: Vec<u8>,
    /// Number of pages that left the buffer, by hotness.
    found: [u64; Hotness::COUNT],
}

impl HotPages {
    /// Returns the state for `pages` logical pages of unknown hotness.
    pub fn new(config: &HotnessConfig, pages: u32, buffer_pages: u32) -> HotPages {
        HotPages {
            buffer_pages,
            threshold: config.threshold.get(),
            max_uses: config.max_uses,
            initial: config.initial,
            of: vec![Hotness::Mixed as u8; pages as usize],
            start: Vec::new(),
            found: [0; Hotness::COUNT],
        }
    }

    /// Sets and returns the hotness of a page that leaves the buffer after these uses.
    pub fn classify(&mut self, lpn: Lpn, uses: Uses) -> Hotness {
        let found = self.class_of(uses);
        self.of[lpn.index()] = found as u8;
        self.found[found as usize] += 1;
        found
    }

    fn class_of(&self, uses: Uses) -> Hotness {
        let [reads, writes] =
            [uses.reads, uses.writes].map(|uses| f64::from(uses.min(self.max_uses)));
        // A quotient and a threshold of the same value round alike, so equal shares compare as
        // equal.
        match reads + writes {
            all if reads / all > self.threshold => Hotness::Read,
            all if writes / all > self.threshold => Hotness::Write,
            _ => Hotness::Mixed,
        }
    }

    /// Returns the hotness of a page. A page of the map is mixed.
    pub fn of(&self, lpn: Lpn) -> Hotness {
        hotness(&self.of, lpn)
    }

    /// Returns whether all pages are unknown.
    fn is_blank(&self) -> bool {
        self.of.iter().all(|&of| of == Hotness::Mixed as u8)
    }

    /// Forgets the hotness of a page that no longer holds data.
    pub fn forget(&mut self, lpn: Lpn) {
        self.of[lpn.index()] = Hotness::Mixed as u8;
    }

    /// Returns the number of pages that left the buffer, by hotness.
    pub fn found(&self) -> [u64; Hotness::COUNT] {
        self.found
    }

    /// Returns the number of logical pages, by hotness.
    pub fn pages(&self) -> [u64; Hotness::COUNT] {
        Hotness::ALL.map(|hotness| self.of.iter().filter(|&&of| of == hotness as u8).count() as u64)
    }

    /// Resets the counts, but keeps the hotness of the pages.
    pub fn reset_counts(&mut self) {
        self.found = [0; Hotness::COUNT];
    }
}

/// Returns the hotness of a page in a table. A page outside the table is mixed.
fn hotness(table: &[u8], lpn: Lpn) -> Hotness {
    table.get(lpn.index()).map_or_else(Hotness::default, |&of| Hotness::ALL[usize::from(of)])
}

impl Component for HotPages {
    type Config = HotnessChoice;

    fn build(config: &HotnessChoice, view: &StartView) -> HotPages {
        let config = config.get().expect("a component that is present");
        HotPages::new(config, 0, view.context.buffer_pages)
    }

    fn begin(&mut self, view: &StartView) {
        self.of = vec![Hotness::Mixed as u8; view.host_pages as usize];
    }
}

impl BlockMetadata for HotPages {}

impl PageMetadata for HotPages {
    fn hotness(&self, lpn: Lpn) -> Option<Hotness> {
        Some(self.of(lpn))
    }

    fn hotness_at_start(&self, lpn: Lpn) -> Option<Hotness> {
        Some(hotness(&self.start, lpn))
    }

    fn reprograms_read_hot(&self) -> bool {
        self.initial == InitialHotness::Rewrite
    }

    fn first_pass(&self) -> FirstPass {
        match self.initial {
            InitialHotness::Classified if self.is_blank() => FirstPass::Needed,
            InitialHotness::Classified => FirstPass::Learned,
            InitialHotness::Rewrite | InitialHotness::None => FirstPass::NotNeeded,
        }
    }

    fn start_programmed(&mut self) {
        self.start.clone_from(&self.of);
    }
}

impl Learner for HotPages {
    fn name(&self) -> &'static str {
        "page_hotness"
    }

    fn events(&self) -> EventMask {
        EventMask::PAGE_EVICTED.and(EventMask::PAGE_TRIMMED).and(EventMask::COUNTS_RESET)
    }

    fn on_event(&mut self, event: &Event, _: &mut EventContext) {
        match *event {
            Event::PageEvicted { lpn, uses } => {
                self.classify(lpn, uses);
            }
            Event::PageTrimmed(lpn) => self.forget(lpn),
            Event::CountsReset => self.reset_counts(),
            _ => {}
        }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        // Bits for the numbers from 0 to `max_uses`.
        let counter = u64::from(u16::BITS - self.max_uses.leading_zeros());
        vec![
            Column::counted("buffer_uses", 2 * counter * u64::from(self.buffer_pages)),
            Column::new("page_hotness", Per::Page, &mut self.of)
                .bits(2)
                .up_to(Hotness::COUNT as u64 - 1),
        ]
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_policy::columns::metadata_bits;

    fn bits(pages: &mut HotPages) -> Vec<(&'static str, u64)> {
        metadata_bits(pages.columns(), 0)
    }

    use super::*;

    #[test]
    fn a_page_is_hot_if_more_than_the_share_of_its_uses_is_of_a_kind() {
        let mut pages = HotPages::new(&HotnessConfig::default(), 4, 0);
        let mut found = |reads, writes| pages.classify(Lpn(2), Uses { reads, writes });
        assert_eq!(
            [found(1, 0), found(0, 1), found(1, 1)],
            [Hotness::Read, Hotness::Write, Hotness::Mixed]
        );
        // 19 of 20 are 95 %, not more.
        assert_eq!([found(19, 1), found(20, 1)], [Hotness::Mixed, Hotness::Read]);
        assert_eq!([found(1, 19), found(1, 20)], [Hotness::Mixed, Hotness::Write]);
        assert_eq!((pages.of(Lpn(2)), pages.of(Lpn(1))), (Hotness::Write, Hotness::Mixed));
        assert_eq!(pages.found(), [2, 3, 2]);
        pages.forget(Lpn(2));
        assert_eq!(pages.of(Lpn(2)), Hotness::Mixed);
    }

    #[test]
    fn counters_stop_where_they_have_no_more_bits() {
        let config = HotnessConfig { max_uses: 15, ..HotnessConfig::default() };
        let mut pages = HotPages::new(&config, 1000, 100);
        assert_eq!(pages.classify(Lpn(0), Uses { reads: 1000, writes: 1 }), Hotness::Mixed);
        let mut uses = Uses { reads: u16::MAX, writes: 0 };
        uses.count(false);
        assert_eq!(uses.reads, u16::MAX);
        assert_eq!(bits(&mut pages), [("buffer_uses", 800), ("page_hotness", 2000)]);
        for (max_uses, bits) in [(1, 1), (16, 5), (255, 8)] {
            let config = HotnessConfig { max_uses, ..HotnessConfig::default() };
            assert_eq!(self::bits(&mut HotPages::new(&config, 0, 1))[0].1, 2 * bits);
        }
    }

    #[test]
    fn shares_that_nothing_is_above_are_refused() {
        for above in [0.4, 1.0] {
            let config = HotnessConfig { threshold: Share::new(above), ..HotnessConfig::default() };
            assert_eq!(config.check().unwrap_err().key, "metadata.page_hotness.buffer.threshold");
        }
        let config = HotnessConfig { max_uses: 0, ..HotnessConfig::default() };
        assert_eq!(config.check().unwrap_err().key, "metadata.page_hotness.buffer.max_uses");
    }
}
