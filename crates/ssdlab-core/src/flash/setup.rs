//! The setup of the back end.

use ssdlab_base::Nanos;

use super::{Moved, PipelinedRetry};

/// The setup of the back end, resolved to numbers.
#[derive(Clone, Debug)]
pub struct FlashSetup {
    /// Planes that share an array unit: 1, all of a die, or all of a chip.
    pub planes_per_unit: u32,
    /// Whether the planes of a die may perform the same operation together.
    pub multi_plane: bool,
    /// Whether a sensed page moves to a cache register, so that the unit senses the next page
    /// during the transfer.
    pub cache_read: bool,
    /// Whether a unit holds its page until the page has decoded.
    pub hold_until_decoded: bool,
    /// The settings of retries sensed ahead, if any are.
    pub pipelined_retry: Option<PipelinedRetry>,
    /// Whether programs and erases may be interrupted.
    pub may_suspend: bool,
    /// Loops of a program and of an erase, if loops may be dropped.
    pub loops: Option<[u8; 2]>,
    /// Whether a failed read may be suspended for a read of a higher rank.
    pub reads_pass: bool,
    /// Host operations that may begin on a unit past others of a lower rank before one of those has
    /// a turn; 0 for no limit.
    pub max_passes: u16,
    /// Time from the suspend command until the unit can sense.
    pub suspend_time: Nanos,
    /// Time from the resume command until the interrupted operation continues.
    pub resume_time: Nanos,
    /// Time of a command on the channel; zero if commands need no channel.
    pub command_time: Nanos,
    /// Whether pages that were read go over a channel before commands and pages to program.
    pub data_out_first: bool,
    /// P/E cycles that an erase counts for.
    pub cycles_per_erase: u32,
    /// The data that moves over a channel for `n` sectors, at index n.
    pub moves: Box<[Moved]>,
}

impl FlashSetup {
    /// Returns whether several planes share a unit and may work together.
    #[inline]
    pub(crate) fn is_multi_plane(&self) -> bool {
        self.planes_per_unit > 1 && self.multi_plane
    }

    /// Returns whether a unit holds its page until the page has decoded. A cache register frees the
    /// unit before.
    #[inline]
    pub(super) fn holds_until_decoded(&self) -> bool {
        self.hold_until_decoded && !self.cache_read
    }

    /// Returns the transfer of a whole page.
    pub(crate) fn whole_page(&self) -> Moved {
        self.moves[self.moves.len() - 1]
    }
}
