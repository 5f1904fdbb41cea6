//! `placement = sepbit`: SepBIT, which infers when a page will be overwritten. Pages that will be
//! overwritten at about the same time share blocks.
//!
//! Source: Q. Wang, J. Li, P. P. C. Lee, T. Ouyang, C. Shi and L. Huang, "Separating Data via Block
//! Invalidation Time Inference for Write Amplification Reduction in Log-Structured Storage", FAST
//! 2022, section 3. Its clock counts the pages that the host writes. It expects a host write to
//! live as long as the version that it overwrites (classes 1 and 2). Pages that move out of a block
//! of class 1 have a separate class (3). All other pages that move are sorted by age (4 to 6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::BlockId;
use ssdlab_nand::refusal::Refusal;

use ssdlab_policy::account::Cause;
use ssdlab_policy::allocation::{StreamId, Streams, Writer};
use ssdlab_policy::columns::{Column, Per};
use ssdlab_policy::event::{Event, EventContext, EventMask};
use ssdlab_policy::placement::{PageView, PlacementNeeds, PlacementPolicy, PlacementView};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

/// Settings of `sepbit`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SepBitConfig {
    /// Whether pages that the host writes are separated. Default: true. Source: SepBIT, section 4.2
    /// (false: its GW).
    pub host: bool,
    /// Whether pages that move are separated. Default: true. Source: SepBIT, section 4.2 (false:
    /// its UW).
    pub gc: bool,
    /// Number of collected blocks of class 1 whose mean lifespan separates short and long lives.
    /// Default: 16. Source: SepBIT, section 3.4 (n_c).
    #[schemars(range(min = 1))]
    pub window: u32,
    /// Multiples of that lifespan up to which the age of a moved page puts it into class 4, and
    /// into class 5. Default: 4 and 16. Source: SepBIT, section 3.4.
    pub age_bounds: [f64; 2],
}

impl Default for SepBitConfig {
    fn default() -> SepBitConfig {
        SepBitConfig { host: true, gc: true, window: 16, age_bounds: [4.0, 16.0] }
    }
}

/// The write time of a page without a known write.
const NEVER: u32 = 0;

/// The six classes of the paper.
const SHORT: StreamId = StreamId(0);
const LONG: StreamId = StreamId(1);
const FROM_SHORT: StreamId = StreamId(2);
const YOUNG: StreamId = StreamId(3);
const MIDDLE: StreamId = StreamId(4);
const OLD: StreamId = StreamId(5);

/// Chooses a stream for each page.
#[derive(Clone, Debug)]
pub struct SepBit {
    config: SepBitConfig,
    /// The clock: the number of pages that the host has written.
    clock: u32,
    /// When the host last wrote each page.
    written: Vec<u32>,
    /// The class of each block, and when its first page was written.
    stream: Vec<u8>,
    opened: Vec<u32>,
    /// The mean lifespan of recently collected blocks of class 1.
    lifespan: f64,
    /// The sum of the lifespans since the last mean, and their number.
    collected: (u64, u32),
}

impl Policy for SepBit {
    type Config = SepBitConfig;

    fn check(config: &SepBitConfig, _: &PolicyContext) -> Result<(), Refusal> {
        if config.window == 0 {
            return Err(Refusal::new("placement[].sepbit.window", 0, "at least 1"));
        }
        let [young, middle] = config.age_bounds;
        if !(young > 0.0 && middle >= young && middle.is_finite()) {
            let found = format!("{:?}", config.age_bounds);
            let expected = "two numbers above 0, the second not below the first";
            return Err(Refusal::new("placement[].sepbit.age_bounds", found, expected));
        }
        Ok(())
    }

    fn build(config: &SepBitConfig, context: &PolicyContext) -> SepBit {
        let blocks = context.geometry.block_count() as usize;
        SepBit {
            config: config.clone(),
            clock: NEVER + 1,
            written: vec![NEVER; context.logical_pages as usize],
            stream: vec![LONG.0; blocks],
            opened: vec![0; blocks],
            lifespan: f64::MAX,
            collected: (0, 0),
        }
    }

    fn events(&self) -> EventMask {
        let blocks = EventMask::BLOCK_OPENED.and(EventMask::BLOCK_COLLECTED);
        blocks.and(EventMask::PAGE_PROGRAMMED).and(EventMask::PAGE_TRIMMED)
    }

    fn on_event(&mut self, event: &Event, _: &mut EventContext) {
        match *event {
            Event::BlockOpened(opened) => {
                let is_host = opened.writer == Writer::Host;
                let stream = if is_host { opened.stream } else { opened.stream.max(LONG) };
                self.stream[opened.block.index()] = stream.0;
                self.opened[opened.block.index()] = self.clock;
            }
            Event::BlockCollected(block) => self.collect(block),
            Event::PageProgrammed(page) if is_host_write(page.cause) => {
                self.written[page.lpn.index()] = self.clock;
                self.clock = self.clock.saturating_add(1);
            }
            Event::PageTrimmed(lpn) => self.written[lpn.index()] = NEVER,
            _ => {}
        }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        let window = u64::from(self.config.window);
        let (lifespans, blocks) = &mut self.collected;
        vec![
            Column::new("page_write_times", Per::Page, &mut self.written).bits(u32::BITS.into()),
            Column::new("pages_written", Per::Drive, &mut self.clock),
            Column::new("block_streams", Per::Block, &mut self.stream).up_to(OLD.0.into()),
            Column::new("block_open_times", Per::Block, &mut self.opened),
            Column::new("bound", Per::Drive, &mut self.lifespan),
            Column::new("lifespans", Per::Drive, lifespans).up_to(window * u64::from(u32::MAX)),
            Column::new("blocks_collected", Per::Drive, blocks).up_to(window),
        ]
    }
}

/// Returns whether a page that is written for this cause counts as written by the host. The map's
/// own pages are written as often as the host's pages that cause it.
fn is_host_write(cause: Cause) -> bool {
    matches!(cause, Cause::Host | Cause::Rmw | Cause::Mapping)
}

impl SepBit {
    fn stream_of(&self, block: BlockId) -> StreamId {
        StreamId(self.stream[block.index()])
    }

    /// Updates the mean lifespan when a block is collected.
    fn collect(&mut self, block: BlockId) {
        if self.stream_of(block) != SHORT {
            return;
        }
        let lifespan = self.clock.saturating_sub(self.opened[block.index()]);
        let (sum, count) = self.collected;
        self.collected = (sum + u64::from(lifespan), count + 1);
        if self.collected.1 >= self.config.window {
            self.lifespan = self.collected.0 as f64 / f64::from(self.config.window);
            self.collected = (0, 0);
        }
    }

    /// Returns how long ago the host wrote a page, by its clock; infinity if no write is known.
    fn age(&self, page: &PageView) -> f64 {
        match self.written[page.lpn.index()] {
            NEVER => f64::INFINITY,
            at => f64::from(self.clock.saturating_sub(at)),
        }
    }

    /// Returns the stream of a page that the host writes.
    fn write(&self, page: &PageView) -> StreamId {
        let is_short = !self.config.host || self.age(page) < self.lifespan;
        if is_short { SHORT } else { LONG }
    }

    /// Returns the stream of a page that moves.
    fn moved(&self, page: &PageView) -> StreamId {
        if !self.config.gc {
            return FROM_SHORT;
        }
        let from = page.from.map(|block| self.stream_of(block));
        if self.config.host && from == Some(SHORT) {
            return FROM_SHORT;
        }
        let [young, middle] = self.config.age_bounds.map(|bound| bound * self.lifespan);
        match self.age(page) {
            age if age < young => YOUNG,
            age if age < middle => MIDDLE,
            _ => OLD,
        }
    }
}

impl PlacementPolicy for SepBit {
    fn streams(config: &SepBitConfig) -> Streams {
        let count = match (config.host, config.gc) {
            (_, true) => 6,
            (true, false) => 3,
            (false, false) => 1,
        };
        Streams { count, default: SHORT }
    }

    fn needs(_: &SepBitConfig) -> PlacementNeeds {
        PlacementNeeds { pages: true, ..PlacementNeeds::default() }
    }

    fn fill(&mut self, _: &PlacementView, _: &mut PlacementHint) {}

    fn fill_page(&mut self, page: &PageView, hint: &mut PlacementHint) {
        let stream = if is_host_write(page.cause) { self.write(page) } else { self.moved(page) };
        hint.stream.get_or_insert(stream);
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_nand::{Lpn, PageInBlock};

    use super::*;
    use ssdlab_policy::event::{BlockOpened, Programmed};
    use ssdlab_policy::testing::SMALL;
    use ssdlab_policy::testing::publish;

    fn sepbit(config: SepBitConfig) -> SepBit {
        let context = PolicyContext::plain(SMALL, 1);
        assert!(SepBit::check(&config, &context).is_ok());
        SepBit::build(&config, &context)
    }

    /// Returns the stream of a page that is written for this cause and lies in this block now.
    fn of(policy: &mut SepBit, lpn: u32, cause: Cause, from: Option<u32>) -> u8 {
        let write = PlacementView { cause, ..PlacementView::plain() };
        let page = PageView { from: from.map(BlockId), ..PageView::of_write(Lpn(lpn), &write) };
        let mut hint = PlacementHint::default();
        policy.fill_page(&page, &mut hint);
        hint.stream.expect("a stream for each page").0
    }

    /// Writes a page; returns its stream.
    fn write(policy: &mut SepBit, lpn: u32) -> u8 {
        let stream = of(policy, lpn, Cause::Host, None);
        program(policy, lpn, Cause::Host);
        stream
    }

    fn program(policy: &mut SepBit, lpn: u32, cause: Cause) {
        let (lpn, block, page) = (Lpn(lpn), BlockId(0), PageInBlock(0));
        publish(policy, &Event::PageProgrammed(&Programmed { lpn, block, page, cause }));
    }

    /// Opens a block of class 1, and collects it after this number of host writes.
    fn live(policy: &mut SepBit, writes: u32) {
        let opened = BlockOpened { block: BlockId(0), writer: Writer::Host, stream: SHORT };
        publish(policy, &Event::BlockOpened(&opened));
        for _ in 0..writes {
            write(policy, 0);
        }
        publish(policy, &Event::BlockCollected(BlockId(0)));
    }

    #[test]
    fn a_write_lives_as_short_as_the_version_that_it_overwrites() {
        let mut policy = sepbit(SepBitConfig { window: 2, ..SepBitConfig::default() });
        assert_eq!([write(&mut policy, 1), write(&mut policy, 1)], [1, 0], "no bound is known yet");
        live(&mut policy, 6);
        assert_eq!(policy.lifespan, f64::MAX, "one block is not enough");
        live(&mut policy, 2);
        assert_eq!(policy.lifespan, 4.0, "the mean of two");
        write(&mut policy, 1);
        for _ in 0..3 {
            write(&mut policy, 0);
        }
        assert_eq!(write(&mut policy, 1), 1, "four writes ago is no less than four");
        for _ in 0..2 {
            write(&mut policy, 0);
        }
        assert_eq!(write(&mut policy, 1), 0);
        publish(&mut policy, &Event::PageTrimmed(Lpn(1)));
        assert_eq!(write(&mut policy, 1), 1, "nothing is known of a page that was trimmed");
    }

    #[test]
    fn what_is_moved_is_sorted_by_where_it_lay_and_by_its_age() {
        let mut policy = sepbit(SepBitConfig { window: 1, ..SepBitConfig::default() });
        live(&mut policy, 2);
        for (block, stream) in [(1, SHORT), (2, LONG)] {
            let opened = BlockOpened { block: BlockId(block), writer: Writer::Host, stream };
            publish(&mut policy, &Event::BlockOpened(&opened));
        }
        write(&mut policy, 1);
        let mut at_ages = Vec::new();
        for age in 1..=33 {
            at_ages.push((age, of(&mut policy, 1, Cause::Gc, Some(2))));
            assert_eq!(of(&mut policy, 1, Cause::Gc, Some(1)), 2, "out of a block of class 1");
            write(&mut policy, 0);
        }
        // The bound is two writes: 8 and 32 separate the ages.
        assert!(
            at_ages
                .iter()
                .all(|&(age, stream)| stream
                    == [3, 4, 5][(age >= 8) as usize + (age >= 32) as usize])
        );
        assert_eq!(of(&mut policy, 2, Cause::Gc, None), 5, "of which no write is known");
    }

    #[test]
    fn the_clock_counts_pages_that_were_programmed_for_the_host() {
        let mut policy = sepbit(SepBitConfig::default());
        of(&mut policy, 1, Cause::Host, None);
        assert_eq!((policy.clock, policy.written[1]), (1, NEVER), "a choice teaches nothing");
        for cause in [Cause::Host, Cause::Rmw, Cause::Mapping, Cause::Gc, Cause::Wl] {
            program(&mut policy, 1, cause);
        }
        assert_eq!((policy.clock, policy.written[1]), (4, 3));
    }

    #[test]
    fn each_half_can_be_left_out() {
        let halves = |host, gc| SepBitConfig { host, gc, window: 1, ..SepBitConfig::default() };
        assert_eq!(SepBit::streams(&halves(false, false)), Streams::ONE);
        let mut host_alone = sepbit(halves(true, false));
        live(&mut host_alone, 2);
        assert_eq!(of(&mut host_alone, 3, Cause::Gc, Some(0)), 2);
        let mut gc_alone = sepbit(halves(false, true));
        live(&mut gc_alone, 2);
        assert_eq!([write(&mut gc_alone, 3), write(&mut gc_alone, 3)], [0, 0]);
        assert_eq!(of(&mut gc_alone, 3, Cause::Gc, Some(0)), 3, "by its age alone");
    }

    #[test]
    fn bounds_that_fall_and_an_empty_window_are_refused() {
        let falls = SepBitConfig { age_bounds: [4.0, 2.0], ..SepBitConfig::default() };
        let plain = PolicyContext::plain(SMALL, 1);
        assert_eq!(SepBit::check(&falls, &plain).unwrap_err().key, "placement[].sepbit.age_bounds");
        let none = SepBitConfig { window: 0, ..SepBitConfig::default() };
        assert_eq!(SepBit::check(&none, &plain).unwrap_err().key, "placement[].sepbit.window");
    }
}
