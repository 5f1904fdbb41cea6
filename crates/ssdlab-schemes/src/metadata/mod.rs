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
use ssdlab_policy::Learner;
use ssdlab_policy::event::{Actions, Event};

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

/// The section of the config that names the components.
pub const PLACE: &str = "metadata";

/// The place of a component in the config.
pub fn place_of(component: &str) -> String {
    format!("{PLACE}/{component}")
}

/// Declares the metadata that a drive keeps.
macro_rules! components {
    ($($(#[doc = $doc:literal])+ $component:ident: $Component:ident),+ $(,)?) => {
        /// The metadata that a drive keeps, each component of it only where the config names it.
        #[derive(Clone, Debug, Default)]
        pub struct Metadata {
            $($(#[doc = $doc])+ pub $component: Option<Box<$Component>>),+
        }

        /// One of the components.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum ComponentId {
            $($(#[doc = $doc])+ $Component),+
        }

        impl Metadata {
            /// The components that are there, in the order in which they learn.
            pub fn components(&mut self) -> impl Iterator<Item = (ComponentId, &mut dyn Learner)> {
                let all = [$(
                    self.$component.as_deref_mut().map(|component| {
                        (ComponentId::$Component, component as &mut dyn Learner)
                    })
                ),+];
                all.into_iter().flatten()
            }

            /// Tells one component of an event.
            #[inline]
            pub fn on_event(&mut self, id: ComponentId, event: &Event, actions: &mut Actions) {
                match id {
                    $(ComponentId::$Component => {
                        if let Some(component) = self.$component.as_deref_mut() {
                            component.on_event(event, actions);
                        }
                    })+
                }
            }
        }
    };
}

components! {
    /// What is known of the blocks, if they are measured.
    block_groups: Groups,
    /// How well blocks are expected to read.
    retry_estimates: RetryEstimates,
    /// What pages are mostly used for.
    page_hotness: HotPages,
}
