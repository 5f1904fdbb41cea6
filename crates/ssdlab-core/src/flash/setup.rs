//! How the back end is built.

use ssdlab_base::Nanos;

use super::{Moved, SensedAhead};

/// How the back end is built, resolved to flat numbers.
#[derive(Clone, Debug)]
pub struct FlashSetup {
    /// Planes that share an array unit: 1, or all of a die.
    pub planes_per_unit: u32,
    /// The planes of a die may do the same operation together.
    pub multi_plane: bool,
    /// A sensed page moves to a cache register, so that the unit may sense the next one while it
    /// is transferred.
    pub cache_read: bool,
    /// A unit holds its page until it has decoded.
    pub hold_until_decoded: bool,
    /// How a unit senses retries ahead, if it does.
    pub ahead: Option<SensedAhead>,
    /// Programs and erases may be interrupted.
    pub may_suspend: bool,
    /// Loops of a program and of an erase, if a loop of them may be dropped.
    pub loops: Option<[u8; 2]>,
    /// A read that failed may be set aside for one of a higher rank.
    pub reads_pass: bool,
    /// Operations of the host that may begin on a unit past others of a lower rank before one of
    /// those has a turn; 0 if there is no end to it.
    pub max_passes: u16,
    /// From the command to suspend until the unit can sense.
    pub suspend_time: Nanos,
    /// From the command to resume until the interrupted operation goes on.
    pub resume_time: Nanos,
    /// Time of a command on the channel; zero if commands need no channel.
    pub command_time: Nanos,
    /// Pages that were read go over a channel before commands and before pages to be programmed.
    pub data_out_first: bool,
    /// P/E cycles that an erase counts for.
    pub cycles_per_erase: u32,
    /// What moves over a channel for `n` sectors, by n.
    pub moves: Box<[Moved]>,
}

impl FlashSetup {
    /// A whole page on a channel.
    pub fn whole_page(&self) -> Moved {
        self.moves[self.moves.len() - 1]
    }
}
