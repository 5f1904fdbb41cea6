//! Requests for blocks and pages, and the settings of the allocator.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::PageType;

/// The source of a write. In the strict order each writer fills blocks of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Writer {
    /// Host data.
    Host,
    /// Pages that garbage collection moves. They may share the host's blocks ([`GcStream`]).
    Gc,
    /// Pages that static wear leveling moves. They go to the most worn free block.
    Cold,
}

impl Writer {
    /// Number of writers of a plane.
    pub const COUNT: usize = 3;
    /// All writers.
    pub const ALL: [Writer; Writer::COUNT] = [Writer::Host, Writer::Gc, Writer::Cold];
}

/// A stream: data that is expected to be overwritten at about the same time shares blocks. The
/// placement policy defines the meaning of each number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StreamId(pub u8);

impl StreamId {
    /// Returns the index of the stream in a list by stream.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A class of blocks, 0 the best. The metadata decides how blocks are sorted into classes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BlockClass(pub u8);

impl BlockClass {
    /// The best class. On a drive that sorts no blocks it is the only class.
    pub const BEST: BlockClass = BlockClass(0);
    /// The largest number of classes. Source: DLV, section III-D (four) and PV-read, Table I
    /// (seven).
    pub const MAX_COUNT: usize = 8;

    /// Returns the index of the class in a list by class.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the classes with these numbers, the best first.
    pub fn numbered(numbers: Range<usize>) -> impl DoubleEndedIterator<Item = BlockClass> {
        numbers.map(|number| BlockClass(number as u8))
    }
}

/// How a drive sorts its blocks into classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClassLayout {
    /// Number of classes.
    pub count: usize,
    /// Number of classes that are reserved, from the best up. The allocator gives their pages only
    /// on request.
    pub reserved_classes: usize,
    /// Whether classes are priorities.
    pub by_priority: bool,
    /// Whether the drive learns the classes as it runs, so that a state file must carry them.
    pub is_learned: bool,
    /// Number of consecutive planes among which a page may move to another class.
    pub move_span: u32,
}

/// The streams for which each writer has an open block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Streams {
    /// Number of streams, 1 to [`Streams::MAX_COUNT`].
    pub count: u8,
    /// The stream of a page for which no policy chooses a stream.
    pub default: StreamId,
}

impl Streams {
    /// The largest number of streams. Assumed: as many as NVMe drives with streams have offered.
    pub const MAX_COUNT: u8 = 16;
    /// A single stream for all pages.
    pub const ONE: Streams = Streams { count: 1, default: StreamId(0) };

    /// Returns the stream that the allocator uses for a request.
    #[inline]
    pub fn of(self, requested: Option<StreamId>) -> StreamId {
        match requested {
            Some(stream) => StreamId(stream.0.min(self.count - 1)),
            None => self.default,
        }
    }
}

/// The order in which the pages of a block are programmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PageSequence {
    /// In the order of their numbers: the conventional order.
    #[default]
    Strict,
    /// The pages of each type in their own order; a page follows the page of the next lower type.
    Relaxed,
}

/// Which blocks of a plane take the pages that garbage collection moves, in the strict order. In
/// the relaxed order all writers share the blocks of a plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GcStream {
    /// Separate blocks.
    #[default]
    Separate,
    /// The host's blocks: a plane has one open block for both.
    Shared,
}

/// A request for a page. The allocator decides each property that is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllocRequest {
    /// The class of the block.
    pub class: Option<BlockClass>,
    /// The page type. The allocator heeds it only in the relaxed order.
    pub page_type: Option<PageType>,
    /// The stream of the other pages of the block. The allocator heeds it only in the strict order.
    pub stream: Option<StreamId>,
}

/// Which free block of a plane the drive opens next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FreeBlockPolicy {
    /// The block that has been free for longest: no wear leveling.
    LongestFree,
    /// The block with the fewest erases.
    #[default]
    LeastErased,
    /// The block whose codewords had the fewest errors when the drive measured it.
    FewestErrors,
    /// The block that is predicted to last longest.
    Healthiest,
    /// The block that is expected to need the fewest retries.
    FewestRetries,
    /// The block with the lowest rank that a policy has set by an action.
    LowestRank,
}

impl FreeBlockPolicy {
    /// Returns whether the policy uses measurements that the drive makes when it reads blocks.
    pub fn measures(self) -> bool {
        matches!(self, FreeBlockPolicy::FewestErrors | FreeBlockPolicy::Healthiest)
    }

    /// Returns the name of the policy in a config.
    pub fn name(self) -> &'static str {
        match self {
            FreeBlockPolicy::LongestFree => "longest_free",
            FreeBlockPolicy::LeastErased => "least_erased",
            FreeBlockPolicy::FewestErrors => "fewest_errors",
            FreeBlockPolicy::Healthiest => "healthiest",
            FreeBlockPolicy::FewestRetries => "fewest_retries",
            FreeBlockPolicy::LowestRank => "lowest_rank",
        }
    }
}

/// The settings of the block allocator.
#[derive(Clone, Copy, Debug)]
pub struct AllocatorConfig {
    /// Free blocks of a plane that only a job may open.
    pub reserve: u32,
    /// Which free block the allocator opens next.
    pub free_block_policy: FreeBlockPolicy,
    /// Number of block classes.
    pub classes: usize,
    /// The order in which the pages of a block are programmed.
    pub order: PageSequence,
    /// The blocks that take the pages that garbage collection moves.
    pub gc_stream: GcStream,
    /// Number of classes that are reserved, the best first.
    pub reserved_classes: usize,
    /// Whether classes are priorities. Then the drive divides its free blocks into subpools, one
    /// for each priority.
    pub by_priority: bool,
    /// Whether the last class holds data of no priority. It has no subpool.
    pub unowned: bool,
    /// The streams for which each writer has an open block.
    pub streams: Streams,
}
