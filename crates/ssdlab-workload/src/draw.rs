//! Which draws a generated workload makes.

use ssdlab_base::rng::{self, Stream};

/// The seed of a generated workload, and which of its draws to return. Every draw of a seed has the
/// same layout, such as the same popular addresses, and draws its requests anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The seed of the run.
    pub seed: u64,
    /// The number of the draw, from 0.
    pub number: u32,
}

impl From<u64> for Draw {
    fn from(seed: u64) -> Draw {
        Draw { seed, number: 0 }
    }
}

impl Draw {
    /// Returns the stream with this name of this draw.
    pub(crate) fn stream(self, name: &str) -> Stream {
        match self.number {
            0 => rng::stream(self.seed, name),
            number => rng::stream(self.seed, &format!("{name}/draw {number}")),
        }
    }

    /// Returns the stream with this name of the layout, which all draws share.
    pub(crate) fn layout(self, name: &str) -> Stream {
        rng::stream(self.seed, name)
    }
}
