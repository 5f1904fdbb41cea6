//! The words in which blocks and pages are asked for, and how an allocator keeps and gives them
//! out.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::PageType;

/// Who writes. In the strict order each writer fills blocks of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Writer {
    /// Host data.
    Host,
    /// Pages that garbage collection moves; they may share the host's blocks ([`GcStream`]).
    Gc,
    /// Pages that static wear leveling moves: they go to the most worn free block.
    Cold,
}

impl Writer {
    /// How many writers a plane has.
    pub const COUNT: usize = 3;
    /// All of them.
    pub const ALL: [Writer; Writer::COUNT] = [Writer::Host, Writer::Gc, Writer::Cold];
}

/// A stream: data that is expected to be overwritten at about the same time shares blocks. What
/// each number stands for is the placement's affair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StreamId(pub u8);

impl StreamId {
    /// Its place in a list by stream.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A class of blocks, 0 the best. How blocks are sorted into classes is the metadata's affair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BlockClass(pub u8);

impl BlockClass {
    /// The best class; the only one where blocks are alike.
    pub const BEST: BlockClass = BlockClass(0);
    /// The most classes. Source: DLV, section III-D (four) and PV-read, Table I (seven).
    pub const MOST: usize = 8;

    /// Its place in a list by class.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The classes of these numbers, the best first.
    #[inline]
    pub fn numbered(numbers: Range<usize>) -> impl DoubleEndedIterator<Item = BlockClass> {
        numbers.map(|number| BlockClass(number as u8))
    }
}

/// Streams for each of which a writer has a block open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Streams {
    /// How many there are, 1 to [`Streams::MOST`].
    pub count: u8,
    /// The stream of what nobody has chosen one for.
    pub default: StreamId,
}

impl Streams {
    /// The most streams. Assumed: as many as NVMe drives with streams have offered.
    pub const MOST: u8 = 16;
    /// One for all.
    pub const ONE: Streams = Streams { count: 1, default: StreamId(0) };

    /// The stream of a request for this one.
    #[inline]
    pub fn of(self, requested: Option<StreamId>) -> StreamId {
        match requested {
            Some(stream) => StreamId(stream.0.min(self.count - 1)),
            None => self.default,
        }
    }
}

/// In which order the pages of a block are programmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PageSequence {
    /// One after the other, the conventional order.
    #[default]
    Strict,
    /// Each page type by itself, behind the next lower one.
    Relaxed,
}

/// Which blocks of a plane take what garbage collection moves, in the strict order; in the relaxed
/// one all that is written shares a plane's blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GcStream {
    /// Blocks of their own.
    #[default]
    Separate,
    /// Those that the host writes: one block of a plane is open for both.
    Shared,
}

/// Which page is asked for; what is `None` is left to the allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllocRequest {
    /// The class of its block.
    pub class: Option<BlockClass>,
    /// Its type; heeded in the relaxed order alone.
    pub page_type: Option<PageType>,
    /// The stream of the other pages of its block; heeded in the strict order alone.
    pub stream: Option<StreamId>,
}

/// Which free block of a plane is opened next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FreeBlockPolicy {
    /// The one that has been free for longest: no wear leveling.
    LongestFree,
    /// The one erased least often.
    #[default]
    LeastErased,
    /// The one whose codewords had the fewest errors when it was measured.
    FewestErrors,
    /// The one that is predicted to last longest.
    Healthiest,
    /// The one that is expected to need the fewest retries.
    FewestRetries,
}

impl FreeBlockPolicy {
    /// Whether it goes by what blocks were measured to be when they were read.
    pub fn measures(self) -> bool {
        matches!(self, FreeBlockPolicy::FewestErrors | FreeBlockPolicy::Healthiest)
    }

    /// The metadata component that the policy uses.
    pub fn uses(self) -> Option<ComponentUse> {
        const MEASURED: &str = "blocks that are measured (metadata.block_class = \"measured\")";
        const ESTIMATE: &str = "an estimate of retries (metadata.retry_estimate)";
        let (policy, component, expected) = match self {
            FreeBlockPolicy::LongestFree | FreeBlockPolicy::LeastErased => return None,
            FreeBlockPolicy::FewestErrors => ("fewest_errors", "block_class", MEASURED),
            FreeBlockPolicy::Healthiest => ("healthiest", "block_class", MEASURED),
            FreeBlockPolicy::FewestRetries => ("fewest_retries", "retry_estimate", ESTIMATE),
        };
        Some(ComponentUse { policy, component, expected })
    }
}

/// A free-block policy that uses a metadata component.
#[derive(Clone, Copy, Debug)]
pub struct ComponentUse {
    /// The policy's name in a config.
    pub policy: &'static str,
    /// The component's name.
    pub component: &'static str,
    /// The setting that a config needs, for a message.
    pub expected: &'static str,
}

/// How blocks are kept and given out.
#[derive(Clone, Copy, Debug)]
pub struct AllocatorConfig {
    /// Free blocks of a plane that only a job may open.
    pub reserve: u32,
    /// Which free block is opened next.
    pub free_block_policy: FreeBlockPolicy,
    /// Classes of blocks.
    pub classes: usize,
    /// The order of the pages.
    pub order: PageSequence,
    /// The blocks of what is moved.
    pub gc_stream: GcStream,
    /// Classes that are set apart, the best first.
    pub apart: usize,
    /// Whether classes are priorities, for which the free blocks of the drive are cut into
    /// subpools.
    pub by_priority: bool,
    /// The streams for each of which a writer has a block open.
    pub streams: Streams,
}
