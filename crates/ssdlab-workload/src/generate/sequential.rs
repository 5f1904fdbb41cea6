//! Each request begins where the one before it ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::Fault;

use super::arrivals::Bursts;
use super::{Addresses, Room};

/// Each request begins where the one before it ended, reads and writes alike; from address 0
/// again when the footprint is used up. Has no settings.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SequentialConfig {}

impl SequentialConfig {
    pub(super) fn places(&self, room: &Room<'_>) -> Result<Places, Fault> {
        Ok(Places { sectors: room.sectors, next: 0 })
    }

    pub(super) fn bursts(&self) -> Option<Bursts> {
        None
    }
}

pub(super) struct Places {
    sectors: u64,
    next: u64,
}

impl Addresses for Places {
    fn next(&mut self, sectors: u32) -> u64 {
        let length = u64::from(sectors);
        // A request never wraps: if it does not fit into the rest, it begins at address 0.
        let first = if self.next + length <= self.sectors { self.next } else { 0 };
        self.next = first + length;
        first
    }
}
