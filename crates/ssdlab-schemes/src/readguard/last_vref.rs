//! `read_start = last_vref`: a read starts with the reference voltages that last worked on similar
//! pages.
//!
//! Source: Y. Shim et al., "Exploiting Process Similarity of 3D Flash Memory for High Performance
//! SSDs", MICRO 2019, as ReadGuard uses it (section 6.3). Pages of one horizontal layer of a block
//! have similar errors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{BlockId, Level, PageInBlock};

use ssdlab_policy::columns::{Column, Per};
use ssdlab_policy::event::{Event, EventContext, EventMask};
use ssdlab_policy::read_start::{ReadStartPolicy, ReadStartView};
use ssdlab_policy::{Policy, PolicyContext};

/// Settings of `last_vref`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LastVrefConfig {
    /// Horizontal layers of a block, in the order of pages. All layers have the same number of
    /// pages; the last has the rest. Default: 48, or a layer for each page of a block with fewer
    /// pages. Source: ReadGuard, section 6.1 (3D flash of 48 layers, 576 pages a block).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub layers: Option<u16>,
}

const LAYERS: u32 = 48;

/// Starts at the level at which the same layer of the block was last read. Starts at the first
/// level if no page of the layer was read since the block was erased. Climbs one level at a time.
#[derive(Clone, Debug)]
pub struct LastVref {
    layers: u32,
    pages_per_layer: u32,
    /// Bits that distinguish the levels, and the highest level.
    bits: u64,
    highest: u8,
    /// The last level, by block and layer.
    levels: Vec<u8>,
}

impl Policy for LastVref {
    type Config = LastVrefConfig;

    fn check(config: &LastVrefConfig, context: &PolicyContext) -> Result<(), Refusal> {
        let pages = context.geometry.pages;
        match config.layers {
            Some(layers) if !(1..=pages).contains(&u32::from(layers)) => {
                let expected = format!("1 to {pages}, the pages of a block");
                Err(Refusal::new("read_start.last_vref.layers", layers, expected))
            }
            _ if context.levels == 1 => {
                let expected = "reads that may need another attempt (physics)";
                Err(Refusal::new("read_start", "last_vref", expected))
            }
            _ => Ok(()),
        }
    }

    fn build(config: &LastVrefConfig, context: &PolicyContext) -> LastVref {
        let pages = context.geometry.pages;
        let layers = config.layers.map_or(LAYERS.min(pages), u32::from);
        let count = context.geometry.block_count() as usize * layers as usize;
        LastVref {
            layers,
            pages_per_layer: pages.div_ceil(layers),
            highest: context.levels - 1,
            bits: u64::from(u8::BITS - (context.levels - 1).leading_zeros()),
            levels: vec![0; count],
        }
    }

    fn events(&self) -> EventMask {
        EventMask::PAGE_READ.and(EventMask::BLOCK_ERASED)
    }

    fn on_event(&mut self, event: &Event, _: &mut EventContext) {
        match event {
            Event::PageRead(read) => {
                let at = self.at(read.block, read.page);
                self.levels[at] = read.level.0;
            }
            Event::BlockErased(block) => {
                let first = block.index() * self.layers as usize;
                self.levels[first..first + self.layers as usize].fill(0);
            }
            _ => {}
        }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        let highest = self.highest.into();
        vec![
            Column::new("layer_vrefs", Per::Layer, &mut self.levels).bits(self.bits).up_to(highest),
        ]
    }
}

impl LastVref {
    fn at(&self, block: BlockId, page: PageInBlock) -> usize {
        let layer = u32::from(page.0) / self.pages_per_layer;
        block.index() * self.layers as usize + layer as usize
    }
}

impl ReadStartPolicy for LastVref {
    fn start(&mut self, view: &ReadStartView) -> Level {
        Level(self.levels[self.at(view.block, view.page)])
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_base::Bytes;
    use ssdlab_nand::{BlockId, Cell, Geometry, PageInBlock};

    use super::*;
    use ssdlab_policy::testing::{SMALL, bits};
    use ssdlab_policy::testing::{publish, read_at};

    #[test]
    fn a_page_is_read_where_its_layer_was_read_last_until_the_block_is_erased() {
        let geometry = Geometry {
            blocks: 2,
            pages: 576,
            page_size: Bytes::from_kib(16),
            cell: Cell::Tlc,
            ..SMALL
        };
        let context = PolicyContext { levels: 26, ..PolicyContext::plain(geometry, 1) };
        let mut policy = LastVref::build(&LastVrefConfig::default(), &context);
        let view = |block, page| ReadStartView {
            block: BlockId(block),
            page: PageInBlock(page),
            ..ReadStartView::of_a_block(26)
        };
        read_at(&mut policy, &view(1, 12), Level(9), 9);
        read_at(&mut policy, &view(1, 24), Level(3), 3);
        // Twelve pages a layer.
        let places = [(1, 11), (1, 12), (1, 23), (1, 24), (0, 12)];
        assert_eq!(places.map(|(b, p)| policy.start(&view(b, p)).0), [0, 9, 9, 3, 0]);
        publish(&mut policy, &Event::BlockErased(BlockId(0)));
        assert_eq!(policy.start(&view(1, 23)), Level(9));
        publish(&mut policy, &Event::BlockErased(BlockId(1)));
        assert_eq!(places.map(|(b, p)| policy.start(&view(b, p)).0), [0; 5]);
        // 48 layers in each block, and five bits that distinguish 26 levels.
        let blocks = u64::from(context.geometry.block_count());
        assert_eq!(bits(&mut policy), [("layer_vrefs", blocks * 48 * 5)]);
    }
}
