//! `read_start = last_level`: LaLDPC, which remembers of each page the level at which it was read last.
//! Source: Y. Du et al., "LaLDPC: Latency-aware LDPC for read performance improvement of solid
//! state drives", MSST 2017, as DLV describes it (sections III-C and IV-D).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::Lpn;

use crate::policy::read_start::{ReadStartPolicy, ReadStartView};
use crate::policy::{Policy, PolicyContext};

/// `last_level` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LastLevelConfig {}

/// Starts at the rung at which the page was read last; at the first if it was written since.
#[derive(Clone, Debug)]
pub struct LastLevel {
    /// By logical page.
    rung: Vec<u8>,
}

/// Bits that tell seven levels apart.
const BITS: u64 = 3;

impl Policy for LastLevel {
    type Config = LastLevelConfig;

    fn build(_: &LastLevelConfig, setup: &PolicyContext) -> LastLevel {
        LastLevel { rung: vec![0; setup.logical_pages as usize] }
    }
}

impl ReadStartPolicy for LastLevel {
    #[inline]
    fn start(&mut self, view: &ReadStartView) -> u8 {
        self.rung[view.lpn.index()]
    }

    fn learns(&self) -> bool {
        true
    }

    #[inline]
    fn decoded(&mut self, view: &ReadStartView, rung: u8, _: bool) {
        self.rung[view.lpn.index()] = rung;
    }

    #[inline]
    fn written(&mut self, lpn: Lpn) {
        self.rung[lpn.index()] = 0;
    }

    fn metadata_bits(&self) -> Vec<(&'static str, u64)> {
        vec![("page_levels", self.rung.len() as u64 * BITS)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_where_it_was_read_last_until_it_is_written() {
        let mut policy = LastLevel { rung: vec![0; 3] };
        let view = |lpn| ReadStartView { lpn: Lpn(lpn), ..ReadStartView::of_a_block(7) };
        policy.decoded(&view(1), 4, false);
        assert_eq!([0, 1, 2].map(|lpn| policy.start(&view(lpn))), [0, 4, 0]);
        policy.decoded(&view(1), 2, true);
        assert_eq!(policy.start(&view(1)), 2);
        policy.written(Lpn(1));
        assert_eq!(policy.start(&view(1)), 0);
        assert_eq!(policy.metadata_bits(), [("page_levels", 9)]);
    }
}
