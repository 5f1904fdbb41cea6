//! The relaxed program order: each page type of a block advances by itself.
//!
//! PA-SSD (section 4.3.1) replaces the conventional order by three constraints:
//!
//! - A drive programs the pages of one type in the order of their wordlines.
//! - It programs a page of a higher type only after the page of the next lower type on its own
//!   wordline.
//! - It also programs it only after those of the next lower type on both neighbors.
//!
//! One number for each type therefore describes the programmed pages. A [`Progress`] can only be
//! reached by legal programs.

use crate::page_order::{PageType, WordLine};

/// The programmed pages of a block, as one count for each page type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Programmed pages of each type.
    programmed: [u16; PageType::MAX_COUNT],
    wordlines: u16,
    types: u8,
}

impl Progress {
    /// Returns the progress of an erased block.
    pub fn new(types: u8, wordlines: u16) -> Progress {
        debug_assert!(usize::from(types) <= PageType::MAX_COUNT);
        Progress { programmed: [0; PageType::MAX_COUNT], wordlines, types }
    }

    /// Returns the progress of a full block.
    pub fn complete(types: u8, wordlines: u16) -> Progress {
        let mut progress = Progress::new(types, wordlines);
        progress.programmed[..usize::from(types)].fill(wordlines);
        progress
    }

    /// Returns the progress of a block with these programmed pages of each type, or `None` if no
    /// legal programs lead there.
    pub fn reached(
        types: u8,
        wordlines: u16,
        programmed: [u16; PageType::MAX_COUNT],
    ) -> Option<Progress> {
        let lead = |pair: &[u16]| pair[1] == 0 || pair[0] >= wordlines.min(pair[1] + 1);
        let beyond = programmed.get(usize::from(types)..)?;
        let fits = beyond.iter().all(|&count| count == 0)
            && programmed.iter().all(|&count| count <= wordlines)
            && programmed[..usize::from(types)].windows(2).all(lead);
        fits.then_some(Progress { programmed, wordlines, types })
    }

    /// Returns the wordline of the next page of this type, or `None` if it must not be programmed
    /// yet.
    #[inline]
    pub fn candidate(&self, page_type: PageType) -> Option<WordLine> {
        let next = self.programmed[page_type.index()];
        let above_neighbors = match page_type.index() {
            0 => true,
            at => self.programmed[at - 1] >= self.wordlines.min(next + 2),
        };
        let has = page_type.0 < self.types && next < self.wordlines;
        (has && above_neighbors).then_some(WordLine(next))
    }

    /// Programs the next page of this type and returns its wordline. Returns `None` if the page
    /// must not be programmed yet.
    pub fn program(&mut self, page_type: PageType) -> Option<WordLine> {
        let wordline = self.candidate(page_type)?;
        self.programmed[page_type.index()] += 1;
        Some(wordline)
    }

    /// Returns the programmed pages of this type.
    pub fn programmed(&self, page_type: PageType) -> u16 {
        self.programmed[page_type.index()]
    }

    /// Returns the programmed pages of each type.
    pub fn counts(&self) -> [u16; PageType::MAX_COUNT] {
        self.programmed
    }

    /// Returns the programmed pages of all types together.
    pub fn total(&self) -> u32 {
        self.programmed.iter().map(|&count| u32::from(count)).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const LSB: PageType = PageType(0);
    const CSB: PageType = PageType(1);
    const MSB: PageType = PageType(2);

    /// Returns the wordline that may be programmed next, for each type. The block has five
    /// wordlines (as in Fig. 7 of PA-SSD) and this number of legally programmed pages of each type.
    fn candidates(programmed: [u16; 3]) -> [Option<u16>; 3] {
        let mut block = Progress::new(3, 5);
        for (at, &count) in programmed.iter().enumerate() {
            for _ in 0..count {
                block.program(PageType(at as u8)).expect("a legal program");
            }
        }
        [LSB, CSB, MSB].map(|kind| block.candidate(kind).map(|wordline| wordline.0))
    }

    #[test]
    fn the_six_states_of_figure_7() {
        assert_eq!(candidates([1, 0, 0]), [Some(1), None, None], "(a) only the next LSB page");
        assert_eq!(candidates([2, 0, 0]), [Some(2), Some(0), None], "(b) LSB and CSB");
        assert_eq!(candidates([3, 2, 0]), [Some(3), None, Some(0)], "(c) LSB and MSB");
        assert_eq!(candidates([4, 2, 0]), [Some(4), Some(2), Some(0)], "(d) all three");
        assert_eq!(candidates([5, 3, 1]), [None, Some(3), Some(1)], "(e) LSB used up");
        assert_eq!(candidates([5, 5, 2]), [None, None, Some(2)], "(f) only MSB");
    }

    #[test]
    fn the_first_and_the_last_wordline_have_one_neighbor() {
        assert_eq!(candidates([0, 0, 0]), [Some(0), None, None]);
        assert_eq!(candidates([4, 3, 0]), [Some(4), None, Some(0)], "C3 waits for L4");
        assert_eq!(candidates([5, 4, 3]), [None, Some(4), None], "M3 waits for C4");
        assert_eq!(candidates([5, 5, 4]), [None, None, Some(4)]);
        assert_eq!(candidates([5, 5, 5]), [None, None, None]);
    }

    #[test]
    fn a_block_of_one_wordline_has_no_neighbors_to_wait_for() {
        let mut block = Progress::new(3, 1);
        assert_eq!(block.program(CSB), None);
        for kind in [LSB, CSB, MSB] {
            assert_eq!(block.program(kind), Some(WordLine(0)));
        }
        assert_eq!((block.total(), block.programmed(MSB)), (3, 1));
        assert_eq!(block.program(PageType(3)), None, "cells of three bits");
    }

    #[test]
    fn saved_progress_is_accepted_only_if_legal_programs_lead_there() {
        let is_legal = |programmed| Progress::reached(3, 5, programmed).is_some();
        for legal in [[0, 0, 0, 0], [2, 1, 0, 0], [3, 2, 1, 0], [5, 4, 3, 0], [5, 5, 5, 0]] {
            assert!(is_legal(legal), "{legal:?}");
        }
        let illegal =
            [[1, 1, 0, 0], [0, 0, 1, 0], [3, 2, 2, 0], [6, 5, 5, 0], [5, 4, 4, 0], [5, 5, 5, 1]];
        for illegal in illegal {
            assert!(!is_legal(illegal), "{illegal:?}");
        }
        assert_eq!(Progress::reached(5, 5, [0; 4]), None, "cells of five bits");
    }

    proptest! {
        #[test]
        fn no_sequence_breaks_the_rules_and_every_one_can_be_completed(
            wordlines in 1u16..20,
            bits in 1u8..=4,
            kinds in prop::collection::vec(0u8..4, 0..200),
        ) {
            let mut block = Progress::new(bits, wordlines);
            let mut programmed = BTreeSet::new();
            let types = || (0..bits).map(PageType);
            for kind in kinds.into_iter().map(PageType) {
                let before = block;
                let Some(wordline) = block.program(kind) else {
                    prop_assert_eq!(before, block);
                    continue;
                };
                prop_assert!(programmed.insert((wordline.0, kind)), "twice the same page");
                let in_order = wordline.0 == 0 || programmed.contains(&(wordline.0 - 1, kind));
                prop_assert!(in_order, "pages of a type go in order");
                if let Some(lower) = kind.0.checked_sub(1).map(PageType) {
                    let first = wordline.0.saturating_sub(1);
                    for near in first..=(wordline.0 + 1).min(wordlines - 1) {
                        prop_assert!(programmed.contains(&(near, lower)), "a neighbor is missing");
                    }
                }
            }
            let before_all = block;
            // In every state of the block, some page may be programmed next.
            while block.total() < u32::from(wordlines) * u32::from(bits) {
                let next = types().find(|&kind| block.program(kind).is_some());
                prop_assert!(next.is_some(), "stuck at {:?}", block);
            }
            prop_assert!(types().all(|kind| block.candidate(kind).is_none()));
            prop_assert_eq!(block, Progress::complete(bits, wordlines));
            let progress = Progress::reached(bits, wordlines, before_all.counts());
            prop_assert_eq!(progress, Some(before_all), "any that is reached is taken back");
        }
    }
}
