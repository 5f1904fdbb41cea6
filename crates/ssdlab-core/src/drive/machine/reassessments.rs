//! The new classes and ranks that wait until their blocks are free.

use ssdlab_nand::BlockId;

use crate::policy::allocation::BlockClass;
use crate::policy::columns::{Column, Per, SavedColumns};
use crate::policy::event::Action;

/// The place of these actions in a state file.
const PLACE: &str = "reassessments";

/// The actions that set a class or rank of a block that is not free yet, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Reassessments(Vec<Action>);

/// The same actions by block, for a state file.
struct Table {
    /// The new class of a block, counted from 1; 0 without one.
    classes: Vec<u8>,
    /// Whether a block has a new rank among free blocks, and the rank.
    has_free_rank: Vec<u8>,
    free_ranks: Vec<u32>,
}

impl Table {
    fn blank(blocks: usize) -> Table {
        Table {
            classes: vec![0; blocks],
            has_free_rank: vec![0; blocks],
            free_ranks: vec![0; blocks],
        }
    }

    /// Returns the columns of the table, on a drive with `classes` classes.
    fn columns(&mut self, classes: usize) -> [Column<'_>; 3] {
        [
            Column::new("classes", Per::Block, &mut self.classes).up_to(classes as u64),
            Column::new("has_free_rank", Per::Block, &mut self.has_free_rank).up_to(1),
            Column::new("free_ranks", Per::Block, &mut self.free_ranks),
        ]
    }
}

impl Reassessments {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps an action until its block is free.
    pub(super) fn push(&mut self, action: Action) {
        self.0.push(action);
    }

    /// Removes and returns the actions of a block.
    pub(super) fn take(&mut self, of_block: impl Fn(&Action) -> bool) -> Vec<Action> {
        self.0.extract_if(.., |action| of_block(action)).collect()
    }

    /// Saves the actions, on a drive with this number of blocks and classes.
    pub(super) fn save(&self, (blocks, classes): (usize, usize), to: &mut SavedColumns) {
        if self.is_empty() {
            return;
        }
        let mut table = Table::blank(blocks);
        // The last action of a block counts.
        for action in &self.0 {
            match *action {
                Action::SetClass { block, class } => table.classes[block.index()] = class.0 + 1,
                Action::SetFreeRank { block, free_rank } => {
                    (table.has_free_rank[block.index()], table.free_ranks[block.index()]) =
                        (1, free_rank);
                }
                _ => unreachable!("only classes and ranks wait for their blocks"),
            }
        }
        to.add(PLACE, &table.columns(classes));
    }

    /// Restores the actions that [`Reassessments::save`] has saved.
    ///
    /// # Errors
    /// If a value is outside the range of its column.
    pub(super) fn restore(
        &mut self,
        (blocks, classes): (usize, usize),
        from: &SavedColumns,
    ) -> Result<(), String> {
        let mut table = Table::blank(blocks);
        if !from.restore(PLACE, &mut table.columns(classes))? {
            return Ok(());
        }
        for block in (0..blocks as u32).map(BlockId) {
            if let Some(class) = table.classes[block.index()].checked_sub(1) {
                self.push(Action::SetClass { block, class: BlockClass(class) });
            }
            if table.has_free_rank[block.index()] == 1 {
                self.push(Action::SetFreeRank {
                    block,
                    free_rank: table.free_ranks[block.index()],
                });
            }
        }
        Ok(())
    }
}
