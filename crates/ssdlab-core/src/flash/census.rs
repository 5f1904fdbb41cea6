//! A census of the transactions in progress: an audit finds each of them in one place.

use super::txn::{TxnId, Txns};

/// The place where each transaction in progress was found.
#[derive(Clone, Debug)]
pub struct Census {
    live: Vec<bool>,
    place: Vec<Option<&'static str>>,
    linked: Vec<bool>,
}

/// The place of a transaction that an array unit serves; it may also wait for a bus or an engine.
pub(super) const UNIT: &str = "a unit";

/// The places in the flash module.
const FLASH: [&str; 5] = [UNIT, "a queue", "the suspended operations", "a bus", "an ECC engine"];

impl Census {
    /// The place of a transaction that the scheduler holds back.
    pub const HELD: &'static str = "the queue of the scheduler";

    /// The place of a transaction that waits for an entry of the page map.
    pub const MAPPING: &'static str = "the wait for its entry";

    /// The place of a program that waits until its page is in the buffer.
    pub const COMING: &'static str = "the wait for its page to move in";

    /// Creates a census that has found no transaction yet.
    pub fn new(txns: &Txns) -> Census {
        let live = txns.under_way();
        Census { place: vec![None; live.len()], linked: vec![false; live.len()], live }
    }

    /// Records that a transaction is in this place.
    ///
    /// # Errors
    /// The transaction is not in progress, or was found elsewhere.
    pub fn found(&mut self, id: TxnId, place: &'static str) -> Result<(), String> {
        let at = id.0 as usize;
        match self.live.get(at) {
            Some(true) => {}
            _ => return Err(format!("{place} holds transaction {at}, which is not under way")),
        }
        match self.place[at].replace(place) {
            None => Ok(()),
            Some(other) => Err(format!("transaction {at} is in {other} and in {place}")),
        }
    }

    /// Records that a bus or an engine serves a transaction or makes it wait.
    pub(super) fn linked(&mut self, id: TxnId, place: &'static str) -> Result<(), String> {
        let at = id.0 as usize;
        if std::mem::replace(&mut self.linked[at], true) {
            return Err(format!("transaction {at} is at two buses or engines"));
        }
        match self.place[at] {
            Some(UNIT) => Ok(()),
            _ => self.found(id, place),
        }
    }

    /// Returns where a transaction was found.
    pub(super) fn place_of(&self, id: TxnId) -> Option<&'static str> {
        self.place[id.0 as usize]
    }

    /// Returns whether a bus or an engine serves a transaction or makes it wait.
    pub(super) fn is_linked(&self, id: TxnId) -> bool {
        self.linked[id.0 as usize]
    }

    /// Returns whether a transaction holds its logical page: it no longer waits for its turn on the
    /// page.
    pub(crate) fn holds_page(&self, id: TxnId) -> bool {
        self.place[id.0 as usize].is_some_and(|place| {
            [Census::HELD, Census::COMING, Census::MAPPING].contains(&place)
                || FLASH.contains(&place)
        })
    }

    /// Returns whether an array unit serves a transaction or has suspended it.
    pub(crate) fn is_served(&self, id: TxnId) -> bool {
        matches!(self.place[id.0 as usize], Some(UNIT | "the suspended operations"))
    }

    /// Returns the transactions in progress.
    pub(crate) fn ids(&self) -> impl Iterator<Item = TxnId> + '_ {
        let ids = (0..).map(TxnId).zip(&self.live);
        ids.filter(|(_, live)| **live).map(|(id, _)| id)
    }

    /// Checks that every transaction was found.
    ///
    /// # Errors
    /// A transaction in progress is in no place.
    pub fn close(&self) -> Result<(), String> {
        match self.ids().find(|id| self.place[id.0 as usize].is_none()) {
            None => Ok(()),
            Some(id) => Err(format!("transaction {} is nowhere", id.0)),
        }
    }
}
