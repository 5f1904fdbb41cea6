//! A hot part of the footprint and a cold one.

use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::rng::{Stream, below, stream, unit};
use ssdlab_base::{Fault, quantity::Share};

use super::arrivals::Bursts;
use super::scatter::Scatter;
use super::{Addresses, Room};

/// A hot part of the footprint and a cold one, each uniform. The footprint is cut into granules,
/// each the least common multiple of the request sizes. The hot granules are scattered over it. A
/// request goes to any place within its granule that is aligned to its own size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HotcoldConfig {
    /// Share of the footprint that is hot. Default: 0.2. Source: the usual 80/20 rule.
    pub hot_share: Share,
    /// Share of the requests that go to the hot part. Default: 0.8. Source: the usual 80/20 rule.
    pub hot_access_share: Share,
}

impl Default for HotcoldConfig {
    fn default() -> HotcoldConfig {
        HotcoldConfig { hot_share: Share::new(0.2), hot_access_share: Share::new(0.8) }
    }
}

impl HotcoldConfig {
    pub(super) fn places(&self, room: &Room<'_>) -> Result<Places, Fault> {
        let (granule, count) = room.granules()?;
        let hot = self.hot_share.of(count);
        if hot == 0 || hot == count {
            let fault = Fault::new("", "workload.kind.hotcold.hot_share");
            return Err(fault
                .got(self.hot_share.get())
                .expected(format!("a share that leaves hot and cold some of {count} granules")));
        }
        Ok(Places {
            granule,
            count,
            hot,
            hot_access_share: self.hot_access_share.get(),
            scatter: Scatter::new(count, room.seed),
            stream: stream(room.places, "places"),
        })
    }

    pub(super) fn bursts(&self) -> Option<Bursts> {
        None
    }
}

pub(super) struct Places {
    /// Sectors in a granule.
    granule: u64,
    /// Granules in the footprint.
    count: u64,
    /// Granules that are hot.
    hot: u64,
    hot_access_share: f64,
    scatter: Scatter,
    stream: Stream,
}

impl Addresses for Places {
    fn next(&mut self, sectors: u32) -> u64 {
        let length = u64::from(sectors);
        let index = if unit(self.stream.next_u64()) < self.hot_access_share {
            below(self.stream.next_u64(), self.hot)
        } else {
            self.hot + below(self.stream.next_u64(), self.count - self.hot)
        };
        let within = match self.granule / length {
            1 => 0,
            slots => below(self.stream.next_u64(), slots),
        };
        self.scatter.place(index) * self.granule + within * length
    }
}
