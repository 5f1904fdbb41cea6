//! `read_start = last_level`: LaLDPC, which remembers the level at which each page was last read.
//! Source: Y. Du et al., "LaLDPC: Latency-aware LDPC for read performance improvement of solid
//! state drives", MSST 2017, as DLV describes it (sections III-C and IV-D).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::Level;

use ssdlab_policy::columns::{Column, Per};
use ssdlab_policy::event::{Event, EventContext, EventMask};
use ssdlab_policy::read_start::{ReadStartPolicy, ReadStartView};
use ssdlab_policy::{Policy, PolicyContext};

/// `last_level` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LastLevelConfig {}

/// Starts at the level at which the page was last read; at the first level if it was written since.
#[derive(Clone, Debug)]
pub struct LastLevel {
    /// The last level, by logical page.
    level: Vec<u8>,
    /// The highest level.
    highest: u8,
}

/// Bits that distinguish seven levels.
const BITS: u64 = 3;

impl Policy for LastLevel {
    type Config = LastLevelConfig;

    fn build(_: &LastLevelConfig, context: &PolicyContext) -> LastLevel {
        LastLevel { level: vec![0; context.logical_pages as usize], highest: context.levels - 1 }
    }

    fn events(&self) -> EventMask {
        EventMask::PAGE_READ.and(EventMask::PAGE_PROGRAMMED)
    }

    fn on_event(&mut self, event: &Event, _: &mut EventContext) {
        match event {
            Event::PageRead(read) => self.level[read.lpn.index()] = read.level.0,
            Event::PageProgrammed(page) => self.level[page.lpn.index()] = 0,
            _ => {}
        }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        vec![
            Column::new("page_levels", Per::Page, &mut self.level)
                .bits(BITS)
                .up_to(self.highest.into()),
        ]
    }
}

impl ReadStartPolicy for LastLevel {
    fn start(&mut self, view: &ReadStartView) -> Level {
        Level(self.level[view.lpn.index()])
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_nand::{BlockId, Lpn, PageInBlock};

    use super::*;
    use ssdlab_policy::account::Cause;
    use ssdlab_policy::event::Programmed;
    use ssdlab_policy::testing::{bits, publish, read_at};

    #[test]
    fn a_page_is_read_where_it_was_read_last_until_it_is_written() {
        let mut policy = LastLevel { level: vec![0; 3], highest: 6 };
        let view = |lpn| ReadStartView { lpn: Lpn(lpn), ..ReadStartView::of_a_block(7) };
        read_at(&mut policy, &view(1), Level(4), 4);
        assert_eq!([0, 1, 2].map(|lpn| policy.start(&view(lpn)).0), [0, 4, 0]);
        read_at(&mut policy, &view(1), Level(2), 0);
        assert_eq!(policy.start(&view(1)).0, 2);
        let page =
            Programmed { lpn: Lpn(1), block: BlockId(0), page: PageInBlock(0), cause: Cause::Gc };
        publish(&mut policy, &Event::PageProgrammed(&page));
        assert_eq!(policy.start(&view(1)).0, 0);
        assert_eq!(bits(&mut policy), [("page_levels", 9)]);
    }
}
