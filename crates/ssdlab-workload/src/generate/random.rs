//! Every address equally likely, aligned to the request's own size.

use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::Fault;
use ssdlab_base::rng::{Stream, below, stream};

use super::arrivals::Bursts;
use super::{Addresses, Room};

/// Every address equally likely, aligned to the request's own size. Has no settings.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomConfig {}

impl RandomConfig {
    pub(super) fn places(&self, room: &Room<'_>) -> Result<Places, Fault> {
        Ok(Places::new(room))
    }

    pub(super) fn bursts(&self) -> Option<Bursts> {
        None
    }
}

pub(super) struct Places {
    sectors: u64,
    stream: Stream,
}

impl Places {
    pub(super) fn new(room: &Room<'_>) -> Places {
        Places { sectors: room.sectors, stream: stream(room.places, "places") }
    }
}

impl Addresses for Places {
    fn next(&mut self, sectors: u32) -> u64 {
        let length = u64::from(sectors);
        below(self.stream.next_u64(), self.sectors / length) * length
    }
}
