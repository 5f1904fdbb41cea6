//! Page types, and the conventional order in which a drive programs the pages of a block.
//!
//! The pages of a block are numbered in that order, so that "the next page" is the next number.
//! Step k programs the lowest page of wordline k, the second page of wordline k−1, the third page
//! of wordline k−2, and so on. This order disturbs neighbors as little as possible (PA-SSD,
//! section 2.1).

use crate::cell::Cell;
use crate::geometry::PageInBlock;

/// Type of a page in its wordline: 0 is the lowest (LSB), then CSB and MSB, and the top page of
/// QLC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PageType(pub u8);

impl PageType {
    /// The largest number of page types of any cell.
    pub const MAX_COUNT: usize = 4;

    /// Returns the type as an index into a table.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A wordline of a block, counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct WordLine(pub u16);

/// The pages of one block in the order in which a conventional drive programs them.
#[derive(Clone, Debug)]
pub struct PageOrder {
    steps: Vec<(WordLine, PageType)>,
    /// Position of each page, wordline by wordline.
    places: Vec<PageInBlock>,
    /// For each n, the pages of each type among the first n pages.
    among: Vec<[u16; PageType::MAX_COUNT]>,
    bits: usize,
}

impl PageOrder {
    /// Returns the conventional order of a block with `pages` pages. `pages` must be a multiple of
    /// the cell's bits.
    pub fn conventional(cell: Cell, pages: u32) -> PageOrder {
        let bits = cell.bits();
        let wordlines = pages / bits;
        let mut steps = Vec::with_capacity(pages as usize);
        for step in 0..wordlines + bits - 1 {
            for page_type in 0..bits.min(step + 1) {
                let wordline = step - page_type;
                if wordline < wordlines {
                    steps.push((WordLine(wordline as u16), PageType(page_type as u8)));
                }
            }
        }
        let mut places = vec![PageInBlock(0); steps.len()];
        for (page, (wordline, page_type)) in steps.iter().enumerate() {
            let at = usize::from(wordline.0) * bits as usize + page_type.index();
            places[at] = PageInBlock(page as u16);
        }
        let mut among = vec![[0; PageType::MAX_COUNT]];
        for (_, page_type) in &steps {
            let mut counts = among[among.len() - 1];
            counts[page_type.index()] += 1;
            among.push(counts);
        }
        PageOrder { steps, places, among, bits: bits as usize }
    }

    /// Returns the type of the page at this position.
    #[inline]
    pub fn page_type(&self, page: PageInBlock) -> PageType {
        self.steps[page.index()].1
    }

    /// Returns the wordline of the page at this position.
    pub fn wordline(&self, page: PageInBlock) -> WordLine {
        self.steps[page.index()].0
    }

    /// Returns the position of a wordline's page of this type.
    #[inline]
    pub fn page(&self, wordline: WordLine, page_type: PageType) -> PageInBlock {
        self.places[usize::from(wordline.0) * self.bits + page_type.index()]
    }

    /// Returns the page types of a wordline, the lowest first.
    pub fn types(&self) -> impl Iterator<Item = PageType> + use<> {
        (0..self.bits as u8).map(PageType)
    }

    /// Returns the pages of each type that remain after the first `programmed` pages.
    pub fn left(&self, programmed: u16) -> [u16; PageType::MAX_COUNT] {
        let (all, gone) = (self.among[self.pages()], self.among[usize::from(programmed)]);
        std::array::from_fn(|at| all[at] - gone[at])
    }

    /// Returns the number of wordlines of a block.
    pub fn wordlines(&self) -> u16 {
        (self.steps.len() / self.bits) as u16
    }

    /// Returns the number of pages in a block.
    pub fn pages(&self) -> usize {
        self.steps.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tlc_pages_follow_the_order_of_the_pa_ssd_spec() {
        let order = PageOrder::conventional(Cell::Tlc, 384);
        let named = |page: u16| {
            let letter = ["L", "C", "M"][order.page_type(PageInBlock(page)).index()];
            format!("{letter}{}", order.wordline(PageInBlock(page)).0)
        };
        let first: Vec<String> = (0..6).map(named).collect();
        assert_eq!(first, ["L0", "L1", "C0", "L2", "C1", "M0"]);
        let later: Vec<String> = (11..15).map(named).collect();
        assert_eq!(later, ["M2", "L5", "C4", "M3"]);
    }

    #[test]
    fn every_page_of_every_wordline_is_programmed_once() {
        for (cell, pages) in [(Cell::Slc, 64), (Cell::Mlc, 256), (Cell::Tlc, 576), (Cell::Qlc, 64)]
        {
            let order = PageOrder::conventional(cell, pages);
            let mut seen: Vec<_> = (0..pages as u16)
                .map(|p| (order.wordline(PageInBlock(p)), order.page_type(PageInBlock(p))))
                .collect();
            seen.sort();
            seen.dedup();
            assert_eq!((seen.len(), order.pages()), (pages as usize, pages as usize), "{cell}");
            assert_eq!(u32::from(order.wordlines()) * order.types().count() as u32, pages);
            for programmed in 0..=pages as u16 {
                let mut left = [0; PageType::MAX_COUNT];
                (programmed..pages as u16)
                    .for_each(|page| left[order.page_type(PageInBlock(page)).index()] += 1);
                assert_eq!(order.left(programmed), left, "{cell}, {programmed} programmed");
            }
            for page in (0..pages as u16).map(PageInBlock) {
                assert_eq!(order.page(order.wordline(page), order.page_type(page)), page);
            }
        }
    }
}
