//! The events that the flash reports to the drive.

use super::txn::TxnId;
use super::units::UnitId;

/// Events that the flash reports to the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlashEvent {
    /// A transaction has ended.
    Done(TxnId),
    /// The reads that this unit holds failed to decode. The drive must set each read's next level.
    Failed(UnitId),
    /// This unit may sense the next attempts of its reads ahead. The drive must set their levels.
    Sensed(UnitId),
    /// A read failed to decode after its unit had released it. The drive must enqueue it again.
    Again(TxnId),
    /// A unit begins to program or to erase while a host read waits for it.
    Began(UnitId),
}

/// The events that the drive has not handled, in the order in which they happened.
#[derive(Clone, Debug, Default)]
pub struct Events {
    events: Vec<FlashEvent>,
}

impl Events {
    /// Reports an event.
    pub(super) fn push(&mut self, event: FlashEvent) {
        self.events.push(event);
    }

    /// Returns whether there are no events to handle.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the events to handle.
    pub fn all(&self) -> &[FlashEvent] {
        &self.events
    }

    /// Removes the first `count` events, which the drive has handled.
    #[inline]
    pub(crate) fn handled(&mut self, count: usize) {
        // Handling an event seldom causes another.
        if count == self.events.len() {
            self.events.clear();
        } else {
            self.events.drain(..count);
        }
    }
}
