//! What the controller knows or has learned of its blocks: it answers questions and decides
//! nothing. A drive that needs none of it pays nothing.

pub mod block_class;
pub mod block_groups;
mod group_config;
pub mod page_hotness;
pub mod predictor;
mod readings;
pub mod retry_estimate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_policy::Component;
use ssdlab_policy::columns::Column;
use ssdlab_policy::event::{Actions, Event, EventMask};

use block_class::BlockClassChoice;
use block_groups::Groups;
use page_hotness::{HotPages, HotnessChoice};
use retry_estimate::{RetryEstimateChoice, RetryEstimates};

/// What the controller knows of its blocks from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MetadataConfig {
    /// The classes into which blocks are sorted: `none` (one class), `factory`, `measured` or
    /// `predicted`. Default: `none`.
    pub block_class: BlockClassChoice,
    /// The estimate of how many retries a read of each block takes: `none`, `predicted`,
    /// `last_seen` or `oracle`. Default: `none`.
    pub retry_estimate: RetryEstimateChoice,
    /// How it is known whether pages are mostly read or mostly written: `none`, or `buffer` (by their
    /// uses in it). Default: `none`.
    pub page_hotness: HotnessChoice,
}

/// The name of the component of [`RetryEstimates`].
pub const RETRY_ESTIMATE: &str = "retry_estimate";

/// The place of a component in the config.
pub fn place_of(component: &str) -> String {
    format!("metadata/{component}")
}

/// The metadata that a drive keeps, each component of it only where the config names it.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    /// What is known of the blocks, if they are measured.
    pub block_groups: Option<Box<Groups>>,
    /// How well blocks are expected to read.
    pub retry_estimates: Option<Box<RetryEstimates>>,
    /// What pages are mostly used for.
    pub page_hotness: Option<Box<HotPages>>,
}

impl Metadata {
    fn components(&mut self) -> impl Iterator<Item = (&'static str, &mut dyn Component)> {
        let Metadata { block_groups, retry_estimates, page_hotness } = self;
        let groups = block_groups.as_deref_mut().map(|groups| groups as &mut dyn Component);
        let estimates = retry_estimates.as_deref_mut().map(|estimates| estimates as _);
        let hotness = page_hotness.as_deref_mut().map(|hotness| hotness as _);
        let all = [("block_class", groups), (RETRY_ESTIMATE, estimates), ("page_hotness", hotness)];
        all.into_iter().filter_map(|(name, component)| Some((name, component?)))
    }

    /// The kinds of event that each component wants to learn of, none where it is not there.
    pub fn events(&self) -> [EventMask; 3] {
        fn of(component: Option<&impl Component>) -> EventMask {
            component.map_or(EventMask::NONE, Component::events)
        }
        [
            of(self.block_groups.as_deref()),
            of(self.retry_estimates.as_deref()),
            of(self.page_hotness.as_deref()),
        ]
    }

    /// Tells one component of an event, by its place in [`Metadata::events`].
    #[inline]
    pub fn on_event(&mut self, at: u8, event: &Event, actions: &mut Actions) {
        fn tell(component: Option<&mut impl Component>, event: &Event, actions: &mut Actions) {
            component.into_iter().for_each(|component| component.on_event(event, actions));
        }
        match at {
            0 => tell(self.block_groups.as_deref_mut(), event, actions),
            1 => tell(self.retry_estimates.as_deref_mut(), event, actions),
            _ => tell(self.page_hotness.as_deref_mut(), event, actions),
        }
    }

    /// What each component keeps, with its place in the config.
    pub fn columns(&mut self) -> impl Iterator<Item = (String, Vec<Column<'_>>)> {
        self.components().map(|(name, component)| (place_of(name), component.columns()))
    }
}
