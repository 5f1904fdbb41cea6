//! Metadata components: the controller's knowledge of blocks and pages.
//!
//! Each component has a key in the config's section `metadata`. A component answers questions and
//! decides nothing. A drive without components spends nothing on them. The list `components!` names
//! every component: a new one is a file and a line.

pub mod block_class;
pub mod block_groups;
mod group_config;
pub mod page_hotness;
pub mod predictor;
mod readings;
pub mod retry_estimate;

use std::any::{Any, TypeId};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::CellTime;
use ssdlab_nand::refusal::{IdleKey, Refusal};
use ssdlab_nand::{BlockId, Lpn, PlaneId};
use ssdlab_policy::allocation::{BlockClass, FreeBlockPolicy};
use ssdlab_policy::component::{
    BlockMetadata, Component, ComponentConfig, ComponentFacts, Expected, FirstPass, Lookup,
    PageMetadata, StartView,
};
use ssdlab_policy::event::{Event, EventContext};
use ssdlab_policy::{Hotness, Learner};

use block_groups::Groups;
use page_hotness::HotPages;
use retry_estimate::RetryEstimates;

/// The section of the config that names the components.
pub const PLACE: &str = "metadata";

/// The place of a component in the config.
pub fn place_of(component: &str) -> String {
    format!("{PLACE}/{component}")
}

/// Declares the components: a config key for each, and the type that holds the components of a
/// drive.
macro_rules! components {
    ($d:tt $each:ident $each_mut:ident $($(#[doc = $doc:literal])+ $name:ident: $Component:ident),+ $(,)?) => {
        /// The settings of the metadata components.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct MetadataConfig {
            $($(#[doc = $doc])+ pub $name: <$Component as Component>::Config),+
        }

        impl MetadataConfig {
            /// Returns the settings of each component with its name.
            fn each(&self) -> impl Iterator<Item = (&'static str, &dyn ComponentConfig)> {
                let all = [$((stringify!($name), &self.$name as &dyn ComponentConfig)),+];
                all.into_iter()
            }

            /// Returns the component that ranks free blocks for this policy, by name, and the
            /// setting that a drive with the policy needs; `None` if the policy needs none.
            pub fn ranking_for(policy: FreeBlockPolicy) -> Option<(&'static str, &'static str)> {
                let all = [$((stringify!($name), <$Component as Component>::RANKS)),+];
                let mut all = all.into_iter();
                let found = all.find(|(_, ranks)| ranks.policies.contains(&policy));
                found.map(|(name, ranks)| (name, ranks.expected))
            }
        }

        /// The components that a drive keeps.
        #[derive(Clone, Debug, Default)]
        pub struct Metadata {
            $($name: Option<Box<$Component>>),+
        }

        /// One of the components.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum ComponentId {
            $($(#[doc = $doc])+ $Component),+
        }

        impl Metadata {
            /// Builds the components that the drive keeps, before the drive holds data.
            pub fn build(config: &MetadataConfig, view: &StartView) -> Metadata {
                Metadata {
                    $($name: view.context.has(stringify!($name)).then(|| {
                        Box::new(<$Component as Component>::build(&config.$name, view))
                    })),+
                }
            }

            /// Returns the components that the drive keeps, in the order in which they learn.
            pub fn components(&mut self) -> impl Iterator<Item = (ComponentId, &mut dyn Learner)> {
                let all = [$(
                    self.$name.as_deref_mut().map(|component| {
                        (ComponentId::$Component, component as &mut dyn Learner)
                    })
                ),+];
                all.into_iter().flatten()
            }

            /// Passes an event to one component.
            #[inline]
            pub fn on_event(&mut self, id: ComponentId, event: &Event, context: &mut EventContext) {
                match id {
                    $(ComponentId::$Component => {
                        if let Some(component) = self.$name.as_deref_mut() {
                            component.on_event(event, context);
                        }
                    })+
                }
            }

            /// Returns whether a component sorts free blocks into classes.
            pub fn classifies(&self) -> bool {
                $(self.$name.is_some() && <$Component as Component>::CLASSIFIES)||+
            }
        }

        impl Lookup for Metadata {
            fn find(&self, component: TypeId) -> Option<&dyn Any> {
                $(if component == TypeId::of::<$Component>() {
                    return self.$name.as_deref().map(|component| component as &dyn Any);
                })+
                None
            }
        }

        /// Evaluates an expression for each component that the drive keeps.
        macro_rules! $each {
            ($d metadata:ident, $d component:ident => $d call:expr) => {
                $(if let Some($d component) = $d metadata.$name.as_deref() { $d call })+
            };
        }

        /// As the macro above, for an expression that changes the component.
        macro_rules! $each_mut {
            ($d metadata:ident, $d component:ident => $d call:expr) => {
                $(if let Some($d component) = $d metadata.$name.as_deref_mut() { $d call })+
            };
        }
    };
}

components! { $ each_component each_component_mut
    /// The classes into which blocks are sorted: `none` (one class), `factory`, `measured` or
    /// `predicted`. Default: `none`.
    block_class: Groups,
    /// The estimate of how many retries a read of each block takes: `none`, `predicted`,
    /// `last_seen` or `oracle`. Default: `none`.
    retry_estimate: RetryEstimates,
    /// How the drive learns whether pages are mostly read or mostly written: `none`, or `buffer`
    /// (by their uses in the buffer). Default: `none`.
    page_hotness: HotPages,
}

impl MetadataConfig {
    /// Returns the names of the components that a drive keeps. `is_used` tells whether a policy
    /// uses one.
    pub fn present(&self, is_used: impl Fn(&str) -> bool) -> Vec<&'static str> {
        let present = self.each().filter(|(name, config)| config.is_present(is_used(name)));
        present.map(|(name, _)| name).collect()
    }

    /// Checks the settings for a drive whose reads have this number of levels.
    ///
    /// # Errors
    /// The first setting that is out of range, by its key.
    pub fn check(&self, levels: u8) -> Result<(), Refusal> {
        self.each().try_for_each(|(_, config)| config.check(levels))
    }

    /// Returns the settings that have no effect on some drives. `is_used` replaces the field of
    /// `facts`.
    pub fn idle_keys(&self, facts: ComponentFacts, is_used: impl Fn(&str) -> bool) -> Vec<IdleKey> {
        let of = |(name, config): (&str, &dyn ComponentConfig)| {
            config.idle_keys(&ComponentFacts { is_used: is_used(name), ..facts })
        };
        self.each().flat_map(of).collect()
    }

    /// Returns where a state file holds the class of each block, of this many classes.
    pub fn place_of_classes(&self, classes: usize) -> String {
        place_of(&format!("block_class/{}/{classes}", self.block_class.name()))
    }

    /// Returns the bytes of memory that the components take for each logical page.
    pub fn page_bytes(&self) -> u64 {
        self.each().map(|(_, config)| config.page_bytes()).sum()
    }

    /// Returns the number of kinds into which the components sort pages. Each kind has separate
    /// blocks.
    pub fn page_kinds(&self) -> u8 {
        self.each().map(|(_, config)| config.page_kinds()).product()
    }
}

/// Declares the questions that go to one component after another until one has the answer.
macro_rules! first_result {
    ($(
        $(#[$hint:meta])+ fn $name:ident($($argument:ident: $Argument:ty),+) -> Option<$Output:ty>;
    )+) => {
        impl Metadata {
            $($(#[$hint])+ pub fn $name(&self, $($argument: $Argument),+) -> Option<$Output> {
                each_component!(self, component => {
                    if let Some(result) = component.$name($($argument),+) {
                        return Some(result);
                    }
                });
                None
            })+
        }
    };
}

first_result! {
    /// See [`BlockMetadata::free_rank`].
    fn free_rank(block: BlockId, pe_cycles: u32) -> Option<u32>;
    /// See [`BlockMetadata::expected`].
    #[inline] fn expected(block: BlockId, pe_cycles: u32, now: CellTime, true_retries: &dyn Fn() -> u8) -> Option<Expected>;
    /// See [`BlockMetadata::reserved_blocks`].
    fn reserved_blocks(plane: PlaneId, class: BlockClass) -> Option<u32>;
    /// See [`PageMetadata::hotness`].
    #[inline(always)] fn hotness(lpn: Lpn) -> Option<Hotness>;
    /// See [`PageMetadata::hotness_at_start`].
    fn hotness_at_start(lpn: Lpn) -> Option<Hotness>;
}

impl Metadata {
    /// See [`Component::begin`].
    pub fn begin(&mut self, view: &StartView) {
        each_component_mut!(self, component => component.begin(view));
    }

    /// See [`Component::class_of_free`].
    pub fn class_of_free(&mut self, block: BlockId, may_join: bool) -> Option<BlockClass> {
        each_component_mut!(self, component => {
            if let Some(class) = component.class_of_free(block, may_join) {
                return Some(class);
            }
        });
        None
    }

    /// See [`Component::classes_restored`].
    pub fn classes_restored(&mut self, reserved_class: &dyn Fn(BlockId) -> Option<BlockClass>) {
        each_component_mut!(self, component => component.classes_restored(reserved_class));
    }

    /// See [`BlockMetadata::prefetch`].
    #[inline(always)]
    pub fn prefetch(&self, block: BlockId) {
        each_component!(self, component => component.prefetch(block));
    }

    /// See [`PageMetadata::reprograms_read_hot`].
    pub fn reprograms_read_hot(&self) -> bool {
        each_component!(self, component => {
            if component.reprograms_read_hot() {
                return true;
            }
        });
        false
    }

    /// See [`PageMetadata::first_pass`].
    pub fn first_pass(&self) -> FirstPass {
        each_component!(self, component => {
            let first_pass = component.first_pass();
            if first_pass != FirstPass::NotNeeded {
                return first_pass;
            }
        });
        FirstPass::NotNeeded
    }

    /// See [`PageMetadata::start_programmed`].
    pub fn start_programmed(&mut self) {
        each_component_mut!(self, component => component.start_programmed());
    }
}
